"""What "workspace write" stands for, as entries.

The protected names arrive as an argument, with the reference's list as the default. It reads no file system:
children that exist are told by the caller. Legacy policies and shipped profiles use it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import (
    Entry,
    PortablePath,
    SpecialKind,
    SpecialLocation,
    SpecialValue,
    at_path,
    special,
)

REFERENCE_PROTECTED_NAMES: Final = (".git", ".agents", ".codex", ".aws")
"""Names that stay read-only directly below a writable root, in the order the reference client sends them."""

TEMPORARY_KINDS: Final = (SpecialKind.SLASH_TMP, SpecialKind.TMPDIR)
"""The temporary places that "workspace write" opens unless they are excluded."""

ProtectedChildren = Callable[[PortablePath], tuple[PortablePath, ...]]
"""Tells which children of a writable root exist now and must stay read-only."""


def no_children(_root: PortablePath) -> tuple[PortablePath, ...]:
    """The answer of a caller that looks at no file system."""
    return ()


def workspace_write_entries(
    *,
    extra_roots: tuple[PortablePath, ...] = (),
    excluded: frozenset[SpecialKind] = frozenset(),
    protected_names: tuple[str, ...] = REFERENCE_PROTECTED_NAMES,
    caller_entries: tuple[Entry, ...] = (),
    protected_children: ProtectedChildren = no_children,
) -> tuple[Entry, ...]:
    """The entries, in the reference's order, without `caller_entries` themselves.

    Args:
        extra_roots: writable roots beside the workspace roots.
        excluded: temporary places that stay closed.
        protected_names: names that get a skip-missing carve-out below each workspace root.
        caller_entries: rules the caller has anyway; a name one of them addresses gets no carve-out.
        protected_children: children of each extra root that exist now.
    """
    opened = [kind for kind in TEMPORARY_KINDS if kind not in excluded]
    addressed = {entry.path for entry in caller_entries}
    carve_outs = [entry for entry in map(_carve_out, protected_names) if entry.path not in addressed]
    return (
        special(SpecialKind.ROOT, AccessMode.READ),
        special(SpecialKind.PROJECT_ROOTS, AccessMode.WRITE),
        *(special(kind, AccessMode.WRITE) for kind in opened),
        *(at_path(root, AccessMode.WRITE) for root in extra_roots),
        *carve_outs,
        *(
            entry
            for entry in protected_child_entries(extra_roots, protected_children)
            if entry.path not in addressed
        ),
    )


def protected_child_entries(
    roots: tuple[PortablePath, ...], protected_children: ProtectedChildren
) -> tuple[Entry, ...]:
    """Read entries for the protected children of some writable roots."""
    return tuple(at_path(child, AccessMode.READ) for root in roots for child in protected_children(root))


def _carve_out(name: str) -> Entry:
    return Entry(
        path=SpecialLocation(value=SpecialValue(kind=SpecialKind.PROJECT_ROOTS, subpath=name)),
        access=AccessMode.READ,
        missing_path_behavior="skip",
    )
