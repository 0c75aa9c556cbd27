"""A week before the window against the vendor's books: turns, pings, a prewarm, a cut reply, an edit, a deletion, a restart.

The whole program, its clock moved by hand; Anthropic on loopback bills; what is shown is read off the Caching panel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.app.controller import AppController
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.knowledge.knowledge_messages import DeleteDigest, RegenerateDigest
from core.talk.caching.rewrites import withdrawal_text
from core.talk.discussion.discussion_messages import SelectDiscussion
from core.talk.turn.turn_messages import CancelReply, SendPrompt
from panels.usage.usage_room import UsageView
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import LONG, Billing, Clock, World, ask, settled
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.vendors.anthropic_rules import Model
from tests.vendors.anthropic_server import KEY, Said
from tests.vendors.billing.anthropic import AnthropicTicket
from tests.vendors.billing.values import Parts
from tests.vendors.loopback import Gate, HoldAfter

CENT = 0.01
_MONEY = re.compile(r"≈?(<?)\$([0-9.,]+)")


class Books(Billing):
    """The vendor's books: each bill with its time, and what it would have been without a cache."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.rows: list[tuple[datetime, float, float]] = []
        self.now = clock

    def _message(self, body: Any, model: Model, said: Said, ticket: AnthropicTicket) -> Any:
        message = super()._message(body, model, said, ticket)
        output = message["usage"]["output_tokens"]
        plain = Parts(ticket.parts.total)
        whole = self.prices.cost("anthropic", model.id, plain, self.now.seconds(), output_tokens=output)
        self.rows.append((self.now(), self.bills[-1], 0.0 if ticket.is_prewarm else float(whole)))
        return message

    def since(self, start: datetime | None) -> float:
        """Sum that was billed since then."""
        return sum(usd for at, usd, _ in self.rows if start is None or at >= start)

    def saved(self, first: int) -> float:
        """Sum that the cache saved, from the row on."""
        return sum(whole - usd for _, usd, whole in self.rows[first:])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    clock = Clock()
    with Books(clock) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        world = World(tmp_path, server, clock)
        yield world
        world.stop()


class Week:
    """One program at a time on the home, and what was lost at the vendor with a cut reply."""

    def __init__(self, world: World) -> None:
        assert isinstance(world.server, Books)
        self.world, self.books = world, world.server
        self.controller: AppController = world.program()
        self.first_row = self.told = 0
        self.unsaid = 0.0
        world.change(self.controller, keepalive=True, anthropic_ttl="5m")
        self.chosen = world.discussion(self.controller)

    def restart(self) -> None:
        own = self.controller.snapshot().discussions.summaries[self.chosen].usage
        self.controller.stop()
        self.told = own.output_tokens or 0
        self.first_row = len(self.books.rows)
        self.controller = self.world.program()
        self.controller.send(SelectDiscussion(self.chosen))
        until(self.controller, lambda s: self.chosen in s.discussions.open)

    def pass_time(self, **gap: float) -> None:
        self.world.time.now += timedelta(**gap)

    def ping(self) -> None:
        """To where the last entry has little time left."""
        pings = self.books.warms
        settled(self.controller, self.chosen, self._forward)
        assert self.books.warms == pings + 1

    def _forward(self) -> None:
        self.world.time.now += timedelta(minutes=4.8)

    def ask(self, text: str) -> Usage:
        state = ask(self.world, self.controller, self.chosen, text)
        usage = state.discussions.open[self.chosen].messages[-1].usage
        assert usage is not None
        return usage

    def check(self) -> None:
        """The panel shows what the vendor's books say, to the cent."""
        state = until(self.controller, self._is_counted)
        shown = Screen(state, view_of(UsageView(), panel="usage"))
        own, today = (_shown(shown, label) for label in ("This discussion: ", "Today: "))
        billed = self.books.since(None) - self.unsaid
        assert own == pytest.approx(billed, abs=CENT)
        lost = self.unsaid if self.unsaid and self.cut_at >= state.spending.day_start else 0.0  # type: ignore[operator]
        assert today == pytest.approx(self.books.since(state.spending.day_start) - lost, abs=CENT)
        totals = state.caching.totals["anthropic"]
        assert totals.saved_usd == pytest.approx(self.books.saved(self.first_row), abs=2 * CENT)

    def _is_counted(self, state: AppState) -> bool:
        """The totals come a moment after the reply."""
        totals = state.caching.totals.get("anthropic")
        own = state.discussions.summaries[self.chosen].usage.output_tokens or 0
        is_over = state.now == self.world.time.now and self.chosen not in state.turns.calls
        if totals is None or state.spending.reserved or not is_over:
            return False
        return (totals.usage.output_tokens or 0) >= own - self.told

    cut_at: datetime | None = None

    def cut(self, text: str) -> None:
        """A reply that the person stops: what it would have said was billed, but never came."""
        self.world.server.replies.append(Said(({"type": "text", "text": LONG},)))
        gate = Gate()
        self.world.server.faults.append(HoldAfter(40, gate))

        def act() -> None:
            self.controller.send(SendPrompt(self.chosen, text))
            until(
                self.controller,
                lambda s: self.chosen in s.turns.calls and len(s.turns.calls[self.chosen].text) > 500,
            )
            self.controller.send(CancelReply(self.chosen))

        state = settled(self.controller, self.chosen, act)
        reply = state.discussions.open[self.chosen].messages[-1]
        self.unsaid += self.books.output_usd * (1 - len(reply.text) / len(LONG))
        self.cut_at = self.world.time.now

    def know(self, fact: str) -> None:
        folder = self.world.home / "knowledge"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "facts.md").write_text(f"# Facts\n\n- {fact}\n", encoding="utf-8")
        self.controller.send(RegenerateDigest())
        until(self.controller, lambda s: fact in s.knowledge.digest)


def _shown(screen: Screen, label: str) -> float:
    """The first sum behind a label in the panel."""
    (line,) = {text for text in screen.ui.texts() if text.startswith(label)}
    found = _MONEY.search(line)
    assert found is not None, line
    return 0.0 if found[1] else float(found[2].replace(",", ""))


def test_a_week_costs_what_the_vendors_books_say_and_the_panel_shows_it(world: World) -> None:
    week = Week(world)
    week.know("Tides are M2.")
    for number in range(6):  # Monday: turns, a few minutes apart
        week.pass_time(minutes=7)
        week.ask(f"Monday {number}?")
    week.check()
    for number in range(2):  # and pings between them, while nobody asks
        week.ping()
        week.pass_time(minutes=2)
        week.ask(f"Later {number}?")
    week.check()

    for number in range(2):
        week.pass_time(hours=23 if not number else 0, minutes=2)
        week.ask(f"Tuesday {number}?")
    week.check()

    week.pass_time(hours=22)
    week.ask("Wednesday?")
    week.pass_time(minutes=1)
    week.cut("Cut?")
    for number in range(2):
        week.pass_time(minutes=2)
        week.ask(f"Wednesday {number}?")
    week.check()

    week.pass_time(hours=24)
    for number in range(2):  # Thursday: an edit of the digest under the warm prefix
        week.ask(f"Thursday {number}?")
        week.pass_time(minutes=1)
    week.know("Tides are M2. The moon makes them.")
    state = until(week.controller, lambda s: week.chosen in s.caching.rewrites)
    edit = state.caching.rewrites[week.chosen]
    before = week.books.bills[-1]
    usage = week.ask("After the edit?")
    assert edit.is_appended
    assert (usage.cache_read_tokens or 0) > 15_000
    assert edit.cost_usd is not None
    assert week.books.bills[-1] - before < edit.cost_usd + CENT
    week.check()

    for number in range(2):  # and a deletion, whose price is said first
        week.pass_time(minutes=1)
        week.ask(f"Before the deletion {number}?")
    untouched = week.books.bills[-1]
    state = until(week.controller, lambda s: week.chosen in s.caching.switch_offs)
    price = state.caching.switch_offs[week.chosen].cost_usd
    assert withdrawal_text(state, is_all=True)
    assert price is not None
    week.controller.send(DeleteDigest())
    until(week.controller, lambda s: week.chosen in s.caching.rewrites and not s.knowledge.digest)
    usage = week.ask("After the deletion?")
    assert not usage.cache_read_tokens
    assert week.books.bills[-1] - untouched == pytest.approx(price, abs=CENT)
    assert "moon" not in str(week.world.server.bodies[-1]["system"])
    week.check()

    week.pass_time(hours=20)
    week.restart()  # Friday
    for number in range(2):
        week.ask(f"Friday {number}?")
        week.pass_time(minutes=3)
    week.check()

    week.pass_time(hours=48)
    other = world.discussion(week.controller)
    assert other != week.chosen
    world.change(week.controller, prewarm=True)
    settled(week.controller, week.chosen, lambda: week.controller.send(SelectDiscussion(week.chosen)))
    week.ask("Sunday?")
    state = week.controller.snapshot()
    assert state.discussions.summaries[week.chosen].upkeep.prewarms == 1
    week.check()
    assert len(week.books.rows) >= 20
