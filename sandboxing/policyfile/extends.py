"""What a policy file and its base mean together.

It owns the merge of two documents that are valid by themselves; it never reads text and never loads a
base. `decode` calls it once per level of `extends`.

Entries and sealed entries of the base come first and the child's follow: the deepest path decides, so
order has no meaning, and a child cannot lose a deny of its base by accident. Blocks are replaced key by
key, and maps inside them (`domains`, `unix_sockets`, `set`) name by name. Lists are replaced whole.
`tests` are not inherited: they are promises of one document, and a child may well grant more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from sandboxing.errors import SandboxctlError
from sandboxing.policyfile.model import (
    Block,
    DisabledBlock,
    ExternalBlock,
    ManagedBlock,
    PolicyFile,
    ProfileBlock,
    RestrictedBlock,
)

MAX_CHAIN = 8
"""Documents in one chain of bases. Nobody can keep the sum of more in mind, and it bounds the reading."""

_BlockT = TypeVar("_BlockT", bound=Block)


class BaseUnavailable(SandboxctlError):
    """A base that cannot be had: unknown, unreadable, or part of a cycle.

    A loader of bases raises it with the cause as its message; `decode` turns it into a PolicyError at the
    `extends` key of the child.
    """

    code = "policy-base-unavailable"


@dataclass(frozen=True, slots=True)
class MergeFault:
    """Why a child cannot be put on its base.

    Attributes:
        pointer: the place in the child.
        cause: ends the sentence "cannot extend `base`: ...".
        hint: what to write instead.
    """

    pointer: str
    cause: str
    hint: str


def merge(base: PolicyFile, child: PolicyFile) -> PolicyFile | MergeFault:
    """The child on top of its base, as one document without a base."""
    profile = _profile(base.profile, child.profile)
    if isinstance(profile, MergeFault):
        return profile
    return child.model_copy(
        update={
            "extends": None,
            "description": child.description or base.description,
            "profile": profile,
            "network": _block(base.network, child.network),
            "environment": _block(base.environment, child.environment),
            "limits": _block(base.limits, child.limits),
            "sealed": _joined(base.sealed, child.sealed),
            "protect": base.protect if child.protect is None else child.protect,
            "degrade": base.degrade if child.degrade is None else child.degrade,
            "tmp": child.tmp or base.tmp,
        }
    )


def _profile(base: ProfileBlock | None, child: ProfileBlock | None) -> ProfileBlock | MergeFault | None:
    if base is None or child is None:
        return base if child is None else child
    if isinstance(base, ManagedBlock) and isinstance(child, ManagedBlock):
        return _managed(base, child)
    if isinstance(base, ExternalBlock) and isinstance(child, ExternalBlock):
        return _overlaid(base, child)
    if isinstance(base, DisabledBlock) and isinstance(child, DisabledBlock):
        return _overlaid(base, child)
    return MergeFault("/profile/type", f"its profile is `{base.type}`", f"write `{base.type}`")


def _managed(base: ManagedBlock, child: ManagedBlock) -> ManagedBlock | MergeFault:
    """A child of another regime would drop every deny of its base without a word, so it is refused."""
    lower, upper = base.file_system, child.file_system
    if lower.type != upper.type:
        hint = f"write `{lower.type}`, or do without the base"
        return MergeFault("/profile/file_system/type", f"its file system is `{lower.type}`", hint)
    if isinstance(lower, RestrictedBlock) and isinstance(upper, RestrictedBlock):
        upper = _overlaid(lower, upper).model_copy(update={"entries": lower.entries + upper.entries})
    return _overlaid(base, child).model_copy(update={"file_system": upper})


def _block(base: _BlockT | None, child: _BlockT | None) -> _BlockT | None:
    if base is None or child is None:
        return base if child is None else child
    return _overlaid(base, child)


def _overlaid(base: _BlockT, child: _BlockT) -> _BlockT:
    """The base with every key that the child has; maps name by name, the child's new names last."""
    said: dict[str, object] = {}
    for name in type(child).model_fields:
        lower, upper = getattr(base, name), getattr(child, name)
        if isinstance(lower, Mapping) and isinstance(upper, Mapping):
            said[name] = {**lower, **upper}
        elif upper is not None:
            said[name] = upper
    return base.model_copy(update=said)


def _joined(
    base: tuple[_BlockT, ...] | None, child: tuple[_BlockT, ...] | None
) -> tuple[_BlockT, ...] | None:
    if base is None or child is None:
        return base if child is None else child
    return base + child
