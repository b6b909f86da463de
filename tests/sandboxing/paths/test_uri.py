"""PathUri: what is accepted, what it is normalised to, and which native paths it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from sandboxing.errors import PathError
from sandboxing.paths.native import PathDialect
from sandboxing.paths.uri import PathConvention, PathUri
from tests.strategies import native_paths, path_uris, posix_paths, posix_raw_names, uri_texts

POSIX, WINDOWS, OPAQUE = PathConvention.POSIX, PathConvention.WINDOWS, PathConvention.OPAQUE

NORMALISED = [
    ("file:///x", "file:///x"),
    ("FILE:///x", "file:///x"),
    ("FiLe:///x", "file:///x"),
    ("file://localhost/x", "file:///x"),
    ("file://LOCALHOST/x", "file:///x"),
    ("file://local%68ost/x", "file:///x"),
    ("file:a.txt", "file:///a.txt"),
    ("file:/a", "file:///a"),
    ("file:", "file:///"),
    ("file://", "file:///"),
    (" \n file:///a\t/b ", "file:///a/b"),
    ("file:///d/../a", "file:///a"),
    ("file:///d/%2E%2e/a", "file:///a"),
    ("file:///d/.%2e/a", "file:///a"),
    ("file:///../../a", "file:///a"),
    ("file:///d/./a", "file:///d/a"),
    ("file:///d/%2e/a", "file:///d/a"),
    ("file:///d/.", "file:///d/"),
    ("file:///d/e/..", "file:///d/"),
    ("file:///d%2F..%2Fa", "file:///d%2F..%2Fa"),
    ("file:///%61", "file:///%61"),
    ("file:///a b", "file:///a%20b"),
    ("file:///%zz%", "file:///%zz%"),
    ("file:///é", "file:///%C3%A9"),
    ("file:///a\\b", "file:///a/b"),
    ("file:///a//b", "file:///a//b"),
    ("file:///c:/x", "file:///C:/x"),
    ("file:///c|/x", "file:///C:/x"),
    ("file://c:/x", "file:///C:/x"),
    ("file:c:\\x", "file:///C:/x"),
    ("file:///C:/..", "file:///C:/"),
    ("file:///a/../c:/x", "file:///C:/x"),
    ("file:///cd:/x", "file:///cd:/x"),
    ("file:\\\\Server\\Share\\x", "file://server/Share/x"),
    ("file://[::0001]/s", "file://[::1]/s"),
    ("file://10.0.0.1/s", "file://10.0.0.1/s"),
    ("file://bücher/s", "file://xn--bcher-kva/s"),
]

REFUSED = [
    ("/tmp/x", "invalid URI: relative URL without a base"),
    ("", "invalid URI: relative URL without a base"),
    ("//host/x", "invalid URI: relative URL without a base"),
    ("http://x/y", "unsupported path URI scheme `http`"),
    ("HTTP://x/y", "unsupported path URI scheme `http`"),
    ("C:\\x", "unsupported path URI scheme `c`"),
    ("file:///a?q=1", "query parameters are not allowed in path URIs"),
    ("file:///a?", "query parameters are not allowed in path URIs"),
    ("file:///a#f", "fragments are not allowed in path URIs"),
    ("file://u@h/x", "invalid URI: invalid international domain name"),
    ("file://u:p@h/x", "invalid URI: invalid international domain name"),
    ("file://h:80/x", "invalid URI: invalid international domain name"),
    ("file://h%2Fx/y", "invalid URI: invalid international domain name"),
    ("file://h%ff/y", "invalid URI: invalid international domain name"),
    ("file://[::1/y", "invalid URI: invalid international domain name"),
    ("file://[zz]/y", "invalid URI: invalid IPv6 address"),
    ("file://1.2.3.999/y", "invalid URI: invalid IPv4 address"),
    ("file:///\ud800", "invalid URI: the text holds an unpaired surrogate"),
]


@pytest.mark.parametrize(("given_text", "expected"), NORMALISED)
def test_parsing_normalises_by_the_url_standard(given_text: str, expected: str) -> None:
    assert str(PathUri.parse(given_text)) == expected


@pytest.mark.parametrize(("given_text", "message"), REFUSED)
def test_refusals_carry_the_wire_text(given_text: str, message: str) -> None:
    with pytest.raises(PathError) as refusal:
        PathUri.parse(given_text)
    assert refusal.value.message == message


@given(uri_texts)
def test_parsing_what_was_parsed_changes_nothing(text: str) -> None:
    try:
        once = PathUri.parse(text)
    except PathError:
        return
    assert PathUri.parse(once.text) == once


@given(uri_texts)
def test_a_parsed_uri_is_ascii_without_dot_segments(text: str) -> None:
    try:
        uri = PathUri.parse(text)
    except PathError:
        return
    assert uri.text.isascii()
    assert not {".", ".."}.intersection(segment.lower().replace("%2e", ".") for segment in uri.segments)


def test_the_emitted_characters_are_exactly_the_reference_set() -> None:
    raw = "!$&'()*+,-.:;=@[]^_|~0Az"
    assert PathUri.from_native(f"/x{raw}", POSIX).text == f"file:///x{raw}"
    for char in ' "#%<>?`{}\\\x01\x1f\x7f':
        assert PathUri.from_native(f"/x{char}", POSIX).text == f"file:///x%{ord(char):02X}"
    assert PathUri.from_native("/é", POSIX).text == "file:///%C3%A9"


@pytest.mark.parametrize("dialect", PathDialect)
@given(data=st.data())
def test_a_native_path_survives_the_way_there_and_back(dialect: PathDialect, data: st.DataObject) -> None:
    path = data.draw(native_paths(dialect))
    uri = PathUri.from_native(path, dialect.convention)
    if uri.convention is OPAQUE:
        assert uri.opaque_payload is not None
        return
    assert PathUri.parse(uri.text) == uri
    back = uri.to_native(dialect.convention, host_label="here")
    assert back == path


@given(posix_paths(posix_raw_names))
def test_bytes_that_are_no_text_are_carried_and_never_opened(path: str) -> None:
    uri = PathUri.from_native(path, POSIX)
    assert PathUri.parse(uri.text) == uri
    if uri.convention is POSIX:
        assert uri.to_native(POSIX, host_label="linux") == path
        return
    assert uri.opaque_payload == path.encode("utf-8", "surrogateescape")
    with pytest.raises(PathError):
        uri.to_native(POSIX, host_label="linux")


OPAQUE_FALLBACKS = [
    ("/b\udcff", POSIX, b"/b\xff"),
    ("/C:/x", POSIX, b"/C:/x"),
    ("/c|", POSIX, b"/c|"),
    ("C:\\\ud800", WINDOWS, "C:\\\ud800".encode("utf-16-le", "surrogatepass")),
    ("\\\\localhost\\s\\x", WINDOWS, "\\\\localhost\\s\\x".encode("utf-16-le")),
    ("\\\\a@b\\s\\x", WINDOWS, "\\\\a@b\\s\\x".encode("utf-16-le")),
]


@pytest.mark.parametrize(("path", "convention", "payload"), OPAQUE_FALLBACKS)
def test_what_no_uri_can_spell_becomes_opaque(path: str, convention: PathConvention, payload: bytes) -> None:
    uri = PathUri.from_native(path, convention)
    assert uri.convention is OPAQUE
    assert uri.opaque_payload == payload
    assert uri.text.startswith("file:///%00/bad/path/")
    assert uri.parent == uri
    assert uri.name == ""
    with pytest.raises(PathError):
        uri.join("x")


@pytest.mark.parametrize(
    "text",
    [
        "file:///%00/bad/path/",
        "file:///%00/bad/path/a*",
        "file:///%00/bad/path/QQ/x",
        "file:///%00/bad/path/A",
    ],
)
def test_a_malformed_fallback_is_an_ordinary_path_with_a_nul(text: str) -> None:
    uri = PathUri.parse(text)
    assert uri.convention is POSIX
    assert uri.has_encoded_nul


def test_the_reference_servers_fallback_is_read() -> None:
    uri = PathUri.parse("file:///%00/bad/path/L3RtcC9iYWT_")
    assert uri.opaque_payload == b"/tmp/bad\xff"
    assert not uri.has_encoded_nul


FOREIGN = [
    ("file:///C:/x", POSIX),
    ("file://host/share/x", POSIX),
    ("file:///a%00b", POSIX),
    ("file:///%00/bad/path/L2L_", POSIX),
    ("file:///x", WINDOWS),
    ("file:///C:/a%00", WINDOWS),
    ("file:///C:/a%FF", WINDOWS),
    ("file:///C:/a:stream", WINDOWS),
    ("file://host/", WINDOWS),
]


@pytest.mark.parametrize(("text", "convention"), FOREIGN)
def test_a_path_that_does_not_fit_the_host_is_refused_with_the_wire_text(
    text: str, convention: PathConvention
) -> None:
    with pytest.raises(PathError) as refusal:
        PathUri.parse(text).to_native(convention, host_label="linux")
    assert refusal.value.message == f"'{text}' is invalid on 'linux'"


NATIVE = [
    ("file:///", POSIX, "/"),
    ("file:///a/", POSIX, "/a"),
    ("file:///a//b", POSIX, "/a/b"),
    ("file:///%61%20b", POSIX, "/a b"),
    ("file:///a%FF", POSIX, "/a\udcff"),
    ("file:///d%2F..%2Fa", POSIX, "/d/../a"),
    ("file:///C:/", WINDOWS, "C:\\"),
    ("file:///c:", WINDOWS, "C:\\"),
    ("file:///C:/a%2Fb", WINDOWS, "C:\\a\\b"),
    ("file://server/share", WINDOWS, "\\\\server\\share\\"),
    ("file://server/share/x", WINDOWS, "\\\\server\\share\\x"),
]


@pytest.mark.parametrize(("text", "convention", "native"), NATIVE)
def test_native_text_is_decoded_once(text: str, convention: PathConvention, native: str) -> None:
    assert PathUri.parse(text).to_native(convention, host_label="here") == native


WITHIN = [
    ("file:///a/b", "file:///a", True),
    ("file:///a", "file:///a", True),
    ("file:///a/", "file:///a", True),
    ("file:///ab", "file:///a", False),
    ("file:///a", "file:///a/b", False),
    ("file:///%61/b", "file:///a", True),
    ("file:///a", "file:///", True),
    ("file:///A", "file:///a", False),
    ("file:///C:/Dir/x", "file:///c:/dir", True),
    ("file:///D:/dir", "file:///C:/", False),
    ("file://h/S/x", "file://H/s", True),
    ("file://h/s/x", "file://g/s", False),
    ("file:///C:/x", "file:///", False),
    ("file:///%00/bad/path/L2L_", "file:///", False),
    ("file:///%00/bad/path/L2L_", "file:///%00/bad/path/L2L_", True),
]


@pytest.mark.parametrize(("path", "root", "expected"), WITHIN)
def test_containment_goes_component_by_component(path: str, root: str, *, expected: bool) -> None:
    assert PathUri.parse(path).is_within(PathUri.parse(root)) is expected


@pytest.mark.parametrize("hidden", ["file:///a%2Fb", "file:///a%2fb", "file:///C:/a%5Cb"])
def test_containment_gives_no_answer_for_encoded_separators(hidden: str) -> None:
    uri, root = PathUri.parse(hidden), PathUri.parse("file:///a")
    for left, right in ((uri, root), (root, uri)):
        with pytest.raises(PathError):
            left.is_within(right)


def test_an_encoded_backslash_is_a_character_of_a_posix_name() -> None:
    assert PathUri.parse("file:///a%5Cb").is_within(PathUri.parse("file:///"))


def test_windows_places_are_equal_whatever_their_ascii_case() -> None:
    assert PathUri.parse("file:///C:/DIR").same_as(PathUri.parse("file:///c:/dir"))
    assert PathUri.parse("file:///C:/DIR") != PathUri.parse("file:///c:/dir")
    assert not PathUri.parse("file:///C:/É").same_as(PathUri.parse("file:///C:/é"))
    assert not PathUri.parse("file:///DIR").same_as(PathUri.parse("file:///dir"))


JOINS = [
    ("file:///a", "b/c", "file:///a/b/c"),
    ("file:///a/", "./b", "file:///a/b"),
    ("file:///a", "../../../b", "file:///b"),
    ("file:///a", "/b", "file:///b"),
    ("file:///a", "", "file:///a"),
    ("file:///a", "b c%", "file:///a/b%20c%25"),
    ("file:///C:/a", "b\\c", "file:///C:/a/b/c"),
    ("file:///C:/a", "..\\..\\b", "file:///C:/b"),
    ("file:///C:/a", "\\b", "file:///C:/b"),
    ("file:///C:/a", "D:\\b", "file:///D:/b"),
    ("file://h/s/a", "/b", "file://h/s/b"),
]


@pytest.mark.parametrize(("base", "relative", "expected"), JOINS)
def test_join_reads_a_native_path_and_stops_at_the_root(base: str, relative: str, expected: str) -> None:
    assert PathUri.parse(base).join(relative).text == expected


@given(path_uris)
def test_going_up_ends_at_a_place_that_is_its_own_parent(uri: PathUri) -> None:
    for _ in range(10):
        if not uri.has_encoded_separator:
            assert uri.is_within(uri.parent)
        uri = uri.parent
    assert uri.parent == uri
    assert uri.name == ""


def test_parent_and_name_split_a_uri() -> None:
    uri = PathUri.parse("file:///a/b%20c/")
    assert (uri.parent.text, uri.name) == ("file:///a", "b c")
    assert PathUri.parse("file:///C:/x").parent.text == "file:///C:/"
    assert PathUri.parse("file://h/s/x").parent.text == "file://h/s"
    assert PathUri.parse("file:///x").parent.text == "file:///"


class Holder(BaseModel):
    path: PathUri


def test_a_model_field_reads_and_writes_text() -> None:
    held = Holder.model_validate({"path": "FILE:///x"})
    assert held.path == PathUri.parse("file:///x")
    assert held.model_dump_json() == '{"path":"file:///x"}'
    assert Holder(path=held.path) == held
    assert Holder.model_json_schema()["properties"]["path"]["type"] == "string"


def test_a_model_field_refuses_with_the_wire_text() -> None:
    with pytest.raises(ValidationError, match="relative URL without a base"):
        Holder.model_validate({"path": "/x"})
    with pytest.raises(ValidationError, match="valid string"):
        Holder.model_validate({"path": 3})


@pytest.mark.parametrize("path", ["a", "", "/a\0b", "/\ud800"])
def test_from_native_refuses_what_is_no_absolute_path(path: str) -> None:
    with pytest.raises(PathError):
        PathUri.from_native(path, POSIX)
