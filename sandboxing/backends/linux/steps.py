"""The vocabulary of a Linux plan: every setup step as a frozen type, with its encoding.

A plan is an ordered tuple of these. They name native paths and numbers only; what applies them is
`apply`, what orders them is `planner`. Pure: it runs on every operating system.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final, TypeAlias


class Writability(StrEnum):
    """Whether a mount takes writes."""

    READ_ONLY = "ro"
    WRITABLE = "rw"


class NodeKind(StrEnum):
    """What a mount point is."""

    DIRECTORY = "dir"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class HostRoot:
    """Start from a private copy of the host's whole mount tree."""

    writability: Writability
    devices: bool

    def __str__(self) -> str:
        return f"root      host tree, {self.writability}{', with devices' if self.devices else ''}"


@dataclass(frozen=True, slots=True)
class EmptyRoot:
    """Start from an empty directory; only what is bound into it exists."""

    def __str__(self) -> str:
        return "root      empty"


@dataclass(frozen=True, slots=True)
class MakeDirectory:
    """Make a directory in an area that the sandbox itself owns."""

    path: str
    mode: int

    def __str__(self) -> str:
        return f"mkdir     {self.path} {self.mode:04o}"


@dataclass(frozen=True, slots=True)
class MakeFile:
    """Make an empty file in an area that the sandbox itself owns, to mount on."""

    path: str

    def __str__(self) -> str:
        return f"mkfile    {self.path}"


@dataclass(frozen=True, slots=True)
class MakeLink:
    """Make a symbolic link in an area that the sandbox itself owns, as the host has it."""

    path: str
    target: str

    def __str__(self) -> str:
        return f"symlink   {self.path} -> {self.target}"


@dataclass(frozen=True, slots=True)
class Bind:
    """Show a host path at the same path inside, with every mount below it."""

    path: str
    writability: Writability
    rule: str

    def __str__(self) -> str:
        return f"bind      {self.path} {self.writability}  [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Mask:
    """Cover a path with something empty that nobody can open."""

    path: str
    kind: NodeKind
    rule: str

    def __str__(self) -> str:
        return f"mask      {self.path} {self.kind}  [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Tmpfs:
    """Mount a fresh tmpfs, at most `size_mb` MiB (0: the kernel's default, half of memory)."""

    path: str
    mode: int
    size_mb: int
    rule: str

    def __str__(self) -> str:
        size = f"{self.size_mb} MiB" if self.size_mb else "default size"
        return f"tmpfs     {self.path} {self.mode:04o} {size}  [{self.rule}]"


@dataclass(frozen=True, slots=True)
class PrivateDevices:
    """Mount a /dev of the sandbox's own: a few harmless nodes, own ptys, own shared memory."""

    nodes: tuple[str, ...]
    shm_mb: int

    def __str__(self) -> str:
        return f"dev       private: {' '.join(self.nodes)}; pts, shm"


@dataclass(frozen=True, slots=True)
class PrivateTerminals:
    """Keep the host's /dev and mount own ptys over /dev/pts."""

    def __str__(self) -> str:
        return "dev       host, own pts"


@dataclass(frozen=True, slots=True)
class FreshProc:
    """Mount a /proc of the sandbox's own pid namespace, its dangerous parts read-only or covered."""

    read_only: tuple[str, ...]
    masked: tuple[str, ...]

    def __str__(self) -> str:
        return f"proc      fresh; read-only: {' '.join(self.read_only)}; covered: {' '.join(self.masked)}"


@dataclass(frozen=True, slots=True)
class ReadOnlySystem:
    """Make /sys read-only where the rest is writable; its files are settings of the whole machine."""

    def __str__(self) -> str:
        return "sys       read-only"


@dataclass(frozen=True, slots=True)
class Seal:
    """Make a mount of the sandbox's own read-only, once everything in it is in place."""

    path: str

    def __str__(self) -> str:
        return f"seal      {self.path}"


@dataclass(frozen=True, slots=True)
class EnterRoot:
    """Make the new tree the root and let go of the host's."""

    def __str__(self) -> str:
        return "enter     new root"


@dataclass(frozen=True, slots=True)
class LoopbackUp:
    """Bring up `lo` of the own network namespace."""

    def __str__(self) -> str:
        return "net       own namespace, loopback up"


@dataclass(frozen=True, slots=True)
class ResourceLimit:
    """Set one rlimit, soft and hard."""

    name: str
    value: int

    def __str__(self) -> str:
        return f"rlimit    {self.name}={self.value}"


@dataclass(frozen=True, slots=True)
class DropPrivileges:
    """Drop every capability and the bounding set, then set no_new_privs."""

    def __str__(self) -> str:
        return "drop      all capabilities; no new privileges"


@dataclass(frozen=True, slots=True)
class LandlockRule:
    """One path beneath which Landlock allows reading, or everything."""

    path: str
    writability: Writability


@dataclass(frozen=True, slots=True)
class Landlock:
    """Restrict the file system and the scopes once more, as far as ABI `abi` can say it."""

    abi: int
    rules: tuple[LandlockRule, ...]
    scopes: bool

    def __str__(self) -> str:
        rules = " ".join(f"{rule.path}:{rule.writability}" for rule in self.rules)
        return f"landlock  abi {self.abi}{', scopes' if self.scopes else ''}; {rules or 'no path rules'}"


@dataclass(frozen=True, slots=True)
class Seccomp:
    """Load a compiled filter; `program` is base64 of classic BPF for `machine`."""

    machine: str
    name: str
    program: str

    def __str__(self) -> str:
        return f"seccomp   {self.name} ({self.machine})"


Step: TypeAlias = (
    HostRoot
    | EmptyRoot
    | MakeDirectory
    | MakeFile
    | MakeLink
    | Bind
    | Mask
    | Tmpfs
    | PrivateDevices
    | PrivateTerminals
    | FreshProc
    | ReadOnlySystem
    | Seal
    | EnterRoot
    | LoopbackUp
    | ResourceLimit
    | DropPrivileges
    | Landlock
    | Seccomp
)

_TYPES: Final[tuple[type[Step], ...]] = (
    HostRoot,
    EmptyRoot,
    MakeDirectory,
    MakeFile,
    MakeLink,
    Bind,
    Mask,
    Tmpfs,
    PrivateDevices,
    PrivateTerminals,
    FreshProc,
    ReadOnlySystem,
    Seal,
    EnterRoot,
    LoopbackUp,
    ResourceLimit,
    DropPrivileges,
    Landlock,
    Seccomp,
)


class Namespace(StrEnum):
    """The kernel's namespaces, in unshare(1)'s words."""

    USER = "user"
    MOUNT = "mount"
    PID = "pid"
    IPC = "ipc"
    UTS = "uts"
    CGROUP = "cgroup"
    NETWORK = "net"


@dataclass(frozen=True, slots=True)
class LinuxPlan:
    """The namespaces to enter, then the steps to take inside them, in this order."""

    namespaces: tuple[Namespace, ...]
    steps: tuple[Step, ...]

    def lines(self) -> tuple[str, ...]:
        """The plan for people, one step a line, in the order the steps are applied."""
        return (f"unshare   {' '.join(self.namespaces)}", *(str(step) for step in self.steps))


def encode_plan(plan: LinuxPlan) -> bytes:
    """The plan as JSON, equal bytes for equal plans."""
    document = {
        "namespaces": list(plan.namespaces),
        "steps": [{"op": type(step).__name__, **asdict(step)} for step in plan.steps],
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True).encode()


def decode_plan(data: bytes) -> LinuxPlan:
    """The inverse of `encode_plan`; for bytes that `encode_plan` made, it trusts their shape."""
    document = json.loads(data)
    by_name = {kind.__name__: kind for kind in _TYPES}
    return LinuxPlan(
        namespaces=tuple(Namespace(name) for name in document["namespaces"]),
        steps=tuple(_decode_step(by_name, raw) for raw in document["steps"]),
    )


def _decode_step(by_name: dict[str, type[Step]], raw: dict[str, Any]) -> Step:
    kind = by_name[raw["op"]]
    values = {field.name: _decode_value(field.name, raw[field.name]) for field in fields(kind)}
    return kind(**values)


def _decode_value(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON values
    if name == "rules":
        return tuple(
            LandlockRule(path=rule["path"], writability=Writability(rule["writability"])) for rule in value
        )
    if name == "writability":
        return Writability(value)
    if name == "kind":
        return NodeKind(value)
    if isinstance(value, list):
        return tuple(value)
    return value
