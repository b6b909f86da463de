"""What a policy says besides its profile, as plain data: environment, limits, network, tests.

It owns the decoded values and their defaults; it never reads JSON and never decides anything. It imports
no model library, so that the floors above can use it on a start where every millisecond counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sandboxing.profile.access import Access
from sandboxing.profile.rule_id import RuleId

DEFAULT_PROTECT = (".git", ".agents", ".codex", ".aws")
"""Names that stay read-only at the top of every writable rule when a document does not say otherwise: the
repository's own data, and the places from which coding agents and the AWS tools take their orders."""

DEFAULT_EXCLUDE = (
    "*KEY*",
    "*SECRET*",
    "*TOKEN*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*CREDENTIAL*",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XAUTHORITY",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "KUBECONFIG",
)
"""Variables that a policy file keeps from the command when it has no `exclude` of its own: names that
usually hold a secret, and addresses of services on the host that would act for whoever reaches them."""


class ProtectPreset(StrEnum):
    """Names in `protect` that stand for more than one path, and hold at any depth."""

    GIT_HOOKS = "git-hooks"


class Inherit(StrEnum):
    """How much of the caller's environment a command starts from."""

    ALL = "all"
    CORE = "core"
    NONE = "none"


class TmpPlacement(StrEnum):
    """Which directory the command sees as its temporary directory."""

    PRIVATE = "private"
    HOST = "host"


class ProxyMode(StrEnum):
    """Which requests the managed network lets through to an allowed host."""

    FULL = "full"
    LIMITED = "limited"


class Verdict(StrEnum):
    """What a domain pattern or a socket path gets."""

    ALLOW = "allow"
    DENY = "deny"


class Expectation(StrEnum):
    """What a policy's own test promises about an access."""

    MAY = "may"
    MAY_NOT = "may_not"


@dataclass(frozen=True, slots=True)
class EnvironmentRules:
    """How a command's environment is made from the caller's.

    Attributes:
        inherit: `all`, `core` (PATH, HOME and the like) or `none`.
        exclude: name patterns dropped after inheriting (`*` and `?`, case-insensitive).
        include_only: when not empty, only matching names stay.
        set: variables set last, values as given.
    """

    inherit: str = "all"
    exclude: tuple[str, ...] = ()
    include_only: tuple[str, ...] = ()
    set: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits; None means the host's own.

    Attributes:
        wall_s: seconds of wall time.
        memory_mb: address space of each process, in MiB.
        processes: processes and threads of the sandbox.
        open_files: descriptors of each process.
        file_size_mb: size of a single file, in MiB.
        output_mb: bytes of output kept, in MiB.
        tmp_mb: size of the private /tmp, in MiB.
    """

    wall_s: float | None = None
    memory_mb: int | None = None
    processes: int | None = None
    open_files: int | None = None
    file_size_mb: int | None = None
    output_mb: int | None = None
    tmp_mb: int | None = None


@dataclass(frozen=True, slots=True)
class NetworkRules:
    """What the managed network lets out. Absent altogether when a policy has no `network` block.

    Attributes:
        mode: `full`, or `limited` to requests that only read.
        domains: host pattern -> verdict, in the order of the document; deny wins, no match is deny.
        allow_local_binding: whether loopback and private addresses may be reached.
        unix_sockets: path of a socket on the host -> verdict.
        ports: destination ports that may be dialled; none listed means any.
        rule: where the block stands.
    """

    mode: ProxyMode
    domains: tuple[tuple[str, Verdict], ...]
    allow_local_binding: bool
    unix_sockets: tuple[tuple[str, Verdict], ...]
    ports: tuple[int, ...]
    rule: RuleId


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """A promise that a policy makes about itself, for `check` to hold it to.

    Attributes:
        expect: whether the access must be given or refused.
        access: the access that is asked for.
        path: absolute, `~`, `~/x`, or a symbol of `TEST_SYMBOLS` with or without a path below it.
        rule: where the test stands.
    """

    expect: Expectation
    access: Access
    path: str
    rule: RuleId


TEST_SYMBOLS = (":workspace_roots", ":tmpdir", ":slash_tmp")
"""The symbolic places that a test path may start from."""
