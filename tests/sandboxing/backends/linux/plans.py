"""Plans to test properties with: policies over few names, bound on small made-up machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from sandboxing.backends.linux.planner import plan_linux
from sandboxing.backends.linux.steps import LinuxPlan
from sandboxing.binding.bound import BoundPolicy
from sandboxing.contract.backend import Planned
from sandboxing.errors import BindError, PlanError
from sandboxing.profile.entries import Entry
from tests.fakes.confining_host import ABI, CAPABILITIES, FILTERS
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Socket, Symlink
from tests.sandboxing.binding import subjects
from tests.strategies import small_entries, small_paths

OWN_PLACES = (
    "/dev",
    "/dev/null",
    "/dev/shm/x",
    "/proc",
    "/proc/sys",
    "/tmp",
    "/tmp/a",
    "/w",
    "/w/.git/hooks",
)

paths = small_paths | st.sampled_from(OWN_PLACES)
"""Paths that meet the entries and the trees below, and the places that a sandbox has for itself."""

_nodes: st.SearchStrategy[Node] = st.one_of(
    st.just(Directory()), st.just(File()), st.just(Socket()), st.builds(Symlink, small_paths)
)
trees: st.SearchStrategy[Mapping[str, Node]] = st.dictionaries(
    paths.filter(lambda path: path not in {"/", "/w"}), _nodes, max_size=8
)
entry_lists: st.SearchStrategy[list[Entry]] = st.lists(small_entries, max_size=6)


@dataclass(frozen=True, slots=True)
class Subject:
    """A policy and what became of it.

    Attributes:
        entries: what it says.
        view: the machine.
        bound: the policy on the machine.
        planned: its plan.
    """

    entries: Sequence[Entry]
    view: InMemoryView
    bound: BoundPolicy
    planned: Planned

    @property
    def plan(self) -> LinuxPlan:
        """The plan as what it is."""
        plan = self.planned.plan
        assert isinstance(plan, LinuxPlan)
        return plan


def plan(bound: BoundPolicy) -> Planned:
    """The plan on a host that has everything."""
    return plan_linux(bound, CAPABILITIES, FILTERS, abi=ABI)


def subject(entries: Sequence[Entry], view: InMemoryView) -> Subject:
    """Bind and plan; an example that cannot be bound is none, and that all others have a plan is tested."""
    try:
        bound = subjects.bind(entries, tree=view, extras=subjects.PRIVATE)
        planned = plan(bound)
    except (BindError, PlanError):
        assume(condition=False)
        raise
    return Subject(entries=entries, view=view, bound=bound, planned=planned)


@st.composite
def plan_subjects(draw: st.DrawFn) -> Subject:
    """Policies of every kind on machines of every kind."""
    return subject(draw(entry_lists), subjects.machine(draw(trees)))
