"""Turns with tools in the tour: a discussion on a scripted model, what is typed into it, and yes to what it asks."""

from __future__ import annotations

from collections.abc import Callable

from core.settings.messages import SaveServer
from core.values.agent import ToolCall
from core.values.state import AppState
from core.values.updates import is_busy
from gui.tour_walk import Tour, new_discussion
from panels.discussion.approvals import asking
from panels.discussion.tool_mode import WITHOUT_TIP


def scripted_discussion(tour: Tour, server: str, address: str, model: str) -> str:
    """Add a server as a person would enter it, and begin a discussion with its model; the modes of tools stand open after it.

    Returns:
        Id of the discussion.
    """
    driver = tour.driver
    assert tour.app.controller is not None
    tour.app.controller.send(SaveServer(server, "Scripted", address))
    tour.wait(lambda s: bool(s.config.models.get(server)), "the scripted model")
    new_discussion(tour)
    chosen = tour.chosen()
    type_words(tour, f"/model {model}")
    driver.key("Enter")
    tour.wait(lambda s: s.discussions.summaries[chosen].meta.provider == server, "the model")
    driver.click(WITHOUT_TIP)
    driver.until(lambda: any("it only reads" in one.label() for one in driver.visible()), "the modes")
    return chosen


def type_words(tour: Tour, text: str) -> None:
    """Type into the composer."""
    tour.driver.click("Write a message")
    tour.driver.type(text)


def send_words(tour: Tour, text: str) -> None:
    """Type a message and send it with the keyboard."""
    chosen = tour.chosen()
    count = len(tour.state.discussions.open[chosen].messages)
    type_words(tour, text)
    tour.driver.key("Ctrl+Enter")
    tour.wait(lambda s: len(s.discussions.open[chosen].messages) > count, "the message")


def is_over(state: AppState) -> bool:
    """True once the turn has ended and nothing of it is asked or under way."""
    chosen = state.discussions.selected_id
    said = state.discussions.open[chosen].messages
    return not is_busy(state, chosen) and said[-1].role == "assistant"


def _questions(state: AppState) -> tuple[ToolCall, ...]:
    turn = state.agent.turns.get(state.discussions.selected_id)
    return asking(turn.calls) if turn is not None else ()


def until_asked(tour: Tour, what: str) -> None:
    """Wait for the question about something."""
    tour.wait(
        lambda s: any(what in one.arguments_json for one in _questions(s)), f"the question about {what}"
    )
    tour.driver.until(lambda: tour.driver.has("Refuse"), "the question")


def allow(tour: Tour, label: str, is_taken: Callable[[AppState], bool] | None = None) -> None:
    """Say yes, once the button takes it: half a second after it came into view.

    Args:
        is_taken: true of the state once the yes has come to it; by default the calls that wait are others then.
    """
    yes, before = tour.driver.find(label), _questions(tour.state)
    tour.driver.hover(yes)
    tour.driver.step(2)
    tour.driver.until(lambda: yes.stop_item() != 0, "the yes works")
    tour.driver.click(yes)
    tour.wait(is_taken or (lambda s: _questions(s) != before), "the yes")
