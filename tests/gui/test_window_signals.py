"""The Signals panel and its settings on a real window: they fit at every size, and a person uses them."""

from __future__ import annotations

from typing import Literal

import pytest

from core.app.app_messages import Command
from core.signals.signals_messages import PutSignalsAway, SetQuiet
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.shell.window import window
from panels.signals.signals_room import SignalsView
from tests.gui.conftest import Screen
from tests.gui.sitting import misfits_of
from tests.panels.signals import signal_states
from tests.panels.views import view_of

pytestmark = pytest.mark.gui
SIZES = (((1600, 1000), 1.0), ((1024, 700), 1.0), ((1024, 700), 2.0))


@pytest.mark.parametrize("page", ["chat", "settings"])
def test_panel_and_settings_fit(screen: Screen, page: Literal["chat", "settings"]) -> None:
    state = signal_states.busy()
    view = view_of(SignalsView(open_signals=frozenset({"s2"})), panel="signals")
    view.page, view.settings_section = page, "notifications"
    view.show_hub("signals")

    assert misfits_of(screen, state, view, SIZES) == []


def test_a_person_puts_a_signal_away_and_ends_the_quiet(screen: Screen) -> None:
    load()
    state, view, sent = signal_states.busy(), WindowView(), list[Command]()
    view.show_hub("signals")

    def draw(ui: Ui) -> None:
        screen.ui.set_looks("dark", 1.0)
        window(state, view, ui, sent.append)

    person = screen.show(draw)
    person.click("Hold notifications back")
    person.click("Dismiss all")

    assert [one for one in sent if isinstance(one, SetQuiet | PutSignalsAway)] == [
        SetQuiet(is_quiet=False),
        PutSignalsAway(),
    ]
