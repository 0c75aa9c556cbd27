"""The Caching panel on the real window, over the whole program: real input, a server that bills as Anthropic does.

Time stands still unless a test moves it: the program and the server read one clock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.curation import FileItem
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.services.spending.estimates import fresh_token_usd
from core.talk.caching.offers import cache_prices
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import ChangeDiscussion, CreateDiscussion
from gui.app import LastLook, WindowApp
from gui.driver import Driver
from gui.elements.editor import Editor
from gui.elements.lists import VirtualList
from gui.markdown.document import load
from panels.caching.spending import look_of
from tests.core.app.programs import until
from tests.gui.conftest import Screen
from tests.gui.sitting import over, sees
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import START_S, moment
from tests.vendors.billing.tokens import Texts, o200k

pytestmark = pytest.mark.gui
MODEL = "claude-opus-5-5"
LINE = re.compile(r"^\[Anthropic\] in:(\S+) cache:(\S+) hit:(\d+)% ttl:([\d:]+)$")


class HeldClock:
    """The time, which only a test moves."""

    def __init__(self) -> None:
        self.now: datetime = moment(START_S)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        """As the server asks for it."""
        return self.now.timestamp()


class Sitting:
    """A person at the window of a running program, whose one discussion is with Anthropic and has two files."""

    def __init__(self, base: Path, server: AnthropicServer, clock: HeldClock) -> None:
        self.server, self.clock = server, clock
        project = base / "project"
        project.mkdir()
        (project / "tides.py").write_text("height = 1\n" * 2000, encoding="utf-8")
        (project / "notes.py").write_text("# one\n", encoding="utf-8")
        options = OutsideOptions(home=base / "home", start=project, watches=False)
        self.controller = AppController(LocalOutside(options, clock=clock), clock=clock)
        self.controller.start()
        self.until(lambda s: bool(s.config.providers) and not s.program.is_loading)
        self.chosen = self._discussion()
        self.app = WindowApp(LastLook(), lambda: self.controller)

    def _discussion(self) -> str:
        send = self.controller.send
        send(CreateDiscussion("Sky", "anthropic", MODEL))
        chosen = self.until(lambda s: bool(s.discussions.selected_id)).discussions.selected_id
        send(CreatePreset("core", (FileItem("notes.py"), FileItem("tides.py"))))
        send(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))
        self.until(lambda s: s.discussions.summaries[chosen].meta.preset == "core")
        return chosen

    def until(self, holds: Callable[[AppState], bool]) -> AppState:
        """Wait for the program."""
        return until(self.controller, holds)

    def sit(self, driver: Driver) -> None:
        """Open the panel with the keyboard."""
        self.driver = driver
        driver.until(lambda: driver.has("Sky"), "the window over the program")
        driver.key("Ctrl+4")
        driver.until(lambda: driver.has("This discussion"), "the Caching panel")

    def say(self, text: str) -> Any:
        """Type a message, send it, and wait for the reply and its bill, and the message on the screen. Returns its usage."""
        usage = self.ask(text)
        self.driver.until(lambda: self.driver.has(text), "the message on the screen")
        self.driver.step(4)
        return usage

    def ask(self, text: str) -> Any:
        """Type a message, send it, and wait for the reply and its bill. Returns its usage."""
        count, replies = len(self.server.bodies), self._replies(self.controller.snapshot())
        driver = self.driver
        driver.click(driver.find("Write a message", kind=Editor))
        driver.type(text)
        driver.key("Ctrl+Enter")
        state = self.until(
            lambda s: (
                len(self.server.bodies) > count
                and self.chosen not in s.turns.calls
                and self._replies(s) > replies
                and self.chosen in s.caching.plans
            )
        )
        return state.discussions.open[self.chosen].messages[-1].usage

    def _replies(self, state: AppState) -> int:
        return sum(message.usage is not None for message in state.discussions.open[self.chosen].messages)

    def pass_time(self, seconds: float) -> None:
        """Move the clock and let the program notice."""
        self.clock.now += timedelta(seconds=seconds)
        self.controller.emit(Tick())
        self.until(lambda s: s.now == self.clock.now)
        self.driver.step(4)

    def read(self) -> re.Match[str]:
        """The provider's summary."""
        self.driver.until(self._lines, "the provider's summary")
        return self._lines()[0]

    def _lines(self) -> list[re.Match[str]]:
        found = (LINE.match(element.label()) for element in self.driver.visible())
        return [match for match in found if match is not None]

    def sees(self, text: str) -> None:
        """Wait for a text on the screen."""
        sees(self.driver, text)

    @property
    def marks(self) -> int:
        """Marks of the last request."""
        return json.dumps(self.server.bodies[-1]).count('"cache_control"')


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sitting]:
    load()
    clock = HeldClock()
    with AnthropicServer(clock=clock.seconds) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        sitting = Sitting(tmp_path, server, clock)
        with over(sitting.app, screen, monkeypatch):
            sitting.sit(screen.driver)
            yield sitting
        sitting.controller.stop()
    assert not screen.failures


def seconds(ttl: str) -> int:
    """A countdown in seconds."""
    total = 0
    for part in ttl.split(":"):
        total = 60 * total + int(part)
    return total


def test_two_turns_stand_in_the_summary_and_the_countdown_runs_with_the_clock(
    sitting: Sitting, screen: Screen
) -> None:
    first = sitting.say("what is a tide")
    assert sitting.read()[3] == "0"
    assert first.cache_write_tokens > 5000

    sitting.pass_time(30)
    second = sitting.say("and a neap tide")
    line = sitting.read()
    left = seconds(line[4])
    expires = sitting.controller.snapshot().caching.caches[sitting.chosen].expires_at
    assert second.cache_read_tokens >= 0.9 * first.cache_write_tokens
    sent = first.input_tokens + second.input_tokens
    assert int(line[3]) == 100 * second.cache_read_tokens // sent
    assert expires is not None
    assert left == (expires - sitting.clock.now).total_seconds() >= 300
    sitting.sees("Cached by Anthropic")
    sitting.sees("1 hit")
    assert not screen.driver.has("Cache miss last time")

    for step in (1, 59, 60):
        sitting.pass_time(step)
        left -= step
        assert seconds(sitting.read()[4]) == left
    screen.check()

    sitting.pass_time(left - 1)
    assert sitting.read()[4] == "0:01"
    sitting.pass_time(2)
    sitting.sees("Not cached")
    sitting.sees("Expired at ")
    screen.check()


def _sees_it_warm(sitting: Sitting) -> None:
    """Wait until the panel knows that the prefix is held and what it costs: a click then asks first."""
    sitting.until(
        lambda s: look_of(s, sitting.chosen).is_warm and fresh_token_usd(s, sitting.chosen) is not None
    )
    sitting.driver.step(4)


def test_after_a_click_on_invalidate_the_next_request_misses_and_the_one_after_hits(
    sitting: Sitting, screen: Screen
) -> None:
    sitting.say("what is a tide")
    assert sitting.say("and a neap tide").cache_read_tokens > 5000

    _sees_it_warm(sitting)
    screen.driver.click("Invalidate cache")
    sitting.sees("Invalidating the cache leaves them unused")
    screen.driver.click("Invalidate anyway")
    sitting.until(lambda s: s.caching.caches[sitting.chosen].tokens_cached == 0)
    sitting.sees("Cache miss last time: You invalidated the cache.")
    sitting.sees("Not cached")
    screen.check()

    missed = sitting.say("and a spring tide")
    assert missed.cache_read_tokens == 0
    assert missed.cache_write_tokens > 5000
    sitting.sees("Cached by Anthropic")
    hit = sitting.say("and a bore")
    assert hit.cache_read_tokens >= 0.9 * missed.cache_write_tokens
    assert "cache epoch 1" in json.dumps(sitting.server.bodies[-1])


def test_a_click_on_disable_ends_the_marks_and_a_click_on_enable_brings_them_back(
    sitting: Sitting, screen: Screen
) -> None:
    sitting.say("what is a tide")
    assert sitting.marks

    _sees_it_warm(sitting)
    screen.driver.click("Disable caching here")
    sitting.sees("Turning caching off leaves them unused")
    screen.driver.click("Turn off anyway")
    sitting.sees("caching is off")
    off = sitting.say("and a neap tide")
    assert sitting.marks == 0
    assert not off.cache_read_tokens
    assert not off.cache_write_tokens
    sitting.sees("Not cached")
    screen.driver.until(
        lambda: any(e.label().endswith("ttl:none") for e in screen.driver.visible()), "no lifetime"
    )
    assert not screen.driver.has("Expired ")
    screen.check()

    screen.driver.click("Enable caching again")
    sitting.until(lambda s: s.discussions.summaries[sitting.chosen].meta.caching_enabled)
    sitting.sees("Disable caching here")
    on = sitting.say("and a spring tide")
    assert 0 < sitting.marks <= 4
    assert on.cache_read_tokens > 5000  # what the vendor held meanwhile
    sitting.sees("Cached by Anthropic")


def test_paging_an_early_reply_says_its_price_first_and_the_vendor_bills_that(
    sitting: Sitting, screen: Screen
) -> None:
    sitting.server.cache = AnthropicCache(sitting.clock.seconds, Texts(o200k(1.35)))
    sitting.server.replies.append(Said(({"type": "text", "text": "A wave, as long as half the earth."},)))
    sitting.say("what is a tide")
    screen.driver.key("Ctrl+Shift+R")
    sitting.until(lambda s: bool(s.discussions.open[sitting.chosen].versions) and not s.turns.calls)
    sitting.server.replies.append(
        Said(({"type": "text", "text": "The moon pulls at the sea. " * 800},), piece_chars=4000)
    )
    sitting.ask("tell me more")
    sitting.say("and a bore")
    _sees_it_warm(sitting)

    driver = screen.driver
    before = "Previous version"
    talk = next(
        e for e in driver.visible() if isinstance(e, VirtualList) and e.parent and e.parent.key == "messages"
    )
    for _ in range(40):
        if not driver.has(before):
            driver.wheel(talk, -20)
    sitting.sees(before)
    driver.click(before)
    sitting.sees("Choosing another version leaves")
    said = next(el.label() for el in driver.visible() if "Choosing another version leaves" in el.label())
    screen.check()
    driver.click("Keep")
    driver.step(4)
    chosen = sitting.controller.snapshot().discussions.open[sitting.chosen]
    assert [one.number for one in chosen.versions.values()] == [2]

    driver.click(before)
    driver.click("Choose it")
    sitting.until(
        lambda s: [one.number for one in s.discussions.open[sitting.chosen].versions.values()] == [1]
    )
    usage = sitting.say("and a neap tide")
    lost, price = re.findall(r"leaves ([\d.]+)k of them unused: .* costs about \$([\d.]*\d)", said)[0]
    assert usage.cache_write_tokens > 3_000
    assert float(lost) * 1_000 == pytest.approx(usage.cache_write_tokens, rel=0.03)
    prices = cache_prices("anthropic", ProviderKind.ANTHROPIC, MODEL, sitting.clock.now)
    lifetimes = {300: usage.cache_write_5m_tokens, 3_600: usage.cache_write_1h_tokens}
    written = sum(tokens * prices.write_at(ttl_s) for ttl_s, tokens in lifetimes.items())
    assert float(price) == pytest.approx(written * (prices.input_usd or 0.0), rel=0.03)
