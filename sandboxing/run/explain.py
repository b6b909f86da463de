"""What a policy means on one machine and what would hold it, as plain data.

It binds and plans as a run would and joins the two, rule by rule; it formats nothing and starts nothing.
`explain` and `check` print what it finds, and every answer about a path is the oracle's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sandboxing.backends.linux.steps import LinuxPlan, ResourceLimit, Tmpfs
from sandboxing.binding.bind import bind_document
from sandboxing.binding.bound import BoundPolicy, BoundRule, Link, PathKind, RuleOrigin, Tier
from sandboxing.binding.decide import DecisionIndex, decide_network
from sandboxing.binding.facts import FileSystemView
from sandboxing.contract.backend import Plan, Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.enforcement import Caveat, Hold, RuleEnforcement
from sandboxing.errors import PlanError, SandboxctlError, SandboxUnavailable
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.entries import Entry, GlobLocation, PathLocation, SpecialKind, SpecialLocation
from sandboxing.profile.permission import ManagedProfile, RestrictedFileSystem
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.environment import command_environment
from sandboxing.run.flow import prepare_document
from sandboxing.run.machine import Machine

MISSING_NAMES: Final = "missing-names"
"""The code of the caveat that a backend gives when it cannot hold protected names that do not exist."""

_LIMITS: Final = (
    ("wall_s", "s", "the whole run"),
    ("memory_mb", "MiB", "address space of each process"),
    ("processes", "", "processes and threads of the sandbox"),
    ("open_files", "", "descriptors of each process"),
    ("file_size_mb", "MiB", "a single file"),
    ("output_mb", "MiB", "output kept"),
    ("tmp_mb", "MiB", "the private /tmp"),
)
"""Each limit with its unit and what it counts for."""

_RLIMITS: Final = {"AS": "memory_mb", "NPROC": "processes", "NOFILE": "open_files", "FSIZE": "file_size_mb"}
"""The limit that each rlimit of a Linux plan holds."""


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """One rule at one place.

    Attributes:
        rule: the origin of the rule.
        access: what it gives.
        written: the place as the policy writes it, such as `~/.ssh`.
        bound_to: the native path, or the pattern; None when the rule has no effect here.
        spelled: the native path before links were resolved; None for a pattern.
        kind: what stands there; None for a pattern.
        origin: why the bound rule exists; None for a pattern and for a rule without an effect.
        tier: whether a deeper grant may re-open it.
        links: the links between `spelled` and `bound_to`.
        reason: why the rule has no effect here, when it has none.
        hold: how well it is held; None when nothing is known, because no plan could be made.
        mechanisms: what holds it, outermost first.
        caveats: the gaps.
    """

    rule: RuleId
    access: AccessMode
    written: str
    bound_to: str | None
    spelled: str | None = None
    kind: PathKind | None = None
    origin: RuleOrigin | None = None
    tier: Tier = Tier.ORDINARY
    links: tuple[Link, ...] = ()
    reason: str | None = None
    hold: Hold | None = None
    mechanisms: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedEnvironment:
    """What becomes of the caller's environment: names only, because values may be secrets.

    Attributes:
        dropped: names of the caller's variables that the command does not get, sorted.
        set: what the policy and the sandbox set, by name.
    """

    dropped: tuple[str, ...]
    set: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExplainedLimit:
    """One resource limit: its key in the policy, value, unit, scope, and what holds it."""

    name: str
    value: float
    unit: str
    scope: str
    mechanisms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A whole policy on one machine.

    Attributes:
        document: the policy.
        bound: the policy on this machine.
        filesystem: its path rules, patterns, and rules without an effect.
        protected: protected names, existing or not, and what stays read-only at any depth.
        network: the network switch.
        environment: what becomes of the environment.
        limits: the limits that are set.
        capabilities: what the host offers; None when it has no backend.
        planned: the plan; None when none could be made.
        refusal: why a run would not start, or None.
    """

    document: PolicyDocument
    bound: BoundPolicy
    filesystem: tuple[ExplainedRule, ...]
    protected: tuple[ExplainedRule, ...]
    network: ExplainedRule
    environment: ExplainedEnvironment
    limits: tuple[ExplainedLimit, ...]
    capabilities: Capabilities | None
    planned: Planned | None
    refusal: SandboxctlError | None


def explain(document: PolicyDocument, machine: Machine, workspace_roots: Sequence[str]) -> Explanation:
    """What `document` means on `machine`, and what would hold it there.

    Args:
        document: the policy.
        machine: the machine.
        workspace_roots: absolute native paths, at least one; the first is the policy cwd.

    Raises:
        BindError: the policy has no meaning on this machine.
    """
    machine = replace(machine, facts=replace(machine.facts, cwd=workspace_roots[0]))
    bound, capabilities, planned, refusal = _prepared(document, machine, workspace_roots)
    rows = _Rows(planned)
    written = _spellings(document)
    filesystem = [*_path_rules(bound, rows, written), *_patterns(bound, rows, written)]
    filesystem += _without_effect(bound, document, rows, written)
    protected = (*_protected(bound, machine.view, rows), *_read_only_patterns(bound, rows))
    network = _network(bound, rows)
    return Explanation(
        document=document,
        bound=bound,
        filesystem=(*filesystem, *rows.rest()),
        protected=protected,
        network=network,
        environment=_environment(bound, machine.environment),
        limits=tuple(_limits(bound, planned)),
        capabilities=capabilities,
        planned=planned,
        refusal=refusal,
    )


def _prepared(
    document: PolicyDocument, machine: Machine, roots: Sequence[str]
) -> tuple[BoundPolicy, Capabilities | None, Planned | None, SandboxctlError | None]:
    """The flow of a run as far as it goes; what a refused run would have planned is still shown."""

    def bind() -> BoundPolicy:
        facts = machine.facts
        return bind_document(
            document, facts=facts, view=machine.view, cwd=facts.cwd, workspace_roots=tuple(roots)
        )

    try:
        host = machine.confining_host()
    except SandboxUnavailable as refusal:
        return bind(), None, None, refusal
    try:
        prepared = prepare_document(
            document, backend=host, facts=machine.facts, view=machine.view, workspace_roots=roots
        )
    except (SandboxUnavailable, PlanError) as refusal:
        bound, capabilities = bind(), host.probe()
        try:
            return bound, capabilities, host.plan(bound, capabilities), refusal
        except (SandboxUnavailable, PlanError):
            return bound, capabilities, None, refusal
    return prepared.bound, prepared.capabilities, prepared.planned, None


class _Rows:
    """The enforcement rows of a plan, each given out once."""

    def __init__(self, planned: Planned | None) -> None:
        enforced = planned.enforcement if planned is not None else None
        caveats = enforced.caveats if enforced is not None else ()
        self.gaps_of_names = tuple(caveat for caveat in caveats if caveat.code == MISSING_NAMES)
        self._waiting: defaultdict[tuple[RuleId, str], list[RuleEnforcement]] = defaultdict(list)
        for row in enforced.rules if enforced is not None else ():
            self._waiting[row.rule, row.bound_to].append(row)

    def join(self, rule: ExplainedRule, bound_to: str) -> ExplainedRule:
        """The rule with what the plan says of it."""
        waiting = self._waiting[rule.rule, bound_to]
        row = next((row for row in waiting if row.access is rule.access), None)
        if row is None:
            return rule
        waiting.remove(row)
        return replace(rule, hold=row.hold, mechanisms=row.mechanisms, caveats=row.caveats)

    def rest(self) -> Iterator[ExplainedRule]:
        """What the plan says of things that binding does not know; nothing of it may get lost."""
        for row in (row for rows in self._waiting.values() for row in rows):
            rule = ExplainedRule(
                rule=row.rule, access=row.access, written=row.bound_to, bound_to=row.bound_to
            )
            yield replace(rule, hold=row.hold, mechanisms=row.mechanisms, caveats=row.caveats)


def _spellings(document: PolicyDocument) -> Mapping[RuleId, str]:
    """How the document writes the place of each of its entries."""
    entries = _entries(document)
    return {rule: written_place(entry) for entry, rule in entries}


def _entries(document: PolicyDocument) -> tuple[tuple[Entry, RuleId], ...]:
    ordinary: tuple[Entry, ...] = ()
    match document.profile:
        case ManagedProfile(file_system=RestrictedFileSystem(entries=entries)):
            ordinary = entries
        case _:
            pass
    return (
        *zip(ordinary, document.entry_rules, strict=False),
        *zip(document.sealed, document.sealed_rules, strict=True),
    )


def written_place(entry: Entry) -> str:
    """The place of an entry in the words of a policy's author; symbols start with a colon."""
    match entry.path:
        case PathLocation(path=path):
            return path.text
        case GlobLocation() as glob:
            below = glob.project_subpattern
            return glob.pattern if below is None else f":workspace_roots/{below}"
        case SpecialLocation(value=value):
            if value.kind is SpecialKind.PROJECT_ROOTS:
                return f":workspace_roots/{value.subpath}" if value.subpath else ":workspace_roots"
            return value.path or f":{value.kind.value}"


def _path_rules(bound: BoundPolicy, rows: _Rows, written: Mapping[RuleId, str]) -> Iterator[ExplainedRule]:
    for rule in bound.rules:
        if rule.origin is not RuleOrigin.PROTECTED_NAME:
            yield rows.join(_at_path(rule, written.get(rule.rule, rule.spelled)), rule.path)


def _at_path(rule: BoundRule, written: str) -> ExplainedRule:
    return ExplainedRule(
        rule=rule.rule,
        access=rule.access,
        written=written,
        bound_to=rule.path,
        spelled=rule.spelled,
        kind=rule.kind,
        origin=rule.origin,
        tier=rule.tier,
        links=rule.links,
    )


def _patterns(bound: BoundPolicy, rows: _Rows, written: Mapping[RuleId, str]) -> Iterator[ExplainedRule]:
    for glob in bound.globs:
        rule = ExplainedRule(
            rule=glob.rule,
            access=AccessMode.DENY,
            written=written.get(glob.rule, glob.pattern),
            bound_to=glob.pattern,
            tier=glob.tier,
        )
        yield rows.join(rule, glob.pattern)


def _without_effect(
    bound: BoundPolicy, document: PolicyDocument, rows: _Rows, written: Mapping[RuleId, str]
) -> Iterator[ExplainedRule]:
    access = {rule: entry.access for entry, rule in _entries(document)}
    for unbound in bound.unbound:
        rule = ExplainedRule(
            rule=unbound.rule,
            access=AccessMode.READ,
            written=written.get(unbound.rule, unbound.rule.pointer),
            bound_to=None,
            reason=unbound.reason,
        )
        # the row of such a rule has no place, and its access is not the rule's own
        joined = rows.join(rule, unbound.reason)
        yield replace(joined, access=access.get(unbound.rule, joined.access), hold=Hold.NOT_APPLICABLE)


def _protected(bound: BoundPolicy, view: FileSystemView, rows: _Rows) -> Iterator[ExplainedRule]:
    """Protected names below each writable rule: those that exist, then those that the oracle alone holds."""
    for rule in bound.rules:
        if rule.origin is RuleOrigin.PROTECTED_NAME:
            yield rows.join(_at_path(rule, bound.dialect.base_name(rule.spelled)), rule.path)
    index = DecisionIndex(bound)
    names = dict(zip(bound.protected_rules, bound.protected_names, strict=False))
    for root in dict.fromkeys(rule.path for rule in bound.rules if _may_get_names(rule)):
        for origin, name in names.items():
            path = bound.dialect.join(root, name)
            decision = index.decide(Access.WRITE, path)
            if view.kind(path) is PathKind.MISSING and decision.rule == origin and decision.mode.can_read:
                missing = ExplainedRule(
                    rule=origin,
                    access=AccessMode.READ,
                    written=name,
                    bound_to=path,
                    spelled=path,
                    kind=PathKind.MISSING,
                    origin=RuleOrigin.PROTECTED_NAME,
                )
                gaps = rows.gaps_of_names
                yield replace(missing, hold=Hold.CAVEAT if gaps else None, caveats=gaps)


def _may_get_names(rule: BoundRule) -> bool:
    directory = rule.kind is PathKind.DIRECTORY
    return rule.access.can_write and directory and rule.origin is not RuleOrigin.PRIVATE_TMP


def _read_only_patterns(bound: BoundPolicy, rows: _Rows) -> Iterator[ExplainedRule]:
    for glob in bound.read_only_globs:
        rule = ExplainedRule(
            rule=glob.rule, access=AccessMode.READ, written=glob.pattern, bound_to=glob.pattern
        )
        yield rows.join(rule, glob.pattern)


def _network(bound: BoundPolicy, rows: _Rows) -> ExplainedRule:
    access = decide_network(bound).mode
    rule = ExplainedRule(rule=bound.network_rule, access=access, written="network", bound_to="network")
    return rows.join(rule, "network")


def _environment(bound: BoundPolicy, caller: Mapping[str, str]) -> ExplainedEnvironment:
    environment = command_environment(bound, caller)
    return ExplainedEnvironment(
        dropped=tuple(sorted(caller.keys() - environment.keys())),
        set=tuple(sorted((name, value) for name, value in environment.items() if caller.get(name) != value)),
    )


def _limits(bound: BoundPolicy, planned: Planned | None) -> Iterator[ExplainedLimit]:
    held = dict(_held_limits(None if planned is None else planned.plan))
    if planned is not None:
        held |= dict.fromkeys(("wall_s", "output_mb"), "ended by the runner")
    for name, unit, scope in _LIMITS:
        value: float | None = getattr(bound.limits, name)
        if value is not None:
            mechanisms = (held[name],) if name in held else ()
            yield ExplainedLimit(name=name, value=value, unit=unit, scope=scope, mechanisms=mechanisms)


def _held_limits(plan: Plan | None) -> Iterator[tuple[str, str]]:
    if not isinstance(plan, LinuxPlan):
        return
    for step in plan.steps:
        match step:
            case ResourceLimit(name=name) if name in _RLIMITS:
                yield _RLIMITS[name], f"rlimit {name}"
            case Tmpfs(size_mb=size) if size:
                yield "tmp_mb", "tmpfs size"
            case _:
                pass
