"""Nothing stays on the host, also when program, spawner or server are killed at any moment."""

import sys

assert sys.platform == "linux"

import asyncio
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from platform_tests.support import world
from platform_tests.support.ground import Ground
from platform_tests.support.guarded import GONE_WITHIN_S, Guarded, guarded
from platform_tests.support.sandboxctl import run_arguments, run_sandboxctl
from platform_tests.support.wire import Server, connected, server_arguments, spawner_of, start_request

MOMENTS: Final = 20
SCRIPT: Final = "setsid sleep 300 & echo x > file; echo x > $TMPDIR/file; sleep 300"


def moments(*, span_s: float) -> Iterator[float]:
    """Random delays; what pytest shows of a failed test holds the seed."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}, moments within {span_s:.3f} s")  # noqa: T201 - for whoever has to repeat it
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    for number in range(MOMENTS):
        delay = chance.uniform(0, span_s)
        print(f"moment {number}: {delay:.6f} s")  # noqa: T201 - the same
        yield delay


@contextmanager
def nothing_changes(ground: Ground) -> Iterator[world.Sightings]:
    """Compare what a sandbox could leave; takes the namespaces that are seen meanwhile."""
    mounts, descriptors = world.mounts(), sorted(os.listdir("/proc/self/fd"))
    seen = world.Sightings()
    yield seen
    assert seen.still_inhabited() == {}
    assert world.who_mounts(ground.path) == []
    assert world.mounts() == mounts
    assert sorted(os.listdir("/proc/self/fd")) == descriptors
    # the caller's TMPDIR: what is left there is the program's, the command has a /tmp of its own
    assert ground.listing("temporary") == ()
    assert set(ground.listing("ws")) <= {"file"}
    assert ground.listing("outside") == ()


def test_an_ordinary_run_leaves_nothing(ground: Ground) -> None:
    with (
        nothing_changes(ground) as seen,
        guarded(ground, run_arguments(ground, ["sh", "-c", "sleep 1"])) as one,
    ):
        world.wait_for_end([one.pid], within_s=0.7)
        seen.see(process.pid for process in world.descendants(one.pid))
        assert len(seen.last_s) == len(world.KINDS)
        assert one.left() == {}


def test_the_program_can_be_killed_at_any_moment(ground: Ground) -> None:
    before = time.monotonic()
    assert run_sandboxctl(ground, ["true"]).code == 0
    span = 1.3 * (time.monotonic() - before)
    with nothing_changes(ground) as seen:
        for delay in moments(span_s=span):
            with guarded(ground, run_arguments(ground, ["sh", "-c", SCRIPT])) as one:
                one.kill(one.pid, after_s=delay)
                seen.see(process.pid for process in world.descendants(one.pid))
                assert one.left() == {}, f"after {delay:.6f} s"


async def keep_busy(server: Server, ground: Ground, one: Guarded, *, whom: str, delay: float) -> set[int]:
    """Start processes until somebody is killed; those who ran then, but for server and spawners."""
    async with connected(server) as client:
        request = start_request(ground, "first", "sh", "-c", SCRIPT, sandboxed=True)
        await client.result("process/start", request)
        victim = one.pid if whom == "server" else spawner_of(one.pid)
        running = {process.pid for process in world.descendants(one.pid) if process.parent != one.pid}
        one.kill(victim, after_s=delay)
        for number in range(8):
            request = start_request(ground, f"p{number}", "sh", "-c", SCRIPT, sandboxed=True)
            await client.post("process/start", request)
        await asyncio.to_thread(world.wait_for_end, [victim], within_s=GONE_WITHIN_S)
        return running


@pytest.mark.timeout(180)
@pytest.mark.parametrize("whom", ["server", "spawner"])
def test_the_server_and_its_spawner_can_be_killed_at_any_moment(whom: str, ground: Ground) -> None:
    with nothing_changes(ground) as seen:
        for delay in moments(span_s=0.1):
            with guarded(ground, server_arguments()) as one:
                server = Server(url=one.stdout.readline().strip(), pid=one.pid)
                running = asyncio.run(keep_busy(server, ground, one, whom=whom, delay=delay))
                seen.see(running)
                # with the spawner dead and the server alive, the sandboxes end by themselves
                assert world.wait_for_end(running, within_s=GONE_WITHIN_S) == set()
                one.kill(one.pid, after_s=0)
                assert one.left() == {}, f"after {delay:.6f} s"
