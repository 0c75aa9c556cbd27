"""A day's money through the whole program against the vendor's own bill: turns, pings, a prewarm, what broke off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.curation import FileItem
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage, UsageKind
from core.services.settings.settings_messages import ChangeSetting
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import ChangeDiscussion, CreateDiscussion, SelectDiscussion
from core.talk.turn.turn_messages import CancelReply, SendPrompt
from tests.core.app.programs import Programs, until
from tests.patience import PATIENCE_S
from tests.vendors.anthropic_rules import Model
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.billing.anthropic import AnthropicTicket
from tests.vendors.billing.prices import Prices
from tests.vendors.loopback import Captured, DropAfter, Gate, HangUp, HoldAfter, Reply, Rewrite, StreamReply

MODEL = "claude-opus-5-5"
LONG = "The tide comes twice a day and leaves the same way. " * 60


class Clock:
    """A clock that stands still until it is put forward."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()


class Billing(AnthropicServer):
    """Bills every request that it has understood, whether its answer arrives or not."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock=clock.seconds)
        self._seconds = clock.seconds
        self.prices = Prices()
        self.bills: list[float] = []
        self.output_usd = 0.0
        self.saved_usd = 0.0
        self.warms: int = 0
        self.loses_a_ping = False
        self.during_a_ping: Callable[[], object] = lambda: None

    def _message(self, body: Any, model: Model, said: Said, ticket: AnthropicTicket) -> Any:
        message = super()._message(body, model, said, ticket)
        output = message["usage"]["output_tokens"]
        usd = self.prices.cost("anthropic", model.id, ticket.parts, self._seconds(), output_tokens=output)
        self.bills.append(float(usd))
        rates = self.prices.rates("anthropic", model.id, self._seconds(), ticket.parts.total)
        self.output_usd = float(rates.output * output)
        self.saved_usd = float((rates.plain - rates.read) * ticket.parts.read)
        self.warms += ticket.is_prewarm
        if ticket.is_prewarm:
            self.during_a_ping()
        return message

    def answer(self, captured: Captured) -> Reply | StreamReply:
        reply = super().answer(captured)
        if self.loses_a_ping and captured.path == "/v1/messages" and captured.json.get("max_tokens") == 0:
            self.loses_a_ping = False
            assert isinstance(reply, Reply)
            raise OSError  # the server closes the connection instead
        return reply

    @property
    def billed_usd(self) -> float:
        return sum(self.bills)


class World(Programs):
    """A project with long files, a home, a vendor that bills; programs with one clock."""

    def __init__(self, base: Path, server: Billing, clock: Clock) -> None:
        super().__init__(base)
        self.server, self.clock, self.time = server, clock, clock
        (self.project / "tides.py").write_text("height = 1\n" * 4000, encoding="utf-8")

    def program(self) -> AppController:
        options = OutsideOptions(home=self.home, start=self.project, watches=False)
        controller = AppController(LocalOutside(options, clock=self.clock), clock=self.clock)
        controller.start()
        self.running.append(controller)
        until(controller, lambda s: bool(s.config.providers) and s.spending.spent_today_usd is not None)
        return controller

    def discussion(self, controller: AppController) -> str:
        before = controller.snapshot().discussions.selected_id
        controller.send(CreateDiscussion("Tides", "anthropic", MODEL))
        state = until(controller, lambda s: s.discussions.selected_id not in {"", before})
        chosen = state.discussions.selected_id
        if "core" not in state.config.project.presets:
            controller.send(CreatePreset("core", (FileItem("tides.py"),)))
        controller.send(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))
        until(controller, lambda s: s.discussions.summaries[chosen].meta.preset == "core")
        return chosen

    def change(self, controller: AppController, **caching: str | float | bool) -> None:
        for name, value in caching.items():
            controller.send(ChangeSetting(f"ai_settings.caching.{name}", value))
        # Nothing that nobody asked for is paid while a change is on its way, and a prewarm is not asked for again.
        until(
            controller,
            lambda s: (
                s.config.is_settled
                and all(getattr(s.config.settings.caching, n) == v for n, v in caching.items())
            ),
        )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    clock = Clock()
    with Billing(clock) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        world = World(tmp_path, server, clock)
        yield world
        world.stop()


def spent(state: AppState) -> float:
    return state.spending.spent_today_usd or 0.0


def settled(controller: AppController, chosen: str, act: Callable[[], None]) -> AppState:
    """Do something that costs money, and wait until it is over, counted and in the discussion's log."""
    before = controller.snapshot()
    logged = before.discussions.summaries[chosen].usage
    act()
    return until(
        controller,
        lambda s: (
            chosen not in s.turns.calls
            and not s.spending.reserved
            and not s.spending.own.keys() <= before.spending.own.keys()
            and s.discussions.summaries[chosen].usage != logged
        ),
    )


def ask(world: World, controller: AppController, chosen: str, text: str, said: str = LONG) -> AppState:
    world.server.replies.append(Said(({"type": "text", "text": said},)))
    return settled(controller, chosen, lambda: controller.send(SendPrompt(chosen, text)))


def _counted(state: AppState, chosen: str) -> bool:
    """The provider's totals hold all that the discussion's log does: they come a moment after the reply."""
    totals, logged = state.caching.totals["anthropic"].usage, state.discussions.summaries[chosen].usage
    return totals.output_tokens == logged.output_tokens


def _in_the_habit(world: World) -> tuple[AppController, str]:
    """A discussion of somebody who comes back every seven minutes, and that is to be kept alive."""
    controller = world.program()
    world.change(controller, anthropic_ttl="5m", keepalive=True)
    chosen = world.discussion(controller)
    for number in range(6):
        world.time.now += timedelta(minutes=7)
        ask(world, controller, chosen, f"Question {number}?")
    return controller, chosen


def _forward(world: World) -> None:
    """To where the last entry has little time left."""
    world.time.now += timedelta(minutes=4.8)


def test_a_day_of_turns_pings_and_a_prewarm_is_said_as_it_is_billed(world: World) -> None:
    controller, chosen = _in_the_habit(world)
    state = controller.snapshot()
    for number in range(2):  # nobody asks; the prefix is kept
        pings = world.server.warms
        settled(controller, chosen, lambda: _forward(world))
        assert world.server.warms == pings + 1
        world.time.now += timedelta(minutes=2)
        state = ask(world, controller, chosen, f"And now {number}?")

    summary = state.discussions.summaries[chosen]
    assert summary.upkeep.pings == 2
    assert not summary.usage.is_estimate
    assert spent(state) == pytest.approx(world.server.billed_usd, rel=0.01)
    assert summary.usage.cost_usd == pytest.approx(world.server.billed_usd, rel=0.01)
    totals = until(controller, lambda s: _counted(s, chosen)).caching.totals["anthropic"]
    assert totals.usage.cost_usd == pytest.approx(world.server.billed_usd, rel=0.01)
    assert totals.upkeep.usage.cost_usd == pytest.approx(summary.upkeep.usage.cost_usd or 0.0)

    controller.stop()  # the same day, another start: a prewarm, and all that stands on disk
    again = world.program()
    assert spent(again.snapshot()) == pytest.approx(world.server.billed_usd, rel=0.01)
    assert world.discussion(again) != chosen
    world.change(again, prewarm=True)
    state = settled(again, chosen, lambda: again.send(SelectDiscussion(chosen)))

    loaded = state.discussions.summaries[chosen]
    assert (loaded.upkeep.pings, loaded.upkeep.prewarms) == (2, 1)
    assert spent(state) == pytest.approx(world.server.billed_usd, rel=0.01)
    assert loaded.usage.cost_usd == pytest.approx(world.server.billed_usd, rel=0.01)


def _drop(world: World, controller: AppController, chosen: str) -> None:
    world.server.faults.append(DropAfter(24))
    controller.send(SendPrompt(chosen, "Broken?"))


def _cancel(world: World, controller: AppController, chosen: str) -> None:
    gate = Gate()
    world.server.faults.append(HoldAfter(40, gate))
    controller.send(SendPrompt(chosen, "Stop?"))
    until(controller, lambda s: chosen in s.turns.calls and len(s.turns.calls[chosen].text) > 500)
    controller.send(CancelReply(chosen))


def _unsaid(world: World, controller: AppController, chosen: str) -> None:
    def without(part: bytes) -> bytes:
        return part.replace(b'"usage"', b'"abusage"')

    world.server.faults.append(Rewrite(without))
    controller.send(SendPrompt(chosen, "Unsaid?"))


@pytest.mark.parametrize("broken", [_drop, _cancel, _unsaid])
def test_a_reply_whose_usage_never_came_is_booked_at_its_estimate_and_marked(
    world: World, broken: Callable[[World, AppController, str], None]
) -> None:
    controller = world.program()
    chosen = world.discussion(controller)
    before = ask(world, controller, chosen, "First?")
    billed, said = world.server.billed_usd, spent(before)
    world.server.replies.append(Said(({"type": "text", "text": LONG},)))
    state = settled(controller, chosen, lambda: broken(world, controller, chosen))

    reply = state.discussions.open[chosen].messages[-1]
    assert reply.usage is not None
    assert reply.usage.is_estimate
    assert state.spending.has_estimate
    unsent = world.server.output_usd * (1 - len(reply.text) / len(LONG))
    cost = world.server.billed_usd - billed - unsent
    if broken is _unsaid:  # whole, and nothing was told: no hit is taken for granted
        assert (reply.usage.cache_read_tokens, world.server.saved_usd > cost) == (0, True)
        cost += world.server.saved_usd
    assert spent(state) - said == pytest.approx(cost, rel=0.15)

    after = ask(world, controller, chosen, "Whole again?")
    assert not (after.discussions.open[chosen].messages[-1].usage or Usage()).is_estimate
    assert after.discussions.summaries[chosen].usage.is_estimate
    totals = until(controller, lambda s: _counted(s, chosen)).caching.totals["anthropic"].usage
    assert totals.is_estimate
    assert totals.cost_usd == pytest.approx(after.discussions.summaries[chosen].usage.cost_usd or 0.0)


def test_a_call_that_was_refused_or_never_sent_costs_nothing(world: World) -> None:
    controller = world.program()
    chosen = world.discussion(controller)
    said = spent(ask(world, controller, chosen, "First?"))
    for _ in range(4):
        world.server.faults.append(HangUp())
    controller.send(SendPrompt(chosen, "Refused?"))
    until(controller, lambda s: s.discussions.open[chosen].failure is not None and not s.turns.calls)

    assert spent(controller.snapshot()) == pytest.approx(said)
    assert spent(controller.snapshot()) == pytest.approx(world.server.billed_usd, rel=0.01)


def test_a_ping_whose_answer_was_lost_is_booked_at_its_estimate(world: World) -> None:
    controller, chosen = _in_the_habit(world)
    billed = world.server.billed_usd
    world.server.loses_a_ping = True
    state = settled(controller, chosen, lambda: _forward(world))

    upkeep = state.discussions.summaries[chosen].upkeep
    assert upkeep.pings == 1
    assert upkeep.usage.is_estimate
    assert upkeep.usage.cost_usd == pytest.approx(world.server.billed_usd - billed, rel=0.15)
    assert state.spending.has_estimate


def test_a_ping_that_the_end_of_the_program_cuts_off_is_booked_once_at_its_estimate(world: World) -> None:
    controller, chosen = _in_the_habit(world)
    billed, said = world.server.billed_usd, spent(controller.snapshot())
    reached, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        reached.set()
        go_on.wait(PATIENCE_S)

    world.server.during_a_ping = wait
    _forward(world)
    assert reached.wait(PATIENCE_S)
    controller.stop()
    go_on.set()

    for _ in range(2):  # the first start has nothing to book any more, nor has the second
        again = world.program()
        state = until(again, lambda s: chosen in s.discussions.summaries and not s.program.is_loading)
        upkeep = state.discussions.summaries[chosen].upkeep
        assert (upkeep.pings, upkeep.usage.is_estimate) == (1, True)
        assert spent(state) - said == pytest.approx(world.server.billed_usd - billed, rel=0.15)
        again.stop()
    assert world.server.warms == 1


def test_a_prewarm_that_is_given_up_for_a_send_is_booked_by_what_it_was_to_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = world.program()
    chosen = world.discussion(controller)
    said = spent(ask(world, controller, chosen, "First?"))
    billed, bill = world.server.billed_usd, world.server._message
    reached, go_on = threading.Event(), threading.Event()

    def slow(body: Any, model: Model, said: Said, ticket: AnthropicTicket) -> Any:
        message = bill(body, model, said, ticket)
        if not body["max_tokens"]:
            reached.set()
            go_on.wait(PATIENCE_S)
        return message

    monkeypatch.setattr(world.server, "_message", slow)
    assert world.discussion(controller) != chosen
    world.change(controller, prewarm=True)
    controller.send(SelectDiscussion(chosen))
    assert reached.wait(PATIENCE_S)
    asked = controller.snapshot().discussions.open[chosen].messages
    state = ask(world, controller, chosen, "Second?")
    state = until(controller, lambda s: s.discussions.summaries[chosen].upkeep.prewarms == 1)
    go_on.set()

    upkeep, answer = state.discussions.summaries[chosen].upkeep, state.discussions.open[chosen].messages
    assert len(answer) == len(asked) + 2
    assert upkeep.usage.is_estimate
    assert (upkeep.usage.cache_read_tokens or 0) > 10 * (upkeep.usage.cache_write_tokens or 0)
    assert spent(state) - said == pytest.approx(world.server.billed_usd - billed, rel=0.15)


def test_at_the_days_limit_pings_stop_and_what_was_said_is_what_was_billed(world: World) -> None:
    controller, chosen = _in_the_habit(world)
    world.change(controller, day_limit_usd=round(spent(controller.snapshot()) + 0.001, 6))
    pings = world.server.warms
    _forward(world)
    now = world.time.now
    until(controller, lambda s: s.now == now)

    assert world.server.warms == pings
    world.change(controller, day_limit_usd=50.0)
    state = until(controller, lambda s: s.discussions.summaries[chosen].upkeep.pings == 1)
    assert spent(state) == pytest.approx(world.server.billed_usd, rel=0.01)
    assert UsageKind.KEEPALIVE.value not in state.spending.reserved
    assert replace(state.spending, reserved={}) == state.spending
