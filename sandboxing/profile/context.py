"""SandboxContext: the sandbox a remote caller asks for, with everything its symbols need.

It is data of the wire; which directory stands in for a missing one is the executor's decision, not made here.
The exec server decodes it, and the door to `run` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from sandboxing.paths.uri import PathUri
from sandboxing.profile.entries import WireModel, without_absent
from sandboxing.profile.permission import PermissionProfile
from sandboxing.profile.variant import variant_of


class SandboxOverride(StrEnum):
    """What the client decided about escalation; on Linux it loosens nothing."""

    NO_OVERRIDE = "noOverride"
    ESCALATED_WITH_RESTRICTIONS = "escalatedSandboxWithRestrictions"
    BYPASS_FIRST_ATTEMPT = "bypassSandboxFirstAttempt"


class WindowsSandboxLevel(StrEnum):
    """Which Windows sandbox is meant; required from clients of every system."""

    DISABLED = "disabled"
    RESTRICTED_TOKEN = "restricted-token"  # noqa: S105 - the name of a sandbox level, not a secret
    ELEVATED = "elevated"
    MXC = "mxc"


class WindowsProxySettingsMode(StrEnum):
    """What happens to the Windows proxy settings."""

    RECONCILE = "reconcile"
    PRESERVE = "preserve"


class _CamelModel(WireModel):
    """Base of the camelCase objects; Python names are accepted too, the wire names are emitted."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )


class PolicyContext(_CamelModel):
    """The newer place of the policy cwd and the workspace roots; it wins over the flat members."""

    cwd: PathUri | None = None
    workspace_roots: tuple[PathUri, ...] = ()

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return without_absent(handler(self), "cwd")


class SandboxContext(_CamelModel):
    """The `sandbox` object of `process/start` and of every `fs/*` request.

    Attributes:
        permissions: the profile.
        sandbox_override: the client's escalation decision.
        cwd: policy cwd, which is not the command's cwd.
        policy_context: wins over `cwd` and `workspace_roots` when present.
        workspace_roots: what `project_roots` stands for.
        user_home_dir: what `~` stands for.
        temporary_directories: the client's temporary directories, or None when it does not say.
        windows_sandbox_level: required, also from clients that never see Windows.
        windows_sandbox_proxy_settings_mode: Windows only.
        use_legacy_landlock: asks for a mechanism that is gone.
    """

    permissions: PermissionProfile
    sandbox_override: Annotated[SandboxOverride, variant_of(SandboxOverride)] = SandboxOverride.NO_OVERRIDE
    cwd: PathUri | None = None
    policy_context: PolicyContext | None = None
    workspace_roots: tuple[PathUri, ...] = ()
    user_home_dir: PathUri | None = None
    temporary_directories: tuple[PathUri, ...] | None = None
    windows_sandbox_level: Annotated[WindowsSandboxLevel, variant_of(WindowsSandboxLevel)]
    windows_sandbox_proxy_settings_mode: (
        Annotated[WindowsProxySettingsMode, variant_of(WindowsProxySettingsMode)] | None
    ) = None
    use_legacy_landlock: Annotated[bool, Field(strict=True)] = False

    @model_serializer(mode="wrap")
    def _emit(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        emitted: dict[str, object] = handler(self)
        if self.sandbox_override is SandboxOverride.NO_OVERRIDE:
            del emitted["sandboxOverride"]
        return without_absent(
            emitted,
            "cwd",
            "policyContext",
            "userHomeDir",
            "temporaryDirectories",
            "windowsSandboxProxySettingsMode",
        )

    @property
    def effective_cwd(self) -> PathUri | None:
        """The policy cwd the client gives, or None when the executor must choose."""
        if self.policy_context is not None and self.policy_context.cwd is not None:
            return self.policy_context.cwd
        return self.cwd

    @property
    def effective_workspace_roots(self) -> tuple[PathUri, ...]:
        """The workspace roots; empty roots in a policy context still win, and grant nothing."""
        if self.policy_context is not None:
            return self.policy_context.workspace_roots
        return self.workspace_roots


@dataclass(frozen=True, slots=True)
class NotRequested:
    """The caller asked for no sandbox (`null` on the wire)."""


@dataclass(frozen=True, slots=True)
class Requested:
    """The caller asked for this sandbox and must not get less."""

    context: SandboxContext


SandboxRequest = NotRequested | Requested
