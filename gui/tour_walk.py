"""One walk of the guided tour: waiting, pictures, questions, and what is said of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from core.base.disk import reported
from core.base.errors import SlopError
from core.values.state import AppState
from core.values.usage import Usage
from gui.app import WindowApp
from gui.driver import Driver, NotFoundError
from gui.screenshot import screenshot

ANSWER_S = 240.0
STEP_S = 30.0
CALM_S = 0.1
"""Pause between frames while nothing moves: drawing in software must not take the cores from the model."""


class TourError(SlopError):
    """A step of the tour did not come to its end."""


@dataclass(slots=True)
class Tour:
    """One walk through the program. Prints what it does, with times.

    Args:
        app: the window; out: where pictures go; say: prints a line.
    """

    app: WindowApp
    out: Path
    say: Callable[[str], None]
    driver: Driver = field(init=False)
    pictures: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.driver = Driver(self.app.ui.tree, self.app.loop.frame)

    @property
    def state(self) -> AppState:
        """The state now."""
        return self.app.state()

    def wait(self, holds: Callable[[AppState], object], what: str, timeout_s: float = STEP_S) -> float:
        """Render frames until something holds. Returns the seconds it took.

        Raises:
            TourError: it did not in time.
        """
        start = time.monotonic()
        while not holds(self.state):
            if time.monotonic() - start > timeout_s:
                raise TourError(
                    f"The tour waited {timeout_s:.0f} s for: {what}", remedy="See the last picture"
                )
            is_busy = self.app.loop.frame()
            time.sleep(0.01 if is_busy else CALM_S)
        return time.monotonic() - start

    def shot(self, name: str) -> None:
        """Keep a picture."""
        file = self.out / f"{len(self.pictures) + 1:02}-{name}.png"
        with reported("write", file):
            screenshot(file, self.app.loop.frame)
        self.pictures.append(file)
        self.say(f"          picture {file}")

    def dismiss_notices(self) -> None:
        """Read and dismiss the notices in view: they float over the page, and what is below them takes no click."""
        for _ in self.state.program.notices:
            try:
                notice = self.driver.find("Dismiss")
            except NotFoundError:
                return
            self.driver.click(notice)

    def chosen(self) -> str:
        """Id of the discussion that is shown."""
        return self.state.discussions.selected_id


def new_discussion(tour: Tour) -> None:
    """Begin another discussion with the keyboard."""
    before = tour.chosen()
    tour.driver.key("Ctrl+n")
    took = tour.wait(
        lambda s: s.discussions.selected_id != before and s.discussions.selected_id in s.discussions.open,
        "a new discussion",
    )
    tour.say(f"{took:7.2f} s  new discussion (Ctrl+N)")


def without_preset(tour: Tour) -> None:
    """Send no files with this discussion: one question on one thing is what so small a model answers."""
    chosen = tour.chosen()
    if not tour.state.discussions.summaries[chosen].meta.preset:
        return
    tour.driver.click("Presets")
    tour.driver.until(lambda: tour.driver.has("No preset"), "the presets")
    tour.driver.click("No preset")
    tour.wait(lambda s: not s.discussions.summaries[chosen].meta.preset, "no preset")


def ask(tour: Tour, question: str, name: str) -> Usage:
    """Type a question, send it with the keyboard, and watch the reply arrive."""
    driver, chosen = tour.driver, tour.chosen()
    driver.click("Write a message")
    driver.type(question)
    count = len(tour.state.discussions.open[chosen].messages)
    driver.key("Ctrl+Enter")
    tour.wait(
        lambda s: chosen in s.turns.calls or len(s.discussions.open[chosen].messages) > count + 1, "the call"
    )
    tour.wait(lambda s: chosen not in s.turns.calls or s.turns.calls[chosen].text, "the first word", ANSWER_S)
    if chosen in tour.state.turns.calls:
        tour.shot(f"{name}-streaming")
    tour.wait(lambda s: chosen not in s.turns.calls, "the whole reply", ANSWER_S)
    opened = tour.state.discussions.open[chosen]
    if opened.failure is not None:
        raise TourError(opened.failure.what, remedy=opened.failure.remedy)
    reply = opened.messages[-1]
    usage = reply.usage or Usage()
    tour.say(f"{usage.duration_s or 0:7.2f} s  {question}")
    tour.say(f"          first word after {usage.time_to_first_token_s or 0:.2f} s; {_tokens(usage)}")
    tour.say(f"          {reply.text.strip()[:160]!r}")
    tour.shot(name)
    return usage


def _tokens(usage: Usage) -> str:
    cached = (
        "cached: not reported"
        if usage.cache_read_tokens is None
        else f"{usage.cache_read_tokens:,} of them cached"
    )
    return f"{usage.input_tokens:,} tokens sent, {cached}, {usage.output_tokens:,} received"
