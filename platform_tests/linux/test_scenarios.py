"""Every scenario of the folder beside, as everybody: first without the sandbox, then in it."""

import sys

assert sys.platform == "linux"

from collections.abc import Callable

import pytest

from platform_tests.scenarios import masks, places, protected, system_calls, writing
from platform_tests.support.ground import Ground
from platform_tests.support.scenario import Scenario, play_inside, play_outside

SCENARIOS = (
    *writing.SCENARIOS,
    *protected.SCENARIOS,
    *masks.SCENARIOS,
    *system_calls.SCENARIOS,
    *places.SCENARIOS,
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.name for scenario in SCENARIOS])
def test_the_sandbox_alone_makes_the_difference(scenario: Scenario, new_ground: Callable[[], Ground]) -> None:
    outside = new_ground()
    assert play_outside(scenario, outside) == scenario.expected_outside(outside)
    inside = new_ground()
    assert play_inside(scenario, inside) == scenario.expected_inside(inside)
