"""PolicyDocument: a policy with its bases merged, and the origin of every rule.

It owns the decoded form that `bind` reads; it holds no host knowledge and no symbols are resolved in it.
`decode` makes it, binding, `check`, `diff` and `explain` read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sandboxing.policyfile.model import PolicyFile
from sandboxing.policyfile.settings import EnvironmentRules, Limits, NetworkRules, PolicyTest, TmpPlacement
from sandboxing.profile.entries import Entry
from sandboxing.profile.permission import PermissionProfile
from sandboxing.profile.rule_id import RuleId


class DocumentKind(StrEnum):
    """Which of the two formats a document was written in."""

    POLICY_FILE = "policy-file"
    WIRE_PROFILE = "wire-profile"


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """Everything a policy says, decoded.

    Attributes:
        kind: the format of the text; a wire profile gets none of the defaults of a policy file.
        name: the policy's display name.
        description: what it is for, possibly "".
        file: the name under which the text was read.
        text: the text itself, without its bases.
        profile: the profile, with the entries of the bases first.
        entry_rules: the origin of each entry of `profile`, in the same order; none for other regimes.
        sealed: denies that no grant re-opens.
        sealed_rules: the origin of each sealed entry, in the same order.
        network_rule: where the network switch was set.
        filesystem_rule: where the regime of the file system was set.
        network: what the managed network lets out, or None when no managed network is wanted.
        environment: how the command's environment is made.
        limits: resource limits.
        protect: names and presets that stay read-only below writable rules.
        protect_rules: the origin of each of them, in the same order.
        degrade: rule classes that may be held less strictly.
        tmp: which directory the command sees as its temporary directory.
        tests: promises of the document itself; those of its bases are not inherited.
        merged: the same policy as one policy file without a base, or None for a wire profile.
    """

    kind: DocumentKind
    name: str
    description: str
    file: str
    text: str = field(repr=False)
    profile: PermissionProfile
    entry_rules: tuple[RuleId, ...]
    sealed: tuple[Entry, ...]
    sealed_rules: tuple[RuleId, ...]
    network_rule: RuleId
    filesystem_rule: RuleId
    network: NetworkRules | None
    environment: EnvironmentRules
    limits: Limits
    protect: tuple[str, ...]
    protect_rules: tuple[RuleId, ...]
    degrade: frozenset[str]
    tmp: TmpPlacement
    tests: tuple[PolicyTest, ...]
    merged: PolicyFile | None = field(repr=False)
