"""`sandboxctl run` for somebody at a terminal: keys, job control, the window's size, full-screen programs."""

import sys

assert sys.platform == "linux"

import os
import shlex
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from platform_tests.support.ground import Ground
from platform_tests.support.sandboxctl import caller_environment, run_arguments
from platform_tests.support.terminal import Terminal, at_terminal

CTRL_C, CTRL_D, CTRL_Z, CTRL_BACKSLASH, ESCAPE = "\x03", "\x04", "\x1a", "\x1c", "\x1b"


@contextmanager
def running(ground: Ground, argv: Sequence[str], *, rows: int = 24, columns: int = 80) -> Iterator[Terminal]:
    """The command in a sandbox, on a terminal."""
    command, environment = run_arguments(ground, argv), caller_environment(ground)
    with at_terminal(ground, command, environment=environment, rows=rows, columns=columns) as terminal:
        yield terminal


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def test_the_command_has_a_terminal_of_its_own_with_our_size(ground: Ground) -> None:
    script = "tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo all; echo x > /dev/tty; exit 6"
    with running(ground, sh(script), rows=31, columns=97) as terminal:
        assert terminal.wait_for_end() == 6
        assert "".join(terminal.history) == "/dev/pts/0\r\n31 97\r\nall\r\nx\r\n"


def test_the_window_can_be_resized(ground: Ground) -> None:
    script = "trap 'stty size; exit 4' WINCH; echo ready; while :; do sleep 0.05; done"
    with running(ground, sh(script)) as terminal:
        terminal.wait_for("ready")
        terminal.resize(50, 132)
        terminal.wait_for("50 132")
        assert terminal.wait_for_end() == 4


def test_interrupt_and_quit_reach_the_command(ground: Ground) -> None:
    for key, code in ((CTRL_C, 128 + signal.SIGINT), (CTRL_BACKSLASH, 128 + signal.SIGQUIT)):
        with running(ground, sh("ulimit -c 0; echo ready; exec sleep 60")) as terminal:
            terminal.wait_for("ready")
            terminal.type(key)
            assert terminal.wait_for_end() == code


def test_a_command_may_handle_the_interrupt_itself(ground: Ground) -> None:
    script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"
    with running(ground, sh(script)) as terminal:
        terminal.wait_for("ready")
        terminal.type(CTRL_C)
        terminal.wait_for("caught")
        assert terminal.wait_for_end() == 9


def test_typed_lines_are_echoed_once_and_end_of_file_ends(ground: Ground) -> None:
    with running(ground, sh("echo ready; exec cat")) as terminal:
        terminal.wait_for("ready\r\n")
        terminal.type("hello\n")
        terminal.wait_for("hello\r\nhello\r\n")
        terminal.type(CTRL_D)
        assert terminal.wait_for_end() == 0
        assert "".join(terminal.history) == "ready\r\nhello\r\nhello\r\n"


def test_a_denial_is_told_at_the_terminal(ground: Ground) -> None:
    target = ground.at("outside", "new")
    with running(ground, ["touch", target]) as terminal:
        assert terminal.wait_for_end() == 1
        said = "".join(terminal.history)
        assert f"sandboxctl: denied: write {target}: by read-only:" in said


@pytest.mark.parametrize("end", ["exit 0", "kill -KILL $$", "stty raw -echo; exit 0"])
def test_the_terminals_settings_are_as_before(end: str, ground: Ground) -> None:
    outer = f"{shlex.join(run_arguments(ground, sh(end)))}; echo r''eady; read line; exit 5"
    with at_terminal(ground, sh(outer), environment=caller_environment(ground)) as terminal:
        before = terminal.settings()
        terminal.wait_for("ready")
        assert terminal.settings() == before
        terminal.type("\n")
        assert terminal.wait_for_end() == 5


@contextmanager
def outer_shell(ground: Ground) -> Iterator[Terminal]:
    """An interactive shell outside, as people have one; `run COMMAND` in it runs in a sandbox."""
    run = shlex.join(run_arguments(ground, ["sh", "-c"]))
    start = ground.file("home/start", f'PS1="READY> "\nrun() {{ {run} "$1"; }}\n')
    environment = {**caller_environment(ground), "HISTFILE": "/dev/null"}
    shell = ["bash", "--noprofile", "--rcfile", start, "-i"]
    with at_terminal(ground, shell, environment=environment, columns=200) as terminal:
        terminal.wait_for("READY> ")
        yield terminal
        terminal.type("exit 0\n")
        assert terminal.wait_for_end() == 0


def test_a_stopped_command_gives_the_shell_back_and_goes_on_in_the_foreground(ground: Ground) -> None:
    program = shlex.join(run_arguments(ground, sh("echo r''eady; exec cat")))
    with outer_shell(ground) as terminal:
        terminal.type(f"{program}\n")
        terminal.wait_for(r"[\r\n]ready\r\n")
        terminal.type("before\n")
        terminal.wait_for("before\r\nbefore\r\n")
        terminal.type(CTRL_Z)
        terminal.wait_for(r"\[1\]\+ +Stopped")
        terminal.wait_for("READY> ")
        terminal.type(
            "stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo -e isig | sort | tr '\\n' _; echo\n"
        )
        terminal.wait_for("echo_icanon_isig_")
        terminal.wait_for("READY> ")
        terminal.type("fg\n")
        terminal.wait_for("fg\r\n")
        terminal.type("after\n")
        terminal.wait_for("after\r\nafter\r\n")
        terminal.type(CTRL_Z)
        terminal.wait_for(r"\[1\]\+ +Stopped")
        terminal.wait_for("READY> ")
        terminal.type("fg\n")
        terminal.wait_for("fg\r\n")
        # a key typed before the terminal is raw again would not be the same key
        terminal.type("last\n")
        terminal.wait_for("last\r\nlast\r\n")
        terminal.type(CTRL_D)
        terminal.wait_for("READY> ")


def test_a_stopped_command_can_be_killed_from_the_shell(ground: Ground) -> None:
    program = shlex.join(run_arguments(ground, sh("echo r''eady; exec sleep 60")))
    with outer_shell(ground) as terminal:
        terminal.type(f"{program}\n")
        terminal.wait_for(r"[\r\n]ready\r\n")
        terminal.type(CTRL_Z)
        terminal.wait_for(r"\[1\]\+ +Stopped")
        terminal.type("kill %1; fg; echo code $?\n")
        terminal.wait_for("code 143\r\n")
        terminal.wait_for("READY> ")


def test_a_command_in_the_background_leaves_the_keyboard_to_the_shell(ground: Ground) -> None:
    program = shlex.join(run_arguments(ground, sh("sleep 0.5; echo o''ut; exit 3")))
    with outer_shell(ground) as terminal:
        terminal.type(f"{program} &\n")
        terminal.wait_for("READY> ")
        terminal.type("echo to''gether\n")
        terminal.wait_for("together\r\n")
        terminal.type("wait %1; echo code $?\n")
        # the terminal is not raw while the shell has it, so it adds a return of its own
        terminal.wait_for(r"out\r+\n")
        terminal.wait_for("code 3\r\n")


def full_screen_programs() -> list[str]:
    found = [name for name in ("less", "vim", "vi", "vim.tiny") if shutil.which(name) is not None]
    return [name for name in found if name == "less" or name == next(n for n in found if n != "less")]


def test_there_is_a_full_screen_program_to_try() -> None:
    assert full_screen_programs() != []


@pytest.mark.parametrize("name", [one for one in full_screen_programs() if one == "less"])
def test_a_pager_fills_the_screen_and_gives_it_back(name: str, ground: Ground) -> None:
    ground.file("ws/text", "".join(f"line {number}\n" for number in range(1, 200)))
    with running(ground, [name, "text"], rows=12) as terminal:
        before = terminal.settings()
        terminal.wait_for("line 11")
        terminal.type(" ")
        terminal.wait_for("line 22")
        terminal.type("G")
        terminal.wait_for("line 199")
        terminal.type("q")
        assert terminal.wait_for_end() == 0
        assert f"{ESCAPE}[?1049h" in "".join(terminal.history)
        assert terminal.settings() == before


@pytest.mark.parametrize("name", [one for one in full_screen_programs() if one != "less"])
def test_an_editor_changes_a_file_of_the_workspace(name: str, ground: Ground) -> None:
    ground.file("ws/text", "old\n")
    with running(ground, [name, "-u", "NONE", "-n", "text"]) as terminal:
        terminal.wait_for("old")
        terminal.type("cwnew")
        terminal.wait_for("new")
        terminal.type(f"{ESCAPE}:wq\n")
        assert terminal.wait_for_end() == 0
    with open(ground.at("ws", "text"), encoding="utf-8") as file:
        assert file.read() == "new\n"
    assert os.stat(ground.at("ws", "text")).st_uid == ground.identity.uid
