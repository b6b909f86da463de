"""What confines the next command is never writable just because it lies in a workspace."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sandboxing.binding.bound import BoundPolicy, BoundRule, FilesystemKind, NetworkMode, PathKind
from sandboxing.binding.decide import decide
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.own_files import OWN_FILES, keep_own_files, program_places
from sandboxing.run.registry import host_dialect


def _rule(path: str, access: AccessMode, *, pointer: str) -> BoundRule:
    rule = RuleId(source="test", pointer=pointer)
    return BoundRule(rule=rule, access=access, path=path, spelled=path, kind=PathKind.DIRECTORY)


def _policy(*rules: BoundRule) -> BoundPolicy:
    return BoundPolicy(
        name="test",
        filesystem=FilesystemKind.RESTRICTED,
        rules=rules,
        network=NetworkMode.RESTRICTED,
        network_rule=RuleId(source="test", pointer="/network"),
        cwd=rules[-1].path,
        workspace_roots=(),
        dialect=host_dialect(),
    )


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    (tmp_path / "venv").mkdir()
    return os.path.realpath(tmp_path)


def test_a_place_below_a_writable_root_becomes_read_only(workspace: str) -> None:
    place = os.path.join(workspace, "venv")
    kept = keep_own_files(_policy(_rule(workspace, AccessMode.WRITE, pointer="/0")), [place])
    answer = decide(kept, Access.WRITE, os.path.join(place, "lib"))
    assert (answer.allowed, answer.rule) == (False, OWN_FILES)
    assert decide(kept, Access.READ, os.path.join(place, "lib")).allowed
    assert decide(kept, Access.WRITE, os.path.join(workspace, "src")).allowed


def test_the_authors_own_rule_at_that_place_is_left_alone(workspace: str) -> None:
    place = os.path.join(workspace, "venv")
    policy = _policy(
        _rule(workspace, AccessMode.WRITE, pointer="/0"), _rule(place, AccessMode.WRITE, pointer="/1")
    )
    assert keep_own_files(policy, [place]) == policy


def test_nothing_is_added_where_the_place_cannot_be_written_anyway(workspace: str) -> None:
    policy = _policy(_rule(workspace, AccessMode.READ, pointer="/0"))
    assert keep_own_files(policy, [os.path.join(workspace, "venv")]) == policy


def test_an_unrestricted_policy_is_left_alone(workspace: str) -> None:
    policy = replace(
        _policy(_rule(workspace, AccessMode.WRITE, pointer="/0")), filesystem=FilesystemKind.UNRESTRICTED
    )
    assert keep_own_files(policy, [os.path.join(workspace, "venv")]) == policy


def test_the_program_knows_where_its_package_lies() -> None:
    assert any(os.path.isfile(os.path.join(place, "run", "own_files.py")) for place in program_places())
