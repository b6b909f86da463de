"""Scenarios: names that stay as they are directly below each writable root, and are ordinary deeper down."""

import sys

assert sys.platform == "linux"

from typing import Final

from platform_tests.support.scenario import WORKS, Scenario, Verdict

_NAMES: Final = (".git", ".agents", ".codex", ".aws")


def _scenario(name: str) -> Scenario:
    return Scenario(
        name=f"protected-{name.removeprefix('.')}",
        victim="names",
        arguments={
            "name": f"{{ground}}/ws/{name}",
            "spare": "{ground}/ws/spare",
            "file": f"{{ground}}/ws/{name}/file",
            "spare_file": "{ground}/ws/spare-file",
        },
        files={f"ws/{name}/config": "", f"ws/{name}/file": "", "ws/spare-file": ""},
        folders=("ws/spare",),
        verdicts={
            "chmod-folder": Verdict("EROFS"),
            "utime-folder": Verdict("EROFS"),
            "replace-by-folder": Verdict("EBUSY", "ENOTEMPTY"),
            "rename-folder": Verdict("EBUSY"),
            "rename-folder-back": Verdict("ENOENT"),
            "remove-content": Verdict("EROFS"),
            "rmdir": Verdict("EBUSY", "ENOTEMPTY"),
            "unlink-file": Verdict("EROFS"),
            "create-file-again": Verdict("EEXIST"),
            "replace-file": Verdict("EXDEV"),
            "rename-file": Verdict("EROFS"),
        },
    )


POINTER: Final = Scenario(
    name="protected-git-pointer-file",
    victim="names",
    # a worktree's `.git` is a file that names the real directory
    arguments={
        "name": "{ground}/ws/.agents",
        "spare": "{ground}/ws/spare",
        "file": "{ground}/ws/.git",
        "spare_file": "{ground}/ws/spare-file",
    },
    files={"ws/.git": "gitdir: elsewhere\n", "ws/.agents/config": "", "ws/spare-file": ""},
    folders=("ws/spare",),
    verdicts={
        "chmod-folder": Verdict("EROFS"),
        "utime-folder": Verdict("EROFS"),
        "replace-by-folder": Verdict("EBUSY", "ENOTEMPTY"),
        "rename-folder": Verdict("EBUSY"),
        "rename-folder-back": Verdict("ENOENT"),
        "remove-content": Verdict("EROFS"),
        "rmdir": Verdict("EBUSY"),
        "unlink-file": Verdict("EBUSY"),
        "create-file-again": Verdict("EEXIST"),
        "replace-file": Verdict("EBUSY"),
        "rename-file": Verdict("EBUSY"),
    },
)

DEEPER: Final = Scenario(
    name="same-name-deeper-down",
    victim="names",
    arguments={
        "name": "{ground}/ws/sub/.git",
        "spare": "{ground}/ws/spare",
        "file": "{ground}/ws/sub/.git/file",
        "spare_file": "{ground}/ws/spare-file",
    },
    files={"ws/sub/.git/config": "", "ws/sub/.git/file": "", "ws/spare-file": ""},
    folders=("ws/spare",),
    verdicts={
        "chmod-folder": WORKS,
        "utime-folder": WORKS,
        "replace-by-folder": Verdict("ENOTEMPTY", "ENOTEMPTY"),
        "rename-folder": WORKS,
        "rename-folder-back": WORKS,
        "remove-content": WORKS,
        "rmdir": Verdict("ENOTEMPTY", "ENOTEMPTY"),
        "unlink-file": WORKS,
        "create-file-again": WORKS,
        "replace-file": WORKS,
        "rename-file": WORKS,
    },
)

SCENARIOS: Final = (*(_scenario(name) for name in _NAMES), POINTER, DEEPER)
