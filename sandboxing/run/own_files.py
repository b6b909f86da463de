"""The sandbox's own program and the policy in use, kept from being changed by the command.

A tool installed below the workspace would else be the command's way out: what it writes there runs outside at
the next start. A rule of the author's at exactly such a path overrides this one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace

import sandboxing
from sandboxing.binding.bound import BoundPolicy, BoundRule, FilesystemKind, PathKind, RuleOrigin
from sandboxing.binding.decide import DecisionIndex
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.profile.access import AccessMode
from sandboxing.profile.rule_id import RuleId

OWN_FILES = RuleId(
    source="built-in",
    pointer="own-files",
    why="What confines the next command is not for this one to change.",
)


def program_places() -> tuple[str, ...]:
    """Where the running program's code lies: its package, and its environment when that is a virtual one."""
    package = os.path.dirname(os.path.abspath(sandboxing.__file__))
    environment = (sys.prefix,) if sys.prefix != sys.base_prefix else ()
    return (package, *environment)


def policy_places(document: PolicyDocument) -> tuple[str, ...]:
    """The files that a policy was read from, its bases included; shipped ones lie with the program."""
    sources = {document.file, *(rule.source for rule in document.entry_rules)}
    return tuple(sorted(os.path.abspath(source) for source in sources if os.path.isfile(source)))


def keep_own_files(bound: BoundPolicy, places: Iterable[str]) -> BoundPolicy:
    """The policy with a read rule for each place that it would let the command write."""
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return bound
    oracle = DecisionIndex(bound)
    named = {rule.path for rule in bound.rules}
    added = [
        BoundRule(
            rule=OWN_FILES,
            access=AccessMode.READ,
            path=place,
            spelled=place,
            kind=PathKind.DIRECTORY if os.path.isdir(place) else PathKind.FILE,
        )
        for place in sorted({os.path.realpath(place) for place in places})
        if place not in named and oracle.ruling(place).mode.can_write and _is_below_a_root(bound, place)
    ]
    return replace(bound, rules=tuple(sorted((*bound.rules, *added), key=_order))) if added else bound


def _is_below_a_root(bound: BoundPolicy, place: str) -> bool:
    """Whether a rule narrower than the whole disk lets it be written; a whole-disk grant means this too."""
    return any(
        rule.access is AccessMode.WRITE
        and rule.path != os.sep
        and rule.origin is not RuleOrigin.PRIVATE_TMP
        and bound.dialect.is_within(place, rule.path)
        for rule in bound.rules
    )


def _order(rule: BoundRule) -> tuple[str, int]:
    return rule.path, rule.access.strength
