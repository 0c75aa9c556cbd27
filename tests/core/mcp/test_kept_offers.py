"""Tools of servers that a discussion's last request offered, over a restart: a real home, the SDK's server, a vendor."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.app.execution import act
from core.kernel.values.mcp import McpPhase
from core.kernel.values.state import AppState
from core.mcp.mcp_messages import OfferServerTools, WithdrawApproval
from core.talk.caching.caching_messages import InvalidateCache
from core.talk.context.context_spec import approved_by_now, offered_by_servers
from core.talk.turn.turn_messages import SendPrompt
from tests.core.agent.test_whole_tools import is_over, results, with_tools
from tests.core.app.programs import until
from tests.core.mcp.test_whole_servers import approve, server_of
from tests.core.talk.caching.test_whole import World
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said

SERVER = Path(__file__).parents[2] / "vendors" / "mcp_sdk_server.py"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()


class ServedWorld(World):
    """A project whose person names an MCP server, a vendor that bills by prefix, and a clock."""

    def __init__(self, base: Path, server: AnthropicServer) -> None:
        super().__init__(base, server)
        self.clock = self.time = Clock()
        server.cache.clock = self.time.seconds
        self.names()

    def names(self, *arguments: str) -> None:
        """Settings that name the server, which is started with these arguments."""
        rows = json.dumps(["-P", str(SERVER), *arguments])
        text = f"[mcp.servers.calc]\ncommand = {json.dumps(sys.executable)}\nargs = {rows}\n"
        Path(os.environ["MANUAL_SLOP_CONFIG"]).write_text(text, encoding="utf-8")

    def again(self, chosen: str) -> AppController:
        """The program started anew, the discussion open and its cache recalled."""
        controller = self.start()
        until(controller, lambda s: chosen in s.discussions.open and bool(s.mcp.servers))
        return controller

    def tools(self) -> str:
        """Bytes of the tools of the last request."""
        return json.dumps(self.server.bodies[-1]["tools"])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedWorld]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        world = ServedWorld(tmp_path, server)
        yield world
        world.stop()


def say(controller: AppController, chosen: str, text: str) -> AppState:
    """Send, and wait until the whole turn is on disk."""
    controller.send(SendPrompt(chosen, text))
    return until(
        controller,
        lambda s: is_over(s, chosen) and any(m.text == text for m in s.discussions.open[chosen].messages),
    )


def begun(world: ServedWorld) -> tuple[str, str]:
    """A discussion that was sent with the server's tools; its id, and their bytes. No program runs."""
    controller = world.start()
    chosen = with_tools(world, controller)  # type: ignore[arg-type]
    approve(controller)
    say(controller, chosen, "One.")
    controller.stop()
    tools = world.tools()
    assert "calc__add" in tools
    return chosen, tools


def changed(world: ServedWorld, chosen: str) -> None:
    """A program in which the server offers one tool more, and the person approves it. Nothing is sent."""
    world.names("grows")
    controller = world.again(chosen)
    approve(controller)
    controller.stop()


def withdrawn(world: ServedWorld, chosen: str) -> None:
    """A program in which the person takes the approval back, and sends nothing."""
    controller = world.again(chosen)
    act(controller, WithdrawApproval("calc"))
    server_of(controller, McpPhase.ASKING)
    controller.stop()


def test_the_same_tools_go_out_after_a_restart_while_warm_and_one_that_is_approved_no_more_is_not_called(
    world: ServedWorld,
) -> None:
    chosen, tools = begun(world)
    withdrawn(world, chosen)

    again = world.again(chosen)
    call = {"type": "tool_use", "name": "calc__add", "input": {"first": 19, "second": 23}}
    world.server.replies.extend([Said((call,), stop_reason="tool_use"), Said()])
    state = say(again, chosen, "Two.")

    assert world.tools() == tools
    (result,) = results(state.discussions.open[chosen].messages)
    assert result.startswith("There is no tool 'calc__add'.")


def test_another_description_that_is_approved_meanwhile_goes_out_once_the_prefix_is_cold(
    world: ServedWorld,
) -> None:
    chosen, tools = begun(world)
    changed(world, chosen)

    again = world.again(chosen)
    say(again, chosen, "Two.")
    assert world.tools() == tools
    assert "calc__grow" in json.dumps(world.server.bodies[-1]["messages"]), "it is added in the conversation"
    again.stop()

    world.time.now += timedelta(days=2)
    again = world.again(chosen)
    say(again, chosen, "Three.")
    assert world.tools() != tools
    assert "grow" in world.tools()


@pytest.mark.parametrize("asks", [OfferServerTools, InvalidateCache])
def test_a_person_s_word_gives_a_warm_discussion_the_new_set_also_after_a_restart(
    world: ServedWorld, asks: type[OfferServerTools | InvalidateCache]
) -> None:
    """While the cache holds, a tool that came is added in the conversation; where it was given up, all stand at the head."""
    chosen, tools = begun(world)
    changed(world, chosen)
    told = world.again(chosen)
    told.send(asks(chosen))
    until(told, lambda s: offered_by_servers(s, chosen) == approved_by_now(s))
    told.stop()

    say(world.again(chosen), chosen, "Two.")
    added = json.dumps(world.server.bodies[-1]["messages"])
    assert ("calc__grow" in world.tools(), "calc__grow" in added) == (
        asks is InvalidateCache,
        asks is OfferServerTools,
    )
    assert (world.tools() == tools) == (asks is OfferServerTools)
