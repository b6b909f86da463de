"""PermissionProfile: what a command may do to files and to the network, in the wire's own form.

It decodes and encodes; it never resolves a path or says whether a host can hold the profile. Every other
floor starts from it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)

from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, PathLocation, PortablePath, WireModel, without_absent
from sandboxing.profile.variant import variant_of

__all__ = [
    "DisabledProfile",
    "ExternalProfile",
    "FileSystem",
    "ManagedProfile",
    "NetworkSwitch",
    "PermissionProfile",
    "RestrictedFileSystem",
    "UnrestrictedFileSystem",
    "decode_profile",
    "decode_profile_json",
    "default_profile",
    "encode_profile",
]


class NetworkSwitch(StrEnum):
    """The network permission; which hosts are reachable is no part of a profile."""

    RESTRICTED = "restricted"
    ENABLED = "enabled"


Network = Annotated[NetworkSwitch, variant_of(NetworkSwitch)]
# The reference counts in a machine word and refuses 0 by its type.
GlobDepth = Annotated[int, Field(strict=True, ge=1, le=2**64 - 1)]


class RestrictedFileSystem(WireModel):
    """Only what the entries give.

    Attributes:
        entries: the rules, in the author's order, which decides nothing.
        glob_scan_max_depth: directory levels a deny glob is searched for; None is without bound.
    """

    type: Literal["restricted"] = "restricted"
    entries: tuple[Entry, ...]
    glob_scan_max_depth: GlobDepth | None = None

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return without_absent(handler(self), "glob_scan_max_depth")


class UnrestrictedFileSystem(WireModel):
    """No limits on files."""

    type: Literal["unrestricted"] = "unrestricted"


FileSystem = Annotated[RestrictedFileSystem | UnrestrictedFileSystem, Field(discriminator="type")]


class ManagedProfile(WireModel):
    """Limits that we hold."""

    type: Literal["managed"] = "managed"
    file_system: FileSystem
    network: Network = NetworkSwitch.RESTRICTED


class DisabledProfile(WireModel):
    """No limits at all."""

    type: Literal["disabled"] = "disabled"


class ExternalProfile(WireModel):
    """Files are confined by somebody else, such as a container; only the network is ours."""

    type: Literal["external"] = "external"
    network: Network = NetworkSwitch.RESTRICTED


class _OlderModel(BaseModel):
    """Base of the untagged forms, which refuse what they do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _OlderNetwork(_OlderModel):
    enabled: Annotated[bool, Field(strict=True)] | None = None


class _OlderLists(_OlderModel):
    read: tuple[PortablePath, ...] | None = None
    write: tuple[PortablePath, ...] | None = None


class _OlderEntries(_OlderModel):
    entries: tuple[Entry, ...]
    glob_scan_max_depth: GlobDepth | None = None


class _OlderProfile(_OlderModel):
    network: _OlderNetwork | None = None
    file_system: _OlderEntries | _OlderLists | None = None


def _upgrade_older(value: object) -> object:
    """The managed profile that an untagged object means; anything else is left to the tagged forms."""
    if not isinstance(value, dict) or "type" in value:
        return value
    if set(value) - {"network", "file_system"} or not value:
        # A tagged profile without its tag is the likelier mistake, so that error is the useful one.
        return value
    older = _OlderProfile.model_validate(value)
    enabled = older.network is not None and older.network.enabled is True
    return ManagedProfile(
        file_system=_upgrade_older_files(older.file_system),
        network=NetworkSwitch.ENABLED if enabled else NetworkSwitch.RESTRICTED,
    )


def _upgrade_older_files(older: _OlderEntries | _OlderLists | None) -> RestrictedFileSystem:
    match older:
        case None:
            return RestrictedFileSystem(entries=())
        case _OlderEntries():
            return RestrictedFileSystem(entries=older.entries, glob_scan_max_depth=older.glob_scan_max_depth)
        case _OlderLists():
            return RestrictedFileSystem(entries=_entries_of_lists(older))


def _entries_of_lists(lists: _OlderLists) -> tuple[Entry, ...]:
    pairs = ((lists.read, AccessMode.READ), (lists.write, AccessMode.WRITE))
    return tuple(
        Entry(path=PathLocation(path=path), access=access) for paths, access in pairs for path in paths or ()
    )


PermissionProfile = Annotated[
    ManagedProfile | DisabledProfile | ExternalProfile,
    Field(discriminator="type"),
    BeforeValidator(_upgrade_older),
]


def default_profile() -> ManagedProfile:
    """The profile of somebody who asked for nothing: no file, no network."""
    return ManagedProfile(file_system=RestrictedFileSystem(entries=()))


_ADAPTER: Final[TypeAdapter[ManagedProfile | DisabledProfile | ExternalProfile]] = TypeAdapter(
    PermissionProfile
)


def decode_profile(value: object) -> PermissionProfile:
    """Read a profile from decoded JSON: the tagged form, else one of the two older forms.

    Raises:
        pydantic.ValidationError: the value is no profile.
    """
    return _ADAPTER.validate_python(value)


def decode_profile_json(text: str | bytes) -> PermissionProfile:
    """Read a profile from JSON text.

    Raises:
        pydantic.ValidationError: the text is no JSON or no profile.
    """
    return _ADAPTER.validate_json(text)


def encode_profile(profile: PermissionProfile) -> dict[str, object]:
    """The profile as a JSON object, members in wire order, absent members left out."""
    return profile.model_dump(mode="json")
