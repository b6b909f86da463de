"""The tests inside a policy: which places they speak of on one machine, and whether a promise is kept.

It owns the meaning of a test's path and nothing of precedence; it never asks the oracle itself and follows
no links. `check` gives it the places of a machine, asks the oracle about each answer, and reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.settings import Expectation, PolicyTest


@dataclass(frozen=True, slots=True)
class Anchors:
    """The places that a test path may start from, absolute and native.

    Attributes:
        workspace_roots: each of them is asked about.
        home: the caller's home directory, or None when there is none.
        tmpdir: the caller's temporary directory, or None when there is none.
        slash_tmp: `/tmp`, or None where a system has none.
    """

    workspace_roots: tuple[str, ...]
    home: str | None
    tmpdir: str | None
    slash_tmp: str | None


def promised_places(test: PolicyTest, anchors: Anchors, dialect: PathDialect) -> tuple[str, ...]:
    """The native paths that a test speaks of; none when this machine has no such place.

    An absolute path of the other convention has no place here, so a policy for several systems can hold
    promises for each of them.
    """
    symbol, _, below = test.path.partition("/")
    starts: tuple[str | None, ...]
    match symbol:
        case ":workspace_roots":
            starts = anchors.workspace_roots
        case ":tmpdir":
            starts = (anchors.tmpdir,)
        case ":slash_tmp":
            starts = (anchors.slash_tmp,)
        case "~":
            starts = (anchors.home,)
        case _:
            return (dialect.normalise(test.path),) if dialect.is_absolute(test.path) else ()
    return tuple(dialect.join(start, below or ".") for start in starts if start is not None)


def is_kept(test: PolicyTest, *, allowed: bool) -> bool:
    """Whether the oracle's answer is what the test promises."""
    return allowed is (test.expect is Expectation.MAY)
