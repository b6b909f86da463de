"""Every error that leaves this package, with a stable code, a one-line message and a separate hint.

    SandboxctlError
    |-- PathError              a path or a path URI cannot be used
    |-- PolicyError            a policy file is wrong: file, JSON pointer, line, column
    |-- BindError              intent that cannot be bound to this machine
    |-- PlanError              a plan that would not do what the policy says
    |-- SandboxUnavailable     this host cannot hold what the policy demands
    |-- SetupFailed            a setup step failed while the sandbox was being built
    `-- LaunchFailed           the sandbox stood, the program could not be started

Lower floors raise, they never log and never print; wording for people is added by the command line.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class SandboxctlError(Exception):
    """Base of the hierarchy.

    Attributes:
        code: stable identifier, safe to match on.
        message: one line, lower case, ``cannot <verb> `<object>`: <cause>``.
        hint: what the reader can do about it, or None.
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class PathError(SandboxctlError):
    """A path or path URI that is malformed, relative, or foreign to this host."""

    code = "path-invalid"


class PolicyError(SandboxctlError):
    """A policy document that cannot be accepted, with the place in it.

    Attributes:
        file: the name the document was read under.
        pointer: RFC 6901 JSON pointer of the offending value ("" is the document).
        line: 1-based line, or None when the document has no text.
        column: 1-based column in characters, or None.
    """

    code = "policy-invalid"

    def __init__(
        self,
        message: str,
        *,
        file: str,
        pointer: str,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.pointer = pointer
        self.line = line
        self.column = column

    @property
    def position(self) -> str:
        """`file:line:column` as compilers print it, shortened where a part is unknown."""
        if self.line is None:
            return self.file
        if self.column is None:
            return f"{self.file}:{self.line}"
        return f"{self.file}:{self.line}:{self.column}"


class BindError(SandboxctlError):
    """Intent that has no meaning on this machine, such as a foreign path or a missing policy cwd."""

    code = "bind-failed"


class PlanError(SandboxctlError):
    """A plan whose own answer differs from the policy's, and which does not list the difference."""

    code = "plan-diverges"


class SandboxUnavailable(SandboxctlError):
    """A demand that this host cannot hold; the hint is the least change that would cure it."""

    code = "sandbox-unavailable"


class SetupFailed(SandboxctlError):
    """A setup step failed; never to be reported as the command's own exit.

    Attributes:
        step: the name of the failing step.
        errno: the error number the kernel answered, or None.
    """

    code = "setup-failed"

    def __init__(self, message: str, *, step: str, errno: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.step = step
        self.errno = errno


class LaunchFailure(StrEnum):
    """Why a program could not be started, in the terms of env(1) and the exec-server protocol."""

    NOT_FOUND = "not-found"
    NOT_EXECUTABLE = "not-executable"
    BAD_CWD = "bad-cwd"
    OTHER = "other"


class LaunchFailed(SandboxctlError):
    """The sandbox stood, but the program in it could not be started.

    Attributes:
        failure: the class of failure.
        errno: the error number of the failing call.
    """

    code = "launch-failed"

    def __init__(self, message: str, *, failure: LaunchFailure, errno: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.failure = failure
        self.errno = errno
