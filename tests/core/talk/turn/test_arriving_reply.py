"""A reply is told of as it comes, a large one in larger steps, and in the end it is all there."""

from __future__ import annotations

from core.kernel.values.messages import ReasoningPart, TextPart
from core.kernel.values.provider import ReasoningDelta, TextDelta
from core.talk.turn.turn_step import ArrivingReply


def test_what_comes_is_told_at_once() -> None:
    reply = ArrivingReply(lambda: 0.0)

    assert reply.news() is None
    reply.add(ReasoningDelta("So."))
    assert reply.news() == ("", "So.")
    reply.add(TextDelta("He"))
    reply.add(TextDelta("llo"))
    assert reply.news() == ("Hello", "")
    assert reply.news() is None
    assert reply.parts() == (ReasoningPart("So."), TextPart("Hello"))


def test_a_large_reply_is_told_in_steps_that_grow_and_loses_nothing() -> None:
    reply = ArrivingReply(lambda: 0.0)
    piece, count = "word " * 200, 8_000
    told = []
    for _ in range(count):
        reply.add(TextDelta(piece))
        if (news := reply.news()) is not None:
            told.append(news[0])

    assert len(told) < 1_200  # a thousand for the first megabyte, then a thirty-second more each time
    assert (piece * count).startswith("".join(told))
    assert len("".join(told)) > len(piece) * count * 0.95
    assert reply.parts() == (TextPart(piece * count),)
