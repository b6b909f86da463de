"""The promises of every shipped policy hold under the oracle, on several make-believe machines."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sandboxing.binding.bind import bind_document
from sandboxing.binding.decide import decide
from sandboxing.binding.facts import HostFacts
from sandboxing.paths.native import PathDialect
from sandboxing.policyfile.promises import Anchors, is_kept, promised_places
from sandboxing.policyfile.shipped import load_shipped, shipped_names
from sandboxing.profile.access import Access
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Symlink


@dataclass(frozen=True, slots=True)
class Machine:
    facts: HostFacts
    nodes: dict[str, Node]
    workspaces: tuple[str, ...]


SYSTEM: dict[str, Node] = {
    "/usr/bin/env": File(),
    "/etc/hosts": File(),
    "/tmp": Directory(),
    "/home/u/w": Directory(),
    "/run": Directory(),
}
POSIX = HostFacts(
    dialect=PathDialect.POSIX,
    cwd="/home/u/w",
    home="/home/u",
    slash_tmp="/tmp",
    platform_read_roots=("/usr", "/etc"),
)
MACHINES = {
    "bare": Machine(POSIX, SYSTEM, ("/home/u/w",)),
    "with the secrets there": Machine(
        POSIX,
        SYSTEM
        | {
            "/home/u/.ssh/id_ed25519": File(),
            "/home/u/.aws/credentials": File(),
            "/home/u/.docker/config.json": File(),
            "/home/u/w/.git/hooks": Directory(),
            "/home/u/w/.git/config": File(),
            "/etc/shadow": File(),
            "/run/docker.sock": File(),
            "/run/user/1000/bus": File(),
            "/var/run": Symlink("/run"),
        },
        ("/home/u/w",),
    ),
    "two workspaces": Machine(POSIX, SYSTEM | {"/srv/x": Directory()}, ("/home/u/w", "/srv/x")),
}


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("name", shipped_names())
def test_promises_hold(name: str, machine: Machine) -> None:
    document = load_shipped(name)
    bound = bind_document(
        document,
        facts=machine.facts,
        view=InMemoryView(machine.nodes),
        cwd=machine.workspaces[0],
        workspace_roots=machine.workspaces,
    )
    anchors = Anchors(
        workspace_roots=machine.workspaces,
        home=machine.facts.home,
        tmpdir=machine.facts.tmpdir,
        slash_tmp=machine.facts.slash_tmp,
    )
    asked = 0
    for test in document.tests:
        for place in promised_places(test, anchors, machine.facts.dialect):
            decision = decide(bound, test.access, place)
            assert is_kept(test, allowed=decision.allowed), f"{test.rule}: {place}: {decision.reason}"
            asked += 1
    assert asked >= len(document.tests)


def test_a_workspace_that_is_the_home_directory_does_not_open_the_secrets() -> None:
    facts = HostFacts(dialect=PathDialect.POSIX, cwd="/home/u", home="/home/u", slash_tmp="/tmp")
    bound = bind_document(
        load_shipped("workspace-write"), facts=facts, view=InMemoryView(SYSTEM), cwd="/home/u"
    )
    assert decide(bound, Access.WRITE, "/home/u/notes").allowed
    assert not decide(bound, Access.READ, "/home/u/.ssh/id_ed25519").allowed
    assert not decide(bound, Access.WRITE, "/home/u/.gnupg/x").allowed


def test_a_sealed_socket_stays_closed_below_a_deeper_grant() -> None:
    document = load_shipped("full-access-no-network")
    facts = HostFacts(dialect=PathDialect.POSIX, cwd="/run/user/1000/w", home="/home/u", slash_tmp="/tmp")
    bound = bind_document(document, facts=facts, view=InMemoryView(SYSTEM), cwd="/run/user/1000/w")
    assert not decide(bound, Access.READ, "/run/user/1000/w/x").allowed
