"""The control channel: length-prefixed JSON messages with descriptors, over a stream socket.

Both ends are our own processes, so it trusts the shape of what it reads but never its size. Used by the
launcher, the spawner and the pod handle.
"""

import sys

assert sys.platform == "linux"

import array
import json
import socket
import struct
from dataclasses import dataclass, field
from typing import Any, Final

_HEADER: Final = struct.Struct("!I")

MAX_MESSAGE_BYTES: Final = 1024 * 1024 * 1024
"""Above the largest file that is handed over whole (512 MiB), in base64."""

MAX_DESCRIPTORS: Final = 16
"""More than any message carries."""


@dataclass(frozen=True, slots=True)
class StepFailure(Exception):
    """A setup step failed inside a process that is being set up.

    Attributes:
        step: the step's name.
        errno: the error number.
        detail: the call that failed.
    """

    step: str
    errno: int
    detail: str = ""


def failure_message(failure: StepFailure) -> dict[str, Any]:
    """The event that tells of a failed setup step."""
    return {"event": "failed", "step": failure.step, "errno": failure.errno, "detail": failure.detail}


@dataclass(slots=True)
class MessageBuffer:
    """Bytes and descriptors received so far; yields whole messages."""

    data: bytearray = field(default_factory=bytearray)
    descriptors: list[int] = field(default_factory=list)

    def take(self) -> dict[str, Any] | None:
        """The next whole message, or None; a message's descriptors are in its `fds` member.

        Raises:
            ConnectionError: the peer announced a message over the size limit.
        """
        if len(self.data) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self.data)
        if length > MAX_MESSAGE_BYTES:
            raise ConnectionError("control message over the size limit")
        if len(self.data) < _HEADER.size + length:
            return None
        body = bytes(self.data[_HEADER.size : _HEADER.size + length])
        del self.data[: _HEADER.size + length]
        message: dict[str, Any] = json.loads(body)
        count = message.pop("fd_count", 0)
        message["fds"] = self.descriptors[:count]
        del self.descriptors[:count]
        return message


def encode(message: dict[str, Any], *, descriptor_count: int) -> bytes:
    """One message as it goes over the wire."""
    body = json.dumps({**message, "fd_count": descriptor_count}, separators=(",", ":")).encode()
    return _HEADER.pack(len(body)) + body


def send(channel: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """Send a message on a blocking socket.

    Raises:
        OSError: the peer is gone.
    """
    data = encode(message, descriptor_count=len(descriptors))
    if descriptors:
        sent = socket.send_fds(channel, [data], list(descriptors))
        data = data[sent:]
    if data:
        channel.sendall(data)


def receive_into(channel: socket.socket, buffer: MessageBuffer) -> int:
    """Read once; returns the number of bytes, 0 at the end of the stream.

    Raises:
        BlockingIOError: the socket does not block and nothing is there.
        OSError: the connection is gone.
    """
    size = MAX_DESCRIPTORS * array.array("i").itemsize
    data, ancillary, _, _ = channel.recvmsg(65536, socket.CMSG_SPACE(size), _CLOEXEC)
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers = array.array("i")
            numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
            buffer.descriptors.extend(numbers)
    buffer.data.extend(data)
    return len(data)


def receive(channel: socket.socket, buffer: MessageBuffer) -> dict[str, Any] | None:
    """The next message from a blocking socket, or None at the end of the stream.

    Raises:
        OSError: the connection is gone.
    """
    while True:
        message = buffer.take()
        if message is not None:
            return message
        if receive_into(channel, buffer) == 0:
            return None


_CLOEXEC: Final[int] = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
