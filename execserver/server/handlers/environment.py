"""The handlers of `environment/*`: what the server says about itself, and that it is there."""

from __future__ import annotations

from typing import assert_never

from execserver.protocol.environment import (
    EnvironmentInfoParams,
    EnvironmentStatusParams,
    EnvironmentStatusResult,
)
from execserver.server.handlers.call import Call, Reply

EnvironmentParams = EnvironmentInfoParams | EnvironmentStatusParams


def handle(call: Call, params: EnvironmentParams) -> Reply:
    """Answer a request of this family."""
    match params:
        case EnvironmentInfoParams():
            return Reply(call.service.info)
        case EnvironmentStatusParams():
            return Reply(EnvironmentStatusResult())
        case _:
            assert_never(params)
