"""A plan survives the trip to the spawner, and equal plans are equal bytes."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.backends.linux.steps import LinuxPlan, Namespace, Step, decode_plan, encode_plan
from tests.sandboxing.backends.linux.plans import Subject, plan_subjects

KINDS: tuple[type[Step], ...] = get_args(Step)

steps: st.SearchStrategy[Step] = st.one_of(*(st.builds(kind) for kind in KINDS))
plans = st.builds(
    LinuxPlan,
    namespaces=st.lists(st.sampled_from(Namespace), unique=True).map(tuple),
    steps=st.lists(steps, max_size=8).map(tuple),
)


@given(plans)
def test_decoding_is_the_inverse_of_encoding(plan: LinuxPlan) -> None:
    assert decode_plan(encode_plan(plan)) == plan


@given(plans)
def test_the_encoding_is_ascii_json_of_one_line(plan: LinuxPlan) -> None:
    encoded = encode_plan(plan)
    assert encoded.isascii()
    assert b"\n" not in encoded
    assert [step["op"] for step in json.loads(encoded)["steps"]] == [
        type(step).__name__ for step in plan.steps
    ]


@given(plans, plans)
def test_different_plans_are_different_bytes(one: LinuxPlan, other: LinuxPlan) -> None:
    assert (encode_plan(one) == encode_plan(other)) == (one == other)


@given(plan_subjects())
def test_what_the_planner_makes_is_what_the_spawner_gets(subject: Subject) -> None:
    assert decode_plan(subject.planned.launch.steps) == subject.plan


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_every_kind_of_step_has_a_line_of_its_own(kind: type[Step]) -> None:
    assert kind.__str__ is not object.__str__


@given(plans)
def test_a_plan_is_printed_a_line_a_step(plan: LinuxPlan) -> None:
    assert len(plan.lines()) == 1 + len(plan.steps)
