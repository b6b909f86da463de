"""PathDialect: lexical operations on native paths of both conventions."""

from __future__ import annotations

import ntpath
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.errors import PathError
from sandboxing.paths.convention import PathConvention
from sandboxing.paths.native import PathDialect, dialect_of
from tests.strategies import native_paths, small_names, small_paths

POSIX, WINDOWS = PathDialect.POSIX, PathDialect.WINDOWS

NORMALISED = [
    (POSIX, "/", "/"),
    (POSIX, "//a", "/a"),
    (POSIX, "/a/../../b/./c//", "/b/c"),
    (POSIX, "/a\\b", "/a\\b"),
    (WINDOWS, "c:\\", "C:\\"),
    (WINDOWS, "c:/a/..\\..\\b", "C:\\b"),
    (WINDOWS, "\\\\?\\c:\\x", "C:\\x"),
    (WINDOWS, "\\\\.\\c:\\x", "C:\\x"),
    (WINDOWS, "//?/C:/x", "C:\\x"),
    (WINDOWS, "\\\\?\\UNC\\srv\\share\\x", "\\\\srv\\share\\x"),
    (WINDOWS, "\\\\srv\\share", "\\\\srv\\share\\"),
    (WINDOWS, "//srv/share/../..", "\\\\srv\\share\\"),
]

RELATIVE = [
    (POSIX, "a"),
    (POSIX, ""),
    (POSIX, "C:\\x"),
    (POSIX, "~"),
    (WINDOWS, "a"),
    (WINDOWS, "C:"),
    (WINDOWS, "C:x"),
    (WINDOWS, "\\x"),
    (WINDOWS, "/x"),
    (WINDOWS, "\\\\srv"),
    (WINDOWS, "\\\\srv\\"),
    (WINDOWS, "\\\\srv\\.."),
    (WINDOWS, "\\\\.\\pipe\\x"),
    (WINDOWS, "\\\\?\\Volume{0}\\x"),
]


@pytest.mark.parametrize(("dialect", "path", "expected"), NORMALISED)
def test_the_shortest_spelling(dialect: PathDialect, path: str, expected: str) -> None:
    assert dialect.normalise(path) == expected
    assert dialect.is_absolute(path)


@pytest.mark.parametrize(("dialect", "path"), RELATIVE)
def test_what_depends_on_a_current_place_is_not_absolute(dialect: PathDialect, path: str) -> None:
    assert not dialect.is_absolute(path)
    with pytest.raises(PathError):
        dialect.normalise(path)


@pytest.mark.parametrize("dialect", PathDialect)
def test_nul_is_refused_everywhere(dialect: PathDialect) -> None:
    root = "/" if dialect is POSIX else "C:\\"
    for use in (dialect.normalise, dialect.key, dialect.parent, lambda path: dialect.join(root, path)):
        with pytest.raises(PathError):
            use(f"{root}a\0")
    with pytest.raises(PathError):
        dialect.join(root, "a\0")


@pytest.mark.parametrize("dialect", PathDialect)
@given(data=st.data())
def test_normalising_twice_is_normalising_once(dialect: PathDialect, data: st.DataObject) -> None:
    parts = data.draw(st.lists(small_names | st.sampled_from(("..", ".", "")), max_size=8))
    root = data.draw(native_paths(dialect))
    path = dialect.separator.join([root, *parts])
    once = dialect.normalise(path)
    assert dialect.normalise(once) == once
    assert dialect.assemble(dialect.components(once)) == once


@given(st.lists(small_names | st.sampled_from(("..", ".", "")), max_size=8))
def test_folding_agrees_with_the_standard_library(parts: list[str]) -> None:
    posix = "/" + "/".join(parts)
    assert POSIX.normalise(posix) == posixpath.normpath("/" + posix.lstrip("/"))
    windows = "C:\\" + "\\".join(parts)
    assert WINDOWS.normalise(windows) == ntpath.normpath(windows)


@pytest.mark.parametrize("dialect", PathDialect)
@given(data=st.data())
def test_joining_the_rest_leads_back(dialect: PathDialect, data: st.DataObject) -> None:
    path = data.draw(native_paths(dialect))
    for above in dialect.ancestors(path):
        rest = dialect.relative_components(path, above)
        assert rest is not None
        assert dialect.join(above, dialect.separator.join(["." if rest else "", *rest])) == path
        assert dialect.is_within(path, above)
        assert not dialect.is_within(above, path)
        assert dialect.depth(above) < dialect.depth(path)


@given(small_paths, small_paths)
def test_containment_is_component_wise(path: str, root: str) -> None:
    expected = path == root or path.startswith(root.rstrip("/") + "/")
    assert POSIX.is_within(path, root) is expected
    assert (POSIX.relative_components(path, root) is not None) is expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("C:\\Dir", "c:\\dIR"),
        ("C:\\É", "C:\\é"),
        ("C:\\a.", "C:\\a"),
        ("C:\\a. .", "C:\\A"),
        ("\\\\SRV\\Share\\", "//srv/share"),
        ("\\\\?\\C:\\a", "C:\\A"),
    ],
)
def test_windows_spellings_of_one_file_are_equal(left: str, right: str) -> None:
    assert WINDOWS.same(left, right)


@pytest.mark.parametrize(("left", "right"), [("C:\\ß", "C:\\ss"), ("C:\\a", "D:\\a"), ("C:\\ ", "C:\\")])
def test_windows_names_of_different_files_differ(left: str, right: str) -> None:
    assert not WINDOWS.same(left, right)


JOINS = [
    (POSIX, "/a", "../../b", "/b"),
    (POSIX, "/a/../b", "c", "/b/c"),
    (POSIX, "/a", "/b", "/b"),
    (WINDOWS, "C:\\a", "..\\..\\b", "C:\\b"),
    (WINDOWS, "C:\\a", "/b", "C:\\b"),
    (WINDOWS, "\\\\s\\h\\a", "\\b", "\\\\s\\h\\b"),
    (WINDOWS, "C:\\a", "\\\\s\\h", "\\\\s\\h\\"),
]


@pytest.mark.parametrize(("dialect", "base", "relative", "expected"), JOINS)
def test_join(dialect: PathDialect, base: str, relative: str, expected: str) -> None:
    assert dialect.join(base, relative) == expected


def test_a_drive_relative_path_is_not_guessed() -> None:
    with pytest.raises(PathError):
        WINDOWS.join("C:\\a", "C:b")


def test_an_anchor_is_its_own_parent_and_has_no_name() -> None:
    for dialect, anchor in ((POSIX, "/"), (WINDOWS, "C:\\"), (WINDOWS, "\\\\s\\h\\")):
        assert dialect.parent(anchor) == anchor
        assert dialect.base_name(anchor) == ""
        assert dialect.ancestors(anchor) == ()
        assert dialect.depth(anchor) == 0
    assert POSIX.base_name("/a/b") == "b"
    assert POSIX.parent("/a/b") == "/a"


def test_opaque_paths_have_no_dialect() -> None:
    assert dialect_of(PathConvention.POSIX) is POSIX
    assert dialect_of(PathConvention.WINDOWS) is WINDOWS
    with pytest.raises(PathError):
        dialect_of(PathConvention.OPAQUE)
