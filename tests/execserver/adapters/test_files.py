"""File operations on a real tree: results, races that must not matter, and the JSON form."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.adapters import files
from execserver.adapters.file_operations import (
    Content,
    CreateDirectory,
    Depth,
    Done,
    FileKind,
    FileOperation,
    FileRefused,
    FileResult,
    GetMetadata,
    Links,
    Metadata,
    Missing,
    ReadFile,
    Refusal,
    Remove,
    WriteFile,
    error_to_json,
    operation_from_json,
    operation_to_json,
    result_from_json,
    result_to_json,
)
from execserver.adapters.files import perform
from execserver.adapters.files_worker import answer

posix = pytest.mark.skipif(os.sep != "/", reason="links and pipes as POSIX has them")

PATHS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
LINKS = st.sampled_from(Links)
OPERATIONS: st.SearchStrategy[FileOperation] = st.one_of(
    st.builds(GetMetadata, path=PATHS, links=LINKS),
    st.builds(ReadFile, path=PATHS, links=LINKS),
    st.builds(WriteFile, path=PATHS, links=LINKS, data=st.binary()),
    st.builds(CreateDirectory, path=PATHS, links=LINKS, depth=st.sampled_from(Depth)),
    st.builds(
        Remove,
        path=PATHS,
        links=LINKS,
        depth=st.sampled_from(Depth),
        missing=st.sampled_from(Missing),
    ),
)
RESULTS: st.SearchStrategy[FileResult] = st.one_of(
    st.just(Done()),
    st.builds(Content, data=st.binary()),
    st.builds(
        Metadata,
        kind=st.sampled_from(FileKind),
        is_symlink=st.booleans(),
        size=st.integers(0),
        created_ms=st.integers(0),
        modified_ms=st.integers(),
    ),
)


@given(OPERATIONS)
def test_an_operation_survives_the_trip_to_a_helper(operation: FileOperation) -> None:
    assert operation_from_json(json.loads(json.dumps(operation_to_json(operation)))) == operation


@given(RESULTS)
def test_a_result_survives_the_trip_back(result: FileResult) -> None:
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


@pytest.mark.parametrize("refusal", Refusal)
def test_a_refusal_is_raised_again_on_this_side(refusal: Refusal) -> None:
    with pytest.raises(FileRefused) as again:
        result_from_json(error_to_json(FileRefused(refusal)))
    assert again.value.refusal is refusal


@given(st.integers(1, 100))
def test_an_error_number_is_raised_again_on_this_side(number: int) -> None:
    with pytest.raises(OSError, match=r".") as again:
        result_from_json(error_to_json(OSError(number, "x")))
    assert again.value.errno == number


@given(st.binary() | OPERATIONS.map(lambda it: json.dumps(operation_to_json(it))[1:].encode()))
def test_a_helper_gives_no_answer_to_what_is_no_request(request: bytes) -> None:
    assert answer(request) is None


@posix
def test_a_path_that_is_not_unicode_can_be_used(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    write = WriteFile(path=path, links=Links.FOLLOW, data=b"x")
    reply = answer(json.dumps(operation_to_json(write)).encode())
    assert reply is not None
    assert result_from_json(json.loads(reply)) == Done()
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff"]


@posix
def test_the_helper_works_in_an_isolated_interpreter(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\xff")
    program = "import sys; sys.path.insert(0, sys.argv[1]); from execserver.adapters import files_worker as w"
    program += "; code = w.main(); loaded = set(sys.modules) & {'pydantic', 'asyncio', 'aiohttp', 'orjson'}"
    program += "; sys.exit(99 if loaded else code)"
    root = str(Path(files.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, root],
        input=json.dumps(operation_to_json(ReadFile(path=str(tmp_path / "a"), links=Links.REFUSE))).encode(),
        capture_output=True,
        check=True,
    )
    assert result_from_json(json.loads(done.stdout)) == Content(data=b"\0\xff")


@posix
@pytest.mark.parametrize("links", Links)
def test_content_is_written_and_read_back_at_any_size(tmp_path: Path, links: Links) -> None:
    path = os.path.join(os.path.realpath(tmp_path), "f")
    for size in (0, 1, 8192, 3 * 1024 * 1024 + 1):
        data = os.urandom(size)
        assert perform(WriteFile(path=path, links=links, data=data)) == Done()
        assert perform(ReadFile(path=path, links=links)) == Content(data=data)


@posix
def test_a_file_that_says_it_is_empty_is_read_to_its_end() -> None:
    if os.path.exists("/proc/self/status"):
        content = perform(ReadFile(path="/proc/self/status", links=Links.FOLLOW))
        assert isinstance(content, Content)
        assert content.data


@posix
def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    monkeypatch.setattr(files, "MAX_READ_BYTES", 4)
    with pytest.raises(FileRefused) as refusal:
        perform(ReadFile(path=str(tmp_path / "f"), links=Links.FOLLOW))
    assert refusal.value.refusal is Refusal.TOO_LARGE


@posix
@pytest.mark.timeout(5)
def test_a_named_pipe_stops_nobody(tmp_path: Path) -> None:
    path = str(tmp_path / "fifo")
    subprocess.run(["mkfifo", path], check=True)
    with pytest.raises(FileRefused):
        perform(ReadFile(path=path, links=Links.FOLLOW))
    with pytest.raises(OSError, match=r".") as error:
        perform(WriteFile(path=path, links=Links.FOLLOW, data=b"x"))
    assert error.value.errno == errno.ENXIO


@posix
@pytest.mark.parametrize("name", ["link/f", "link"])
def test_no_operation_passes_a_link_that_it_shall_refuse(tmp_path: Path, name: str) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "d").mkdir()
    (root / "d" / "f").write_bytes(b"secret")
    (root / "link").symlink_to("d")
    path, links = str(root / name), Links.REFUSE
    operations: list[FileOperation] = [
        GetMetadata(path=path, links=links),
        ReadFile(path=path, links=links),
        WriteFile(path=path, links=links, data=b"x"),
        CreateDirectory(path=path + "/new", links=links, depth=Depth.SINGLE),
        CreateDirectory(path=path + "/new", links=links, depth=Depth.RECURSIVE),
        Remove(path=path + "/f", links=links, depth=Depth.SINGLE, missing=Missing.FAIL),
    ]
    for operation in operations:
        with pytest.raises(OSError, match=r"."):
            perform(operation)
    assert (root / "d" / "f").read_bytes() == b"secret"
    assert sorted(os.listdir(root / "d")) == ["f"]


@posix
def test_a_directory_that_becomes_a_link_during_the_descent_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "outside").mkdir()
    (root / "in" / "d").mkdir(parents=True)
    genuine = files._open_directory  # noqa: SLF001 - the moment to race with lies inside

    def swapped(name: str, parent: int) -> int:
        if name == "d":
            (root / "in" / "d").rmdir()
            (root / "in" / "d").symlink_to(root / "outside")
        return genuine(name, parent)

    monkeypatch.setattr(files, "_open_directory", swapped)
    with pytest.raises(NotADirectoryError):
        perform(WriteFile(path=str(root / "in/d/f"), links=Links.REFUSE, data=b"x"))
    assert os.listdir(root / "outside") == []


@posix
def test_removing_a_tree_does_not_follow_links_in_it(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "f").touch()
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "link").symlink_to(tmp_path / "keep")
    remove = Remove(path=str(tmp_path / "d"), links=Links.FOLLOW, depth=Depth.RECURSIVE, missing=Missing.FAIL)
    assert perform(remove) == Done()
    assert (tmp_path / "keep" / "f").exists()
    assert not (tmp_path / "d").exists()


@posix
def test_no_descriptor_is_left_open_by_a_failure(tmp_path: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        return
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    before = len(os.listdir("/proc/self/fd"))
    for name in ("a/b/c/d", "a/file/x", "nope/x"):
        path = str(tmp_path / name)
        for operation in (
            ReadFile(path=path, links=Links.REFUSE),
            WriteFile(path=path, links=Links.REFUSE, data=b""),
            GetMetadata(path=path, links=Links.REFUSE),
            CreateDirectory(path=path, links=Links.REFUSE, depth=Depth.SINGLE),
            Remove(path=path, links=Links.REFUSE, depth=Depth.SINGLE, missing=Missing.FAIL),
        ):
            with pytest.raises(OSError, match=r"."):
                perform(operation)
    with pytest.raises(FileRefused):
        perform(ReadFile(path=str(tmp_path), links=Links.FOLLOW))
    assert len(os.listdir("/proc/self/fd")) == before
