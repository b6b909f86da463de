"""The plan of each shipped policy on one made-up machine, as text that a reviewer can read.

After a wanted change, write the files anew and read the difference:

    python -m pytest tests/sandboxing/backends/linux --update-golden
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sandboxing.contract.backend import Planned
from sandboxing.policyfile.shipped import load_shipped, shipped_names
from sandboxing.run.flow import prepare_document
from tests.fakes.confining_host import FACTS, PROJECT, FakeHost, linux_machine

GOLDEN = Path(__file__).parents[4] / "tests" / "golden" / "linux"


def planned(policy: str) -> Planned:
    return prepare_document(
        load_shipped(policy),
        backend=FakeHost(),
        facts=FACTS,
        view=linux_machine().view,
        workspace_roots=(PROJECT,),
    ).planned


def as_text(plan: Planned) -> str:
    codes = sorted({caveat.code for caveat in plan.enforcement.caveats})
    return "\n".join((*plan.plan.lines(), "", f"caveats: {' '.join(codes) or 'none'}")) + "\n"


@pytest.mark.parametrize("policy", shipped_names())
def test_a_shipped_policy_is_planned_as_reviewed(policy: str, request: pytest.FixtureRequest) -> None:
    golden = GOLDEN / f"{policy}.txt"
    text = as_text(planned(policy))
    if request.config.getoption("--update-golden", default=False):
        golden.write_text(text, encoding="utf-8", newline="\n")
    assert text == golden.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert sorted(file.stem for file in GOLDEN.glob("*.txt")) == list(shipped_names())


@pytest.mark.parametrize("policy", shipped_names())
def test_equal_policies_get_equal_digests(policy: str) -> None:
    assert planned(policy).launch == planned(policy).launch
