"""Deny globs of a policy on this machine: absolute patterns, and a rule for each present match.

It walks the file system once for all globs. `bind` calls it; what is denied for good is said by `decide`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sandboxing.binding.bound import (
    BoundGlob,
    BoundRule,
    PathKind,
    RuleOrigin,
    UnboundRule,
)
from sandboxing.binding.expansion import GlobWalk, Match
from sandboxing.binding.facts import FileSystemView, LinkResolver
from sandboxing.binding.globs import Glob, escape, parse_glob
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode


@dataclass(frozen=True, slots=True)
class Expanded:
    """What deny globs stand for.

    Attributes:
        globs: the patterns, those whose fixed beginning crosses links in both spellings.
        rules: one deny for each match.
        unbound: matches that cannot be denied.
    """

    globs: tuple[BoundGlob, ...]
    rules: tuple[BoundRule, ...] = ()
    unbound: tuple[UnboundRule, ...] = ()


def expand_globs(
    globs: Iterable[BoundGlob],
    view: FileSystemView,
    resolver: LinkResolver,
    *,
    dialect: PathDialect,
    max_depth: int | None,
    homes: Iterable[str],
) -> Expanded:
    """The globs as they hold here.

    Args:
        globs: absolute patterns as spelled.
        view: the file system.
        resolver: a resolver for the same file system.
        dialect: the convention of paths.
        max_depth: levels that the author wants searched below the start of a glob, or None.
        homes: the workspace roots and the policy cwd, links resolved; a matched link that leads to or above
            one of them denies the link alone.

    Raises:
        BindError: a glob starts at the root, or more is to be searched than the limits of `expansion` allow.
    """
    stated: list[BoundGlob] = []
    searched: list[tuple[BoundGlob, Glob]] = []
    for glob in globs:
        for parsed in parse_glob(glob.pattern, dialect=dialect):
            real = _with_links_resolved(parsed, resolver, dialect=dialect)
            if real != parsed:
                stated.append(replace(glob, pattern=_spelled(parsed, dialect=dialect)))
            stated.append(replace(glob, pattern=_spelled(real, dialect=dialect)))
            searched.append((glob, real))
    if not searched:
        return Expanded(globs=())
    walk = GlobWalk(tuple(real for _, real in searched), view, dialect, max_depth=max_depth)
    kept = tuple(homes)
    rules: list[BoundRule] = []
    unbound: list[UnboundRule] = []
    for match in walk.matches():
        for outcome in _outcomes(match, searched[match.glob][0], resolver, homes=kept, dialect=dialect):
            if isinstance(outcome, BoundRule):
                rules.append(outcome)
            else:
                unbound.append(outcome)
    return Expanded(globs=tuple(dict.fromkeys(stated)), rules=tuple(rules), unbound=tuple(unbound))


def _outcomes(
    match: Match, glob: BoundGlob, resolver: LinkResolver, *, homes: tuple[str, ...], dialect: PathDialect
) -> Iterator[BoundRule | UnboundRule]:
    """A deny of the match, or of what it leads to when it is a link; the glob itself denies the link."""
    here = BoundRule(
        rule=glob.rule,
        access=AccessMode.DENY,
        path=match.path,
        spelled=match.path,
        kind=match.kind,
        origin=RuleOrigin.GLOB_MATCH,
        tier=glob.tier,
    )
    if match.kind is not PathKind.OTHER:
        yield here
        return
    try:
        found = resolver.resolve(match.path)
    except BindError:
        # A link in a circle hides nothing, and must not stop every command of whoever finds it.
        yield here
        return
    if not found.links:
        yield here
    elif any(dialect.is_within(home, found.path) for home in homes):
        reason = f"the link `{match.path}` is denied, not `{found.path}`, which holds the workspace"
        yield UnboundRule(rule=glob.rule, reason=reason)
    else:
        yield replace(here, path=found.path, kind=found.kind, links=found.links)


def _with_links_resolved(glob: Glob, resolver: LinkResolver, *, dialect: PathDialect) -> Glob:
    """The glob with the links of its fixed beginning resolved, so that it matches resolved paths."""
    names = glob.static_names
    if len(names) == len(glob.segments):
        names = names[:-1]
    fixed = dialect.assemble((glob.anchor, *names))
    found = resolver.resolve(fixed).path
    if found == fixed:
        return glob
    rest = dialect.separator.join(segment.text for segment in glob.segments[len(names) :])
    pattern = escape(found, dialect=dialect).rstrip(dialect.separator) + dialect.separator + rest
    return replace(parse_glob(pattern, dialect=dialect)[0], pattern=glob.pattern)


def _spelled(glob: Glob, *, dialect: PathDialect) -> str:
    return glob.anchor + dialect.separator.join(segment.text for segment in glob.segments)
