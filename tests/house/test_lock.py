"""The lock of the checks names every declared dependency once, at one version, and nothing but versions."""

from __future__ import annotations

import re
import tomllib

from tests.house.repository import ROOT

PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.!+]+)")
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pins() -> list[str]:
    lines = (ROOT / ".ci" / "lock.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(line for group in project["project"]["optional-dependencies"].values() for line in group),
    ]
    names = {_normalised(match[0]) for match in map(NAME.match, requirements) if match is not None}
    return names - {_normalised(project["project"]["name"])}


def test_every_line_of_the_lock_is_a_version() -> None:
    assert [line for line in _pins() if PIN.fullmatch(line) is None] == []


def test_the_lock_is_sorted_and_names_everything_once() -> None:
    names = [_normalised(line.partition("==")[0]) for line in _pins()]
    assert names == sorted(set(names))


def test_every_declared_dependency_is_locked() -> None:
    assert _declared() - {_normalised(line.partition("==")[0]) for line in _pins()} == set()
