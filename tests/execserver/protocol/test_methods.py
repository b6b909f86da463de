"""Parameters as recorded from clients, and the texts that the reference answers bad ones with."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.errors import RequestFailed
from execserver.protocol.methods import METHODS, Family, decode_params, find_method
from execserver.protocol.process import (
    Inherit,
    ProcessClosed,
    ProcessExited,
    ProcessNotices,
    ProcessOutput,
    ProcessReadParams,
    ProcessReadResult,
    ProcessStartParams,
)
from execserver.protocol.streams import StreamName
from execserver.protocol.wire_model import decode_base64, encode_base64
from execserver.server.dispatch import dispatch
from execserver.server.handlers.call import Call
from execserver.server.service import Service
from execserver.server.session import Session
from execserver.server.settings import Settings
from sandboxing.profile.context import WindowsSandboxLevel
from tests.fakes.process_host import ScriptedHost

REAL_CLIENT_START: dict[str, Any] = {
    "processId": "1-0b9b2b1c-0000-4000-8000-000000000000",
    "metadata": {"threadId": "0199b2b1-0000-7000-8000-000000000000", "toolCallId": "call_1"},
    "argv": ["/bin/bash", "-lc", "echo hi"],
    "cwd": "file:///srv/my%20project",
    "envPolicy": {
        "inherit": "all",
        "ignoreDefaultExcludes": True,
        "exclude": ["CODEX_VERSION"],
        "set": {},
        "includeOnly": [],
    },
    "shellSnapshot": None,
    "env": {"PAGER": "cat", "TERM": "dumb"},
    "tty": False,
    "pipeStdin": False,
    "arg0": None,
    "sandbox": {
        "permissions": {
            "type": "managed",
            "file_system": {
                "type": "restricted",
                "entries": [
                    {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                    {
                        "path": {"type": "special", "value": {"kind": "project_roots", "subpath": ".git"}},
                        "access": "read",
                        "missing_path_behavior": "skip",
                    },
                ],
            },
            "network": "restricted",
        },
        "cwd": "file:///srv/my%20project",
        "workspaceRoots": ["file:///srv/my%20project"],
        "windowsSandboxLevel": "disabled",
        "windowsSandboxProxySettingsMode": "reconcile",
        "useLegacyLandlock": False,
    },
    "enforceManagedNetwork": False,
    "managedNetwork": None,
    "networkProxy": None,
}


def test_a_start_of_the_real_client_is_understood() -> None:
    params = decode_params(METHODS["process/start"], REAL_CLIENT_START)
    assert isinstance(params, ProcessStartParams)
    assert params.argv == ("/bin/bash", "-lc", "echo hi")
    assert params.cwd.text == "file:///srv/my%20project"
    assert params.env_policy is not None
    assert params.env_policy.inherit is Inherit.ALL
    assert params.sandbox is not None
    assert params.sandbox.windows_sandbox_level is WindowsSandboxLevel.DISABLED


@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("initialize", {}, "missing field `clientName`"),
        ("initialize", {"clientName": 5}, "invalid type: number, expected a string"),
        ("initialize", [], "invalid type: sequence, expected a map"),
        ("process/start", {"processId": "x"}, "missing field `argv`"),
        ("process/start", {"processId": 5}, "invalid type: number, expected a string"),
        ("process/start", {"argv": "x"}, 'invalid type: string "x", expected a sequence'),
        ("process/start", {"env": []}, "invalid type: sequence, expected a map"),
        ("process/start", {"tty": 1}, "invalid type: number, expected a boolean"),
        ("process/start", {"cwd": 5}, "invalid type: number, expected a string"),
        ("process/read", {"processId": "a", "afterSeq": -1}, "invalid number"),
        ("process/read", {"processId": "a", "afterSeq": 1.0}, "invalid number"),
        ("process/read", {"processId": "a", "waitMs": 2**64}, "invalid number"),
        ("process/read", {"processId": "a", "waitMs": True}, "invalid type: boolean `true`, expected u64"),
        ("process/read", {"processId": "a", "waitMs": "1"}, 'invalid type: string "1", expected u64'),
        ("process/read", {"processId": None}, "invalid type: null, expected a string"),
        ("process/read", None, "invalid type: null, expected a map"),
        ("process/signal", {"processId": "a", "signal": 5}, "invalid type: number, expected string or map"),
        ("process/start", {"metadata": {"threadId": 5}}, "invalid type: number, expected a string"),
        ("process/write", {"processId": "a", "chunk": "eA=="}, "missing field `writeId`"),
        ("process/write", {"processId": "a", "chunk": "eA", "writeId": "w"}, "Invalid padding"),
        (
            "process/write",
            {"processId": "a", "chunk": 5, "writeId": "w"},
            "invalid type: number, expected a string",
        ),
        ("fs/readFile", {}, "missing field `path`"),
        ("fs/writeFile", {"path": "file:///x"}, "missing field `dataBase64`"),
        (
            "fs/remove",
            {"path": "file:///x", "force": "yes"},
            'invalid type: string "yes", expected a boolean',
        ),
    ],
)
def test_bad_parameters_are_described_in_the_words_of_the_reference(
    method: str, params: object, text: str
) -> None:
    with pytest.raises(RequestFailed) as refusal:
        decode_params(METHODS[method], params)
    assert (refusal.value.rpc_code, refusal.value.message) == (-32602, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"windowsSandboxLevel": "zz"},
            "unknown variant `zz`, expected one of `disabled`, `restricted-token`, `elevated`, `mxc`",
        ),
        (
            {"sandboxOverride": "zz"},
            (
                "unknown variant `zz`, expected one of `noOverride`, `escalatedSandboxWithRestrictions`, "
                "`bypassSandboxFirstAttempt`"
            ),
        ),
        (
            {"permissions": {"type": "zz"}},
            "unknown variant `zz`, expected one of `managed`, `disabled`, `external`",
        ),
        (
            {
                "permissions": {
                    "type": "managed",
                    "file_system": {"type": "restricted", "entries": [], "glob_scan_max_depth": 0},
                    "network": "restricted",
                }
            },
            "invalid value: integer `0`, expected a nonzero usize",
        ),
        ({"cwd": "relative"}, "invalid URI: relative URL without a base"),
    ],
)
def test_bad_sandboxes_are_described_in_the_words_of_the_reference(
    change: dict[str, object], text: str
) -> None:
    start = REAL_CLIENT_START | {"sandbox": REAL_CLIENT_START["sandbox"] | change}
    with pytest.raises(RequestFailed) as refusal:
        decode_params(METHODS["process/start"], start)
    assert refusal.value.message == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A", "Invalid input length: 1"),
        ("AAAAA", "Invalid input length: 5"),
        ("aGk", "Invalid padding"),
        ("Zm9vYg=", "Invalid padding"),
        ("aGVsbG9=", "Invalid last symbol 57, offset 6."),
        ("YR==", "Invalid last symbol 82, offset 1."),
        ("aGk=aGk=", "Invalid symbol 61, offset 3."),
        ("Zm9vYg===", "Invalid symbol 61, offset 6."),
        ("AAAA=", "Invalid symbol 61, offset 4."),
        ("AA=A", "Invalid symbol 61, offset 2."),
        ("A===", "Invalid symbol 61, offset 1."),
        ("====", "Invalid symbol 61, offset 0."),
        ("AA!=", "Invalid symbol 33, offset 2."),
        ("AA==\n", "Invalid symbol 10, offset 4."),
        ("AAA\0", "Invalid symbol 0, offset 3."),
        ("é", "Invalid symbol 195, offset 0."),
    ],
)
def test_base64_has_one_spelling_and_its_faults_are_named_as_the_reference_names_them(
    text: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=r".") as fault:
        decode_base64(text)
    assert str(fault.value) == reason


@given(st.binary())
def test_base64_survives_the_round_trip(data: bytes) -> None:
    assert decode_base64(encode_base64(data).decode()) == data


@given(st.text(alphabet="AQgw09+/=-!é", max_size=12))
def test_base64_that_is_accepted_is_what_would_be_written(text: str) -> None:
    try:
        data = decode_base64(text)
    except ValueError as fault:
        assert str(fault)
    else:
        assert encode_base64(data).decode() == text


def test_null_and_absence_mean_the_same_where_the_protocol_says_so() -> None:
    nulls = {"processId": "a", "afterSeq": None, "maxBytes": None, "waitMs": None}
    absent = decode_params(METHODS["process/read"], {"processId": "a"})
    assert decode_params(METHODS["process/read"], nulls) == absent
    assert absent == ProcessReadParams(process_id="a", after_seq=0, max_bytes=None, wait_ms=0)


@given(
    st.sampled_from(sorted(METHODS)),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(sorted(REAL_CLIENT_START)) | st.text(), inner)
        ),
        max_leaves=10,
    ),
)
def test_any_parameters_are_decoded_or_refused(method: str, params: object) -> None:
    try:
        decoded = decode_params(METHODS[method], params)
    except RequestFailed as refusal:
        assert refusal.rpc_code == -32602
        assert refusal.message
    else:
        assert isinstance(decoded, METHODS[method].params)


def test_every_method_has_parameters_of_its_own_and_a_handler() -> None:
    kinds = [method.params for method in METHODS.values()]
    assert len(set(kinds)) == len(kinds)

    async def scenario() -> None:
        service = Service(host=ScriptedHost(), settings=Settings(), version="0")
        session = Session("s", host=service.host, settings=service.settings, on_closed=lambda: None)
        for method in METHODS.values():
            if method.family is Family.SESSION:
                continue
            # The question is only whether there is a handler, so anything but its absence will do.
            values = dict.fromkeys(method.params.model_fields, None)
            params = method.params.model_construct(None, **values)
            try:
                await dispatch(Call(service=service, session=session), params)
            except NotImplementedError:
                pytest.fail(f"{method.name} has no handler")
            except (RequestFailed, AttributeError, TypeError):
                continue
        await service.aclose()

    asyncio.run(scenario())


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(RequestFailed, match="does not implement `nosuch/method` yet"):
        find_method("nosuch/method")


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(1, 2**64 - 1),
    st.sampled_from(StreamName),
    st.binary(),
)
def test_a_spliced_output_notification_is_the_type_it_stands_for(
    process_id: str, seq: int, stream: StreamName, data: bytes
) -> None:
    message = json.loads(ProcessNotices(process_id).output(seq, stream, data))
    assert message["method"] == "process/output"
    expected = ProcessOutput(process_id=process_id, seq=seq, stream=stream, chunk=data)
    assert ProcessOutput.model_validate(message["params"]) == expected
    assert message["params"] == expected.model_dump(mode="json", by_alias=True)


def test_exit_and_close_notifications_are_the_types_they_stand_for() -> None:
    notices = ProcessNotices("p")
    exited = json.loads(notices.exited(seq=4, exit_code=-1, sandbox_denied=True))
    assert exited["method"] == "process/exited"
    assert ProcessExited.model_validate(exited["params"]) == ProcessExited(
        process_id="p", seq=4, exit_code=-1, sandbox_denied=True
    )
    closed = json.loads(notices.closed(seq=5))
    assert closed["method"] == "process/closed"
    assert ProcessClosed.model_validate(closed["params"]) == ProcessClosed(process_id="p", seq=5)


def test_a_read_result_always_has_all_its_members() -> None:
    result = ProcessReadResult(
        chunks=(), next_seq=1, exited=False, exit_code=None, closed=False, sandbox_denied=False
    )
    assert json.loads(result.encoded()) == {
        "chunks": [],
        "nextSeq": 1,
        "exited": False,
        "exitCode": None,
        "closed": False,
        "failure": None,
        "sandboxDenied": False,
    }
