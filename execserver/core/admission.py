"""Admission: which message may come when on a connection, and which lane its work takes.

One small table of states and texts; it never sees parameters or bytes. The connection asks it before any
handler runs.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from execserver.errors import ProtocolBreach, RequestFailed
from execserver.protocol import error_codes
from execserver.protocol.methods import INITIALIZE, INITIALIZED, METHODS, Family

CONTROL_METHODS: Final = frozenset(
    {
        "environment/info",
        "environment/status",
        "process/signal",
        "process/terminate",
        "fs/close",
    }
)
"""Methods that must get through while slow ones are under way (measured with two lanes and more)."""


class Phase(Enum):
    """How far a connection has come."""

    NEW = auto()
    INITIALIZED = auto()
    READY = auto()


class Lane(Enum):
    """The two independent queues of work of a connection with concurrent requests."""

    ORDINARY = auto()
    CONTROL = auto()


def lane_of(method: str) -> Lane | None:
    """The lane in which the method's work is done; None for what is answered at once, being no work."""
    if method == INITIALIZE or method not in METHODS:
        return None
    return Lane.CONTROL if method in CONTROL_METHODS else Lane.ORDINARY


def check_request(phase: Phase, family: Family) -> None:
    """Let a request of a ready connection pass.

    Raises:
        RequestFailed: the connection is not ready; the text names the missing step.
    """
    refusal = _refusal(phase, family)
    if refusal is not None:
        raise refusal


def _refusal(phase: Phase, family: Family) -> RequestFailed | None:
    match phase:
        case Phase.NEW:
            return error_codes.invalid_request(
                f"client must call initialize before using {family.value} methods"
            )
        case Phase.INITIALIZED:
            return error_codes.invalid_request(
                f"client must send initialized before using {family.value} methods"
            )
        case Phase.READY:
            return None


def check_initialize(phase: Phase) -> None:
    """Let an `initialize` pass; a failed one may be tried again.

    Raises:
        RequestFailed: the connection has had one already.
    """
    if phase is not Phase.NEW:
        raise error_codes.invalid_request("initialize may only be sent once per connection")


def after_notification(phase: Phase, method: str) -> Phase:
    """The phase after a notification.

    Raises:
        ProtocolBreach: the one notification that a client may send is `initialized`, after `initialize`.
    """
    if method != INITIALIZED:
        raise ProtocolBreach(
            # The name is the peer's and goes into a log.
            f"cannot accept notification `{ascii(method[:64])[1:-1]}`: clients may not send it"
        )
    if phase is Phase.NEW:
        raise ProtocolBreach("cannot accept notification `initialized`: initialize has not succeeded")
    return Phase.READY
