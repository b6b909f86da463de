"""Every rule of a shipped policy says why it is there.

It looks only for reasons and knows no schema; decoding belongs to `sandboxing.policyfile`. Used by the
test beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from tests.house.repository import Finding, SourceFile


def _rules(value: object, pointer: str) -> Iterator[tuple[str, dict[str, object]]]:
    if isinstance(value, dict):
        if "access" in value and "path" in value:
            yield pointer, value
        for key, child in value.items():
            yield from _rules(child, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _rules(child, f"{pointer}/{index}")


def without_reason(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Rules, which are objects with a `path` and an `access`, whose `why` is missing or empty."""
    for file in files:
        if not (file.path.startswith("policies/") and file.path.endswith(".json")):
            continue
        for pointer, rule in _rules(json.loads(file.text), pointer=""):
            why = rule.get("why")
            if not (isinstance(why, str) and why.strip()):
                yield Finding(file.path, line=1, rule=f"the rule at `{pointer}` has no `why`")
