"""PortablePath: the path of an entry as its author wrote it, and what it names.

It takes native absolute text of either convention, `file:` URIs and `~` forms, and keeps the text for the way
back. It must never resolve `~` or a link. Entries and policy files hold it, the binder makes it native.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from sandboxing.errors import PathError
from sandboxing.paths.convention import PathConvention
from sandboxing.paths.native import PathDialect, dialect_of
from sandboxing.paths.uri import PathUri

_FILE_SCHEME = re.compile(r"file:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PortablePath:
    """One absolute or home-relative path; make it with `parse` or `from_native`.

    Two spellings of one place are equal; exactly one of `uri` and `home_subpath` is set.

    Attributes:
        text: the path as written, emitted unchanged.
        uri: the place, unless it depends on the home directory.
        home_subpath: what follows `~/`, empty for `~` alone.
    """

    text: str = field(compare=False)
    uri: PathUri | None
    home_subpath: str | None

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> PortablePath:
        """Read one of the accepted forms.

        Text that starts with `/` is POSIX, also with two slashes: a share is written with backslashes.

        Raises:
            PathError: the text is relative, names another user's home, contains NUL, or is a bad URI.
        """
        if "\0" in text:
            raise PathError(f"cannot use `{text!r}`: it contains a NUL character")
        if text == "~" or text.startswith("~/"):
            return cls(text, uri=None, home_subpath="/".join(part for part in text[2:].split("/") if part))
        if _FILE_SCHEME.match(text):
            return cls(text, uri=PathUri.parse(text), home_subpath=None)
        convention = _native_convention(text)
        if convention is None:
            raise PathError(
                f"cannot use `{text}`: the path is not absolute",
                hint="write an absolute path, a `file:` URI, `~` or `~/...`",
            )
        return cls(text, uri=PathUri.from_native(text, convention), home_subpath=None)

    @classmethod
    def from_native(cls, path: str, convention: PathConvention) -> PortablePath:
        """The portable form of a native absolute path, written natively.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        text = dialect_of(convention).normalise(path)
        return cls(text, uri=PathUri.from_native(text, convention), home_subpath=None)

    @classmethod
    def from_uri(cls, uri: PathUri) -> PortablePath:
        """The portable form of a URI, written as the URI."""
        return cls(uri.text, uri=uri, home_subpath=None)

    def to_native(self, convention: PathConvention, *, home: str | None, host_label: str) -> str:
        """The normalised native path.

        Native text is used as it stands, so a path that has no URI (undecodable bytes, a POSIX root entry
        named like a drive) still names its file.

        Args:
            convention: the system that will open the path.
            home: the native home directory, or None when there is none.
            host_label: the system's name for the error, such as `linux`.

        Raises:
            PathError: the path is of another convention, holds an encoded separator, or needs a home that is
                not known.
        """
        dialect = dialect_of(convention)
        if self.uri is None:
            if home is None:
                raise PathError(f"cannot use `{self.text}`: the home directory is not known")
            return dialect.join(home, self.home_subpath or ".")
        if _native_convention(self.text) is convention:
            return dialect.normalise(self.text)
        native = self.uri.to_native(convention, host_label=host_label)
        if self.uri.has_encoded_separator:
            # Folding dots that the encoding hid could move the rule elsewhere than where a program would go.
            raise PathError(f"cannot use `{self.text}`: it holds an encoded path separator")
        return dialect.normalise(native)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Lets a model field be a PortablePath: text in, the same text out."""
        return core_schema.no_info_wrap_validator_function(
            _validate,
            core_schema.str_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(
                str, return_schema=core_schema.str_schema()
            ),
        )


def _native_convention(text: str) -> PathConvention | None:
    for dialect in PathDialect:
        if dialect.is_absolute(text):
            return dialect.convention
    return None


def _validate(value: object, read_text: ValidatorFunctionWrapHandler) -> PortablePath:
    if isinstance(value, PortablePath):
        return value
    text: str = read_text(value)
    try:
        return PortablePath.parse(text)
    except PathError as refusal:
        raise PydanticCustomError("path_uri", "{reason}", {"reason": refusal.message}) from refusal
