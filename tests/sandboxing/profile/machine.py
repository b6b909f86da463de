"""Machine: a resolver over fixed facts, for tests of the algebra.

Globs are translated in the plainest way, independent of the product's own matcher.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandboxing.paths.native import PathDialect
from sandboxing.profile.entries import GlobLocation, Location, PathLocation, SpecialKind, SpecialLocation

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANING = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True, slots=True)
class Machine:
    """A POSIX machine unless said otherwise."""

    dialect: PathDialect = PathDialect.POSIX
    cwd: str = "/w"
    workspace_roots: tuple[str, ...] = ("/w",)
    tmpdir: tuple[str, ...] = ("/var/tmp/mine",)
    slash_tmp: tuple[str, ...] = ("/tmp",)
    home: str = "/home/u"

    def resolve(self, location: Location) -> tuple[str, ...]:
        match location:
            case PathLocation(path=path):
                convention = self.dialect.convention
                if path.uri is not None and path.uri.convention is not convention:
                    return ()
                return (path.to_native(convention, home=self.home, host_label="test"),)
            case GlobLocation():
                return tuple(self._static_prefix(pattern) for pattern in self.materialise(location))
            case SpecialLocation(value=value):
                if value.kind is SpecialKind.PROJECT_ROOTS:
                    return tuple(
                        self.dialect.join(root, value.subpath or ".") for root in self.workspace_roots
                    )
                return self._symbol(value.kind)

    def _symbol(self, kind: SpecialKind) -> tuple[str, ...]:
        root = self.dialect.components(self.cwd)[0]
        known = {
            SpecialKind.ROOT: (root,),
            SpecialKind.TMPDIR: self.tmpdir,
            SpecialKind.SLASH_TMP: self.slash_tmp,
        }
        return known.get(kind, ())

    def materialise(self, glob: GlobLocation) -> tuple[str, ...]:
        below = glob.project_subpattern
        if below is not None:
            return tuple(self._below(root, below) for root in self.workspace_roots)
        if self.dialect.is_absolute(glob.pattern):
            return (glob.pattern,)
        return (self._below(self.cwd, glob.pattern),)

    def matches(self, glob: GlobLocation, path: str) -> bool:
        return any(
            re.fullmatch(
                "".join(_MEANING.get(token) or re.escape(token) for token in _TOKENS.findall(pattern)), path
            )
            for pattern in self.materialise(glob)
        )

    def _below(self, directory: str, pattern: str) -> str:
        return directory.rstrip(self.dialect.separator) + self.dialect.separator + pattern

    def _static_prefix(self, pattern: str) -> str:
        parts = pattern.split(self.dialect.separator)
        fixed = [
            part
            for index, part in enumerate(parts)
            if not any(re.search(r"[*?]", p) for p in parts[: index + 1])
        ]
        return self.dialect.normalise(self.dialect.separator.join(fixed) or self.dialect.separator)
