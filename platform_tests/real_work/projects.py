"""Which projects are built and tested, with which versions, how, and which differences are excused.

Data only: it never runs anything and never looks at the machine. Used by the rest of this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

SITE = "_site"
"""Where a copy's own build is installed, relative to the copy."""

JUNIT_FILE = "_junit.xml"
"""Where pytest writes what became of each test, relative to the copy."""


class Results(Enum):
    """Which files tell what became of each test."""

    JUNIT = "junit"
    AUTOMAKE = "automake"


class Place(Enum):
    """Where the workspace lies."""

    WORK = "below the work directory"
    SLASH_TMP = "below /tmp, which is private in the sandbox but for the workspace"


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a build, started in the top directory of the copy.

    Attributes:
        name: what to call it in the summary.
        argv: the command; `{copy}` stands for the copy's absolute path.
        env: variables on top of those that every step gets, with the same stand-in.
    """

    name: str
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """A source distribution and what is done with it.

    Attributes:
        name: what `--only` takes.
        distribution: name of the source distribution.
        version: its pinned version.
        requirements: what building and testing need, installed beforehand.
        steps: the build and the tests.
        results: how the tests tell their outcomes.
        least_tests: fewer tests than this mean that the suite did not really run.
        built: names of files, as glob patterns below the copy, that a real build leaves.
        known_failures: ids of tests that may fail on both sides, for a reason that is given there.
        subdirectory: the part of the source distribution that is built.
        place: where the workspace lies.
    """

    name: str
    distribution: str
    version: str
    requirements: tuple[str, ...]
    steps: tuple[Step, ...]
    results: Results
    least_tests: int
    built: tuple[str, ...] = ()
    known_failures: frozenset[str] = frozenset()
    subdirectory: str = "."
    place: Place = Place.WORK


@dataclass(frozen=True, slots=True)
class ExpectedDifference:
    """A test that needs what the policy denies, and may therefore end otherwise in the sandbox.

    Attributes:
        project: name of the project.
        test: the test's id.
        outside: its outcomes without a sandbox.
        inside: its outcomes in the sandbox.
        reason: which denial it is, and why the policy is right to deny it.
    """

    project: str
    test: str
    outside: tuple[str, ...]
    inside: tuple[str, ...]
    reason: str


_INSTALL: Final = Step(
    name="build",
    argv=(
        *("python", "-m", "pip", "install", "--quiet"),
        *("--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "--disable-pip-version-check"),
        *("--target", SITE, "."),
    ),
)
"""Builds the copy with its own build backend, compiled parts included, and fetches nothing."""


def _pytest(*arguments: str) -> Step:
    return Step(
        name="test",
        argv=("python", "-m", "pytest", "-q", f"--junitxml={JUNIT_FILE}", *arguments),
        env=(("PYTHONPATH", f"{{copy}}/{SITE}"),),
    )


_PYTEST: Final = "pytest==9.0.2"
_MYPY: Final = "mypy==1.18.2"
"""Some tests start it in a process of its own; later ones word messages otherwise than those tests expect."""

_SETUPTOOLS: Final = ("setuptools==80.9.0", "wheel==0.45.1")

_ATTRS: Final = Project(
    name="attrs",
    distribution="attrs",
    version="26.1.0",
    requirements=(
        *("hatchling==1.28.0", "hatch-vcs==0.5.0", "hatch-fancy-pypi-readme==25.1.0"),
        *(_PYTEST, "hypothesis==6.150.0", "cloudpickle==3.1.2", "pympler==1.1"),
        *("pytest-mypy-plugins==3.2.0", _MYPY),
    ),
    # a fixed seed: both runs have to try the same examples
    steps=(_INSTALL, _pytest("--hypothesis-seed=0")),
    results=Results.JUNIT,
    least_tests=1450,
    # needs `inspect.signature` of a callable instance as later patch releases of Python 3.11 have it
    known_failures=frozenset({"tests.test_converters.TestPipe::test_wrapped_annotation"}),
)

_CLICK: Final = Project(
    name="click",
    distribution="click",
    version="8.3.1",
    requirements=("flit_core==3.12.0", _PYTEST),
    steps=(_INSTALL, _pytest()),
    results=Results.JUNIT,
    least_tests=1300,
)

_MARKUPSAFE: Final = Project(
    name="markupsafe",
    distribution="markupsafe",
    version="3.0.3",
    requirements=(*_SETUPTOOLS, _PYTEST),
    steps=(_INSTALL, _pytest()),
    results=Results.JUNIT,
    least_tests=75,
    built=(f"{SITE}/markupsafe/_speedups.*.so",),
)

_WRAPT: Final = Project(
    name="wrapt",
    distribution="wrapt",
    version="2.0.1",
    requirements=(*_SETUPTOOLS, _PYTEST, _MYPY),
    steps=(_INSTALL, _pytest("tests")),
    results=Results.JUNIT,
    least_tests=550,
    built=(f"{SITE}/wrapt/_wrappers.*.so",),
)

_MARKUPSAFE_IN_TMP: Final = Project(
    name="markupsafe-tmp",
    distribution=_MARKUPSAFE.distribution,
    version=_MARKUPSAFE.version,
    requirements=_MARKUPSAFE.requirements,
    steps=_MARKUPSAFE.steps,
    results=_MARKUPSAFE.results,
    least_tests=_MARKUPSAFE.least_tests,
    built=_MARKUPSAFE.built,
    place=Place.SLASH_TMP,
)

_LIBSODIUM: Final = Project(
    name="libsodium",
    distribution="pynacl",
    version="1.6.1",
    requirements=(),
    steps=(
        Step(name="configure", argv=("./configure", "--disable-dependency-tracking")),
        Step(name="make", argv=("make", "-j2")),
        Step(name="check", argv=("make", "-j2", "check")),
        Step(name="install", argv=("make", "install", "DESTDIR={copy}/_install")),
    ),
    results=Results.AUTOMAKE,
    least_tests=75,
    built=("_install/usr/local/lib/libsodium.so.*", "_install/usr/local/lib/libsodium.a"),
    subdirectory="src/libsodium",
)

PROJECTS: Final = (_ATTRS, _CLICK, _MARKUPSAFE, _WRAPT, _MARKUPSAFE_IN_TMP, _LIBSODIUM)
"""Everything that is run when `--only` does not choose."""

EXPECTED: Final[tuple[ExpectedDifference, ...]] = ()
"""Every excused difference. An entry that does not come true fails the run like any other difference."""
