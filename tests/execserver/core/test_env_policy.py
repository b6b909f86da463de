"""envPolicy: the order measured on the reference, recorded cases, and patterns against a slow model."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.core.env_policy import child_environment, matches, with_terminal_shell
from execserver.protocol.process import EnvPolicy

SERVER = {
    "A_TOKEN": "t",
    "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE": "1",
    "CODEX_HOME": "/var/codex",
    "FOO_KEY": "k",
    "HOME": "/root",
    "LANG": "C",
    "MY_SECRET": "s",
    "NORMAL": "n",
    "Node_Repl_Auth_Token": "x",
    "OPENAI_IDENTITY_TOKEN_FILE": "/x",
    "PATH": "/usr/bin:/bin",
    "SHELL": "/bin/bash",
    "codex_exec_server_exit_on_stdin_close": "1",
    "path": "lower",
}
VISIBLE = {
    "A_TOKEN",
    "CODEX_HOME",
    "FOO_KEY",
    "HOME",
    "LANG",
    "MY_SECRET",
    "NORMAL",
    "PATH",
    "SHELL",
    "codex_exec_server_exit_on_stdin_close",
    "path",
}


def policy(**change: object) -> EnvPolicy:
    values: dict[str, Any] = {
        "inherit": "all",
        "ignoreDefaultExcludes": True,
        "exclude": [],
        "set": {},
        "includeOnly": [],
    }
    return EnvPolicy.model_validate(values | change)


def names(of: EnvPolicy | None, overlay: dict[str, str] | None = None) -> set[str]:
    return set(child_environment(server=SERVER, policy=of, overlay=overlay or {}, platform_os="linux"))


RECORDED = [
    ({}, {}, VISIBLE),
    ({"ignoreDefaultExcludes": False}, {}, VISIBLE - {"A_TOKEN", "FOO_KEY", "MY_SECRET"}),
    ({"inherit": "core"}, {}, {"HOME", "LANG", "PATH", "SHELL", "path"}),
    ({"inherit": "none"}, {}, set()),
    (
        {"inherit": "none", "ignoreDefaultExcludes": False, "set": {"S1": "a", "X_KEY": "b"}},
        {"OVER": "1", "Y_TOKEN": "z"},
        {"OVER", "S1", "X_KEY", "Y_TOKEN"},
    ),
    ({"exclude": ["n*", "?ANG"]}, {}, VISIBLE - {"NORMAL", "LANG"}),
    (
        {"set": {"S1": "a"}, "includeOnly": ["PATH", "*key*"]},
        {"EXTRA": "1"},
        {"EXTRA", "FOO_KEY", "PATH", "path"},
    ),
    ({"exclude": ["[a-m]*"]}, {}, VISIBLE),
]


@pytest.mark.parametrize(("change", "overlay", "expected"), RECORDED)
def test_the_recorded_cases_come_out_as_recorded(
    change: dict[str, Any], overlay: dict[str, str], expected: set[str]
) -> None:
    assert names(policy(**change), overlay) == expected


def test_without_a_policy_the_overlay_is_everything_but_the_protected_names() -> None:
    overlay = {"A": "1", "node_repl_auth_TOKEN": "q", "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE": "1"}
    assert names(of=None, overlay=overlay) == {"A"}


@given(
    st.sampled_from(["all", "core", "none"]),
    st.booleans(),
    st.lists(st.sampled_from(["*", "P*", "?ANG", "*KEY*", "x"])),
    st.lists(st.sampled_from(["*", "P*", "S1"])),
    st.dictionaries(st.sampled_from([*SERVER, "S1"]), st.just("v")),
    st.dictionaries(st.sampled_from([*SERVER, "O1"]), st.just("w")),
)
def test_the_overlay_has_the_last_word_and_protected_names_never_pass(
    inherit: str,
    ignore: bool,  # noqa: FBT001 - hypothesis passes it by position
    exclude: list[str],
    include: list[str],
    given_names: dict[str, str],
    overlay: dict[str, str],
) -> None:
    made = child_environment(
        server=SERVER,
        policy=policy(
            inherit=inherit,
            ignoreDefaultExcludes=ignore,
            exclude=exclude,
            includeOnly=include,
            set=given_names,
        ),
        overlay=overlay,
        platform_os="linux",
    )
    protected = {
        "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
        "Node_Repl_Auth_Token",
        "OPENAI_IDENTITY_TOKEN_FILE",
    }
    assert not protected & set(made)
    for name, value in overlay.items():
        assert name in protected or made[name] == value
    if include:
        assert all(name in overlay or any(matches(name, each) for each in include) for name in made)


@given(st.text("aAbB[].*?\n", max_size=8), st.text("aAbB[].*?", max_size=8))
def test_patterns_mean_star_and_question_mark_only(name: str, pattern: str) -> None:
    parts = {"*": ".*", "?": "."}
    slow = "".join(parts.get(char, re.escape(char)) for char in pattern)
    assert matches(name, pattern) == (re.fullmatch(slow, name, re.IGNORECASE | re.DOTALL) is not None)


@pytest.mark.timeout(5)
def test_no_pattern_is_slow() -> None:
    assert not matches("a" * 5_000, "*a" * 50 + "b")


def test_windows_keeps_its_own_core_and_always_has_pathext() -> None:
    server = {"Path": "C:\\", "ComSpec": "cmd", "HOME": "x"}
    made = child_environment(server=server, policy=policy(inherit="core"), overlay={}, platform_os="windows")
    assert made == {"Path": "C:\\", "ComSpec": "cmd", "PATHEXT": ".COM;.EXE;.BAT;.CMD"}


def test_a_terminal_child_knows_its_shell_unless_it_was_told_another() -> None:
    assert with_terminal_shell({"A": "1"}, shell_path="/bin/bash") == {"A": "1", "SHELL": "/bin/bash"}
    assert with_terminal_shell({"SHELL": "/bin/sh"}, shell_path="/bin/bash") == {"SHELL": "/bin/sh"}
