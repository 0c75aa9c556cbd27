"""The tour's conversation: versions of a reply, a message that queues, text selected and copied."""

from __future__ import annotations

import dearpygui.dearpygui as dpg

from core.values.messages import Message
from gui.elements.popups import anchor_of
from gui.elements.prose import Markdown
from gui.tour_walk import ANSWER_S, Tour, TourError

ASKED, QUEUED = "What is the capital of Norway?", "What is the capital of Sweden?"


def talk(tour: Tour) -> None:
    """Walk through it in the discussion that is shown, which has a reply."""
    _regenerate(tour)
    _queue(tour)
    _select(tour)


def _regenerate(tour: Tour) -> None:
    """Ask for a second version of the newest reply; the first is a click away."""
    chosen = tour.chosen()
    tour.driver.key("Ctrl+Shift+r")
    tour.wait(lambda s: chosen in s.turns.calls, "the reply to be asked for again")
    took = tour.wait(lambda s: chosen not in s.turns.calls, "another version", ANSWER_S)
    if not tour.state.discussions.open[chosen].versions:
        raise TourError("The reply has no second version")
    tour.say(f"{took:7.2f} s  regenerated: two versions of the reply, the first is kept")
    tour.shot("versions")


def _queue(tour: Tour) -> None:
    """Send a message while a reply is on its way: it waits for its end."""
    driver, chosen = tour.driver, tour.chosen()
    driver.click("Write a message")
    driver.type(ASKED)
    driver.key("Ctrl+Enter")
    tour.wait(lambda s: chosen in s.turns.calls, "the call")
    driver.type(QUEUED)
    driver.key("Ctrl+Enter")
    tour.wait(lambda s: s.discussions.open[chosen].queue, "the message in the queue")
    tour.say("          a message sent meanwhile waits in the queue")
    tour.shot("queue")
    took = tour.wait(
        lambda s: chosen not in s.turns.calls and not s.discussions.open[chosen].queue,
        "both replies",
        2 * ANSWER_S,
    )
    tour.say(f"{took:7.2f} s  both were answered: {_last(tour).text.strip()[:120]!r}")


def _last(tour: Tour) -> Message:
    return tour.state.discussions.open[tour.chosen()].messages[-1]


def _select(tour: Tour) -> None:
    """Drag over the last two messages, and copy what is marked."""
    driver = tour.driver
    driver.step(4)
    shown = sorted(
        (one for one in driver.visible() if isinstance(one, Markdown)), key=lambda one: anchor_of(one)[1]
    )
    if len(shown) < 2:
        raise TourError("There are no two messages to select in")
    left, top, _, _ = driver.rect(shown[-2])
    _, _, right, bottom = driver.rect(shown[-1])
    driver.drag((round(left + 1), round(top + 8)), (round(right - 4), round(bottom - 4)))
    driver.key("Ctrl+c")
    driver.step(4)
    copied = str(dpg.get_clipboard_text())
    if QUEUED not in copied:
        raise TourError(f"The selection copied {copied[:80]!r}")
    tour.say(f"          selected across two messages and copied: {len(copied):,} characters")
    tour.shot("selection")
