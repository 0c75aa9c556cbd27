"""A server that writes the file its argument names: approved once, it stays so; a helper that changed beside it asks."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agent.agent_messages import ApproveCall
from core.app.controller import AppController
from core.app.execution import act
from core.kernel.values.mcp import McpPhase, McpServer
from core.mcp.approvals import question_id
from core.mcp.mcp_messages import ApproveServer, ApproveTools, LookAtServers
from core.talk.turn.turn_messages import SendPrompt
from tests.core.agent.test_whole_tools import asked, calls, is_over, results, with_tools
from tests.core.app.programs import until
from tests.core.app.test_whole import World
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said

CASE = Path(__file__).parents[2] / "data" / "mcp" / "data_file.py"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        script = tmp_path / "project" / "srv" / "mini.py"
        script.parent.mkdir(parents=True)
        shutil.copy(CASE, script)
        config = Path(os.environ["MANUAL_SLOP_CONFIG"])
        words = json.dumps([str(script), str(tmp_path / "project" / "data.db")])
        text = f"[mcp.servers.mini]\ncommand = {json.dumps(sys.executable)}\nargs = {words}\n"
        config.write_text(config.read_text(encoding="utf-8") + text, encoding="utf-8")
        yield world
        world.stop()


def mini(controller: AppController, phase: McpPhase, *, has_tools: bool = False) -> McpServer:
    def is_there(one: McpServer | None) -> bool:
        return one is not None and one.phase is phase and (not has_tools or bool(one.tools))

    return until(controller, lambda s: is_there(s.mcp.servers.get("mini"))).mcp.servers["mini"]


def test_a_server_that_writes_its_data_stays_approved_and_one_whose_helper_changed_does_not(
    world: World, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    controller = world.start()
    chosen = with_tools(world, controller)
    server = mini(controller, McpPhase.ASKING)
    assert server.asked is not None
    assert list(server.asked.data.values()) == [str(project / "data.db")]
    act(controller, ApproveServer("mini", question_id(server.asked)))
    server = mini(controller, McpPhase.ASKING, has_tools=True)
    assert server.asked is not None
    act(controller, ApproveTools("mini", question_id(server.asked)))
    world.server.replies.extend([calls(("mini__put", {})), Said("It is written.")])
    controller.send(SendPrompt(chosen, "Put a row."))
    state = until(controller, lambda s: asked(s, chosen))
    (call,) = state.agent.turns[chosen].calls
    assert call.approval is not None
    act(controller, ApproveCall(chosen, call.id, call.approval.id))
    state = until(controller, lambda s: is_over(s, chosen))
    assert "written" in results(state.discussions.open[chosen].messages)[0]
    assert (project / "data.db").read_text() == "start\nrow\n"
    controller.stop()

    again = world.start()
    until(again, lambda s: "mini" in s.mcp.servers)
    again.send(LookAtServers())
    state = until(again, lambda s: s.mcp.servers["mini"].found is not None)
    assert (state.mcp.servers["mini"].phase, state.mcp.servers["mini"].changed) == (McpPhase.OFF, ())

    (project / "srv" / "helper.py").write_text("x = 1\n")
    again.send(LookAtServers())
    server = mini(again, McpPhase.ASKING)
    assert server.changed == (f"New file in the server's code: {project / 'srv' / 'helper.py'}",)
