"""Who may connect: the texts of refusals, and that nothing but a genuine token passes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.adapters.auth import CapabilityToken, OpenToAll, SignedToken
from execserver.errors import ListenRefused

SECRET = "0123456789abcdef0123456789abcdef"
NOW = 1_000_000.0


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(claims: object, *, alg: str = "HS256", secret: str = SECRET) -> str:
    signed = part(json.dumps({"alg": alg, "typ": "JWT"}).encode()) + "." + part(json.dumps(claims).encode())
    return signed + "." + part(hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest())


def signed(issuer: str | None = None, audience: str | None = None) -> SignedToken:
    return SignedToken.of_secret(f" {SECRET}\n", issuer=issuer, audience=audience, clock_skew_s=30)


@pytest.mark.parametrize("check", [CapabilityToken.of_token(" right\n"), signed()])
@pytest.mark.parametrize(
    ("header", "text"),
    [
        (None, "missing websocket bearer token"),
        ("Basic right", "invalid authorization header"),
        ("Bearer", "invalid authorization header"),
        ("Bearer   ", "invalid authorization header"),
        ("Bearer \u00e9", "invalid authorization header"),
    ],
)
def test_a_header_without_a_token_is_refused_alike(
    check: CapabilityToken | SignedToken, header: str | None, text: str
) -> None:
    assert check.refusal(header, now_s=NOW) == text
    assert OpenToAll().refusal(header, now_s=NOW) is None


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc", "Zs"]), min_size=1))
def test_only_the_capability_token_itself_passes(token: str) -> None:
    by_token = CapabilityToken.of_token("right")
    by_hash = CapabilityToken.of_sha256(hashlib.sha256(b"right").hexdigest().upper())
    expected = None if token == "right" else "invalid websocket bearer token"
    assert by_token.refusal(f"bEARER  {token} ", now_s=NOW) == expected
    assert by_hash.refusal(f"Bearer {token}", now_s=NOW) == expected


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (jwt({"exp": NOW + 1}), None),
        (jwt({"exp": NOW - 29}), None),
        (jwt({"exp": NOW - 31}), "expired websocket jwt"),
        (jwt({"exp": NOW + 9, "nbf": NOW + 29}), None),
        (jwt({"exp": NOW + 99, "nbf": NOW + 31}), "websocket jwt is not valid yet"),
        (jwt({}), "invalid websocket jwt"),
        (jwt({"exp": "soon"}), "invalid websocket jwt"),
        (jwt({"exp": True}), "invalid websocket jwt"),
        (jwt({"exp": NOW, "nbf": "x"}), "invalid websocket jwt"),
        (jwt([]), "invalid websocket jwt"),
        (jwt({"exp": NOW}, alg="none"), "invalid websocket jwt"),
        (jwt({"exp": NOW}, alg="HS512"), "invalid websocket jwt"),
        (jwt({"exp": NOW}, secret="x" * 32), "invalid websocket jwt"),
        (jwt({"exp": NOW})[:-1], "invalid websocket jwt"),
        (jwt({"exp": NOW}).rpartition(".")[0] + ".", "invalid websocket jwt"),
        ("a.b", "invalid websocket jwt"),
        ("!.!.!", "invalid websocket jwt"),
    ],
)
def test_a_signed_token_is_checked_for_signature_and_time(token: str, text: str | None) -> None:
    assert signed().refusal(f"Bearer {token}", now_s=NOW) == text


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ({"iss": "me", "aud": "you"}, None),
        ({"iss": "me", "aud": ["x", "you"]}, None),
        ({"aud": "you"}, "websocket jwt issuer mismatch"),
        ({"iss": "other", "aud": "you"}, "websocket jwt issuer mismatch"),
        ({"iss": "me"}, "websocket jwt audience mismatch"),
        ({"iss": "me", "aud": ["x"]}, "websocket jwt audience mismatch"),
    ],
)
def test_issuer_and_audience_are_checked_when_they_are_configured(
    claims: dict[str, object], text: str | None
) -> None:
    header = f"Bearer {jwt(claims | {'exp': NOW + 60})}"
    assert signed(issuer="me", audience="you").refusal(header, now_s=NOW) == text
    assert signed().refusal(header, now_s=NOW) is None


def test_weak_or_empty_secrets_are_refused_at_the_start() -> None:
    with pytest.raises(ListenRefused, match="empty"):
        CapabilityToken.of_token(" \n")
    with pytest.raises(ListenRefused, match="64 hexadecimal digits"):
        CapabilityToken.of_sha256("abc")
    with pytest.raises(ListenRefused, match="shorter than 32 bytes"):
        SignedToken.of_secret("short", issuer=None, audience=None, clock_skew_s=30)
