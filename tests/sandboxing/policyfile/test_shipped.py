"""How a policy is found by name or by path."""

from __future__ import annotations

import pytest

from sandboxing.errors import PolicyError
from sandboxing.policyfile.document import DocumentKind
from sandboxing.policyfile.shipped import find_policy, load_shipped, shipped_names, shipped_text

SHIPPED = ("build", "full-access-no-network", "offline-untrusted", "read-only", "workspace-write")


def never(path: str) -> str:
    pytest.fail(f"nobody may read `{path}`")


def test_the_shipped_names_are_the_documented_ones() -> None:
    assert shipped_names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_a_name_is_never_looked_for_in_the_current_directory(name: str) -> None:
    document = find_policy(name, never)
    assert document == load_shipped(name)
    assert (document.name, document.file, document.text) == (name, name, shipped_text(name))


def test_a_misspelt_name_gets_a_suggestion_and_no_search() -> None:
    with pytest.raises(PolicyError) as caught:
        find_policy("workspace_write", never)
    assert caught.value.message == "cannot find policy `workspace_write`: no policy of that name ships"
    assert caught.value.hint == "did you mean `workspace-write`?"


def test_an_unknown_name_gets_the_list() -> None:
    with pytest.raises(PolicyError) as caught:
        find_policy("zzz", never)
    assert caught.value.hint is not None
    assert "`read-only` or `workspace-write`" in caught.value.hint


@pytest.mark.parametrize("path", ["./p", "/x/p", "d\\p", "p.json", "C:\\p"])
def test_a_path_is_read_as_it_stands(path: str) -> None:
    asked: list[str] = []

    def read(name: str) -> str:
        asked.append(name)
        return '{"type": "disabled"}'

    document = find_policy(path, read)
    assert asked == [path]
    assert (document.kind, document.file) == (DocumentKind.WIRE_PROFILE, path)


def test_an_unreadable_file_is_a_policy_error_with_the_cause() -> None:
    def read(_: str) -> str:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(PolicyError, match=r"cannot read `\./p`: permission denied"):
        find_policy("./p", read)


def test_a_file_that_is_not_text_is_a_policy_error() -> None:
    with pytest.raises(PolicyError, match=r"cannot read `\./p`: it is not UTF-8 text"):
        find_policy("./p", lambda _: b"\xff".decode())
