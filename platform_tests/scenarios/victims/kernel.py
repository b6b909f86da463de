"""Victim: system calls that no confined command has any business with, made as plainly as can be.

Arguments are chosen so that the kernel itself would answer something else than the filter does; where that
needs a privilege, the errno of an unprivileged caller is the answer outside.
"""

import sys

assert sys.platform == "linux"

import ctypes
import mmap
import os
import pty
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Final

from platform_tests.scenarios.victims.reporting import Operation, attempt, report

_HIGH_BITS: Final = 1 << 32
_BAD_ADDRESS: Final = 1
_CLONE_NEWUSER: Final = 0x10000000
_TIOCSTI: Final = 0x5412
_CWD: Final = (1 << 64) - 100  # AT_FDCWD, include/uapi/linux/fcntl.h
_X32_BIT: Final = 0x40000000

# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
_NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {
    "x86_64": {
        "getpid": 39, "socket": 41, "socketpair": 53, "clone": 56, "ioctl": 16, "mount": 165,
        "umount2": 166, "add_key": 248, "keyctl": 250, "unshare": 272, "setns": 308, "bpf": 321,
        "userfaultfd": 323, "perf_event_open": 298, "io_uring_setup": 425, "open_tree": 428, "fsopen": 430,
        "clone3": 435, "openat": 257, "fchmodat": 268, "openat2": 437, "ptrace": 101,
    },
    "aarch64": {
        "getpid": 172, "socket": 198, "socketpair": 199, "clone": 220, "ioctl": 29, "mount": 40,
        "umount2": 39, "add_key": 217, "keyctl": 219, "unshare": 97, "setns": 268, "bpf": 280,
        "userfaultfd": 282, "perf_event_open": 241, "io_uring_setup": 425, "open_tree": 428, "fsopen": 430,
        "clone3": 435, "openat": 56, "fchmodat": 53, "openat2": 437, "ptrace": 117,
    },
}  # fmt: skip


def call(name: str, *arguments: int) -> int:
    """Make a system call with whole machine words, so that no library narrows an argument."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    number = _NUMBERS[os.uname().machine][name]
    result: int = library.syscall(ctypes.c_long(number), *(ctypes.c_ulong(value) for value in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def _plain(name: str, *arguments: int) -> Operation:
    def make() -> None:
        call(name, *arguments)

    return make


def _socket(family: int, kind: int) -> Operation:
    def make() -> None:
        os.close(call("socket", family, kind, 0))

    return make


def _pair(family: int, kind: int) -> Operation:
    def make() -> None:
        numbers = (ctypes.c_int * 2)()
        call("socketpair", family, kind, 0, ctypes.addressof(numbers))
        for number in numbers:
            os.close(number)

    return make


def _io_uring() -> None:
    parameters = ctypes.create_string_buffer(120)
    os.close(call("io_uring_setup", 1, ctypes.addressof(parameters)))


def _fork() -> tuple[int, int | None]:
    return os.fork(), None


def in_child(work: Operation, fork: Callable[[], tuple[int, int | None]] = _fork) -> Operation:
    """Do it in a child, and tell what it met, or which signal killed it."""

    def make() -> str | None:
        read_end, write_end = os.pipe()
        pid, terminal = fork()
        if pid == 0:
            os.write(write_end, attempt(work).encode())
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            answer = pipe.read()
        status = os.waitpid(pid, 0)[1]
        if terminal is not None:
            os.close(terminal)
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status)).name
        return None if answer == "ok" else answer

    return make


def _type_into_terminal(request: int) -> Operation:
    def make() -> None:
        text = ctypes.create_string_buffer(b"x")
        call("ioctl", 0, request, ctypes.addressof(text))

    return in_child(make, pty.fork)


def _thread_keyring() -> None:
    call("keyctl", 0, (1 << 64) - 1, 1)  # KEYCTL_GET_KEYRING_ID of the thread's own, made when missing


def _x32_getpid() -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    result = library.syscall(ctypes.c_long(_X32_BIT | _NUMBERS["x86_64"]["getpid"]))
    if result < 0:
        raise OSError(ctypes.get_errno(), "x32 getpid")
    return True


def _int80_getpid() -> bool:
    # mov eax, 20 (getpid of i386); int 0x80; ret
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return bool(ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid())


def _ordinary() -> dict[str, Operation]:
    return {
        "io_uring_setup": _io_uring,
        "bpf": _plain("bpf", 9999, 0, 0),
        "userfaultfd": _plain("userfaultfd", 1 << 30),
        "perf_event_open": _plain("perf_event_open", _BAD_ADDRESS, 0, 0, 0, 0),
        "keyctl": in_child(_thread_keyring),
        "add_key": _plain("add_key", _BAD_ADDRESS, _BAD_ADDRESS, 0, 0, 0),
        "mount": _plain("mount", _BAD_ADDRESS, _BAD_ADDRESS, _BAD_ADDRESS, 0, 0),
        "open_tree": _plain("open_tree", _CWD, _BAD_ADDRESS, 0),
        "fsopen": _plain("fsopen", _BAD_ADDRESS, 0),
        "umount2": _plain("umount2", _BAD_ADDRESS, 1 << 20),
        "setns": _plain("setns", 9999, 0),
        "clone3": _plain("clone3", _BAD_ADDRESS, 1),
        "unshare-user": in_child(_plain("unshare", _CLONE_NEWUSER)),
        "unshare-files": in_child(_plain("unshare", 0x400)),
        "clone-user": in_child(_clone(flags=_CLONE_NEWUSER)),
        "clone-plain": in_child(_clone(flags=0)),
        "ptrace-child": in_child(_plain("ptrace", 0)),
        "tiocsti": _type_into_terminal(_TIOCSTI),
        "tiocsti-high-bits": _type_into_terminal(_TIOCSTI | _HIGH_BITS),
    }


def _clone(*, flags: int) -> Operation:
    def make() -> None:
        pid = call("clone", flags | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    return make


def _sockets() -> dict[str, Operation]:
    stream, datagram, raw = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
    unix, inet = socket.AF_UNIX, socket.AF_INET
    return {
        "netlink": _socket(socket.AF_NETLINK, datagram),
        "netlink-raw": _socket(socket.AF_NETLINK, raw),
        "netlink-high-bits": _socket(socket.AF_NETLINK | _HIGH_BITS, datagram),
        "vsock": _socket(socket.AF_VSOCK, stream),
        "alg": _socket(socket.AF_ALG, socket.SOCK_SEQPACKET),
        "packet": _socket(socket.AF_PACKET, datagram),
        "raw": _socket(inet, raw),
        "unix-datagram": _socket(unix, datagram),
        "unix-datagram-flags": _socket(unix, datagram | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK),
        "unix-datagram-high-bits": _socket(unix | _HIGH_BITS, datagram),
        "unix-datagram-high-type": _socket(unix, datagram | _HIGH_BITS),
        "unix-stream": _socket(unix, stream),
        "unix-seqpacket": _socket(unix, socket.SOCK_SEQPACKET),
        "unix-datagram-pair": _pair(unix, datagram),
        "unix-datagram-pair-high-bits": _pair(unix | _HIGH_BITS, datagram),
        "unix-stream-pair": _pair(unix, stream),
        "inet-stream": _socket(inet, stream),
        "inet-datagram": _socket(inet, datagram),
        "inet6-stream": _socket(socket.AF_INET6, stream),
        "inet-high-bits": _socket(inet | _HIGH_BITS, stream),
    }


def _set_id(folder: str) -> dict[str, Operation]:
    setuid, setgid = 0o4755, 0o2755
    file, creating = os.path.join(folder, "file"), os.O_CREAT | os.O_WRONLY

    def path(name: str) -> "ctypes.Array[ctypes.c_char]":
        return ctypes.create_string_buffer(os.fsencode(os.path.join(folder, name)))

    def opening(name: str, number: str, *arguments: int) -> Operation:
        def make() -> None:
            text = path(name)
            os.close(call(number, _CWD, ctypes.addressof(text), *arguments))

        return make

    def changing(name: str, mode: int) -> Operation:
        def make() -> None:
            text = path(name)
            call("fchmodat", _CWD, ctypes.addressof(text), mode)

        return make

    return {
        "chmod-ordinary": lambda: os.chmod(file, 0o755),
        "chmod-sticky": lambda: os.chmod(file, 0o1755),
        "open-ordinary": lambda: os.close(os.open(os.path.join(folder, "plain"), creating, 0o755)),
        "chmod-setuid": lambda: os.chmod(file, setuid),
        "chmod-setgid": lambda: os.chmod(file, setgid),
        "chmod-high-bits": changing("file", setuid | _HIGH_BITS),
        "fchmod-setuid": lambda: _fchmod(file, setuid),
        "fchmodat-setuid": changing("file", setuid),
        "open-setuid": lambda: os.close(os.open(os.path.join(folder, "a"), creating, setuid)),
        "openat-setgid": opening("b", "openat", creating, setgid),
        "creat-setuid": opening("c", "openat", creating | os.O_TRUNC, setuid),
        "unnamed-setuid": opening(".", "openat", os.O_TMPFILE | os.O_WRONLY, setuid),
        "mknod-setuid": lambda: os.mknod(os.path.join(folder, "d"), 0o100000 | setuid),
        "openat2": opening("file", "openat2", _BAD_ADDRESS, 0),
    }


def _fchmod(path: str, mode: int) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def operations(where: Mapping[str, str]) -> Mapping[str, Operation]:
    """What `group` names: `calls`, `sockets`, `set-id`, or `foreign` numbers of other system-call tables."""
    match where["group"]:
        case "calls":
            return _ordinary()
        case "sockets":
            return _sockets()
        case "set-id":
            return _set_id(where["folder"])
        case _:
            return {"x32": in_child(_x32_getpid), "int80": in_child(_int80_getpid)}


if __name__ == "__main__":
    report(operations)
