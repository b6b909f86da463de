"""A program that starts another one and knows when everything it started, however distant, is gone.

It adopts every orphan below it, so that having no child means that nothing is left. It obeys lines on a
socket: `after SECONDS kill PID` and `drain SECONDS`. Run as `python guard.py DESCRIPTOR ARGV...`; `guarded`
does that.
"""

import sys

assert sys.platform == "linux"

import ctypes
import json
import os
import signal
import socket
import time

_PR_SET_CHILD_SUBREAPER = 36  # include/uapi/linux/prctl.h


def _wait_for_child(seconds: float) -> bool:
    """Whether a child changed within the time."""
    return signal.sigtimedwait([signal.SIGCHLD], max(seconds, 0.0)) is not None


def _parent_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def _children() -> dict[int, str]:
    found: dict[int, str] = {}
    for name in os.listdir("/proc"):
        try:
            if name.isdecimal() and _parent_of(int(name)) == os.getpid():
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    found[int(name)] = file.read().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _reap() -> bool:
    """Collect who has ended; whether anybody is left."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def _drain(seconds: float) -> dict[int, str]:
    """Wait until nobody is left; who was when the time was over, and is killed then."""
    deadline = time.monotonic() + seconds
    while _reap():
        if not _wait_for_child(deadline - time.monotonic()) and time.monotonic() >= deadline:
            left = _children()
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            return left
    return {}


def main() -> None:
    """Start the program, then obey."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        channel.set_inheritable(False)
        pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, setsigmask=[], setpgroup=0)
        with channel.makefile("rw", encoding="ascii") as lines:
            lines.write(f"{pid}\n")
            lines.flush()
            for line in lines:
                match line.split():
                    case ["after", seconds, "kill", whom]:
                        _wait_for_child(float(seconds))
                        os.kill(int(whom), signal.SIGKILL)
                    case ["drain", seconds]:
                        lines.write(json.dumps(_drain(float(seconds))) + "\n")
                        lines.flush()
                    case _:
                        raise SystemExit(f"cannot understand `{line.strip()}`")


if __name__ == "__main__":
    main()
