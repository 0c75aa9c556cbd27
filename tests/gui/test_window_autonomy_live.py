"""An autonomous discussion at the real window, over the whole program: real input, a model over loopback, a clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.values.attention import Attention
from gui.markdown.document import load
from tests.core.attention.test_whole_autonomy import Clock, later, waits_in
from tests.gui.conftest import Screen
from tests.gui.sitting import over
from tests.gui.test_window_agent_live import AgentSitting
from tests.vendors.compatible_server import VLLM, CompatibleServer

pytestmark = pytest.mark.gui


class AloneSitting(AgentSitting):
    """A person at the window of a program whose clock the test winds."""

    def start(self, *, watches: bool = False, owns_home: bool = True) -> AppController:
        """Start with that clock."""
        self.clock = Clock()
        return super().start(watches=watches, owns_home=owns_home)

    def waits_in(self, attention: Attention) -> None:
        self.ends(lambda s: waits_in(s, attention))


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AloneSitting]:
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        sitting = AloneSitting(tmp_path, server, screen)
        with over(sitting.app, screen, monkeypatch):
            yield sitting
        sitting.stop()
    assert not screen.failures


def test_a_person_starts_it_beside_a_cap_sees_it_work_and_rest_wakes_it_and_stops_it(
    sitting: AloneSitting, screen: Screen
) -> None:
    person, controller = sitting.person, sitting.controller
    sitting.said(("read_file", {"path": "slots.txt"}), text="I look at the slots.")
    sitting.said(text="Forty slots.")
    sitting.said(("yield_to_user", {"why": "Nothing is left."}), text="Nothing is left to do.")
    sitting.said(text="I am here.")

    person.key("Ctrl+7")
    person.click("Give it tools")
    person.click("Alone")
    person.click("Limit per day ($)")
    person.type("2")
    person.key("Enter")
    sitting.ends(lambda s: s.config.settings.caching.day_limit_usd == 2)
    person.click("Let it go on alone")
    sitting.sees("Engaged · 0:05")
    screen.check()
    later(sitting, controller, 5)
    sitting.waits_in(Attention.WORKING)
    sitting.sees("Forty slots.")
    sitting.sees("The turn used tools: working.")
    later(sitting, controller, 3)
    sitting.waits_in(Attention.RESTING)
    sitting.sees("Resting · 5:00")
    later(sitting, controller, 60)
    sitting.sees("Resting · 4:00")
    screen.check()

    person.key("Ctrl+l")
    person.type("Are you there?")
    sitting.ends(lambda s: s.attention.active_at is not None)
    person.key("Ctrl+Enter")
    sitting.sees("I am here.")
    sitting.waits_in(Attention.FORAGING)
    sitting.sees("You wrote: from resting to engaged.")
    person.click("Stop")
    sitting.ends(lambda s: s.attention.autonomy is None)
    sitting.sees("You stopped autonomy.")
