"""SandboxContext: wire names, defaults, and which member wins."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from sandboxing.paths.uri import PathUri
from sandboxing.profile.context import SandboxContext
from tests.strategies import sandbox_contexts

MINIMAL: dict[str, Any] = {"permissions": {"type": "disabled"}, "windowsSandboxLevel": "disabled"}

AS_SENT_BY_CLIENTS: dict[str, Any] = {
    "permissions": {"type": "external", "network": "enabled"},
    "cwd": "file:///w",
    "workspaceRoots": ["file:///w"],
    "windowsSandboxLevel": "disabled",
    "windowsSandboxProxySettingsMode": "reconcile",
    "useLegacyLandlock": False,
}


def test_a_client_context_leaves_byte_for_byte() -> None:
    context = SandboxContext.model_validate(AS_SENT_BY_CLIENTS)
    assert json.dumps(context.model_dump(mode="json")) == json.dumps(AS_SENT_BY_CLIENTS)


@given(sandbox_contexts)
def test_decoding_what_was_encoded_gives_the_context_back(context: SandboxContext) -> None:
    assert SandboxContext.model_validate_json(context.model_dump_json()) == context
    assert None not in context.model_dump(mode="json").values()


def test_absent_and_null_members_have_the_same_defaults() -> None:
    nulls = {"cwd": None, "policyContext": None, "userHomeDir": None, "temporaryDirectories": None}
    assert SandboxContext.model_validate(MINIMAL | nulls) == SandboxContext.model_validate(MINIMAL)
    assert SandboxContext.model_validate(MINIMAL | {"windowsSandboxPrivateDesktop": True}) is not None


def test_the_policy_context_wins() -> None:
    flat = AS_SENT_BY_CLIENTS | {"policyContext": {"cwd": "file:///p", "workspaceRoots": ["file:///q"]}}
    context = SandboxContext.model_validate(flat)
    assert context.effective_cwd == PathUri.parse("file:///p")
    assert context.effective_workspace_roots == (PathUri.parse("file:///q"),)


def test_an_empty_policy_context_takes_the_roots_but_not_the_cwd() -> None:
    context = SandboxContext.model_validate(AS_SENT_BY_CLIENTS | {"policyContext": {}})
    assert context.effective_cwd == PathUri.parse("file:///w")
    assert context.effective_workspace_roots == ()


def test_the_flat_members_serve_without_a_policy_context() -> None:
    context = SandboxContext.model_validate(AS_SENT_BY_CLIENTS)
    assert context.effective_cwd == PathUri.parse("file:///w")
    assert context.effective_workspace_roots == (PathUri.parse("file:///w"),)
    assert SandboxContext.model_validate(MINIMAL).effective_cwd is None


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"permissions": {"type": "disabled"}}, "windowsSandboxLevel"),
    ({"windowsSandboxLevel": "disabled"}, "permissions"),
    (
        MINIMAL | {"windowsSandboxLevel": "zz"},
        "unknown variant `zz`, expected one of `disabled`, `restricted-token`, `elevated`, `mxc`",
    ),
    (
        MINIMAL | {"sandboxOverride": "zz"},
        "unknown variant `zz`, expected one of `noOverride`, `escalatedSandboxWithRestrictions`, `bypass",
    ),
    (
        MINIMAL | {"windowsSandboxProxySettingsMode": "zz"},
        "unknown variant `zz`, expected `reconcile` or `preserve`",
    ),
    (MINIMAL | {"cwd": "/w"}, "invalid URI: relative URL without a base"),
    (MINIMAL | {"useLegacyLandlock": 1}, "valid boolean"),
]


@pytest.mark.parametrize(("wire", "message"), REFUSED)
def test_what_is_no_context_is_refused_with_the_wire_text(wire: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        SandboxContext.model_validate(wire)
    assert message in str(refusal.value)
