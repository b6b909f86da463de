"""AsyncPod: a pod as an asyncio program sees it, and non-blocking pipes to go with it.

It waits on descriptors and never on a thread. The exec-server's host uses it; the command line has the
blocking twin in `run`.
"""

import sys

assert sys.platform == "linux"

import asyncio
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.contract.outcome import Exit
from sandboxing.errors import SetupFailed
from sandboxing.launch import control
from sandboxing.launch.client import PodSource
from sandboxing.launch.pod import (
    Answered,
    Exited,
    PodChannel,
    PodEvent,
    Ready,
    Started,
    Stream,
    decode_event,
    start_request,
)

_KILLED = Exit(code=None, signal=9)


async def readable(descriptor: int) -> None:
    """Wait until a read would not block."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, future)
    try:
        await future
    finally:
        loop.remove_reader(descriptor)


async def writable(descriptor: int) -> None:
    """Wait until a write would not block."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.add_writer(descriptor, _settle, future)
    try:
        await future
    finally:
        loop.remove_writer(descriptor)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def read_some(descriptor: int, size: int) -> bytes:
    """The next bytes of a non-blocking descriptor, at most `size`; empty at the end.

    A terminal whose last user has gone answers EIO, which is its end.
    """
    while True:
        try:
            return os.read(descriptor, size)
        except BlockingIOError:
            await readable(descriptor)
        except OSError:
            return b""


async def write_all(descriptor: int, data: bytes) -> None:
    """Write everything to a non-blocking descriptor, waiting while the reader is slow.

    Raises:
        BrokenPipeError: nobody will ever read it.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            await writable(descriptor)
        except OSError as error:
            raise BrokenPipeError(error.errno, os.strerror(error.errno or 0)) from error


@dataclass(slots=True)
class AsyncPod:
    """One pod; its methods are called in order, by one task at a time.

    Attributes:
        channel: the caller's end.
    """

    channel: PodChannel

    @classmethod
    async def open(cls, source: PodSource, spec: LaunchSpec) -> "AsyncPod":
        """Build a pod and wait until it is ready.

        Raises:
            SetupFailed: it could not be built.
        """
        channel = source.open_pod(spec)
        channel.socket.settimeout(0)
        pod = cls(channel=channel)
        try:
            event = await pod._next()
            if not isinstance(event, Ready):
                raise SetupFailed("cannot build `the sandbox`: it ended without a report", step="build")
            if event.pidfd is not None:
                os.close(event.pidfd)
        except BaseException:
            channel.close()
            raise
        return pod

    async def start(self, command: Command, stdio: Sequence[int | Stream]) -> int | None:
        """Start the command; returns the master end of its terminal, if it has one.

        Raises:
            SetupFailed: the pod ended first.
            LaunchFailed: the program could not be started.
        """
        message, descriptors = start_request(command, stdio)
        await self._send(message, descriptors)
        event = await self._next()
        if not isinstance(event, Started):
            raise SetupFailed("cannot start `the command`: the sandbox ended first", step="start")
        return event.terminal

    async def call(self, request: bytes) -> bytes | None:
        """Have the pod do a piece of work itself, and end.

        Raises:
            SetupFailed: the pod ended without an answer.
        """
        await self._send({"op": "call", "request": request.decode()}, ())
        event = await self._next()
        if not isinstance(event, Answered):
            raise SetupFailed("cannot use `the sandbox`: it ended without an answer", step="call")
        return event.answer

    async def wait(self) -> Exit:
        """How the command ended; waits until it has. A pod that vanished was killed."""
        while True:
            try:
                event = await self._next()
            except SetupFailed:
                return _KILLED  # after its start, a pod that fails has been tampered with or killed
            if event is None:
                return _KILLED
            if isinstance(event, Exited):
                return event.exit

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group; nothing happens when it has ended."""
        self.channel.signal(number)

    def kill(self) -> None:
        """End every process of the pod; the command's end is reported as usual."""
        self.channel.kill()

    def close(self) -> None:
        """Let go of the pod, which ends with everything in it."""
        self.channel.close()

    async def _next(self) -> PodEvent | None:
        buffer = self.channel.buffer
        while True:
            message = buffer.take()
            if message is not None:
                return decode_event(message)
            try:
                if control.receive_into(self.channel.socket, buffer) == 0:
                    return None
            except BlockingIOError:
                await readable(self.channel.socket.fileno())
            except ConnectionResetError:
                return None

    async def _send(self, message: dict[str, Any], descriptors: tuple[int, ...]) -> None:
        """Send a message; a pod that has gone is left for the next event to tell, or its absence."""
        data = control.encode(message, descriptor_count=len(descriptors))
        try:
            if descriptors:
                data = data[socket.send_fds(self.channel.socket, [data], list(descriptors)) :]
            if data:
                await asyncio.get_running_loop().sock_sendall(self.channel.socket, data)
        except (BrokenPipeError, ConnectionResetError):
            return
