"""What is measured: our programs from this checkout, and the rivals that happen to be installed.

It finds programs and gives them homes of their own; it starts nothing. A rival that is absent is None, and
the benchmarks then say so instead of failing.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CHECKOUT: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

OUR_COMMAND: Final = (
    sys.executable,
    "-c",
    "import sys; from sandboxing.cli.entry import main; sys.exit(main())",
)
"""What the installed `sandboxctl` script does."""

OUR_SERVER: Final = (sys.executable, "-m", "execserver.cli")

_QUIET: Final = """check_for_update_on_startup = false

[analytics]
enabled = false
"""
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Codex:
    """An installed codex.

    Attributes:
        as_found: the program that was found, which may be the npm package's script.
        native: the native program itself; the same when the package is not laid out as expected.
    """

    as_found: str
    native: str

    @property
    def has_shim(self) -> bool:
        """Whether the program that people start is a script in front of the native one."""
        return self.native != self.as_found


def find_codex(environment: Mapping[str, str]) -> Codex | None:
    """The codex that `CODEX` names, or the one in PATH."""
    found = environment.get("CODEX") or shutil.which("codex", path=environment.get("PATH"))
    if found is None:
        return None
    real = os.path.realpath(found)
    if not real.endswith(".js"):
        return Codex(as_found=found, native=found)
    # bin/codex.js of @openai/codex starts the program of its sibling package for this platform
    scope = os.path.dirname(os.path.dirname(os.path.dirname(real)))
    patterns = (
        os.path.join(scope, "codex-*", "vendor", "*", "bin", "codex"),
        os.path.join(scope, "codex-*", "vendor", "*", "codex", "codex"),
    )
    natives = [
        path for pattern in patterns for path in sorted(glob.glob(pattern)) if os.access(path, os.X_OK)
    ]
    return Codex(as_found=found, native=natives[0] if natives else found)


def find_bubblewrap(environment: Mapping[str, str]) -> str | None:
    """The distribution's bwrap."""
    return shutil.which("bwrap", path=environment.get("PATH"))


def our_environment(home: str) -> dict[str, str]:
    """The environment of our programs: this checkout, and nothing of the caller's."""
    return {"PATH": _PATH, "HOME": home, "LANG": "C.UTF-8", "PYTHONPATH": CHECKOUT}


def codex_environment(home: str) -> dict[str, str]:
    """The environment of codex, with a home of its own below `home`.

    `home` must not lie below the temporary directory: codex makes no helper links there, and then every
    sandboxed start fails.
    """
    codex_home = os.path.join(home, ".codex")
    os.makedirs(codex_home, exist_ok=True)
    with open(os.path.join(codex_home, "config.toml"), "w", encoding="utf-8") as file:
        file.write(_QUIET)
    return {"PATH": _PATH, "HOME": home, "LANG": "C.UTF-8", "CODEX_HOME": codex_home, "RUST_LOG": "error"}
