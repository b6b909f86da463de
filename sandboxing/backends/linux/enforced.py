"""What a Linux plan enforces, told rule by rule, with every gap under its name.

It words what the planner did and decides nothing. `planner` calls it, `explain` and reports print what it
makes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sandboxing.backends.linux import tree
from sandboxing.backends.linux.steps import ResourceLimit
from sandboxing.binding.bound import BoundPolicy, BoundRule, FilesystemKind, NetworkMode, PathKind
from sandboxing.contract.capabilities import Capabilities
from sandboxing.contract.enforcement import Caveat, Enforcement, Hold, RuleEnforcement
from sandboxing.policyfile.settings import Limits
from sandboxing.profile.access import AccessMode
from sandboxing.profile.rule_id import RuleId

BACKEND: Final = "linux-namespaces"

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
    "the command keeps uid 0 without any capability: it writes only what root owns, and chown, which tar and "
    "package installers use as root, is refused",
)
NO_SUPERVISOR: Final = Caveat(
    "missing-names",
    "a protected name that does not exist yet is not kept from being created; it is reported after the run",
)
ANY_DEPTH: Final = Caveat(
    "protect-any-depth", "names protected at any depth cannot be held yet, only those at the top of a root"
)
PROCESS_LIMIT: Final = Caveat(
    "process-limit", "the kernel does not count processes against a limit for uid 0; run as an ordinary user"
)
PER_PROCESS: Final = Caveat("per-process", "the limit counts for each process, not for the whole tree")

_PER_PROCESS_LIMITS: Final = frozenset({"AS", "NOFILE", "FSIZE"})


def resource_limits(limits: Limits) -> tuple[ResourceLimit, ...]:
    """The limits that the kernel holds for each process."""
    mib = 1024 * 1024
    wanted = (
        ("NPROC", limits.processes),
        ("AS", limits.memory_mb and limits.memory_mb * mib),
        ("NOFILE", limits.open_files),
        ("FSIZE", limits.file_size_mb and limits.file_size_mb * mib),
    )
    return tuple(ResourceLimit(name=name, value=value) for name, value in wanted if value)


def enforcement_of(
    bound: BoundPolicy,
    held: Iterable[tree.Held],
    losers: Iterable[BoundRule],
    capabilities: Capabilities,
    *,
    abi: int,
    writes_to_host: bool,
) -> Enforcement:
    """What the plan of a policy holds, rule by rule.

    Args:
        bound: the policy.
        held: what became of the deciding rules.
        losers: the rules that decide nothing.
        capabilities: what the host offers.
        abi: the Landlock ABI, 0 when there is none.
        writes_to_host: whether the command can write to any file of the host.
    """
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
    if bound.limits.processes is not None and capabilities.has("root-caller"):
        rows.append(
            RuleEnforcement(
                rule=RuleId(source=bound.name, pointer="/limits/processes"),
                access=AccessMode.DENY,
                bound_to=f"{bound.limits.processes} processes",
                hold=Hold.REFUSED,
                caveats=(PROCESS_LIMIT,),
            )
        )
    caveats = [] if abi >= _ABI_WITH_UNIX_PATHS else [UNIX_SOCKETS]
    if bound.protected_names and writes_to_host and bound.filesystem is FilesystemKind.RESTRICTED:
        caveats.append(NO_SUPERVISOR)
    if capabilities.has("root-caller"):
        caveats.append(ROOT_CALLER)
    if any(limit.name in _PER_PROCESS_LIMITS for limit in resource_limits(bound.limits)):
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
