"""The option that writes golden plans anew; pytest knows it when this directory is named on its command line."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")
