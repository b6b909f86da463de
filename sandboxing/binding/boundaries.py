"""The paths at which a plan has to be compared with the oracle: both sides of every rule's edge.

Access changes only where a rule begins or a protected name stands, so these few paths stand for all others.
It gives no answers; planners ask `decide` and their own plan about each path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sandboxing.binding.bound import BoundPolicy, BoundRule, FilesystemKind, PathKind

PROBE_NAME: Final = "sandboxctl-probe"
"""A name that no policy is about; what a probe says of it holds for every other unnamed child."""


def probe_paths(bound: BoundPolicy) -> tuple[str, ...]:
    """Absolute native paths, sorted, each once; links in them are resolved as far as they exist.

    For each rule: its path, a child, a child's child, a sibling, a sibling whose name begins with the rule's
    own, the parent. For each writable rule also each protected name, a child of that, and the same name one
    level deeper, where it is not protected. Plus the root, the policy cwd and the workspace roots.
    """
    dialect = bound.dialect
    found = {bound.cwd, *bound.workspace_roots, dialect.assemble(dialect.components(bound.cwd)[:1])}
    if bound.filesystem is FilesystemKind.RESTRICTED:
        for rule in bound.rules:
            found.update(dialect.assemble(parts) for parts in _around(rule, bound))
    return tuple(sorted(found, key=dialect.components))


def _around(rule: BoundRule, bound: BoundPolicy) -> Iterator[tuple[str, ...]]:
    parts = bound.dialect.components(rule.path)
    yield parts
    if len(parts) > 1:
        yield parts[:-1]
        yield (*parts[:-1], PROBE_NAME)
        yield (*parts[:-1], parts[-1] + PROBE_NAME)
    if rule.kind is PathKind.FILE:
        return
    yield (*parts, PROBE_NAME)
    yield (*parts, PROBE_NAME, PROBE_NAME)
    if not rule.access.can_write:
        return
    for name in bound.protected_names:
        yield (*parts, name)
        yield (*parts, name, PROBE_NAME)
        yield (*parts, PROBE_NAME, name)
