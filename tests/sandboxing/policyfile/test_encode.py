"""Canonical text: it says the same, and one policy has one text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxing.policyfile.decode import decode_policy
from sandboxing.policyfile.encode import encode_document, encode_policy
from sandboxing.policyfile.model import PolicyFile
from sandboxing.policyfile.shipped import load_shipped, shipped_names

NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\*?$~:[]{}"), min_size=1, max_size=5
)
SEGMENTS = NAMES.filter(lambda name: name not in (".", ".."))
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
WHY = st.fixed_dictionaries(
    {}, optional={"why": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)}
)
ABSOLUTE = st.one_of(
    PATHS.map("/{}".format), PATHS.map("~/{}".format), st.sampled_from(["/", "~", "C:\\a b"])
)
PLACES = st.one_of(
    ABSOLUTE.map(lambda path: {"type": "path", "path": path}),
    st.sampled_from(["root", "minimal", "tmpdir", "slash_tmp", "project_roots"]).map(
        lambda kind: {"type": "special", "value": {"kind": kind}}
    ),
    PATHS.map(lambda path: {"type": "special", "value": {"kind": "project_roots", "subpath": path}}),
)
GLOBS = PATHS.map(lambda path: {"type": "glob_pattern", "pattern": f":workspace_roots/{path}/**/*.x"})


def entries(access: list[str]) -> st.SearchStrategy[object]:
    plain = st.tuples(PLACES, st.sampled_from(access), WHY)
    denies = st.tuples(PLACES | GLOBS, st.just("deny"), WHY)
    rows = (plain | denies).map(lambda row: {"path": row[0], "access": row[1], **row[2]})
    return st.lists(rows, max_size=4)


COUNTS = st.integers(1, 2**40)
POLICIES = st.fixed_dictionaries(
    {
        "version": st.just(1),
        "name": SEGMENTS.filter(str.isprintable),
        "profile": st.one_of(
            st.just({"type": "disabled"}),
            st.just({"type": "external", "network": "enabled"}),
            st.fixed_dictionaries(
                {
                    "type": st.just("managed"),
                    "file_system": st.fixed_dictionaries(
                        {
                            "type": st.just("restricted"),
                            "entries": entries(["read", "write", "deny", "none"]),
                        },
                        optional={"glob_scan_max_depth": COUNTS},
                    ),
                },
                optional={"network": st.sampled_from(["restricted", "enabled"]), "why": st.just("x")},
            ),
        ),
    },
    optional={
        "$schema": st.just("https://example.test/s"),
        "description": st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        "network": st.fixed_dictionaries(
            {},
            optional={
                "mode": st.sampled_from(["full", "limited"]),
                "domains": st.dictionaries(
                    st.sampled_from(["b", "a", "*.c"]), st.sampled_from(["allow", "deny"])
                ),
                "ports": st.lists(st.integers(1, 65535), max_size=3),
                "allow_local_binding": st.booleans(),
            },
        ),
        "environment": st.fixed_dictionaries(
            {},
            optional={
                "inherit": st.sampled_from(["all", "core", "none"]),
                "exclude": st.lists(st.sampled_from(["A*", "B"]), max_size=2),
                "set": st.dictionaries(
                    st.sampled_from(["Z", "A", "M"]), st.text(st.sampled_from("ab\u2028\n\u00e4"))
                ),
            },
        ),
        "limits": st.fixed_dictionaries({}, optional={"wall_s": st.floats(0.001, 1e9), "tmp_mb": COUNTS}),
        "sealed": entries(["deny"]),
        "protect": st.lists(st.sampled_from([".git", "git-hooks", "Makefile"]), max_size=3),
        "degrade": st.lists(st.sampled_from(["network", "deny-globs"]), max_size=2),
        "tmp": st.sampled_from(["private", "host"]),
        "tests": st.lists(ABSOLUTE.map(lambda path: {"may": "read", "path": path}), max_size=2),
    },
)


@given(POLICIES)
def test_decoding_the_canonical_text_gives_the_same_policy(value: dict[str, object]) -> None:
    policy = PolicyFile.model_validate(value)
    text = encode_policy(policy)
    assert PolicyFile.model_validate(json.loads(text)) == policy
    document = decode_policy(text, file="p", load_base=None)
    assert document.merged == policy
    assert encode_document(document) == text


@given(POLICIES, st.randoms(use_true_random=False))
def test_the_order_of_keys_in_the_document_does_not_show(value: dict[str, object], random: object) -> None:
    assert hasattr(random, "shuffle")
    shuffled = list(value.items())
    random.shuffle(shuffled)
    assert encode_policy(PolicyFile.model_validate(dict(shuffled))) == encode_policy(
        PolicyFile.model_validate(value)
    )


def test_maps_are_sorted_and_whole_seconds_have_no_fraction() -> None:
    value = {
        "name": "n",
        "version": 1,
        "limits": {"wall_s": 60},
        "environment": {"set": {"B": "2", "A": "1"}},
        "profile": {"type": "disabled"},
    }
    text = encode_policy(PolicyFile.model_validate(value))
    assert text.startswith('{\n  "version": 1,\n  "name": "n",\n  "profile"')
    assert text.index('"A"') < text.index('"B"')
    assert '"wall_s": 60\n' in text
    assert text.endswith("}\n")


@pytest.mark.parametrize("name", shipped_names())
def test_a_policy_with_bases_is_written_as_one_document(name: str) -> None:
    document = load_shipped(name)
    again = decode_policy(encode_document(document), file=name, load_base=None)
    assert again.merged == document.merged
    assert again.profile == document.profile
    assert again.sealed == document.sealed
    assert again.environment == document.environment
    assert [rule.why for rule in again.entry_rules] == [rule.why for rule in document.entry_rules]


def test_a_wire_profile_is_written_as_the_wire_has_it() -> None:
    text = '{"type": "managed", "x": 1, "file_system": {"type": "restricted", "entries": []}}'
    document = decode_policy(text, file="p", load_base=None)
    assert json.loads(encode_document(document)) == {
        "type": "managed",
        "file_system": {"type": "restricted", "entries": []},
        "network": "restricted",
    }
