"""Path rules turned into mount steps: what is bound, what is covered, in which order.

Parents come before children, and at one path a bind comes before the sandbox's own /dev and /proc, which
come before a mask: so no step can undo an earlier mask. Pure; only `planner` calls it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from sandboxing.backends.linux.gaps import (
    APPEARS_LATER,
    ATOMIC_REPLACE,
    HOST_REPLACES,
    INVISIBLE,
    LINK_NAME,
    MISSING_NAME,
    MISSING_WRITE,
    OTHER_NAMES,
    PINNED,
    PROC_IS_OWN,
)
from sandboxing.backends.linux.steps import (
    Bind,
    FreshProc,
    MakeDirectory,
    MakeFile,
    MakeLink,
    Mask,
    NodeKind,
    PrivateDevices,
    PrivateTerminals,
    ReadOnlySystem,
    Seal,
    Step,
    Tmpfs,
    Writability,
)
from sandboxing.binding.bound import BoundGlob, BoundRule, PathKind, RuleOrigin
from sandboxing.binding.decide import DecisionIndex
from sandboxing.contract.enforcement import Caveat
from sandboxing.profile.access import AccessMode
from sandboxing.profile.rule_id import RuleId

DEVICE_NODES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_OWN_IN_DEV: Final = frozenset({*DEVICE_NODES, "fd", "stdin", "stdout", "stderr", "ptmx", "pts", "shm"})

_ALWAYS_OWN: Final = _OWN_IN_DEV - {"shm"}
"""Never replaced by the host's; shared memory may be granted."""

PROC_READ_ONLY: Final = ("bus", "fs", "irq", "sys", "sysrq-trigger")
"""Writable for uid 0 even without capabilities, because the owner check comes first."""

PROC_MASKED: Final = ("acpi", "kcore", "keys", "pressure", "scsi", "timer_list")
"""Host-wide information or, for `pressure`, a place where triggers are written."""

_MASK_LISTABLE_MODE: Final = 0o111
"""A denied directory with something visible below it: it can be crossed and not be listed."""


def upwards(path: str) -> Iterator[str]:
    """Every directory above a normalised absolute path, the nearest first."""
    while path != "/":
        path = path[: path.rindex("/")] or "/"
        yield path


def depth(path: str) -> int:
    """How many names a normalised absolute path has."""
    return 0 if path == "/" else path.count("/")


class Area(Enum):
    """Who owns the directory at a path, and whether it takes writes."""

    HOST_READ_ONLY = "host-ro"
    HOST_WRITABLE = "host-rw"
    OWN_EMPTY = "empty"
    OWN_WRITABLE = "own-rw"
    DEVICES = "dev"
    PROC = "proc"
    COVERED = "covered"

    @property
    def is_host(self) -> bool:
        """Whether the directory is the host's, so that nothing may be created in it."""
        return self in (Area.HOST_READ_ONLY, Area.HOST_WRITABLE)


@dataclass(frozen=True, slots=True)
class Held:
    """What became of one rule in the tree."""

    rule: BoundRule
    mechanisms: tuple[str, ...]
    caveats: tuple[Caveat, ...] = ()


@dataclass(slots=True)
class TreeBuilder:
    """Collects mount steps while walking rules from shallow to deep.

    Attributes:
        steps: the mount steps so far.
        areas: who owns what, by path; the deepest ancestor counts.
        held: what became of each rule.
        seals: mounts of our own that become read-only at the end.
        made: paths that this builder creates.
        opened_below: directories above something that is granted.
        pinned: carve-outs whose way down is held by mounts.
        globs: the deny globs, by the rule that their matches carry.
    """

    tmp_mb: int
    steps: list[Step] = field(default_factory=list)
    areas: dict[str, Area] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    seals: list[str] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    opened_below: frozenset[str] = frozenset()
    pinned: frozenset[str] = frozenset()
    globs: Mapping[RuleId, BoundGlob] = field(default_factory=dict)

    def area(self, path: str) -> Area:
        """Who owns the directory at `path`."""
        for ancestor in (path, *upwards(path)):
            if ancestor in self.areas:
                return self.areas[ancestor]
        return Area.OWN_EMPTY

    def parent_area(self, path: str) -> Area:
        """Who owns the directory that `path` is a name in."""
        return self.area(posixpath.dirname(path))

    def make_way(self, path: str, kind: PathKind) -> None:
        """Create the mount point at `path` where the directory above it is the sandbox's own."""
        parent = posixpath.dirname(path)
        if path == "/" or self.parent_area(path).is_host or path in self.made:
            return
        if self.parent_area(path) is Area.DEVICES and posixpath.basename(path) in _OWN_IN_DEV:
            return
        self.make_way(parent, PathKind.DIRECTORY)
        self.made.add(path)
        if kind is PathKind.DIRECTORY:
            self.steps.append(MakeDirectory(path=path, mode=0o755))
        else:
            self.steps.append(MakeFile(path=path))

    def make_links(self, rule: BoundRule) -> None:
        """Repeat the host's links on the way to a rule's path where the sandbox owns the directory."""
        if rule.access is AccessMode.DENY or rule.kind is PathKind.MISSING:
            return
        for link in rule.links:
            if link.path in self.made or self.area(link.path).is_host:
                continue
            if self.area(link.path) is not Area.OWN_EMPTY:
                continue
            self.make_way(posixpath.dirname(link.path), PathKind.DIRECTORY)
            self.made.add(link.path)
            self.steps.append(MakeLink(path=link.path, target=link.target))

    def note(self, rule: BoundRule, mechanisms: Iterable[str], *caveats: Caveat) -> None:
        """Record what became of a rule."""
        extra = (LINK_NAME,) if rule.links and rule.access is not AccessMode.WRITE else ()
        self.held.append(Held(rule=rule, mechanisms=tuple(mechanisms), caveats=(*caveats, *extra)))


def effective_rules(
    rules: Iterable[BoundRule], oracle: DecisionIndex
) -> tuple[Mapping[str, BoundRule], tuple[BoundRule, ...]]:
    """The rule that decides at each path, with the access that the oracle gives there, and all other rules.

    The oracle is asked at every path that a rule names, so that mounts cannot follow another precedence than
    the one that is explained.
    """
    by_path: dict[str, list[BoundRule]] = {}
    for rule in rules:
        by_path.setdefault(rule.path, []).append(rule)
    winners: dict[str, BoundRule] = {}
    losers: list[BoundRule] = []
    for path, candidates in by_path.items():
        decision = oracle.ruling(path)
        decider = next((rule for rule in candidates if rule.rule == decision.rule), None)
        if decider is not None:
            winners[path] = (
                decider if decider.access is decision.mode else replace(decider, access=decision.mode)
            )
        losers.extend(rule for rule in candidates if rule is not decider)
    return winners, tuple(losers)


def build_tree(
    builder: TreeBuilder,
    winners: Mapping[str, BoundRule],
    losers: Iterable[BoundRule],
    *,
    host_devices: bool,
) -> None:
    """Walk the rules from shallow to deep and emit the mounts that hold them.

    Args:
        builder: takes the steps.
        winners: the deciding rule of each path.
        losers: the other rules, whose spellings must lead somewhere all the same.
        host_devices: whether /dev is the host's.
    """
    order = sorted(winners, key=lambda path: (depth(path), path))
    builder.opened_below = _opened_below(winners)
    pins, builder.pinned = _pins(winners, builder.globs)
    own = {"/dev", "/proc"}
    for path in sorted({*order, *own, *pins}, key=lambda path: (depth(path), path)):
        rule = winners.get(path)
        if path in own:
            _emit_own(builder, path, rule, host_devices=host_devices)
        elif rule is None:
            _pin(builder, path)
        if rule is not None:
            _emit_rule(builder, rule)
    for rule in losers:
        builder.make_links(rule)
    if builder.areas["/"] is Area.HOST_WRITABLE and "/sys" not in winners:
        builder.steps.append(ReadOnlySystem())
    for path in reversed(builder.seals):
        builder.steps.append(Seal(path=path))


def _emit_own(builder: TreeBuilder, path: str, rule: BoundRule | None, *, host_devices: bool) -> None:
    if rule is not None and rule.access is AccessMode.WRITE and path == "/dev":
        host_devices = True
        _emit_grant(builder, rule)
    builder.make_way(path, PathKind.DIRECTORY)
    if path == "/proc":
        builder.steps.append(FreshProc(read_only=PROC_READ_ONLY, masked=PROC_MASKED))
        builder.areas[path] = Area.PROC
    elif host_devices:
        builder.steps.append(PrivateTerminals())
    else:
        builder.steps.append(PrivateDevices(nodes=DEVICE_NODES, shm_mb=builder.tmp_mb))
        builder.areas[path] = Area.DEVICES
        builder.areas["/dev/shm"] = Area.OWN_WRITABLE
        builder.seals.append(path)


def _emit_rule(builder: TreeBuilder, rule: BoundRule) -> None:
    if rule.path == "/":
        builder.note(rule, ("root mount",))
    elif builder.parent_area(rule.path) is Area.COVERED and rule.access is AccessMode.DENY:
        builder.note(rule, ("mask",))
    elif rule.access is AccessMode.DENY:
        _emit_deny(builder, rule)
    elif rule.origin is RuleOrigin.PRIVATE_TMP:
        _emit_private_tmp(builder, rule)
    elif rule.path == "/dev":
        # a grant of writing came before the terminals; one of reading is met by the sandbox's own devices
        if builder.areas.get("/dev") is Area.DEVICES:
            builder.note(rule, ("own devices",))
    elif builder.parent_area(rule.path) is Area.DEVICES and posixpath.basename(rule.path) in _ALWAYS_OWN:
        builder.note(rule, ("own devices",))
    else:
        _emit_grant(builder, rule)


def _emit_private_tmp(builder: TreeBuilder, rule: BoundRule) -> None:
    if rule.kind is not PathKind.DIRECTORY and builder.parent_area(rule.path).is_host:
        builder.note(rule, (), MISSING_WRITE)
        return
    builder.make_way(rule.path, PathKind.DIRECTORY)
    builder.steps.append(Tmpfs(path=rule.path, mode=0o1777, size_mb=builder.tmp_mb, rule=rule.rule.pointer))
    builder.areas[rule.path] = Area.OWN_WRITABLE
    builder.note(rule, ("private tmpfs",))


def _emit_grant(builder: TreeBuilder, rule: BoundRule) -> None:
    area = builder.parent_area(rule.path) if rule.path not in builder.areas else builder.areas[rule.path]
    wants = Area.HOST_WRITABLE if rule.access is AccessMode.WRITE else Area.HOST_READ_ONLY
    if area is Area.PROC:
        builder.note(rule, (), PROC_IS_OWN)
        return
    if rule.kind is PathKind.MISSING:
        builder.note(rule, (), _missing_grant(rule, area))
        return
    builder.make_links(rule)
    if area is wants:
        builder.note(rule, (_mechanism(wants),))
        return
    builder.make_way(rule.path, rule.kind)
    writability = Writability.WRITABLE if wants is Area.HOST_WRITABLE else Writability.READ_ONLY
    builder.steps.append(Bind(path=rule.path, writability=writability, rule=rule.rule.pointer))
    builder.areas[rule.path] = wants
    caveats: tuple[Caveat, ...] = ()
    if wants is Area.HOST_READ_ONLY and area is Area.HOST_WRITABLE:
        caveats = (HOST_REPLACES, PINNED) if rule.path in builder.pinned else (HOST_REPLACES,)
    elif wants is Area.HOST_WRITABLE and rule.kind is not PathKind.DIRECTORY:
        caveats = (ATOMIC_REPLACE,)
    builder.note(rule, (_mechanism(wants),), *caveats)


def _mechanism(area: Area) -> str:
    return "writable mount" if area is Area.HOST_WRITABLE else "read-only mount"


def _missing_grant(rule: BoundRule, area: Area) -> Caveat:
    if rule.access is AccessMode.WRITE or not area.is_host:
        return MISSING_WRITE
    return MISSING_NAME if area is Area.HOST_WRITABLE else APPEARS_LATER


def _emit_deny(builder: TreeBuilder, rule: BoundRule) -> None:
    area = builder.parent_area(rule.path) if rule.path not in builder.areas else builder.areas[rule.path]
    if area in (Area.OWN_EMPTY, Area.COVERED):
        builder.note(rule, ("not mounted",))
        return
    if area is Area.OWN_WRITABLE:
        builder.note(rule, ("not mounted",), INVISIBLE)
        return
    if rule.kind is PathKind.MISSING:
        missing = MISSING_NAME if area is Area.HOST_WRITABLE else APPEARS_LATER
        builder.note(rule, (), missing)
        return
    builder.make_way(rule.path, rule.kind)
    if rule.kind is PathKind.DIRECTORY and rule.path in builder.opened_below:
        builder.steps.append(
            Tmpfs(path=rule.path, mode=_MASK_LISTABLE_MODE, size_mb=1, rule=rule.rule.pointer)
        )
        builder.areas[rule.path] = Area.OWN_EMPTY
        builder.seals.append(rule.path)
    else:
        kind = NodeKind.DIRECTORY if rule.kind is PathKind.DIRECTORY else NodeKind.FILE
        builder.steps.append(Mask(path=rule.path, kind=kind, rule=rule.rule.pointer))
        builder.areas[rule.path] = Area.COVERED
    caveats = [HOST_REPLACES, *([PINNED] if rule.path in builder.pinned else [])]
    if rule.kind is not PathKind.DIRECTORY:
        caveats.append(OTHER_NAMES)
    builder.note(rule, ("mask",), *caveats)


def _opened_below(winners: Mapping[str, BoundRule]) -> frozenset[str]:
    return frozenset(
        ancestor
        for path, rule in winners.items()
        if rule.access is not AccessMode.DENY and rule.kind is not PathKind.MISSING
        for ancestor in upwards(path)
    )


def _pins(
    winners: Mapping[str, BoundRule], globs: Mapping[RuleId, BoundGlob]
) -> tuple[frozenset[str], frozenset[str]]:
    """Directories between a writable rule and a carve-out below it, and those carve-outs.

    Without a pin the directory above the carve-out could be renamed, and the cover would move with it.
    """
    pins: set[str] = set()
    pinned: set[str] = set()
    for path, rule in winners.items():
        if rule.access is AccessMode.WRITE or rule.kind is PathKind.MISSING:
            continue
        between: list[str] = []
        for ancestor in upwards(path):
            other = winners.get(ancestor)
            if other is None:
                between.append(ancestor)
                continue
            if other.access is AccessMode.WRITE and other.origin is not RuleOrigin.PRIVATE_TMP:
                held = [place for place in between if _matters(place, globs.get(rule.rule))]
                pins.update(held)
                pinned.update([path] if held else [])
            break
    return frozenset(pins), frozenset(pinned)


def _matters(place: str, glob: BoundGlob | None) -> bool:
    """Whether renaming a directory would take a carve-out away from its rule.

    A glob that looks at every depth finds its match again wherever it goes, except for the directories that
    it names itself.
    """
    if glob is None:
        return True
    fixed, floating, rest = glob.pattern.partition("/**/")
    if not floating or "/" in rest or any(character in fixed for character in "*?[{"):
        return True
    return place == fixed or fixed.startswith(place.rstrip("/") + "/")


def _pin(builder: TreeBuilder, path: str) -> None:
    if builder.area(path) is not Area.HOST_WRITABLE:
        return
    builder.areas[path] = Area.HOST_WRITABLE
    builder.steps.append(Bind(path=path, writability=Writability.WRITABLE, rule="pin"))
