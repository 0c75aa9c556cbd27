"""A server that settings name, used by a discussion: a real home, the SDK's own server, a vendor over loopback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agent.agent_messages import ApproveCall
from core.app.controller import AppController
from core.app.execution import act
from core.kernel.values.agent import ActKind, CallState
from core.kernel.values.mcp import McpPhase, McpServer
from core.mcp.approvals import question_id
from core.mcp.mcp_messages import ApproveServer, ApproveTools
from core.talk.turn.turn_messages import SendPrompt
from tests.core.agent.test_whole_tools import asked, calls, is_over, results, with_tools
from tests.core.app.programs import until
from tests.core.app.test_whole import World
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said

VENDORS = Path(__file__).parents[2] / "vendors"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        config = Path(os.environ["MANUAL_SLOP_CONFIG"])
        rows = json.dumps(["-P", str(VENDORS / "mcp_sdk_server.py")])
        text = f"[mcp.servers.calc]\ncommand = {json.dumps(sys.executable)}\nargs = {rows}\n"
        config.write_text(config.read_text(encoding="utf-8") + text, encoding="utf-8")
        yield world
        world.stop()


def server_of(controller: AppController, phase: McpPhase, *, has_tools: bool = False) -> McpServer:
    def is_there(one: McpServer | None) -> bool:
        return one is not None and one.phase is phase and (not has_tools or bool(one.tools))

    return until(controller, lambda s: is_there(s.mcp.servers.get("calc"))).mcp.servers["calc"]


def approve(controller: AppController) -> None:
    """Say yes to the server, then to all that it offers."""
    server = server_of(controller, McpPhase.ASKING)
    assert server.asked is not None
    act(controller, ApproveServer("calc", question_id(server.asked)))
    server = server_of(controller, McpPhase.ASKING, has_tools=True)
    assert server.asked is not None
    act(controller, ApproveTools("calc", question_id(server.asked)))
    server_of(controller, McpPhase.READY)


def offered(world: World, number: int) -> list[str]:
    return [tool["function"]["name"] for tool in world.server.bodies[number]["tools"]]


def test_a_server_is_asked_about_twice_then_called_after_a_yes_and_known_after_a_restart(
    world: World,
) -> None:
    controller = world.start()
    chosen = with_tools(world, controller)
    approve(controller)
    world.server.replies.extend([calls(("calc__add", {"first": 19, "second": 23})), Said("It is 42.")])
    controller.send(SendPrompt(chosen, "Add them."))
    state = until(controller, lambda s: asked(s, chosen))
    assert "calc__add" in offered(world, 0)
    (call,) = state.agent.turns[chosen].calls
    assert call.approval is not None
    assert (call.state, call.approval.title, call.approval.grant) == (
        CallState.ASKING,
        "calc: add",
        "call add of calc",
    )
    act(controller, ApproveCall(chosen, call.id, call.approval.id))
    state = until(controller, lambda s: is_over(s, chosen))
    (result,) = results(state.discussions.open[chosen].messages)
    assert result.startswith('<server-result server="calc" tool="add">\n42\n')
    controller.stop()

    again = world.start()
    until(again, lambda s: chosen in s.discussions.open and bool(s.mcp.servers))
    world.server.replies.append(Said("Still 42."))
    again.send(SendPrompt(chosen, "Sure?"))
    until(again, lambda s: is_over(s, chosen) and len(s.discussions.open[chosen].messages) > 5)
    assert offered(world, 2) == offered(world, 0), "offered as approved, though the server does not run"
    assert not again.snapshot().mcp.servers["calc"].is_running


def test_a_file_that_came_while_a_server_was_called_wakes_nobody_after_a_restart_either(world: World) -> None:
    controller = world.start(watches=True)
    chosen = with_tools(world, controller)
    approve(controller)
    world.server.replies.extend([calls(("calc__add", {"first": 19, "second": 23})), Said("It is 42.")])
    controller.send(SendPrompt(chosen, "Add them."))
    state = until(controller, lambda s: asked(s, chosen))
    (call,) = state.agent.turns[chosen].calls
    assert call.approval is not None
    act(controller, ApproveCall(chosen, call.id, call.approval.id))
    state = until(controller, lambda s: is_over(s, chosen))
    inbox = world.home / "inbox"
    inbox.mkdir(exist_ok=True)
    draft = inbox / ".own.txt"
    draft.write_text("Go on.", encoding="utf-8")
    draft.rename(inbox / "own.txt")
    until(controller, lambda s: bool(s.signals.waiting))
    controller.stop()

    again = world.start(watches=True)
    state = until(again, lambda s: chosen in s.discussions.open and bool(s.signals.waiting))

    assert [one.kind for one in state.agent.pages[chosen].activity] == [ActKind.SERVER]
    assert [one.wakes for one in state.signals.waiting] == [False]
