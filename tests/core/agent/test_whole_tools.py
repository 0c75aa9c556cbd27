"""A turn with tools through the whole program: a real home, a server over loopback, real files, a real kill."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from core.agent.agent_messages import ApproveCall, SetTools, UndoTurn
from core.app.controller import AppController
from core.app.execution import act
from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.values.agent import CallState, Mode
from core.kernel.values.messages import Message, Role, ToolResultPart
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import TrustProject
from core.talk.discussion.discussion_messages import ReadDiscussion
from core.talk.turn.turn_messages import CancelReply, SendPrompt
from tests.command_forks import FORKS
from tests.core.app.programs import until
from tests.core.app.test_whole import World
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        yield world
        world.stop()


def calls(*asked: tuple[str, Mapping[str, object]], text: str = "") -> Said:
    """A reply that asks for tools."""
    given = tuple((name, json.dumps(arguments)) for name, arguments in asked)
    return Said(text, calls=given, finish="tool_calls")


def with_tools(world: World, controller: AppController, mode: Mode = Mode.ASK) -> str:
    """A discussion with tools in a folder that is trusted."""
    act(controller, TrustProject(is_trusted=True))
    chosen = world.discussion(controller)
    act(controller, SetTools(chosen, has_tools=True, mode=mode))
    return chosen


def is_over(state: AppState, chosen: str) -> bool:
    """True once the whole turn is on disk."""
    said = state.discussions.open[chosen].messages
    is_quiet = chosen not in state.turns.calls and chosen not in state.agent.turns
    return is_quiet and bool(said) and said[-1].role is Role.ASSISTANT


def asked(state: AppState, chosen: str) -> bool:
    turn = state.agent.turns.get(chosen)
    return turn is not None and any(call.state is CallState.ASKING for call in turn.calls)


def yes(controller: AppController, chosen: str) -> None:
    """Say yes to what is asked."""
    state = until(controller, lambda s: asked(s, chosen))
    (call,) = (one for one in state.agent.turns[chosen].calls if one.state is CallState.ASKING)
    assert call.approval is not None
    act(controller, ApproveCall(chosen, call.id, call.approval.id))


def results(said: tuple[Message, ...]) -> list[str]:
    return [part.text for one in said for part in one.parts if isinstance(part, ToolResultPart)]


def test_a_model_reads_edits_after_a_yes_and_says_what_it_did(world: World) -> None:
    controller = world.start()
    chosen = with_tools(world, controller)
    change = {"path": "tides.py", "old_text": "return 6", "new_text": "return 12"}
    world.server.replies.extend(
        [
            calls(("read_file", {"path": "tides.py"}), ("grep", {"pattern": "turn"}), text="I look."),
            calls(("edit_file", change)),
            Said("Twelve hours now."),
        ]
    )
    controller.send(SendPrompt(chosen, "Make it twelve."))
    until(controller, lambda s: asked(s, chosen))
    assert "return 6" in (world.project / "tides.py").read_text(encoding="utf-8")
    yes(controller, chosen)
    state = until(controller, lambda s: is_over(s, chosen))

    said = state.discussions.open[chosen].messages
    assert said[-1].text == "Twelve hours now."
    assert "return 12" in (world.project / "tides.py").read_text(encoding="utf-8")
    assert "return 6" in results(said)[0]
    (changed,) = state.agent.pages[chosen].changes
    assert changed.path == str(world.project / "tides.py")
    log = (world.home / "discussions" / chosen / "log.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["type"] for line in log]
    order = [kind for kind in kinds if kind in {"message", "tool_start", "request"}]
    assert order[:2] == ["message", "request"]
    assert order.count("tool_start") == 3
    for number, kind in enumerate(order):
        if kind == "request" and number > 1:
            assert order[number - 1] == "message", "nothing is asked before the results are on disk"

    one, two, three = (body["messages"] for body in world.server.bodies)
    assert two[: len(one) - 1] == one[:-1]
    assert three[: len(two) - 1] == two[:-1]
    assert [tool["function"]["name"] for tool in world.server.bodies[0]["tools"]]

    controller.stop()
    controller = world.start()
    controller.send(ReadDiscussion(chosen))
    state = until(controller, lambda s: chosen in s.agent.pages and bool(s.agent.pages[chosen].changes))
    page = state.agent.pages[chosen]
    assert page.changes == (changed,)
    assert [call.state for call in page.activity] == [CallState.DONE] * 3
    until(controller, lambda s: s.config.project.is_trusted)
    controller.send(UndoTurn(chosen, changed.turn_id))
    until(controller, lambda s: s.agent.pages[chosen].changes[0].is_undone)
    assert "return 6" in (world.project / "tides.py").read_text(encoding="utf-8")


def test_a_call_that_was_leaked_as_text_is_asked_for_though_reading_is_free(world: World) -> None:
    controller = world.start()
    chosen = with_tools(world, controller)
    leak = '<tool_call>\n{"name": "read_file", "arguments": {"path": "tides.py"}}\n</tool_call>'
    world.server.replies.extend([Said(f"I look.\n{leak}"), Said("Six hours.")])
    controller.send(SendPrompt(chosen, "How long?"))
    state = until(controller, lambda s: asked(s, chosen))
    assert state.agent.turns[chosen].calls[0].is_recovered
    yes(controller, chosen)
    state = until(controller, lambda s: is_over(s, chosen))

    assert "return 6" in results(state.discussions.open[chosen].messages)[0]
    said = world.server.bodies[1]["messages"][-2]
    assert (said["content"], said["tool_calls"][0]["function"]["name"]) == ("I look.", "read_file")


def test_escape_ends_a_command_with_all_it_started_and_the_turn(world: World) -> None:
    controller = world.start()
    chosen = with_tools(world, controller)
    world.server.replies.append(calls(("bash", {"command": "sleep 300 & sleep 300"})))
    controller.send(SendPrompt(chosen, "Wait."))
    yes(controller, chosen)
    until(controller, lambda s: s.agent.turns[chosen].calls[0].state is CallState.RUNNING)
    controller.send(CancelReply(chosen))
    state = until(controller, lambda s: chosen not in s.agent.turns)
    (call,) = state.agent.pages[chosen].activity
    assert call.state is CallState.INTERRUPTED
    until(controller, lambda s: len(results(s.discussions.open[chosen].messages)) == 1)
    assert len(world.server.bodies) == 1


KILLED = """
import sys, threading
from pathlib import Path
from core.agent.agent_messages import ApproveCall, SetTools
from core.agent.tool import Judged, Tool, ToolAnswer
from core.app.controller import AppController
from core.app.execution import act
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.services.settings.settings_messages import TrustProject
from core.talk.turn.turn_messages import SendPrompt
from core.kernel.values.agent import ActKind
from core.kernel.values.stack import ToolSchema

home, project = map(Path, sys.argv[1:])
begun = threading.Event()

def run(judged, desk, taken):
    (project / "runs").open("a").write("x")
    begun.set()
    threading.Event().wait()

def tool(name, kind, work):
    return Tool(ToolSchema(name, "A tool.", '{"type":"object"}'), kind, lambda a, d: Judged(kind, name), work)

table = {"hang": tool("hang", ActKind.COMMAND, run), "write_file": tool("write_file", ActKind.EDIT, run)}
options = OutsideOptions(home=home, start=project, watches=False, tools=lambda: table)
controller = AppController(LocalOutside(options))
controller.start()
controller.wait_for(lambda s: bool(s.config.providers) and not s.program.is_loading, 30)
act(controller, TrustProject(is_trusted=True))
controller.send(CreateDiscussion())
state = controller.wait_for(lambda s: bool(s.discussions.open), 30)
chosen = state.discussions.selected_id
act(controller, SetTools(chosen, has_tools=True))
controller.send(SendPrompt(chosen, "go"))

def asked(s):
    turn = s.agent.turns.get(chosen)
    return turn is not None and any(c.state == "asking" for c in turn.calls)

state = controller.wait_for(asked, 30)
(call,) = (c for c in state.agent.turns[chosen].calls if c.state == "asking")
controller.send(ApproveCall(chosen, call.id, call.approval.id))
begun.wait()
print(chosen, flush=True)
threading.Event().wait()
"""


def test_a_call_that_a_killed_program_had_begun_is_interrupted_and_one_that_it_had_not_asks_again(
    world: World,
) -> None:
    world.server.replies.append(calls(("hang", {}), ("write_file", {"path": "new", "text": "words\n"})))
    child = FORKS.program(KILLED, world.home, world.project)
    chosen = child.line()
    assert chosen

    beside = world.start(owns_home=False)
    beside.send(ReadDiscussion(chosen))
    state = until(beside, lambda s: chosen in s.discussions.open)
    assert not results(state.discussions.open[chosen].messages), "a live program is at work there"
    assert not state.discussions.open[chosen].left_calls
    assert len(state.discussions.open[chosen].held_calls) == 2
    log = paths.log_file(world.home, chosen)
    was = log.read_bytes()
    with pytest.raises(SlopError, match="another window or terminal has open tool calls"):
        act(beside, SendPrompt(chosen, "and now"))
    assert log.read_bytes() == was, "two turns never mix in one log"

    child.kill()
    child.communicate()
    state = until(beside, lambda s: asked(s, chosen))
    assert not state.discussions.open[chosen].held_calls, "it asks where it was read, without a restart"
    beside.stop()
    controller = world.start()
    state = until(controller, lambda s: asked(s, chosen))
    (begun,) = results(state.discussions.open[chosen].messages)
    assert begun.startswith("interrupted: the program ended while this ran")
    (left,) = state.agent.turns[chosen].calls
    assert left.name == "write_file"
    assert len(world.server.bodies) == 1, "a start spends nothing"

    world.server.replies.append(Said("Both told."))
    yes(controller, chosen)
    state = until(controller, lambda s: is_over(s, chosen))
    assert (world.project / "new").read_text(encoding="utf-8") == "words\n"
    assert (world.project / "runs").read_text(encoding="utf-8") == "x", "what was begun was not begun again"
    assert state.discussions.open[chosen].messages[-1].text == "Both told."
    sent = [one for one in world.server.bodies[-1]["messages"] if one["role"] == "tool"]
    assert len(sent) == 2


CHANGES: tuple[tuple[str, dict[str, object]], ...] = (
    ("edit_file", {"path": "tides.py", "old_text": "return 6", "new_text": "return 12"}),
    ("write_file", {"path": "tides.py", "text": "def turn() -> int:\n    return 12\n"}),
)


@pytest.mark.parametrize("change", CHANGES, ids=[name for name, _ in CHANGES])
@pytest.mark.parametrize("is_changed", [False, True], ids=["as it was", "changed meanwhile"])
def test_a_change_that_waits_for_a_yes_when_the_program_ends_is_asked_again_unless_the_file_changed(
    world: World, change: tuple[str, dict[str, object]], *, is_changed: bool
) -> None:
    controller = world.start()
    chosen = with_tools(world, controller)
    world.server.replies.extend([calls(("read_file", {"path": "tides.py"})), calls(change), Said("Done.")])
    controller.send(SendPrompt(chosen, "Make it twelve."))
    question = until(controller, lambda s: asked(s, chosen)).agent.turns[chosen].calls[0].approval
    controller.stop()

    file = world.project / "tides.py"
    if is_changed:
        file.write_text("mine, return 6\n", encoding="utf-8")
    controller = world.start()
    controller.send(ReadDiscussion(chosen))
    if is_changed:
        state = until(controller, lambda s: chosen in s.discussions.open and chosen not in s.agent.turns)
        assert "has changed since you read it" in results(state.discussions.open[chosen].messages)[-1]
        assert file.read_text(encoding="utf-8") == "mine, return 6\n"
        return
    state = until(controller, lambda s: asked(s, chosen))
    again = state.agent.turns[chosen].calls[0].approval
    assert question is not None
    assert again is not None
    assert (again.id, again.hunks) == (question.id, question.hunks)
    yes(controller, chosen)
    until(controller, lambda s: is_over(s, chosen))
    assert "return 12" in file.read_text(encoding="utf-8")


def test_a_call_that_leaked_as_text_is_asked_about_in_every_mode(world: World) -> None:
    controller = world.start()
    chosen = with_tools(world, controller, Mode.ACCEPT_EDITS)
    leaked = '<tool_call>{"name": "read_file", "arguments": {"path": "tides.py"}}</tool_call>'
    world.server.replies.extend([Said(f"I look. {leaked}"), Said("Six.")])
    controller.send(SendPrompt(chosen, "How long?"))
    state = until(controller, lambda s: asked(s, chosen))
    assert state.agent.turns[chosen].calls[0].is_recovered
    yes(controller, chosen)
    state = until(controller, lambda s: is_over(s, chosen))
    assert "return 6" in results(state.discussions.open[chosen].messages)[0]
    assert leaked not in str(world.server.bodies[-1]["messages"])


def test_a_script_that_is_swapped_between_the_yes_and_its_run_is_not_run_and_named(world: World) -> None:
    """The yes was to what stood there then; so is one to a module that it imports."""
    controller = world.start()
    chosen = with_tools(world, controller)
    root = Path(controller.snapshot().config.project.root)
    script, helper = root / "do.py", root / "helper.py"
    script.write_text("import helper")
    helper.write_text("open('one', 'w')")
    world.server.replies.extend([calls(("bash", {"command": "python3 do.py"})), Said("It was refused.")])
    controller.send(SendPrompt(chosen, "Do it."))
    state = until(controller, lambda s: asked(s, chosen))
    (call,) = state.agent.turns[chosen].calls
    assert call.approval is not None
    assert (
        "The command runs do.py, helper.py. If that code changes first, the program asks you again."
        in call.approval.detail
    )
    helper.write_text("open('two', 'w')")
    act(controller, ApproveCall(chosen, call.id, call.approval.id))
    state = until(controller, lambda s: is_over(s, chosen))

    (said,) = results(state.discussions.open[chosen].messages)
    assert said == "Not run: helper.py is not as it was when this was asked. Look again, then ask again."
    assert not (root / "one").exists()
    assert not (root / "two").exists()
