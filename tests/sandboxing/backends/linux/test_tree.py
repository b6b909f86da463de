"""The order of a plan's steps: nothing that comes later undoes a lock, and nothing is made on the host."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from sandboxing.backends.linux.steps import (
    Bind,
    DropPrivileges,
    EmptyRoot,
    EnterRoot,
    FreshProc,
    HostRoot,
    Landlock,
    LoopbackUp,
    MakeDirectory,
    MakeFile,
    MakeLink,
    Mask,
    PrivateDevices,
    PrivateTerminals,
    ReadOnlySystem,
    ResourceLimit,
    Seal,
    Seccomp,
    Step,
    Tmpfs,
)
from sandboxing.backends.linux.tree import depth, upwards
from tests.sandboxing.backends.linux.plans import Subject, paths, plan_subjects, subject

_STAGES: tuple[tuple[type[Step], ...], ...] = (
    (HostRoot, EmptyRoot),
    (MakeDirectory, MakeFile, MakeLink, Bind, Mask, Tmpfs, PrivateDevices, PrivateTerminals, FreshProc),
    (ReadOnlySystem,),
    (Seal,),
    (EnterRoot,),
    (LoopbackUp,),
    (ResourceLimit,),
    (DropPrivileges,),
    (Landlock,),
    (Seccomp,),
)


def stage(step: Step) -> int:
    return next(number for number, kinds in enumerate(_STAGES) if isinstance(step, kinds))


def place(step: Step) -> str | None:
    """Where a step puts a mount."""
    match step:
        case Bind(path=path) | Mask(path=path) | Tmpfs(path=path):
            return path
        case PrivateDevices():
            return "/dev"
        case PrivateTerminals():
            return "/dev/pts"
        case FreshProc():
            return "/proc"
        case ReadOnlySystem():
            return "/sys"
        case HostRoot() | EmptyRoot():
            return "/"
        case _:
            return None


@given(plan_subjects())
def test_stages_follow_each_other(subject: Subject) -> None:
    stages = [stage(step) for step in subject.plan.steps]
    assert stages == sorted(stages)
    assert stages[0] == 0
    assert isinstance(subject.plan.steps[-1], Seccomp)
    assert sum(isinstance(step, HostRoot | EmptyRoot) for step in subject.plan.steps) == 1
    for needed in (EnterRoot, FreshProc, DropPrivileges, Landlock, Seccomp):
        assert sum(isinstance(step, needed) for step in subject.plan.steps) == 1


@given(plan_subjects())
def test_no_mount_covers_an_earlier_one_below_it(subject: Subject) -> None:
    seen: list[str] = []
    for step in subject.plan.steps:
        path = place(step)
        if path is None:
            continue
        assert not any(path in upwards(earlier) for earlier in seen), f"{step} covers what is below it"
        seen.append(path)


@given(plan_subjects())
def test_at_one_place_a_mask_comes_last_and_once(subject: Subject) -> None:
    masked: set[str] = set()
    for step in subject.plan.steps:
        path = place(step)
        assert path not in masked
        if isinstance(step, Mask):
            masked.add(step.path)


@given(plan_subjects())
def test_what_is_made_is_made_in_an_area_of_the_sandboxs_own(subject: Subject) -> None:
    owner: dict[str, bool] = {}  # mount point to whether it is the sandbox's own
    made: set[str] = set()
    for step in subject.plan.steps:
        if isinstance(step, MakeDirectory | MakeFile | MakeLink):
            above = next(ancestor for ancestor in upwards(step.path) if ancestor in owner)
            assert owner[above], f"{step} would be made on the host"
            assert step.path not in made
            made.add(step.path)
        path = place(step)
        if path is not None:
            owner[path] = not isinstance(step, HostRoot | Bind | ReadOnlySystem)


@given(plan_subjects())
def test_what_is_made_has_its_directory_before_it(subject: Subject) -> None:
    there: set[str] = set()
    for step in subject.plan.steps:
        if isinstance(step, MakeDirectory | MakeFile | MakeLink):
            parent = next(iter(upwards(step.path)))
            assert parent in there
        if isinstance(step, MakeDirectory):
            there.add(step.path)
        path = place(step)
        if path is not None:
            there.add(path)
        if isinstance(step, PrivateDevices):
            there.update({"/dev/shm", "/dev/pts"})


@given(plan_subjects())
def test_every_area_of_its_own_that_takes_no_writes_is_sealed(subject: Subject) -> None:
    sealed = [step.path for step in subject.plan.steps if isinstance(step, Seal)]
    own = [
        path
        for step in subject.plan.steps
        if isinstance(step, EmptyRoot | PrivateDevices) or (isinstance(step, Tmpfs) and not step.mode & 0o222)
        if (path := place(step)) is not None
    ]
    assert sorted(sealed) == sorted(own)


@given(plan_subjects(), st.randoms(use_true_random=False))
def test_the_order_of_entries_means_nothing(example: Subject, chance: random.Random) -> None:
    shuffled = list(example.entries)
    chance.shuffle(shuffled)
    ours = [step for step in example.plan.steps if not isinstance(step, Bind | Mask | Tmpfs)]
    again = subject(shuffled, example.view).plan
    assert [step for step in again.steps if not isinstance(step, Bind | Mask | Tmpfs)] == ours
    # the names of the rules are the entries' places in the policy, so only what is mounted is compared
    assert [(type(step), place(step)) for step in again.steps] == [
        (type(step), place(step)) for step in example.plan.steps
    ]


@given(paths)
def test_upwards_and_depth_agree(path: str) -> None:
    assert depth(path) == len(list(upwards(path)))
