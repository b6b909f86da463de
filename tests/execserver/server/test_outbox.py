"""The outbox: bounded, ordered, fair, and nobody waits for ever once it is closed."""

from __future__ import annotations

import asyncio

import pytest

from execserver.server.outbox import Outbox


def outbox_of(*, capacity: int, capacity_bytes: int = 1024) -> Outbox:
    return Outbox(capacity=capacity, capacity_bytes=capacity_bytes)


def test_messages_leave_in_the_order_in_which_their_producers_numbered_them() -> None:
    async def scenario() -> None:
        outbox = outbox_of(capacity=3)
        count = 0

        async def produce() -> None:
            nonlocal count
            for _ in range(50):
                assert await outbox.slot()
                count += 1
                outbox.push(str(count).encode())

        producers = [asyncio.create_task(produce()) for _ in range(4)]
        taken = []
        for _ in range(200):
            frame = await outbox.take()
            assert frame is not None
            taken.append(int(frame))
            # Never more than the capacity between producers and the writer.
            assert count - len(taken) <= 3
            await asyncio.sleep(0)
            outbox.sent()
        await asyncio.gather(*producers)
        assert taken == list(range(1, 201))

    asyncio.run(scenario())


def test_a_full_outbox_makes_producers_wait_until_a_message_is_sent() -> None:
    async def scenario() -> None:
        outbox = outbox_of(capacity=1)
        assert await outbox.slot()
        outbox.push(b"a")
        waiting = asyncio.create_task(outbox.slot())
        assert await outbox.take() == b"a"
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.sent()
        assert await waiting

    asyncio.run(scenario())


def test_closing_wakes_producers_writer_and_whoever_waits_for_silence() -> None:
    async def scenario() -> None:
        outbox = outbox_of(capacity=1)
        assert await outbox.slot()
        outbox.push(b"a")
        producer = asyncio.create_task(outbox.slot())
        idle = asyncio.create_task(outbox.drained())
        await asyncio.sleep(0)
        outbox.close()
        assert await producer is False
        await idle
        assert await outbox.take() is None
        assert await outbox.slot() is False
        outbox.push(b"ignored")

    asyncio.run(scenario())


def test_a_cancelled_producer_does_not_take_its_slot_along() -> None:
    async def scenario() -> None:
        outbox = outbox_of(capacity=1)
        assert await outbox.slot()
        first = asyncio.create_task(outbox.slot())
        second = asyncio.create_task(outbox.slot())
        await asyncio.sleep(0)
        # The slot is handed to the first, which is cancelled before it runs again.
        outbox.release()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await asyncio.wait_for(second, 1)

    asyncio.run(scenario())


def test_drained_waits_for_the_message_that_is_being_sent() -> None:
    async def scenario() -> None:
        outbox = outbox_of(capacity=2)
        await outbox.drained()
        assert await outbox.slot()
        outbox.push(b"a")
        await outbox.take()
        idle = asyncio.create_task(outbox.drained())
        await asyncio.sleep(0)
        assert not idle.done()
        outbox.sent()
        await asyncio.wait_for(idle, 1)

    asyncio.run(scenario())


def test_large_messages_fill_it_before_their_number_does() -> None:
    async def scenario() -> None:
        outbox = outbox_of(capacity=10, capacity_bytes=4)
        for frame in (b"123", b"45678"):
            assert await outbox.slot()
            outbox.push(frame)
        waiting = asyncio.create_task(outbox.slot())
        for _ in range(2):
            await asyncio.sleep(0)
            assert not waiting.done()
            await outbox.take()
            outbox.sent()
        assert await waiting

    asyncio.run(scenario())
