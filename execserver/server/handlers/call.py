"""Call and Reply: what a handler gets and what it gives back.

A handler never sees the connection; what has to happen right after its answer is queued travels in the reply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from execserver.protocol.wire_model import Result
from execserver.server.service import Service
from execserver.server.session import Session


@dataclass(frozen=True, slots=True)
class Call:
    """Where a request was made."""

    service: Service
    session: Session


@dataclass(frozen=True, slots=True)
class Reply:
    """A result.

    Attributes:
        result: what the client gets.
        then: called in the moment in which the answer stands in the queue, before anything behind it.
    """

    result: Result
    then: Callable[[], None] | None = None
