"""Pings of the whole program: what they send again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.services.spending.shared_reserves import SharedReserves
from core.talk.discussion.discussion_messages import AttachFile
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import Billing, Clock, World, ask, settled, spent
from tests.pdfs import make_pdf
from tests.vendors.anthropic_server import KEY


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    clock = Clock()
    with Billing(clock) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        world = World(tmp_path, server, clock)
        yield world
        world.stop()


def _in_the_habit(world: World, attached: Path) -> tuple[AppController, str]:
    """A discussion of somebody who comes back every seven minutes, and that is to be kept alive."""
    controller = world.program()
    world.change(controller, anthropic_ttl="5m", keepalive=True)
    chosen = world.discussion(controller)
    for number in range(5):
        world.time.now += timedelta(minutes=7)
        if number == 1:
            controller.send(AttachFile(chosen, str(attached)))
            until(controller, lambda s: bool(s.discussions.open[chosen].draft.attachments))
        ask(world, controller, chosen, f"Question {number}?", "High tide at noon.")
    return controller, chosen


def _forward(world: World) -> None:
    """To where the last entry has little time left."""
    world.time.now += timedelta(minutes=4.8)


def test_a_prefix_with_a_pdf_in_it_is_kept_alive(world: World, tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(make_pdf("Tides are M2."))
    controller, chosen = _in_the_habit(world, paper)

    state = settled(controller, chosen, lambda: _forward(world))

    assert world.server.warms == 1
    ping = world.server.bodies[-1]
    assert "document" in [block["type"] for message in ping["messages"] for block in message["content"]]
    assert state.discussions.summaries[chosen].upkeep.usage.cache_read_tokens
    assert spent(state) == pytest.approx(world.server.billed_usd, rel=0.01)


def test_another_program_sees_a_ping_while_it_is_under_way_and_what_it_cost_afterwards(
    world: World, tmp_path: Path
) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(make_pdf("Tides are M2."))
    controller, chosen = _in_the_habit(world, paper)
    other = SharedReserves(world.home, world.clock)
    before = other.claim("turn", 0.0)
    seen: list[float] = []
    world.server.during_a_ping = lambda: seen.append(other.claim("turn", 0.0).reserved_usd)

    state = settled(controller, chosen, lambda: _forward(world))

    (under_way,) = seen
    assert under_way == pytest.approx(world.server.bills[-1], rel=0.25)  # a PDF is estimated
    assert before.reserved_usd == 0.0
    usd = state.discussions.summaries[chosen].upkeep.usage.cost_usd
    until(controller, lambda _: other.claim("turn", 0.0).reserved_usd == 0.0)
    after = other.claim("turn", 0.0).payments
    assert [one.usd for key, one in after.items() if key not in before.payments] == [usd]
    other.close()
