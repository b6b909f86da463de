"""What decides about the next run is not the command's to change: program, policy, where the report goes."""

import sys

assert sys.platform == "linux"

import os
from collections.abc import Callable

from platform_tests.support.ground import CHECKOUT, Ground, ground_for
from platform_tests.support.identity import own_identity
from platform_tests.support.sandboxctl import run_as, run_sandboxctl

OVERWRITE = ["sh", "-c", 'for file; do : >> "$file" || exit 1; done', "sh"]


def test_the_program_cannot_be_changed_even_where_a_policy_lets_its_folder_be() -> None:
    # as the tester, because nobody else may be able to change the checkout in the first place
    with ground_for(own_identity()) as ground:
        policy = ground.policy(
            {
                "extends": "workspace-write",
                "profile": {
                    "type": "managed",
                    "file_system": {
                        "type": "restricted",
                        "entries": [{"path": {"type": "path", "path": CHECKOUT}, "access": "write"}],
                    },
                },
            }
        )
        program = os.path.join(CHECKOUT, "sandboxing", "__init__.py")
        beside = os.path.join(CHECKOUT, "platform_tests", "conftest.py")
        assert run_as(ground, [*OVERWRITE, program, beside]).code == 0
        assert run_sandboxctl(ground, [*OVERWRITE, beside], policy=policy).code == 0
        run = run_sandboxctl(ground, [*OVERWRITE, program], policy=policy)
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
