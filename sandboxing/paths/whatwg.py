"""The part of the WHATWG URL parser that `file:` URLs reach, and the set of characters a path keeps raw.

It knows text only, no conventions and no native paths, and it never decodes a path.
The URI type is its one user.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from sandboxing.errors import PathError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_DRIVE_SEGMENT = re.compile(r"[A-Za-z][:|]")
_SPLIT_SEGMENTS = re.compile(r"[/\\]")
_STRIPPED = "".join(map(chr, range(0x21)))
_SINGLE_DOT = frozenset({".", "%2e"})
_DOUBLE_DOT = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})
# Forbidden domain code points of the URL standard, without the controls, which are tested by range.
_FORBIDDEN_IN_HOST = frozenset(" #/:<>?@[\\]^|%\x7f")
# The reference server leaves exactly these raw (observed with one file per ASCII character); `%` is raw only
# in text that is parsed, because there it introduces an escape.
_RAW = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!$&'()*+,-.:;=@[]^_|~/")
_ESCAPES = tuple(chr(byte) if byte in _RAW else f"%{byte:02X}" for byte in range(256))
_PARSED_ESCAPES = tuple("%" if byte == 0x25 else escape for byte, escape in enumerate(_ESCAPES))


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A `file:` URL in parts.

    Attributes:
        host: lower-case host, empty for this machine.
        segments: the encoded path segments, dot segments removed; never empty.
    """

    host: str
    segments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The URL as the standard serialises it."""
        return f"file://{self.host}/{'/'.join(self.segments)}"


def encode_segment(raw: bytes) -> str:
    """Percent-encode one native name (which contains no separator) for an emitted URI."""
    return "".join(_ESCAPES[byte] for byte in raw)


def is_drive_segment(segment: str) -> bool:
    """Whether the standard reads a first segment as a Windows drive (`C:` or `C|`)."""
    return _DRIVE_SEGMENT.fullmatch(segment) is not None


def parse_file_url(text: str) -> ParsedUrl:
    """Parse like a browser would, then refuse what a path URI may not have.

    Raises:
        PathError: no scheme, another scheme, a bad host, a query or a fragment.
    """
    cleaned = text.strip(_STRIPPED).translate({0x09: None, 0x0A: None, 0x0D: None})
    scheme = _SCHEME.match(cleaned)
    if scheme is None:
        raise PathError("invalid URI: relative URL without a base")
    if scheme[1].lower() != "file":
        raise PathError(f"unsupported path URI scheme `{scheme[1].lower()}`")
    body, hash_mark, _ = cleaned[scheme.end() :].partition("#")
    body, question_mark, _ = body.partition("?")
    host, path = _split_host(body)
    parsed_host = _parse_host(host)
    if question_mark:
        raise PathError("query parameters are not allowed in path URIs")
    if hash_mark:
        raise PathError("fragments are not allowed in path URIs")
    return ParsedUrl(parsed_host, _parse_segments(path))


def _split_host(body: str) -> tuple[str, str]:
    if _SPLIT_SEGMENTS.match(body) is None:
        return "", body
    if _SPLIT_SEGMENTS.match(body[1:]) is None:
        return "", body[1:]
    found = _SPLIT_SEGMENTS.search(body, 2)
    host = body[2 : found.start()] if found is not None else body[2:]
    if is_drive_segment(host):
        return "", body[2:]
    return host, body[found.end() :] if found is not None else ""


def _parse_host(host: str) -> str:
    if not host:
        return ""
    if host.startswith("[") and host.endswith("]"):
        try:
            return f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]"
        except ValueError:
            raise PathError("invalid URI: invalid IPv6 address") from None
    domain = _domain_to_ascii(host)
    if domain == "localhost":
        return ""
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", domain.removesuffix(".").rpartition(".")[2]):
        # The standard also takes shorthands such as `127.1`; refusing them loses nothing a path needs.
        try:
            return str(ipaddress.IPv4Address(domain))
        except ValueError:
            raise PathError("invalid URI: invalid IPv4 address") from None
    return domain


def _domain_to_ascii(host: str) -> str:
    refusal = "invalid URI: invalid international domain name"
    try:
        decoded = unquote_to_bytes(host.encode()).decode()
        domain = decoded if decoded.isascii() else decoded.encode("idna").decode("ascii")
    except UnicodeError:
        raise PathError(refusal) from None
    domain = domain.lower()
    if not domain or any(char <= " " or char in _FORBIDDEN_IN_HOST for char in domain):
        raise PathError(refusal)
    return domain


def _parse_segments(path: str) -> tuple[str, ...]:
    segments: list[str] = []
    pieces = _SPLIT_SEGMENTS.split(path)
    last = len(pieces) - 1
    for position, piece in enumerate(pieces):
        lowered = piece.lower()
        if lowered in _DOUBLE_DOT:
            # A drive is never climbed out of.
            if not (len(segments) == 1 and is_drive_segment(segments[0])):
                del segments[-1:]
            if position == last:
                segments.append("")
        elif lowered in _SINGLE_DOT:
            if position == last:
                segments.append("")
        elif not segments and is_drive_segment(piece):
            segments.append(piece[0].upper() + ":")
        else:
            segments.append(_escape_parsed(piece))
    return tuple(segments)


def _escape_parsed(piece: str) -> str:
    try:
        raw = piece.encode("utf-8")
    except UnicodeEncodeError:
        raise PathError("invalid URI: the text holds an unpaired surrogate") from None
    return "".join(_PARSED_ESCAPES[byte] for byte in raw)
