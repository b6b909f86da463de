"""The Linux planner: a bound policy and a host's capabilities become an ordered plan.

Pure and deterministic, on every operating system. It refuses what the host cannot hold, and it compares
its own plan with the oracle before it lets go of it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sandboxing.backends.linux import tree
from sandboxing.backends.linux.simulate import PlanView
from sandboxing.backends.linux.steps import (
    Bind,
    DropPrivileges,
    EmptyRoot,
    EnterRoot,
    HostRoot,
    Landlock,
    LandlockRule,
    LinuxPlan,
    LoopbackUp,
    Namespace,
    ResourceLimit,
    Seccomp,
    Step,
    Tmpfs,
    Writability,
    encode_plan,
)
from sandboxing.binding.bound import (
    BoundPolicy,
    BoundRule,
    FilesystemKind,
    Loopback,
    NetworkMode,
    PathKind,
)
from sandboxing.binding.boundaries import probe_paths
from sandboxing.binding.decide import DecisionIndex
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.enforcement import Caveat, Enforcement, Hold, RuleEnforcement
from sandboxing.contract.launch import LaunchSpec
from sandboxing.errors import PlanError, SandboxUnavailable
from sandboxing.policyfile.settings import Limits
from sandboxing.profile.access import Access, AccessMode

BACKEND: Final = "linux-namespaces"
SANDBOX_TYPE: Final = "linuxSeccomp"
"""The wire's name for a Linux sandbox, whatever holds it."""

DEFAULT_TMP_MB: Final = 0
"""No limit of our own: the kernel stops a tmpfs at half of the memory."""

UNIX_SOCKETS: Final = Caveat(
    "unix-sockets",
    "a socket of the host whose path is visible can be connected to: neither mounts nor this kernel's "
    "Landlock stop it",
)
LATE_GLOBS: Final = Caveat(
    "appears-later", "a file that comes to match during the run is not covered; matches at the start are"
)
ROOT_CALLER: Final = Caveat(
    "uid-0",
    "the command keeps uid 0 without any capability: it writes as the caller only what root owns",
)
NO_SUPERVISOR: Final = Caveat(
    "missing-names",
    "a protected name that does not exist yet is not kept from being created; it is reported after the run",
)
ANY_DEPTH: Final = Caveat(
    "protect-any-depth", "names protected at any depth cannot be held yet, only those at the top of a root"
)
PER_PROCESS: Final = Caveat("per-process", "the limit counts for each process, not for the whole tree")

_PER_PROCESS_LIMITS: Final = frozenset({"AS", "NOFILE", "FSIZE"})


@dataclass(frozen=True, slots=True)
class CompiledFilter:
    """A seccomp program ready to be loaded."""

    name: str
    machine: str
    program: bytes


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters a plan can choose from.

    Attributes:
        ordinary: what every confined command gets.
        without_internet: the same without Internet sockets of any kind.
    """

    ordinary: CompiledFilter
    without_internet: CompiledFilter

    def choose(self, bound: BoundPolicy) -> CompiledFilter:
        """The filter that holds what the policy says of the network."""
        restricted = bound.network is NetworkMode.RESTRICTED
        return self.without_internet if restricted and bound.loopback is Loopback.NONE else self.ordinary


def plan_linux(bound: BoundPolicy, capabilities: Capabilities, filters: Filters, *, abi: int) -> Planned:
    """Plan `bound` for this host.

    Args:
        bound: the policy.
        capabilities: what the host offers.
        filters: the compiled system-call filters.
        abi: the Landlock ABI, 0 when there is none.

    Raises:
        SandboxUnavailable: the host lacks something that every plan needs.
        PlanError: the plan's answer differs from the oracle's in a way that no caveat names.
    """
    _require(capabilities)
    chosen = filters.choose(bound)
    builder = tree.TreeBuilder(tmp_mb=bound.limits.tmp_mb or DEFAULT_TMP_MB)
    winners, losers = tree.effective_rules(bound.rules)
    base = _base(bound, winners.get("/"))
    builder.areas["/"] = _base_area(base)
    if isinstance(base, EmptyRoot):
        builder.seals.append("/")
    host_devices = isinstance(base, HostRoot) and base.devices
    tree.build_tree(builder, winners, losers, host_devices=host_devices)
    network = (LoopbackUp(),) if bound.network is NetworkMode.RESTRICTED else ()
    steps: tuple[Step, ...] = (
        base,
        *builder.steps,
        EnterRoot(),
        *network,
        *_limits(bound.limits),
        DropPrivileges(),
        *_landlock(bound, builder.steps, base, abi=abi),
        Seccomp(
            machine=chosen.machine,
            name=chosen.name,
            program=base64.b64encode(chosen.program).decode("ascii"),
        ),
    )
    plan = LinuxPlan(namespaces=_namespaces(bound), steps=steps)
    _compare_with_oracle(bound, plan, builder.held)
    encoded = encode_plan(plan)
    return Planned(
        plan=plan,
        enforcement=_enforcement(bound, builder.held, losers, capabilities, abi=abi),
        launch=LaunchSpec(
            backend=BACKEND,
            digest=hashlib.sha256(encoded).hexdigest(),
            steps=encoded,
            sandbox_type=SANDBOX_TYPE,
        ),
    )


def _require(capabilities: Capabilities) -> None:
    for feature in capabilities.missing:
        raise SandboxUnavailable(
            f"cannot build `{BACKEND} sandbox`: {feature.name} missing ({feature.detail})",
            hint=feature.cure,
        )


def _namespaces(bound: BoundPolicy) -> tuple[Namespace, ...]:
    return tuple(
        namespace
        for namespace in Namespace
        if namespace is not Namespace.NETWORK or bound.network is NetworkMode.RESTRICTED
    )


def _base(bound: BoundPolicy, root: BoundRule | None) -> HostRoot | EmptyRoot:
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return HostRoot(writability=Writability.WRITABLE, devices=True)
    if root is None or root.access is AccessMode.DENY:
        return EmptyRoot()
    if root.access is AccessMode.WRITE:
        return HostRoot(writability=Writability.WRITABLE, devices=False)
    return HostRoot(writability=Writability.READ_ONLY, devices=False)


def _base_area(base: HostRoot | EmptyRoot) -> tree.Area:
    if isinstance(base, EmptyRoot):
        return tree.Area.OWN_EMPTY
    if base.writability is Writability.WRITABLE:
        return tree.Area.HOST_WRITABLE
    return tree.Area.HOST_READ_ONLY


def _limits(limits: Limits) -> tuple[ResourceLimit, ...]:
    mib = 1024 * 1024
    wanted = (
        ("NPROC", limits.processes),
        ("AS", limits.memory_mb and limits.memory_mb * mib),
        ("NOFILE", limits.open_files),
        ("FSIZE", limits.file_size_mb and limits.file_size_mb * mib),
    )
    return tuple(ResourceLimit(name=name, value=value) for name, value in wanted if value)


def _landlock(
    bound: BoundPolicy, steps: Iterable[Step], base: HostRoot | EmptyRoot, *, abi: int
) -> tuple[Landlock, ...]:
    if abi == 0:
        return ()
    scopes = bound.filesystem is FilesystemKind.RESTRICTED or bound.network is NetworkMode.RESTRICTED
    if isinstance(base, HostRoot) and base.writability is Writability.WRITABLE:
        # Landlock can only add rights below a path, so there is nothing to say under a writable root
        return (Landlock(abi=abi, rules=(), scopes=scopes),)
    writable = [
        step.path
        for step in steps
        if (isinstance(step, Bind) and step.writability is Writability.WRITABLE and step.rule != "pin")
        or (isinstance(step, Tmpfs) and step.mode & 0o222)
    ]
    rules = (
        LandlockRule(path="/", writability=Writability.READ_ONLY),
        *(
            LandlockRule(path=path, writability=Writability.WRITABLE)
            for path in dict.fromkeys(("/dev", "/proc", *writable))
        ),
    )
    return (Landlock(abi=abi, rules=rules, scopes=scopes),)


def _compare_with_oracle(bound: BoundPolicy, plan: LinuxPlan, held: Iterable[tree.Held]) -> None:
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return
    index = DecisionIndex(bound)
    view = PlanView(plan)
    excused = {path for row in held if row.caveats for path in (row.rule.path, row.rule.spelled)}
    for path in probe_paths(bound):
        got = view.mode(path)
        if got is None:
            continue
        may_read = index.decide(Access.READ, path)
        may_write = index.decide(Access.WRITE, path)
        same = may_read.allowed == got.can_read and may_write.allowed == got.can_write
        if same or excused & {path, *tree.upwards(path)} or _missing_protected(bound, path):
            continue
        raise PlanError(
            f"cannot plan `{path}`: the policy says {_words(may_read.allowed, may_write.allowed)}, "
            f"the mounts say {_words(got.can_read, got.can_write)}",
            hint="this is a fault of the planner; please report the policy",
        )


def _words(may_read: bool, may_write: bool) -> str:  # noqa: FBT001 - two facts, no choice
    return "write" if may_write else ("read" if may_read else "nothing")


def _missing_protected(bound: BoundPolicy, path: str) -> bool:
    names = frozenset(bound.protected_names)
    return any(part.rpartition("/")[2] in names for part in (path, *tree.upwards(path)))


def _enforcement(
    bound: BoundPolicy,
    held: Iterable[tree.Held],
    losers: Iterable[BoundRule],
    capabilities: Capabilities,
    *,
    abi: int,
) -> Enforcement:
    rows = [_row(one, abi=abi) for one in held]
    rows += [
        RuleEnforcement(
            rule=rule.rule,
            access=rule.access,
            bound_to=rule.path,
            hold=Hold.NOT_APPLICABLE,
            mechanisms=("another rule decides here",),
        )
        for rule in losers
    ]
    rows += [
        RuleEnforcement(
            rule=glob.rule,
            access=AccessMode.DENY,
            bound_to=glob.pattern,
            hold=Hold.CAVEAT,
            mechanisms=("mask on each match",),
            caveats=(LATE_GLOBS,),
        )
        for glob in bound.globs
    ]
    rows += [
        RuleEnforcement(
            rule=glob.rule,
            access=AccessMode.READ,
            bound_to=glob.pattern,
            hold=Hold.REFUSED,
            caveats=(ANY_DEPTH,),
        )
        for glob in bound.read_only_globs
    ]
    rows += [
        RuleEnforcement(
            rule=unbound.rule,
            access=AccessMode.READ,
            bound_to=unbound.reason,
            hold=Hold.NOT_APPLICABLE,
        )
        for unbound in bound.unbound
    ]
    rows.append(_network_row(bound))
    caveats = [] if abi >= _ABI_WITH_UNIX_PATHS else [UNIX_SOCKETS]
    if bound.protected_names and bound.filesystem is FilesystemKind.RESTRICTED:
        caveats.append(NO_SUPERVISOR)
    if capabilities.has("root-caller"):
        caveats.append(ROOT_CALLER)
    if any(limit.name in _PER_PROCESS_LIMITS for limit in _limits(bound.limits)):
        caveats.append(PER_PROCESS)
    return Enforcement(
        backend=BACKEND,
        rules=tuple(rows),
        caveats=tuple(caveats),
        hardening=_hardening(abi=abi),
        missing_hardening=tuple(
            Caveat(feature.name, feature.detail)
            for feature in capabilities.features
            if not feature.available
            and feature.name not in {f.name for f in capabilities.missing}
            and feature.name != "root-caller"
        ),
    )


_ABI_WITH_UNIX_PATHS: Final = 9
"""Landlock can refuse connects to pathname sockets from here on (LANDLOCK_ACCESS_FS_RESOLVE_UNIX)."""


def _row(one: tree.Held, *, abi: int) -> RuleEnforcement:
    mechanisms = one.mechanisms
    restricts = one.rule.access is not AccessMode.WRITE
    if abi and restricts and "read-only mount" in mechanisms:
        mechanisms = (*mechanisms, "landlock")
    missing = one.rule.kind is PathKind.MISSING and not mechanisms
    hold = Hold.CAVEAT if one.caveats else Hold.ENFORCED
    if missing and one.rule.access is AccessMode.WRITE:
        hold = Hold.NOT_APPLICABLE
    return RuleEnforcement(
        rule=one.rule.rule,
        access=one.rule.access,
        bound_to=one.rule.path,
        hold=hold,
        mechanisms=mechanisms,
        caveats=one.caveats,
    )


def _network_row(bound: BoundPolicy) -> RuleEnforcement:
    restricted = bound.network is NetworkMode.RESTRICTED
    return RuleEnforcement(
        rule=bound.network_rule,
        access=AccessMode.DENY if restricted else AccessMode.WRITE,
        bound_to="network",
        hold=Hold.ENFORCED,
        mechanisms=("own network namespace", "seccomp") if restricted else ("host network",),
    )


def _hardening(*, abi: int) -> tuple[str, ...]:
    return (
        "own pid, ipc, uts and cgroup namespaces",
        "no capabilities, no new privileges",
        "inherited descriptors closed",
        "seccomp filter",
        *((f"landlock abi {abi}",) if abi else ()),
    )
