"""The terminal of whoever runs a sandbox: what of it a command gets, and stops that both follow."""

import sys

assert sys.platform == "linux"

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from platform_tests.support.ground import CHECKOUT, Ground
from platform_tests.support.sandboxctl import caller_environment, run_arguments, run_as
from platform_tests.support.terminal import Terminal, at_terminal


def sh(script: str, *arguments: str) -> list[str]:
    return ["sh", "-c", script, "sh", *arguments]


def python(script: str, *arguments: str) -> list[str]:
    return ["python3", "-c", script, *arguments]


@contextmanager
def shell_at_terminal(ground: Ground, script: str, argv: Sequence[str]) -> Iterator[Terminal]:
    with at_terminal(ground, sh(script, *argv), environment=caller_environment(ground)) as terminal:
        yield terminal


ABOUT_STDIN = "import os; print('terminal', os.isatty(0), os.readlink('/proc/self/fd/0').rpartition('/')[0])"


def test_the_hosts_terminal_stays_outside_when_output_is_redirected(ground: Ground) -> None:
    with shell_at_terminal(ground, '"$@" | cat', python(ABOUT_STDIN)) as terminal:
        terminal.wait_for("terminal True /dev/pts")
    with shell_at_terminal(ground, '"$@" | cat', run_arguments(ground, python(ABOUT_STDIN))) as terminal:
        terminal.wait_for("terminal False /dev\r\n")
        assert terminal.wait_for_end() == 0


def test_the_keyboard_is_left_to_whoever_reads_the_output(ground: Ground) -> None:
    script = '"$@" | { read line; echo "$line"; read line < /dev/tty; echo "got $line"; }'
    with shell_at_terminal(ground, script, run_arguments(ground, sh("cat; echo r''eady"))) as terminal:
        terminal.wait_for("ready\r\n")
        terminal.type("key\n")
        terminal.wait_for("got key\r\n")
        assert terminal.wait_for_end() == 0


DRIVER = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from sandboxing.contract.launch import Command
from sandboxing.run.flow import prepare_document
from sandboxing.run.host import Bounds
from sandboxing.run.machine import this_machine
from sandboxing.run.policies import find_document
machine = this_machine()
host = machine.confining_host()
roots = machine.workspace_roots(())
prepared = prepare_document(find_document("workspace-write"), backend=host, facts=machine.facts,
                            view=machine.view, workspace_roots=roots)
command = Command(argv=tuple(sys.argv[2:]), cwd=roots[0], env=prepared.environment(os.environ))
handlers = lambda: {number: signal.getsignal(number) for number in signal.valid_signals()}
before = handlers()
finished = host.run_in_foreground(prepared.planned.launch, command, bounds=Bounds())
print("handlers", before == handlers(), signal.set_wakeup_fd(-1))
sys.exit(finished.exit.shell_code)
"""


def driver(argv: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-c", DRIVER, CHECKOUT, *argv]


def test_typed_lines_reach_a_command_that_asks_for_them(ground: Ground) -> None:
    argv = run_arguments(ground, sh("test -t 0 || echo ready; exec cat"), options=("-i",))
    with shell_at_terminal(ground, '"$@" | cat', argv) as terminal:
        terminal.wait_for("ready\r\n")
        terminal.type("typex\x7fd\n")
        terminal.wait_for("typed\r\n")
        terminal.type("\x04")
        assert terminal.wait_for_end() == 0


def test_our_signal_handlers_are_as_before_when_it_is_over(ground: Ground) -> None:
    run = run_as(ground, driver(["true"]), environment=caller_environment(ground))
    assert (run.code, run.stdout) == (0, "handlers True -1\n")
    with at_terminal(ground, driver(["true"]), environment=caller_environment(ground)) as terminal:
        terminal.wait_for("handlers True -1")
        assert terminal.wait_for_end() == 0


FLUSH = """
import os, select, socket, sys, termios
sys.path.insert(0, sys.argv[1])
from sandboxing.launch.pod import PodChannel
from sandboxing.run.foreground.terminal import TerminalRelay
from sandboxing.run.foreground.wiring import Tail
from sandboxing.run.session import Session
before = termios.tcgetattr(0)
relay = TerminalRelay(Session(pod=PodChannel(socket=socket.socketpair()[0])), keyboard=0, tail=Tail())
relay.started(os.openpty()[0])
print("ready", flush=True)
select.select([0], [], [])
relay.close()
print("same", termios.tcgetattr(0) == before, "left", select.select([0], [], [], 0)[0])
"""


def test_what_was_typed_for_the_command_is_not_left_to_the_shell(ground: Ground) -> None:
    argv = [sys.executable, "-I", "-c", FLUSH, CHECKOUT]
    with at_terminal(ground, argv, environment=caller_environment(ground)) as terminal:
        terminal.wait_for("ready")
        terminal.type("\x1b[1;1R\n")
        terminal.wait_for(r"same True left \[\]")


def test_a_command_that_stops_itself_does_not_stop_us_and_its_time_runs_out(ground: Ground) -> None:
    argv = run_arguments(ground, sh("kill -STOP $$"), options=("--timeout", "1"))
    script = 'set -m; "$@"; echo code $?'
    with shell_at_terminal(ground, script, sh("kill -STOP $$")) as terminal:
        terminal.wait_for(f"code {128 + signal.SIGSTOP}")
    with shell_at_terminal(ground, script, argv) as terminal:
        terminal.wait_for("code 124")


def test_nothing_in_the_pod_runs_while_we_are_stopped_and_the_time_counts(ground: Ground) -> None:
    command = sh("(trap '' TSTP; sleep 1; echo late > late) & kill -TSTP $$; wait")
    script = 'set -m; "$@"; echo code $?; sleep 2; echo seen *; fg; echo code $?; echo seen *'
    with shell_at_terminal(ground, script, ["setsid", "-w", *command]) as terminal:
        terminal.wait_for("seen late")
    os.unlink(ground.at("ws", "late"))
    with shell_at_terminal(ground, script, run_arguments(ground, command)) as terminal:
        terminal.wait_for(f"code {128 + signal.SIGTSTP}")
        terminal.wait_for(r"seen \*")
        terminal.wait_for("code 0")
        terminal.wait_for("seen late")
    os.unlink(ground.at("ws", "late"))
    argv = run_arguments(ground, command, options=("--timeout", "1.5"))
    with shell_at_terminal(ground, script, argv) as terminal:
        terminal.wait_for("code 124")
        terminal.wait_for(r"seen \*")


def test_a_terminal_that_goes_away_takes_the_commands_along(ground: Ground) -> None:
    alive = ground.at("ws", "alive")
    os.mkfifo(alive)
    os.chmod(alive, 0o666)
    reading = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    argv = run_arguments(ground, sh("exec 3> alive; echo ready; exec cat"))
    # in the background, where the kernel itself tells us nothing
    with shell_at_terminal(ground, 'set -m; "$@" & sleep 60', argv) as terminal:
        terminal.wait_for("ready")
    os.set_blocking(reading, True)
    assert os.read(reading, 1) == b""
    os.close(reading)
