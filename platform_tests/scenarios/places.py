"""Scenarios: /dev, and what uid 0 alone may do on a host. /tmp and /proc need a live host beside them."""

import sys

assert sys.platform == "linux"

import os
from typing import Final

from platform_tests.support.scenario import WORKS, Scenario, Verdict, all_of

DEVICES: Final = Scenario(
    name="devices",
    victim="places",
    arguments={"group": "dev"},
    verdicts={
        **all_of("null-read null-write zero urandom standard-streams shared-memory new-terminal", WORKS),
        "full": Verdict("ENOSPC", "ENOSPC"),
        # the node is the host's own, and these would change it for everybody
        **all_of("null-mode null-times input-mode", Verdict("EROFS", outside_ordinary="EPERM")),
        "create": Verdict("EROFS", outside_ordinary="EACCES", inside_ordinary="EROFS"),
        "remove": Verdict("EROFS", outside_ordinary="ok"),
        "new-node": Verdict("EPERM", outside_ordinary="EPERM"),
        "kernel-log": Verdict("ENOENT", outside_ordinary="EPERM"),
    },
)

PRIVILEGES: Final = Scenario(
    name="privileges-of-root",
    victim="places",
    arguments={"group": "privileges"},
    verdicts={
        "chroot": Verdict("EPERM", outside_ordinary="EPERM"),
        # nobody but the caller exists inside
        "become-somebody-else": Verdict("EINVAL", outside_ordinary="EPERM"),
        "set-groups": Verdict("EPERM", outside_ordinary="EPERM"),
        "give-file-away": Verdict("EINVAL", outside_ordinary="EPERM"),
        "host-name": Verdict("EPERM", outside_ordinary="EPERM"),
        "more-priority": Verdict("EACCES", outside_ordinary="EACCES"),
        "real-time": Verdict("EPERM", outside_ordinary="EPERM"),
    },
)

_ROOT_ALONE: Final = Verdict("EROFS", inside_ordinary="EACCES", outside_ordinary="EACCES")

MACHINE: Final = Scenario(
    name="settings-of-the-machine-under-full-access",
    victim="places",
    policy="full-access-no-network",
    arguments={"group": "sys"},
    verdicts={"read-setting": WORKS, "change-setting": _ROOT_ALONE},
)

TMP: Final = {
    "host-file": Verdict("ENOENT"),
    "name": Verdict("/tmp"),
    "create": WORKS,
    "temporary-file": WORKS,
    "directory-mode": Verdict("0o1777", "0o1777"),
    "create-and-leave": WORKS,
}
"""The private /tmp, with a file of the host's that the test makes."""

_COVERED: Final = Verdict("EACCES", outside_ordinary="EACCES")

_PROC_FILES: Final = {
    "core-pattern": ("/proc/sys/kernel/core_pattern", _ROOT_ALONE),
    "modprobe": ("/proc/sys/kernel/modprobe", _ROOT_ALONE),
    "sysrq": ("/proc/sysrq-trigger", _ROOT_ALONE),
    "memory-settings": ("/proc/sys/vm/drop_caches", _ROOT_ALONE),
    "read-settings": ("/proc/sys/kernel/osrelease", WORKS),
    "interrupts": ("/proc/irq/default_smp_affinity", _ROOT_ALONE),
    "kernel-memory": ("/proc/kcore", _COVERED),
    "kernel-timers": ("/proc/timer_list", _COVERED),
    "pressure-trigger": ("/proc/pressure/memory", Verdict("EACCES")),
}
"""Which of these a host has is a matter of how its kernel was built."""


def proc_verdicts() -> dict[str, Verdict]:
    """The private /proc, beside a process of the host's that the test starts."""
    absent = Verdict("ENOENT", "ENOENT")
    return {
        "see-neighbour": Verdict("ENOENT"),
        "signal-neighbour": Verdict("ESRCH"),
        "read-neighbours-environment": Verdict("ENOENT"),
        "see-oneself": WORKS,
        **{
            name: verdict if os.path.exists(path) else absent for name, (path, verdict) in _PROC_FILES.items()
        },
    }


SCENARIOS: Final = (DEVICES, PRIVILEGES, MACHINE)
