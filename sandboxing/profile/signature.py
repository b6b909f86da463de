"""SemanticSignature: what a filesystem section means on one machine, so that two sections can be compared.

It is lexical: links and children that happen to exist are not in it. It never decides an access by another
rule than the resolver's. The legacy mapping compares signatures.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import GlobLocation
from sandboxing.profile.permission import FileSystem, RestrictedFileSystem
from sandboxing.profile.predicates import (
    has_full_disk_read,
    has_full_disk_write,
    protecting_name,
    wants_platform_defaults,
)
from sandboxing.profile.resolve import PathRule, RuleIndex
from sandboxing.profile.resolver import Resolver, rules_of


@dataclass(frozen=True, slots=True)
class WritableRoot:
    """A writable place and what in it stays closed.

    Attributes:
        root: native absolute path.
        read_only_subpaths: paths below it that no write entry opens, sorted.
        protected_names: names directly below it that cannot be written, sorted.
    """

    root: str
    read_only_subpaths: tuple[str, ...]
    protected_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SemanticSignature:
    """Everything a backend of the old form would act on; equal signatures are held alike."""

    full_read: bool
    full_write: bool
    platform_defaults: bool
    readable_roots: tuple[str, ...] = ()
    writable_roots: tuple[WritableRoot, ...] = ()
    unreadable_roots: tuple[str, ...] = ()
    deny_globs: tuple[str, ...] = ()


def can_write(file_system: FileSystem, path: str, resolver: Resolver, names: tuple[str, ...]) -> bool:
    """Whether a path can be written: a write entry decides it, and no protected name holds it.

    Names do not count where the whole disk can be written.

    Raises:
        PathError: the path is relative or contains NUL.
    """
    if not isinstance(file_system, RestrictedFileSystem):
        return True
    rules = rules_of(file_system.entries, resolver)
    if not RuleIndex(rules, resolver.dialect).access(path).can_write:
        return False
    return has_full_disk_write(file_system) or protecting_name(rules, path, names, resolver.dialect) is None


def signature_of(file_system: FileSystem, resolver: Resolver, names: tuple[str, ...]) -> SemanticSignature:
    """The signature of a section; `names` stay read-only below each writable rule."""
    full_read, full_write = has_full_disk_read(file_system), has_full_disk_write(file_system)
    if not isinstance(file_system, RestrictedFileSystem):
        return SemanticSignature(full_read=True, full_write=True, platform_defaults=False)
    dialect = resolver.dialect
    rules = rules_of(file_system.entries, resolver)
    index = RuleIndex(rules, dialect)
    readable = {dialect.normalise(rule.path) for rule in rules if index.access(rule.path).can_read}
    unreadable = {
        dialect.normalise(rule.path)
        for rule in rules
        if rule.access is AccessMode.DENY
        and not index.access(rule.path).can_read
        and dialect.depth(rule.path)
    }
    writable = {
        dialect.normalise(rule.path)
        for rule in rules
        if rule.access is AccessMode.WRITE and can_write(file_system, rule.path, resolver, names)
    }
    globs = {
        pattern
        for entry in file_system.entries
        if entry.is_deny_glob and isinstance(entry.path, GlobLocation)
        for pattern in resolver.materialise(entry.path)
    }
    return SemanticSignature(
        full_read=full_read,
        full_write=full_write,
        platform_defaults=wants_platform_defaults(file_system),
        readable_roots=() if full_read else tuple(sorted(readable)),
        writable_roots=()
        if full_write
        else tuple(_writable_root(root, rules, file_system, resolver, names) for root in sorted(writable)),
        unreadable_roots=tuple(sorted(unreadable)),
        deny_globs=tuple(sorted(globs)),
    )


def _writable_root(
    root: str,
    rules: tuple[PathRule, ...],
    file_system: RestrictedFileSystem,
    resolver: Resolver,
    names: tuple[str, ...],
) -> WritableRoot:
    dialect = resolver.dialect
    closed = {
        dialect.normalise(rule.path)
        for rule in rules
        if rule.access is not AccessMode.WRITE
        and dialect.relative_components(rule.path, root)
        and not can_write(file_system, rule.path, resolver, names)
    }
    protected = {
        name for name in names if not can_write(file_system, dialect.join(root, name), resolver, names)
    }
    return WritableRoot(root, tuple(sorted(closed)), tuple(sorted(protected)))
