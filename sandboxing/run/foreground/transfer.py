"""Transfers: bytes from one descriptor to another, one chunk at a time, never blocking the loop.

While a chunk waits for its target nothing more is read, so a slow reader slows its writer down as a pipe
would, and no more than one chunk is ever held. Used by the wiring and the terminal of a foreground run.
"""

import sys

assert sys.platform == "linux"

import fcntl
import os
import selectors
import struct
import termios
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Final

from sandboxing.run.foreground.endpoints import Source, Target
from sandboxing.run.session import READ_BYTES, Session

_LAST_BYTES: Final = 1024 * 1024
"""The largest buffer that an ordinary user can give a pipe, /proc/sys/fs/pipe-max-size."""

_INT: Final = struct.Struct("i")


class Waiting(Enum):
    """What a transfer waits for."""

    NOTHING = "nothing"
    SOURCE = "something to read"
    TARGET = "room to write"


class Broken(Enum):
    """What happens when the target takes nothing any more."""

    CLOSE = "the source is closed, so that its writer learns of it"
    DISCARD = "the source is read, and forgotten"


class Transfer:
    """Bytes from a source to a target."""

    def __init__(
        self,
        session: Session,
        source: Source,
        target: Target,
        *,
        passing: Callable[[bytes], None],
        broken: Broken = Broken.CLOSE,
    ) -> None:
        """Prepare; nothing is read before `begin`.

        Args:
            session: whose loop it is part of.
            source: where bytes come from.
            target: where they go; closed after the last of them, if it is ours.
            passing: told of every chunk that was read.
            broken: what to do when the target is gone.
        """
        self._session = session
        self._source = source
        self._target = target
        self._passing = passing
        self._broken = broken
        self._waiting = Waiting.NOTHING
        self._pending = memoryview(b"")
        self._source_open = True
        self._target_open = True

    @property
    def done(self) -> bool:
        """Whether everything has arrived and nothing more will come."""
        return not self._source_open and not self._pending

    @property
    def pending(self) -> int:
        """How many bytes have been read and not been written."""
        return len(self._pending)

    def begin(self) -> None:
        """Wait for something to read."""
        self._wait_for(Waiting.SOURCE)

    def conclude(self) -> None:
        """Take what is there and no more; what has been taken is still delivered."""
        taken = bytearray(self._pending)
        allowed = len(taken) + _LAST_BYTES
        while self._source_open and len(taken) < allowed and (data := self._read()):
            taken.extend(data)
        self._pending = memoryview(bytes(taken))
        self._close_source()
        self._write_unless_it_blocks()

    def close(self) -> None:
        """Let go of source and target."""
        self._wait_for(Waiting.NOTHING)
        self._pending = memoryview(b"")
        self._close_source()
        self._close_target()

    def may_read(self) -> bool:
        """Whether the source is ours to read just now."""
        return self._source_open

    def listen(self, selector: selectors.BaseSelector, ready: Callable[[], None]) -> None:
        """Register the source."""
        selector.register(self._source.descriptor, selectors.EVENT_READ, ready)

    def listen_no_more(self, selector: selectors.BaseSelector) -> None:
        """Undo `listen`."""
        selector.unregister(self._source.descriptor)

    def _wait_for(self, event: Waiting) -> None:
        if event is Waiting.SOURCE and not self._source.pollable:
            event = Waiting.TARGET  # the source is always ready
        if event is self._waiting:
            return
        selector = self._session.selector
        match self._waiting:
            case Waiting.SOURCE:
                self.listen_no_more(selector)
            case Waiting.TARGET:
                selector.unregister(self._target.descriptor)
            case Waiting.NOTHING:
                pass
        self._waiting = event
        match event:
            case Waiting.SOURCE:
                self.listen(selector, self._on_source)
            case Waiting.TARGET:
                selector.register(self._target.descriptor, selectors.EVENT_WRITE, self._on_target)
            case Waiting.NOTHING:
                pass

    def _on_source(self) -> None:
        if self.may_read():
            self._read_next()
            self._write_unless_it_blocks()

    def _on_target(self) -> None:
        if not self._pending:
            self._read_next()
        self._write()

    def _read_next(self) -> None:
        data = self._read()
        if data == b"":
            self._close_source()
        elif data is not None:
            self._pending = memoryview(data)

    def _read(self) -> bytes | None:
        """Some bytes, none at the end, None when there is nothing just now."""
        try:
            data = os.read(self._source.descriptor, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""  # EIO: the last user of the terminal is gone
        if data:
            self._passing(data)
        return data

    def _write_unless_it_blocks(self) -> None:
        if self._pending and self._target.ready_first:
            self._wait_for(Waiting.TARGET)
        else:
            self._write()

    def _write(self) -> None:
        """Write what can be written, then wait for what comes next."""
        try:
            while self._pending:
                if not self._target_open:
                    self._pending = memoryview(b"")
                    break
                self._pending = self._pending[self._target.write(self._pending) :]
                if self._target.ready_first and self._pending:
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._lose_target()
        if self._pending:
            self._wait_for(Waiting.TARGET)
        elif self._source_open:
            self._wait_for(Waiting.SOURCE)
        else:
            self._wait_for(Waiting.NOTHING)
            self._close_target()

    def _lose_target(self) -> None:
        self._pending = memoryview(b"")
        self._wait_for(Waiting.NOTHING)
        self._close_target()
        if self._broken is Broken.CLOSE:
            self._close_source()

    def _close_source(self) -> None:
        if not self._source_open:
            return
        if self._waiting is Waiting.SOURCE:
            self._wait_for(Waiting.NOTHING)
        self._source_open = False
        if self._source.owned:
            os.close(self._source.descriptor)

    def _close_target(self) -> None:
        if not self._target_open:
            return
        self._target_open = False
        if self._target.owned:
            os.close(self._target.descriptor)


class FileFeed(Transfer):
    """A file as standard input, through a pipe; what the command has left unread is given back to the file.

    A loop in a shell may read the same file between two commands, and would miss what was read ahead.
    """

    def __init__(self, session: Session, source: Source, target: Target, *, command_end: int) -> None:
        """Prepare.

        Args:
            session: whose loop it is part of.
            source: the file.
            target: our end of the pipe.
            command_end: the command's end, for ourselves and closed with the rest.
        """
        super().__init__(session, source, target, passing=lambda _: None)
        self._command_end = command_end

    def close(self) -> None:
        """Give back what is unread, and let go."""
        (buffered,) = _INT.unpack(fcntl.ioctl(self._command_end, termios.FIONREAD, bytes(_INT.size)))
        with suppress(OSError):  # a device has no position
            os.lseek(self._source.descriptor, -(buffered + self.pending), os.SEEK_CUR)
        os.close(self._command_end)
        super().close()
