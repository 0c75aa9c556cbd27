"""The bench over the wire: it bills as the engine in process does, and it would tell if it did not."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from core.kernel.values.messages import TextPart, ToolCallPart
from tests.bench.cache_days import DESK, Ask, make_day
from tests.bench.cache_policies import NoExtension
from tests.bench.cache_wire import (
    Agreement,
    Billed,
    Counted,
    OverTheWire,
    WrongAnswerError,
    agreement,
    compare,
    ours,
    output_tokens,
    peer,
)
from tests.vendors.anthropic_server import Said
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Parts
from tests.vendors.loopback import Rewrite


@pytest.fixture(scope="module")
def short() -> tuple[Ask, ...]:
    """The beginning of a day, long enough for edits, tool turns and pings."""
    return make_day(DESK, 4712, tool_turns=True)[:45]


def test_every_request_of_the_planner_is_billed_alike_over_the_wire_and_in_process(
    short: tuple[Ask, ...],
) -> None:
    found = compare(ours(short))

    assert found.holds
    assert found.differing == ()
    assert found.most_tokens == 0
    assert found.requests > len(short)  # its pings, too
    assert found.usd[0] == pytest.approx(found.usd[1], abs=1e-12)
    assert found.usd[0] > 0.1


@pytest.mark.breaks_prefix("a peer writes what changed in its place")
def test_so_is_every_request_of_a_peer(short: tuple[Ask, ...]) -> None:
    found = compare(peer(short))

    assert found.holds
    assert found.requests == len(short)


def test_what_goes_over_the_wire_is_the_real_thing(short: tuple[Ask, ...]) -> None:
    with OverTheWire() as wire:
        ours(short)(wire)

    asked = [body for body in wire.server.bodies if body["max_tokens"]]
    pinged = [body for body in wire.server.bodies if not body["max_tokens"]]
    agents = {captured.headers["user-agent"] for captured in wire.server.requests}
    assert all(agent.startswith("Anthropic/Python") for agent in agents)
    assert len(asked) == len(short)
    assert pinged
    assert all(body["stream"] for body in asked)
    assert any(bill.parts.read > 20_000 for bill in wire.billed)
    assert any(bill.parts.write for bill in wire.billed)
    assert any(bill.parts.write_long for bill in wire.billed)


@pytest.mark.breaks_prefix("a peer writes what changed in its place")
def test_one_token_that_the_usage_says_otherwise_is_noticed(short: tuple[Ask, ...]) -> None:
    def change(part: bytes) -> bytes:
        return part.replace(b'"cache_read_input_tokens":0', b'"cache_read_input_tokens":1')

    process = Counted()
    peer(short)(process)
    with OverTheWire() as wire:
        wire.server.faults.append(Rewrite(change))
        peer(short)(wire)
    found = agreement(wire.billed, process.billed)

    assert not found.holds
    assert [number for number, _, _ in found.differing] == [0]
    assert found.most_tokens == 1
    assert found.usd[0] != found.usd[1]


def test_a_server_with_another_rule_is_noticed(short: tuple[Ask, ...]) -> None:
    process = Counted()
    ours(short)(process)
    with OverTheWire() as wire:
        wire.server.cache = NoExtension(wire.clock, Texts(wire.server.cache.texts.count))
        ours(short)(wire)

    assert not agreement(wire.billed, process.billed).holds


def test_usage_that_is_not_reported_agrees_with_nothing(short: tuple[Ask, ...]) -> None:
    process = Counted()
    peer(short[:3])(process)
    with OverTheWire() as wire:
        wire.server.faults.append(Rewrite(lambda part: part.replace(b"ephemeral_1h", b"ephemeral_9h")))
        peer(short[:3])(wire)

    assert not agreement(wire.billed, process.billed).holds


def test_an_answer_that_comes_back_otherwise_is_an_error(short: tuple[Ask, ...]) -> None:
    with OverTheWire() as wire:
        wire.server.replies.append(Said(({"type": "text", "text": "something else"},)))
        with pytest.raises(WrongAnswerError):
            peer(short[:1])(wire)


BILL = Billed(Parts(10, 5, 3, 2), 7, 0.5)


@pytest.mark.parametrize(
    ("wire", "process", "differs", "most"),
    [
        ([BILL], [BILL, BILL], 1, 20),
        ([BILL, BILL], [BILL], 1, 20),
        ([BILL], [replace(BILL, output=9)], 1, 2),
        ([BILL], [replace(BILL, parts=Parts(10, 5, 2, 3))], 1, 1),
        ([BILL], [replace(BILL, usd=0.6)], 0, 0),
        ([BILL], [replace(BILL, usd=float("nan"))], 0, 0),
        ([], [], 0, 0),
    ],
)
def test_what_is_missing_billed_or_priced_otherwise_is_no_agreement(
    wire: list[Billed], process: list[Billed], differs: int, most: int
) -> None:
    found = agreement(wire, process)

    assert not found.holds
    assert len(found.differing) == differs
    assert found.most_tokens == most


def test_equal_bills_agree() -> None:
    assert agreement([BILL, BILL], [BILL, BILL]) == Agreement(2, (), 0, (1.0, 1.0))


def test_every_request_of_a_trace_has_the_answer_that_the_next_one_repeats(short: tuple[Ask, ...]) -> None:
    for ask, following in pairwise(short):
        assert output_tokens(ask.answer) > 0
        if following.message_id == ask.message_id:
            assert any(isinstance(part, ToolCallPart) for part in ask.answer)
    said = {part.text for ask in short for part in ask.answer if isinstance(part, TextPart)}
    last = {ask.discussion: ask for ask in short}
    repeated = "".join(
        piece.text for ask in last.values() for layer in ask.stack.layers for piece in layer.pieces
    )
    final = {part.text for ask in last.values() for part in ask.answer if isinstance(part, TextPart)}
    assert all(text in repeated for text in said - final)
