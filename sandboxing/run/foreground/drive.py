"""One command in the foreground: streams wired, terminal joined, signals passed on, to its end.

It is for a process that does nothing else; it installs signal handlers and leaves them. Only `linux_host`
calls it.
"""

import sys

assert sys.platform == "linux"

from dataclasses import replace

from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.launch.client import PodSource
from sandboxing.run.foreground import signals, terminal, wiring
from sandboxing.run.host import Bounds, Finished
from sandboxing.run.session import Session


def drive(source: PodSource, spec: LaunchSpec, command: Command, *, bounds: Bounds) -> Finished:
    """Run the command with this process's own streams.

    Raises:
        SetupFailed: the sandbox could not be built.
        LaunchFailed: the program could not be started.
    """
    tail = wiring.Tail()
    streams = wiring.look()
    relayed = wiring.Relayed.ERRORS if bounds.output_bytes is None else wiring.Relayed.ALL
    session = Session(source=source, bounds=bounds)
    signals.forward(session, with_terminal=streams.terminal)
    if streams.keyboard is None:
        end = session.run(spec, command, wiring.wire(streams, tail, relayed))
    else:
        sized = replace(command, terminal=terminal.size_of(streams.keyboard))
        with terminal.attached(session, streams.keyboard, tail):
            end = session.run(spec, sized, wiring.wire(streams, tail, relayed))
    return Finished(exit=end, error_text=tail.text())
