"""AdditionalPermissions: what one command asks for, or was granted, beyond its profile.

It is the wire form alone and never combines anything; that is the algebra's work. The exec server and the
public API carry it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from sandboxing.profile.entries import Entry, WireModel, without_absent
from sandboxing.profile.permission import GlobDepth


class PermissionsMode(StrEnum):
    """How a single command stands to the session's profile."""

    USE_DEFAULT = "use_default"
    REQUIRE_ESCALATED = "require_escalated"
    WITH_ADDITIONAL = "with_additional_permissions"


class AdditionalNetwork(WireModel):
    """The network part; anything but true asks for nothing."""

    enabled: Annotated[bool, Field(strict=True)] | None = None

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return without_absent(handler(self), "enabled")


class AdditionalFileSystem(WireModel):
    """The filesystem part.

    Attributes:
        entries: rules to add; globs can only deny.
        glob_scan_max_depth: directory levels a deny glob is searched for; None is without bound.
    """

    entries: tuple[Entry, ...]
    glob_scan_max_depth: GlobDepth | None = None

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return without_absent(handler(self), "glob_scan_max_depth")


class AdditionalPermissions(WireModel):
    """A request or a grant; without members it changes nothing."""

    network: AdditionalNetwork | None = None
    file_system: AdditionalFileSystem | None = None

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return without_absent(handler(self), "network", "file_system")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The filesystem rules, empty when there is no filesystem part."""
        return () if self.file_system is None else self.file_system.entries

    @property
    def asks_network(self) -> bool:
        """Whether the network is asked for or granted."""
        return self.network is not None and self.network.enabled is True
