"""What a confined command is: credentials, namespaces, descriptors, and what of the host it still sees."""

import sys

assert sys.platform == "linux"

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from platform_tests.scenarios import places
from platform_tests.support.ground import Ground
from platform_tests.support.identity import ORDINARY_UID, Identity
from platform_tests.support.sandboxctl import run_as, run_sandboxctl
from platform_tests.support.scenario import Verdict, answers_of

NO_CAPABILITY = "0" * 16


def status_inside(ground: Ground, **more: Any) -> Any:  # noqa: ANN401 - passed on
    return answers_of(run_sandboxctl(ground, ground.victim("status", {}), **more))


def status_outside(ground: Ground) -> Any:  # noqa: ANN401 - JSON
    return answers_of(run_as(ground, ground.victim("status", {})))


def expected(verdicts: Mapping[str, Verdict], ground: Ground, *, inside: bool) -> dict[str, str]:
    root = ground.identity.is_root
    return {
        name: one.within(root=root) if inside else one.without(root=root) for name, one in verdicts.items()
    }


def test_no_capability_is_left_and_none_can_be_gained(ground: Ground, identity: Identity) -> None:
    status = status_inside(ground)["status"]
    for field in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert status[field] == NO_CAPABILITY, field
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["Uid"].split() == [str(identity.uid)] * 4
    assert status["Gid"].split() == [str(identity.gid)] * 4
    control = status_outside(ground)["status"]
    assert control["NoNewPrivs"] == "0"
    assert control["CapBnd"] != NO_CAPABILITY


def hosts_namespaces() -> dict[str, str]:
    kinds = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
    return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}


def test_every_kind_of_namespace_is_the_commands_own(ground: Ground) -> None:
    assert status_outside(ground)["namespaces"] == hosts_namespaces()
    inside = status_inside(ground)["namespaces"]
    assert {kind for kind, name in hosts_namespaces().items() if inside[kind] == name} == set()


def test_with_the_network_enabled_only_its_namespace_is_the_hosts(ground: Ground) -> None:
    policy = ground.policy(
        {
            "extends": "workspace-write",
            "profile": {
                "type": "managed",
                "network": "enabled",
                "file_system": {"type": "restricted", "entries": []},
            },
        }
    )
    inside = status_inside(ground, policy=policy)["namespaces"]
    assert {kind for kind, name in hosts_namespaces().items() if inside[kind] == name} == {"net"}


def test_the_first_process_shows_nothing_of_its_makers(ground: Ground) -> None:
    status = status_inside(ground)
    assert status["parent"] == 1
    assert status["processes"] == 2
    assert status["session"] == status["pid"]
    assert status["first"] == {"cmdline": "", "environ": None}


def test_the_only_network_interface_is_loopback(ground: Ground) -> None:
    assert status_inside(ground)["interfaces"] == ["lo"]


def test_inherited_descriptors_are_closed(ground: Ground) -> None:
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        control = answers_of(run_as(ground, ground.victim("status", {}), pass_fds=(root,)))
        inside = status_inside(ground, pass_fds=(root,))
    finally:
        os.close(root)
    assert control["descriptors"] == [0, 1, 2, root]
    assert inside["descriptors"] == [0, 1, 2]


def test_secrets_in_the_environment_stay_outside(ground: Ground) -> None:
    planted = {"AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "SSH_AUTH_SOCK": "/x", "EDITOR": "ed"}
    inside = set(status_inside(ground, variables=planted)["environment"])
    assert inside & set(planted) == {"EDITOR"}


@contextmanager
def neighbour(ground: Ground) -> Iterator[int]:
    """A process of the host's that belongs to the same user."""
    one = ground.identity
    process = subprocess.Popen(
        ["sleep", "300"], user=one.user, group=one.group, extra_groups=one.extra_groups, cwd="/"
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_processes_and_settings_of_the_host_are_out_of_reach(ground: Ground) -> None:
    verdicts = places.proc_verdicts()
    with neighbour(ground) as pid:
        command = ground.victim("places", {"group": "proc", "neighbour": str(pid)})
        assert answers_of(run_as(ground, command)) == expected(verdicts, ground, inside=False)
        assert answers_of(run_sandboxctl(ground, command)) == expected(verdicts, ground, inside=True)


def test_tmp_is_the_commands_own(ground: Ground) -> None:
    file, host_file = tempfile.mkstemp(prefix="sandboxctl-host-file-", dir="/tmp")
    os.close(file)
    left = f"{host_file}-left"
    arguments = {"group": "tmp", "host_file": host_file, "left_file": left}
    try:
        os.chmod(host_file, 0o644)
        command = ground.victim("places", {**arguments, "sandboxed": "no"})
        wanted = {**expected(places.TMP, ground, inside=False), "name": "ok"}
        assert answers_of(run_as(ground, command)) == wanted
        os.unlink(left)
        command = ground.victim("places", {**arguments, "sandboxed": "yes"})
        assert answers_of(run_sandboxctl(ground, command)) == expected(places.TMP, ground, inside=True)
        assert not os.path.lexists(left)
    finally:
        os.unlink(host_file)


def test_the_private_dev_holds_harmless_nodes_only(ground: Ground) -> None:
    run = run_sandboxctl(ground, ["ls", "/dev"])
    assert run.stdout.split() == [
        "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero",
    ]  # fmt: skip


@pytest.mark.parametrize("owner", [0, ORDINARY_UID])
@pytest.mark.privileged
def test_set_user_id_programs_give_nothing(
    owner: int, identity: Identity, new_ground: Callable[[], Ground]
) -> None:
    ground = new_ground()
    program = ground.at("outside", "id")
    found = shutil.which("id")
    assert found is not None
    shutil.copyfile(found, program)
    os.chown(program, owner, owner)
    os.chmod(program, 0o4755)
    assert run_as(ground, [program, "-u"]).stdout.strip() == str(owner)
    assert run_sandboxctl(ground, [program, "-u"]).stdout.strip() == str(identity.uid)
