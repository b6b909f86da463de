"""`sandboxctl policies` and `sandboxctl schema`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from sandboxing.cli.commands import sandboxctl
from sandboxing.policyfile.schema import policy_schema
from sandboxing.policyfile.shipped import load_shipped, shipped_names, shipped_text


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sandboxctl, list(arguments))


def test_the_list_names_and_describes_every_shipped_policy() -> None:
    result = run("policies")
    assert result.exit_code == 0
    names = [line.split(maxsplit=1)[0] for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert tuple(names) == shipped_names()
    assert max(map(len, result.stdout.splitlines())) <= 100
    words = " ".join(result.stdout.split())
    for name in shipped_names():
        assert " ".join(load_shipped(name).description.split()) in words


def test_the_list_as_json() -> None:
    told = json.loads(run("policies", "--json").stdout)
    assert told["version"] == 1
    assert [policy["name"] for policy in told["policies"]] == list(shipped_names())


@pytest.mark.parametrize("name", shipped_names())
def test_a_name_prints_the_document_as_it_stands(name: str) -> None:
    assert run("policies", name).stdout == shipped_text(name)
    assert json.loads(run("policies", name, "--json").stdout)["text"] == shipped_text(name)


def test_an_unknown_name_is_an_error_with_a_suggestion() -> None:
    result = run("policies", "read_only")
    assert (result.exit_code, result.stdout) == (125, "")
    assert "hint: did you mean `read-only`?" in result.stderr


def test_the_schema_is_printed_as_json() -> None:
    result = run("schema")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == policy_schema()
