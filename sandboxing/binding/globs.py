"""Deny globs: the syntax, as segments for a walk and as a compiled expression for a path.

It never looks at a file system. `expansion` walks with the segments, `decide` matches with the expression.

Syntax, one component at a time: `*` and `?` stay inside a component and also match a leading dot, `[ab]`,
`[a-z]` and `[!a]` match one character, `{a,b}` is either, a component `**` stands for any number of
components, and on POSIX a backslash takes the meaning off the next character. A `[` or `{` without its
partner is an ordinary character. A pattern that ends in `**` needs at least one more component.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect

MAX_GLOB_ALTERNATIVES: Final = 256
"""Patterns that the braces of one glob may stand for."""

_META: Final = frozenset("*?[]{}")


@dataclass(frozen=True, slots=True)
class Segment:
    """One component of a glob.

    Attributes:
        text: the component as written.
        literal: the one name that it matches, or None when it has wildcards.
        source: regular expression for a whole component.
        spans: whether it is `**`.
    """

    text: str
    literal: str | None
    source: str
    spans: bool = False


@dataclass(frozen=True, slots=True)
class Glob:
    """One absolute pattern without braces.

    Attributes:
        pattern: the glob that it came from, for messages.
        anchor: the root that it starts at, such as `/` or a drive.
        segments: its components; `**` never follows `**`.
    """

    pattern: str
    anchor: str
    segments: tuple[Segment, ...]

    @property
    def static_names(self) -> tuple[str, ...]:
        """The leading components that have no wildcards."""
        names: list[str] = []
        for segment in self.segments:
            if segment.literal is None:
                break
            names.append(segment.literal)
        return tuple(names)


def escape(path: str, *, dialect: PathDialect) -> str:
    """A pattern that matches `path` itself: every character with a meaning loses it."""
    if dialect is PathDialect.POSIX:
        path = path.replace("\\", "\\\\")
    return "".join(f"[{char}]" if char in _META else char for char in path)


def parse_glob(pattern: str, *, dialect: PathDialect) -> tuple[Glob, ...]:
    """The patterns that an absolute glob stands for, one for each choice of its braces.

    Raises:
        BindError: the glob is relative, goes up from a wildcard with `..`, has a character range that
            runs backwards, or stands for more than MAX_GLOB_ALTERNATIVES patterns.
    """
    return tuple(
        _parse(text, origin=pattern, dialect=dialect) for text in _alternatives(pattern, dialect=dialect)
    )


def path_expression(globs: Iterable[Glob], *, dialect: PathDialect) -> re.Pattern[str]:
    """Expression that `match`es each path that one of `globs` matches, and everything below such a path.

    Paths are given in `slashed` form. Whatever could be retried is atomic: the leftmost place for the part
    between two `*`, or two `**`, leaves most room for the rest, so no pattern makes a match slow.
    """
    return re.compile("|".join(f"(?:{_whole(glob, dialect=dialect)})" for glob in globs), name_flags(dialect))


def slashed(path: str, *, dialect: PathDialect) -> str:
    """The path with `/` between components, as `path_expression` wants it."""
    return path if dialect is PathDialect.POSIX else path.replace("\\", "/")


def name_flags(dialect: PathDialect) -> re.RegexFlag:
    """Flags for matching file names: a name may hold line ends, and case counts on POSIX only."""
    return re.DOTALL if dialect is PathDialect.POSIX else re.DOTALL | re.IGNORECASE


def _whole(glob: Glob, *, dialect: PathDialect) -> str:
    parts = [r"\A", re.escape(slashed(glob.anchor, dialect=dialect))]
    separator = ""
    for position, group in enumerate(_groups(glob.segments)):
        body = "/".join(segment.source for segment in group)
        if position == 0:
            parts.append(body)
        elif group:
            parts.append(rf"{separator}(?>(?:[^/]+/)*?{body}(?=/|\Z))")
        else:
            # An empty group after the first is what follows a closing `**`.
            parts.append(f"{separator}[^/]+")
        separator = "/" if group else separator
    parts.append(r"(?=/|\Z)")
    return "".join(parts)


def _groups(segments: tuple[Segment, ...]) -> Iterator[tuple[Segment, ...]]:
    """The runs of segments between `**`: one more than there are `**`, the outer ones possibly empty."""
    run: list[Segment] = []
    for segment in segments:
        if segment.spans:
            yield tuple(run)
            run = []
        else:
            run.append(segment)
    yield tuple(run)


def _parse(text: str, *, origin: str, dialect: PathDialect) -> Glob:
    anchor, names = _split(text, dialect=dialect)
    if not anchor:
        raise BindError(f"cannot expand glob `{origin}`: the pattern is relative")
    segments: list[Segment] = []
    for name in names:
        if name == "..":
            if segments and segments[-1].literal is None:
                message = f"cannot expand glob `{origin}`: `..` after a wildcard names no fixed directory"
                raise BindError(message, hint="write the pattern without `..`")
            del segments[-1:]
            continue
        segment = _segment(name, origin=origin, dialect=dialect)
        if not (segment.spans and segments and segments[-1].spans):
            segments.append(segment)
    return Glob(pattern=origin, anchor=anchor, segments=tuple(segments))


def _split(text: str, *, dialect: PathDialect) -> tuple[str, tuple[str, ...]]:
    """The anchor, empty when the pattern is relative, and the components without `.`."""
    if dialect is PathDialect.POSIX:
        anchor = "/" if text.startswith("/") else ""
        return anchor, tuple(name for name in text.split("/") if name not in {"", "."})
    drive, rest = ntpath.splitdrive(text.replace("/", "\\"))
    anchor = f"{drive}\\" if drive and rest.startswith("\\") else ""
    return anchor, tuple(name for name in rest.split("\\") if name not in {"", "."})


@dataclass(frozen=True, slots=True)
class _Token:
    """One character's worth of a component, or a `*`."""

    source: str
    literal: str | None = None
    star: bool = False


def _segment(name: str, *, origin: str, dialect: PathDialect) -> Segment:
    if name == "**":
        return Segment(text=name, literal=None, source="[^/]+", spans=True)
    tokens = tuple(_tokens(name, origin=origin, dialect=dialect))
    characters = [token.literal for token in tokens if token.literal is not None]
    literal = "".join(characters) if len(characters) == len(tokens) else None
    chunks = [""]
    for token in tokens:
        if token.star:
            chunks.append("")
        else:
            chunks[-1] += token.source
    if len(chunks) == 1:
        return Segment(text=name, literal=literal, source=chunks[0])
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in chunks[1:-1] if chunk)
    source = rf"(?=[^/]){chunks[0]}{middle}[^/]*{chunks[-1]}(?=/|\Z)"
    return Segment(text=name, literal=None, source=source)


def _tokens(name: str, *, origin: str, dialect: PathDialect) -> Iterator[_Token]:
    position = 0
    while position < len(name):
        end = _token_end(name, position, dialect=dialect)
        text = name[position:end]
        position = end
        if text == "*":
            yield _Token(source="", star=True)
        elif text == "?":
            yield _Token(source="[^/]")
        elif len(text) > 1 and text[0] == "[":
            yield _class(text, origin=origin)
        else:
            character = text[-1]
            yield _Token(source=re.escape(character), literal=character)


def _class(text: str, *, origin: str) -> _Token:
    body = text[1:-1]
    negated = body[0] in "!^" and len(body) > 1
    body = body[1:] if negated else body
    members: list[str] = []
    position = 0
    while position < len(body):
        if body[position + 1 : position + 2] == "-" and position + 2 < len(body):
            low, high = body[position], body[position + 2]
            if low > high:
                message = f"cannot expand glob `{origin}`: the range `{low}-{high}` runs backwards"
                raise BindError(message)
            members.append(f"{re.escape(low)}-{re.escape(high)}")
            position += 3
        else:
            members.append(re.escape(body[position]))
            position += 1
    if not negated and len(body) == 1:
        return _Token(source=re.escape(body), literal=body)
    # A range such as `[+-9]` holds the separator, which no class may match.
    return _Token(source=f"(?!/)[{'^' if negated else ''}{''.join(members)}]")


def _token_end(text: str, position: int, *, dialect: PathDialect) -> int:
    """Where the escape, class or single character at `position` ends."""
    character = text[position]
    if character == "\\" and dialect is PathDialect.POSIX and position + 1 < len(text):
        return position + 2
    if character == "[":
        first = position + 1
        if text[first : first + 1] in {"!", "^"}:
            first += 1
        # A `]` in first place is a member of the class, as in every shell.
        close = text.find("]", first + 1)
        separators = "/" if dialect is PathDialect.POSIX else "/\\"
        if close > 0 and not any(character in separators for character in text[position:close]):
            return close + 1
    return position + 1


def _alternatives(pattern: str, *, dialect: PathDialect) -> list[str]:
    """The pattern once for each choice of its braces, left to right."""
    done: list[str] = []
    waiting = [(pattern, 0)]
    while waiting:
        text, position = waiting.pop()
        choices = None
        while position < len(text) and choices is None:
            if text[position] == "{":
                choices = _choices(text, position, dialect=dialect)
            if choices is None:
                position = _token_end(text, position, dialect=dialect)
        if choices is None:
            done.append(text)
        else:
            options, end = choices
            waiting.extend((text[:position] + option + text[end:], position) for option in reversed(options))
        if len(done) + len(waiting) > MAX_GLOB_ALTERNATIVES:
            cause = f"its braces stand for over {MAX_GLOB_ALTERNATIVES} patterns"
            raise BindError(f"cannot expand glob `{pattern}`: {cause}", hint="split the glob")
    return list(dict.fromkeys(done))


def _choices(pattern: str, start: int, *, dialect: PathDialect) -> tuple[list[str], int] | None:
    """The options of the brace at `start` and where it ends, or None when it never closes."""
    options: list[str] = []
    depth = 0
    begin = position = start + 1
    while position < len(pattern):
        character = pattern[position]
        if character == "{":
            depth += 1
        elif character in ",}" and depth == 0:
            options.append(pattern[begin:position])
            begin = position + 1
            if character == "}":
                return options, begin
        elif character == "}":
            depth -= 1
        position = _token_end(pattern, position, dialect=dialect)
    return None
