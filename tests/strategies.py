"""Hypothesis strategies for paths, entries, profiles and what is combined with profiles.

They make valid values of the wire types; invalid input is each test's own business. Names come from small
alphabets, so that paths of one example meet.
"""

from __future__ import annotations

from hypothesis import strategies as st

from sandboxing.paths.convention import PathConvention
from sandboxing.paths.native import PathDialect
from sandboxing.profile.access import AccessMode
from sandboxing.profile.additional import AdditionalFileSystem, AdditionalNetwork, AdditionalPermissions
from sandboxing.profile.context import (
    PolicyContext,
    SandboxContext,
    SandboxOverride,
    WindowsProxySettingsMode,
    WindowsSandboxLevel,
)
from sandboxing.profile.entries import (
    Entry,
    GlobLocation,
    Location,
    PathLocation,
    PortablePath,
    SpecialKind,
    SpecialLocation,
    SpecialValue,
)
from sandboxing.profile.permission import (
    DisabledProfile,
    ExternalProfile,
    FileSystem,
    ManagedProfile,
    NetworkSwitch,
    PermissionProfile,
    RestrictedFileSystem,
    UnrestrictedFileSystem,
)

SMALL_NAMES = ("a", "b", "c", ".git", ".env", "w", "docs")

small_names = st.sampled_from(SMALL_NAMES)
"""File names of which a handful exist, so that generated paths often contain each other."""


def _is_file_name(name: str) -> bool:
    return name not in {".", ".."}


posix_names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12).filter(
    _is_file_name
)
"""Any name a POSIX directory can hold that is UTF-8."""

posix_raw_names = (
    st.binary(min_size=1, max_size=8)
    .filter(lambda raw: b"/" not in raw and b"\0" not in raw and raw not in {b".", b".."})
    .map(lambda raw: raw.decode("utf-8", "surrogateescape"))
)
"""Any name a POSIX directory can hold, undecodable bytes as surrogate escapes."""

windows_names = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters='/\\:*?"<>|'),
    min_size=1,
    max_size=12,
).filter(lambda name: not name.endswith((".", " ")))
"""Names that Win32 accepts."""

_drives = st.sampled_from("CDEZ").map(lambda letter: f"{letter}:\\")
_shares = st.tuples(st.sampled_from(("server", "files.example")), windows_names).map(
    lambda share: f"\\\\{share[0]}\\{share[1]}\\"
)


def posix_paths(names: st.SearchStrategy[str] = posix_names) -> st.SearchStrategy[str]:
    """Normalised absolute POSIX paths."""
    return st.lists(names, max_size=5).map(lambda parts: "/" + "/".join(parts))


def windows_paths(names: st.SearchStrategy[str] = windows_names) -> st.SearchStrategy[str]:
    """Normalised absolute Windows paths, on drives and on shares."""
    return st.tuples(_drives | _shares, st.lists(names, max_size=5)).map(
        lambda path: path[0] + "\\".join(path[1])
    )


def native_paths(dialect: PathDialect) -> st.SearchStrategy[str]:
    """Normalised absolute paths of a convention."""
    return posix_paths() if dialect is PathDialect.POSIX else windows_paths()


small_paths = posix_paths(small_names)
"""POSIX paths made of few names."""

uri_texts = st.text(st.sampled_from("abC:|/\\.%2eEfF05cC ~é#?[]^{}\t<>@-_"), max_size=24).map(
    lambda rest: "file:" + rest
)
"""Texts with the scheme of a path URI and anything behind it."""

portable_paths = st.one_of(
    posix_paths().map(PortablePath.parse),
    windows_paths().map(PortablePath.parse),
    posix_paths().map(lambda path: PortablePath.from_native(path, PathConvention.POSIX)),
    st.lists(small_names, max_size=3).map(lambda parts: PortablePath.parse("/".join(["~", *parts]))),
)
"""Paths of entries in every accepted form."""

accesses = st.sampled_from(AccessMode)
network_switches = st.sampled_from(NetworkSwitch)
_subpaths = st.lists(small_names, min_size=1, max_size=3).map("/".join)
_depths = st.none() | st.integers(min_value=1, max_value=6)

special_values = st.one_of(
    st.sampled_from([kind for kind in SpecialKind if kind is not SpecialKind.UNKNOWN]).map(
        lambda kind: SpecialValue(kind=kind)
    ),
    _subpaths.map(lambda subpath: SpecialValue(kind=SpecialKind.PROJECT_ROOTS, subpath=subpath)),
    st.builds(
        SpecialValue, kind=st.just(SpecialKind.UNKNOWN), path=st.just(":later"), subpath=st.none() | _subpaths
    ),
)
"""Every symbol, with and without its extras."""

special_locations = st.builds(SpecialLocation, value=special_values)
glob_locations = st.builds(
    GlobLocation,
    pattern=st.sampled_from(("/w/**/.env", "/w/*.key", "**/.env", "codex-project-roots://**/.env", "/a/b*")),
)


def entries_at(paths: st.SearchStrategy[PortablePath]) -> st.SearchStrategy[Entry]:
    """Entries at symbols, at these paths, and deny globs."""
    places: st.SearchStrategy[Location] = st.one_of(st.builds(PathLocation, path=paths), special_locations)
    skip = st.sampled_from((None, "skip"))
    return st.one_of(
        st.builds(Entry, path=places, access=accesses, missing_path_behavior=skip),
        st.builds(Entry, path=glob_locations, access=st.just(AccessMode.DENY)),
    )


small_entries = entries_at(small_paths.map(PortablePath.parse))
"""Entries whose paths meet."""

all_entries = entries_at(portable_paths)
"""Entries of every form."""


def file_systems(entries: st.SearchStrategy[Entry]) -> st.SearchStrategy[FileSystem]:
    """Both kinds of filesystem section over these entries."""
    restricted = st.builds(
        RestrictedFileSystem,
        entries=st.lists(entries, max_size=6).map(tuple),
        glob_scan_max_depth=_depths,
    )
    return st.one_of(restricted, st.builds(UnrestrictedFileSystem))


def profiles(entries: st.SearchStrategy[Entry] = all_entries) -> st.SearchStrategy[PermissionProfile]:
    """All three kinds of profile over these entries."""
    return st.one_of(
        st.builds(ManagedProfile, file_system=file_systems(entries), network=network_switches),
        st.builds(DisabledProfile),
        st.builds(ExternalProfile, network=network_switches),
    )


def additional_permissions(
    entries: st.SearchStrategy[Entry] = small_entries,
) -> st.SearchStrategy[AdditionalPermissions]:
    """Requests and grants over these entries, also empty ones."""
    return st.builds(
        AdditionalPermissions,
        network=st.none() | st.builds(AdditionalNetwork, enabled=st.sampled_from((None, False, True))),
        file_system=st.none()
        | st.builds(
            AdditionalFileSystem,
            entries=st.lists(entries, max_size=6).map(tuple),
            glob_scan_max_depth=_depths,
        ),
    )


path_uris = st.one_of(
    portable_paths.map(lambda path: path.uri).filter(lambda uri: uri is not None),
)
"""Normalised URIs of either convention."""

sandbox_contexts = st.builds(
    SandboxContext,
    permissions=profiles(),
    sandbox_override=st.sampled_from(SandboxOverride),
    cwd=st.none() | path_uris,
    policy_context=st.none()
    | st.builds(
        PolicyContext, cwd=st.none() | path_uris, workspace_roots=st.lists(path_uris, max_size=2).map(tuple)
    ),
    workspace_roots=st.lists(path_uris, max_size=2).map(tuple),
    user_home_dir=st.none() | path_uris,
    temporary_directories=st.none() | st.lists(path_uris, max_size=2).map(tuple),
    windows_sandbox_level=st.sampled_from(WindowsSandboxLevel),
    windows_sandbox_proxy_settings_mode=st.none() | st.sampled_from(WindowsProxySettingsMode),
    use_legacy_landlock=st.booleans(),
)
"""Sandbox contexts with every member present or absent."""
