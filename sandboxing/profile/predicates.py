"""Questions about a whole filesystem section: all of the disk readable, all of it writable, any denies.

The answers come from the entries as written; where they cannot know, they answer as if a sandbox were needed.
Requirement, legacy mapping and binding ask them.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, GlobLocation, Location, SpecialKind, SpecialLocation
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    FileSystem,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
)
from sandboxing.profile.resolve import RuleAtPath

# These never stand for a path, so they can never take anything away from the disk.
_PLACELESS = frozenset({SpecialKind.MINIMAL, SpecialKind.UNKNOWN})


def kind_of(entry: Entry) -> SpecialKind | None:
    """The symbol of an entry, or None when the entry names a path or a glob."""
    return entry.path.value.kind if isinstance(entry.path, SpecialLocation) else None


def network_of(profile: PermissionProfile) -> NetworkSwitch:
    """The network switch that is in force under a profile."""
    return NetworkSwitch.ENABLED if isinstance(profile, DisabledProfile) else profile.network


def file_system_of(profile: PermissionProfile) -> FileSystem:
    """The filesystem section that is in force on our side; an external sandbox leaves us nothing to hold."""
    match profile:
        case ManagedProfile():
            return profile.file_system
        case DisabledProfile() | ExternalProfile():
            return UnrestrictedFileSystem()


def has_full_disk_read(file_system: FileSystem) -> bool:
    """Whether everything can be read: the root entry is readable and nothing at all is denied."""
    if not isinstance(file_system, RestrictedFileSystem):
        return True
    entries = file_system.entries
    if any(entry.access is AccessMode.DENY for entry in entries):
        return False
    return any(kind_of(entry) is SpecialKind.ROOT for entry in entries)


def has_full_disk_write(file_system: FileSystem) -> bool:
    """Whether everything can be written: the root entry is writable and no entry narrows it.

    A read entry narrows unless a write entry names the same location. A deny always narrows, since it wins
    against a write of the same location, and so does any glob.
    """
    if not isinstance(file_system, RestrictedFileSystem):
        return True
    entries = file_system.entries
    writable = {entry.path for entry in entries if entry.access is AccessMode.WRITE}
    if not any(kind_of(entry) is SpecialKind.ROOT and entry.access is AccessMode.WRITE for entry in entries):
        return False
    return not any(_narrows(entry, writable) for entry in entries)


def _narrows(entry: Entry, writable: set[Location]) -> bool:
    if isinstance(entry.path, GlobLocation):
        return True
    if kind_of(entry) in _PLACELESS or entry.access is AccessMode.WRITE:
        return False
    return entry.access is AccessMode.DENY or entry.path not in writable


def wants_platform_defaults(file_system: FileSystem) -> bool:
    """Whether the system's own read roots are opened: `minimal` is readable and the whole disk is not."""
    if not isinstance(file_system, RestrictedFileSystem) or has_full_disk_read(file_system):
        return False
    accesses = [entry.access for entry in file_system.entries if kind_of(entry) is SpecialKind.MINIMAL]
    return bool(accesses) and AccessMode.DENY not in accesses


def has_read_denies(file_system: FileSystem, dialect: PathDialect) -> bool:
    """Whether any entry denies; a denied `slash_tmp` does not count where there is no `/tmp`."""
    if not isinstance(file_system, RestrictedFileSystem):
        return False
    return any(
        entry.access is AccessMode.DENY
        and (dialect is PathDialect.POSIX or kind_of(entry) is not SpecialKind.SLASH_TMP)
        for entry in file_system.entries
    )


def protecting_name(
    rules: Iterable[RuleAtPath], path: str, names: tuple[str, ...], dialect: PathDialect
) -> str | None:
    """The protected name that keeps `path` read-only, or None.

    A name protects directly below each writable rule, unless another writable rule at or below the protected
    directory covers the path. Each writable rule is asked, so the order of the rules decides nothing.

    Raises:
        PathError: a path is relative or contains NUL.
    """
    candidate = dialect.key(path)
    above = {
        key
        for rule in rules
        if rule.access is AccessMode.WRITE and candidate[: len(key := dialect.key(rule.path))] == key
    }
    folded = {dialect.fold_name(name): name for name in names}
    for key in sorted(above):
        if len(candidate) == len(key) or candidate[len(key)] not in folded:
            continue
        if not any(len(other) > len(key) for other in above):
            return folded[candidate[len(key)]]
    return None
