"""Protected names: what stays read-only below each writable rule although no entry says so.

It makes rules for what exists; what does not exist yet is held by the name rule of `decide`. It never makes
anything readable that was not. `bind` calls it last.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandboxing.binding.bound import BoundPolicy, BoundRule, PathKind, RuleOrigin, Tier
from sandboxing.binding.decide import DecisionIndex, full_disk_write
from sandboxing.binding.facts import FileSystemView, LinkResolver, Resolved
from sandboxing.binding.settle import PRIVATE_TMP_RULE
from sandboxing.errors import BindError, PathError
from sandboxing.profile.access import Access, AccessMode
from sandboxing.profile.rule_id import RuleId

_GIT = ".git"
_GITDIR = "gitdir:"
_COMMON_DIR = "commondir"


def protected_children(
    policy: BoundPolicy, view: FileSystemView, resolver: LinkResolver
) -> tuple[BoundRule, ...]:
    """A read rule for each protected name that exists directly below a writable rule.

    A name that an entry names itself is the entry's business, whatever it gives. Where a name is a link,
    what it leads to is protected if it is writable. Of a `.git` file that points to its repository, as in a
    worktree or a submodule, the repository is protected too. Nothing is protected when everything is
    writable.

    Args:
        policy: the policy with all its other rules.
        view: the file system.
        resolver: a resolver for the same file system.
    """
    if full_disk_write(policy):
        return ()
    dialect = policy.dialect
    named = {dialect.key(place) for rule in policy.rules for place in (rule.path, rule.spelled)}
    index = DecisionIndex(policy)
    found: dict[str, BoundRule] = {}
    for root in policy.rules:
        if not _is_writable_root(root, index):
            continue
        for name, rule in zip(policy.protected_names, policy.protected_rules, strict=True):
            child = dialect.assemble((*dialect.components(root.path), name))
            if view.kind(child) is PathKind.MISSING or dialect.key(child) in named:
                continue
            for spelled, place in _protected_places(child, name, view=view, resolver=resolver):
                if dialect.key(place.path) not in named and _is_writable(place.path, index):
                    found.setdefault(place.path, _read_only(rule, spelled, place))
    return tuple(found.values())


def _is_writable(path: str, index: DecisionIndex) -> bool:
    """Whether the host's file is; what stands in the host's `/tmp` does not show in a private one."""
    return index.mode_of(path).can_write and index.decide(Access.WRITE, path).rule != PRIVATE_TMP_RULE


def _is_writable_root(root: BoundRule, index: DecisionIndex) -> bool:
    if not root.access.can_write or root.kind is not PathKind.DIRECTORY:
        return False
    # A private /tmp starts empty, whatever stands in the host's.
    if root.origin is RuleOrigin.PRIVATE_TMP or root.tier is Tier.SEALED:
        return False
    return index.mode_of(root.path).can_write


def _protected_places(
    child: str, name: str, *, view: FileSystemView, resolver: LinkResolver
) -> Iterator[tuple[str, Resolved]]:
    """What a protected name stands for: what it leads to, and the repository that it points to."""
    place = _resolved(child, resolver)
    if place is None or place.kind is PathKind.MISSING:
        return
    yield child, place
    if name != _GIT or place.kind is not PathKind.FILE:
        return
    text = (view.read_small_file(place.path) or "").strip()
    if not text.startswith(_GITDIR):
        return
    pointer = resolver.beside(place.path, text.removeprefix(_GITDIR).strip())
    repository = _resolved(pointer, resolver) if pointer is not None else None
    if pointer is None or repository is None or repository.kind is PathKind.MISSING:
        return
    yield pointer, repository
    # a worktree keeps its hooks and settings in the repository that it belongs to: gitrepository-layout(5)
    marker = resolver.below(repository.path, _COMMON_DIR)
    text = (view.read_small_file(marker) or "").strip()
    common = resolver.beside(marker, text) if text else None
    shared = _resolved(common, resolver) if common is not None else None
    if common is not None and shared is not None and shared.kind is not PathKind.MISSING:
        yield common, shared


def _resolved(path: str, resolver: LinkResolver) -> Resolved | None:
    try:
        return resolver.resolve(path)
    except (BindError, PathError):
        # A link in a circle leads nowhere; the name itself is held all the same.
        return None


def _read_only(rule: RuleId, spelled: str, place: Resolved) -> BoundRule:
    return BoundRule(
        rule=rule,
        access=AccessMode.READ,
        path=place.path,
        spelled=spelled,
        kind=place.kind,
        origin=RuleOrigin.PROTECTED_NAME,
        links=place.links,
    )
