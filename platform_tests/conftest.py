"""What every platform test shares: who may run which test, and how many examples a property is tried with.

It never hides a missing kernel feature: a test that needs one fails without it. Only a test that needs
to be root is skipped for an ordinary user, who is expected to run the others.
"""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("platform", deadline=None, max_examples=20)
settings.load_profile("platform")

SYSTEM_FOLDERS = {"linux": "linux", "darwin": "macos", "win32": "windows"}

collect_ignore = [folder for system, folder in SYSTEM_FOLDERS.items() if system != sys.platform]


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what only root can do, for everybody else."""
    if _is_root():
        return
    needs_root = pytest.mark.skip(reason="needs uid 0")
    for item in items:
        if item.get_closest_marker("privileged") is not None:
            item.add_marker(needs_root)


def pytest_report_header() -> str:
    """Say in the log who ran the tests, because the answers depend on it."""
    who = "root" if _is_root() else "an ordinary user"
    return f"platform tests on {sys.platform} as {who}"
