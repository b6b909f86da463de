"""The HTTP side of the WebSocket listener: routes, Origin, authentication, frames, limits and pings."""

from __future__ import annotations

import asyncio
import hashlib

import aiohttp
import pytest

from execserver.adapters.auth import CapabilityToken
from execserver.adapters.listen import WebSocketAddress
from execserver.adapters.websocket import WebSocketOptions
from execserver.errors import ListenRefused
from execserver.server.serving import running_websocket_server
from execserver.server.settings import Settings
from tests.fakes.process_host import ScriptedHost
from tests.fakes.wire_client import WAIT_S, Lab, WireClient, lab


def http_url(it: Lab, path: str) -> str:
    return it.url.replace("ws://", "http://") + path


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/readyz", 200),
        ("HEAD", "/readyz", 200),
        ("POST", "/readyz", 405),
        ("GET", "/", 400),
        ("GET", "/healthz", 404),
        ("POST", "/", 405),
    ],
)
@pytest.mark.parametrize("origin", [None, "null", "http://127.0.0.1"])
def test_routes_answer_as_the_reference_and_any_origin_is_refused(
    method: str, path: str, status: int, origin: str | None
) -> None:
    async def scenario() -> None:
        async with lab() as it:
            headers = {} if origin is None else {"Origin": origin}
            async with it.http.request(method, http_url(it, path), headers=headers) as response:
                assert response.status == (403 if origin is not None else status)
                if response.status in {200, 403}:
                    assert await response.read() == b""

    asyncio.run(scenario())


def test_a_browser_cannot_upgrade() -> None:
    async def scenario() -> None:
        async with lab() as it:
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                await it.http.ws_connect(it.url, origin="http://evil.test")
            assert refusal.value.status == 403

    asyncio.run(scenario())


def test_a_wrong_websocket_version_is_a_bad_request() -> None:
    async def scenario() -> None:
        async with lab() as it:
            headers = {
                "Upgrade": "websocket",
                "Connection": "Upgrade",
                "Sec-WebSocket-Version": "12",
                "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
            }
            async with it.http.get(http_url(it, "/"), headers=headers) as response:
                assert response.status == 400

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (None, "missing websocket bearer token"),
        ("Basic x", "invalid authorization header"),
        ("Bearer  ", "invalid authorization header"),
        ("Bearer wrong", "invalid websocket bearer token"),
    ],
)
def test_a_connection_without_the_token_is_told_why(header: str | None, body: str) -> None:
    async def scenario() -> None:
        token = CapabilityToken(hashlib.sha256(b"right").digest())
        async with lab(authenticator=token) as it:
            headers = {} if header is None else {"Authorization": header}
            async with it.http.get(http_url(it, "/"), headers=headers) as response:
                assert (response.status, await response.text()) == (401, body)
            async with it.http.get(http_url(it, "/readyz")) as response:
                assert response.status == 200
            websocket = await it.http.ws_connect(it.url, headers={"Authorization": "bearer  right "})
            client = WireClient(websocket)
            await client.initialize()
            await client.aclose()

    asyncio.run(scenario())


def test_no_extension_and_no_subprotocol_is_negotiated() -> None:
    async def scenario() -> None:
        async with lab() as it:
            websocket = await it.http.ws_connect(it.url, compress=15)
            assert not websocket.compress
            assert websocket.protocol is None
            await websocket.close()

    asyncio.run(scenario())


def test_the_server_pings_and_forgives_missing_pongs() -> None:
    async def scenario() -> None:
        async with lab(ping_interval_s=0.01) as it:
            websocket = await it.http.ws_connect(it.url, autoping=False)
            for _ in range(3):
                message = await websocket.receive(timeout=WAIT_S)
                assert (message.type, bytes(message.data)) == (aiohttp.WSMsgType.PING, b"")
            await websocket.close()

    asyncio.run(scenario())


def test_a_ping_is_answered_with_its_payload() -> None:
    async def scenario() -> None:
        async with lab() as it:
            websocket = await it.http.ws_connect(it.url, autoping=False)
            await websocket.ping(b"payload")
            message = await websocket.receive(timeout=WAIT_S)
            assert (message.type, bytes(message.data)) == (aiohttp.WSMsgType.PONG, b"payload")
            await websocket.close()

    asyncio.run(scenario())


def test_a_message_over_the_limit_drops_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.ready()
            await client.raw('{"id":9,"method":"environment/status","x":"' + "y" * 2000 + '"}')
            assert await client.is_dropped() == 1006

    monkeypatch.setattr("execserver.adapters.websocket.MAX_MESSAGE_BYTES", 1000)
    asyncio.run(scenario())


def test_a_connection_too_many_is_told_to_come_back() -> None:
    async def scenario() -> None:
        async with lab(max_connections=1) as it:
            await it.ready()
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                await it.http.ws_connect(it.url)
            assert refusal.value.status == 503

    asyncio.run(scenario())


def test_a_close_frame_of_the_client_detaches_and_is_not_answered() -> None:
    async def scenario() -> None:
        async with lab() as it:
            client = await it.connect()
            session_id = await client.initialize()
            await client.aclose()
            await it.resume(session_id)

    asyncio.run(scenario())


def test_a_port_in_use_is_refused_with_its_address() -> None:
    async def scenario() -> None:
        async with lab() as it:
            port = int(it.url.rpartition(":")[2])
            options = WebSocketOptions(
                address=WebSocketAddress(host="127.0.0.1", port=port),
                authenticator=CapabilityToken.of_token("x"),
            )
            server = running_websocket_server(options, host=ScriptedHost(), settings=Settings(), version="0")
            with pytest.raises(ListenRefused, match=f"cannot listen on `ws://127.0.0.1:{port}`"):
                await server.__aenter__()

    asyncio.run(scenario())
