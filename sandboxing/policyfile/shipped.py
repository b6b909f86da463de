"""The policies that come with this package, and the finding of a policy by name or path.

It owns where shipped policies lie and how a base is found; it never opens a file of the caller itself but
asks the reader that it is given. The command line and `run` call it with the POLICY they were given.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeAlias

from sandboxing.errors import PolicyError, SandboxctlError
from sandboxing.policyfile.decode import LoadBase, decode_policy
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.extends import MAX_CHAIN, BaseUnavailable
from sandboxing.policyfile.json_positions import shown
from sandboxing.policyfile.spelling import closest, listed

ReadText: TypeAlias = Callable[[str], str]
"""Reads a text file of the caller as UTF-8; raises OSError or UnicodeDecodeError, or an error of its own."""

_SUFFIX = ".json"
_WINDOWS_PATH = re.compile(r"[A-Za-z]:|.*\\")


def shipped_names() -> tuple[str, ...]:
    """Names of the shipped policies, sorted."""
    folder = _folder()
    return tuple(sorted(item.name.removesuffix(_SUFFIX) for item in folder.iterdir() if _is_policy(item)))


def shipped_text(name: str) -> str:
    """The text of a shipped policy.

    Raises:
        PolicyError: there is no such policy; the hint names the nearest.
    """
    if name not in shipped_names():
        raise _unknown(name)
    return _folder().joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def load_shipped(name: str) -> PolicyDocument:
    """A shipped policy, decoded, with its bases.

    Raises:
        PolicyError: there is no such policy; the hint names the nearest.
    """
    return decode_policy(shipped_text(name), file=name, load_base=_base_loader(_no_files, (name,)))


def find_policy(name_or_path: str, read_text: ReadText) -> PolicyDocument:
    """The policy that a caller means: a shipped name, or a file that holds a policy or a wire profile.

    A text is taken as a path when it has a separator or ends in `.json`; so a misspelt name is an error with
    a hint and never a search of the current directory. The path is read as it stands.

    Args:
        name_or_path: what the caller wrote.
        read_text: reads a file of the caller.

    Raises:
        PolicyError: no such policy, an unreadable file, or a document that is wrong.
    """
    if not _is_path(name_or_path):
        return load_shipped(name_or_path)
    try:
        text = read_text(name_or_path)
    except (OSError, UnicodeDecodeError) as failure:
        message = f"cannot read `{shown(name_or_path)}`: {_cause(failure)}"
        raise PolicyError(message, file=name_or_path, pointer="") from failure
    return decode_policy(text, file=name_or_path, load_base=_base_loader(read_text, (name_or_path,)))


def _base_loader(read_text: ReadText, chain: tuple[str, ...]) -> LoadBase:
    """Finds the bases of the last document of `chain`, which holds every document on the way to it."""

    def load(reference: str) -> PolicyDocument:
        found = _resolved(reference, chain[-1])
        way_here = [_same_place(step) for step in chain]
        if _same_place(found) in way_here:
            way = " -> ".join((*chain[way_here.index(_same_place(found)) :], found))
            message = f"it leads back to itself: {shown(way, limit=200)}"
            raise BaseUnavailable(message, hint="remove one `extends` of the circle")
        if len(chain) == MAX_CHAIN:
            raise BaseUnavailable(f"more than {MAX_CHAIN} policies in a row")
        text = _base_text(found, read_text)
        return decode_policy(text, file=found, load_base=_base_loader(read_text, (*chain, found)))

    return load


def _base_text(found: str, read_text: ReadText) -> str:
    if not _is_path(found):
        try:
            return shipped_text(found)
        except PolicyError as failure:
            raise BaseUnavailable("no policy of that name ships", hint=failure.hint) from failure
    try:
        return read_text(found)
    except (OSError, UnicodeDecodeError) as failure:
        raise BaseUnavailable(_cause(failure)) from failure
    except SandboxctlError as failure:
        raise BaseUnavailable(failure.message, hint=failure.hint) from failure


def _resolved(reference: str, referrer: str) -> str:
    """A shipped name as it is; a path, relative to the directory of the document that names it."""
    if not _is_path(reference):
        return reference
    if _WINDOWS_PATH.match(referrer):
        return ntpath.join(ntpath.dirname(referrer), reference)
    return posixpath.join(posixpath.dirname(referrer), reference)


def _same_place(found: str) -> str:
    """For comparison only: what is read keeps its `..`, which may follow a link."""
    return posixpath.normpath(found.replace("\\", "/")) if _is_path(found) else found


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.endswith(_SUFFIX)


def _is_policy(item: Traversable) -> bool:
    return item.name.endswith(_SUFFIX) and item.is_file()


def _folder() -> Traversable:
    """Inside the package in a wheel; beside it in a checkout."""
    package = files("sandboxing")
    inside = package.joinpath("policies")
    return inside if inside.is_dir() else package.joinpath("..", "policies")


def _unknown(name: str) -> PolicyError:
    names = shipped_names()
    near = closest(name, names)
    hint = f"these ship: {listed(names)}; a file needs a `/` or `.json` in its name"
    if near is not None:
        hint = f"did you mean `{near}`?"
    return PolicyError(
        f"cannot find policy `{shown(name)}`: no policy of that name ships", file=name, pointer="", hint=hint
    )


def _no_files(path: str) -> str:
    raise FileNotFoundError(f"a shipped policy has no file `{path}` beside it")


def _cause(failure: OSError | UnicodeDecodeError) -> str:
    if isinstance(failure, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (failure.strerror or "it cannot be read").lower()
