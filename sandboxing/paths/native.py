"""PathDialect: lexical work on absolute native paths of either convention, on any machine.

It must never touch a file system, so links are not its business, and it never compares text prefixes.
The URI type, the resolver, the binder and the planners use it.
"""

from __future__ import annotations

import re
from enum import Enum

from sandboxing.errors import PathError
from sandboxing.paths.convention import PathConvention

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_VERBATIM_UNC = re.compile(r"[\\/]{2}[?.][\\/]UNC[\\/]", re.IGNORECASE)
_VERBATIM = re.compile(r"[\\/]{2}[?.][\\/]")
_WINDOWS_SEPARATORS = re.compile(r"[\\/]+")


def _fold_windows(component: str) -> str:
    """One comparison key for all spellings of a name that Win32 opens as the same file.

    Upper-casing goes character by character, as the file system's own table does: `str.casefold` would make
    one name of two files (`ß` and `ss`). Win32 also drops trailing dots and blanks.
    """
    upper = "".join(big if len(big := char.upper()) == 1 else char for char in component)
    return upper.rstrip(". ") or upper


_FOLDABLE = re.compile(r"/(?:/|\.{1,2}(?:/|\Z)|\Z)")
"""What makes a POSIX path more than names between separators; most paths have none of it."""


def _fold_dots(parts: list[str]) -> list[str]:
    kept: list[str] = []
    for part in parts:
        if part in ("", "."):
            continue
        if part == "..":
            del kept[-1:]
        else:
            kept.append(part)
    return kept


class PathDialect(Enum):
    r"""The spelling rules of one convention.

    All methods are lexical; `..` is folded without asking whether the parent is a link, and never climbs
    above the anchor (`/`, `C:\` or `\\server\share\`).
    """

    POSIX = "posix"
    WINDOWS = "windows"

    @property
    def convention(self) -> PathConvention:
        """The convention that this dialect spells."""
        return PathConvention(self.value)

    @property
    def separator(self) -> str:
        """What stands between components when a path is written."""
        return "/" if self is PathDialect.POSIX else "\\"

    def is_absolute(self, path: str) -> bool:
        """Whether the path names one place whatever the current directory or drive is."""
        if self is PathDialect.POSIX:
            return path.startswith("/")
        return self._windows_anchor(path) is not None

    def components(self, path: str) -> tuple[str, ...]:
        """The anchor followed by the names below it, dots folded.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        if "\0" in path:
            raise PathError(f"cannot use `{path!r}`: it contains a NUL character")
        if self is PathDialect.POSIX:
            if not path.startswith("/"):
                raise PathError(f"cannot use `{path}`: the path is not absolute")
            if _FOLDABLE.search(path) is None:
                return ("/", *path[1:].split("/"))
            return ("/", *_fold_dots(path.split("/")))
        found = self._windows_anchor(path)
        if found is None:
            raise PathError(f"cannot use `{path}`: the path is not absolute")
        anchor, rest = found
        return (anchor, *_fold_dots(_WINDOWS_SEPARATORS.split(rest)))

    def key(self, path: str) -> tuple[str, ...]:
        """Components in the form in which two spellings of one place are equal.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        parts = self.components(path)
        return parts if self is PathDialect.POSIX else tuple(self.fold_name(part) for part in parts)

    def fold_name(self, name: str) -> str:
        """One component in the form in which two spellings of one file name are equal."""
        return name if self is PathDialect.POSIX else _fold_windows(name)

    def normalise(self, path: str) -> str:
        """The shortest spelling: dots folded, separators single, drive letter upper case.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        return self.assemble(self.components(path))

    def assemble(self, components: tuple[str, ...]) -> str:
        """The inverse of `components`; the first item must be an anchor."""
        return components[0] + self.separator.join(components[1:])

    def depth(self, path: str) -> int:
        """How many names stand below the anchor; an anchor has depth 0.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        return len(self.components(path)) - 1

    def is_within(self, path: str, root: str) -> bool:
        """Whether `path` is `root` or below it, component by component.

        Raises:
            PathError: either path is relative or contains NUL.
        """
        below = self.key(root)
        return self.key(path)[: len(below)] == below

    def same(self, left: str, right: str) -> bool:
        """Whether both spell one place.

        Raises:
            PathError: either path is relative or contains NUL.
        """
        return self.key(left) == self.key(right)

    def relative_components(self, path: str, root: str) -> tuple[str, ...] | None:
        """The names between `root` and `path`, or None when `path` lies outside.

        Raises:
            PathError: either path is relative or contains NUL.
        """
        if not self.is_within(path, root):
            return None
        return self.components(path)[len(self.components(root)) :]

    def join(self, base: str, relative: str) -> str:
        """`relative` read from `base`; an absolute `relative` stands for itself.

        A Windows path that starts with one separator keeps the drive or share of `base`.

        Raises:
            PathError: `base` is relative, either path contains NUL, or `relative` is drive-relative (`C:x`).
        """
        if self.is_absolute(relative):
            return self.normalise(relative)
        parts = self.components(base)
        if "\0" in relative:
            raise PathError(f"cannot use `{relative!r}`: it contains a NUL character")
        if self is PathDialect.POSIX:
            return self.assemble((parts[0], *_fold_dots([*parts[1:], *relative.split("/")])))
        if re.match(r"[A-Za-z]:", relative):
            raise PathError(f"cannot use `{relative}`: the path depends on the drive's current directory")
        kept = () if relative[:1] in ("\\", "/") else parts[1:]
        return self.assemble((parts[0], *_fold_dots([*kept, *_WINDOWS_SEPARATORS.split(relative)])))

    def parent(self, path: str) -> str:
        """The directory above; an anchor is its own parent.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        parts = self.components(path)
        return self.assemble(parts[:-1] if len(parts) > 1 else parts)

    def ancestors(self, path: str) -> tuple[str, ...]:
        """Every directory above `path`, the anchor first; `path` itself is not among them.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        parts = self.components(path)
        return tuple(self.assemble(parts[:count]) for count in range(1, len(parts)))

    def base_name(self, path: str) -> str:
        """The last component, empty for an anchor.

        Raises:
            PathError: the path is relative or contains NUL.
        """
        parts = self.components(path)
        return parts[-1] if len(parts) > 1 else ""

    def _windows_anchor(self, path: str) -> tuple[str, str] | None:
        """The anchor and what follows it, verbatim prefixes removed."""
        rest = path
        if (verbatim_unc := _VERBATIM_UNC.match(rest)) is not None:
            rest = "\\\\" + rest[verbatim_unc.end() :]
        elif (verbatim := _VERBATIM.match(rest)) is not None:
            rest = rest[verbatim.end() :]
            if _DRIVE.match(rest) is None:
                return None
        if _DRIVE.match(rest) is not None:
            return rest[0].upper() + ":\\", rest[3:]
        if re.match(r"[\\/]{2}[^\\/]", rest) is None:
            return None
        server, _, after = rest[2:].replace("/", "\\").partition("\\")
        share, _, tail = after.lstrip("\\").partition("\\")
        if share in ("", ".", "..") or server in (".", "..", "?"):
            return None
        return f"\\\\{server}\\{share}\\", tail


def dialect_of(convention: PathConvention) -> PathDialect:
    """The dialect that spells paths of a convention.

    Raises:
        PathError: opaque paths have no spelling.
    """
    match convention:
        case PathConvention.POSIX:
            return PathDialect.POSIX
        case PathConvention.WINDOWS:
            return PathDialect.WINDOWS
        case PathConvention.OPAQUE:
            raise PathError(f"cannot spell `{convention.value}` paths: they are carried, never opened")
