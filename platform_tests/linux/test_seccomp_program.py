"""The compiled filter says what the rules say, for every value on either side of every condition.

The program is run by a small interpreter of classic BPF, so verdicts are compared, never instructions.
"""

import sys

assert sys.platform == "linux"

import errno
import os
import struct
from collections.abc import Iterable, Iterator
from typing import Final

import pytest

from sandboxing.backends.linux.seccomp.compiler import compile_filter
from sandboxing.backends.linux.seccomp.rules import (
    FILTER,
    FILTER_WITHOUT_INTERNET,
    Argument,
    Comparison,
    Refusal,
)

_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_KILL_PROCESS: Final = 0x80000000
_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_AUDIT_ARCH_I386: Final = 0x40000003
_X32_BIT: Final = 0x40000000
_HIGH: Final = 1 << 32


def simulate(program: bytes, number: int, arch: int, arguments: Iterable[int]) -> int:
    """What the kernel would answer: seccomp(2) data, and the subset of BPF that libseccomp emits."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=iIQ6Q", number, arch, 0, *(value & 0xFFFFFFFFFFFFFFFF for value in padded))
    code = list(struct.iter_unpack("=HBBI", program))
    accumulator, at = 0, 0
    while True:
        opcode, on_true, on_false, constant = code[at]
        at += 1
        if opcode == 0x20:  # load a word
            (accumulator,) = struct.unpack_from("=I", data, constant)
        elif opcode == 0x54:  # and
            accumulator &= constant
        elif opcode == 0x05:  # jump
            at += constant
        elif opcode in {0x15, 0x25, 0x35, 0x45}:
            holds = {
                0x15: accumulator == constant,
                0x25: accumulator > constant,
                0x35: accumulator >= constant,
                0x45: bool(accumulator & constant),
            }[opcode]
            at += on_true if holds else on_false
        elif opcode == 0x06:  # return
            return int(constant)
        else:
            raise AssertionError(f"an instruction that this interpreter lacks: {opcode:#x}")


def _values(argument: Argument) -> Iterator[int]:
    if argument.comparison is Comparison.GREATER:
        yield from (argument.value, argument.value + 1, argument.value | _HIGH)
    else:
        yield from (argument.value, argument.value | _HIGH, 0, argument.mask & ~argument.value)


def _holds(argument: Argument, value: int) -> bool:
    if argument.comparison is Comparison.GREATER:
        return value > argument.value
    return value & argument.mask == argument.value


def _expected(rules: tuple[Refusal, ...], call: str, arguments: list[int]) -> set[int]:
    """Every errno that a matching rule asks for; libseccomp may take any of them."""
    return {
        rule.errno
        for rule in rules
        if call in rule.calls and all(_holds(one, arguments[one.index]) for one in rule.arguments)
    }


def _cases(rule: Refusal) -> Iterator[list[int]]:
    cases = [[0] * 6]
    for argument in rule.arguments:
        cases = [
            [*case[: argument.index], value, *case[argument.index + 1 :]]
            for case in cases
            for value in _values(argument)
        ]
    return iter(cases)


@pytest.fixture(scope="module", params=["with loopback", "without internet"])
def compiled(request: pytest.FixtureRequest) -> tuple[tuple[Refusal, ...], bytes]:
    rules = FILTER if request.param == "with loopback" else FILTER_WITHOUT_INTERNET
    return rules, compile_filter(rules)


def _number(call: str) -> int:
    import pyseccomp

    return int(pyseccomp.resolve_syscall(pyseccomp.system_arch(), call))


@pytest.mark.skipif(os.uname().machine not in _AUDIT_ARCH, reason="the test knows two architectures")
def test_every_rule_is_compiled_as_it_reads(compiled: tuple[tuple[Refusal, ...], bytes]) -> None:
    rules, program = compiled
    arch = _AUDIT_ARCH[os.uname().machine]
    compared = 0
    for rule in rules:
        for call in rule.calls:
            number = _number(call)
            if number < 0:
                continue
            for arguments in _cases(rule):
                verdict = simulate(program, number, arch, arguments)
                wanted = _expected(rules, call, arguments)
                if wanted:
                    assert verdict in {_ERRNO | one for one in wanted}, (call, arguments)
                else:
                    assert verdict == _ALLOW, (call, arguments)
                compared += 1
    assert compared > 150


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x32 and i386 exist on x86-64 only")
def test_foreign_numbers_end_the_process(compiled: tuple[tuple[Refusal, ...], bytes]) -> None:
    _, program = compiled
    arch = _AUDIT_ARCH["x86_64"]
    assert simulate(program, number=_number("read"), arch=_AUDIT_ARCH_I386, arguments=()) == _KILL_PROCESS
    assert simulate(program, number=_number("read") | _X32_BIT, arch=arch, arguments=()) == _KILL_PROCESS


def test_what_ordinary_programs_need_is_allowed(compiled: tuple[tuple[Refusal, ...], bytes]) -> None:
    _, program = compiled
    arch = _AUDIT_ARCH.get(os.uname().machine, 0)
    for call in ("read", "write", "execve", "openat", "fchmodat", "ptrace", "mmap", "prlimit64", "clone"):
        assert simulate(program, number=_number(call), arch=arch, arguments=()) == _ALLOW, call


def test_a_planted_fault_is_seen() -> None:
    rules = (Refusal(("bpf",), errno.EPERM, "planted"),)
    program = compile_filter(())
    assert (
        simulate(program, number=_number("bpf"), arch=_AUDIT_ARCH.get(os.uname().machine, 0), arguments=())
        == _ALLOW
    )
    assert _expected(rules, "bpf", [0] * 6) == {errno.EPERM}
