"""Denials read from a command's own error text, each judged by the oracle before it is believed.

A line that talks of a refusal and names a path is evidence only if the policy really refuses that path and
the host would not have refused it anyway. It reads text and asks; it never looks at a file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from sandboxing.binding.bound import BoundPolicy, NetworkMode
from sandboxing.binding.decide import Decision, DecisionIndex
from sandboxing.contract.outcome import Confidence, Denial
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import Access, AccessMode

SOURCE: Final = "error-text"

_REFUSALS: Final = (
    # glibc's and musl's texts; the errno tells which lock answered
    ("EROFS", re.compile(r"read-only file ?system|\bEROFS\b", re.IGNORECASE)),
    ("EACCES", re.compile(r"permission denied|\bEACCES\b", re.IGNORECASE)),
    ("EPERM", re.compile(r"operation not permitted|\bEPERM\b", re.IGNORECASE)),
    ("EBUSY", re.compile(r"device or resource busy|\bEBUSY\b", re.IGNORECASE)),
)
_NETWORK: Final = re.compile(
    r"network is unreachable|could not resolve host|temporary failure in name resolution"
    r"|name or service not known|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|failed to lookup address"
    r"|\bENETUNREACH\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"'([^']+)'|\"([^\"]+)\"|`([^`']+)['`]|\u2018([^\u2019]+)\u2019")
_LINE_LIMIT: Final = 4096
_LINES_LIMIT: Final = 2000
_DENIALS_LIMIT: Final = 50


class HostView(Protocol):
    """What must be known of the host to tell the policy's refusals from its own."""

    def resolve(self, path: str) -> str:
        """The path with links resolved as far as it exists."""

    def would_allow(self, path: str, access: Access) -> bool:
        """Whether the caller could do this without a sandbox."""


@dataclass(frozen=True, slots=True)
class ErrorText:
    """What a command wrote, and where it ran.

    Attributes:
        text: its error output, decoded leniently.
        cwd: its working directory, which relative names are read from.
    """

    text: str
    cwd: str


def denials_in(
    error: ErrorText, bound: BoundPolicy, host: HostView, dialect: PathDialect
) -> tuple[Denial, ...]:
    """Every refusal in the text that the policy caused, in order, without repetition."""
    index = DecisionIndex(bound)
    found: dict[tuple[str, str], Denial] = {}
    network_seen = False
    for line in error.text.splitlines()[-_LINES_LIMIT:]:
        line = line[:_LINE_LIMIT]  # noqa: PLW2901 - a longer line is only looked at in part
        for denial in _in_line(line, error.cwd, index, host, dialect):
            found.setdefault((str(denial.operation), denial.resolved or ""), denial)
        if bound.network is NetworkMode.RESTRICTED and not network_seen and _NETWORK.search(line):
            network_seen = True
            found[("connect", "")] = _network_denial(bound, line)
        if len(found) >= _DENIALS_LIMIT:
            break
    return tuple(found.values())


def _network_denial(bound: BoundPolicy, line: str) -> Denial:
    return Denial(
        operation="connect",
        target=line.strip()[:200],
        rule=bound.network_rule,
        reason="the policy gives the command a network of its own without a way out",
        source=SOURCE,
        confidence=Confidence.GUESS,
    )


def _in_line(
    line: str, cwd: str, index: DecisionIndex, host: HostView, dialect: PathDialect
) -> Iterator[Denial]:
    errno_name = next((name for name, pattern in _REFUSALS if pattern.search(line)), None)
    if errno_name is None:
        return
    for target in _paths_in(line):
        denial = _judge(target, errno_name, cwd, index, host, dialect)
        if denial is not None:
            yield denial
            return


def _judge(
    target: str, errno_name: str, cwd: str, index: DecisionIndex, host: HostView, dialect: PathDialect
) -> Denial | None:
    if "\0" in target or target.startswith("~"):
        return None
    resolved = host.resolve(dialect.join(cwd, target))
    for access in _accesses(errno_name):
        decision = index.decide(access, resolved)
        if not decision.allowed and host.would_allow(resolved, access):
            return Denial(
                operation=access,
                target=target,
                resolved=resolved,
                rule=decision.rule,
                reason=decision.reason,
                errno_name=errno_name,
                source=SOURCE,
                confidence=Confidence.LIKELY,
                remedy=_remedy(access, resolved, decision),
            )
    return None


def _accesses(errno_name: str) -> tuple[Access, ...]:
    # a read-only mount answers EROFS before anything else is asked; a mask answers EACCES to everybody
    if errno_name == "EACCES":
        return (Access.READ,)
    return (Access.WRITE,)


def _remedy(access: Access, resolved: str, decision: Decision) -> str | None:
    if decision.mode is AccessMode.DENY and access is Access.READ and decision.rule is not None:
        return f"remove or narrow the rule {decision.rule.pointer} of {decision.rule.source}"
    mode = AccessMode.WRITE if access is Access.WRITE else AccessMode.READ
    return f'add to the policy: {{"path": {{"type": "path", "path": "{resolved}"}}, "access": "{mode}"}}'


def _paths_in(line: str) -> Iterator[str]:
    """Everything in a line that may be a path, the likeliest first, each once."""
    seen: set[str] = set()
    for candidate in _candidates(line):
        path = candidate.strip().strip("'\"`\u2018\u2019:,;()[]")
        if path and path not in seen and not path.isspace():
            seen.add(path)
            yield path


def _candidates(line: str) -> Iterable[str]:
    for match in _QUOTED.finditer(line):
        yield next(group for group in match.groups() if group is not None)
    segments = re.split(r": ?", line)
    for segment in segments:
        if segment.startswith(("/", "./", "../")):
            yield segment
    words = line.split()
    for word in words:
        if "/" in word:
            yield word
    # `sh: 1: cannot create out.txt: Read-only file system` and `touch: out.txt: ...`: bare names come last
    for segment in segments[1:]:
        yield segment.rpartition(" ")[2]
