"""The tour's conversation: simple questions, versions of a reply, a queued message, text copied, a search, a PDF."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from core.kernel.disk import write_file
from core.kernel.figures import count
from core.kernel.values.agent import ToolCall
from core.kernel.values.messages import Message
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import SaveServer
from gui.clipboard import SLOW_S
from gui.elements.popups import PopupItem, anchor_of
from gui.elements.prose import Markdown
from gui.tour_walk import ANSWER_S, Tour, TourError, ask, new_discussion
from panels.discussion.approvals import asking
from panels.discussion.tool_mode import WITHOUT_TIP

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
    for versions in (2, 3):
        tour.driver.key("Ctrl+Shift+r")
        took += tour.wait(_has_versions(chosen, versions), f"version {versions}", ANSWER_S)
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


# The tour's import: an export of another program becomes discussions, and a second import of it adds
# nothing.

FOLDER = "old talks"
NAME = "Springs and neaps"
_SAID = (
    ("q1", "", "user", "Why are some tides higher than others?"),
    ("a1", "q1", "assistant", "Sun and moon pull together twice a month: spring tides."),
    ("q2", "a1", "user", "And in between?"),
    ("a2", "q2", "assistant", "They pull across each other: neap tides."),
    ("a3", "q2", "assistant", "Then the range is smallest, at the quarters of the moon: neap tides."),
)


def import_talk(tour: Tour, project: Path) -> None:
    """Choose a folder, preview its conversations, import them and open one. Then import the folder again."""
    export = project / FOLDER / "conversations.json"
    export.parent.mkdir()
    write_file(export, json.dumps([_conversation()]).encode())
    driver, before = tour.driver, len(tour.state.discussions.summaries)
    _look(tour)
    report = tour.state.imports.report
    if report is None or report.new_count != 1:
        raise TourError("The import found no conversation", remedy=repr(report))
    tour.shot("import-preview")
    driver.click("Import 1 conversation")
    took = tour.wait(lambda s: len(s.discussions.summaries) == before + 2, "a discussion and its branch")
    tour.say(
        f"{took:7.2f} s  imported: {count(report.new_messages, 'message')}, and the reply that was replaced as a branch"
    )
    driver.until(lambda: driver.has("Show the discussion"), "the way to it")
    driver.click("Show the discussion")
    tour.wait(
        lambda s: (row := s.discussions.summaries.get(s.discussions.selected_id)) and row.meta.name == NAME,
        "the imported discussion",
    )
    driver.step(6)
    tour.shot("imported")
    _look(tour)
    report = tour.state.imports.report
    if report is None or report.new_count:
        raise TourError("A second import added something", remedy=repr(report))
    tour.say("          a second import of the same folder would add nothing")
    driver.click("Close")
    driver.until(lambda: not driver.has("nothing new"), "the dialog to close")
    tour.dismiss_notices()


def _look(tour: Tour) -> None:
    """A dry run over the folder."""
    driver = tour.driver
    driver.click("File")
    driver.until(lambda: driver.has("Import a folder of conversations…"), "the menu")
    driver.click("Import a folder of conversations…")
    driver.until(lambda: driver.has(FOLDER), "the chooser")
    driver.click(FOLDER)
    driver.step(4)
    driver.click("Choose this folder")
    tour.wait(lambda s: s.imports.report is not None and not s.imports.is_running, "what the folder holds")
    driver.step(6)


def _conversation() -> dict[str, object]:
    """A conversation as ChatGPT exports it, with a reply that was replaced."""
    mapping = {
        key: {
            "id": key,
            "parent": parent or None,
            "message": {
                "author": {"role": role},
                "create_time": 1.76e9,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        for key, parent, role, text in _SAID
    }
    return {"id": "tour", "title": NAME, "create_time": 1.76e9, "current_node": "a3", "mapping": mapping}


# Turns with tools in the tour: a discussion on a scripted model, what is typed into it, and yes to what it
# asks.


def scripted_discussion(tour: Tour, server: str, address: str, model: str) -> str:
    """Add a server as a person would enter it, and begin a discussion with its model; the modes of tools stand open after it.

    Returns:
        Id of the discussion.
    """
    driver = tour.driver
    assert tour.app.controller is not None
    tour.app.controller.send(SaveServer(id=server, label="Scripted", base_url=address))
    tour.wait(lambda s: bool(s.config.models.get(server)), "the scripted model")
    new_discussion(tour)
    chosen = tour.chosen()
    type_words(tour, f"/model {model}")
    driver.key("Enter")
    tour.wait(lambda s: s.discussions.summaries[chosen].meta.provider == server, "the model")
    driver.click(WITHOUT_TIP)
    driver.until(lambda: any("the model only reads" in one.label() for one in driver.visible()), "the modes")
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
    """Press yes when the button accepts it, half a second after it appeared.

    Args:
        is_taken: true of the state once the yes has come to it; by default the calls that wait are others then.
    """
    yes, before = tour.driver.find(label), _questions(tour.state)
    tour.driver.hover(yes)
    tour.driver.step(2)
    tour.driver.until(lambda: yes.stop_item() != 0, "the yes works")
    tour.driver.click(yes)
    tour.wait(is_taken or (lambda s: _questions(s) != before), "the yes")
