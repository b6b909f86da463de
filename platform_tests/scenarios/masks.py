"""Scenarios: what a policy denies cannot be reached by any name, and its cover cannot be moved away."""

import sys

assert sys.platform == "linux"

from collections.abc import Sequence
from typing import Any, Final

from platform_tests.support.scenario import WORKS, Scenario, Verdict, all_of


def _extending(entries: Sequence[tuple[str, str]], **more: object) -> dict[str, Any]:
    return {
        "extends": "workspace-write",
        "profile": {
            "type": "managed",
            "file_system": {
                "type": "restricted",
                "entries": [
                    {"path": {"type": "path", "path": path}, "access": access} for path, access in entries
                ],
            },
        },
        **more,
    }


def _files(top: str) -> dict[str, str]:
    return {f"{top}/{name}": "secret" for name in ("secret", "secret-two", "vault/key")}


def _links(top: str) -> dict[str, str]:
    return {
        f"{top}/link-to-secret": f"{{ground}}/{top}/secret",
        f"{top}/link-to-vault": f"{{ground}}/{top}/vault",
    }


_COVERED: Final = {
    **all_of(
        "read read-by-child read-through-symlink read-through-self-root read-through-self-cwd "
        "read-through-path-descriptor open-for-writing list-folder enter-folder read-in-folder "
        "stat-in-folder read-in-folder-from-descriptor read-through-symlinked-folder create-in-folder",
        Verdict("EACCES"),
    ),
    # the link of pid 1 may be followed only by who may trace it, and pid 1 of the sandbox cannot be traced
    "read-through-init-root": Verdict("EACCES"),
    "open-truncating": Verdict("EROFS"),
    "execute": Verdict("False", "True"),
    "chmod": Verdict("EROFS"),
    "chmod-folder": Verdict("EROFS"),
}

IN_WORKSPACE: Final = Scenario(
    name="denied-in-the-workspace",
    victim="secrets",
    policy=_extending(
        [
            ("{ground}/ws/conf/secret", "deny"),
            ("{ground}/ws/conf/secret-two", "deny"),
            ("{ground}/ws/conf/vault", "deny"),
        ]
    ),
    arguments={"top": "{ground}/ws/conf", "second": "secret-two"},
    files=_files("ws/conf"),
    links=_links("ws/conf"),
    verdicts={
        **_COVERED,
        "link": Verdict("EXDEV"),
        "rename": Verdict("EBUSY"),
        "rename-folder": Verdict("EBUSY"),
        "unlink": Verdict("EBUSY"),
        # the directory above is held in place, or the covered name would move with it
        "rename-parent": Verdict("EBUSY"),
        "rename-parent-back": Verdict("ENOENT"),
    },
)

OUTSIDE: Final = Scenario(
    name="denied-outside-the-workspace",
    victim="secrets",
    policy=_extending(
        [
            ("{ground}/outside/conf/secret", "deny"),
            ("{ground}/outside/conf/secret-two", "deny"),
            ("{ground}/outside/conf/vault", "deny"),
        ]
    ),
    arguments={"top": "{ground}/outside/conf", "second": "secret-two"},
    files=_files("outside/conf"),
    links=_links("outside/conf"),
    verdicts={
        **_COVERED,
        "link": Verdict("EROFS"),
        "rename": Verdict("EROFS"),
        "rename-folder": Verdict("EROFS"),
        "unlink": Verdict("EROFS"),
        "rename-parent": Verdict("EROFS"),
        "rename-parent-back": Verdict("EROFS"),
    },
)

GLOB: Final = Scenario(
    name="denied-by-glob",
    victim="reading",
    policy={
        "extends": "workspace-write",
        "profile": {
            "type": "managed",
            "file_system": {
                "type": "restricted",
                "entries": [
                    {
                        "path": {"type": "glob_pattern", "pattern": ":workspace_roots/**/*.pem"},
                        "access": "deny",
                    }
                ],
            },
        },
    },
    arguments={
        "at-the-top": "{ground}/ws/a.pem",
        "deep": "{ground}/ws/x/y/b.pem",
        "folder": "{ground}/ws/x/c.pem",
        "in-folder": "{ground}/ws/x/c.pem/key",
        "other-ending": "{ground}/ws/x/y/b.pen",
        "outside-the-root": "{ground}/outside/d.pem",
    },
    files={
        "ws/a.pem": "secret",
        "ws/x/y/b.pem": "secret",
        "ws/x/y/b.pen": "",
        "ws/x/c.pem/key": "secret",
        "outside/d.pem": "",
    },
    verdicts={
        **all_of("at-the-top deep folder in-folder", Verdict("EACCES")),
        **all_of("other-ending outside-the-root", WORKS),
    },
)

GLOB_HELD: Final = Scenario(
    name="denied-by-glob-and-held",
    victim="secrets",
    policy={
        "extends": "workspace-write",
        "profile": {
            "type": "managed",
            "file_system": {
                "type": "restricted",
                "entries": [
                    {
                        "path": {"type": "glob_pattern", "pattern": f":workspace_roots/conf/{name}"},
                        "access": "deny",
                    }
                    for name in ("secret*", "vau*")
                ],
            },
        },
    },
    arguments={"top": "{ground}/ws/conf", "second": "secret-two"},
    files=_files("ws/conf"),
    links=_links("ws/conf"),
    verdicts=IN_WORKSPACE.verdicts,
)

REOPENED: Final = Scenario(
    name="denied-and-opened-again-below",
    victim="reading",
    policy=_extending([("{ground}/outside/den", "deny"), ("{ground}/outside/den/open/door", "read")]),
    arguments={
        "denied-folder": "{ground}/outside/den",
        "opened": "{ground}/outside/den/open/door",
        "in-opened": "{ground}/outside/den/open/door/file",
        # what lies beside the opened part is not shown at all
        "denied-file": "{ground}/outside/den/file",
    },
    files={"outside/den/file": "secret", "outside/den/open/door/file": ""},
    verdicts={
        "denied-folder": Verdict("EACCES"),
        "opened": WORKS,
        "in-opened": WORKS,
        "denied-file": Verdict("ENOENT"),
    },
)

SEALED: Final = Scenario(
    name="sealed-and-not-opened-again",
    victim="reading",
    policy=_extending(
        [("{ground}/outside/den/open", "read")],
        sealed=[{"path": {"type": "path", "path": "{ground}/outside/den"}, "access": "deny"}],
    ),
    arguments={
        "sealed-folder": "{ground}/outside/den",
        "granted": "{ground}/outside/den/open",
        "in-granted": "{ground}/outside/den/open/file",
    },
    files={"outside/den/open/file": "secret"},
    verdicts=all_of("sealed-folder granted in-granted", Verdict("EACCES")),
)

HOME_SECRETS: Final = Scenario(
    name="secrets-of-the-home-directory",
    victim="reading",
    arguments={
        "ssh": "{ground}/home/.ssh",
        "ssh-key": "{ground}/home/.ssh/id_ed25519",
        "aws": "{ground}/home/.aws/credentials",
        "netrc": "{ground}/home/.netrc",
        "git-credentials": "{ground}/home/.git-credentials",
        "gh": "{ground}/home/.config/gh/hosts.yml",
        "ordinary-settings": "{ground}/home/.config/editor",
        "npmrc": "{ground}/home/.npmrc",
    },
    files={
        f"home/{name}": "secret"
        for name in (
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".netrc",
            ".git-credentials",
            ".config/gh/hosts.yml",
            ".config/editor",
            ".npmrc",
        )
    },
    verdicts={
        **all_of("ssh ssh-key aws netrc git-credentials gh", Verdict("EACCES")),
        **all_of("ordinary-settings npmrc", WORKS),
    },
)

SCENARIOS: Final = (IN_WORKSPACE, OUTSIDE, GLOB, GLOB_HELD, REOPENED, SEALED, HOME_SECRETS)
