"""The environment of a child: the server's, filtered by the client's policy, with the client's values on top.

A pure function of both, in the order that was measured on the reference. It never reads an environment; the
start handler passes the server's in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from execserver.protocol.process import EnvPolicy, Inherit

PLATFORM_WINDOWS: Final = "windows"

CORE_NAMES: Final = frozenset(
    {"PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"}
)
"""What `inherit: core` keeps on Unix, compared without regard to case."""

CORE_NAMES_WINDOWS: Final = frozenset(
    {
        "PATH",
        "PATHEXT",
        "SHELL",
        "COMSPEC",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "USERNAME",
        "USERDOMAIN",
        "USERPROFILE",
        "HOMEDRIVE",
        "HOMEPATH",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "PROGRAMW6432",
        "PROGRAMDATA",
        "APPDATA",
        "LOCALAPPDATA",
        "TEMP",
        "TMP",
        "POWERSHELL",
        "PWSH",
    }
)
"""What `inherit: core` keeps on Windows."""

DEFAULT_EXCLUDES: Final = ("*KEY*", "*SECRET*", "*TOKEN*")
"""Names that look like credentials; dropped unless the policy says otherwise."""

PROTECTED_EXACT: Final = frozenset({"CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE"})
"""Never given to a child; the reference compares this one with regard to case."""

PROTECTED_FOLDED: Final = frozenset(
    {
        "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
        "NODE_REPL_AUTH_TOKEN",
        "OPENAI_FEDERATION_RULE_ID",
        "OPENAI_IDENTITY_TOKEN_FILE",
        "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
    }
)
"""Never given to a child, in any spelling: the server's own credentials."""

_DEFAULT_PATHEXT: Final = ".COM;.EXE;.BAT;.CMD"


def child_environment(
    *,
    server: Mapping[str, str],
    policy: EnvPolicy | None,
    overlay: Mapping[str, str],
    platform_os: str,
) -> dict[str, str]:
    """The whole environment of a child.

    Args:
        server: the server's own environment.
        policy: the client's policy; None means that `overlay` is everything.
        overlay: the client's values; no pattern filters them.
        platform_os: the wire's name of this system, such as `linux`.
    """
    env = {} if policy is None else _inherited(server, policy, platform_os)
    env.update(overlay)
    # Last, so that a client cannot hand out what the server keeps for itself.
    return {name: value for name, value in env.items() if not _is_protected(name)}


def _inherited(server: Mapping[str, str], policy: EnvPolicy, platform_os: str) -> dict[str, str]:
    env = _start_set(server, policy.inherit, platform_os)
    if not policy.ignore_default_excludes:
        env = _without(env, DEFAULT_EXCLUDES)
    env = _without(env, policy.exclude)
    env.update(policy.set)
    if policy.include_only:
        # After `set` on purpose: the filter has the last word over everything but the overlay.
        env = {name: value for name, value in env.items() if _matches_any(name, policy.include_only)}
    if platform_os == PLATFORM_WINDOWS and not any(name.upper() == "PATHEXT" for name in env):
        env["PATHEXT"] = _DEFAULT_PATHEXT
    return env


def _start_set(server: Mapping[str, str], inherit: Inherit, platform_os: str) -> dict[str, str]:
    match inherit:
        case Inherit.ALL:
            return dict(server)
        case Inherit.NONE:
            return {}
        case Inherit.CORE:
            core = CORE_NAMES_WINDOWS if platform_os == PLATFORM_WINDOWS else CORE_NAMES
            return {name: value for name, value in server.items() if name.upper() in core}


def _without(env: Mapping[str, str], patterns: Iterable[str]) -> dict[str, str]:
    dropped = tuple(patterns)
    return {name: value for name, value in env.items() if not _matches_any(name, dropped)}


def _is_protected(name: str) -> bool:
    return name in PROTECTED_EXACT or name.upper() in PROTECTED_FOLDED


def _matches_any(name: str, patterns: Iterable[str]) -> bool:
    return any(matches(name, pattern) for pattern in patterns)


def matches(name: str, pattern: str) -> bool:
    """Whether the whole name fits the pattern: `*` and `?` only, case ignored, brackets literal.

    Works without backtracking into earlier stars, so no pattern makes it slow.
    """
    name, pattern = name.lower(), pattern.lower()
    at, wanted = 0, 0
    star, resume = -1, 0
    while at < len(name):
        if wanted < len(pattern) and pattern[wanted] == "*":
            star, resume = wanted, at
            wanted += 1
        elif wanted < len(pattern) and pattern[wanted] in {"?", name[at]}:
            at += 1
            wanted += 1
        elif star >= 0:
            resume += 1
            at, wanted = resume, star + 1
        else:
            return False
    return all(rest == "*" for rest in pattern[wanted:])


def with_terminal_shell(env: Mapping[str, str], *, shell_path: str) -> dict[str, str]:
    """The environment of a child on a terminal: it knows its shell. TERM is never added."""
    return {"SHELL": shell_path, **env}
