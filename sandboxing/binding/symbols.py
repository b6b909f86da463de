"""What the locations of entries stand for on this machine, spelled as absolute native paths and patterns.

It knows symbols, `~`, URIs and relative globs; links and the file system are not its business. `bind` asks
it entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandboxing.binding.facts import HostFacts
from sandboxing.binding.globs import escape
from sandboxing.errors import BindError, PathError
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, GlobLocation, PathLocation, SpecialKind, SpecialLocation
from sandboxing.profile.portable_path import PortablePath


class ForeignPathError(BindError):
    """An entry's path that this machine cannot spell.

    Attributes:
        cause: what is wrong with the path, without the sentence around it.
    """

    def __init__(self, path: PortablePath, refusal: PathError) -> None:
        super().__init__(f"cannot bind `{path}`: {refusal.message}", hint=refusal.hint)
        self.cause = refusal.message


@dataclass(frozen=True, slots=True)
class Scope:
    """What symbols resolve against.

    Attributes:
        facts: the facts of this machine.
        cwd: the policy cwd.
        workspace_roots: what `project_roots` stands for, possibly nothing.
        tmpdirs: what `tmpdir` stands for, possibly nothing.
    """

    facts: HostFacts
    cwd: str
    workspace_roots: tuple[str, ...]
    tmpdirs: tuple[str, ...]

    @property
    def dialect(self) -> PathDialect:
        """How paths are spelled here."""
        return self.facts.dialect


@dataclass(frozen=True, slots=True)
class Places:
    """What one entry stands for: paths, or deny patterns, or platform defaults, or nothing for a reason.

    Attributes:
        paths: absolute native paths.
        patterns: absolute native globs.
        platform: whether the platform's read roots are meant.
        reason: why there is nothing, when there is nothing.
    """

    paths: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    platform: bool = False
    reason: str | None = None


def places_of(entry: Entry, scope: Scope) -> Places:
    """What an entry stands for.

    Raises:
        ForeignPathError: a path that this machine cannot spell, or `~` without a home directory.
        BindError: a glob that cannot be made absolute.
    """
    match entry.path:
        case PathLocation(path=path):
            return Places(paths=(_native(path, scope),))
        case GlobLocation() as location:
            if entry.access is not AccessMode.DENY:
                return Places(reason=f"a glob has an effect with `deny` only, not with `{entry.access}`")
            return _patterns(location, scope)
        case SpecialLocation(value=value):
            if value.kind is SpecialKind.PROJECT_ROOTS:
                return _workspace(value.subpath, scope)
            if value.kind is SpecialKind.UNKNOWN:
                return Places(reason=f"the symbol `{value.path}` is not known here")
            return _symbol(value.kind, entry.access, scope)


def is_dynamic(entry: Entry, *, dialect: PathDialect) -> bool:
    """Whether an entry means something else in another policy cwd: `project_roots` or a relative glob."""
    match entry.path:
        case PathLocation():
            return False
        case GlobLocation() as location:
            if location.project_subpattern is not None:
                return True
            return not (_in_home(location.pattern) or dialect.is_absolute(location.pattern))
        case SpecialLocation(value=value):
            return value.kind is SpecialKind.PROJECT_ROOTS


def _native(path: PortablePath, scope: Scope) -> str:
    facts = scope.facts
    try:
        return path.to_native(facts.dialect.convention, home=facts.home, host_label=facts.host_label)
    except PathError as refusal:
        raise ForeignPathError(path, refusal) from refusal


def _symbol(kind: SpecialKind, access: AccessMode, scope: Scope) -> Places:
    match kind:
        case SpecialKind.ROOT:
            return Places(paths=(scope.dialect.assemble(scope.dialect.components(scope.cwd)[:1]),))
        case SpecialKind.TMPDIR:
            return Places(paths=scope.tmpdirs) if scope.tmpdirs else Places(reason="TMPDIR is not set here")
        case SpecialKind.SLASH_TMP:
            slash_tmp = scope.facts.slash_tmp
            if slash_tmp is None:
                return Places(reason="`/tmp` is no directory here")
            return Places(paths=(slash_tmp,))
        case _:
            if access is AccessMode.DENY:
                return Places(reason="`minimal` can be granted, not denied")
            return Places(platform=True)


def _workspace(subpath: str | None, scope: Scope) -> Places:
    if not scope.workspace_roots:
        return Places(reason="there is no workspace root")
    join = scope.dialect.join
    return Places(paths=tuple(join(root, subpath or ".") for root in scope.workspace_roots))


def _patterns(location: GlobLocation, scope: Scope) -> Places:
    below = location.project_subpattern
    if below is not None:
        if not scope.workspace_roots:
            return Places(reason="there is no workspace root")
        return Places(patterns=tuple(_under(root, below, scope) for root in scope.workspace_roots))
    pattern = location.pattern
    if _in_home(pattern):
        if scope.facts.home is None:
            raise BindError(f"cannot bind `{pattern}`: the home directory is not known")
        return Places(patterns=(_under(scope.facts.home, pattern[1:], scope),))
    if scope.dialect.is_absolute(pattern):
        return Places(patterns=(pattern,))
    return Places(patterns=(_under(scope.cwd, pattern, scope),))


def _in_home(pattern: str) -> bool:
    return pattern == "~" or pattern.startswith("~/")


def _under(directory: str, pattern: str, scope: Scope) -> str:
    """The pattern read from a directory whose own name may hold characters with a meaning."""
    separator = scope.dialect.separator
    below = pattern.lstrip("/" if scope.dialect is PathDialect.POSIX else "/\\")
    return escape(directory, dialect=scope.dialect) + separator + below
