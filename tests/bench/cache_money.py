"""Money said over money billed: the whole program through a day, its clients and the vendor's SDK against a loopback server.

The server bills as Anthropic does, and keeps what it billed. The program says what a discussion has cost. On the way are
gaps in which pings keep the prefix, a ping that the vendor refuses, a call that succeeds at the second attempt, and a
reply that is cut. Nothing waits: the clock is moved.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.curation import FileItem
from core.kernel.values.messages import TextPart
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.services.settings.settings_messages import ChangeSetting
from core.talk.caching.caching_messages import InvalidateCache
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import ChangeDiscussion, CreateDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.bench.__main__ import Row, row
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.billing.anthropic import AnthropicTicket
from tests.vendors.billing.clock import START_S, moment
from tests.vendors.billing.prices import Prices
from tests.vendors.loopback import Answer, DropAfter, count_tokens

MODEL = "claude-opus-5-5"
GAPS_S = (60, 120, 4_000, 45, 90, 9_000, 200, 60, 7_200, 75, 5_000, 60)
REFUSED_AFTER, TRIED_AGAIN_AFTER, CUT_AFTER = 2, 4, 7
"""Turns after which the vendor refuses the first ping; refuses a call once; cuts a reply."""
STEP_S = 285
"""Later than a ping is due after the last use, and before five minutes are over."""
WAIT_S = 60.0
WHOLE, CUT = (0.99, 1.01), (0.85, 1.15)
REPLY = "The tide turns twice a day, and the moon is the cause of it. " * 40
PIECE_CHARS, CUT_PARTS = 40, 30


@dataclass(frozen=True, slots=True)
class Money:
    """US dollars that the program says, and that the vendor billed; `pings`: among the requests."""

    said: float
    billed: float
    cut_said: float
    cut_billed: float
    requests: int
    pings: int

    @property
    def whole(self) -> float:
        """Of all that usage came for."""
        return (self.said - self.cut_said) / (self.billed - self.cut_billed)

    @property
    def cut(self) -> float:
        """Of the reply that was cut."""
        return self.cut_said / self.cut_billed


def rows() -> list[Row]:
    """The day, pings and failures included, and its cut reply by itself."""
    with tempfile.TemporaryDirectory() as base:
        money = live(Path(base))
    what = f"{money.requests} requests, {money.pings} of them pings"
    return [
        _row(f"money said over money billed, {what}", money.whole, WHOLE),
        _row("money said over money billed, a cut reply", money.cut, CUT),
    ]


def live(base: Path) -> Money:
    """Live the day in a folder."""
    clock = _HeldClock()
    with _Server(clock=clock.seconds) as server, _environment(server), ExitStack() as stack:
        person = _Person(base, clock, server)
        stack.callback(person.controller.stop)
        cut_said = cut_billed = 0.0
        for number, gap_s in enumerate(GAPS_S):
            if number == TRIED_AGAIN_AFTER:
                server.faults.append(_overloaded(server))
            said, billed = person.said_usd, server.usd()
            if number == CUT_AFTER:
                server.faults.append(DropAfter(CUT_PARTS))
            person.say(f"turn {number}")
            if number == CUT_AFTER:
                server.cut(person.last_text)
                cut_said, cut_billed = person.said_usd - said, server.usd() - billed
            if number == REFUSED_AFTER:
                server.faults.append(_overloaded(server))
            person.wait(gap_s)
        person.say("that is all")
        return Money(person.said_usd, server.usd(), cut_said, cut_billed, len(server.billed), server.pings)


class _HeldClock:
    def __init__(self) -> None:
        self.now: datetime = moment(START_S)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()


class _Server(AnthropicServer):
    """Keeps what it billed: each ticket, and the tokens of its answer."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__(clock=clock)
        self.billed: list[tuple[AnthropicTicket, int]] = []
        self._prices = Prices()

    @property
    def pings(self) -> int:
        return sum(ticket.is_prewarm for ticket, _ in self.billed)

    def usd(self) -> float:
        """All that was billed so far."""
        return float(
            sum(
                self._prices.cost("anthropic", MODEL, t.parts, t.start_s, output_tokens=output)
                for t, output in self.billed
            )
        )

    def cut(self, text: str) -> None:
        """The last answer ended with this text: no more is billed."""
        ticket, _ = self.billed[-1]
        self.billed[-1] = (ticket, count_tokens(json.dumps({"type": "text", "text": text})))

    def _message(self, body: Any, model: Any, said: Said, ticket: AnthropicTicket) -> Any:
        message = super()._message(body, model, said, ticket)
        self.billed.append((ticket, message["usage"]["output_tokens"]))
        return message

    def _next_reply(self) -> Said:
        return Said(({"type": "text", "text": REPLY},), piece_chars=PIECE_CHARS)


class _Person:
    """Somebody at a program with one discussion and two files."""

    def __init__(self, base: Path, clock: _HeldClock, server: _Server) -> None:
        self.clock, self.server = clock, server
        project = base / "project"
        project.mkdir()
        for name in ("tides.py", "moon.py"):
            (project / name).write_text(f"# {name}\n" + "height = 1\n" * 3_000, encoding="utf-8")
        options = OutsideOptions(home=base / "home", start=project, watches=False)
        self.controller = AppController(LocalOutside(options, clock=clock), clock=clock)
        self.controller.start()
        self.until(lambda s: bool(s.config.providers) and not s.program.is_loading)
        send = self.controller.send
        send(ChangeSetting("ai_settings.caching.keepalive", value=True))
        self.until(lambda s: s.config.settings.caching.keepalive)
        self.beside = self._discussion("Beside")
        self.chosen = self.beside
        self.say("hello there " * 1_000)  # enough to be cached at all
        self.chosen = self._discussion("Tides")
        send(CreatePreset("core", (FileItem("tides.py"), FileItem("moon.py"))))
        send(ChangeDiscussion(discussion_id=self.chosen, changes={"preset": "core"}))
        self.until(lambda s: s.discussions.summaries[self.chosen].meta.preset == "core")

    def _discussion(self, name: str) -> str:
        self.controller.send(CreateDiscussion(name, "anthropic", MODEL))
        state = self.until(
            lambda s: (
                any(one.meta.name == name for one in s.discussions.summaries.values())
                and s.discussions.summaries[s.discussions.selected_id].meta.name == name
            )
        )
        return state.discussions.selected_id

    @property
    def said_usd(self) -> float:
        """Cost of the discussions, as the program says."""
        summaries = self.controller.snapshot().discussions.summaries.values()
        return sum(summary.usage.cost_usd or 0.0 for summary in summaries)

    @property
    def last_text(self) -> str:
        """Last words of the model, as far as they came."""
        message = self.controller.snapshot().discussions.open[self.chosen].messages[-1]
        return "".join(part.text for part in message.parts if isinstance(part, TextPart))

    def until(self, holds: Callable[[AppState], bool]) -> AppState:
        """Wait for the program."""
        state = self.controller.wait_for(holds, WAIT_S)
        assert state is not None, self.controller.snapshot().program.notices
        return state

    def say(self, text: str) -> None:
        """Send, and wait until the reply and its bill are on disk."""
        count = len(self._messages(self.controller.snapshot()))
        self.controller.send(SendPrompt(self.chosen, text))
        self.until(lambda s: len(self._messages(s)) >= count + 2 and self.chosen not in s.turns.calls)

    def wait(self, seconds: int) -> None:
        """Let time pass in steps in which no ping is late."""
        left = seconds
        while left:
            step_s = min(left, STEP_S)
            left -= step_s
            self.clock.now += timedelta(seconds=step_s)
            self.controller.emit(Tick())
            self.until(lambda s: s.now == self.clock.now)
            self._let_pings_end()

    def _let_pings_end(self) -> None:
        """The cache worker does one thing after another: what it is asked now, it does when the pings are done."""
        self.controller.send(InvalidateCache(self.beside))
        self.until(lambda s: s.caching.caches[self.beside].last_invalidated_at == self.clock.now)

    def _messages(self, state: AppState) -> tuple[Any, ...]:
        return state.discussions.open[self.chosen].messages


def _overloaded(server: AnthropicServer) -> Answer:
    return Answer(server.error(529, "overloaded_error", "Overloaded"))


@contextmanager
def _environment(server: AnthropicServer) -> Iterator[None]:
    given = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _row(name: str, value: float, bar: tuple[float, float]) -> Row:
    return row(name, round(value, 4), "times", bar[1], least=bar[0])
