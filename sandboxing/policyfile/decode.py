"""From the text of a policy to a PolicyDocument: read, validate, put on its base, translate.

It owns the order of these steps and the origin of every rule; it never opens a file and never binds a
path. The command line, `run` and `shipped` call it, each with its own way to find a base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pydantic import ValidationError

from sandboxing.errors import PolicyError
from sandboxing.policyfile.diagnose import policy_error
from sandboxing.policyfile.document import DocumentKind, PolicyDocument
from sandboxing.policyfile.extends import BaseUnavailable, MergeFault, merge
from sandboxing.policyfile.json_positions import JsonDocument, JsonValue, read_json, shown
from sandboxing.policyfile.model import (
    EntryBlock,
    EnvironmentBlock,
    LimitsBlock,
    ManagedBlock,
    NetworkBlock,
    PolicyFile,
    RestrictedBlock,
)
from sandboxing.policyfile.settings import (
    DEFAULT_EXCLUDE,
    DEFAULT_PROTECT,
    EnvironmentRules,
    Expectation,
    Inherit,
    Limits,
    NetworkRules,
    PolicyTest,
    ProxyMode,
    TmpPlacement,
)
from sandboxing.policyfile.wire import wire_entry, wire_profile
from sandboxing.profile.entries import Entry
from sandboxing.profile.permission import (
    ManagedProfile,
    PermissionProfile,
    RestrictedFileSystem,
    decode_profile,
)
from sandboxing.profile.rule_id import RuleId

LoadBase: TypeAlias = Callable[[str], PolicyDocument]
"""Finds the base that `extends` names. It raises BaseUnavailable for a base that cannot be had, and lets the
PolicyError of a base that is wrong itself pass."""

_POLICY_KEYS = frozenset({"version", "profile", "extends"})
_OLDER_WIRE_KEYS = frozenset({"network", "file_system"})


def decode_policy(text: str, *, file: str, load_base: LoadBase | None = None) -> PolicyDocument:
    """Decode a policy file, or a wire PermissionProfile given in its place.

    Args:
        text: the document.
        file: its name for messages and for the origin of its rules.
        load_base: finds the base that `extends` names; without it a document with a base is refused. A
            loader should watch for circles, as the one of `shipped` does, to name them.

    Raises:
        PolicyError: with file, JSON pointer, line, column and, where there is one, a hint.
    """
    document = read_json(text, file=file)
    if not isinstance(document.value, dict):
        cause = "expected an object"
        raise document.refuse_value("", f"cannot accept `{shown(file)}`: {cause}")
    if _is_wire(document.value):
        return _wire_document(document, document.value)
    try:
        own = PolicyFile.model_validate(document.value)
    except ValidationError as failure:
        raise policy_error(document, failure) from None
    return _policy_document(document, own, _base(document, own, load_base))


def _is_wire(value: Mapping[str, JsonValue]) -> bool:
    """A tagged profile, or one of the wire's older untagged forms; a doubtful object is a policy file."""
    if not _POLICY_KEYS.isdisjoint(value):
        return False
    return "type" in value or (len(value) > 0 and _OLDER_WIRE_KEYS.issuperset(value))


def _base(document: JsonDocument, own: PolicyFile, load_base: LoadBase | None) -> PolicyDocument | None:
    if own.extends is None:
        return None
    refused = f"cannot extend `{shown(own.extends)}`"
    if load_base is None:
        raise document.refuse_value("/extends", f"{refused}: no other policy can be read here")
    try:
        base = load_base(own.extends)
    except RecursionError:
        # A loader without a bound of its own that follows a circle.
        cause = "the chain of bases has no end"
        raise document.refuse_value("/extends", f"{refused}: {cause}") from None
    except (BaseUnavailable, PolicyError) as failure:
        if isinstance(failure, PolicyError) and failure.line is not None:
            raise
        # A PolicyError without a place means that no document was read: the base was not found.
        raise document.refuse_value(
            "/extends", f"{refused}: {failure.message}", hint=failure.hint
        ) from failure
    if base.merged is None:
        hint = "wrap the profile in a policy file"
        raise document.refuse_value("/extends", f"{refused}: it is a wire profile", hint=hint)
    return base


def _policy_document(document: JsonDocument, own: PolicyFile, base: PolicyDocument | None) -> PolicyDocument:
    merged = _merged(document, own, base)
    if merged.profile is None:
        raise document.refuse_value("", "cannot accept `document`: key `profile` is missing")
    return PolicyDocument(
        kind=DocumentKind.POLICY_FILE,
        name=own.name,
        description=merged.description or "",
        file=document.file,
        text=document.text,
        profile=_checked_profile(document, wire_profile(merged.profile)),
        entry_rules=(base.entry_rules if base else ()) + _entry_rules(document, own),
        sealed=tuple(Entry.model_validate(wire_entry(entry)) for entry in merged.sealed or ()),
        sealed_rules=(base.sealed_rules if base else ()) + _rules(document, "/sealed", own.sealed or ()),
        network_rule=_network_rule(document, own, base),
        filesystem_rule=base.filesystem_rule if base else _filesystem_rule(document, own),
        network=_network(document, own, merged.network, base),
        environment=_environment(merged.environment),
        limits=_limits(merged.limits),
        protect=DEFAULT_PROTECT if merged.protect is None else merged.protect,
        protect_rules=_protect_rules(document, own, base),
        degrade=frozenset(merged.degrade or ()),
        tmp=merged.tmp or TmpPlacement.PRIVATE,
        tests=_tests(document, own),
        merged=merged,
    )


def _merged(document: JsonDocument, own: PolicyFile, base: PolicyDocument | None) -> PolicyFile:
    if base is None or base.merged is None:
        return own
    merged = merge(base.merged, own)
    if isinstance(merged, MergeFault):
        message = f"cannot extend `{shown(base.name)}`: {merged.cause}"
        raise document.refuse_value(merged.pointer, message, hint=merged.hint)
    return merged


def _checked_profile(document: JsonDocument, value: Mapping[str, JsonValue]) -> PermissionProfile:
    """The profile floor's own decoding; what it refuses beyond our checks is placed at the profile."""
    try:
        return decode_profile(value)
    except ValidationError as failure:
        detail = failure.errors(include_url=False, include_input=False)[0]
        message = f"cannot accept `profile`: {' '.join(detail['msg'].split())}"
        raise document.refuse_value("/profile", message) from failure


def _rule(document: JsonDocument, pointer: str, why: str | None = None) -> RuleId:
    line = document.value_position(pointer).line
    return RuleId(source=document.file, pointer=pointer, line=line, why=why)


def _rules(document: JsonDocument, pointer: str, entries: Sequence[EntryBlock]) -> tuple[RuleId, ...]:
    return tuple(_rule(document, f"{pointer}/{index}", entry.why) for index, entry in enumerate(entries))


def _entry_rules(document: JsonDocument, own: PolicyFile) -> tuple[RuleId, ...]:
    if not isinstance(own.profile, ManagedBlock) or not isinstance(own.profile.file_system, RestrictedBlock):
        return ()
    return _rules(document, "/profile/file_system/entries", own.profile.file_system.entries)


def _network_rule(document: JsonDocument, own: PolicyFile, base: PolicyDocument | None) -> RuleId:
    pointer = "/profile/network"
    if base is not None and pointer not in document.key_offsets:
        return base.network_rule
    why = own.profile.why if own.profile else None
    return _rule(document, pointer if pointer in document.key_offsets else "/profile", why)


def _filesystem_rule(document: JsonDocument, own: PolicyFile) -> RuleId:
    pointer = "/profile/file_system"
    why = own.profile.why if own.profile else None
    return _rule(document, pointer if pointer in document.key_offsets else "/profile", why)


def _protect_rules(
    document: JsonDocument, own: PolicyFile, base: PolicyDocument | None
) -> tuple[RuleId, ...]:
    if own.protect is not None:
        return tuple(_rule(document, f"/protect/{index}") for index in range(len(own.protect)))
    return _built_in_names() if base is None else base.protect_rules


def _built_in_names() -> tuple[RuleId, ...]:
    return tuple(RuleId(source="built-in", pointer=f"protected-names/{name}") for name in DEFAULT_PROTECT)


def _network(
    document: JsonDocument, own: PolicyFile, block: NetworkBlock | None, base: PolicyDocument | None
) -> NetworkRules | None:
    if block is None:
        return None
    if own.network is None and base is not None and base.network is not None:
        return base.network
    return NetworkRules(
        mode=block.mode or ProxyMode.FULL,
        domains=tuple(sorted((block.domains or {}).items())),
        allow_local_binding=block.allow_local_binding or False,
        unix_sockets=tuple(sorted((block.unix_sockets or {}).items())),
        ports=block.ports or (),
        rule=_rule(document, "/network", block.why),
    )


def _environment(block: EnvironmentBlock | None) -> EnvironmentRules:
    if block is None:
        return EnvironmentRules(exclude=DEFAULT_EXCLUDE)
    return EnvironmentRules(
        inherit=(block.inherit or Inherit.ALL).value,
        exclude=DEFAULT_EXCLUDE if block.exclude is None else block.exclude,
        include_only=block.include_only or (),
        set=tuple(sorted((block.set or {}).items())),
    )


def _limits(block: LimitsBlock | None) -> Limits:
    if block is None:
        return Limits()
    return Limits(
        wall_s=block.wall_s,
        memory_mb=block.memory_mb,
        processes=block.processes,
        open_files=block.open_files,
        file_size_mb=block.file_size_mb,
        output_mb=block.output_mb,
        tmp_mb=block.tmp_mb,
    )


def _tests(document: JsonDocument, own: PolicyFile) -> tuple[PolicyTest, ...]:
    tests: list[PolicyTest] = []
    for index, test in enumerate(own.tests or ()):
        rule = _rule(document, f"/tests/{index}")
        if test.may is not None:
            tests.append(PolicyTest(expect=Expectation.MAY, access=test.may, path=test.path, rule=rule))
        if test.may_not is not None:
            tests.append(
                PolicyTest(expect=Expectation.MAY_NOT, access=test.may_not, path=test.path, rule=rule)
            )
    return tuple(tests)


def _wire_document(document: JsonDocument, value: Mapping[str, JsonValue]) -> PolicyDocument:
    """A wire profile means what the wire says: the host's temporary directory, no scrubbing, no limits."""
    try:
        profile = decode_profile(value)
    except ValidationError as failure:
        raise policy_error(document, failure) from None
    return PolicyDocument(
        kind=DocumentKind.WIRE_PROFILE,
        name=document.file,
        description="",
        file=document.file,
        text=document.text,
        profile=profile,
        entry_rules=_wire_entry_rules(document, profile),
        sealed=(),
        sealed_rules=(),
        network_rule=_rule(document, "/network" if "network" in value else ""),
        filesystem_rule=_rule(document, "/file_system" if "file_system" in value else ""),
        network=None,
        environment=EnvironmentRules(),
        limits=Limits(),
        protect=DEFAULT_PROTECT,
        protect_rules=_built_in_names(),
        degrade=frozenset(),
        tmp=TmpPlacement.HOST,
        tests=(),
        merged=None,
    )


def _wire_entry_rules(document: JsonDocument, profile: PermissionProfile) -> tuple[RuleId, ...]:
    """Pointers into the text as it stands, which in the oldest form has two lists of paths, reads first."""
    if not isinstance(profile, ManagedProfile) or not isinstance(profile.file_system, RestrictedFileSystem):
        return ()
    pointers: list[str] = []
    for member in ("entries", "read", "write"):
        items = document.at(f"/file_system/{member}")
        if isinstance(items, list):
            pointers.extend(f"/file_system/{member}/{index}" for index in range(len(items)))
    return tuple(_rule(document, pointer) for pointer in pointers[: len(profile.file_system.entries)])
