"""Intersection of a request with a grant: what may be given because both sides say so.

It gives less when it cannot know: a grant that resolves to nothing needs its equal in the request, and denies
of both sides come along. It reads no file system; the resolver knows the machine. The approval flow uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.additional import AdditionalFileSystem, AdditionalPermissions
from sandboxing.profile.algebra import additional_of, covers, merge_glob_depth
from sandboxing.profile.entries import Entry, GlobLocation, PathLocation, PortablePath, SpecialKind
from sandboxing.profile.predicates import kind_of
from sandboxing.profile.resolve import PathRule, RuleIndex
from sandboxing.profile.resolver import Resolver, index_of


@dataclass(frozen=True, slots=True)
class _Kept:
    """A grant that both sides cover, and the paths it opens; no paths means that it names none here."""

    entry: Entry
    paths: tuple[str, ...]


def intersect(
    requested: AdditionalPermissions, granted: AdditionalPermissions, resolver: Resolver
) -> AdditionalPermissions:
    """What of `granted` the request covers, with the denies of both sides that touch it.

    Symbols that depend on the policy cwd come out as the paths they mean now, so that the result means the
    same when it is applied from elsewhere. The network is given only when both sides say so.
    """
    kept = tuple(_kept_grants(requested, granted, resolver))
    denies: list[Entry] = []
    sides: list[AdditionalFileSystem | None] = []
    for side in (requested, granted):
        retained = tuple(_retained_denies(side, kept, resolver))
        depth = None if side.file_system is None else side.file_system.glob_scan_max_depth
        denies.extend(retained)
        sides.append(AdditionalFileSystem(entries=retained, glob_scan_max_depth=depth))
    entries = dict.fromkeys((*(grant.entry for grant in kept), *denies))
    return additional_of(
        asks_network=requested.asks_network and granted.asks_network,
        entries=tuple(entries),
        depth=merge_glob_depth(*sides),
    )


def _kept_grants(
    requested: AdditionalPermissions, granted: AdditionalPermissions, resolver: Resolver
) -> Iterator[_Kept]:
    index = index_of(requested.entries, resolver)
    denies = [entry for entry in requested.entries if entry.access is AccessMode.DENY]
    for entry in granted.entries:
        if not entry.access.can_read or isinstance(entry.path, GlobLocation):
            continue
        if kind_of(entry) is SpecialKind.SLASH_TMP and resolver.dialect is not PathDialect.POSIX:
            continue
        paths = resolver.resolve(entry.path)
        if not paths:
            if _asked_for_equal(entry, requested):
                yield _Kept(entry, ())
            continue
        covered = tuple(path for path in paths if _is_covered(path, entry.access, index, denies, resolver))
        if covered == paths and not _depends_on_cwd(entry, resolver):
            yield _Kept(entry, paths)
        else:
            yield from (_Kept(_at_native(entry, path, resolver), (path,)) for path in covered)


def _asked_for_equal(entry: Entry, requested: AdditionalPermissions) -> bool:
    return any(asked.path == entry.path and covers(asked.access, entry.access) for asked in requested.entries)


def _is_covered(
    path: str, access: AccessMode, index: RuleIndex[PathRule], denies: list[Entry], resolver: Resolver
) -> bool:
    return covers(index.access(path), access) and not any(_denies(deny, path, resolver) for deny in denies)


def _denies(deny: Entry, path: str, resolver: Resolver) -> bool:
    """Whether a deny holds at a path; unlike in the resolver, nothing below a denied directory is open."""
    if isinstance(deny.path, GlobLocation):
        return resolver.matches(deny.path, path)
    return any(resolver.dialect.is_within(path, root) for root in resolver.resolve(deny.path))


def _retained_denies(
    side: AdditionalPermissions, kept: tuple[_Kept, ...], resolver: Resolver
) -> Iterator[Entry]:
    # A grant without a path may open anything (`minimal` does, by platform), so it takes every deny along.
    takes_all = any(not grant.paths for grant in kept)
    opened = [path for grant in kept for path in grant.paths]
    for entry in side.entries:
        if entry.access is not AccessMode.DENY:
            continue
        roots = resolver.resolve(entry.path)
        if takes_all or any(_overlap(root, path, resolver.dialect) for root in roots for path in opened):
            yield from _materialised(entry, roots, resolver)


def _overlap(left: str, right: str, dialect: PathDialect) -> bool:
    return dialect.is_within(left, right) or dialect.is_within(right, left)


def _materialised(entry: Entry, roots: tuple[str, ...], resolver: Resolver) -> Iterator[Entry]:
    if isinstance(entry.path, GlobLocation):
        patterns = resolver.materialise(entry.path)
        for pattern in patterns:
            yield entry.model_copy(update={"path": GlobLocation(pattern=pattern)})
    elif roots and _depends_on_cwd(entry, resolver):
        yield from (_at_native(entry, root, resolver) for root in roots)
    else:
        yield entry


def _depends_on_cwd(entry: Entry, resolver: Resolver) -> bool:
    kind = kind_of(entry)
    return kind is SpecialKind.PROJECT_ROOTS or (
        kind is SpecialKind.ROOT and resolver.dialect is PathDialect.WINDOWS
    )


def _at_native(entry: Entry, path: str, resolver: Resolver) -> Entry:
    place = PortablePath.from_native(path, resolver.dialect.convention)
    return entry.model_copy(update={"path": PathLocation(path=place)})
