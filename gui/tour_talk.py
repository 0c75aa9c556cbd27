"""The tour's conversation: simple questions, versions of a reply, a queued message, text copied, a search, a PDF."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.values.messages import Message
from core.values.state import AppState
from core.values.usage import Usage
from gui.clipboard import SLOW_S
from gui.elements.popups import PopupItem, anchor_of
from gui.elements.prose import Markdown
from gui.tour_walk import ANSWER_S, Tour, TourError, ask

FIRST, SECOND = "What is the capital of Norway?", "Which country is Oslo the capital of?"
SENT, QUEUED = "What is Oslo known for?", "Has it a rich history?"
"""Questions on one thing: so small a model says in every turn what it said in the first."""
SOUGHT = "history"
PDF = "notice.pdf"
ABOUT_PDF = "When does the office open?"


def talk(tour: Tour) -> None:
    """Walk through it in the discussion that is shown, which is empty and has no preset: so small a model is asked little."""
    first = ask(tour, FIRST, "first-turn")
    second = ask(tour, SECOND, "second-turn")
    _compare(tour, first, second)
    _regenerate(tour)
    _queue(tour)
    _select(tour)


def _compare(tour: Tour, first: Usage, second: Usage) -> None:
    """Say what the reuse of the prefix was worth."""
    before, after = first.time_to_first_token_s, second.time_to_first_token_s
    cached, sent = second.cache_read_tokens, second.input_tokens
    if before and after and sent:
        tour.say(
            f"          prefix reused: {(cached or 0) / sent:.0%} of the second request; "
            f"first word {before / after:.1f} times sooner"
        )


def _regenerate(tour: Tour) -> None:
    """Ask for two more versions of the newest reply, and page back to the second."""
    chosen, took = tour.chosen(), 0.0
    for count in (2, 3):
        tour.driver.key("Ctrl+Shift+r")
        took += tour.wait(_has_versions(chosen, count), f"version {count}", ANSWER_S)
        tour.wait(lambda s: chosen not in s.turns.calls, "the end of the call")
    tour.driver.until(lambda: tour.driver.has("3/3"), "the versions below the reply")
    tour.driver.key("Alt+PageUp")
    tour.driver.until(lambda: tour.driver.has("2/3"), "the second version")
    tour.say(f"{took:7.2f} s  regenerated twice: three versions of the reply, paged back to the second")
    tour.shot("versions")


def _has_versions(chosen: str, count: int) -> Callable[[AppState], bool]:
    return lambda s: any(len(one.ids) == count for one in s.discussions.open[chosen].versions.values())


def _queue(tour: Tour) -> None:
    """Send a message while a reply is on its way: it waits for its end."""
    driver, chosen = tour.driver, tour.chosen()
    driver.click("Write a message")
    driver.type(SENT)
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
    held = tour.app.ui.tree.clipboard.ask().held(2 * SLOW_S)
    if held is None or QUEUED not in held.text:
        raise TourError(f"The selection copied {held!r}"[:160])
    tour.say(f"          selected across two messages and copied: {len(held.text):,} characters")
    tour.shot("selection")


def search(tour: Tour, talked: str) -> None:
    """Search all discussions from another one; the hit opens at its message, its words marked. Then as before."""
    driver, before = tour.driver, tour.chosen()
    driver.key("Ctrl+Shift+f")
    driver.type(SOUGHT)
    took = tour.wait(
        lambda s: s.discussions.search.query == SOUGHT and talked in s.discussions.search.ids, "the hit"
    )
    driver.step(4)
    driver.click(tour.state.discussions.summaries[talked].meta.name)
    tour.wait(lambda s: s.discussions.selected_id == talked, "the discussion of the hit")
    driver.until(lambda: any(_COUNT.fullmatch(one.label()) for one in driver.visible()), "the count of hits")
    tour.say(f"{took:7.2f} s  searched for {SOUGHT!r}: the hit opens at its message, its words marked")
    tour.shot("search")
    driver.click("Close find (Escape)")
    driver.key("Ctrl+Shift+f")
    driver.key("Ctrl+a")
    driver.key("Backspace")
    tour.wait(lambda s: not s.discussions.search.query, "the whole list")
    driver.click(tour.state.discussions.summaries[before].meta.name)
    tour.wait(lambda s: s.discussions.selected_id == before, "the discussion of before")


_COUNT = re.compile(r"\d+ of \d+")


def attach(tour: Tour) -> None:
    """Attach a PDF in the dialog, and ask about it: a model that takes none is sent its text."""
    driver, chosen = tour.driver, tour.chosen()
    driver.key("Ctrl+Shift+a")
    driver.until(lambda: any(isinstance(one, PopupItem) and PDF in one.label() for one in driver.visible()))
    driver.click(driver.find(PDF, kind=PopupItem))
    driver.until(lambda: driver.has("1 chosen"), "the choice")
    tour.shot("attach")
    driver.click("Choose")
    tour.wait(lambda s: s.discussions.open[chosen].draft.attachments, "the attachment")
    driver.click("Write a message")
    ask(tour, ABOUT_PDF, "pdf")
