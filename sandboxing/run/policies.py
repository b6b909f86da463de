"""Finding a policy by name or by file, with the errors a person can act on."""

from __future__ import annotations

from pathlib import Path

from sandboxing.errors import SandboxctlError
from sandboxing.policyfile.document import PolicyDocument
from sandboxing.policyfile.shipped import find_policy


def find_document(name_or_path: str) -> PolicyDocument:
    """The shipped policy of that name, or the policy in that file.

    Raises:
        PolicyError: the document is wrong.
        SandboxctlError: there is no such policy, or the file cannot be read.
    """
    return find_policy(name_or_path, read_text=_read_text)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SandboxctlError(f"cannot read `{path}`: it is not UTF-8 text") from error
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise SandboxctlError(f"cannot read `{path}`: {cause}") from error
