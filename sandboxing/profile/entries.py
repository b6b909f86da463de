"""Entry: one filesystem rule as the wire writes it: where, and what is given there.

Locations stay symbolic; this module never resolves one and never matches a glob. Profiles, the algebra, the
policy files and the binder read entries.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sandboxing.profile.access import AccessMode
from sandboxing.profile.portable_path import PortablePath
from sandboxing.profile.variant import variant_of

__all__ = [
    "Entry",
    "GlobLocation",
    "Location",
    "PathLocation",
    "PortablePath",
    "SpecialKind",
    "SpecialLocation",
    "SpecialValue",
]

PROJECT_ROOTS_GLOB_PREFIX = "codex-project-roots://"
"""What a glob starts with when it is read from each workspace root."""


class SpecialKind(StrEnum):
    """The symbolic locations of the wire."""

    ROOT = "root"
    MINIMAL = "minimal"
    PROJECT_ROOTS = "project_roots"
    TMPDIR = "tmpdir"
    SLASH_TMP = "slash_tmp"
    UNKNOWN = "unknown"


class WireModel(BaseModel):
    """Base of the tagged wire forms: frozen, and what a newer peer adds is dropped."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class SpecialValue(WireModel):
    """The value of a symbolic location.

    `current_working_directory` is an older name of `project_roots`; it is read as that and emitted as that.

    Attributes:
        kind: the symbol.
        path: the spelling of an unknown symbol, kept for the way back.
        subpath: relative place below each workspace root.
    """

    kind: Annotated[
        SpecialKind, variant_of(SpecialKind, aliases={"current_working_directory": SpecialKind.PROJECT_ROOTS})
    ]
    path: str | None = None
    subpath: str | None = None

    @model_validator(mode="after")
    def _check_extras(self) -> SpecialValue:
        if self.kind is SpecialKind.UNKNOWN:
            if self.path is None:
                raise PydanticCustomError("missing", "missing field `path`")
            return self
        if self.subpath is None:
            return self
        if self.kind is not SpecialKind.PROJECT_ROOTS:
            # Dropping it, as for an unknown field, would turn a narrow grant into a wide one.
            raise PydanticCustomError(
                "subpath", "`subpath` has no meaning for `{kind}`", {"kind": self.kind.value}
            )
        if re.match(r"[/\\]|[A-Za-z]:", self.subpath) or ".." in re.split(r"[/\\]", self.subpath):
            raise PydanticCustomError(
                "subpath", "`{subpath}` does not stay below the workspace root", {"subpath": self.subpath}
            )
        if "\0" in self.subpath:
            raise PydanticCustomError("subpath", "the subpath contains a NUL character")
        return self

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        emitted: dict[str, object] = handler(self)
        if self.kind is not SpecialKind.UNKNOWN:
            emitted.pop("path", None)
        return without_absent(emitted, "path", "subpath")


class PathLocation(WireModel):
    """A fixed place."""

    type: Literal["path"] = "path"
    path: PortablePath


class GlobLocation(WireModel):
    """Every path that matches a pattern; only denies have an effect.

    Attributes:
        pattern: absolute, relative to the policy cwd, or with the workspace prefix.
    """

    type: Literal["glob_pattern"] = "glob_pattern"
    pattern: str

    @field_validator("pattern")
    @classmethod
    def _usable(cls, pattern: str) -> str:
        if not pattern or "\0" in pattern:
            raise PydanticCustomError("pattern", "the pattern is empty or contains a NUL character")
        return pattern

    @property
    def project_subpattern(self) -> str | None:
        """What follows the workspace prefix, or None for a pattern without it."""
        if not self.pattern.startswith(PROJECT_ROOTS_GLOB_PREFIX):
            return None
        return self.pattern.removeprefix(PROJECT_ROOTS_GLOB_PREFIX)


class SpecialLocation(WireModel):
    """A symbolic place."""

    type: Literal["special"] = "special"
    value: SpecialValue


Location = Annotated[PathLocation | GlobLocation | SpecialLocation, Field(discriminator="type")]


class Entry(WireModel):
    """One rule.

    Attributes:
        path: where.
        access: what is given; `none` is an older word for `deny`, accepted and emitted as `deny`.
        missing_path_behavior: `skip` marks a carve-out that must not be held by a placeholder when nothing
            stands at the path.
    """

    path: Location
    access: Annotated[AccessMode, variant_of(AccessMode, aliases={"none": AccessMode.DENY})]
    missing_path_behavior: Literal["skip"] | None = None

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return without_absent(handler(self), "missing_path_behavior")

    @property
    def is_deny_glob(self) -> bool:
        """Whether the entry is a glob that has an effect."""
        return self.access is AccessMode.DENY and isinstance(self.path, GlobLocation)


def without_absent(emitted: dict[str, object], *optional: str) -> dict[str, object]:
    """The emitted object without the optional members that are None; the wire leaves those out."""
    return {key: value for key, value in emitted.items() if value is not None or key not in optional}


def special(kind: SpecialKind, access: AccessMode, *, subpath: str | None = None) -> Entry:
    """An entry at a symbol."""
    return Entry(path=SpecialLocation(value=SpecialValue(kind=kind, subpath=subpath)), access=access)


def at_path(path: PortablePath, access: AccessMode) -> Entry:
    """An entry at a fixed place."""
    return Entry(path=PathLocation(path=path), access=access)
