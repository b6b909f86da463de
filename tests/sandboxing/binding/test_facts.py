"""Links resolved through a view, as the kernel would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.binding.bound import Link, PathKind
from sandboxing.binding.facts import MAX_LINKS, LinkResolver, Resolved, resolve_links
from sandboxing.errors import BindError
from sandboxing.paths.native import PathDialect
from tests.fakes.filesystem import Directory, File, InMemoryView, Node, Socket, Symlink

POSIX = PathDialect.POSIX


def resolve(nodes: dict[str, Node], path: str) -> Resolved:
    return resolve_links(InMemoryView(nodes), path, POSIX)


def test_a_path_without_links_is_itself() -> None:
    assert resolve({"/a/b": File()}, "/a//./b") == Resolved("/a/b", (), PathKind.FILE)


@pytest.mark.parametrize(
    ("target", "lands"),
    [
        ("/real", "/real/x"),
        ("real", "/a/real/x"),
        ("../real", "/real/x"),
        ("/", "/x"),
        (".", "/a/x"),
        ("../../..", "/x"),
    ],
)
def test_targets_are_read_from_the_links_directory(target: str, lands: str) -> None:
    found = resolve({"/a/lnk": Symlink(target), "/real": Directory(), "/a/real": Directory()}, "/a/lnk/x")
    assert found.path == lands
    assert found.links == (Link(path="/a/lnk", target=target),)


def test_dots_in_a_target_go_up_from_where_links_lead() -> None:
    nodes: dict[str, Node] = {
        "/a/in": Symlink("/far/away"),
        "/far/away": Directory(),
        "/a/out": Symlink("in/../x"),
    }
    assert resolve(nodes, "/a/out").path == "/far/x"


def test_the_missing_rest_is_appended() -> None:
    found = resolve({"/lnk": Symlink("/real"), "/real": Directory()}, "/lnk/no/such")
    assert (found.path, found.kind) == ("/real/no/such", PathKind.MISSING)


def test_a_dangling_link_leads_to_what_is_missing() -> None:
    found = resolve({"/lnk": Symlink("/gone/x")}, "/lnk/y")
    assert (found.path, found.kind) == ("/gone/x/y", PathKind.MISSING)


def test_nothing_is_below_a_file() -> None:
    assert resolve({"/f": File()}, "/f/x").kind is PathKind.MISSING


def test_a_socket_is_no_link() -> None:
    assert resolve({"/s": Socket()}, "/s") == Resolved("/s", (), PathKind.OTHER)


def test_the_root_is_a_directory() -> None:
    assert resolve({}, "/") == Resolved("/", (), PathKind.DIRECTORY)


@pytest.mark.parametrize("nodes", [{"/a": Symlink("a")}, {"/a": Symlink("/b"), "/b": Symlink("/a/x")}])
def test_links_in_a_circle_are_refused(nodes: dict[str, Node]) -> None:
    with pytest.raises(BindError, match=f"more than {MAX_LINKS} links"):
        resolve(nodes, "/a")


@pytest.mark.parametrize(("length", "accepted"), [(MAX_LINKS, True), (MAX_LINKS + 1, False)])
def test_chains_may_be_as_long_as_the_kernel_allows(length: int, *, accepted: bool) -> None:
    nodes: dict[str, Node] = {f"/l{at}": Symlink(f"/l{at + 1}") for at in range(length)}
    nodes[f"/l{length}"] = File()
    if accepted:
        assert resolve(nodes, "/l0").path == f"/l{length}"
    else:
        with pytest.raises(BindError):
            resolve(nodes, "/l0")


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda names: "/" + "/".join(names))


@given(st.dictionaries(PATHS, PATHS, max_size=3), st.lists(PATHS, min_size=1, max_size=5))
def test_what_is_remembered_changes_no_answer(links: dict[str, str], paths: list[str]) -> None:
    view = InMemoryView({path: Symlink(target) for path, target in links.items()})
    shared = LinkResolver(view, POSIX)
    for path in paths:
        assert outcome(shared, path) == outcome(LinkResolver(view, POSIX), path)


@given(st.dictionaries(PATHS, PATHS, max_size=3), PATHS)
def test_a_resolved_path_resolves_to_itself(links: dict[str, str], path: str) -> None:
    view = InMemoryView({place: Symlink(target) for place, target in links.items()})
    found = outcome(LinkResolver(view, POSIX), path)
    if found is not None:
        again = resolve_links(view, found.path, POSIX)
        assert (again.path, again.links, again.kind) == (found.path, (), found.kind)


def outcome(resolver: LinkResolver, path: str) -> Resolved | None:
    try:
        return resolver.resolve(path)
    except BindError:
        return None


def test_windows_links_are_followed_by_its_own_rules() -> None:
    nodes: dict[str, Node] = {"C:\\a\\lnk": Symlink("..\\b"), "C:\\b\\x": File()}
    view = InMemoryView(nodes, dialect=PathDialect.WINDOWS)
    assert resolve_links(view, "c:/A/LNK/x", PathDialect.WINDOWS).path == "C:\\b\\x"


def test_a_long_path_needs_no_deep_stack() -> None:
    path = "/x" * 2000
    assert resolve({}, path).path == path
