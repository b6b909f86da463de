"""The gaps that mounts leave, each under the name that reports and `degrade` use.

Words only. `tree` attaches them to rules, the planner asks which of them excuse a difference from the oracle.
"""

from __future__ import annotations

from typing import Final

from sandboxing.contract.enforcement import Caveat

MISSING_WRITE: Final = Caveat(
    "missing-root", "nothing stands at this path, so the grant has no effect until it exists at the start"
)
MISSING_NAME: Final = Caveat(
    "missing-name", "nothing stands at this path, and a mount cannot keep the command from creating it"
)
APPEARS_LATER: Final = Caveat(
    "appears-later", "nothing stands at this path; what the host creates there during a run is visible"
)
HOST_REPLACES: Final = Caveat(
    "host-replaces",
    "when somebody outside replaces or removes this path during a run, its cover goes with it",
)
OTHER_NAMES: Final = Caveat(
    "other-names", "a hard link to this file under another visible name is not covered"
)
LINK_NAME: Final = Caveat(
    "link-name", "the policy names a symbolic link; its target is held, the link itself can be replaced"
)
PROC_IS_OWN: Final = Caveat(
    "proc-is-own", "the command sees a /proc of its own, so the host's cannot be granted"
)
INVISIBLE: Final = Caveat("invisible", "the host's path is not visible inside; the sandbox's own may be used")
PINNED: Final = Caveat(
    "pinned", "directories above this path are mounts of their own: rename and link across them answer EXDEV"
)
ATOMIC_REPLACE: Final = Caveat(
    "atomic-replace", "a single file is a mount of its own: replacing it by rename answers EBUSY"
)


EXPLAINS_A_DIFFERENCE: Final = frozenset(
    {MISSING_WRITE.code, MISSING_NAME.code, APPEARS_LATER.code, PROC_IS_OWN.code, INVISIBLE.code}
)
"""The caveats that say that the mounts differ from the rule; the others are about what happens later."""
