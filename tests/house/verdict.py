"""The end of a house check: no findings, or a failure that lists every one of them.

pytest's own comparison would cut the list short. Used by the tests beside it.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.house.repository import Finding


def expect_none(findings: Iterable[Finding]) -> None:
    """Fail the running test when there is a finding, one line for each, as editors understand it."""
    lines = [str(finding) for finding in sorted(findings)]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)
