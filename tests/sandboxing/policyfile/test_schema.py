"""The published schema and the models say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from sandboxing.policyfile import model
from sandboxing.policyfile.model import Block, PolicyFile
from sandboxing.policyfile.schema import DIALECT, policy_schema
from sandboxing.policyfile.shipped import shipped_names, shipped_text

TYPES: Mapping[str, tuple[type[object], ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
ANNOTATIONS = {"$schema", "title", "description", "default", "$defs"}


class Validator:
    """The part of draft 2020-12 that the schema uses; a keyword that it does not know is an error."""

    def __init__(self, schema: dict[str, object]) -> None:
        self.root = schema

    def accepts(self, value: object, schema: object) -> bool:
        assert isinstance(schema, dict)
        return all(
            self._holds(key, rule, value, schema) for key, rule in schema.items() if key not in ANNOTATIONS
        )

    def _holds(self, key: str, rule: object, value: object, schema: Mapping[str, object]) -> bool:
        if key == "$ref":
            assert isinstance(rule, str)
            definitions = self.root["$defs"]
            assert isinstance(definitions, dict)
            return self.accepts(value, definitions[rule.removeprefix("#/$defs/")])
        if key == "type":
            assert isinstance(rule, str)
            return isinstance(value, TYPES[rule]) and (rule == "boolean" or not isinstance(value, bool))
        if key in ("const", "enum"):
            return value in (rule if isinstance(rule, list) else [rule])
        if key in ("anyOf", "oneOf"):
            assert isinstance(rule, list)
            hits = sum(self.accepts(value, option) for option in rule)
            return hits == 1 if key == "oneOf" else hits > 0
        return self._shape(key, rule, value, schema)

    def _shape(self, key: str, rule: object, value: object, schema: Mapping[str, object]) -> bool:
        if isinstance(value, dict):
            if key == "required":
                assert isinstance(rule, list)
                return set(rule) <= set(value)
            if key == "properties":
                assert isinstance(rule, dict)
                return all(self.accepts(value[name], part) for name, part in rule.items() if name in value)
            if key == "additionalProperties":
                named = schema.get("properties", {})
                assert isinstance(named, dict)
                rest = [member for name, member in value.items() if name not in named]
                return not rest if rule is False else all(self.accepts(member, rule) for member in rest)
        if isinstance(value, list) and key == "items":
            return all(self.accepts(item, rule) for item in value)
        return self._scalar(key, rule, value)

    @staticmethod
    def _scalar(key: str, rule: object, value: object) -> bool:
        bounds = {"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "pattern"}
        assert key in bounds | {"required", "properties", "additionalProperties", "items"}, key
        if isinstance(value, str):
            if key == "pattern":
                return re.search(str(rule), value) is not None
            if key in ("minLength", "maxLength"):
                assert isinstance(rule, int)
                return len(value) >= rule if key == "minLength" else len(value) <= rule
        if isinstance(value, int | float) and isinstance(rule, int | float):
            return {"minimum": value >= rule, "maximum": value <= rule, "exclusiveMinimum": value > rule}.get(
                key, True
            )
        return True


def valid(value: object) -> bool:
    schema = policy_schema()
    return Validator(schema).accepts(value, schema)


def blocks() -> list[type[Block]]:
    found = [value for value in vars(model).values() if isinstance(value, type) and issubclass(value, Block)]
    return [block for block in found if block is not Block]


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_policy_is_valid(name: str) -> None:
    assert valid(json.loads(shipped_text(name)))


@pytest.mark.parametrize("block", blocks())
def test_each_model_has_the_keys_of_its_schema_and_is_closed(block: type[Block]) -> None:
    schema = policy_schema()
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    part: object = schema if block is PolicyFile else definitions[block.__name__]
    assert isinstance(part, dict)
    assert tuple(part["properties"]) == block.keys()
    assert part["additionalProperties"] is False
    needed = {field.alias or name for name, field in block.model_fields.items() if field.is_required()}
    assert set(part.get("required", [])) == needed


def test_the_schema_names_its_dialect_and_is_plain_json() -> None:
    schema = policy_schema()
    assert schema["$schema"] == DIALECT
    assert json.loads(json.dumps(schema)) == schema
    assert '"null"' not in json.dumps(schema)


GOOD = {"version": 1, "name": "n", "profile": {"type": "disabled"}}


@pytest.mark.parametrize(
    "value",
    [
        GOOD,
        {**GOOD, "limits": {"wall_s": 1.5, "processes": 1}},
        {**GOOD, "network": {"domains": {"a": "deny"}, "ports": [1, 65535]}},
        {"version": 1, "name": "n", "extends": "build"},
        {**GOOD, "tests": [{"may": "exec", "path": "/"}]},
        {**GOOD, "names": "x"},
        {**GOOD, "version": 2},
        {"version": 1, "name": "n"},
        {**GOOD, "name": ""},
        {**GOOD, "tmp": None},
        {**GOOD, "tmp": "home"},
        {**GOOD, "profile": {"type": "disabled", "network": "enabled"}},
        {**GOOD, "profile": {"type": "managed", "file_system": {"type": "restricted"}}},
        {**GOOD, "limits": {"wall_s": 0}},
        {**GOOD, "limits": {"processes": True}},
        {**GOOD, "limits": {"processes": 0}},
        {**GOOD, "network": {"ports": [65536]}},
        {**GOOD, "network": {"domains": {"a": "maybe"}}},
        {**GOOD, "degrade": ["Not This"]},
        {**GOOD, "tests": [{"may": "exec", "may_not": "exec", "path": "/"}]},
        {**GOOD, "tests": [{"path": "/"}]},
        {**GOOD, "sealed": [{"access": "deny"}]},
        {**GOOD, "environment": {"set": {"A": 1}}},
    ],
)
def test_the_schema_and_the_decoder_agree_on_structure(value: object) -> None:
    try:
        PolicyFile.model_validate(value)
    except ValidationError:
        assert not valid(value)
    else:
        assert valid(value)
