"""The file that a report goes to, opened before the command could touch it.

The command may own the directory, so the file is opened first, without following a link, and written through
the same descriptor at the end. Used by the command line only.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandboxing.errors import SandboxctlError

_FLAGS: Final[int] = (
    os.O_WRONLY
    | os.O_CREAT
    | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"))
)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """An open report.

    Attributes:
        descriptor: the open file.
    """

    descriptor: int

    @classmethod
    def open(cls, path: str) -> ReportFile:
        """Open or create the file; its content stays until `write`.

        Raises:
            SandboxctlError: it cannot be written, or is no regular file.
        """
        try:
            descriptor = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            cause = (error.strerror or str(error)).lower()
            raise SandboxctlError(f"cannot write `{path}`: {cause}") from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SandboxctlError(f"cannot write `{path}`: it is not a regular file")
        return cls(descriptor=descriptor)

    def write(self, report: Mapping[str, Any]) -> None:
        """Replace the content and close the file.

        Raises:
            OSError: it could not be written whole.
        """
        with os.fdopen(self.descriptor, "w", encoding="utf-8") as file:
            file.truncate(0)
            file.write(json.dumps(report, indent=2) + "\n")
