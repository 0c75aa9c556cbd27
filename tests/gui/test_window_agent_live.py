"""A turn with tools at the real window, over the whole program: real input, a server that stands for the model, real files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from core.agent.agent_messages import SetTools
from core.agent.cut_plan import restore_from_log
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import TrustProject
from core.talk.discussion import log
from core.talk.discussion.cuts import sent_view
from core.talk.turn.turn_messages import SendPrompt
from gui.app import LastLook, WindowApp
from gui.markdown.document import load
from tests.core.app.programs import until
from tests.core.app.test_whole import World
from tests.gui.conftest import Screen
from tests.gui.sitting import misfits, over, sees
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said
from tests.vendors.loopback import Answer, json_reply

pytestmark = pytest.mark.gui
SLOTS = "".join(f"slot {n}\n" for n in range(1, 41))


class AgentSitting(World):
    """A person at the window of a running program, whose project is trusted."""

    def __init__(self, base: Path, server: CompatibleServer, screen: Screen) -> None:
        super().__init__(base, server)
        self.slots = self.project / "slots.txt"
        self.slots.write_text(SLOTS, encoding="utf-8")
        self.controller = self.start()
        self.chosen = self.discussion(self.controller)
        self.controller.send(TrustProject(is_trusted=True))
        until(self.controller, lambda s: s.config.project.is_trusted and self.chosen in s.discussions.open)
        self.app = WindowApp(LastLook(), lambda: self.controller)
        self.screen, self.person = screen, screen.driver

    def sees(self, text: str) -> None:
        sees(self.person, text)

    def ends(self, holds: Callable[[AppState], bool]) -> None:
        until(self.controller, holds)
        self.person.step(3)

    def said(self, *calls: tuple[str, dict[str, object]], text: str = "") -> None:
        made = tuple((name, json.dumps(given)) for name, given in calls)
        self.server.replies.append(Said(text, calls=made, finish="tool_calls" if made else "stop"))


S = TypeVar("S", bound=AgentSitting)


@contextmanager
def seated(kind: type[S], folder: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[S]:
    """A person of this kind at the window over a program below `folder`, until the block ends."""
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        sitting = kind(folder, server, screen)
        with over(sitting.app, screen, monkeypatch):
            yield sitting
        sitting.stop()
    assert not screen.failures


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentSitting]:
    with seated(AgentSitting, tmp_path, screen, monkeypatch) as sitting:
        yield sitting


def test_a_turn_reads_edits_by_hunk_is_refused_a_command_and_is_undone(
    sitting: AgentSitting, screen: Screen
) -> None:
    person, slots = sitting.person, sitting.slots
    edited = SLOTS.replace("slot 2\n", "slot two\n").replace("slot 30\n", "slot thirty\n")
    sitting.said(("read_file", {"path": "slots.txt"}), text="I read the slots.")
    sitting.said(("write_file", {"path": "slots.txt", "text": edited}))
    sitting.said(("bash", {"command": "rm -rf ."}))
    sitting.said(text="Two slots have names.")

    person.key("Ctrl+7")
    sitting.sees("This discussion has no tools")
    person.click("Turn tools on")
    sitting.sees("Ask first")
    person.key("Ctrl+l")
    person.type("name the slots")
    person.key("Ctrl+Enter")

    sitting.sees("+slot thirty")
    screen.check()
    person.click("Line 27")
    sitting.sees("Accept 1 of 2")
    yes = person.find("Accept 1 of 2", index=1)  # in the panel
    person.bring(yes)
    person.step(3)  # out of view it counts as not seen: the half second begins anew
    person.until(lambda: yes.stop_item() != 0, "the yes works")
    person.click(yes)
    sitting.sees("rm -rf .")
    assert slots.read_text() == SLOTS.replace("slot 2\n", "slot two\n")
    screen.check()
    person.click("Your reason for the model, if you refuse")
    person.type("never that")
    person.click("Refuse")
    sitting.sees("Two slots have names.")
    sitting.ends(lambda s: not s.agent.turns and not s.turns.calls)
    assert "never that" in json.dumps(sitting.server.bodies[-1])
    screen.check()

    records = log.read(sitting.home, sitting.chosen).records
    shown = sent_view(sitting.controller.snapshot().discussions.open[sitting.chosen])
    assert msgspec.json.encode(restore_from_log(records)) == msgspec.json.encode(shown)

    person.click("Files")
    person.click("Undo this turn's edits")
    person.click("Undo edits")
    sitting.ends(lambda s: all(one.is_undone for one in s.agent.pages[sitting.chosen].changes))
    assert slots.read_text() == SLOTS


def test_a_task_asks_under_its_parent_and_is_opened_from_there(sitting: AgentSitting, screen: Screen) -> None:
    person, slots = sitting.person, sitting.slots
    change: dict[str, object] = {"path": "slots.txt", "old_text": "slot 2\n", "new_text": "slot two\n"}
    sitting.said(("delegate", {"task": "Name the second slot.", "may_write": True}), text="I give it away.")
    sitting.said(("read_file", {"path": "slots.txt"}))
    sitting.said(("edit_file", change), text="The second line.")
    sitting.said(text="It is called two.")
    sitting.said(text="The second slot has a name.")
    sitting.controller.send(SetTools(sitting.chosen, has_tools=True))
    sitting.controller.send(SendPrompt(sitting.chosen, "name the slots"))

    sitting.sees("A task asks: Name the second slot.")
    sitting.sees("+slot two")
    screen.check()
    yes = person.find("Allow once")
    person.until(lambda: yes.stop_item() != 0, "the yes works")
    person.click("Allow once")
    sitting.sees("The second slot has a name.")
    sitting.ends(
        lambda s: not s.agent.turns and not s.turns.calls
    )  # the end of a turn moves what stands below it
    assert "slot two" in slots.read_text()
    screen.check()

    person.click("Open task")
    sitting.ends(lambda s: s.discussions.selected_id != sitting.chosen)
    sitting.sees("It is called two.")
    screen.check()
    state = sitting.controller.snapshot()
    child = state.discussions.selected_id
    assert state.discussions.summaries[child].meta.parent_id == sitting.chosen


def test_a_turn_that_hands_over_leaves_a_line_and_a_key_that_can_do_nothing_says_why(
    sitting: AgentSitting, screen: Screen
) -> None:
    person = sitting.person
    sitting.said(
        ("journal", {"text": "half of the slots"}),
        ("yield_to_user", {"why": "Which half is next?"}),
        text="Half.",
    )
    sitting.controller.send(SetTools(sitting.chosen, has_tools=True))
    sitting.controller.send(SendPrompt(sitting.chosen, "name half of the slots"))

    sitting.sees("The model gave the turn back to you")
    sitting.ends(lambda s: not s.agent.turns and not s.turns.calls)
    assert person.has("The model wrote to the journal")
    assert not person.has("It is the person's turn.")
    screen.check()
    person.key("Ctrl+r")
    sitting.sees("This model has no effort levels.")
    screen.check()
    person.key("Ctrl+k")
    sitting.sees("Command palette")


def test_a_model_that_takes_no_tools_is_asked_again_without_them_by_one_button(
    sitting: AgentSitting, screen: Screen
) -> None:
    person, server = sitting.person, sitting.server
    refusal = {"error": {"message": "registry.ollama.ai/library/m does not support tools"}}
    server.faults.append(Answer(json_reply(400, refusal)))
    sitting.said(text="Hello without tools.")
    sitting.controller.send(SetTools(sitting.chosen, has_tools=True))

    person.key("Ctrl+l")
    person.type("hello")
    person.key("Ctrl+Enter")
    sitting.sees("does not support tools")
    assert misfits(screen, sitting.app) == []
    person.click("Send without tools")
    sitting.sees("Hello without tools.")
    sitting.said(text="Still without.")
    person.key("Ctrl+l")
    person.type("and now")
    person.key("Ctrl+Enter")
    sitting.sees("Still without.")

    assert ["tools" in body for body in server.bodies] == [True, False, False]
    screen.check()
