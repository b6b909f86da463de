"""Connection: one peer, from its first message to the detaching of its session.

Messages are taken in order; with one request at a time each is finished before the next, otherwise requests
of a ready connection go to one of two lanes. It never knows what a method does. The transports call `serve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from execserver.adapters.ports import Transport
from execserver.core import admission
from execserver.core.admission import Lane, Phase
from execserver.core.sessions import Holder
from execserver.errors import ConnectionLost, MalformedMessage, ProtocolBreach, RequestFailed
from execserver.protocol import error_codes
from execserver.protocol.codec import decode, encode_error, encode_result
from execserver.protocol.envelope import Answer, Message, Notification, Request, RequestId
from execserver.protocol.environment import InitializeParams, InitializeResult
from execserver.protocol.error_codes import MALFORMED_ID, RpcCode
from execserver.protocol.methods import decode_params, find_method
from execserver.server.broadcast import Broadcast
from execserver.server.dispatch import dispatch
from execserver.server.handlers.call import Call, Reply
from execserver.server.outbox import Outbox
from execserver.server.service import Service
from execserver.server.session import Session

_LOG: Final = logging.getLogger(__name__)

_Work = asyncio.Queue[tuple[Request, int]]
_Inbox = asyncio.Queue[tuple[Message | MalformedMessage, int]]
"""What was received, each with its size."""


class Connection:
    """One connection and the session it holds."""

    def __init__(self, service: Service, transport: Transport) -> None:
        self._service: Final = service
        self._transport: Final = transport
        self._holder: Final[Holder] = service.new_holder()
        self._outbox: Final = Outbox(
            capacity=service.settings.outgoing_messages, capacity_bytes=service.settings.outgoing_bytes
        )
        self._unanswered_bytes = 0
        self._answered: Final = Broadcast()
        self._phase = Phase.NEW
        self._session: Session | None = None

    async def serve(self) -> None:
        """Talk to the peer until it is gone or has broken the rules.

        Raises:
            ProtocolBreach: the peer did what ends a connection; it has been dropped already.
        """
        inbox: _Inbox = asyncio.Queue(self._service.settings.incoming_messages)
        lanes = self._make_lanes()
        tasks = {
            asyncio.create_task(self._receive(inbox), name="receive"),
            asyncio.create_task(self._take(inbox, lanes), name="take"),
            *(
                asyncio.create_task(self._work(queue), name=f"lane {lane.name}")
                for lane, queue in lanes.items()
                for _ in range(self._service.settings.concurrent_requests)
            ),
        }
        writer = asyncio.create_task(self._write(), name="write")
        try:
            done, _ = await asyncio.wait({writer, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._leave(tasks, writer)
        for task in done:
            task.result()

    def _make_lanes(self) -> dict[Lane, _Work]:
        if self._service.settings.concurrent_requests == 1:
            return {}
        limit = self._service.settings.incoming_messages
        return {lane: asyncio.Queue(limit) for lane in Lane}

    async def _leave(self, tasks: set[asyncio.Task[None]], writer: asyncio.Task[None]) -> None:
        # Nothing may open or resume a session any more once the session has been let go.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            self._service.detach(self._session, self._holder, self._outbox)
        # Answers given before the end still go out, as far as the peer takes them in time.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._service.settings.flush_s):
                await self._outbox.drained()
        self._outbox.close()
        writer.cancel()
        await asyncio.gather(writer, return_exceptions=True)
        await self._transport.abort()

    async def _receive(self, inbox: _Inbox) -> None:
        # A task of its own, so that the loss of the peer is noticed while a request takes long.
        try:
            while (document := await self._transport.receive()) is not None:
                size = len(document)
                # A message larger than the limit goes alone, so the bound is the limit plus one message.
                while self._unanswered_bytes >= self._service.settings.incoming_bytes:
                    await self._answered.wait()
                self._unanswered_bytes += size
                await inbox.put((_decoded(document), size))
        except ConnectionLost:
            return

    async def _write(self) -> None:
        try:
            while (frame := await self._outbox.take()) is not None:
                await self._transport.send(frame)
                self._outbox.sent()
        except ConnectionLost:
            self._outbox.close()

    async def _take(self, inbox: _Inbox, lanes: dict[Lane, _Work]) -> None:
        while True:
            message, size = await inbox.get()
            match message:
                case Request() as request:
                    lane = admission.lane_of(request.method) if self._phase is Phase.READY else None
                    if lanes and lane is not None:
                        await lanes[lane].put((request, size))
                        continue
                    await self._answer(request)
                case Notification(method=method):
                    self._phase = admission.after_notification(self._phase, method)
                case Answer():
                    raise ProtocolBreach("cannot accept an answer: nothing was asked")
                case MalformedMessage() as malformed:
                    await self._refuse_malformed(malformed)
            self._settle(size)

    async def _work(self, queue: _Work) -> None:
        while True:
            request, size = await queue.get()
            await self._answer(request)
            self._settle(size)

    def _settle(self, size: int) -> None:
        self._unanswered_bytes -= size
        self._answered.fire()

    async def _answer(self, request: Request) -> None:
        try:
            reply = await self._reply_to(request)
        except RequestFailed as failure:
            await self._send(encode_error(request.id, failure), then=None)
            return
        await self._send_reply(request.id, reply)

    async def _send_reply(self, request_id: RequestId, reply: Reply) -> None:
        try:
            frame = encode_result(request_id, reply.result.encoded())
            await self._send(frame, reply.then)
        except asyncio.CancelledError:
            # The connection ends before the answer was queued; what it would have set off still happens.
            if reply.then is not None:
                reply.then()
            raise

    async def _reply_to(self, request: Request) -> Reply:
        method = find_method(request.method)
        params = decode_params(method, request.params)
        if isinstance(params, InitializeParams):
            return self._initialize(params)
        admission.check_request(self._phase, method.family)
        session = self._session
        if session is None or not self._service.holds(session, self._holder):
            raise error_codes.session_resumed_elsewhere()
        return await dispatch(Call(service=self._service, session=session), params)

    def _initialize(self, params: InitializeParams) -> Reply:
        admission.check_initialize(self._phase)
        if params.resume_session_id is None:
            session = self._service.open_session(self._holder)
        else:
            session = self._service.resume_session(params.resume_session_id, self._holder)
        self._session = session
        self._phase = Phase.INITIALIZED
        # Not the id of the session: whoever knows it can resume the session.
        _LOG.info("connection %d holds a session", self._holder)
        result = InitializeResult(session_id=session.session_id, environment_info=self._service.info)
        return Reply(result, then=lambda: self._attach(session))

    def _attach(self, session: Session) -> None:
        # Without the question, a connection that is just ending could take the place of a newer one.
        if self._service.holds(session, self._holder):
            session.attach(self._outbox)

    async def _refuse_malformed(self, malformed: MalformedMessage) -> None:
        failure = RequestFailed(
            f"{self._transport.parse_context}: {malformed.message}", rpc_code=RpcCode.INVALID_REQUEST
        )
        await self._send(encode_error(MALFORMED_ID, failure), then=None)

    async def _send(self, frame: bytes, then: Callable[[], None] | None) -> None:
        await self._outbox.slot()
        self._outbox.push(frame)
        if then is not None:
            then()


def _decoded(document: str | bytes) -> Message | MalformedMessage:
    try:
        return decode(document)
    except MalformedMessage as malformed:
        return malformed
