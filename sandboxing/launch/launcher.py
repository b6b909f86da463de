"""The launcher: waits for one command, starts it, reaps orphans, reports the end, and dies.

In a pod it is pid 1 and restricted before it knows the command, so its death takes the tree along. It
makes no choice and holds no secret. Started only by the spawner's fork, in a process without threads.
"""

import sys

assert sys.platform == "linux"

import errno
import fcntl
import os
import select
import signal
import socket
import struct
import termios
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sandboxing.launch import control
from sandboxing.launch.control import MessageBuffer, StepFailure
from sandboxing.launch.program import Program, ProgramFailed, Stdio, start_on_terminal, start_with_pipes

_TIOCSPTLCK: Final = 0x40045431  # include/uapi/asm-generic/ioctls.h
_TIOCGPTPEER: Final = 0x5441
_PID_1: Final = 1
_OPERATIONS_ON_A_COMMAND: Final = frozenset({"signal", "kill", "freeze", "thaw"})
_IGNORED: Final = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
    signal.SIGPIPE,
)


@dataclass(frozen=True, slots=True)
class Watch:
    """What a launcher must not outlive, as a pidfd that becomes readable at its end."""

    spawner: int


Service = Callable[[bytes], bytes | None]
"""Work that a pod does itself instead of starting a command: request in, answer out."""


def run(channel: socket.socket, watch: Watch, enter: Callable[[], None], service: Service | None) -> None:
    """Restrict this process, serve one command or one call, return when it is over; the caller must _exit.

    Args:
        channel: the control channel to whoever asked for the pod.
        watch: whose end ends this pod.
        enter: applies the restrictions; raises StepFailure.
        service: what answers a call, if this pod's owner has such work.
    """
    wakeup_read, wakeup_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _nothing)
    for ignored in _IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    try:
        enter()
    except StepFailure as failure:
        _tell(channel, control.failure_message(failure))
        return
    _serve(channel, watch, wakeup_read, service)


def _nothing(_number: int, _frame: object) -> None:
    """A handler must exist for the wakeup descriptor to be written."""


def _tell(channel: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    try:
        control.send(channel, message, descriptors)
    except OSError:
        # nobody is left to hear it, and everybody who could be is watched by other means
        os._exit(1)


def _serve(channel: socket.socket, watch: Watch, wakeup: int, service: Service | None) -> None:
    own = os.pidfd_open(os.getpid())
    _tell(channel, {"event": "ready"}, (own,))
    os.close(own)
    buffer = MessageBuffer()
    child: int | None = None
    # epoll, not poll: the command may lower our limit of open files, and poll(2) then answers EINVAL
    with select.epoll() as poller:
        for descriptor in (channel.fileno(), wakeup, watch.spawner):
            poller.register(descriptor, select.EPOLLIN)
        while True:
            events = dict(poller.poll())
            if wakeup in events:
                os.read(wakeup, 4096)
                if child is not None and _reap(channel, child):
                    return
            if watch.spawner in events or (channel.fileno() in events and _ended(channel, buffer)):
                # outside a pid namespace the command would outlive us
                _signal_everything(child, signal.SIGKILL)
                return
            while (message := buffer.take()) is not None:
                if message["op"] in _OPERATIONS_ON_A_COMMAND:
                    _operate(child, message)
                    continue
                child = _work(channel, message, service)
                if child is None:
                    return


def _operate(child: int | None, message: dict[str, Any]) -> None:
    match message["op"]:
        case "signal":
            _signal_group(child, message["signal"])
        case "kill":
            _signal_everything(child, signal.SIGKILL)
        case "freeze":
            _signal_everything(child, signal.SIGSTOP)
        case _:
            _signal_everything(child, signal.SIGCONT)


def _work(channel: socket.socket, message: dict[str, Any], service: Service | None) -> int | None:
    """Do what this pod was made for; returns the command's pid, None when all is done."""
    if message["op"] == "start":
        return _start(channel, message)
    answer = None if service is None else service(message["request"].encode())
    _tell(channel, {"event": "answer", "answer": None if answer is None else answer.decode()})
    return None


def _ended(channel: socket.socket, buffer: MessageBuffer) -> bool:
    try:
        return control.receive_into(channel, buffer) == 0
    except ConnectionResetError:
        return True  # the caller went away without reading our last message


def _signal_group(child: int | None, number: int) -> None:
    if child is None:
        return
    try:
        os.killpg(child, number)
    except ProcessLookupError:
        return  # it ended by itself; its end is reported next


def _signal_everything(child: int | None, number: int) -> None:
    """Reach the whole pod; a command may have left the process group that it began in."""
    if child is None:
        return
    if os.getpid() != _PID_1:
        _signal_group(child, number)
        return
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return  # nothing is left but us


def _reap(channel: socket.socket, child: int) -> bool:
    """Collect every dead child; returns whether the command itself ended."""
    ended: int | None = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            break
        if pid == 0:
            break
        if os.WIFSTOPPED(status):
            if pid == child:
                _tell(channel, {"event": "stopped", "signal": os.WSTOPSIG(status)})
            continue
        if pid == child:
            ended = status
    if ended is None:
        return False
    _tell(channel, {"event": "exited", "status": ended})
    return True


def _start(channel: socket.socket, message: dict[str, Any]) -> int | None:
    descriptors: list[int] = message["fds"]
    try:
        os.chdir(message["cwd"])
    except OSError as error:
        _tell(channel, {"event": "start-failed", "stage": "cwd", "errno": error.errno})
        return None
    program = Program(
        argv=message["argv"],
        arg0=message["arg0"],
        environment=message["env"],
        search_path=message["search_path"],
    )
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    known = {"null": null}
    master: int | None = None
    try:
        if message["terminal"] is not None:
            master, known["terminal"] = _open_terminal(message["terminal"])
        stdio = Stdio(*(known[one] if isinstance(one, str) else descriptors[one] for one in message["stdio"]))
        if master is None:
            child = start_with_pipes(program, stdio)
        else:
            child = start_on_terminal(program, stdio, known["terminal"])
    except ProgramFailed as failure:
        _tell(channel, {"event": "start-failed", "stage": failure.stage, "errno": failure.errno})
        return None
    for descriptor in (*descriptors, *known.values()):
        os.close(descriptor)
    _tell(channel, {"event": "started"}, () if master is None else (master,))
    if master is not None:
        os.close(master)
    return child


def _open_terminal(size: list[int]) -> tuple[int, int]:
    """A pty of the own devpts: one opened outside would not be a terminal in here."""
    try:
        master = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        fcntl.ioctl(master, _TIOCSPTLCK, struct.pack("i", 0))
        slave = fcntl.ioctl(master, _TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
    except OSError as error:
        raise ProgramFailed(stage="terminal", errno=error.errno or errno.EIO) from error
    return master, slave
