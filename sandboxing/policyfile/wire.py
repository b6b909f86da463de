"""From the models of a policy file to the wire's JSON, which knows no reasons and one spelling of each thing.

It owns that translation and nothing else; it never validates. `decode` hands the result to the profile floor.
"""

from __future__ import annotations

from sandboxing.policyfile.json_positions import JsonValue
from sandboxing.policyfile.model import (
    DisabledBlock,
    EntryBlock,
    ExternalBlock,
    GlobPlace,
    PathPlace,
    PlainSymbol,
    ProfileBlock,
    RestrictedBlock,
    SymbolPlace,
)
from sandboxing.policyfile.strict_paths import GLOB_WORKSPACE_PREFIXES

_WIRE_GLOB_PREFIX = GLOB_WORKSPACE_PREFIXES[-1]


def wire_profile(profile: ProfileBlock) -> dict[str, JsonValue]:
    """The profile as it goes over the wire; an absent network switch is `restricted`."""
    if isinstance(profile, DisabledBlock):
        return {"type": "disabled"}
    network = profile.network or "restricted"
    if isinstance(profile, ExternalBlock):
        return {"type": "external", "network": network}
    if not isinstance(profile.file_system, RestrictedBlock):
        return {"type": "managed", "network": network, "file_system": {"type": "unrestricted"}}
    entries: list[JsonValue] = [wire_entry(entry) for entry in profile.file_system.entries]
    file_system: dict[str, JsonValue] = {"type": "restricted", "entries": entries}
    if profile.file_system.glob_scan_max_depth is not None:
        file_system["glob_scan_max_depth"] = profile.file_system.glob_scan_max_depth
    return {"type": "managed", "network": network, "file_system": file_system}


def wire_entry(entry: EntryBlock) -> dict[str, JsonValue]:
    """One rule without its reason."""
    wire: dict[str, JsonValue] = {"path": _wire_place(entry.path), "access": entry.access.value}
    if entry.missing_path_behavior is not None:
        wire["missing_path_behavior"] = entry.missing_path_behavior
    return wire


def _wire_place(place: PathPlace | GlobPlace | SymbolPlace) -> dict[str, JsonValue]:
    match place:
        case PathPlace():
            return {"type": "path", "path": place.path}
        case GlobPlace():
            return {"type": "glob_pattern", "pattern": _wire_glob(place.pattern)}
        case SymbolPlace():
            return {"type": "special", "value": _wire_symbol(place)}


def _wire_symbol(place: SymbolPlace) -> dict[str, JsonValue]:
    symbol = place.value
    if isinstance(symbol, PlainSymbol):
        return {"kind": symbol.kind}
    wire: dict[str, JsonValue] = {"kind": "project_roots"}
    if symbol.subpath is not None:
        wire["subpath"] = symbol.subpath
    return wire


def _wire_glob(pattern: str) -> str:
    for prefix in GLOB_WORKSPACE_PREFIXES:
        if pattern.startswith(prefix):
            return _WIRE_GLOB_PREFIX + pattern.removeprefix(prefix)
    return pattern
