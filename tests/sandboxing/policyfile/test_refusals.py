"""Values of the wrong type, out of bounds, or that only the wire takes: refused in the house's words."""

from __future__ import annotations

import json

import pytest

from sandboxing.errors import PolicyError
from sandboxing.policyfile.decode import decode_policy

ENTRY_0 = "/profile/file_system/entries/0"


def policy(**more: object) -> dict[str, object]:
    return {"version": 1, "name": "n", "profile": {"type": "disabled"}, **more}


def entries(*rows: object) -> dict[str, object]:
    file_system = {"type": "restricted", "entries": list(rows)}
    return policy(profile={"type": "managed", "file_system": file_system})


def at(path: object, access: object = "read") -> dict[str, object]:
    return entries({"path": path, "access": access})


def path(text: str, access: str = "read") -> dict[str, object]:
    return at({"type": "path", "path": text}, access)


def refusal(value: object) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        decode_policy(json.dumps(value), file="p.json", load_base=None)
    return caught.value


@pytest.mark.parametrize(
    ("value", "pointer", "message"),
    [
        (policy(name=1), "/name", "name `1`: expected a string, found a number"),
        (policy(name=""), "/name", "`name`: it is empty"),
        (policy(name="x" * 101), "/name", f"name `{'x' * 60}...`: it is longer than 100 characters"),
        (policy(profile=[]), "/profile", "`/profile`: expected an object, found an array"),
        (policy(profile={"type": 3}), "/profile/type", "type `3`: expected a string, found a number"),
        (entries("x"), ENTRY_0, "entries `x`: expected an object, found a string"),
        (policy(sealed={}), "/sealed", "`/sealed`: expected an array, found an object"),
        (policy(sealed="x"), "/sealed", "sealed `x`: expected an array, found a string"),
        (
            policy(environment={"set": {"A": 1}}),
            "/environment/set/A",
            "A `1`: expected a string, found a number",
        ),
        (policy(network={"domains": []}), "/network/domains", None),
        (
            policy(network={"allow_local_binding": 1}),
            "/network/allow_local_binding",
            "allow_local_binding `1`: expected true or false, found a number",
        ),
        ({"network": {"enabled": 1}}, "/network/enabled", None),
    ],
)
def test_wrong_types(value: object, pointer: str, message: str | None) -> None:
    error = refusal(value)
    assert error.pointer == pointer
    assert error.message.startswith("cannot accept ")
    assert message is None or error.message == f"cannot accept {message}"


@pytest.mark.parametrize(
    ("key", "number", "message"),
    [
        ("processes", True, "`processes`: expected a whole number, found true"),
        ("processes", 1.5, "processes `1.5`: expected a whole number, found a number"),
        ("processes", 0, "processes `0`: it must be at least 1"),
        ("tmp_mb", 2**40 + 1, "tmp_mb `1099511627777`: it must be at most 1099511627776"),
        ("wall_s", 0, "wall_s `0`: it must be more than 0"),
        ("wall_s", -0.5, "wall_s `-0.5`: it must be more than 0"),
        ("wall_s", 10**30, f"wall_s `1{'0' * 30}`: it must be at most 1000000000"),
        ("wall_s", "9", "wall_s `9`: expected a number, found a string"),
    ],
)
def test_limits_have_bounds(key: str, number: object, message: str) -> None:
    error = refusal(policy(limits={key: number}))
    assert error.pointer == f"/limits/{key}"
    assert error.message == f"cannot accept {message}"


@pytest.mark.parametrize(("port", "bound"), [(0, "at least 1"), (65536, "at most 65535")])
def test_ports_have_bounds(port: int, bound: str) -> None:
    error = refusal(policy(network={"ports": [port]}))
    assert error.pointer == "/network/ports/0"
    assert error.message == f"cannot accept ports `{port}`: it must be {bound}"


@pytest.mark.parametrize("key", ["tmp", "description", "network", "$schema", "extends", "profile"])
def test_null_is_no_way_to_leave_a_key_out(key: str) -> None:
    error = refusal(policy(**{key: None}))
    assert error.pointer == "/" + key
    assert error.message == f"cannot accept `{key}`: it is null"
    assert error.hint == "leave the key out instead"


@pytest.mark.parametrize("version", [0, 2, True, 1.0, "1", [1]])
def test_only_the_number_1_is_a_version(version: object) -> None:
    error = refusal({**policy(), "version": version})
    assert error.pointer == "/version"
    assert error.message.endswith("this release reads version 1")


@pytest.mark.parametrize(
    ("value", "pointer", "message"),
    [
        (path("src"), f"{ENTRY_0}/path/path", "path `src`: it is relative"),
        (path("/a/../b"), f"{ENTRY_0}/path/path", "path `/a/../b`: it contains a `..` segment"),
        (
            path("/home/$USER"),
            f"{ENTRY_0}/path/path",
            "path `/home/$USER`: `$USER` would not be expanded",
        ),
        (
            path("/src/*.ts", "write"),
            f"{ENTRY_0}/path/path",
            "path `/src/*.ts`: `*` makes it a glob, and only `deny` may use globs",
        ),
        (
            at({"type": "glob_pattern", "pattern": "/src/*.ts"}, "write"),
            f"{ENTRY_0}/access",
            "access `write`: only `deny` may use a glob",
        ),
        (
            at({"type": "special", "value": {"kind": "project_roots", "subpath": "../x"}}),
            f"{ENTRY_0}/path/value/subpath",
            "subpath `../x`: it contains a `..` segment",
        ),
    ],
)
def test_paths_that_the_wire_takes_and_a_policy_file_does_not(
    value: object, pointer: str, message: str
) -> None:
    error = refusal(value)
    assert error.pointer == pointer
    assert error.message == f"cannot accept {message}"


@pytest.mark.parametrize(
    ("value", "pointer", "message"),
    [
        (
            policy(sealed=[{"path": {"type": "path", "path": "/a"}, "access": "read"}]),
            "/sealed/0/access",
            "access `read`: only `deny` can be sealed",
        ),
        (
            policy(protect=["a/b"]),
            "/protect/0",
            "protect `a/b`: it is neither a preset nor a single file name",
        ),
        (
            policy(protect=[".."]),
            "/protect/0",
            "protect `..`: it is neither a preset nor a single file name",
        ),
        (policy(name=":own"), "/name", "name `:own`: a name that starts with `:` is reserved"),
        (policy(name="a\nb"), "/name", "name `a\\nb`: a name is one line of printable characters"),
        (policy(degrade=["Net Work"]), "/degrade/0", None),
        (
            policy(network={"domains": {"https://a.test": "allow"}}),
            "/network/domains/https:~1~1a.test",
            "key `https://a.test`: it is not a host pattern",
        ),
        (
            policy(network={"unix_sockets": {"x.sock": "allow"}}),
            "/network/unix_sockets/x.sock",
            "key `x.sock`: it is relative",
        ),
        (policy(network={"unix_sockets": {"/x/": "allow"}}), "/network/unix_sockets/~1x~1", None),
        (
            policy(environment={"set": {"A=B": "1"}}),
            "/environment/set/A=B",
            "key `A=B`: it cannot be the name of a variable",
        ),
        (policy(environment={"set": {"A": "\0"}}), "/environment/set/A", None),
        (policy(environment={"exclude": [""]}), "/environment/exclude/0", "`exclude`: it is empty"),
        (
            policy(tests=[{"may": "read", "path": ":root/x"}]),
            "/tests/0/path",
            "path `:root/x`: unknown symbol `:root`",
        ),
        (
            policy(tests=[{"path": "/"}]),
            "/tests/0",
            "`/tests/0`: exactly one of `may` and `may_not` is needed",
        ),
        (policy(tests=[{"path": "/", "may": "read", "may_not": "read"}]), "/tests/0", None),
    ],
)
def test_values_that_would_mean_something_else_than_they_say(
    value: object, pointer: str, message: str | None
) -> None:
    error = refusal(value)
    assert error.pointer == pointer
    assert message is None or error.message == f"cannot accept {message}"


def test_a_base_is_refused_where_no_other_policy_can_be_read() -> None:
    error = refusal(policy(extends="other"))
    assert error.pointer == "/extends"
    assert error.message == "cannot extend `other`: no other policy can be read here"


def test_a_wire_profile_says_where_it_is_wrong() -> None:
    wire = at({"type": "path", "path": "a"})["profile"]
    error = refusal(wire)
    assert error.pointer == "/file_system/entries/0/path/path"
    assert "\n" not in error.message
