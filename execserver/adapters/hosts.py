"""Which process host this system has; the registry's label answers it.

The host's module exists on its own system only, so it is imported by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from execserver.adapters.ports import ProcessHost
from execserver.errors import ListenRefused
from sandboxing.run import registry

_MODULES = {"linux": "execserver.adapters.sandbox_host"}


def process_host(variables: Mapping[str, str]) -> ProcessHost:
    """The host that starts processes here.

    Args:
        variables: the server's own environment.

    Raises:
        ListenRefused: there is none for this system.
    """
    label = registry.host_label()
    module = _MODULES.get(label)
    if module is None:
        raise ListenRefused(
            f"cannot start `execserver`: there is no process host for {label} yet", hint="run it on Linux"
        )
    host: ProcessHost = importlib.import_module(module).SandboxHost(variables=dict(variables))
    return host
