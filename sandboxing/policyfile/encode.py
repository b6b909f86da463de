"""Canonical JSON text of a policy: the same policy always gives the same bytes.

It owns the layout and the order of keys; it never changes what a policy says, so that decoding the text
gives the same policy back. `diff`, digests of compiled plans and formatters use it.

Keys stand in the order of the schema, members of maps in the order of their names, entries in the order
of the document. A seconds value without a fraction is written as a whole number.
"""

from __future__ import annotations

import json

from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.model import PolicyFile
from sandboxing.profile.permission import PermissionProfile, encode_profile

_MAPS = frozenset({"domains", "unix_sockets", "set"})


def encode_policy(policy: PolicyFile) -> str:
    """A policy file as text, ending with a line end; absent keys stay absent."""
    return _text(policy.model_dump(mode="json", by_alias=True, exclude_none=True))


def encode_document(document: PolicyDocument) -> str:
    """A decoded document as text: a policy file with its bases merged in, or the wire profile."""
    if document.merged is not None:
        return encode_policy(document.merged)
    return encode_wire(document.profile)


def encode_wire(profile: PermissionProfile) -> str:
    """A profile as the wire has it."""
    return _text(encode_profile(profile))


def _text(value: object) -> str:
    return json.dumps(_canonical(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _canonical(value: object, *, key: str = "") -> object:
    match value:
        case dict():
            members = sorted(value.items()) if key in _MAPS else value.items()
            return {name: _canonical(member, key=name) for name, member in members}
        case list():
            return [_canonical(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value
