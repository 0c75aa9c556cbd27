"""Every dialog of the table on a real window: a click or key begun before it stood there answers nothing and changes nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, SaveWindow
from core.app.forgetting.forgetting_messages import ForgetDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.usage import LimitScope, ReachedLimit, SpendRefusal
from core.knowledge.categories import parse_file
from core.knowledge.harvest.harvest_messages import CancelBatches, GraduatePlaybook
from core.knowledge.knowledge_messages import DeleteKnowledgeItem, ExplainItem
from core.talk.discussion.discussion_messages import SetDraft
from core.talk.turn.turn_messages import SendPrompt
from gui.elements.controls import Button, Checkbox
from gui.elements.surfaces import STAND_S, Dim
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import Dialog, WindowView
from panels.discussion.view import DiscussionView
from panels.shell.palette import DIALOGS
from panels.shell.window import window
from tests.gui.conftest import Screen
from tests.panels import states
from tests.panels.agent import agent_states
from tests.panels.harvest import harvest_states
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
PLAYBOOK = parse_file("playbooks.md", b"- **Ship**: Push.\n").items[0]
COMMANDS: dict[str, Command] = {
    "forget": ForgetDiscussion(discussion_id="d1"),
    "delete_item": DeleteKnowledgeItem(PLAYBOOK),
    "item_history": ExplainItem(PLAYBOOK),
    "graduate_playbook": GraduatePlaybook(item=PLAYBOOK),
    "harvest_cancel_batches": CancelBatches(),
}
MOST_PRESSED = 5
"""Controls of one dialog that are pressed: the list of shortcuts has a hundred of a kind."""


def _state(kind: str) -> AppState:
    if kind == "harvest_cancel_batches":
        return harvest_states.batched()
    if kind == "undo_turn":
        return agent_states.rested()
    state = states.working()
    if kind != "trust":
        return state
    project = replace(state.config.project, is_trusted=False)
    return replace(state, config=replace(state.config, project=project))


def _controls(screen: Screen) -> list[Button | Checkbox]:
    """What can be pressed in the dialog that stands on top."""
    top = next((layer for layer in reversed(screen.ui.tree.top.order) if isinstance(layer, Dim)), None)
    assert top is not None
    return [one for one in top.walk() if isinstance(one, Button | Checkbox) and one.w > 0][:MOST_PRESSED]


def _answered(sent: list[Command]) -> list[Command]:
    return [one for one in sent if not isinstance(one, SaveWindow | SetDraft)]


def test_no_dialog_takes_what_was_begun_before_it_stood_there(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    now_s, sent, state, view = 100.0, list[Command](), states.working(), WindowView()
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: now_s)

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.0)
        window(state, view, ui, sent.append)

    person = screen.show(draw)
    for kind in DIALOGS:
        state, view = _state(kind), view_of(DiscussionView(comparing=[""] * 4))
        screen.settle()
        dialog = Dialog(
            kind=kind, subject=state.discussions.selected_id, text="m3", command=COMMANDS.get(kind)
        )
        view.dialog = dialog
        screen.settle()
        assert view.dialog is dialog, f"{kind}: it needs another state"
        before, asked = _fields(dialog), _answered(sent)
        for one in _controls(screen):
            person.move(*person.center(one))
            person.press()
            person.release()
            person.step()
        for chord in () if kind == "palette" else ("Enter", "Space"):  # keys called the palette
            person.strike(chord)
            person.step()
        assert view.dialog is dialog, f"{kind}: an early press closed it"
        assert _fields(dialog) == before, kind
        assert _answered(sent) == asked, kind
        now_s += STAND_S + 0.01
        person.step()
        person.key("Escape")
        person.step()
        assert view.dialog is not dialog, f"{kind}: it stands, and closes"
        view.dialog = None


def test_a_second_click_does_not_answer_the_question_of_another_limit(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next question stands in the same place from the next frame on."""
    load()
    now_s, sent, state, view = 100.0, list[Command](), states.working(), WindowView()
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: now_s)
    person = screen.show(lambda ui: window(state, view, ui, sent.append))
    reached = (ReachedLimit(scope=LimitScope.DISCUSSION, limit_usd=0.5, spent_usd=0.6),)
    confirmed = [
        SendPrompt(discussion_id=name, text="Go on.", over_limit=True)
        for name in list(state.discussions.summaries)[:2]
    ]
    for command in confirmed:
        composer = view.of(DiscussionView).composer(command.discussion_id)
        composer.refusal = SpendRefusal(reached, command)
    screen.settle()
    now_s += STAND_S + 0.01
    person.hover("Send anyway")
    for _ in range(3):
        person.press()
        person.release()
    assert [one for one in sent if isinstance(one, SendPrompt)] == confirmed[:1]

    now_s += STAND_S + 0.01
    person.step()
    person.click("Send anyway")
    assert [one for one in sent if isinstance(one, SendPrompt)] == confirmed


def _fields(dialog: Dialog) -> tuple[str, str, int, bool]:
    return dialog.subject, dialog.text, dialog.at, dialog.is_entered
