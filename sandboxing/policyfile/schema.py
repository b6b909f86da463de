"""The JSON Schema of a policy file, made from the models so that the two cannot part.

It owns what the models cannot express and the tidying for readers; it validates nothing
itself. `sandboxctl schema` prints it for editors and for checks in other languages.

It is a little narrower than `decode` in spelling (it knows `deny` but not the wire's older `none`) and wider
in meaning: the rules for paths and globs, which no schema can state, are only described.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from sandboxing.policyfile.fields import SCHEMA_VERSION
from sandboxing.policyfile.model import PolicyFile

Schema: TypeAlias = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def policy_schema() -> Schema:
    """JSON Schema, draft 2020-12, of a policy file. Each call makes a new object."""
    made = _tidy(PolicyFile.model_json_schema(by_alias=True))
    definitions = made.pop("$defs")
    _require_one(definitions, "TestBlock", ("may", "may_not"))
    return {
        "$schema": DIALECT,
        "title": f"sandboxctl policy, version {SCHEMA_VERSION}",
        **made,
        "anyOf": [{"required": ["profile"]}, {"required": ["extends"]}],
        "$defs": definitions,
    }


def _require_one(definitions: object, name: str, keys: tuple[str, ...]) -> None:
    if isinstance(definitions, dict):
        definitions[name]["oneOf"] = [{"required": [key]} for key in keys]


def _tidy(schema: Mapping[str, object]) -> Schema:
    """Without null, which the models know only as "absent", and without what is no keyword of the draft."""
    kept: Schema = {
        key: _named(member) if key in ("properties", "$defs") else _tidy_any(member)
        for key, member in schema.items()
        if key not in ("title", "discriminator") and not (key == "default" and member is None)
    }
    options = kept.get("anyOf")
    if not isinstance(options, list):
        return kept
    options = [option for option in options if option != {"type": "null"}]
    if len(options) > 1:
        return {**kept, "anyOf": options}
    del kept["anyOf"]
    return {**options[0], **kept}


def _tidy_any(value: object) -> object:
    if isinstance(value, list):
        return [_tidy_any(item) for item in value]
    return _tidy(value) if isinstance(value, dict) else value


def _named(members: object) -> object:
    """A map from names to schemas: here a member called `title` is a name and no annotation."""
    if not isinstance(members, dict):
        return members
    return {name: _tidy_any(member) for name, member in members.items()}
