"""`fs/*` over a real WebSocket: results, defaults, and the codes and texts of failures."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from execserver.adapters.file_operations import GetMetadata, ReadFile
from execserver.errors import FailureKind, StartFailure
from tests.execserver.server.sandboxes import READ_ONLY_SANDBOX
from tests.fakes.process_host import ScriptedHost
from tests.fakes.wire_client import encoded, lab

pytestmark = pytest.mark.skipif(os.sep != "/", reason="the scripted host spells paths as Linux does")


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_bytes(b"hello world\n")
    (tmp_path / "d" / "sub").mkdir(parents=True)
    (tmp_path / "d" / "f1").write_bytes(b"1")
    (tmp_path / "link").symlink_to("a.txt")
    (tmp_path / "dl").symlink_to("d")
    (tmp_path / "dangling").symlink_to("nowhere")
    subprocess.run(["mkfifo", tmp_path / "fifo"], check=True)
    return tmp_path


async def _call(method: str, params: dict[str, Any], host: ScriptedHost | None = None) -> dict[str, Any]:
    async with lab(host=host) as it:
        client = await it.ready()
        answer = await client.call(method, params)
        del answer["id"]
        return answer


def call(method: str, tree: Path, name: str, **more: object) -> dict[str, Any]:
    return asyncio.run(_call(method, {"path": f"{tree.as_uri()}/{name}", **more}))


def failure(number: int, *, code: int) -> dict[str, Any]:
    return {"error": {"code": code, "message": f"{os.strerror(number)} (os error {number})"}}


def test_a_file_is_read_whole(tree: Path) -> None:
    assert call("fs/readFile", tree, "a.txt") == {"result": {"dataBase64": encoded(b"hello world\n")}}
    assert call("fs/readFile", tree, "d/../%61.txt", sandbox=None) == {
        "result": {"dataBase64": encoded(b"hello world\n")}
    }


@pytest.mark.parametrize("name", ["d", "fifo"])
def test_only_regular_files_are_read(tree: Path, name: str) -> None:
    assert call("fs/readFile", tree, name) == {
        "error": {"code": -32600, "message": f"path `{tree / name}` is not a file"}
    }


def test_what_is_not_there_is_not_found_under_its_own_code(tree: Path) -> None:
    for method, more in (
        ("fs/readFile", {}),
        ("fs/getMetadata", {}),
        ("fs/getMetadata", {"followSymlinks": False}),
        ("fs/remove", {"force": False}),
        ("fs/createDirectory", {"recursive": False}),
        ("fs/writeFile", {"dataBase64": ""}),
    ):
        assert call(method, tree, "nope/x", **more) == failure(errno.ENOENT, code=-32004)


def test_links_are_refused_when_they_shall_not_be_followed(tree: Path) -> None:
    refused = {"followSymlinks": False}
    assert call("fs/readFile", tree, "link", **refused) == failure(errno.ELOOP, code=-32603)
    assert call("fs/writeFile", tree, "link", dataBase64="YQ==", **refused) == failure(
        errno.ELOOP, code=-32603
    )
    assert call("fs/createDirectory", tree, "dl/zz", **refused) == failure(errno.ENOTDIR, code=-32603)
    assert call("fs/getMetadata", tree, "dl/f1", **refused) == failure(errno.ENOTDIR, code=-32603)
    for name in ("d", "fifo"):
        assert call("fs/readFile", tree, name, **refused) == {
            "error": {"code": -32600, "message": "path is not a regular file"}
        }
    for name in ("link", "dl", "dangling"):
        assert call("fs/remove", tree, name, recursive=False, **refused) == {
            "error": {"code": -32600, "message": "path contains a symbolic link"}
        }
        assert (tree / name).is_symlink()
        assert call("fs/getMetadata", tree, name, **refused) == {
            "error": {"code": -32600, "message": "path contains a symbolic link"}
        }
    assert call("fs/remove", tree, "link", **refused) == {
        "error": {"code": -32603, "message": "recursive no-follow removal is unsupported"}
    }
    assert (tree / "link").is_symlink()


def test_a_directory_below_a_dangling_link_is_not_reported_as_missing(tree: Path) -> None:
    # Clients answer "no such file" by making the parents and trying again.
    assert call("fs/createDirectory", tree, "dangling/x") == failure(errno.EEXIST, code=-32603)
    assert call("fs/createDirectory", tree, "new/with/parents") == {"result": {}}
    assert (tree / "new" / "with" / "parents").is_dir()


def test_bad_content_is_reported_before_a_path_of_another_system() -> None:
    params = {"path": "file:///C:/x", "dataBase64": "!!"}
    message = asyncio.run(_call("fs/writeFile", params, ScriptedHost()))["error"]["message"]
    assert message == "fs/writeFile requires valid base64 dataBase64: Invalid symbol 33, offset 0."


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", (False, True, False)),
        ("link", (False, True, True)),
        ("d", (True, False, False)),
        ("dl", (True, False, True)),
        ("fifo", (False, False, False)),
    ],
)
def test_metadata_is_of_the_target_and_says_whether_the_path_is_a_link(
    tree: Path, name: str, kind: tuple[bool, bool, bool]
) -> None:
    result = call("fs/getMetadata", tree, name)["result"]
    assert (result["isDirectory"], result["isFile"], result["isSymlink"]) == kind
    assert result["size"] == (tree / name).stat().st_size
    assert result["modifiedAtMs"] == (tree / name).stat().st_mtime_ns // 1_000_000
    assert set(result) == {
        "isDirectory",
        "isFile",
        "isSymlink",
        "size",
        "createdAtMs",
        "modifiedAtMs",
    }


def test_a_write_creates_truncates_and_goes_through_a_dangling_link(tree: Path) -> None:
    for name in ("new", "a.txt", "dangling"):
        assert call("fs/writeFile", tree, name, dataBase64="YWJj") == {"result": {}}
    assert [(tree / name).read_bytes() for name in ("new", "a.txt", "nowhere")] == [b"abc"] * 3
    assert call("fs/writeFile", tree, "d", dataBase64="YWJj") == failure(errno.EISDIR, code=-32603)


def test_bad_base64_of_a_file_has_a_code_of_its_own(tree: Path) -> None:
    assert call("fs/writeFile", tree, "w", dataBase64="%%") == {
        "error": {
            "code": -32600,
            "message": "fs/writeFile requires valid base64 dataBase64: Invalid symbol 37, offset 0.",
        }
    }


def test_directories_are_made_with_their_parents_by_default(tree: Path) -> None:
    assert call("fs/createDirectory", tree, "n/x/y") == {"result": {}}
    assert call("fs/createDirectory", tree, "n/x/y") == {"result": {}}
    assert call("fs/createDirectory", tree, "n", recursive=False) == failure(errno.EEXIST, code=-32603)
    assert call("fs/createDirectory", tree, "m/x/y", followSymlinks=False) == {"result": {}}
    assert (tree / "m/x/y").is_dir()


def test_removal_takes_everything_by_default_and_forgives_what_is_missing(tree: Path) -> None:
    assert call("fs/remove", tree, "d", recursive=False) == failure(errno.ENOTEMPTY, code=-32603)
    assert call("fs/remove", tree, "dl") == {"result": {}}
    assert (tree / "d/f1").exists()
    for name in ("d", "d", "a.txt", "fifo"):
        assert call("fs/remove", tree, name) == {"result": {}}
        assert not (tree / name).exists()


@pytest.mark.parametrize(
    ("uri", "code", "message"),
    [
        ("/etc/hosts", -32602, "invalid URI: relative URL without a base"),
        ("http://x/y", -32602, "unsupported path URI scheme `http`"),
        ("file:///a?q=1", -32602, "query parameters are not allowed in path URIs"),
        ("file:///x%00y", -32602, "'file:///x%00y' is invalid on 'linux'"),
        ("file://host/share/x", -32600, "'file://host/share/x' is invalid on 'linux'"),
        ("file:///C:/x", -32600, "'file:///C:/x' is invalid on 'linux'"),
    ],
)
def test_paths_that_do_not_fit_are_refused(uri: str, code: int, message: str) -> None:
    answer = asyncio.run(_call("fs/readFile", {"path": uri}))
    assert answer == {"error": {"code": code, "message": message}}


def test_with_a_sandbox_the_host_performs_the_operation(tree: Path) -> None:
    host = ScriptedHost()
    params = {"path": f"{tree.as_uri()}/a.txt", "sandbox": READ_ONLY_SANDBOX}
    answer = asyncio.run(_call("fs/readFile", params, host))
    assert answer == {"result": {"dataBase64": encoded(b"hello world\n")}}
    assert [type(operation) for operation in host.sandboxed_operations] == [ReadFile]


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (OSError(errno.EROFS, ""), failure(errno.EROFS, code=-32603)["error"]),
        (OSError(errno.EACCES, ""), failure(errno.EACCES, code=-32600)["error"]),
        (
            StartFailure("no way", kind=FailureKind.SANDBOX_UNAVAILABLE),
            {"code": -32602, "data": {"kind": "sandboxUnavailable"}, "message": "no way"},
        ),
        (
            StartFailure("no cwd", kind=FailureKind.SANDBOX_PREPARATION),
            {"code": -32602, "message": "failed to prepare fs sandbox: no cwd"},
        ),
    ],
)
def test_a_sandboxed_operation_never_falls_back_to_an_unconfined_one(
    tree: Path, raised: Exception, error: dict[str, Any]
) -> None:
    host = ScriptedHost(file_failure=raised)
    params = {"path": f"{tree.as_uri()}/a.txt", "sandbox": READ_ONLY_SANDBOX}
    assert asyncio.run(_call("fs/getMetadata", params, host)) == {"error": error}
    assert [type(operation) for operation in host.sandboxed_operations] == [GetMetadata]
