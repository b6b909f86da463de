"""PermissionProfile: tagged forms, older forms, defaults and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import PortablePath, SpecialKind, at_path, special
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
    decode_profile,
    decode_profile_json,
    default_profile,
    encode_profile,
)
from tests.strategies import profiles

ROOT_READ = {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}

CANONICAL: list[dict[str, Any]] = [
    {"type": "disabled"},
    {"type": "external", "network": "restricted"},
    {"type": "managed", "file_system": {"type": "unrestricted"}, "network": "enabled"},
    {
        "type": "managed",
        "file_system": {"type": "restricted", "entries": [ROOT_READ], "glob_scan_max_depth": 1},
        "network": "restricted",
    },
]


@pytest.mark.parametrize("wire", CANONICAL)
def test_a_canonical_profile_leaves_byte_for_byte(wire: dict[str, Any]) -> None:
    text = json.dumps(wire)
    assert json.dumps(encode_profile(decode_profile_json(text))) == text


@given(profiles())
def test_decoding_what_was_encoded_gives_the_profile_back(profile: PermissionProfile) -> None:
    encoded = encode_profile(profile)
    assert decode_profile(encoded) == profile
    assert encode_profile(decode_profile(encoded)) == encoded
    assert decode_profile_json(json.dumps(encoded)) == profile


def test_the_network_is_restricted_unless_said_otherwise() -> None:
    decoded = decode_profile({"type": "managed", "file_system": {"type": "unrestricted"}, "later": 1})
    assert decoded == ManagedProfile(file_system=UnrestrictedFileSystem(), network=NetworkSwitch.RESTRICTED)
    assert decode_profile({"type": "external"}) == ExternalProfile()
    assert decode_profile({"type": "disabled", "network": "zz"}) == DisabledProfile()


def test_the_default_gives_nothing() -> None:
    assert default_profile() == decode_profile(
        {"type": "managed", "file_system": {"type": "restricted", "entries": []}}
    )


OLDER: list[tuple[dict[str, Any], ManagedProfile]] = [
    (
        {"network": {"enabled": True}, "file_system": {"read": ["/r"], "write": ["/w"]}},
        ManagedProfile(
            file_system=RestrictedFileSystem(
                entries=(
                    at_path(PortablePath.parse("/r"), AccessMode.READ),
                    at_path(PortablePath.parse("/w"), AccessMode.WRITE),
                )
            ),
            network=NetworkSwitch.ENABLED,
        ),
    ),
    (
        {"file_system": {"entries": [ROOT_READ], "glob_scan_max_depth": 3}},
        ManagedProfile(
            file_system=RestrictedFileSystem(
                entries=(special(SpecialKind.ROOT, AccessMode.READ),), glob_scan_max_depth=3
            )
        ),
    ),
    ({"network": {"enabled": False}, "file_system": None}, default_profile()),
    ({"network": None}, default_profile()),
]


@pytest.mark.parametrize(("wire", "expected"), OLDER)
def test_the_untagged_forms_are_still_read(wire: dict[str, Any], expected: ManagedProfile) -> None:
    assert decode_profile(wire) == expected
    assert decode_profile_json(json.dumps(wire)) == expected


REFUSED: list[object] = [
    {},
    [],
    None,
    "disabled",
    {"type": "zz"},
    {"type": "managed"},
    {"type": "managed", "file_system": {"type": "restricted"}},
    {"type": "managed", "file_system": {"type": "external-sandbox"}},
    {"type": "managed", "file_system": {"type": "restricted", "entries": [], "glob_scan_max_depth": 0}},
    {"type": "managed", "file_system": {"type": "restricted", "entries": [], "glob_scan_max_depth": "1"}},
    {"type": "managed", "file_system": {"type": "restricted", "entries": [], "glob_scan_max_depth": True}},
    {"type": "external", "network": "off"},
    {"network": "restricted"},
    {"network": {"enabled": True, "later": 1}},
    {"network": {"enabled": 1}},
    {"network": {}, "later": 1},
    {"file_system": {"read": ["relative"]}},
    {"file_system": {"entries": [], "read": []}},
]


@pytest.mark.parametrize("wire", REFUSED, ids=json.dumps)
def test_what_is_no_profile_is_refused(wire: object) -> None:
    with pytest.raises(ValidationError):
        decode_profile(wire)
    with pytest.raises(ValidationError):
        decode_profile_json(json.dumps(wire))


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        default_profile().network = NetworkSwitch.ENABLED  # type: ignore[misc]  # the attempt is the test
    assert hash(default_profile()) == hash(default_profile())
