"""The mounts of a plan give what the policy gives, but for the gaps that the plan itself names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.backends.linux.gaps import EXPLAINS_A_DIFFERENCE
from sandboxing.backends.linux.simulate import PlanView
from sandboxing.backends.linux.steps import (
    Bind,
    EmptyRoot,
    FreshProc,
    HostRoot,
    LinuxPlan,
    Mask,
    NodeKind,
    PrivateDevices,
    Seal,
    Step,
    Tmpfs,
    Writability,
)
from sandboxing.backends.linux.tree import upwards
from sandboxing.binding.bound import PathKind
from sandboxing.binding.decide import DecisionIndex
from sandboxing.binding.facts import resolve_links
from sandboxing.errors import BindError
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry
from tests.fakes.filesystem import Node
from tests.sandboxing.backends.linux.plans import (
    Subject,
    entry_lists,
    paths,
    plan,
    plan_subjects,
    subject,
    trees,
)
from tests.sandboxing.binding import subjects
from tests.sandboxing.binding.subjects import DENY, entry

READ, WRITE = AccessMode.READ, AccessMode.WRITE


def with_named_gap(example: Subject) -> set[str]:
    """Places of rules that the plan says it holds differently."""
    return {
        row.bound_to
        for row in example.planned.enforcement.rules
        if any(caveat.code in EXPLAINS_A_DIFFERENCE for caveat in row.caveats)
    }


def comparable(example: Subject, asked: list[str]) -> Iterator[str]:
    """Those of the paths, links resolved, at which mounts and policy have to agree."""
    gaps, names = with_named_gap(example), set(example.bound.protected_names)
    for path in asked:
        try:
            resolved = resolve_links(example.view, path, example.bound.dialect).path
        except BindError:
            continue
        here = (resolved, *upwards(resolved))
        missing = example.view.kind(resolved) is PathKind.MISSING
        if gaps & set(here) or (missing and example.bound.globs):
            continue
        if missing and any(part.rpartition("/")[2] in names for part in here):
            continue
        yield resolved


@given(plan_subjects(), st.lists(paths, min_size=1, max_size=8))
def test_mounts_and_oracle_agree_at_any_path(example: Subject, asked: list[str]) -> None:
    view, oracle = PlanView(example.plan), DecisionIndex(example.bound)
    for path in comparable(example, asked):
        got = view.mode(path)
        assert got is None or got is oracle.ruling(path).mode, path


@given(plan_subjects(), st.lists(paths, min_size=1, max_size=8), paths)
def test_a_further_deny_never_opens_anything(example: Subject, asked: list[str], denied: str) -> None:
    narrower = subject([*example.entries, entry(denied, DENY)], example.view)
    before, after = PlanView(example.plan), PlanView(narrower.plan)
    for path in comparable(narrower, list(comparable(example, asked))):
        had, has = before.mode(path), after.mode(path)
        if had is None or has is None:
            continue
        assert (has.can_read, has.can_write) <= (had.can_read, had.can_write), path


@given(plan_subjects(), entry_lists)
def test_what_is_left_out_of_a_policy_is_never_mounted_writable(example: Subject, more: list[Entry]) -> None:
    wider = subject([*example.entries, *more], example.view)
    granted = {rule.path for rule in wider.bound.rules if rule.access is WRITE}
    for step in wider.plan.steps:
        if isinstance(step, Bind) and step.writability is Writability.WRITABLE:
            assert granted & {step.path, *upwards(step.path)}


@given(entry_lists, trees)
def test_every_policy_that_binds_has_a_plan(entries: list[Entry], tree: Mapping[str, Node]) -> None:
    with contextlib.suppress(BindError):
        plan(subjects.bind(entries, tree=tree, extras=subjects.PRIVATE))


@pytest.mark.parametrize("access", AccessMode)
@pytest.mark.parametrize("named", ["/w/.env", "/w/.env/below", "/w/a/.env"])
def test_a_deny_glob_and_an_entry_may_name_the_same_missing_path(named: str, access: AccessMode) -> None:
    entries = [entry(":root", READ), entry("glob /w/**/.env", DENY), entry(named, access)]
    assert plan(subjects.bind(entries, extras=subjects.PRIVATE)).enforcement.refused == ()


def view_of(*steps: Step) -> PlanView:
    return PlanView(LinuxPlan(namespaces=(), steps=steps))


def test_the_deepest_mount_decides() -> None:
    view = view_of(
        HostRoot(writability=Writability.READ_ONLY, devices=False),
        Bind(path="/w", writability=Writability.WRITABLE, rule=""),
        Bind(path="/w/.git", writability=Writability.READ_ONLY, rule=""),
        Mask(path="/w/s", kind=NodeKind.FILE, rule=""),
    )
    modes = {path: view.mode(path) for path in ("/", "/w", "/w/a", "/w/.git/x", "/w/.gitx", "/w/s", "/ww")}
    assert modes == {
        "/": READ,
        "/w": WRITE,
        "/w/a": WRITE,
        "/w/.git/x": READ,
        "/w/.gitx": WRITE,
        "/w/s": DENY,
        "/ww": READ,
    }


def test_an_own_directory_shows_nothing_of_the_hosts_once_it_is_sealed() -> None:
    tmpfs = Tmpfs(path="/d", mode=0o111, size_mb=1, rule="")
    assert view_of(EmptyRoot(), tmpfs).mode("/d/x") is WRITE
    assert view_of(EmptyRoot(), tmpfs, Seal(path="/d")).mode("/d/x") is DENY


def test_of_its_own_dev_and_proc_nothing_is_said() -> None:
    view = view_of(EmptyRoot(), PrivateDevices(nodes=(), shm_mb=0), FreshProc(read_only=(), masked=()))
    assert [view.mode(path) for path in ("/dev", "/dev/x", "/proc/1", "/etc")] == [None, None, None, DENY]
