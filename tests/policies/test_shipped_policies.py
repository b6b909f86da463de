"""What every shipped policy must be: explained, complete in its denies, stable when rewritten."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from sandboxing.policyfile.decode import decode_policy
from sandboxing.policyfile.document import DocumentKind, PolicyDocument
from sandboxing.policyfile.encode import encode_document
from sandboxing.policyfile.model import Block
from sandboxing.policyfile.schema import policy_schema
from sandboxing.policyfile.settings import DEFAULT_EXCLUDE, DEFAULT_PROTECT, Expectation, TmpPlacement
from sandboxing.policyfile.shipped import load_shipped, shipped_names, shipped_text
from sandboxing.profile.access import AccessMode
from sandboxing.profile.entries import Entry, PathLocation
from sandboxing.profile.permission import ManagedProfile, NetworkSwitch, RestrictedFileSystem

SECRETS = [
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.config/gcloud", "~/.kube", "~/.docker", "~/.netrc",
    "~/.pypirc", "~/.git-credentials", "~/.config/gh", "~/.mozilla", "~/.config/google-chrome",
    "~/.password-store",
]  # fmt: skip
SOCKETS = ["/run/docker.sock", "/run/podman", "/run/user", "/run/containerd", "/run/dbus"]


@pytest.fixture(params=shipped_names())
def document(request: pytest.FixtureRequest) -> PolicyDocument:
    return load_shipped(str(request.param))


def entries_of(document: PolicyDocument) -> tuple[Entry, ...]:
    assert isinstance(document.profile, ManagedProfile)
    assert isinstance(document.profile.file_system, RestrictedFileSystem)
    return document.profile.file_system.entries


def denied(entries: tuple[Entry, ...]) -> set[str]:
    return {
        entry.path.path.text
        for entry in entries
        if entry.access is AccessMode.DENY and isinstance(entry.path, PathLocation)
    }


def test_the_name_is_the_file_name(document: PolicyDocument) -> None:
    assert document.name == document.file
    assert document.kind is DocumentKind.POLICY_FILE
    assert document.description


def test_every_rule_and_every_block_says_why(document: PolicyDocument) -> None:
    for rule in (*document.entry_rules, *document.sealed_rules, document.network_rule):
        assert rule.why, str(rule)
        assert rule.why.endswith(".")
    value = json.loads(document.text)
    for block in ("environment", "limits", "network"):
        assert block not in value or value[block]["why"]


def test_no_rule_stands_twice(document: PolicyDocument) -> None:
    entries = entries_of(document)
    assert len(set(entries)) == len(entries)
    assert len(entries) == len(document.entry_rules)
    assert len(document.sealed) == len(document.sealed_rules)


def test_no_policy_opens_the_network(document: PolicyDocument) -> None:
    assert isinstance(document.profile, ManagedProfile)
    assert document.profile.network is NetworkSwitch.RESTRICTED
    assert document.network is None


def test_sockets_of_services_on_the_host_are_denied_everywhere(document: PolicyDocument) -> None:
    assert set(SOCKETS) <= denied(entries_of(document)) | denied(document.sealed)


def test_secrets_are_scrubbed_from_every_environment(document: PolicyDocument) -> None:
    assert set(DEFAULT_EXCLUDE) <= set(document.environment.exclude)
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PGPASSWORD", "SSH_AUTH_SOCK", "OPENAI_API_KEY"):
        assert any(fnmatch.fnmatchcase(name, pattern) for pattern in document.environment.exclude)
    for name in ("PATH", "HOME", "LANG", "TERM", "TMPDIR", "VIRTUAL_ENV", "CC"):
        assert not any(fnmatch.fnmatchcase(name, pattern) for pattern in document.environment.exclude)


def test_each_policy_promises_something_given_and_something_refused(document: PolicyDocument) -> None:
    assert {test.expect for test in document.tests} == set(Expectation)


def test_rewriting_changes_nothing(document: PolicyDocument) -> None:
    again = decode_policy(encode_document(document), file=document.file, load_base=None)
    assert again.merged == document.merged
    assert encode_document(again) == encode_document(document)


def test_a_line_holds_one_rule_so_that_reports_can_point_at_it() -> None:
    for name in shipped_names():
        document = load_shipped(name)
        own = [rule for rule in (*document.entry_rules, *document.sealed_rules) if rule.source == name]
        assert len({rule.line for rule in own}) == len(own)


@pytest.mark.parametrize("name", ["read-only", "workspace-write", "build"])
def test_policies_that_read_the_whole_system_deny_the_well_known_secrets(name: str) -> None:
    document = load_shipped(name)
    assert set(SECRETS) <= denied(entries_of(document))
    assert document.tmp is TmpPlacement.PRIVATE
    assert document.protect == DEFAULT_PROTECT


def test_the_default_policy_writes_in_the_workspace_only() -> None:
    wide = [
        entry for entry in entries_of(load_shipped("workspace-write")) if entry.access is AccessMode.WRITE
    ]
    assert [entry.model_dump(mode="json")["path"] for entry in wide] == [
        {"type": "special", "value": {"kind": "project_roots"}}
    ]


def test_untrusted_code_gets_no_wide_read_no_write_and_a_bound_on_everything() -> None:
    document = load_shipped("offline-untrusted")
    kinds = [entry.model_dump(mode="json")["path"]["value"]["kind"] for entry in entries_of(document)]
    assert kinds == ["minimal", "project_roots"]
    assert {entry.access for entry in entries_of(document)} == {AccessMode.READ}
    assert document.environment.inherit == "core"
    limits = document.limits
    assert None not in (limits.wall_s, limits.memory_mb, limits.processes, limits.open_files, limits.tmp_mb)


def test_build_moves_every_cache_into_the_private_tmp() -> None:
    document = load_shipped("build")
    assert {
        "XDG_CACHE_HOME",
        "PIP_CACHE_DIR",
        "UV_CACHE_DIR",
        "npm_config_cache",
        "CARGO_HOME",
        "GOCACHE",
        "GOMODCACHE",
    } <= {name for name, _ in document.environment.set}
    assert all(value.startswith("/tmp/cache/") for _, value in document.environment.set)
    assert entries_of(document) == entries_of(load_shipped("workspace-write"))


def readme() -> str:
    return files("sandboxing").joinpath("..", "policies", "README.md").read_text(encoding="utf-8")


def words(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for key in ("enum", "const"):
            value = schema.get(key, [])
            yield from (
                word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str)
            )
        for member in schema.values():
            yield from words(member)
    if isinstance(schema, list):
        for item in schema:
            yield from words(item)


def test_the_reference_names_every_key_and_every_word_of_the_format() -> None:
    text = readme()
    missing = {
        word
        for word in words(policy_schema())
        if f"`{word}`" not in text and f'"{word}"' not in text and word != "current_working_directory"
    }
    assert missing == set()


def test_the_reference_names_every_shipped_policy_and_every_default() -> None:
    text = readme()
    for word in (*shipped_names(), *DEFAULT_EXCLUDE, *DEFAULT_PROTECT):
        assert f"`{word}`" in text


def test_the_example_of_the_reference_is_a_policy() -> None:
    example = re.search(r"```json\n(.*?)```", readme(), re.DOTALL)
    assert example is not None
    document = decode_policy(example.group(1), file="README.md", load_base=load_shipped)
    assert document.entry_rules[-1].why == "Test keys."
    assert len(document.tests) == 2


def test_shipped_text_is_what_decoding_starts_from() -> None:
    assert issubclass(type(load_shipped("build").merged), Block)
    assert load_shipped("build").text == shipped_text("build")
