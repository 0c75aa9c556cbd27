"""The Agent panel and the questions before tool calls on a real window: they fit in every state, and a person answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import ApproveCall, RefuseCall, SetTools
from core.app.app_messages import Command, SaveWindow
from core.kernel.values.agent import EditHunk, Mode
from core.kernel.values.discussion import Draft
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import ChangeDiscussion, SetDraft
from gui.driver import Driver
from gui.elements.lists import VirtualList
from gui.elements.popups import MenuButton
from gui.markdown.document import load
from panels.agent.agent_room import AgentView
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.discussion.view import DiscussionView
from panels.shell.window import window
from tests.gui.conftest import Screen
from tests.gui.layout_check import faults
from tests.gui.sitting import misfits_of
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.agent.test_tasks import waiting as task_waiting
from tests.panels.screen import plain
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
OPEN_CALLS = frozenset({("d1", "t1"), ("d1", "t5")})
OPEN_FILES = frozenset({("m3", ags.CHANGES[1].path)})
STATES: dict[str, tuple[Callable[[], AppState], str]] = {
    "edit": (ags.asking_edit, "waiting"),
    "hostile": (ags.asking_hostile, "waiting"),
    "running": (ags.running, "activity"),
    "files": (ags.spoken, "files"),
    "off": (ags.off, "todo"),
    "task": (task_waiting, "waiting"),
    "alone": (ags.alone, "autonomy"),
    "alone and stopped": (ags.alone_stopped, "autonomy"),
    "alone by now": (ags.rested, "autonomy"),
}
SIZES = (((1600, 1000), 1.0), ((1280, 800), 1.0), ((1024, 700), 1.0), ((1280, 800), 1.5), ((1024, 700), 2.0))


@pytest.mark.parametrize("name", sorted(STATES))
def test_every_state_fits(screen: Screen, name: str) -> None:
    make, tab = STATES[name]
    own = AgentView(tab=tab, open_calls=OPEN_CALLS, open_files=OPEN_FILES)
    view = view_of(own, DiscussionView(open_tools={("d1", "m2", 1)}), panel="agent")
    view.show_hub("agent")

    assert misfits_of(screen, make(), view, SIZES, ("list", "hub")) == []


class Sitting:
    """A person in front of given states, with a clock that they wait on."""

    def __init__(self, screen: Screen, monkeypatch: pytest.MonkeyPatch, state: AppState) -> None:
        load()
        self.screen, self.state, self.now_s = screen, state, 100.0
        self.view, self.sent = WindowView(is_hub_shown=False), list[Command]()
        monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: self.now_s)
        self.person: Driver = screen.show(self._draw)

    def _draw(self, ui: Ui) -> None:
        self.screen.ui.set_looks("dark", 1.0)
        window(self.state, self.view, ui, self.sent.append)

    def show(self, state: AppState) -> None:
        self.state = state
        self.screen.settle()

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.person.step(4)

    @property
    def said(self) -> list[Command]:
        upkeep = SaveWindow | SetDraft
        return [plain(command) for command in self.sent if not isinstance(command, upkeep)]


def test_a_question_that_comes_while_a_person_types_takes_no_key_and_no_click_of_theirs(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = Sitting(screen, monkeypatch, ags.with_agent(ags.RUNS))
    person = sitting.person
    person.type("yes ")

    sitting.show(ags.asking_command())
    person.click("Allow once")
    person.type("y")
    person.key("Enter")
    person.key("Space")
    assert sitting.said == []
    words = sitting.view.of(DiscussionView).composer("d1").text
    assert "yes y\n " in words

    sitting.wait(0.6)
    person.click("Allow once")
    assert sitting.said == [ApproveCall("d1", "t4", ags.COMMAND.id)]
    screen.check()


def test_hunks_are_ticked_a_no_has_words_and_modes_and_effort_have_a_key(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = Sitting(screen, monkeypatch, ags.asking_edit())
    person = sitting.person
    person.click("Line 12")
    person.bring(person.find("Accept 1 of 2"))
    sitting.wait(0.6)
    person.click("Accept 1 of 2")
    assert sitting.said == [ApproveCall("d1", "t3", ags.EDIT.id, hunks=(1,))]

    sitting.show(ags.asking_command())
    person.click("Your reason for the model, if you refuse")
    person.type("one test")
    person.click("Refuse")
    person.key("Ctrl+m")
    person.key("Ctrl+r")
    assert sitting.said[1:] == [
        RefuseCall("d1", "t4", "one test"),
        SetTools("d1", has_tools=True, mode=Mode.PLAN),  # while a call waits no key takes its edits
        ChangeDiscussion(discussion_id="d1", changes={"effort": "low"}),
    ]


@pytest.mark.parametrize("make", [ags.rested, ags.asking_command], ids=["rested", "asking"])
def test_the_mode_has_its_words_beside_the_composer_with_both_lists_open(
    screen: Screen, make: Callable[[], AppState]
) -> None:
    load()
    view = view_of(AgentView(), panel="agent")
    view.show_hub("agent")

    def draw(ui: Ui) -> None:
        window(make(), view, ui, list[Command]().append)

    person = screen.show(draw)
    for _ in range(3):
        screen.ui.frame(draw, 1280, 800)
    (mode,) = [one for one in person.visible() if isinstance(one, MenuButton) and one.label() == "Ask first"]
    assert mode.shown == mode.text()
    screen.loop.wake()


def test_a_slash_command_is_completed_and_done_by_keys(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = Sitting(screen, monkeypatch, states.with_opened(ags.rested(), draft=Draft()))
    person = sitting.person

    person.key("/")
    person.type("ef")
    assert person.has("/effort")
    screen.check()
    person.key("Tab")
    person.type("hi")
    person.key("Enter")

    assert sitting.said == [ChangeDiscussion(discussion_id="d1", changes={"effort": "high"})]
    assert sitting.view.of(DiscussionView).composer("d1").text == ""


def tall_edit() -> AppState:
    """A long talk, at whose end an edit of more lines than the pane has waits for a yes."""
    lines = "".join(f"+line {number}\n" for number in range(40))
    hunks = (EditHunk(1, f" first of all\n{lines}"), EditHunk(90, lines))
    call = replace(ags.ASKS_EDIT, approval=replace(ags.EDIT, id="ta" * 32, hunks=hunks))
    talk = [states.user(f"u{number}", "Long words. " * 60) for number in range(12)]
    return states.with_opened(ags.with_agent(call), entries=tuple(talk))


def test_a_question_taller_than_its_pane_is_seen_from_its_first_line_and_what_follows_it_from_its_end(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tall_edit()
    before = states.with_opened(ags.with_agent(), entries=state.discussions.open["d1"].entries)
    for first in (before, None):  # it comes while a person looks; or it stands there when they open it
        sitting = Sitting(screen, monkeypatch, first or state)
        person, own = sitting.person, sitting.view.of(DiscussionView)
        sitting.show(state)
        title, refuse = person.find("Edit src/cachelab/slots.py"), person.find("Refuse")
        pane = person.find("first of all")
        assert person.rect(title)[1] < person.rect(pane)[1] < 400
        assert person.rect(refuse)[1] > 800, "it is taller than the pane"
        if first:
            person.click("A tool call waits for your approval")
            assert person.rect(person.find("Refuse"))[1] < 800
        sitting.show(before)
        assert own.is_at_end
    screen.check()


def test_nothing_floats_over_the_answers_to_a_question_that_is_in_view(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way to a question lay over its own answers, whenever the end below them was out of view."""
    sitting = Sitting(screen, monkeypatch, tall_edit())
    person = sitting.person
    talk = next(one for one in person.visible() if one.key == ("messages", "d1"))
    assert isinstance(talk, VirtualList)
    person.wheel(talk, 40)
    seen = []
    for _ in range(16):
        talk.scroll_by(-15)
        person.step(3)
        screen.check()
        _, top, _, bottom = person.rect(person.find("Refuse"))
        seen.append((bottom > top, any(one.key == "jump" for one in person.visible())))

    assert seen[0] == (True, False)
    assert seen[-1] == (False, True), "out of view, there is a way to them"
    assert (True, True) not in seen


def test_in_the_lowest_window_what_waits_stands_above_what_the_turn_costs(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of the turn filled the panel, and a question stood below it, out of view."""
    load()
    state, view = ags.asking_command(), view_of(AgentView(), panel="agent")
    view.show_hub("agent")

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 2.0)
        window(state, view, ui, lambda _: None)

    person = screen.show(draw)
    for _ in range(4):
        screen.ui.frame(draw, 1024, 700)
    title = person.find("Run the tests")
    _, top, _, bottom = person.rect(title)

    assert bottom - top > 20, "the question is in view, whole"
    assert not person.has("This turn")
    view.of(AgentView).is_state_open = True
    for _ in range(4):
        screen.ui.frame(draw, 1024, 700)
    assert person.has("This turn")
    assert faults(screen.ui.tree) == []
    screen.loop.wake()
