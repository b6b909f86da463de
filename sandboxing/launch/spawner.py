"""The spawner: a single-threaded process that forks pods on request, for ever and never anything else.

It is a fresh interpreter, exec'd rather than forked from a caller that may have threads. Each request
carries the pod's end of a control channel; the pod talks to the caller over it, not through the spawner.
"""

import sys

assert sys.platform == "linux"

import functools
import gc
import importlib
import os
import select
import signal
import socket
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from sandboxing.launch import control, launcher
from sandboxing.launch.control import MessageBuffer, StepFailure, failure_message
from sandboxing.launch.descriptors import close_all_except, point_standard_streams_at_nothing

PodBody: TypeAlias = Callable[[socket.socket, launcher.Watch], None]
"""Turns a forked child into a pod; given its control channel and what to watch."""

PodMaker: TypeAlias = Callable[[bytes], PodBody]
"""Reads encoded steps, once, before any fork."""

_REMEMBERED_PLANS: Final = 64
"""Plans whose steps need not be read again."""


def load_service(name: str) -> launcher.Service | None:
    """The function that `module:function` names, imported now, before anything is restricted.

    Raises:
        ImportError: there is no such module.
        AttributeError: it has no such function.
    """
    if not name:
        return None
    module, _, function = name.partition(":")
    service: launcher.Service = getattr(importlib.import_module(module), function)
    return service


def fork_pod(channel: socket.socket, watch: launcher.Watch, body: PodBody) -> int:
    """Fork a child that becomes a pod; returns the child's pid, which the caller must reap.

    Safe only in a process without threads.
    """
    pid = os.fork()
    if pid != 0:
        return pid
    code = 1
    try:
        gc.disable()
        close_all_except((channel.fileno(), watch.spawner))
        point_standard_streams_at_nothing()
        body(channel, watch)
        code = 0
    except StepFailure as failure:
        control.send(channel, failure_message(failure))
    except BaseException as error:  # noqa: BLE001 - a forked child must never unwind into its parent's frames
        detail = f"{type(error).__name__}: {error}"
        control.send(channel, failure_message(StepFailure(step="internal", errno=0, detail=detail)))
    finally:
        os._exit(code)


def serve(channel: socket.socket, maker: PodMaker) -> None:
    """Fork pods until the channel ends."""
    watch = launcher.Watch(spawner=os.pidfd_open(os.getpid()))
    wakeup_read, wakeup_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    body_for = functools.lru_cache(maxsize=_REMEMBERED_PLANS)(maker)
    gc.freeze()
    buffer = MessageBuffer()
    poller = select.poll()
    poller.register(channel, select.POLLIN)
    poller.register(wakeup_read, select.POLLIN)
    while True:
        events = dict(poller.poll())
        if wakeup_read in events:
            os.read(wakeup_read, 4096)
            _reap()
        if channel.fileno() not in events:
            continue
        if control.receive_into(channel, buffer) == 0:
            return
        while (message := buffer.take()) is not None:
            _handle(message, watch, body_for)


def _nothing(_number: int, _frame: object) -> None:
    """A handler must exist for the wakeup descriptor to be written."""


def _reap() -> None:
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def _handle(message: dict[str, Any], watch: launcher.Watch, body_for: PodMaker) -> None:
    with socket.socket(fileno=message["fds"][0]) as pod_channel:
        try:
            fork_pod(pod_channel, watch, body_for(message["steps"].encode()))
        except OSError as error:
            # no more processes, for one; the pods that stand must not suffer for it
            failure = StepFailure(step="fork", errno=error.errno or 0)
            control.send(pod_channel, failure_message(failure))
