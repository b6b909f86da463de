"""Victim: what ordinary programs do all day, which no sandbox may get in the way of."""

import sys

assert sys.platform == "linux"

import multiprocessing
import os
import pty
import select
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from multiprocessing import shared_memory

from platform_tests.scenarios.victims.reporting import Operation, report


def _double(number: int) -> int:
    return 2 * number


def _pool() -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        if pool.map(_double, range(5)) != [0, 2, 4, 6, 8]:
            raise ValueError


def _shared_memory() -> None:
    block = shared_memory.SharedMemory(create=True, size=4096)
    try:
        again = shared_memory.SharedMemory(name=block.name)
        one, other = block.buf, again.buf
        if one is None or other is None:
            raise ValueError
        one[:2] = b"hi"
        if bytes(other[:2]) != b"hi":
            raise ValueError
        again.close()
    finally:
        block.close()
        block.unlink()


def _fifo(path: str) -> None:
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", 'echo through > "$1"', "sh", path]), open(path, "rb") as fifo:
        if fifo.read() != b"through\n":
            raise ValueError


def _unix_stream(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        server.listen()
        code = (
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'hi')"
        )
        with subprocess.Popen([sys.executable, "-I", "-S", "-c", code, path]):
            peer, _ = server.accept()
            with peer:
                if peer.recv(2) != b"hi":
                    raise ValueError


def _threads() -> None:
    done: list[int] = []
    threads = [threading.Thread(target=done.append, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if sorted(done) != list(range(8)):
        raise ValueError


def _database(path: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute("pragma journal_mode=wal")
        database.execute("create table t (x)")
        database.execute("insert into t values (1)")
    database.close()


def _read_until(master: int, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        if not select.select([master], [], [], 10)[0]:
            raise TimeoutError(f"{wanted!r} did not come after {seen!r}")
        seen += os.read(master, 4096)
    return seen


def _terminal() -> str:
    pid, master = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", "test -t 0 && tty && stty size > /dev/null"])
    seen = b""
    try:
        while True:
            seen += os.read(master, 4096)
    except OSError:
        pass  # EIO is the end of a terminal
    os.close(master)
    return f"{seen.decode().strip().rpartition('/')[0]} {os.waitpid(pid, 0)[1]}"


def _job_control() -> str:
    environment = {**os.environ, "PS1": "READY ", "ENV": "", "HISTFILE": "/dev/null"}
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
    _read_until(master, b"READY ")
    os.write(master, b"sh -c 'echo r''unning; exec sleep 60'\n")
    _read_until(master, b"running")
    os.write(master, b"\x1a")
    _read_until(master, b"Stopped")
    os.write(master, b"kill %1; fg; exit 7\n")
    status = os.waitpid(pid, 0)[1]
    os.close(master)
    return f"exit {os.waitstatus_to_exitcode(status)}"


def _signals() -> None:
    received: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, _frame: received.append(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    if received != [signal.SIGUSR1]:
        raise ValueError


def _temporary_folder() -> None:
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "x"), "w", encoding="utf-8"):
        pass


def _pipeline() -> str:
    return subprocess.run(
        ["sh", "-c", "printf 'b\\na\\n' | sort | tr '\\n' ' '"], capture_output=True, check=True, text=True
    ).stdout


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """Each in the workspace or the temporary directory."""
    workspace = os.path.join(where["ground"], "ws")
    return {
        "process-pool": _pool,
        "shared-memory": _shared_memory,
        "fifo": lambda: _fifo(os.path.join(workspace, "fifo")),
        "unix-stream": lambda: _unix_stream(os.path.join(workspace, "stream.sock")),
        "threads": _threads,
        "database": lambda: _database(os.path.join(workspace, "database")),
        "terminal": _terminal,
        "job-control": _job_control,
        "signals": _signals,
        "temporary-folder": _temporary_folder,
        "pipeline": _pipeline,
    }


if __name__ == "__main__":
    report(operations)
