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
from sandboxing.backends.linux.enforced import BACKEND, enforcement_of, resource_limits
from sandboxing.backends.linux.gaps import EXPLAINS_A_DIFFERENCE
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
    Mask,
    Namespace,
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
    RuleOrigin,
)
from sandboxing.binding.boundaries import probe_paths
from sandboxing.binding.decide import DecisionIndex
from sandboxing.contract.backend import Planned
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.launch import LaunchSpec
from sandboxing.errors import PlanError, SandboxUnavailable
from sandboxing.profile.access import AccessMode

SANDBOX_TYPE: Final = "linuxSeccomp"
"""The wire's name for a Linux sandbox, whatever holds it."""

DEFAULT_TMP_MB: Final = 0
"""No limit of our own: the kernel stops a tmpfs at half of the memory."""


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
    builder = tree.TreeBuilder(
        tmp_mb=bound.limits.tmp_mb or DEFAULT_TMP_MB, globs={glob.rule: glob for glob in bound.globs}
    )
    oracle = DecisionIndex(bound)
    winners, losers = tree.effective_rules(bound.rules, oracle)
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
        *resource_limits(bound.limits),
        DropPrivileges(),
        *_landlock(bound, builder.steps, base, abi=abi),
        Seccomp(
            machine=chosen.machine,
            name=chosen.name,
            program=base64.b64encode(chosen.program).decode("ascii"),
        ),
    )
    plan = LinuxPlan(namespaces=_namespaces(bound), steps=steps)
    _compare_with_oracle(bound, plan, builder.held, oracle)
    encoded = encode_plan(plan)
    return Planned(
        plan=plan,
        enforcement=enforcement_of(
            bound, builder.held, losers, capabilities, abi=abi, writes_to_host=_writes_to_host(steps)
        ),
        launch=LaunchSpec(
            backend=BACKEND,
            digest=hashlib.sha256(encoded).hexdigest(),
            steps=encoded,
            sandbox_type=SANDBOX_TYPE,
            host_paths=tuple(step.path for step in builder.steps if isinstance(step, Bind | Mask)),
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


def _compare_with_oracle(
    bound: BoundPolicy, plan: LinuxPlan, held: Iterable[tree.Held], oracle: DecisionIndex
) -> None:
    if bound.filesystem is not FilesystemKind.RESTRICTED:
        return
    view = PlanView(plan)
    excused = {
        path
        for row in held
        if any(caveat.code in EXPLAINS_A_DIFFERENCE for caveat in row.caveats)
        for path in (row.rule.path, row.rule.spelled)
    }
    globs = {glob.rule for glob in (*bound.globs, *bound.read_only_globs)}
    matched = {rule.path for rule in bound.rules if rule.origin is RuleOrigin.GLOB_MATCH}
    for path in probe_paths(bound):
        got = view.mode(path)
        if got is None:
            continue
        said = oracle.ruling(path)
        if said.mode is got or excused & {path, *tree.upwards(path)} or _missing_protected(bound, path):
            continue
        if said.rule in globs and not matched & {path, *tree.upwards(path)}:
            continue  # a name at which nothing stood, and a mask needs something to cover
        raise PlanError(
            f"cannot plan `{path}`: the policy says {said.mode}, the mounts say {got}",
            hint="this is a fault of the planner; please report the policy",
        )


def _missing_protected(bound: BoundPolicy, path: str) -> bool:
    names = frozenset(bound.protected_names)
    return any(part.rpartition("/")[2] in names for part in (path, *tree.upwards(path)))


def _writes_to_host(steps: Iterable[Step]) -> bool:
    return any(
        isinstance(step, Bind | HostRoot) and step.writability is Writability.WRITABLE for step in steps
    )
