"""The benchmarks as a command: `python -m tests.bench spawn|cold|stream|plan`, from the checkout.

It reads options, makes a scratch directory and prints; each benchmark is a module beside it. Exit 0 when it
was measured, whether or not the budgets were met; with `--check` 1 when one was not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence

from tests.bench import cold, plan, spawn, stream
from tests.bench.figures import Report, Verdict
from tests.bench.servers import Place


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument("--check", action="store_true", help="exit 1 when a budget was not met")
    parser.add_argument(
        "--scratch", default="/var/tmp", help="where the scratch directory is made; not below /tmp"
    )
    names = parser.add_subparsers(dest="bench", required=True, metavar="BENCH")

    one = names.add_parser("spawn", help="warm starts through the servers, and many at once")
    one.add_argument("--rounds", type=int, default=60, help="starts of each kind")
    one.add_argument("--bursts", type=int, default=3, help="how often many are started at once")
    one.add_argument("--burst-size", type=int, default=100, help="how many that is")
    one.add_argument("--concurrent-requests", type=int, default=1, help="given to every server")

    one = names.add_parser("cold", help="one confined `true` from nothing")
    one.add_argument("--rounds", type=int, default=20, help="starts of each program")
    one.add_argument("--imports", action="store_true", help="list what our start imports")

    one = names.add_parser("stream", help="the rate of a command's output through the servers")
    one.add_argument("--rounds", type=int, default=3, help="how often each server sends it")
    one.add_argument("--mebibytes", type=int, default=100, help="how much that is")

    one = names.add_parser("plan", help="understanding a large policy")
    one.add_argument("--rounds", type=int, default=3, help="how often each is understood")
    one.add_argument("--entries", type=int, default=10_000, help="entries of the large profile")
    one.add_argument("--files", type=int, default=20_000, help="files that the deny globs look at")

    # the options of the whole command are also taken after the name
    for sub in names.choices.values():
        sub.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        sub.add_argument("--check", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        sub.add_argument("--scratch", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


def _measure(options: argparse.Namespace, place: Place) -> Report:
    environment = dict(os.environ)
    match options.bench:
        case "spawn":
            wanted = spawn.SpawnOptions(
                rounds=options.rounds,
                bursts=options.bursts,
                burst_size=options.burst_size,
                concurrent_requests=options.concurrent_requests,
            )
            return asyncio.run(spawn.measure(wanted, place, environment))
        case "cold":
            imports = cold.Imports.LIST if options.imports else cold.Imports.NO
            return cold.measure(cold.ColdOptions(options.rounds, imports), place, environment)
        case "stream":
            much = stream.StreamOptions(rounds=options.rounds, mebibytes=options.mebibytes)
            return asyncio.run(stream.measure(much, place, environment))
        case _:
            size = plan.PlanOptions(rounds=options.rounds, entries=options.entries, files=options.files)
            return plan.measure(size, place, environment)


def main(arguments: Sequence[str]) -> int:
    """Run one benchmark and print its report; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    scratch = os.path.realpath(options.scratch)
    if os.path.commonpath(("/tmp", scratch)) == "/tmp":
        parser.error("--scratch: codex cannot be measured from below /tmp")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=scratch, ignore_cleanup_errors=True) as top:
        report = _measure(options, Place.below(top))
    sys.stdout.write(json.dumps(report.to_json()) + "\n" if options.json else report.text())
    missed = any(budget.verdict is Verdict.NOT_MET for budget in report.budgets)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
