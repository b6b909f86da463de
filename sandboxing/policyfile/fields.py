"""The scalar values of a policy file: one annotated type per kind of text or number.

It owns the checks of a single value and their wording; it knows no objects and no documents. The models
are made of these types, and `refusal` is how any of them says no.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sandboxing.policyfile import strict_paths
from sandboxing.policyfile.settings import ProtectPreset
from sandboxing.policyfile.spelling import NEARLY_EQUAL, closest
from sandboxing.profile.access import AccessMode

SCHEMA_VERSION = 1
"""The version of the format, apart from the version of the package. It changes when a document that was
accepted would mean something else."""

LARGEST_COUNT = 2**40
"""Bound of every count; as MiB it still fits the signed 64 bits of a kernel's limits as bytes."""

LONGEST_RUN_S = 1_000_000_000
"""Bound of the wall time, in seconds (31 years); timers of event loops overflow far above it."""


def refusal(cause: str, *, hint: str | None = None, key: str | None = None) -> PydanticCustomError:
    """The error of a single value, in the terms that `diagnose` turns into a PolicyError.

    Args:
        cause: ends the sentence "cannot accept `x`: ...".
        hint: what to write instead.
        key: the member of the validated object that is at fault, when it is not the object itself.
    """
    return PydanticCustomError("refused", "{cause}", {"cause": cause, "hint": hint, "key": key})


def _checked(find: Callable[[str], strict_paths.Fault | None]) -> Callable[[str], str]:
    def check(text: str) -> str:
        fault = find(text)
        if fault is not None:
            raise refusal(fault.cause, hint=fault.hint)
        return strict_paths.without_final_separator(text)

    return check


def _version(value: object) -> object:
    """True and 1.0 equal 1 in Python, and are no version."""
    if type(value) is not int or value != SCHEMA_VERSION:
        raise refusal(f"this release reads version {SCHEMA_VERSION}", hint=f"write `{SCHEMA_VERSION}`")
    return value


def _socket_path(text: str) -> str:
    fault = strict_paths.path_fault(text)
    if fault is not None:
        raise refusal(fault.cause, hint=fault.hint)
    if strict_paths.without_final_separator(text) != text:
        raise refusal("a socket is not a directory", hint="drop the separator at the end")
    return text


def _access_spelling(value: object) -> object:
    """The wire's older word for deny is still read; it is written back as `deny`."""
    return AccessMode.DENY if value == "none" else value


def _policy_name(text: str) -> str:
    if text.startswith(":"):
        raise refusal("a name that starts with `:` is reserved", hint=f"call it `{text.lstrip(':')}`")
    if not text.isprintable():
        raise refusal("a name is one line of printable characters")
    return text


def _protected(text: str) -> str:
    presets = tuple(preset.value for preset in ProtectPreset)
    if text in presets:
        return text
    if text in (".", "..") or any(character in text for character in "/\\*?\0"):
        cause = "it is neither a preset nor a single file name"
        raise refusal(
            cause, hint="a name holds directly below each writable rule; for one path write an entry"
        )
    # `.githooks` and `hooks` are names that people use; only what looks like a preset can be a slip.
    near = closest(text, presets, at_least=NEARLY_EQUAL)
    if near is not None and "-" in text and not text.startswith("."):
        raise refusal("unknown preset", hint=f"did you mean `{near}`?")
    return text


def _variable_name(text: str) -> str:
    if text == "" or any(character in text for character in "=\0"):
        raise refusal("it cannot be the name of a variable")
    return text


def _variable_value(text: str) -> str:
    if "\0" in text:
        raise refusal("it contains a NUL character")
    return text


def _host_pattern(text: str) -> str:
    if text == "" or any(character.isspace() or character in "/@" for character in text):
        raise refusal(
            "it is not a host pattern", hint="write `example.com`, `*.example.com` or `**.example.com`"
        )
    return text


Text = Annotated[str, Field(strict=True)]
Words = Annotated[Text, Field(min_length=1)]
Why = Annotated[Words, Field(description="The reason for the rule, shown with every denial.")]
Mode = Annotated[AccessMode, BeforeValidator(_access_spelling)]
RulePath = Annotated[Text, AfterValidator(_checked(strict_paths.path_fault))]
SocketPath = Annotated[Text, AfterValidator(_socket_path)]
RuleGlob = Annotated[Text, AfterValidator(_checked(strict_paths.glob_fault))]
Subpath = Annotated[Text, AfterValidator(_checked(strict_paths.subpath_fault))]
TestPath = Annotated[Text, AfterValidator(_checked(strict_paths.test_path_fault))]
PolicyName = Annotated[Words, Field(max_length=100), AfterValidator(_policy_name)]
Protected = Annotated[Words, AfterValidator(_protected)]
RuleClass = Annotated[Text, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]
NamePattern = Annotated[Words, AfterValidator(_variable_value)]
VariableName = Annotated[Text, AfterValidator(_variable_name)]
VariableValue = Annotated[Text, AfterValidator(_variable_value)]
HostPattern = Annotated[Text, AfterValidator(_host_pattern)]
Port = Annotated[int, Field(strict=True, ge=1, le=65535)]
Count = Annotated[int, Field(strict=True, ge=1, le=LARGEST_COUNT)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=LONGEST_RUN_S)]
OnOff = Annotated[bool, Field(strict=True)]
Switch = Literal["restricted", "enabled"]
Version = Annotated[Literal[1], BeforeValidator(_version)]
