"""What decides about the next run is not for the command to change: program, policy, and where the report goes."""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Callable

from platform_tests.support.ground import CHECKOUT, Ground
from platform_tests.support.sandboxctl import run_as, run_sandboxctl

OVERWRITE = ["sh", "-c", 'for file; do : >> "$file" || exit 1; done', "sh"]


def test_the_program_cannot_be_changed_even_where_a_policy_lets_its_folder_be(ground: Ground) -> None:
    policy = ground.policy(
        {
            "extends": "workspace-write",
            "profile": {
                "type": "managed",
                "file_system": {
                    "type": "restricted",
                    "entries": [
                        {"path": {"type": "path", "path": path}, "access": "write"}
                        for path in (CHECKOUT, sys.prefix)
                    ],
                },
            },
        }
    )
    for inside in (
        os.path.join(CHECKOUT, "sandboxing", "__init__.py"),
        os.path.join(sys.prefix, "pyvenv.cfg"),
    ):
        control = run_as(ground, [*OVERWRITE, inside])
        assert control.code == (0 if ground.identity.is_root or os.access(inside, os.W_OK) else 1)
        run = run_sandboxctl(ground, [*OVERWRITE, inside], policy=policy)
        assert run.code != 0
        assert "Read-only file system" in run.stderr


def test_the_policy_in_use_cannot_be_changed_where_it_lies_in_the_workspace(
    new_ground: Callable[[], Ground],
) -> None:
    for sandboxed in (False, True):
        ground = new_ground()
        policy = ground.file("ws/policy.json", '{"version": 1, "name": "p", "extends": "workspace-write"}')
        if not sandboxed:
            assert run_as(ground, [*OVERWRITE, policy]).code == 0
            continue
        run = run_sandboxctl(ground, [*OVERWRITE, policy], policy=policy)
        assert run.code != 0
        assert "Read-only file system" in run.stderr
        run = run_sandboxctl(ground, ["mv", policy, "elsewhere"], policy=policy)
        assert run.code != 0
        assert "Device or resource busy" in run.stderr


def test_a_report_is_not_written_through_a_link_that_the_command_leaves(ground: Ground) -> None:
    target = ground.file("outside/target", "as before")
    report = ground.at("ws", "report.json")
    script = 'rm -f report.json; ln -s "$1" report.json'
    run = run_sandboxctl(ground, ["sh", "-c", script, "sh", target], options=("--report", report))
    assert run.code == 0
    with open(target, encoding="utf-8") as file:
        assert file.read() == "as before"
