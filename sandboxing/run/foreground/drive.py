"""One command in the foreground: streams wired, terminal joined, signals passed on, to its end.

It is for a process that has no threads; what it changes of the process, it puts back. Only `linux_host`
calls it.
"""

import sys

assert sys.platform == "linux"

import signal
from contextlib import ExitStack
from dataclasses import replace

from sandboxing.contract.launch import Command, LaunchSpec
from sandboxing.errors import SetupFailed
from sandboxing.launch.client import PodSource
from sandboxing.launch.pod import PodChannel
from sandboxing.run.foreground import signals, terminal, wiring
from sandboxing.run.host import Bounds, Finished, Keyboard
from sandboxing.run.session import Session


def drive(
    source: PodSource, spec: LaunchSpec, command: Command, *, bounds: Bounds, keyboard: Keyboard
) -> Finished:
    """Run the command with this process's own streams.

    Raises:
        SetupFailed: the sandbox could not be built.
        LaunchFailed: the program could not be started.
    """
    tail = wiring.Tail()
    relayed = wiring.Relayed.ERRORS if bounds.output_bytes is None else wiring.Relayed.ALL
    with ExitStack() as stack:
        streams = stack.enter_context(wiring.look())
        with signals.held_back():
            session = Session(pod=_open_pod(source, spec), bounds=bounds)
            wirer = wiring.Wirer(session=session, tail=tail, relayed=relayed, keyboard=keyboard)
            wires = wirer.wire(streams)
            reactions = dict(signals.forwarding(session))
            if streams.keyboard is None:
                stop = signals.stopping_alone(session)
                reactions[signal.SIGTSTP] = stop
                stack.enter_context(signals.caught(session.selector, reactions, stop))
            else:
                relay = terminal.TerminalRelay(session, streams.keyboard, tail)
                session.observer = relay
                reactions.update(relay.reactions())
                stack.enter_context(signals.caught(session.selector, reactions, relay.stop_alone))
                stack.callback(relay.close)
                command = replace(command, terminal=terminal.size_of(streams.keyboard))
        end = session.run(command, wires)
    if session.abandoned:
        wiring.give_up_full_outputs()
    return Finished(exit=end, error_text=tail.text())


def _open_pod(source: PodSource, spec: LaunchSpec) -> PodChannel:
    try:
        return source.open_pod(spec)
    except OSError as error:
        raise SetupFailed(
            f"cannot build `the sandbox`: {(error.strerror or str(error)).lower()}",
            step="fork",
            errno=error.errno,
        ) from error
