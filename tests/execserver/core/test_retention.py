"""Retention: the newest chunks within both limits, whole and in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execserver.core.retention import MAX_RETAINED_BYTES, Chunk, OutputLog
from execserver.protocol.streams import StreamName


@given(st.lists(st.binary(max_size=12)), st.integers(0, 30), st.integers(0, 8), st.integers(-1, 40))
def test_what_is_kept_is_the_longest_tail_that_fits(
    pieces: list[bytes], max_bytes: int, max_chunks: int, after: int
) -> None:
    log = OutputLog(max_bytes=max_bytes, max_chunks=max_chunks)
    chunks = [Chunk(seq=at, stream=StreamName.STDOUT, data=data) for at, data in enumerate(pieces)]
    for chunk in chunks:
        log.append(chunk)
    kept: list[Chunk] = []
    for chunk in reversed(chunks):
        if len(kept) + 1 > max_chunks or sum(len(c.data) for c in [chunk, *kept]) > max_bytes:
            break
        kept.insert(0, chunk)
    # An empty chunk in front of one that was evicted may differ; bytes and limits may not.
    assert b"".join(c.data for c in log.after(seq=-1)) == b"".join(c.data for c in kept)
    assert len(log) <= max_chunks
    assert log.size == sum(len(c.data) for c in log.after(seq=-1)) <= max_bytes
    assert log.after(after) == tuple(c for c in log.after(seq=-1) if c.seq > after)


def test_three_megabytes_leave_the_last_one() -> None:
    log = OutputLog()
    for seq in range(1, 369):
        log.append(Chunk(seq=seq, stream=StreamName.STDOUT, data=b"\0" * 8192))
    assert MAX_RETAINED_BYTES - 8192 < log.size <= MAX_RETAINED_BYTES


def test_text_is_joined_per_stream_in_the_order_of_arrival() -> None:
    log = OutputLog()
    for seq, (stream, data) in enumerate(
        [(StreamName.STDERR, b"a"), (StreamName.STDOUT, b"b"), (StreamName.STDERR, b"c")]
    ):
        log.append(Chunk(seq=seq, stream=stream, data=data))
    assert log.text(frozenset({StreamName.STDERR})) == b"ac"
    assert log.text(frozenset(StreamName)) == b"abc"
