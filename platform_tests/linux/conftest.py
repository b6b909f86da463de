"""Fixtures of the Linux platform tests: who runs, and the ground that they run on.

A test that takes `identity` runs once for everybody whom the tester can be; its id says whom.
"""

import sys

assert sys.platform == "linux"

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from platform_tests.support.ground import Ground, ground_for
from platform_tests.support.identity import Identity, identities


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test as everybody possible."""
    if "identity" in metafunc.fixturenames:
        everybody = identities()
        metafunc.parametrize("identity", everybody, ids=[one.name for one in everybody])


@pytest.fixture
def new_ground(identity: Identity) -> Iterator[Callable[[], Ground]]:
    """Makes grounds for this test's identity."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(ground_for(identity))


@pytest.fixture
def ground(new_ground: Callable[[], Ground]) -> Ground:
    """One ground for this test's identity."""
    return new_ground()
