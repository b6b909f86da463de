"""The command's environment: the caller's, filtered and amended as the policy says. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from sandboxing.binding.bound import BoundPolicy, NetworkMode
from sandboxing.policyfile.settings import EnvironmentRules, TmpPlacement

CORE_NAMES: Final = frozenset(
    {
        "PATH",
        "SHELL",
        "TMPDIR",
        "TEMP",
        "TMP",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LOGNAME",
        "USER",
        "TERM",
        "COLORTERM",
        "TZ",
    }
)
"""What `inherit: core` keeps: the exec-server protocol's list for Unix, and what a terminal needs."""

NETWORK_MARKER: Final = "CODEX_SANDBOX_NETWORK_DISABLED"
"""Set to 1 when the network is restricted; programs that know the reference look for it."""


def command_environment(bound: BoundPolicy, caller: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a command under `bound`."""
    environment = _filtered(bound.environment, caller)
    if bound.tmp is TmpPlacement.PRIVATE:
        environment["TMPDIR"] = "/tmp"
    if bound.network is NetworkMode.RESTRICTED:
        environment[NETWORK_MARKER] = "1"
    environment.update(bound.environment.set)
    return environment


def _filtered(rules: EnvironmentRules, caller: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in caller.items()
        if (rules.inherit == "all" or (rules.inherit == "core" and name.upper() in CORE_NAMES))
        and not _matches(name, rules.exclude)
        and (not rules.include_only or _matches(name, rules.include_only))
    }


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(
        re.fullmatch(_as_regex(pattern), name, re.IGNORECASE | re.DOTALL) is not None for pattern in patterns
    )


def _as_regex(pattern: str) -> str:
    parts = {"*": ".*", "?": "."}
    return "".join(parts.get(character, re.escape(character)) for character in pattern)
