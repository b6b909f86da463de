"""Scenarios: changing files outside and inside of what a policy lets a command write."""

import sys

assert sys.platform == "linux"

from typing import Final

from platform_tests.support.scenario import WORKS, Scenario, Verdict, all_of

_LOOKING: Final = all_of("read list stat", WORKS)
_CHANGES: Final = (
    "create create-unnamed open-for-writing open-for-both open-truncating append truncate mkdir mkfifo rmdir "
    "unlink symlink link rename replace rename-folder chmod chown utime setxattr"
)
_ACROSS: Final = "link-in-from-aside rename-in-from-aside rename-out-to-aside link-out-to-aside"


def _files(target: str, aside: str) -> dict[str, str]:
    names = ("file", "doomed", "movable", "source", "replaced", "marked", "leaving", "folder/child")
    return {
        **{f"{target}/{name}": "text" for name in names},
        f"{aside}/linked": "text",
        f"{aside}/moving": "text",
    }


OUTSIDE: Final = Scenario(
    name="outside-the-workspace",
    victim="writing",
    arguments={"target": "{ground}/outside/place", "aside": "{ground}/ws"},
    files=_files("outside/place", "ws"),
    folders=("outside/place/empty",),
    verdicts={
        **_LOOKING,
        **all_of(_CHANGES, Verdict("EROFS")),
        # a name on another mount: the new name is looked at first when linking, the mounts when renaming
        "link-in-from-aside": Verdict("EROFS"),
        "rename-in-from-aside": Verdict("EXDEV"),
        "rename-out-to-aside": Verdict("EXDEV"),
        "link-out-to-aside": Verdict("EXDEV"),
    },
)

WORKSPACE: Final = Scenario(
    name="inside-the-workspace",
    victim="writing",
    arguments={"target": "{ground}/ws/place", "aside": "{ground}/ws"},
    files=_files("ws/place", "ws"),
    folders=("ws/place/empty",),
    verdicts={**_LOOKING, **all_of(f"{_CHANGES} {_ACROSS}", WORKS)},
)

READ_ONLY: Final = Scenario(
    name="workspace-under-read-only",
    victim="writing",
    policy="read-only",
    arguments={"target": "{ground}/ws/place", "aside": "{ground}/ws"},
    files=_files("ws/place", "ws"),
    folders=("ws/place/empty",),
    verdicts={**_LOOKING, **all_of(f"{_CHANGES} {_ACROSS}", Verdict("EROFS"))},
)

FULL_ACCESS: Final = Scenario(
    name="everything-under-full-access",
    victim="writing",
    policy="full-access-no-network",
    arguments={"target": "{ground}/outside/place", "aside": "{ground}/ws"},
    files=_files("outside/place", "ws"),
    folders=("outside/place/empty",),
    verdicts={**_LOOKING, **all_of(f"{_CHANGES} {_ACROSS}", WORKS)},
)

READ_ONLY_CARVE_OUT: Final = Scenario(
    name="read-only-folder-in-the-workspace",
    victim="writing",
    policy={
        "extends": "workspace-write",
        "profile": {
            "type": "managed",
            "file_system": {
                "type": "restricted",
                "entries": [{"path": {"type": "path", "path": "{ground}/ws/a/place"}, "access": "read"}],
            },
        },
    },
    arguments={"target": "{ground}/ws/a/place", "aside": "{ground}/ws"},
    files=_files("ws/a/place", "ws"),
    folders=("ws/a/place/empty",),
    verdicts={
        **_LOOKING,
        **all_of(_CHANGES, Verdict("EROFS")),
        "link-in-from-aside": Verdict("EROFS"),
        "rename-in-from-aside": Verdict("EXDEV"),
        "rename-out-to-aside": Verdict("EXDEV"),
        "link-out-to-aside": Verdict("EXDEV"),
    },
)

SCENARIOS: Final = (OUTSIDE, WORKSPACE, READ_ONLY, FULL_ACCESS, READ_ONLY_CARVE_OUT)
