"""Admission: the phases of a connection and the lanes of its work."""

from __future__ import annotations

import pytest

from execserver.core.admission import (
    CONTROL_METHODS,
    Lane,
    Phase,
    after_notification,
    check_initialize,
    check_request,
    lane_of,
)
from execserver.errors import ProtocolBreach, RequestFailed
from execserver.protocol.methods import METHODS, Family


@pytest.mark.parametrize("family", Family)
def test_only_a_ready_connection_may_call(family: Family) -> None:
    for phase, step in ((Phase.NEW, "call initialize"), (Phase.INITIALIZED, "send initialized")):
        with pytest.raises(RequestFailed) as refusal:
            check_request(phase, family)
        assert refusal.value.message == f"client must {step} before using {family.value} methods"
    check_request(Phase.READY, family)


def test_initialize_succeeds_once() -> None:
    check_initialize(Phase.NEW)
    for phase in (Phase.INITIALIZED, Phase.READY):
        with pytest.raises(RequestFailed, match="only be sent once"):
            check_initialize(phase)


def test_initialized_is_the_one_notification_and_only_after_initialize() -> None:
    assert after_notification(Phase.INITIALIZED, "initialized") is Phase.READY
    assert after_notification(Phase.READY, "initialized") is Phase.READY
    for phase, method in ((Phase.NEW, "initialized"), *((phase, "other") for phase in Phase)):
        with pytest.raises(ProtocolBreach):
            after_notification(phase, method)


def test_a_foreign_name_cannot_write_into_the_log() -> None:
    with pytest.raises(ProtocolBreach) as breach:
        after_notification(Phase.READY, "x\n2026 ERROR forged\x1b[2J")
    assert breach.value.message.isprintable()


def test_every_method_has_a_lane_and_slow_ones_have_the_ordinary_one() -> None:
    assert {lane_of(method) for method in METHODS if method != "initialize"} == set(Lane)
    assert all(lane_of(method) is Lane.CONTROL for method in CONTROL_METHODS & METHODS.keys())
    for method in ("process/read", "process/start", "process/write", "fs/readFile"):
        assert lane_of(method) is Lane.ORDINARY


@pytest.mark.parametrize("method", ["initialize", "no/such/method"])
def test_what_is_no_work_waits_in_no_lane(method: str) -> None:
    assert lane_of(method) is None
