"""PathUri: an absolute path of any system as one normalised `file:` URI.

A URI of a foreign system is ordinary data; only `to_native` asks whether it fits, and the caller names the
system. It must never look at the machine it runs on. Profiles, the wire types and the binder use it.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from sandboxing.errors import PathError
from sandboxing.paths.convention import PathConvention
from sandboxing.paths.native import PathDialect, dialect_of
from sandboxing.paths.whatwg import ParsedUrl, encode_segment, is_drive_segment, parse_file_url

__all__ = ["PathConvention", "PathUri"]

# The reference's fallback for what a URI cannot spell: an escape no real path has, then base64url.
_OPAQUE_SEGMENTS = ("%00", "bad", "path")
_OPAQUE_PAYLOAD = re.compile(r"[A-Za-z0-9_\-]+")
_ENCODED_SLASH = re.compile(r"%2f", re.IGNORECASE)
_ENCODED_ANY_SEPARATOR = re.compile(r"%(?:2f|5c)", re.IGNORECASE)
_ASCII_LOWER = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in range(256))


@dataclass(frozen=True, slots=True)
class PathUri:
    """A parsed path URI; make it with `parse` or `from_native`.

    Equality is textual, as on the wire; `same_as` compares places.

    Attributes:
        text: the normalised URI.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> PathUri:
        """Read a URI by the URL standard's rules for `file:`.

        The scheme and `localhost` are normalised away, dot segments are removed from the encoded path, a
        drive letter becomes upper case, and existing escapes stay as they are.

        Raises:
            PathError: with the text the reference server puts on the wire.
        """
        return cls(parse_file_url(text).text)

    @classmethod
    def from_native(cls, path: str, convention: PathConvention) -> PathUri:
        """Write a native absolute path as a URI; dots are folded.

        Undecodable bytes stand in `path` as surrogate escapes. What a URI of that convention cannot spell
        (such bytes, unpaired UTF-16 units, a POSIX root entry named like a drive, a server name that is no
        host name) becomes an opaque URI, which can be carried but not turned back.

        Raises:
            PathError: the path is relative, contains NUL, or is not text of that convention.
        """
        parts = dialect_of(convention).components(path)
        if convention is PathConvention.WINDOWS:
            return cls._from_windows(parts)
        try:
            raw = [part.encode("utf-8", "surrogateescape") for part in parts[1:]]
        except UnicodeEncodeError:
            raise PathError(f"cannot write `{path!r}` as a URI: it holds unpaired surrogates") from None
        whole = b"/" + b"/".join(raw)
        if not _is_utf8(whole) or (len(parts) > 1 and is_drive_segment(parts[1])):
            return cls._opaque(whole)
        return cls(ParsedUrl("", tuple(encode_segment(part) for part in raw) or ("",)).text)

    @classmethod
    def _from_windows(cls, parts: tuple[str, ...]) -> PathUri:
        whole = PathDialect.WINDOWS.assemble(parts)
        try:
            names = tuple(encode_segment(part.encode("utf-8")) for part in parts[1:])
        except UnicodeEncodeError:
            return cls._opaque(whole.encode("utf-16-le", "surrogatepass"))
        if not parts[0].startswith("\\\\"):
            return cls(ParsedUrl("", (parts[0][:2], *(names or ("",)))).text)
        server, share = parts[0][2:-1].split("\\")
        candidate = ParsedUrl(server.lower(), (encode_segment(share.encode("utf-8", "replace")), *names)).text
        try:
            readable = parse_file_url(candidate).text == candidate
        except PathError:
            readable = False
        return cls(candidate) if readable else cls._opaque(whole.encode("utf-16-le", "surrogatepass"))

    @classmethod
    def _opaque(cls, raw: bytes) -> PathUri:
        payload = base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")
        return cls(ParsedUrl("", (*_OPAQUE_SEGMENTS, payload)).text)

    @property
    def host(self) -> str:
        """The server of a UNC path, else empty."""
        return self.text.removeprefix("file://").partition("/")[0]

    @property
    def segments(self) -> tuple[str, ...]:
        """The encoded path segments without empty ones."""
        path = self.text.removeprefix("file://").partition("/")[2]
        return tuple(segment for segment in path.split("/") if segment)

    @property
    def convention(self) -> PathConvention:
        """Which system the path is of: a host or a drive means Windows, the fallback means opaque."""
        if self.opaque_payload is not None:
            return PathConvention.OPAQUE
        first = self.text.removeprefix("file://").split("/")[1]
        if self.host or is_drive_segment(first):
            return PathConvention.WINDOWS
        return PathConvention.POSIX

    @property
    def opaque_payload(self) -> bytes | None:
        """The raw bytes (POSIX) or UTF-16LE units (Windows) of an opaque URI, None for any other."""
        segments = self.segments
        if self.host or segments[:3] != _OPAQUE_SEGMENTS or len(segments) != 4:
            return None
        payload = segments[3]
        if _OPAQUE_PAYLOAD.fullmatch(payload) is None:
            return None
        try:
            return base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        except binascii.Error:
            return None

    @property
    def has_encoded_separator(self) -> bool:
        """Whether decoding would make more components than the URI shows."""
        if self.convention is PathConvention.WINDOWS:
            return _ENCODED_ANY_SEPARATOR.search(self.text) is not None
        return _ENCODED_SLASH.search(self.text) is not None

    @property
    def has_encoded_nul(self) -> bool:
        """Whether a path that is not opaque spells a NUL, which no system takes."""
        return "%00" in self.text and self.convention is not PathConvention.OPAQUE

    def to_native(self, convention: PathConvention, *, host_label: str) -> str:
        """The path as that system spells it, undecodable bytes as surrogate escapes.

        An encoded separator becomes a separator, so the result may hold dot components that the URI did not
        show; check `has_encoded_separator` before trusting it in a lexical comparison.

        Args:
            convention: the system that will open the path.
            host_label: the system's name as the error shall print it, such as `linux`.

        Raises:
            PathError: ``'<uri>' is invalid on '<host_label>'``: the path is of another convention, opaque,
                holds a NUL, or (Windows) is not Unicode, names no share or names a stream of a file.
        """
        if self.convention is not convention or self.has_encoded_nul:
            raise self._foreign(host_label)
        if convention is PathConvention.POSIX:
            raw = b"/" + b"/".join(unquote_to_bytes(segment) for segment in self.segments)
            return raw.decode("utf-8", "surrogateescape")
        return self._to_windows(host_label)

    def _to_windows(self, host_label: str) -> str:
        try:
            names = [unquote_to_bytes(segment).decode("utf-8") for segment in self.segments]
        except UnicodeDecodeError:
            raise self._foreign(host_label) from None
        drive = names[:1] if not self.host else []
        below = [name.replace("/", "\\") for name in names[len(drive) :]]
        if any(":" in name for name in below) or (self.host and not below):
            raise self._foreign(host_label)
        if drive:
            return drive[0] + "\\" + "\\".join(below)
        return f"\\\\{self.host}\\" + "\\".join(below) + ("\\" if len(below) == 1 else "")

    def _foreign(self, host_label: str) -> PathError:
        return PathError(f"'{self.text}' is invalid on '{host_label}'")

    def same_as(self, other: PathUri) -> bool:
        """Whether both name one place: escapes decoded, ASCII case ignored on Windows."""
        return self._key() == other._key()

    def is_within(self, other: PathUri) -> bool:
        """Whether this path is `other` or below it, component by component.

        Raises:
            PathError: either side holds an encoded separator. An answer would be wrong for grants or for
                denies, so there is none.
        """
        for side in (self, other):
            if side.has_encoded_separator:
                raise PathError(f"cannot compare `{side.text}`: it holds an encoded path separator")
        mine, theirs = self._key(), other._key()
        if PathConvention.OPAQUE.value.encode() in (mine[0], theirs[0]):
            return mine == theirs
        return mine[: len(theirs)] == theirs

    def _key(self) -> tuple[bytes, ...]:
        convention = self.convention
        names = tuple(unquote_to_bytes(segment) for segment in self.segments)
        if convention is PathConvention.WINDOWS:
            names = tuple(name.translate(_ASCII_LOWER) for name in names)
        return (convention.value.encode(), self.host.encode(), *names)

    def join(self, relative: str) -> PathUri:
        """The place `relative`, a native path of this URI's convention, names from here.

        Absolute paths stand for themselves, `..` stops at the root.

        Raises:
            PathError: this URI is opaque or does not decode, or `relative` cannot be used.
        """
        convention = self.convention
        if convention is PathConvention.OPAQUE:
            raise PathError(f"cannot join to `{self.text}`: the path is opaque")
        base = self.to_native(convention, host_label=convention.value)
        return PathUri.from_native(dialect_of(convention).join(base, relative), convention)

    @property
    def parent(self) -> PathUri:
        """The URI of the directory above; roots, drives, shares and opaque paths are their own parents."""
        segments = self.segments
        kept = 0 if self.convention is PathConvention.POSIX else 1
        if self.convention is PathConvention.OPAQUE or len(segments) <= kept:
            return self
        above = segments[:-1]
        if len(above) == kept and not self.host:
            above = (*above, "")
        return PathUri(ParsedUrl(self.host, above).text)

    @property
    def name(self) -> str:
        """The decoded last component, empty for roots and opaque paths."""
        segments = self.segments
        kept = 0 if self.convention is PathConvention.POSIX else 1
        if self.convention is PathConvention.OPAQUE or len(segments) <= kept:
            return ""
        return unquote_to_bytes(segments[-1]).decode("utf-8", "surrogateescape")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Lets a model field be a PathUri: text in, text out."""
        return core_schema.no_info_wrap_validator_function(
            _validate,
            core_schema.str_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(
                str, return_schema=core_schema.str_schema()
            ),
        )


def _validate(value: object, read_text: ValidatorFunctionWrapHandler) -> PathUri:
    if isinstance(value, PathUri):
        return value
    text: str = read_text(value)
    try:
        return PathUri.parse(text)
    except PathError as refusal:
        raise PydanticCustomError("path_uri", "{reason}", {"reason": refusal.message}) from refusal


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
