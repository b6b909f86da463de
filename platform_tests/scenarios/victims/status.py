"""Victim: tells what it is, without trying anything: credentials, namespaces, descriptors, limits."""

import sys

assert sys.platform == "linux"

import json
import os

_NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
_FIELDS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid", "NSpid")


def _status() -> dict[str, str]:
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return {name: fields[name] for name in _FIELDS}


def _descriptors() -> list[int]:
    # the descriptor of the listing itself is among the names, and gone when they are looked at
    return sorted(
        int(name) for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")
    )


def _first_process() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in ("cmdline", "environ"):
        try:
            with open(f"/proc/1/{name}", "rb") as file:
                found[name] = file.read().strip(b"\0").decode()
        except PermissionError:
            found[name] = None
    return found


def main() -> None:
    """Print it all."""
    json.dump(
        {
            "status": _status(),
            "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES},
            "descriptors": _descriptors(),
            "pid": os.getpid(),
            "parent": os.getppid(),
            "session": os.getsid(0),
            "processes": sum(name.isdecimal() for name in os.listdir("/proc")),
            "first": _first_process(),
            "environment": sorted(os.environ),
            "interfaces": _interfaces(),
        },
        sys.stdout,
    )


def _interfaces() -> list[str]:
    with open("/proc/net/dev", encoding="ascii") as file:
        return [line.split(":")[0].strip() for line in file if ":" in line]


if __name__ == "__main__":
    main()
