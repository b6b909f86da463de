"""What tests of binding are about: short spellings of entries, a machine, and policies bound on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandboxing.binding.bind import PolicyExtras, bind_profile
from sandboxing.binding.bound import BoundPolicy, RuleOrigin
from sandboxing.binding.facts import HostFacts
from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.settings import TmpPlacement
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry
from sandboxing.profile.permission import ManagedProfile, RestrictedFileSystem
from sandboxing.profile.rule_id import RuleId
from tests.fakes.filesystem import Directory, InMemoryView, Node

READ, WRITE, DENY = AccessMode.READ, AccessMode.WRITE, AccessMode.DENY

FACTS = HostFacts(
    dialect=PathDialect.POSIX,
    cwd="/srv",
    home="/home/u",
    slash_tmp="/tmp",
    platform_read_roots=("/usr", "/bin", "/opt/none"),
)

PRIVATE = PolicyExtras(tmp=TmpPlacement.PRIVATE)


def entry(place: str, access: AccessMode, *, skip: bool = False) -> Entry:
    """One entry: `:symbol`, `:roots/sub`, `glob PATTERN`, or a path."""
    path: dict[str, object]
    if place.startswith("glob "):
        path = {"type": "glob_pattern", "pattern": place.removeprefix("glob ")}
    elif place.startswith(":"):
        kind, _, below = place[1:].partition("/")
        value: dict[str, object] = {"kind": "project_roots" if kind == "roots" else kind}
        if below:
            value["subpath"] = below
        if kind == "unknown":
            value["path"] = ":new"
        path = {"type": "special", "value": value}
    else:
        path = {"type": "path", "path": place}
    raw: dict[str, object] = {"path": path, "access": access.value}
    return Entry.model_validate(raw | ({"missing_path_behavior": "skip"} if skip else {}))


def rule_ids(*, count: int, pointer: str = "/entries") -> tuple[RuleId, ...]:
    """The origins of that many entries."""
    return tuple(RuleId(source="test", pointer=f"{pointer}/{index}") for index in range(count))


def sealed(*places: str) -> PolicyExtras:
    """Extras with sealed denies and nothing else of their own."""
    entries = tuple(entry(place, DENY) for place in places)
    return PolicyExtras(
        sealed=tuple(zip(entries, rule_ids(count=len(entries), pointer="/sealed"), strict=True))
    )


def bind(
    entries: Sequence[Entry],
    *,
    tree: Mapping[str, Node] | InMemoryView | None = None,
    facts: HostFacts = FACTS,
    roots: tuple[str, ...] = ("/w",),
    extras: PolicyExtras | None = None,
    scan_depth: int | None = None,
) -> BoundPolicy:
    """A restricted policy with cwd `/w` on a machine that has `/w`, `/tmp` and `tree`."""
    view = tree if isinstance(tree, InMemoryView) else machine(tree or {})
    return bind_profile(
        ManagedProfile(
            file_system=RestrictedFileSystem(entries=tuple(entries), glob_scan_max_depth=scan_depth)
        ),
        name="test",
        entry_rules=rule_ids(count=len(entries)),
        facts=facts,
        view=view,
        cwd="/w",
        workspace_roots=roots,
        extras=extras,
    )


def machine(tree: Mapping[str, Node]) -> InMemoryView:
    """A small POSIX machine."""
    return InMemoryView({"/w": Directory(), "/tmp": Directory(), "/usr/bin": Directory()} | dict(tree))


def places(bound: BoundPolicy, origin: RuleOrigin = RuleOrigin.ENTRY) -> set[tuple[str, AccessMode]]:
    """Path and access of every rule of one origin."""
    return {(rule.path, rule.access) for rule in bound.rules if rule.origin is origin}


def reasons(bound: BoundPolicy) -> list[str]:
    """Why rules have no effect."""
    return [unbound.reason for unbound in bound.unbound]
