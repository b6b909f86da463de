"""The command's options: which are refused, and with which words."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from execserver.adapters.auth import CapabilityToken, OpenToAll, SignedToken
from execserver.cli.command import AuthOptions, main
from execserver.errors import ListenRefused


def options(**given: object) -> AuthOptions:
    names = (
        "mode",
        "token_file",
        "token_sha256",
        "shared_secret_file",
        "issuer",
        "audience",
        "max_clock_skew_seconds",
    )
    return AuthOptions(**(dict.fromkeys(names) | given))


def test_help_names_every_option() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for option in ("--listen", "--concurrent-requests", "--ws-auth", "--ws-token-file"):
        assert option in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--listen", "ws://localhost:0"], 1, "cannot listen on `ws://localhost:0`"),
        (["--ws-token-file", "x"], 1, "cannot use --ws-token-file without --ws-auth"),
        (["--ws-auth", "capability-token"], 1, "needs either a token file or a token hash"),
        (["--ws-auth", "password"], 2, "Invalid value"),
        (["--concurrent-requests", "0"], 2, "Invalid value"),
        (["extra"], 2, "unexpected extra argument"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_starts(
    arguments: list[str], code: int, text: str
) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code
    assert text in result.output


def test_credentials_are_read_from_files(tmp_path: Path) -> None:
    token, secret = tmp_path / "token", tmp_path / "secret"
    token.write_text(" right\n")
    secret.write_text("s" * 32 + "\n")
    assert options().authenticator() == OpenToAll()
    by_file = options(mode="capability-token", token_file=str(token)).authenticator()
    assert by_file == CapabilityToken(hashlib.sha256(b"right").digest())
    signed = options(mode="signed-bearer-token", shared_secret_file=str(secret), issuer="me").authenticator()
    assert signed == SignedToken(b"s" * 32, issuer="me")


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "capability-token", "token_file": "a", "token_sha256": "b"},
        {"mode": "capability-token", "token_file": "a", "issuer": "b"},
        {"mode": "signed-bearer-token", "token_file": "a", "shared_secret_file": "b"},
        {"mode": "signed-bearer-token"},
        {"issuer": "x"},
        {"mode": "capability-token", "token_file": "/nonexistent/token"},
    ],
)
def test_options_that_contradict_each_other_or_lead_nowhere_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ListenRefused):
        options(**given).authenticator()
