"""What a command gets of our streams and signals, and that nothing holds up its end."""

import sys

assert sys.platform == "linux"

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from platform_tests.support.ground import CHECKOUT, Ground
from platform_tests.support.sandboxctl import Run, caller_environment, run_arguments, run_as
from platform_tests.support.terminal import at_terminal

OVERDUE_S = 15.0
"""Far more than any run here may take, and far less than the commands themselves would."""


def sh(script: str, *arguments: str) -> list[str]:
    return ["sh", "-c", script, "sh", *arguments]


def python(script: str, *arguments: str) -> list[str]:
    return ["python3", "-c", script, *arguments]


def redirected(
    ground: Ground, argv: Sequence[str], redirections: str, *, options: Sequence[str] = ()
) -> tuple[Run, Run]:
    """The same command outside and in a sandbox, with the same redirections of a shell."""
    environment = caller_environment(ground)
    inside = run_arguments(ground, argv, options=options)
    return (
        run_as(ground, sh(f'exec "$@" {redirections}', *argv), environment=environment),
        run_as(ground, sh(f'exec "$@" {redirections}', *inside), environment=environment),
    )


@contextmanager
def started(
    ground: Ground, argv: Sequence[str], *, options: Sequence[str] = (), stderr: int | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """The command in a sandbox, left running."""
    identity = ground.identity
    with subprocess.Popen(
        run_arguments(ground, argv, options=options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=ground.workspace,
        env=caller_environment(ground),
        user=identity.user,
        group=identity.group,
        extra_groups=identity.extra_groups,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def named_pipe(ground: Ground, relative: str) -> str:
    path = ground.at(relative)
    os.mkfifo(path)
    os.chmod(path, 0o666)
    return path


def line_of(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


CHANGES = "import os; os.fchmod(0, 0o777); os.utime(0, (1, 1))"


def test_the_file_behind_standard_input_cannot_be_changed(ground: Ground) -> None:
    path = ground.file("outside/in.txt", "text", mode=0o640)
    control = run_as(ground, sh('exec "$@" < ../outside/in.txt', *python(CHANGES)))
    assert control.code == 0
    assert (os.stat(path).st_mode & 0o777, os.stat(path).st_mtime) == (0o777, 1.0)
    os.chmod(path, 0o640)
    os.utime(path, (2, 2))
    run_as(
        ground,
        sh('exec "$@" < ../outside/in.txt', *run_arguments(ground, python(CHANGES))),
        environment=caller_environment(ground),
    )
    assert (os.stat(path).st_mode & 0o777, os.stat(path).st_mtime) == (0o640, 2.0)


def test_a_file_that_output_is_appended_to_cannot_be_read(ground: Ground) -> None:
    path = ground.file("outside/log", "what others wrote")
    script = (
        "import os, sys\n"
        "again = os.open('/proc/self/fd/1', os.O_RDONLY | os.O_NONBLOCK)\n"
        "sys.stderr.write(os.read(again, 99).decode())"
    )
    control, run = redirected(ground, python(script), ">> ../outside/log")
    assert control.stderr == "what others wrote"
    assert "what others wrote" not in run.stderr
    with open(path, encoding="utf-8") as file:
        assert file.read() == "what others wrote"


NAMED = {
    "input": ("import os; os.fstat(0); print(os.readlink('/proc/self/fd/0'))", "< ../outside/a"),
    "fifo": ("import os; print(os.readlink('/proc/self/fd/0'))", "<> ../outside/fifo"),
    "error": ("import os; print(os.readlink('/proc/self/fd/2'))", "2> ../outside/a"),
    "device": ("import os; print(os.readlink('/proc/self/fd/0'))", "< /dev/zero"),
}


@pytest.mark.parametrize("stream", NAMED)
def test_no_stream_of_the_command_is_a_file_with_a_name(stream: str, ground: Ground) -> None:
    ground.file("outside/a", "")
    named_pipe(ground, "outside/fifo")
    script, redirections = NAMED[stream]
    control, run = redirected(ground, python(script), redirections)
    assert control.stdout.startswith("/")
    assert (run.code, run.stdout[:6]) == (0, "pipe:[")


def test_the_null_device_is_the_sandboxs_own(ground: Ground) -> None:
    script = (
        "import os\n"
        "def mount(fd): return [l for l in open(f'/proc/self/fdinfo/{fd}') if l.startswith('mnt_id')]\n"
        "own = mount(os.open('/dev/null', os.O_RDONLY))\n"
        "open('said', 'w').write(str([mount(fd) == own for fd in (0, 1)]))"
    )
    _, run = redirected(ground, python(script), "< /dev/null > /dev/null")
    assert (run.code, run.stderr) == (0, "")
    with open(ground.at("ws", "said"), encoding="utf-8") as file:
        assert file.read() == "[True, True]"


def test_files_pass_unchanged_and_in_order(ground: Ground) -> None:
    text = "".join(f"line {number}\n" for number in range(200_000))
    ground.file("outside/in.txt", text)
    out = ground.file("outside/out.txt", "")
    _, run = redirected(ground, ["cat"], "< ../outside/in.txt > ../outside/out.txt")
    assert (run.code, run.stderr) == (0, "")
    with open(out, encoding="utf-8") as file:
        assert file.read() == text
    script = "for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done"
    control, run = redirected(ground, sh(script), "2>&1")
    assert run.stdout == control.stdout


def test_what_a_command_leaves_unread_stays_in_the_file(ground: Ground) -> None:
    ground.file("ws/lines", "".join(f"{number}\n" for number in range(1, 5)))
    loop = 'while read -r line; do echo "$line"; "$@"; done < lines'
    for command, expected in ((["true"], "1 2 3 4"), (["dd", "bs=2", "count=1", "status=none"], "1 2 3 4")):
        run = run_as(
            ground, sh(loop, *run_arguments(ground, command)), environment=caller_environment(ground)
        )
        assert (run.code, run.stdout.split()) == (0, expected.split())


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_nothing_of_ours(closed: str, ground: Ground) -> None:
    script = (
        "import os\n"
        "streams = [os.readlink(f'/proc/self/fd/{n}').partition(':')[0] for n in (0, 1, 2)]\n"
        "open('said', 'w').write(' '.join(streams))"
    )
    _, run = redirected(ground, python(script), f"< /dev/null > /dev/null 2> /dev/null {closed}")
    assert run.code == 0
    with open(ground.at("ws", "said"), encoding="utf-8") as file:
        assert file.read() == "/dev/null /dev/null pipe"


def test_the_deadline_holds_while_nobody_takes_the_output(ground: Ground) -> None:
    before = time.monotonic()
    with started(ground, sh("yes >&2"), options=("--timeout", "1"), stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=OVERDUE_S) == 124
    argv = run_arguments(ground, ["yes"], options=("--timeout", "1"))
    with at_terminal(ground, argv, environment=caller_environment(ground)) as terminal:
        assert terminal.process.wait(timeout=OVERDUE_S) == 124
    assert time.monotonic() - before < OVERDUE_S


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_a_signal_ends_a_command_whose_output_nobody_takes(name: str, ground: Ground) -> None:
    number = signal.Signals[f"SIG{name}"]
    alive = named_pipe(ground, "ws/alive")
    reading = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    # more than the pipe to us holds, so that some is left whenever the command ends
    script = "exec 3> alive; head -c 100000 /dev/zero >&2; echo ready; exec yes >&2"
    with started(ground, sh(script), stderr=subprocess.PIPE) as process:
        assert line_of(process) == b"ready\n"
        process.send_signal(number)
        os.set_blocking(reading, True)
        assert os.read(reading, 1) == b""  # the command is gone, only its output is still here
        os.close(reading)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=OVERDUE_S) == 128 + number


def test_output_that_is_taken_slowly_is_not_cut_off(ground: Ground) -> None:
    script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i >&2; done"
    with started(ground, sh(script), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        first = process.stderr.read(10_000)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        rest = process.stderr.read()
    assert (first + rest).split(b"\n")[-2] == b"line 20000"


@pytest.mark.parametrize(("name", "times"), [("TERM", 2), ("INT", 3), ("HUP", 3), ("QUIT", 3)])
def test_a_command_that_will_not_end_is_killed(name: str, times: int, ground: Ground) -> None:
    script = f"trap 'echo caught' {name}; (trap '' {name}; sleep 60) & echo ready; while :; do wait; done"
    with started(ground, sh(script)) as process:
        assert line_of(process) == b"ready\n"
        for _ in range(times - 1):
            process.send_signal(signal.Signals[f"SIG{name}"])
            assert line_of(process) == b"caught\n"
        process.send_signal(signal.Signals[f"SIG{name}"])
        assert process.wait(timeout=OVERDUE_S) == 128 + signal.SIGKILL


SENDS_STDERR = """
import array, os, socket
s = socket.socket(socket.AF_UNIX)
s.connect("taker")
s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [2]))])
print("handed over", file=__import__("sys").stderr, flush=True)
os._exit(5)
"""


def test_somebody_outside_who_holds_the_commands_stream_does_not_hold_us(ground: Ground) -> None:
    with socket.socket(socket.AF_UNIX) as taker:
        taker.bind(ground.at("ws", "taker"))
        os.chmod(ground.at("ws", "taker"), 0o777)
        taker.listen()
        before = time.monotonic()
        with started(ground, python(SENDS_STDERR), stderr=subprocess.PIPE) as process:
            peer, _ = taker.accept()
            with peer:
                _, [held], _, _ = socket.recv_fds(peer, 1, 1)
            try:
                assert process.wait(timeout=OVERDUE_S) == 5
                assert process.stderr is not None
                assert process.stderr.read() == b"handed over\n"
            finally:
                os.close(held)
        assert time.monotonic() - before < OVERDUE_S


@pytest.mark.parametrize("before", [".", "", "sub"])
def test_a_module_of_the_workspace_does_not_run_outside(
    before: str, new_ground: Callable[[], Ground]
) -> None:
    ground = new_ground()
    for folder in ("ws", "ws/sub"):
        ground.file(f"{folder}/click.py", f"open({ground.at('outside', 'ran')!r}, 'w').close()")
    environment = {**caller_environment(ground), "PYTHONPATH": f"{before}:{CHECKOUT}"}
    run_as(ground, [sys.executable, "-P", "-c", "import click"], environment=environment)
    assert ground.listing("outside") == ("ran",)
    os.unlink(ground.at("outside", "ran"))
    run = run_as(ground, run_arguments(ground, ["true"]), environment=environment)
    assert (run.code, run.stderr) == (0, "")
    assert ground.listing("outside") == ()
