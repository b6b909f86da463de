"""Authentication of WebSocket upgrades by a bearer token.

Pure decisions on the text of one header; checked once per connection, before the upgrade. Tokens and secrets
are never logged or sent back. The WebSocket adapter asks, the command line builds.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from typing import Final, Protocol

from execserver.errors import ListenRefused

MISSING: Final = "missing websocket bearer token"
INVALID_HEADER: Final = "invalid authorization header"
INVALID_TOKEN: Final = "invalid websocket bearer token"  # noqa: S105 - the text of an answer
INVALID_JWT: Final = "invalid websocket jwt"
EXPIRED_JWT: Final = "expired websocket jwt"
EARLY_JWT: Final = "websocket jwt is not valid yet"
ISSUER_MISMATCH: Final = "websocket jwt issuer mismatch"
AUDIENCE_MISMATCH: Final = "websocket jwt audience mismatch"

MIN_SECRET_BYTES: Final = 32
"""Shortest shared secret that may sign tokens."""

DEFAULT_CLOCK_SKEW_S: Final = 30.0
"""How far the clocks of signer and server may be apart."""

_SHA256_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
_JWT_PARTS: Final = 3


class Authenticator(Protocol):
    """One way to tell who may connect."""

    def refusal(self, authorization: str | None, *, now_s: float) -> str | None:
        """Why a connection is refused, as the text of the answer; None when it may proceed.

        Args:
            authorization: the value of the Authorization header, None when there is none.
            now_s: seconds since the epoch.
        """


@dataclass(frozen=True, slots=True)
class OpenToAll:
    """No check; an Authorization header means nothing."""

    def refusal(self, authorization: str | None, *, now_s: float) -> str | None:
        """Never a reason to refuse."""
        del authorization, now_s
        return None


@dataclass(frozen=True, slots=True)
class CapabilityToken:
    """One token that everybody who may connect knows; only its hash is kept.

    Attributes:
        sha256: SHA-256 of the token.
    """

    sha256: bytes

    @classmethod
    def of_token(cls, token: str) -> CapabilityToken:
        """The check for a token, surrounding blanks removed.

        Raises:
            ListenRefused: the token is empty.
        """
        trimmed = token.strip()
        if not trimmed:
            raise ListenRefused("cannot use the websocket token: it is empty")
        return cls(hashlib.sha256(trimmed.encode()).digest())

    @classmethod
    def of_sha256(cls, digits: str) -> CapabilityToken:
        """The check for a token of which only the hash is known here.

        Raises:
            ListenRefused: not 64 hexadecimal digits.
        """
        if _SHA256_HEX.fullmatch(digits.strip()) is None:
            raise ListenRefused("cannot use the websocket token hash: it is not 64 hexadecimal digits")
        return cls(bytes.fromhex(digits.strip()))

    def refusal(self, authorization: str | None, *, now_s: float) -> str | None:
        """See Authenticator."""
        del now_s
        token = _bearer(authorization)
        if isinstance(token, _Refused):
            return token.reason
        presented = hashlib.sha256(token.encode()).digest()
        return None if hmac.compare_digest(presented, self.sha256) else INVALID_TOKEN


@dataclass(frozen=True, slots=True)
class SignedToken:
    """JSON web tokens signed with a shared secret; HS256 and nothing else.

    Attributes:
        secret: the shared secret.
        issuer: what `iss` has to be, or None for anything.
        audience: what `aud` has to be or to contain, or None for anything.
        clock_skew_s: how far clocks may be apart.
    """

    secret: bytes
    issuer: str | None = None
    audience: str | None = None
    clock_skew_s: float = DEFAULT_CLOCK_SKEW_S

    @classmethod
    def of_secret(
        cls, secret: str, *, issuer: str | None, audience: str | None, clock_skew_s: float
    ) -> SignedToken:
        """The check for tokens signed with a secret, surrounding blanks removed.

        Raises:
            ListenRefused: the secret is too short.
        """
        trimmed = secret.strip().encode()
        if len(trimmed) < MIN_SECRET_BYTES:
            raise ListenRefused(f"cannot use the shared secret: shorter than {MIN_SECRET_BYTES} bytes")
        return cls(trimmed, issuer=issuer, audience=audience, clock_skew_s=clock_skew_s)

    def refusal(self, authorization: str | None, *, now_s: float) -> str | None:
        """See Authenticator."""
        token = _bearer(authorization)
        if isinstance(token, _Refused):
            return token.reason
        claims = self._claims(token)
        if claims is None:
            return INVALID_JWT
        return self._check(claims, now_s)

    def _claims(self, token: str) -> dict[str, object] | None:
        parts = token.split(".")
        if len(parts) != _JWT_PARTS:
            return None
        signed = f"{parts[0]}.{parts[1]}".encode()
        expected = hmac.new(self.secret, signed, hashlib.sha256).digest()
        signature = _base64url(parts[2])
        # The signature first: nothing that a stranger wrote is read before it is known to be genuine.
        if signature is None or not hmac.compare_digest(signature, expected):
            return None
        header = _json_object(parts[0])
        return _json_object(parts[1]) if header is not None and header.get("alg") == "HS256" else None

    def _check(self, claims: dict[str, object], now_s: float) -> str | None:
        expires, begins = claims.get("exp"), claims.get("nbf")
        if not _is_number(expires) or not (begins is None or _is_number(begins)):
            return INVALID_JWT
        if float(str(expires)) + self.clock_skew_s < now_s:
            return EXPIRED_JWT
        if begins is not None and float(str(begins)) - self.clock_skew_s > now_s:
            return EARLY_JWT
        if self.issuer is not None and claims.get("iss") != self.issuer:
            return ISSUER_MISMATCH
        audience = claims.get("aud")
        accepted = audience if isinstance(audience, list) else [audience]
        return None if self.audience is None or self.audience in accepted else AUDIENCE_MISMATCH


@dataclass(frozen=True, slots=True)
class _Refused:
    reason: str


def _bearer(authorization: str | None) -> str | _Refused:
    if authorization is None:
        return _Refused(MISSING)
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or not token.isascii():
        return _Refused(INVALID_HEADER)
    return token


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _base64url(text: str) -> bytes | None:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None


def _json_object(part: str) -> dict[str, object] | None:
    decoded = _base64url(part)
    if decoded is None:
        return None
    try:
        value: object = json.loads(decoded)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
