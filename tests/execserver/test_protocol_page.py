"""execserver/PROTOCOL.md names what the types define, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

from execserver.protocol import process
from execserver.protocol.error_codes import RpcCode
from execserver.protocol.methods import METHODS

_PAGE = (Path(__file__).parents[2] / "execserver" / "PROTOCOL.md").read_text(encoding="utf-8")


def test_the_table_of_methods_is_the_table_of_the_code() -> None:
    assert re.findall(r"^\| `([\w/]+)` \|", _PAGE, re.MULTILINE) == list(METHODS)


def test_every_parameter_in_the_table_exists_under_that_name() -> None:
    rows = re.findall(r"^\| `([\w/]+)` \| ([^|]*) \|", _PAGE, re.MULTILINE)
    for name, parameters in rows:
        known = {field.alias or key for key, field in METHODS[name].params.model_fields.items()}
        for parameter in re.findall(r"`(\w+)\??`", re.sub(r"\([^)]*\)", "", parameters)):
            assert parameter in known, (name, parameter)


def test_every_notification_and_every_code_is_named() -> None:
    for notification in (process.OUTPUT, process.EXITED, process.CLOSED):
        assert f"`{notification}`" in _PAGE
    for code in RpcCode:
        assert str(int(code)) in _PAGE
