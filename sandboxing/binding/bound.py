"""BoundPolicy: what a profile means on this machine, as native absolute paths.

It holds no symbols and no host handles, and every rule keeps its RuleId. `bind` makes it; `decide`,
the planners and `explain` read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.settings import EnvironmentRules, Limits, TmpPlacement
from sandboxing.profile.access import AccessMode
from sandboxing.profile.rule_id import RuleId


class PathKind(StrEnum):
    """What stood at a path when the policy was bound."""

    DIRECTORY = "directory"
    FILE = "file"
    OTHER = "other"
    MISSING = "missing"


class RuleOrigin(StrEnum):
    """Why a bound rule exists."""

    ENTRY = "entry"
    GLOB_MATCH = "glob-match"
    PLATFORM_DEFAULT = "platform-default"
    PROTECTED_NAME = "protected-name"
    PRIVATE_TMP = "private-tmp"


class Tier(StrEnum):
    """Whether a more specific grant may re-open a deny."""

    ORDINARY = "ordinary"
    SEALED = "sealed"


class FilesystemKind(StrEnum):
    """The three filesystem regimes of the wire profile."""

    RESTRICTED = "restricted"
    UNRESTRICTED = "unrestricted"
    EXTERNAL = "external-sandbox"


class NetworkMode(StrEnum):
    """The network switch of the wire profile."""

    RESTRICTED = "restricted"
    ENABLED = "enabled"


class Loopback(StrEnum):
    """What is left of the Internet protocols when the network is restricted."""

    OWN = "own"
    """A loopback interface of the sandbox's own: servers under test can be reached, nothing else can."""
    NONE = "none"
    """No Internet socket at all, as the reference's restricted network answers."""


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link crossed while resolving a rule's path.

    Attributes:
        path: the link's own absolute path, its parents resolved.
        target: the text of the link.
    """

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class BoundRule:
    """One rule, at one native path.

    Attributes:
        rule: the origin of the rule.
        access: what the rule gives.
        path: absolute native path with links resolved as far as the path exists.
        spelled: the absolute native path as the policy names it.
        kind: what stands at `path`.
        origin: why the rule exists.
        tier: whether a deeper grant may re-open it.
        links: the links between `spelled` and `path`, in the order they were crossed.
        skip_missing: whether the author wants nothing held in place while `path` is missing. The oracle
            counts the rule all the same.
    """

    rule: RuleId
    access: AccessMode
    path: str
    spelled: str
    kind: PathKind
    origin: RuleOrigin = RuleOrigin.ENTRY
    tier: Tier = Tier.ORDINARY
    links: tuple[Link, ...] = ()
    skip_missing: bool = False


@dataclass(frozen=True, slots=True)
class BoundGlob:
    """A glob with absolute pattern; its matches at bind time are separate rules.

    Attributes:
        rule: the origin of the rule.
        pattern: absolute native glob; `*` and `?` stay in one component, `**` spans components.
        tier: whether a deeper grant may re-open a match.
    """

    rule: RuleId
    pattern: str
    tier: Tier = Tier.ORDINARY


@dataclass(frozen=True, slots=True)
class UnboundRule:
    """A rule that binds to nothing here, with the reason in words."""

    rule: RuleId
    reason: str


@dataclass(frozen=True, slots=True)
class BoundPolicy:
    """A whole policy on this machine.

    Attributes:
        name: the policy's display name.
        filesystem: the filesystem regime.
        rules: every path rule, sorted by (path, access), duplicates kept.
        globs: deny globs, also for files that appear later.
        protected_names: names that stay read-only directly below each writable rule.
        network: the network switch.
        network_rule: where the switch was set.
        tmp: which directory is `/tmp` inside.
        cwd: the policy cwd, which symbols resolve against.
        workspace_roots: the workspace roots.
        unbound: rules without an effect here.
        environment: how the environment is made.
        limits: resource limits.
        degrade: rule classes the author allows to be held less strictly.
        dialect: how native paths are spelled here.
        protected_rules: where each protected name comes from, in the order of `protected_names`.
        loopback: what a restricted network leaves.
        read_only_globs: what stays read-only at any depth, existing or not; matches are not expanded.
    """

    name: str
    filesystem: FilesystemKind
    rules: tuple[BoundRule, ...]
    network: NetworkMode
    network_rule: RuleId
    cwd: str
    workspace_roots: tuple[str, ...]
    globs: tuple[BoundGlob, ...] = ()
    protected_names: tuple[str, ...] = ()
    tmp: TmpPlacement = TmpPlacement.HOST
    unbound: tuple[UnboundRule, ...] = ()
    environment: EnvironmentRules = field(default_factory=EnvironmentRules)
    limits: Limits = field(default_factory=Limits)
    degrade: frozenset[str] = frozenset()
    dialect: PathDialect = PathDialect.POSIX
    protected_rules: tuple[RuleId, ...] = ()
    read_only_globs: tuple[BoundGlob, ...] = ()
    loopback: Loopback = Loopback.OWN
