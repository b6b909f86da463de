"""Combining profiles and additional permissions: merge, effective, preserve denies, weaken, add roots.

Nothing here resolves a symbol by itself, and precedence among entries stays the resolver's, so combining is
mostly collecting. Intersection, which needs a machine, has its own module.

Because the deepest rule wins, a grant that is added below a deny opens it again; a deny that must hold
against grants is a sealed deny of a policy file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from sandboxing.errors import PolicyError
from sandboxing.profile.access import AccessMode
from sandboxing.profile.additional import AdditionalFileSystem, AdditionalNetwork, AdditionalPermissions
from sandboxing.profile.entries import (
    Entry,
    GlobLocation,
    PathLocation,
    PortablePath,
    SpecialKind,
    at_path,
    special,
)
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    FileSystem,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
)
from sandboxing.profile.predicates import file_system_of, network_of
from sandboxing.profile.resolver import Resolver, index_of
from sandboxing.profile.workspace import ProtectedChildren, protected_child_entries

NOTHING_ADDED = AdditionalPermissions()


class EntrySet(Protocol):
    """Entries with the depth that their deny globs are searched for."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The rules."""

    @property
    def glob_scan_max_depth(self) -> int | None:
        """Directory levels, None without bound."""


def unchanged(path: PortablePath) -> PortablePath:
    """The canonical form according to a caller that looks at no file system."""
    return path


def normalise_additional(
    additional: AdditionalPermissions, *, canonical: Callable[[PortablePath], PortablePath] = unchanged
) -> AdditionalPermissions:
    """The request without what asks for nothing, paths in canonical form, each rule once.

    Args:
        additional: a request as received.
        canonical: gives a fixed path its canonical form, as far as the caller can.

    Raises:
        PolicyError: a glob gives access.
    """
    for position, entry in enumerate(additional.entries):
        if isinstance(entry.path, GlobLocation) and entry.access is not AccessMode.DENY:
            raise PolicyError(
                "glob file system permissions only support deny-read entries",
                file="additional permissions",
                pointer=f"/file_system/entries/{position}",
            )
    entries = _union(_canonical_entry(entry, canonical) for entry in additional.entries)
    depth = None if additional.file_system is None else additional.file_system.glob_scan_max_depth
    return additional_of(asks_network=additional.asks_network, entries=entries, depth=depth)


def additional_of(
    *, asks_network: bool, entries: tuple[Entry, ...], depth: int | None
) -> AdditionalPermissions:
    """Additional permissions in normal form: parts that ask for nothing are absent."""
    return AdditionalPermissions(
        network=AdditionalNetwork(enabled=True) if asks_network else None,
        file_system=AdditionalFileSystem(entries=entries, glob_scan_max_depth=depth) if entries else None,
    )


def merge_glob_depth(left: EntrySet | None, right: EntrySet | None) -> int | None:
    """The depth that serves the deny globs of both sides: no bound beats any bound, else the larger one.

    A side without deny globs has no say. None means without bound.
    """
    depths = [
        side.glob_scan_max_depth
        for side in (left, right)
        if side is not None and any(entry.is_deny_glob for entry in side.entries)
    ]
    bounded = [depth for depth in depths if depth is not None]
    return max(bounded) if bounded and len(bounded) == len(depths) else None


def merge(left: AdditionalPermissions, right: AdditionalPermissions) -> AdditionalPermissions:
    """Everything that either side grants or denies, as sticky grants add up."""
    return additional_of(
        asks_network=left.asks_network or right.asks_network,
        entries=_union((*left.entries, *right.entries)),
        depth=merge_glob_depth(left.file_system, right.file_system),
    )


def effective(
    base: PermissionProfile, additional: AdditionalPermissions = NOTHING_ADDED
) -> PermissionProfile:
    """The profile of one command: the base and what was granted for it.

    Only a restricted filesystem takes entries; where nothing is restricted there is nothing to add to.
    """
    match base:
        case DisabledProfile():
            return base
        case ExternalProfile():
            return ExternalProfile(network=_either(base.network, additional))
        case ManagedProfile():
            return ManagedProfile(
                file_system=_with_entries(base.file_system, additional),
                network=_either(base.network, additional),
            )


def preserve_denies(previous: PermissionProfile, replacement: PermissionProfile) -> PermissionProfile:
    """The replacement, with the denies of the previous profile still in force.

    A replacement that restricts no files becomes a restricted one: everything writable but what is denied. An
    external one is left alone, as its files are not ours to hold.
    """
    held = file_system_of(previous)
    if not isinstance(held, RestrictedFileSystem) or isinstance(replacement, ExternalProfile):
        return replacement
    denies = tuple(entry for entry in held.entries if entry.access is AccessMode.DENY)
    if not denies:
        return replacement
    target = file_system_of(replacement)
    if not isinstance(target, RestrictedFileSystem):
        target = RestrictedFileSystem(entries=(special(SpecialKind.ROOT, AccessMode.WRITE),))
    kept = RestrictedFileSystem(entries=denies, glob_scan_max_depth=held.glob_scan_max_depth)
    return ManagedProfile(
        file_system=RestrictedFileSystem(
            entries=_union((*target.entries, *denies)), glob_scan_max_depth=merge_glob_depth(target, kept)
        ),
        network=network_of(replacement),
    )


def intersect_with_read_only(profile: PermissionProfile) -> PermissionProfile:
    """The profile with every write turned into a read; the network stays as it is.

    Where files are unrestricted all of them become readable. An external profile is left alone: whether its
    files can be written is somebody else's decision.
    """
    if isinstance(profile, ExternalProfile):
        return profile
    held = file_system_of(profile)
    if isinstance(held, RestrictedFileSystem):
        weaker = held.model_copy(update={"entries": _union(_read_only(entry) for entry in held.entries)})
    else:
        weaker = RestrictedFileSystem(entries=(special(SpecialKind.ROOT, AccessMode.READ),))
    return ManagedProfile(file_system=weaker, network=network_of(profile))


def add_readable_roots(
    file_system: FileSystem, roots: Iterable[PortablePath], resolver: Resolver
) -> FileSystem:
    """The section in which each root can be read; roots that can be read anyway add nothing."""
    return _add_roots(file_system, roots, AccessMode.READ, resolver)


def add_writable_roots(
    file_system: FileSystem, roots: Iterable[PortablePath], resolver: Resolver
) -> FileSystem:
    """The section in which each root can be written; roots that can be written anyway add nothing."""
    return _add_roots(file_system, roots, AccessMode.WRITE, resolver)


def add_legacy_writable_roots(
    file_system: FileSystem, roots: tuple[PortablePath, ...], protected_children: ProtectedChildren
) -> FileSystem:
    """The section with an entry for each root, granted before or not, and for its protected children."""
    if not isinstance(file_system, RestrictedFileSystem):
        return file_system
    writable = (at_path(root, AccessMode.WRITE) for root in roots)
    added = (*writable, *protected_child_entries(roots, protected_children))
    return file_system.model_copy(update={"entries": _union((*file_system.entries, *added))})


def covers(held: AccessMode, wanted: AccessMode) -> bool:
    """Whether access `held` includes everything that `wanted` gives."""
    return (held.can_read or not wanted.can_read) and (held.can_write or not wanted.can_write)


def _add_roots(
    file_system: FileSystem, roots: Iterable[PortablePath], access: AccessMode, resolver: Resolver
) -> FileSystem:
    if not isinstance(file_system, RestrictedFileSystem):
        return file_system
    entries = file_system.entries
    for root in roots:
        index = index_of(entries, resolver)
        paths = resolver.resolve(PathLocation(path=root))
        if not paths or not all(covers(index.access(path), access) for path in paths):
            entries = _union((*entries, at_path(root, access)))
    return file_system.model_copy(update={"entries": entries})


def _with_entries(file_system: FileSystem, additional: AdditionalPermissions) -> FileSystem:
    if not isinstance(file_system, RestrictedFileSystem) or not additional.entries:
        return file_system
    present = set(file_system.entries)
    missing = tuple(entry for entry in _union(additional.entries) if entry not in present)
    return RestrictedFileSystem(
        entries=(*file_system.entries, *missing),
        glob_scan_max_depth=merge_glob_depth(file_system, additional.file_system),
    )


def _either(network: NetworkSwitch, additional: AdditionalPermissions) -> NetworkSwitch:
    return NetworkSwitch.ENABLED if additional.asks_network else network


def _read_only(entry: Entry) -> Entry:
    if entry.access is not AccessMode.WRITE:
        return entry
    return entry.model_copy(update={"access": AccessMode.READ})


def _canonical_entry(entry: Entry, canonical: Callable[[PortablePath], PortablePath]) -> Entry:
    if not isinstance(entry.path, PathLocation):
        return entry
    return entry.model_copy(update={"path": PathLocation(path=canonical(entry.path.path))})


def _union(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(dict.fromkeys(entries))
