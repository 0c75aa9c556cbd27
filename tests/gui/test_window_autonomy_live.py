"""An autonomous discussion at the real window, over the whole program: real input, a model over loopback, a clock."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from core.agent.agent_messages import SetTools
from core.app.controller import AppController
from core.app.execution import act
from core.kernel import paths
from core.kernel.values.agent import Attention
from core.kernel.values.signals import SignalSource
from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.markdown.document import load
from tests.core.agent.attention.test_whole_autonomy import Clock, later, waits_in
from tests.core.knowledge.harvest.harvests import add_discussion, reply
from tests.gui.conftest import Screen
from tests.gui.sitting import over
from tests.gui.test_window_agent_live import AgentSitting, seated
from tests.patience import PATIENCE_S
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.anthropic_server import Said as Billed
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer

pytestmark = pytest.mark.gui


class AloneSitting(AgentSitting):
    """A person at the window of a program whose clock the test winds."""

    def start(self, *, watches: bool = False, owns_home: bool = True) -> AppController:
        """Start with that clock."""
        self.clock = Clock()
        return super().start(watches=watches, owns_home=owns_home)

    def given_tools(self) -> None:
        act(self.controller, SetTools(self.chosen, has_tools=True))
        self.person.step(3)

    def let_go_on(self) -> None:
        """Start autonomy in the tab of the Agent panel."""
        self.person.key("Ctrl+7")
        self.sees("Autonomy")
        self.person.click("Autonomy")
        self.sees("Start autonomy")
        self.person.click("Start autonomy")
        self.ends(lambda s: s.attention.autonomy is not None)

    def allows(self) -> None:
        """Press the yes to the call that asks, once it works."""
        self.sees("Allow once")
        yes = self.person.find("Allow once")
        self.person.until(lambda: yes.stop_item() != 0, "the yes works")
        self.person.click("Allow once")

    def waits_in(self, attention: Attention) -> None:
        self.ends(lambda s: waits_in(s, attention))


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AloneSitting]:
    """Its local model costs nothing, as the person says: a day's limit cannot hold for a price that nobody knows."""
    priced = f'[[model]]\nprovider = "local"\nid = "{MODEL}"\ninput_usd = 0\noutput_usd = 0\n'
    paths.models_file().parent.mkdir(parents=True, exist_ok=True)
    paths.models_file().write_text(priced, "utf-8")
    with seated(AloneSitting, tmp_path, screen, monkeypatch) as sitting:
        yield sitting


def test_a_person_starts_it_beside_a_cap_sees_it_work_and_rest_wakes_it_and_stops_it(
    sitting: AloneSitting, screen: Screen
) -> None:
    person, controller = sitting.person, sitting.controller
    sitting.said(("read_file", {"path": "slots.txt"}), text="I look at the slots.")
    sitting.said(text="Forty slots.")
    sitting.said(("yield_to_user", {"why": "Nothing is left."}), text="Nothing is left to do.")
    sitting.said(text="I am here.")

    person.key("Ctrl+7")
    person.click("Turn tools on")
    sitting.sees("Ask first")
    person.click("Autonomy")
    person.click("Limit per day ($)")
    person.type("2")
    person.key("Enter")
    sitting.ends(lambda s: s.config.settings.caching.day_limit_usd == 2)
    person.click("Start autonomy")
    sitting.sees("Engaged · next turn in 0:05")
    screen.check()
    later(sitting, controller, 5)
    sitting.waits_in(Attention.WORKING)
    sitting.sees("Forty slots.")
    sitting.sees("The model used tools in this turn: working.")
    later(sitting, controller, 3)
    sitting.waits_in(Attention.RESTING)
    sitting.sees("Resting · next turn in 5:00")
    later(sitting, controller, 60)
    sitting.sees("Resting · next turn in 4:00")
    screen.check()

    person.key("Ctrl+l")
    person.type("Are you there?")
    sitting.ends(lambda s: s.attention.active_at is not None)
    person.key("Ctrl+Enter")
    sitting.sees("I am here.")
    sitting.waits_in(Attention.FORAGING)
    sitting.sees("You sent a message, so autonomy changes from resting to engaged.")
    person.click("Stop")
    sitting.ends(lambda s: s.attention.autonomy is None)
    sitting.sees("You stopped autonomy.")


def test_a_command_that_ends_in_the_background_wakes_it_and_its_words_are_shown_as_data(
    sitting: AloneSitting, screen: Screen
) -> None:
    controller = sitting.controller
    sitting.given_tools()
    sitting.said(("bash", {"command": "read -t 1 <> <(:); echo the tide is out", "background": True}))
    sitting.said(("yield_to_user", {"why": "The gauge runs."}), text="The gauge runs.")
    sitting.said(("yield_to_user", {"why": "It is out."}), text="The gauge says that the tide is out.")
    sitting.let_go_on()
    later(sitting, controller, 5)
    sitting.allows()
    sitting.ends(lambda s: bool(s.signals.seen))

    sitting.sees("The gauge says that the tide is out.")
    sitting.waits_in(Attention.RESTING)
    (signal,) = controller.snapshot().signals.seen
    assert (signal.source, "the tide is out" in signal.text) == (SignalSource.COMMAND, True)
    sitting.sees("Woken by a command that ended")
    assert "the tide is out" in str(sitting.server.bodies[-1])
    screen.check()


def test_it_dreams_at_rest_and_tells_what_it_would_keep_while_nothing_is_applied(
    sitting: AloneSitting, screen: Screen
) -> None:
    person, controller = sitting.person, sitting.controller
    add_discussion(sitting.home, "Tides", "When is high tide?", "At nine.")
    sitting.given_tools()
    sitting.said(("yield_to_user", {"why": "Nothing is left."}), text="Nothing is left to do.")
    sitting.said(text=reply("High tide is at nine."))
    sitting.let_go_on()
    later(sitting, controller, 5)
    sitting.waits_in(Attention.RESTING)
    later(sitting, controller, 300)

    sitting.sees("The discussion has no work, so the model previews a harvest. The program writes nothing.")
    sitting.ends(lambda s: s.harvest.preview is not None and not s.harvest.is_working)
    sitting.sees("Nothing is written yet.")
    sitting.sees("High tide is at nine.")
    sitting.waits_in(Attention.RESTING)
    screen.check()
    knowledge = paths.knowledge_dir(sitting.home)
    assert not (knowledge / "facts.md").exists()
    assert not [item for file in controller.snapshot().knowledge.categories for item in file.items]
    person.step(2)


def test_it_reaches_the_day_s_cap_rests_and_says_so(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server, AnthropicServer() as paid:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", paid.url)
        sitting = AloneSitting(tmp_path, server, screen)
        sitting.controller.send(CreateDiscussion("Paid", "anthropic", "claude-opus-5-5"))
        sitting.ends(lambda s: s.discussions.selected_id not in {"", sitting.chosen})
        sitting.chosen = sitting.controller.snapshot().discussions.selected_id
        paid.replies.append(
            Billed(({"type": "text", "text": "All is calm."},), usage={"input_tokens": 100_000})
        )
        with over(sitting.app, screen, monkeypatch):
            _lives_up_to_its_cap(sitting, paid)
            screen.check()
        sitting.stop()
    assert not screen.failures


def _lives_up_to_its_cap(sitting: AloneSitting, paid: AnthropicServer) -> None:
    person, controller = sitting.person, sitting.controller
    sitting.given_tools()
    person.key("Ctrl+7")
    sitting.sees("Autonomy")
    person.click("Autonomy")
    person.click("Limit per day ($)")
    person.type("0.3")
    person.key("Enter")
    sitting.ends(lambda s: s.config.settings.caching.day_limit_usd == 0.3)
    person.click("Start autonomy")
    sitting.ends(lambda s: s.attention.autonomy is not None)
    later(sitting, controller, 5)
    sitting.sees("All is calm.")
    sitting.waits_in(Attention.FORAGING)
    later(sitting, controller, 30)

    sitting.ends(lambda s: s.attention.autonomy is not None and bool(s.attention.autonomy.stopped))
    loop = controller.snapshot().attention.autonomy
    assert loop is not None
    assert (loop.state, loop.next_at, loop.turns) == (Attention.RESTING, None, 1)
    sitting.sees("$0.30")
    sitting.sees(loop.stopped)
    later(sitting, controller, 100_000 - 40_000)
    assert len(paid.bodies) == 1


def test_a_client_over_mcp_proposes_while_the_window_shows_it_and_the_person_takes_it(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        sitting = AgentSitting(tmp_path, server, screen)
        sitting.controller.stop()
        sitting.controller = sitting.start(watches=True)
        with over(sitting.app, screen, monkeypatch):
            person = sitting.person
            person.key("Ctrl+3")
            asyncio.run(asyncio.wait_for(_proposes(sitting), PATIENCE_S))
            sitting.sees("Proposed (1)")
            person.click("Proposed (1)")
            sitting.sees("High tide is at nine.")
            screen.check()
            facts = paths.knowledge_dir(sitting.home) / "facts.md"
            assert not facts.exists()
            person.click("Add")
            sitting.ends(lambda s: not s.proposals.waiting and "High tide" in str(s.knowledge.categories))
            assert "High tide is at nine." in facts.read_text(encoding="utf-8")
        sitting.stop()
    assert not screen.failures


async def _proposes(sitting: AgentSitting) -> None:
    places = ("--home", str(sitting.home), "--project", str(sitting.project))
    root = str(Path(__file__).parents[2])
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "core.front.cli", "mcp", *places],
        env={**os.environ, "PYTHONPATH": root},
        cwd=root,
    )
    async with Client(stdio_client(server)) as client:
        given = {"category": "facts", "text": "High tide is at nine."}
        await client.call_tool("propose_item", given)


def test_a_question_leads_back_to_where_the_person_stood_and_a_killed_command_is_not_called_done(
    sitting: AloneSitting, screen: Screen
) -> None:
    person = sitting.person
    sitting.given_tools()
    sitting.said(("bash", {"command": "read -t 600 <> <(:)", "background": True}))
    sitting.said(("yield_to_user", {"why": "The gauge runs."}), text="The gauge runs.")
    sitting.let_go_on()
    later(sitting, sitting.controller, 5)
    sitting.allows()
    sitting.sees("Autonomy starts.")
    sitting.waits_in(Attention.RESTING)
    sitting.sees("Resting · next turn in 5:00")
    assert not person.has("Idle")
    screen.check()

    person.click("Activity")
    sitting.sees("runs in the background")
    person.key("Ctrl+k")
    sitting.sees("interrupted · ")
    assert not sitting.controller.snapshot().agent.pages[sitting.chosen].commands
    screen.check()
