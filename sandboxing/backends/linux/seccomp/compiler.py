"""Compile refusals to classic BPF with libseccomp, for this machine's architecture.

libseccomp adds what is easy to forget: the architecture check, and the death of x32 and i386 numbers.
Called once per plan; the result travels in the plan.
"""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Final

from sandboxing.backends.linux.seccomp.rules import Argument, Comparison, Refusal
from sandboxing.backends.linux.syscalls.libc import can_load
from sandboxing.errors import SandboxUnavailable, SetupFailed

LIBRARY: Final = "libseccomp.so.2"
"""The file name of libseccomp's only ABI so far."""


def compile_filter(refusals: Iterable[Refusal]) -> bytes:
    """The BPF program, 8 bytes an instruction.

    Raises:
        SandboxUnavailable: libseccomp is not installed.
    """
    try:
        import pyseccomp  # noqa: PLC0415 - it looks for the C library when imported
    except (ImportError, RuntimeError, OSError) as error:
        if can_load(LIBRARY):
            # the binding looks for the library with other programs, which need processes and memory
            raise SetupFailed(f"cannot load `{LIBRARY}`: {error}", step="seccomp-compile") from error
        raise SandboxUnavailable(
            "cannot compile `seccomp filter`: libseccomp is not installed",
            hint="install the system library libseccomp (libseccomp2 on Debian and Ubuntu)",
        ) from error
    program = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    program.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    for refusal in refusals:
        conditions = [_condition(pyseccomp, argument) for argument in refusal.arguments]
        for call in _known_calls(pyseccomp, refusal.calls):
            program.add_rule(pyseccomp.ERRNO(refusal.errno), call, *conditions)
    # memory, not a temporary file: a kill at the wrong moment would leave that behind
    with os.fdopen(os.memfd_create("seccomp-filter"), "w+b") as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()


def _known_calls(pyseccomp: ModuleType, calls: Iterable[str]) -> Iterator[str]:
    """The names that this libseccomp and this architecture have; a call nobody can make needs no rule."""
    for call in calls:
        if pyseccomp.resolve_syscall(pyseccomp.system_arch(), call) >= 0:
            yield call


def _condition(pyseccomp: ModuleType, argument: Argument) -> object:
    # the kernel truncates these arguments to 32 bits, so the high half must not decide
    match argument.comparison:
        case Comparison.GREATER:
            return pyseccomp.Arg(argument.index, pyseccomp.GT, argument.value)
        case Comparison.EQUAL | Comparison.MASKED_EQUAL:
            return pyseccomp.Arg(argument.index, pyseccomp.MASKED_EQ, argument.mask, argument.value)
