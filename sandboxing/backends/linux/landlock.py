"""Landlock as the second lock: the file-system rules once more, and the scopes.

It knows rights as of an ABI, never "all bits", so that a newer kernel changes nothing silently. Called by
the step interpreter inside the new root, because a ruleset must know the sandbox's own file systems.
"""

import os
import stat
import sys

assert sys.platform == "linux"

import landlockpy

from sandboxing.backends.linux.steps import Landlock, Writability


def kernel_abi() -> int:
    """The Landlock ABI this kernel and the binding both know; 0 when there is none."""
    return min(landlockpy.abi_version(), landlockpy.flags.LATEST_ABI)


def restrict(step: Landlock) -> None:
    """Restrict this process, and all it starts, to the step's rules.

    Raises:
        OSError: the kernel refused a rule or the ruleset.
    """
    handled = landlockpy.fs_for_abi(step.abi) if step.rules else landlockpy.AccessFS.NONE
    scopes = landlockpy.scope_for_abi(step.abi) if step.scopes else landlockpy.Scope.NONE
    if not handled and not scopes:
        return
    ruleset = landlockpy.Ruleset(
        handled_fs=handled,
        handled_net=landlockpy.AccessNet.NONE,
        scoped=scopes,
        best_effort=False,
    )
    try:
        for rule in step.rules:
            rights = _READ if rule.writability is Writability.READ_ONLY else handled
            if not stat.S_ISDIR(os.stat(rule.path).st_mode):
                rights &= _FILE_RIGHTS
            ruleset.allow_path(rule.path, rights)
        # no_new_privs is a step of its own, taken before this one
        ruleset.restrict(no_new_privs=False)
    finally:
        ruleset.close()


_READ = landlockpy.AccessFS.EXECUTE | landlockpy.AccessFS.READ_FILE | landlockpy.AccessFS.READ_DIR
_FILE_RIGHTS = (
    landlockpy.AccessFS.EXECUTE
    | landlockpy.AccessFS.READ_FILE
    | landlockpy.AccessFS.WRITE_FILE
    | landlockpy.AccessFS.TRUNCATE
    | landlockpy.AccessFS.IOCTL_DEV
    | landlockpy.AccessFS.RESOLVE_UNIX
)
