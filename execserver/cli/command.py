"""The `execserver` command: options to settings, logs to stderr, the URL as the one line on stdout.

Prose and exit codes live here only. Heavy parts are imported when they are needed. Exit 0 at an orderly end,
1 when the server cannot be brought up, 2 for wrong usage.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import BinaryIO, Final, Literal, TextIO

import click

from execserver.adapters.auth import (
    DEFAULT_CLOCK_SKEW_S,
    Authenticator,
    CapabilityToken,
    OpenToAll,
    SignedToken,
)
from execserver.adapters.listen import DEFAULT_LISTEN, Listen, StandardStreams, parse_listen
from execserver.errors import ListenRefused
from execserver.server.settings import Settings

_LOG: Final = logging.getLogger("execserver")
_DISTRIBUTION: Final = "sandboxctl"
_UNKNOWN_VERSION: Final = "0.0.0"
_CAPABILITY: Final = "capability-token"
_SIGNED: Final = "signed-bearer-token"


@dataclass(frozen=True, slots=True)
class AuthOptions:
    """The authentication options as they were given."""

    mode: str | None
    token_file: str | None
    token_sha256: str | None
    shared_secret_file: str | None
    issuer: str | None
    audience: str | None
    max_clock_skew_seconds: float | None

    def authenticator(self) -> Authenticator:
        """The check they describe.

        Raises:
            ListenRefused: they contradict each other, or one is missing.
        """
        token = {"--ws-token-file": self.token_file, "--ws-token-sha256": self.token_sha256}
        signed = {
            "--ws-shared-secret-file": self.shared_secret_file,
            "--ws-issuer": self.issuer,
            "--ws-audience": self.audience,
            "--ws-max-clock-skew-seconds": self.max_clock_skew_seconds,
        }
        match self.mode:
            case "capability-token":
                _refuse_given(signed, mode=_CAPABILITY)
                return self._capability_token()
            case "signed-bearer-token":
                _refuse_given(token, mode=_SIGNED)
                return self._signed_token()
            case _:
                _refuse_given({**token, **signed}, mode=None)
                return OpenToAll()

    def _capability_token(self) -> CapabilityToken:
        match self.token_file, self.token_sha256:
            case str(path), None:
                return CapabilityToken.of_token(_read(path))
            case None, str(digits):
                return CapabilityToken.of_sha256(digits)
            case _:
                raise ListenRefused(
                    f"cannot use --ws-auth {_CAPABILITY}: it needs either a token file or a token hash",
                    hint="give exactly one of --ws-token-file and --ws-token-sha256",
                )

    def _signed_token(self) -> SignedToken:
        if self.shared_secret_file is None:
            raise ListenRefused(
                f"cannot use --ws-auth {_SIGNED}: it needs a shared secret",
                hint="give --ws-shared-secret-file",
            )
        skew = self.max_clock_skew_seconds
        return SignedToken.of_secret(
            _read(self.shared_secret_file),
            issuer=self.issuer,
            audience=self.audience,
            clock_skew_s=DEFAULT_CLOCK_SKEW_S if skew is None else skew,
        )


def _refuse_given(options: Mapping[str, str | float | None], *, mode: str | None) -> None:
    for name, value in options.items():
        if value is not None:
            where = "without --ws-auth" if mode is None else f"with --ws-auth {mode}"
            raise ListenRefused(f"cannot use {name} {where}")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ListenRefused(f"cannot read `{path}`: {reason}") from None


def _version() -> str:
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return _UNKNOWN_VERSION


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--listen",
    "listen_text",
    default=DEFAULT_LISTEN,
    show_default=True,
    metavar="URL",
    help="ws://IP:PORT (port 0 takes a free one) or stdio.",
)
@click.option(
    "--concurrent-requests",
    default=1,
    show_default=True,
    type=click.IntRange(min=1, max=256),
    help="Requests under way per connection and lane; 1 keeps them strictly in order.",
)
@click.option("--ws-auth", type=click.Choice([_CAPABILITY, _SIGNED]), help="How clients authenticate.")
@click.option("--ws-token-file", metavar="PATH", help="File with the capability token.")
@click.option("--ws-token-sha256", metavar="HEX", help="SHA-256 of the capability token.")
@click.option("--ws-shared-secret-file", metavar="PATH", help="File with the secret that signs tokens.")
@click.option("--ws-issuer", help="Required issuer of signed tokens.")
@click.option("--ws-audience", help="Required audience of signed tokens.")
@click.option("--ws-max-clock-skew-seconds", type=float, help="Tolerated clock difference, default 30.")
@click.option(
    "--log-level",
    default="warning",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged to stderr.",
)
@click.version_option(_version(), prog_name="execserver")
def main(  # noqa: PLR0913 - one parameter per option of the command
    *,
    listen_text: str,
    concurrent_requests: int,
    ws_auth: str | None,
    ws_token_file: str | None,
    ws_token_sha256: str | None,
    ws_shared_secret_file: str | None,
    ws_issuer: str | None,
    ws_audience: str | None,
    ws_max_clock_skew_seconds: float | None,
    log_level: str,
) -> None:
    """Serve processes and files of this machine to an exec-server client."""
    logging.basicConfig(
        level=log_level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    auth = AuthOptions(
        mode=ws_auth,
        token_file=ws_token_file,
        token_sha256=ws_token_sha256,
        shared_secret_file=ws_shared_secret_file,
        issuer=ws_issuer,
        audience=ws_audience,
        max_clock_skew_seconds=ws_max_clock_skew_seconds,
    )
    try:
        listen = parse_listen(listen_text)
        authenticator = auth.authenticator()
        asyncio.run(_run(listen, authenticator, Settings(concurrent_requests=concurrent_requests)))
    except ListenRefused as refusal:
        raise click.ClickException(
            refusal.message if refusal.hint is None else f"{refusal.message} ({refusal.hint})"
        ) from None


async def _run(listen: Listen, authenticator: Authenticator, settings: Settings) -> None:
    # Here, because `--help` and refused options need none of it.
    from execserver.adapters.hosts import process_host
    from execserver.adapters.websocket import WebSocketOptions
    from execserver.server.serving import serve_stdio, serve_websocket

    host = process_host(os.environ)
    with contextlib.suppress(asyncio.CancelledError), _stopped_by_signals():
        if isinstance(listen, StandardStreams):
            with _raw(sys.stdin, "rb") as source, _raw(sys.stdout, "wb") as sink:
                await serve_stdio(source, sink, host=host, settings=settings, version=_version())
            return
        if not listen.is_loopback and isinstance(authenticator, OpenToAll):
            _LOG.warning("anybody who reaches %s can run commands here: no --ws-auth is set", listen.host)
        await serve_websocket(
            WebSocketOptions(address=listen, authenticator=authenticator),
            host=host,
            settings=settings,
            version=_version(),
            announce=_announce,
        )


def _raw(stream: TextIO, mode: Literal["rb", "wb"]) -> BinaryIO:
    """The stream without its buffers; closing it leaves the descriptor to the interpreter."""
    return open(stream.fileno(), mode, buffering=0, closefd=False)


def _announce(url: str) -> None:
    click.echo(url)
    sys.stdout.flush()


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let the usual signals end the server in order instead of in the middle."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is not None:
        for number in (signal.SIGTERM, signal.SIGINT):
            # Not every system's event loop has them; there the interpreter's own handling remains.
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(number, task.cancel)
    yield
