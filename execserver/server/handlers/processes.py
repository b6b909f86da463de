"""The handlers of `process/*`.

They translate between the wire and the session, and hold the rules that need both. What a process is, and
which number an event has, is decided in the core.
"""

from __future__ import annotations

import asyncio
from typing import Final, assert_never

from execserver.adapters.ports import StartRequest, StdinMode
from execserver.core import env_policy
from execserver.core.processes import WriteVerdict
from execserver.core.read_rule import Patience, ReadAnswer, ReadRequest, read
from execserver.errors import FailureKind, RequestFailed, StartFailure
from execserver.protocol import error_codes
from execserver.protocol.error_codes import RpcCode
from execserver.protocol.process import (
    OutputChunk,
    ProcessReadParams,
    ProcessReadResult,
    ProcessSignalParams,
    ProcessStartParams,
    ProcessStartResult,
    ProcessTerminateParams,
    ProcessTerminateResult,
    ProcessWriteParams,
    ProcessWriteResult,
    WriteStatus,
)
from execserver.protocol.wire_model import Empty
from execserver.server.handlers.call import Call, Reply
from execserver.server.live_process import LiveProcess
from sandboxing.contract.launch import TerminalSize
from sandboxing.errors import PathError
from sandboxing.profile.context import NotRequested, Requested

TERMINAL_SIZE: Final = TerminalSize(rows=24, columns=80)
"""Every terminal of the protocol has this size; there is no method to change it."""

_LONGEST_WAIT_S: Final = 3600.0
"""A wait is looked at again after this long: `waitMs` may be far beyond what a timer takes."""

_WRITE_STATUS: Final = {
    WriteVerdict.REPEATED: WriteStatus.ACCEPTED,
    WriteVerdict.DROPPED: WriteStatus.ACCEPTED,
    WriteVerdict.UNKNOWN_PROCESS: WriteStatus.UNKNOWN_PROCESS,
    WriteVerdict.STARTING: WriteStatus.STARTING,
    WriteVerdict.NO_STDIN: WriteStatus.STDIN_CLOSED,
}

ProcessParams = (
    ProcessStartParams | ProcessReadParams | ProcessWriteParams | ProcessSignalParams | ProcessTerminateParams
)


async def handle(call: Call, params: ProcessParams) -> Reply:
    """Answer a request of this family.

    Raises:
        RequestFailed: the answer is an error.
    """
    match params:
        case ProcessStartParams():
            return await _start(call, params)
        case ProcessReadParams():
            return await _read(call, params)
        case ProcessWriteParams():
            return await _write(call, params)
        case ProcessSignalParams():
            return _signal(call, params)
        case ProcessTerminateParams():
            return _terminate(call, params)
        case _:
            assert_never(params)


async def _start(call: Call, params: ProcessStartParams) -> Reply:
    request = _start_request(call, params)
    task = call.session.start(params.process_id, request)
    try:
        # The process belongs to the session: losing the connection now must not undo the start.
        live = await asyncio.shield(task)
    except StartFailure as failure:
        raise _start_error(failure) from None
    except asyncio.CancelledError:
        task.add_done_callback(_begin_unanswered)
        raise
    result = ProcessStartResult(process_id=params.process_id, sandbox_type=live.sandbox_type)
    return Reply(result, then=live.begin)


def _begin_unanswered(task: asyncio.Task[LiveProcess]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().begin()


def _start_request(call: Call, params: ProcessStartParams) -> StartRequest:
    if not params.argv:
        raise error_codes.invalid_params("argv must not be empty")
    if params.enforce_managed_network or params.network_proxy is not None:
        # Starting it without its network limits would be worse than not starting it.
        raise RequestFailed(
            "managed network is unavailable on this executor",
            rpc_code=RpcCode.INVALID_PARAMS,
            kind=FailureKind.SANDBOX_UNAVAILABLE,
        )
    env = _environment(call, params)
    fault = _spawn_fault(params, env)
    if fault is not None:
        raise _start_error(StartFailure(fault, kind=FailureKind.SPAWN_FAILED))
    return StartRequest(
        argv=params.argv,
        cwd=_native_cwd(call, params),
        env=env,
        arg0=params.arg0,
        terminal=TERMINAL_SIZE if params.tty else None,
        stdin=_stdin_mode(params),
        sandbox=NotRequested() if params.sandbox is None else Requested(params.sandbox),
    )


def _environment(call: Call, params: ProcessStartParams) -> dict[str, str]:
    host = call.service.environment
    env = env_policy.child_environment(
        server=host.variables,
        policy=params.env_policy,
        overlay=params.env,
        platform_os=host.platform_os,
    )
    return env_policy.with_terminal_shell(env, shell_path=host.shell_path) if params.tty else env


def _spawn_fault(params: ProcessStartParams, env: dict[str, str]) -> str | None:
    """Why no system could start this, if so; the first two texts are the reference's."""
    if not params.argv[0]:
        return "missing program for pipe spawn"
    if any("\0" in text for text in (*params.argv, params.arg0 or "")):
        return "nul byte found in provided data"
    if any("\0" in text for text in (*env.keys(), *env.values())):
        return "data provided contains a nul byte"
    if params.arg0 == "":
        return "arg0 is empty"
    if any("=" in name[1:] or not name for name in env):
        return "the name of an environment variable is empty or contains `=`"
    return None


def _native_cwd(call: Call, params: ProcessStartParams) -> str:
    try:
        return params.cwd.to_native(call.service.convention, host_label=call.service.environment.platform_os)
    except PathError as error:
        if params.cwd.has_encoded_nul:
            raise error_codes.invalid_params(error.message) from None
        raise error_codes.invalid_params(
            f"cwd URI `{params.cwd}` is not valid on this exec-server host: {error.message}"
        ) from None


def _stdin_mode(params: ProcessStartParams) -> StdinMode:
    if params.tty:
        return StdinMode.TERMINAL
    return StdinMode.PIPE if params.pipe_stdin else StdinMode.NULL


def _start_error(failure: StartFailure) -> RequestFailed:
    match failure.kind:
        case FailureKind.SANDBOX_UNAVAILABLE:
            code, message = RpcCode.INVALID_PARAMS, failure.message
        case FailureKind.SANDBOX_PREPARATION:
            code, message = RpcCode.INVALID_PARAMS, f"failed to prepare process sandbox: {failure.message}"
        case _:
            code, message = RpcCode.INTERNAL, failure.message
    return RequestFailed(message, rpc_code=code, kind=failure.kind)


async def _read(call: Call, params: ProcessReadParams) -> Reply:
    record = call.session.table.find(params.process_id)
    request = ReadRequest(after_seq=params.after_seq, max_bytes=params.max_bytes)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + params.wait_ms / 1000
    while True:
        remaining = deadline - loop.time()
        live = call.session.find_live(record)
        # What no longer lives has nothing to wait for.
        patience = Patience.LEFT if remaining > 0 and live is not None else Patience.GONE
        answer = read(request, record.view(params.after_seq), patience)
        if answer is not None:
            return Reply(_read_result(answer))
        if live is not None:
            await live.changed.wait(timeout_s=min(remaining, _LONGEST_WAIT_S))


def _read_result(answer: ReadAnswer) -> ProcessReadResult:
    chunks = tuple(
        OutputChunk.model_construct(seq=chunk.seq, stream=chunk.stream, chunk=chunk.data)
        for chunk in answer.chunks
    )
    return ProcessReadResult.model_construct(
        chunks=chunks,
        next_seq=answer.next_seq,
        exited=answer.exited,
        exit_code=answer.exit_code,
        closed=answer.closed,
        failure=None,
        sandbox_denied=answer.sandbox_denied,
    )


async def _write(call: Call, params: ProcessWriteParams) -> Reply:
    if not params.write_id:
        raise error_codes.invalid_params("writeId must not be empty")
    verdict = call.session.table.offer_write(params.process_id, params.write_id)
    if verdict is WriteVerdict.PERFORM:
        return await _perform_write(call, params)
    status = _WRITE_STATUS.get(verdict)
    if status is None:
        raise _write_error()
    return Reply(ProcessWriteResult(status=status))


async def _perform_write(call: Call, params: ProcessWriteParams) -> Reply:
    record = call.session.table.find(params.process_id)
    live = call.session.find_live(record)
    if live is not None and not await live.stdin.put(params.chunk):
        record.writes.forget(params.write_id)
        raise _write_error()
    return Reply(ProcessWriteResult(status=WriteStatus.ACCEPTED))


def _write_error() -> RequestFailed:
    return error_codes.internal("failed to write to process stdin")


def _signal(call: Call, params: ProcessSignalParams) -> Reply:
    record = call.session.table.find_running(params.process_id)
    live = None if record is None else call.session.find_live(record)
    if live is not None:
        live.interrupt()
    return Reply(Empty())


def _terminate(call: Call, params: ProcessTerminateParams) -> Reply:
    record = call.session.table.terminate(params.process_id)
    live = None if record is None else call.session.find_live(record)
    if live is not None:
        live.kill()
    return Reply(ProcessTerminateResult(running=record is not None))
