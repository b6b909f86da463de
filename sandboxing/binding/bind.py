"""bind: from intent to BoundPolicy, on the machine that will hold it.

It gives every symbol, glob and link the meaning it has here, and sees the machine through HostFacts and a
FileSystemView alone. It never decides what wins; `decide` does. `run` and the exec server call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sandboxing.binding.bound import (
    BoundGlob,
    BoundPolicy,
    BoundRule,
    FilesystemKind,
    NetworkMode,
    Tier,
    UnboundRule,
)
from sandboxing.binding.drafts import Drafts, draft_entries
from sandboxing.binding.facts import FileSystemView, HostFacts, LinkResolver
from sandboxing.binding.matches import expand_globs
from sandboxing.binding.protect import protected_children
from sandboxing.binding.settle import PRIVATE_TMP_RULE, keep_tmp_private, refuse_widening, settle
from sandboxing.binding.symbols import ForeignPathError, Scope, is_dynamic
from sandboxing.errors import BindError, PathError
from sandboxing.paths.native import PathDialect
from sandboxing.paths.uri import PathUri
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.settings import (
    DEFAULT_PROTECT,
    EnvironmentRules,
    Limits,
    ProtectPreset,
    TmpPlacement,
)
from sandboxing.profile.access import AccessMode
from sandboxing.profile.context import SandboxContext
from sandboxing.profile.entries import Entry, SpecialKind, special
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
)
from sandboxing.profile.rule_id import RuleId

WIRE: Final = "wire"
"""The source of the rules of a remote caller's context."""

_PRESETS: Final = {
    # Hooks, and the settings that name programs which git runs by itself; the same for submodules.
    ProtectPreset.GIT_HOOKS: (
        "**/.git/hooks",
        "**/.git/config",
        "**/.git/modules/**/hooks",
        "**/.git/modules/**/config",
    ),
}


@dataclass(frozen=True, slots=True)
class PolicyExtras:
    """What a policy says beside its profile; the defaults are what a bare wire profile gets.

    Attributes:
        network_rule: where the network switch was set; None is the profile's own member.
        filesystem_rule: where the regime of the file system was set; None is the profile's own member.
        sealed: denies that no grant re-opens, with their origins.
        protect: names and presets that stay read-only below writable rules.
        protect_rules: the origin of each of them; empty for the built-in names.
        tmp: which directory is `/tmp` inside.
        environment: how the environment is made.
        limits: resource limits.
        degrade: rule classes that may be held less strictly.
    """

    network_rule: RuleId | None = None
    filesystem_rule: RuleId | None = None
    sealed: tuple[tuple[Entry, RuleId], ...] = ()
    protect: tuple[str, ...] = DEFAULT_PROTECT
    protect_rules: tuple[RuleId, ...] = ()
    tmp: TmpPlacement = TmpPlacement.HOST
    environment: EnvironmentRules = field(default_factory=EnvironmentRules)
    limits: Limits = field(default_factory=Limits)
    degrade: frozenset[str] = frozenset()


def bind_profile(
    profile: PermissionProfile,
    *,
    name: str,
    entry_rules: tuple[RuleId, ...],
    facts: HostFacts,
    view: FileSystemView,
    cwd: str,
    workspace_roots: tuple[str, ...],
    extras: PolicyExtras | None = None,
) -> BoundPolicy:
    """What a profile means here.

    Args:
        profile: the intent.
        name: the policy's display name.
        entry_rules: the origin of each entry of a restricted profile, in the same order.
        facts: the facts of this machine.
        view: its file system.
        cwd: the policy cwd, absolute and native.
        workspace_roots: what `project_roots` stands for, absolute and native; none grants nothing.
        extras: what the policy says beside its profile.

    Raises:
        BindError: a path that this machine cannot spell, links in a circle, a glob that cannot be searched,
            sealed rules beside a profile that holds no files, or a rule that a link would subvert.
    """
    dialect = facts.dialect
    extras = extras or PolicyExtras()
    cwd = _absolute(cwd, dialect, what="policy cwd")
    roots = tuple(dict.fromkeys(_absolute(root, dialect, what="workspace root") for root in workspace_roots))
    regime, entries = _regime(profile, entry_rules, name=name, extras=extras)
    policy = BoundPolicy(
        name=name,
        filesystem=regime,
        rules=(),
        network=_network(profile),
        network_rule=extras.network_rule or RuleId(source=name, pointer="/network"),
        cwd=cwd,
        workspace_roots=roots,
        environment=extras.environment,
        limits=extras.limits,
        degrade=extras.degrade,
        dialect=dialect,
    )
    if regime is not FilesystemKind.RESTRICTED:
        return policy if extras.tmp is TmpPlacement.HOST else replace(policy, unbound=(_HOST_TMP,))
    protection = _protection(extras)
    policy = replace(
        policy,
        tmp=extras.tmp,
        protected_names=tuple(protection.names),
        protected_rules=tuple(protection.names.values()),
    )
    scope = Scope(facts=facts, cwd=cwd, workspace_roots=roots, tmpdirs=_present(facts.tmpdir))
    drafts = draft_entries(entries, scope, tier=Tier.ORDINARY, tmp=extras.tmp)
    drafts += draft_entries(extras.sealed, scope, tier=Tier.SEALED, tmp=extras.tmp)
    policy = _settled(policy, drafts, view, max_depth=_scan_depth(profile))
    policy = replace(policy, read_only_globs=_anywhere_writable(protection.patterns, policy))
    children = protected_children(policy, view, LinkResolver(view, dialect))
    return replace(policy, rules=_sorted(policy.rules + children, dialect))


def bind_document(
    document: PolicyDocument,
    *,
    facts: HostFacts,
    view: FileSystemView,
    cwd: str,
    workspace_roots: tuple[str, ...] = (),
) -> BoundPolicy:
    """What a policy document means here; without workspace roots the policy cwd is the one root.

    Raises:
        BindError: as for `bind_profile`.
    """
    return bind_profile(
        document.profile,
        name=document.name,
        entry_rules=document.entry_rules,
        facts=facts,
        view=view,
        cwd=cwd,
        workspace_roots=workspace_roots or (cwd,),
        extras=PolicyExtras(
            network_rule=document.network_rule,
            filesystem_rule=document.filesystem_rule,
            sealed=tuple(zip(document.sealed, document.sealed_rules, strict=True)),
            protect=document.protect,
            protect_rules=document.protect_rules,
            tmp=document.tmp,
            environment=document.environment,
            limits=document.limits,
            degrade=document.degrade,
        ),
    )


def bind_context(
    context: SandboxContext, *, facts: HostFacts, view: FileSystemView, command_cwd: str | None
) -> BoundPolicy:
    """What a remote caller's sandbox context means here, with the reference's defaults and no more.

    The policy cwd is the context's, else the command's, else (for file requests, which have no command)
    `facts.cwd`, unless the profile would mean something else in another directory.

    Args:
        context: the wire object.
        facts: the facts of this machine; the context's home wins over its own.
        view: its file system.
        command_cwd: the cwd of `process/start`, absolute and native, or None for a file request.

    Raises:
        BindError: as for `bind_profile`; the text for a foreign path and for a missing cwd is the wire's.
    """
    entries = _entries(context.permissions)
    given = context.effective_cwd
    if given is not None:
        cwd = _from_wire(given, facts)
    elif command_cwd is not None:
        cwd = command_cwd
    elif any(is_dynamic(entry, dialect=facts.dialect) for entry in entries):
        raise BindError("file system sandbox context with dynamic permissions requires cwd")
    else:
        cwd = facts.cwd
    if context.user_home_dir is not None:
        facts = replace(facts, home=_from_wire(context.user_home_dir, facts))
    pointer = "/permissions/file_system/entries"
    try:
        return bind_profile(
            context.permissions,
            name=WIRE,
            entry_rules=tuple(RuleId(source=WIRE, pointer=f"{pointer}/{at}") for at in range(len(entries))),
            facts=facts,
            view=view,
            cwd=cwd,
            workspace_roots=tuple(_from_wire(root, facts) for root in context.effective_workspace_roots),
            extras=PolicyExtras(
                network_rule=RuleId(source=WIRE, pointer="/permissions/network"),
            ),
        )
    except ForeignPathError as refusal:
        raise _unusable(refusal.cause) from refusal


_HOST_TMP: Final = UnboundRule(
    rule=PRIVATE_TMP_RULE, reason="the policy does not restrict files, so `/tmp` is the host's"
)


def _settled(
    policy: BoundPolicy, drafts: Drafts, view: FileSystemView, *, max_depth: int | None
) -> BoundPolicy:
    """The policy with the rules that drafts lead to."""
    dialect = policy.dialect
    resolver = LinkResolver(view, dialect)
    homes = [resolver.resolve(home) for home in (policy.cwd, *policy.workspace_roots)]
    settled = settle(drafts.rules, resolver)
    unbound = drafts.unbound + settled.unbound
    if policy.tmp is TmpPlacement.PRIVATE:
        settled = keep_tmp_private(settled.rules, resolver, dialect=dialect)
        unbound += settled.unbound
    settled = refuse_widening(
        settled.rules,
        workspaces=[home.path for home in homes],
        trusted=[link for home in homes for link in home.links],
        policy=policy,
    )
    unbound += settled.unbound
    expanded = expand_globs(
        drafts.globs,
        view,
        resolver,
        dialect=dialect,
        max_depth=max_depth,
        homes=[home.path for home in homes],
    )
    return replace(
        policy,
        rules=_sorted(settled.rules + expanded.rules, dialect),
        globs=tuple(sorted(expanded.globs, key=lambda glob: (glob.pattern, str(glob.rule), glob.tier))),
        unbound=unbound + expanded.unbound,
    )


def _sorted(rules: Iterable[BoundRule], dialect: PathDialect) -> tuple[BoundRule, ...]:
    """By place, a directory before what is in it, then by access; the rest makes the order total."""

    def rank(rule: BoundRule) -> tuple[object, ...]:
        origin = (rule.origin.value, rule.tier.value, rule.rule.source, rule.rule.pointer, rule.spelled)
        return dialect.components(rule.path), rule.access.strength, *origin

    return tuple(sorted(rules, key=rank))


def _regime(
    profile: PermissionProfile, entry_rules: tuple[RuleId, ...], *, name: str, extras: PolicyExtras
) -> tuple[FilesystemKind, tuple[tuple[Entry, RuleId], ...]]:
    """The regime and its entries; sealed denies turn an unrestricted file system into a writable root."""
    if not isinstance(profile, ManagedProfile):
        if extras.sealed:
            cause = f"its `{profile.type}` profile leaves the sealed rules to nobody"
            raise BindError(f"cannot bind `{name}`: {cause}", hint="write a `managed` profile")
        disabled = isinstance(profile, DisabledProfile)
        return (FilesystemKind.UNRESTRICTED if disabled else FilesystemKind.EXTERNAL), ()
    if isinstance(profile.file_system, RestrictedFileSystem):
        return FilesystemKind.RESTRICTED, tuple(zip(profile.file_system.entries, entry_rules, strict=True))
    if not extras.sealed:
        return FilesystemKind.UNRESTRICTED, ()
    rule = extras.filesystem_rule or RuleId(source=name, pointer="/file_system")
    return FilesystemKind.RESTRICTED, ((special(SpecialKind.ROOT, AccessMode.WRITE), rule),)


def _network(profile: PermissionProfile) -> NetworkMode:
    match profile:
        case ManagedProfile(network=switch) | ExternalProfile(network=switch):
            return NetworkMode.ENABLED if switch is NetworkSwitch.ENABLED else NetworkMode.RESTRICTED
        case DisabledProfile():
            return NetworkMode.ENABLED


@dataclass(frozen=True, slots=True)
class _Protection:
    """What `protect` says: names, each once, and what presets protect at any depth."""

    names: Mapping[str, RuleId]
    patterns: tuple[tuple[str, RuleId], ...]


def _protection(extras: PolicyExtras) -> _Protection:
    rules = extras.protect_rules or tuple(
        RuleId(source="built-in", pointer=f"protected-names/{name}") for name in extras.protect
    )
    presets = {preset.value: patterns for preset, patterns in _PRESETS.items()}
    names: dict[str, RuleId] = {}
    patterns: list[tuple[str, RuleId]] = []
    for name, rule in zip(extras.protect, rules, strict=True):
        if name in presets:
            patterns.extend((pattern, rule) for pattern in presets[name])
        else:
            names.setdefault(name, rule)
    return _Protection(names=names, patterns=tuple(patterns))


def _anywhere_writable(
    patterns: tuple[tuple[str, RuleId], ...], policy: BoundPolicy
) -> tuple[BoundGlob, ...]:
    """Patterns from the root of each file tree that has a writable rule; they narrow writes only."""
    dialect = policy.dialect
    anchors = sorted({dialect.components(rule.path)[0] for rule in policy.rules if rule.access.can_write})
    return tuple(
        BoundGlob(rule=rule, pattern=anchor + pattern.replace("/", dialect.separator))
        for anchor in anchors
        for pattern, rule in patterns
    )


def _entries(profile: PermissionProfile) -> tuple[Entry, ...]:
    match profile:
        case ManagedProfile(file_system=RestrictedFileSystem(entries=entries)):
            return entries
        case _:
            return ()


def _scan_depth(profile: PermissionProfile) -> int | None:
    match profile:
        case ManagedProfile(file_system=RestrictedFileSystem(glob_scan_max_depth=depth)):
            return depth
        case _:
            return None


def _absolute(path: str, dialect: PathDialect, *, what: str) -> str:
    try:
        return dialect.normalise(path)
    except PathError as refusal:
        raise BindError(f"cannot bind {what} `{path}`: {refusal.message}", hint=refusal.hint) from refusal


def _present(path: str | None) -> tuple[str, ...]:
    return () if path is None else (path,)


def _from_wire(uri: PathUri, facts: HostFacts) -> str:
    try:
        return uri.to_native(facts.dialect.convention, host_label=facts.host_label)
    except PathError as refusal:
        raise _unusable(refusal.message) from refusal


def _unusable(cause: str) -> BindError:
    """The wire's own sentence, which clients know."""
    return BindError(f"invalid sandbox permission path: {cause}")
