"""Machine: one system and one caller, as far as commands that only look need them.

It holds ports and facts, so that tests can bring a machine of their own; it decides nothing. `explain`,
`check` and `doctor` take one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sandboxing.binding.facts import FileSystemView, HostFacts, resolve_links
from sandboxing.errors import SandboxctlError
from sandboxing.run import hostfacts, registry
from sandboxing.run.host import ConfiningHost


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a policy is to be understood.

    Attributes:
        facts: what symbols resolve against; its cwd is the caller's.
        view: the file system.
        environment: the caller's environment.
        confining_host: makes what confines commands here; raises SandboxUnavailable when nothing does.
    """

    facts: HostFacts
    view: FileSystemView
    environment: Mapping[str, str] = field(repr=False)
    confining_host: Callable[[], ConfiningHost]

    def resolve(self, path: str) -> str:
        """A path of the caller's as absolute native text, links resolved as far as it exists.

        Raises:
            BindError: links in a circle.
            PathError: the path cannot be made absolute.
        """
        dialect = self.facts.dialect
        return resolve_links(self.view, dialect.join(self.facts.cwd, path), dialect).path

    def workspace_roots(self, given: Sequence[str]) -> tuple[str, ...]:
        """The workspace roots that a caller named, or the current directory; errors as of `resolve`."""
        return tuple(self.resolve(path) for path in given or (self.facts.cwd,))


def this_machine() -> Machine:
    """The machine and the caller of this process.

    Raises:
        SandboxctlError: the current directory does not exist any more, or may not be looked at.
    """
    environment = hostfacts.current_environment()
    try:
        facts = hostfacts.gather(environment)
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise SandboxctlError(f"cannot find `current directory`: {cause}") from error
    return Machine(
        facts=facts,
        view=hostfacts.HostFileSystem(),
        environment=environment,
        confining_host=registry.confining_host,
    )
