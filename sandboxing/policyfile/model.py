"""The shape of a policy file: one frozen model per JSON object, unknown keys refused.

It owns the keys, their types and what a single document can be wrong about; it never merges documents and
never binds a path. `decode` validates text against it, `schema` publishes it, `encode` writes it back.

An absent key is None here, never a default: `extends` must see what a document says and what it leaves
to its base. Null in the text is refused, so that there is one way to leave a key out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from sandboxing.policyfile.fields import (
    Count,
    HostPattern,
    Mode,
    NamePattern,
    OnOff,
    PolicyName,
    Port,
    Protected,
    RuleClass,
    RuleGlob,
    RulePath,
    Seconds,
    SocketPath,
    Subpath,
    Switch,
    TestPath,
    Text,
    VariableName,
    VariableValue,
    Version,
    Why,
    Words,
    refusal,
)
from sandboxing.policyfile.settings import (
    Inherit,
    ProxyMode,
    TmpPlacement,
    Verdict,
)
from sandboxing.profile.access import Access, AccessMode


class Block(BaseModel):
    """Base of every object of a policy file: frozen and closed.

    Scalars are strict one by one and not through the configuration: strict containers would refuse the
    lists and words that JSON has for tuples and enumerations.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, value: object) -> object:
        """Before anything else, because a misspelt key also looks like a missing one."""
        if not isinstance(value, dict):
            return value
        known = cls.keys()
        for key in value:
            if key not in known:
                raise PydanticCustomError("unknown_key", "unknown key", {"key": key, "known": known})
        for key, member in value.items():
            if member is None:
                raise refusal("it is null", hint="leave the key out instead", key=key)
        return value

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys of the object, in canonical order."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())


class PathPlace(Block):
    """A path and everything below it."""

    type: Literal["path"]
    path: Annotated[RulePath, Field(description="Absolute, `~` or `~/x`; no `..`, no variables, no globs.")]


class GlobPlace(Block):
    """Every path that matches a pattern; for `deny` only."""

    type: Literal["glob_pattern"]
    pattern: Annotated[
        RuleGlob,
        Field(description="Absolute, `~/x` or `:workspace_roots/x`; `*` stays in one name, `**` does not."),
    ]


class PlainSymbol(Block):
    """A symbolic place without a part below it."""

    kind: Literal["root", "minimal", "tmpdir", "slash_tmp"]


class WorkspaceSymbol(Block):
    """Every workspace root, or the same path below each of them."""

    kind: Literal["project_roots", "current_working_directory"]
    subpath: Annotated[Subpath | None, Field(description="A relative path below each workspace root.")] = None


class SymbolPlace(Block):
    """A place that is only known on the machine that runs the command."""

    type: Literal["special"]
    value: Annotated[PlainSymbol | WorkspaceSymbol, Field(discriminator="kind")]


Place = Annotated[PathPlace | GlobPlace | SymbolPlace, Field(discriminator="type")]


class EntryBlock(Block):
    """One rule of the file system."""

    path: Place
    access: Annotated[
        Mode, Field(description="`write` includes `read`; on the same path deny beats write beats read.")
    ]
    missing_path_behavior: Annotated[
        Literal["skip"] | None, Field(description="Hold nothing while the path does not exist.")
    ] = None
    why: Why | None = None

    @model_validator(mode="after")
    def _globs_only_deny(self) -> EntryBlock:
        if isinstance(self.path, GlobPlace) and self.access is not AccessMode.DENY:
            hint = "grant the directory above, and deny inside it"
            raise refusal("only `deny` may use a glob", hint=hint, key="access")
        return self


class SealedBlock(EntryBlock):
    """A deny that no grant re-opens, however deep the grant is."""

    @model_validator(mode="after")
    def _only_deny(self) -> SealedBlock:
        if self.access is not AccessMode.DENY:
            raise refusal("only `deny` can be sealed", hint="move the entry to the profile", key="access")
        return self


class RestrictedBlock(Block):
    """The entries decide, and what no entry names is denied."""

    type: Literal["restricted"]
    entries: tuple[EntryBlock, ...]
    glob_scan_max_depth: Annotated[Count | None, Field(description="How deep deny globs are expanded.")] = (
        None
    )


class UnrestrictedBlock(Block):
    """No limits on the file system."""

    type: Literal["unrestricted"]


class ManagedBlock(Block):
    """A profile that this package enforces."""

    type: Literal["managed"]
    file_system: Annotated[RestrictedBlock | UnrestrictedBlock, Field(discriminator="type")]
    network: Annotated[Switch | None, Field(description="`restricted` when absent.")] = None
    why: Why | None = None


class DisabledBlock(Block):
    """No sandbox at all."""

    type: Literal["disabled"]
    why: Why | None = None


class ExternalBlock(Block):
    """Something outside limits the file system already."""

    type: Literal["external"]
    network: Annotated[Switch | None, Field(description="`restricted` when absent.")] = None
    why: Why | None = None


ProfileBlock = ManagedBlock | DisabledBlock | ExternalBlock


class NetworkBlock(Block):
    """The managed network: what the command may reach through the proxy, which is then its only way out."""

    mode: Annotated[ProxyMode | None, Field(description="`limited` lets GET, HEAD and OPTIONS through.")] = (
        None
    )
    domains: Annotated[
        Mapping[HostPattern, Verdict] | None,
        Field(description="Host pattern to verdict; deny wins, else deny."),
    ] = None
    allow_local_binding: Annotated[OnOff | None, Field(description="Loopback and private addresses too.")] = (
        None
    )
    unix_sockets: Annotated[
        Mapping[SocketPath, Verdict] | None, Field(description="Socket path on the host to verdict.")
    ] = None
    ports: Annotated[
        tuple[Port, ...] | None, Field(description="Destination ports; none listed means any.")
    ] = None
    why: Why | None = None


class EnvironmentBlock(Block):
    """How the command's environment is made from the caller's."""

    inherit: Annotated[Inherit | None, Field(description="What to start from; `all` when absent.")] = None
    exclude: Annotated[
        tuple[NamePattern, ...] | None, Field(description="Name patterns to drop; secrets when absent.")
    ] = None
    include_only: Annotated[
        tuple[NamePattern, ...] | None, Field(description="When not empty, nothing else is inherited.")
    ] = None
    set: Annotated[Mapping[VariableName, VariableValue] | None, Field(description="Variables set last.")] = (
        None
    )
    why: Why | None = None


class LimitsBlock(Block):
    """Resource limits of a run."""

    wall_s: Annotated[Seconds | None, Field(description="Seconds of wall time.")] = None
    memory_mb: Annotated[Count | None, Field(description="Address space of each process, MiB.")] = None
    processes: Annotated[Count | None, Field(description="Processes and threads of the sandbox.")] = None
    open_files: Annotated[Count | None, Field(description="Descriptors of each process.")] = None
    file_size_mb: Annotated[Count | None, Field(description="Size of a single file, MiB.")] = None
    output_mb: Annotated[Count | None, Field(description="Output kept, MiB.")] = None
    tmp_mb: Annotated[Count | None, Field(description="Size of the private /tmp, MiB.")] = None
    why: Why | None = None


class TestBlock(Block):
    """A promise that the policy makes about itself: exactly one of `may` and `may_not`."""

    may: Annotated[Access | None, Field(description="The access must be given.")] = None
    may_not: Annotated[Access | None, Field(description="The access must be refused.")] = None
    path: Annotated[TestPath, Field(description="Absolute, `~/x`, or a symbol such as `:workspace_roots/x`.")]

    @model_validator(mode="after")
    def _one_promise(self) -> TestBlock:
        if (self.may is None) == (self.may_not is None):
            raise refusal("exactly one of `may` and `may_not` is needed")
        return self


class PolicyFile(Block):
    """A policy file, as written: its base, if it has one, is not merged in."""

    schema_uri: Annotated[Text | None, Field(alias="$schema", description="For editors; not read.")] = None
    version: Annotated[Version, Field(description="Version of the format.")]
    name: Annotated[PolicyName, Field(description="Shown in reports.")]
    description: Annotated[Text | None, Field(description="What the policy is for.")] = None
    extends: Annotated[
        Words | None, Field(description="A shipped policy, or a path relative to this file.")
    ] = None
    profile: Annotated[
        ProfileBlock | None,
        Field(discriminator="type", description="The PermissionProfile; may be left to the base."),
    ] = None
    network: NetworkBlock | None = None
    environment: EnvironmentBlock | None = None
    limits: LimitsBlock | None = None
    sealed: Annotated[tuple[SealedBlock, ...] | None, Field(description="Denies that no grant re-opens.")] = (
        None
    )
    protect: Annotated[
        tuple[Protected, ...] | None, Field(description="Names below writable rules that stay read-only.")
    ] = None
    degrade: Annotated[
        tuple[RuleClass, ...] | None, Field(description="Rule classes that may be held less strictly.")
    ] = None
    tmp: Annotated[TmpPlacement | None, Field(description="`private` when absent.")] = None
    tests: Annotated[tuple[TestBlock, ...] | None, Field(description="Promises that `check` verifies.")] = (
        None
    )

    @model_validator(mode="after")
    def _profile_or_base(self) -> PolicyFile:
        if self.profile is None and self.extends is None:
            raise refusal("key `profile` is missing", hint="write a profile, or name a base with `extends`")
        return self
