"""The read rule against a naive model that follows the protocol's text step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execserver.core.read_rule import Patience, ProcessView, ReadAnswer, ReadRequest, read
from execserver.core.retention import Chunk
from execserver.protocol.streams import StreamName


def chunk(seq: int, size: int) -> Chunk:
    return Chunk(seq=seq, stream=StreamName.STDOUT, data=b"x" * size)


@st.composite
def situations(draw: st.DrawFn) -> tuple[ReadRequest, ProcessView]:
    after = draw(st.integers(0, 12))
    sizes = draw(st.lists(st.integers(0, 6), max_size=8))
    exited = draw(st.booleans())
    closed = exited and draw(st.booleans())
    retained = [chunk(seq, size) for seq, size in enumerate(sizes, start=1)]
    next_seq = len(sizes) + 1 + int(exited) + int(closed)
    view = ProcessView(
        chunks=tuple(each for each in retained if each.seq > after),
        next_seq=next_seq,
        exit_code=0 if exited else None,
        closed=closed,
        sandbox_denied=False,
    )
    return ReadRequest(after_seq=after, max_bytes=draw(st.none() | st.integers(0, 20))), view


def model(request: ReadRequest, view: ProcessView, patience: Patience) -> ReadAnswer | None:
    answerable = (
        len(view.chunks) > 0
        or view.closed
        or (view.exit_code is not None and request.after_seq < view.next_seq - 1)
        or patience is Patience.GONE
    )
    if not answerable:
        return None
    taken: list[Chunk] = []
    for each in view.chunks:
        budget = request.max_bytes
        if taken and budget is not None and sum(len(c.data) for c in [*taken, each]) > budget:
            break
        taken.append(each)
    next_seq = view.next_seq
    if request.max_bytes is not None and taken:
        next_seq = taken[-1].seq + 1
    return ReadAnswer(
        chunks=tuple(taken),
        next_seq=next_seq,
        exited=view.exit_code is not None,
        exit_code=view.exit_code,
        closed=view.closed,
        sandbox_denied=view.sandbox_denied,
    )


@given(situations(), st.sampled_from(Patience))
def test_the_rule_is_the_protocols(situation: tuple[ReadRequest, ProcessView], patience: Patience) -> None:
    request, view = situation
    assert read(request, view, patience) == model(request, view, patience)


# As recorded: three chunks of four bytes, then exit and close.
DONE = (chunk(seq=1, size=4), chunk(seq=2, size=4), chunk(seq=3, size=4))


@pytest.mark.parametrize(
    ("after", "max_bytes", "seqs", "next_seq"),
    [
        (0, None, [1, 2, 3], 6),
        (1, None, [2, 3], 6),
        (2, 1, [3], 4),
        (0, 1, [1], 2),
        (0, 0, [1], 2),
        (0, 4, [1], 2),
        (0, 5, [1], 2),
        (0, 8, [1, 2], 3),
        (100, None, [], 6),
        (100, 10, [], 6),
    ],
)
def test_the_recorded_reads_of_an_ended_process(
    after: int, max_bytes: int | None, seqs: list[int], next_seq: int
) -> None:
    view = ProcessView(
        chunks=tuple(each for each in DONE if each.seq > after),
        next_seq=6,
        exit_code=0,
        closed=True,
        sandbox_denied=False,
    )
    answer = read(ReadRequest(after_seq=after, max_bytes=max_bytes), view, Patience.LEFT)
    assert answer is not None
    assert ([each.seq for each in answer.chunks], answer.next_seq) == (seqs, next_seq)
