"""The manager of MCP servers on a real window: it fits in every state, and a yes takes a person's click."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.app.app_messages import Command, SaveWindow
from core.kernel.values.state import AppState
from core.mcp.mcp_messages import ApproveServer, LookAtServers
from core.talk.discussion.discussion_messages import SetDraft
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.mcp.mcp_room import McpForm, McpView
from panels.shell.window import window
from tests.gui.conftest import Screen
from tests.gui.sitting import misfits_of
from tests.panels.mcp import mcp_states as ms
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
STATES: dict[str, Callable[[], AppState]] = {
    "asking": ms.asking,
    "listed": ms.listed,
    "changed": ms.changed,
    "retold": ms.retold,
    "running": ms.running,
}
SIZES = (((1600, 1000), 1.0), ((1024, 700), 1.0), ((1024, 700), 2.0))


@pytest.mark.parametrize("name", sorted(STATES))
def test_every_state_fits(screen: Screen, name: str) -> None:
    state = STATES[name]()
    own = McpView(
        folded=frozenset({"files"}), open_tools=frozenset({("files", "read")}), form=McpForm(error="No")
    )
    view = view_of(own, panel="mcp")
    view.show_hub("mcp")

    assert misfits_of(screen, state, view, SIZES) == []


def test_a_yes_takes_a_click_on_a_button_that_stood_there(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    now_s, sent = 100.0, list[Command]()
    view = view_of(McpView(), panel="mcp")
    view.show_hub("mcp")
    monkeypatch.setattr(screen.ui.tree.keyboard, "clock", lambda: now_s)

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.0)
        window(ms.asking(), view, ui, sent.append)

    person = screen.show(draw)
    person.click("Approve and start")
    person.key("Enter")
    early = [one for one in sent if not isinstance(one, SaveWindow | SetDraft | LookAtServers)]
    now_s += 1.0
    person.step(4)
    person.click("Approve and start")

    assert early == []
    assert [one.name for one in sent if isinstance(one, ApproveServer)] == ["files"]
