"""Measures the loop of a turn with tools: from the last word of a reply to the next request, with a tool that does nothing."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.__main__ import Row, row
from tests.bench.child import compatible_settings, measured
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply

if TYPE_CHECKING:
    from core.agent.tool import Tool
    from core.app.controller import AppController
    from core.kernel.values.state import AppState

TURNS, ROUNDS = 6, 19
"""Rounds of a turn: one less than the guard lets through."""
LONG = 2_000
"""Messages that a long discussion begins with."""
WINDOW = 1_000_000
"""Tokens: nothing is compacted."""
BAR_MS = 5.0
WAIT_S = 120.0


class Asker(LoopbackServer):
    """A compatible server that asks for the tool `nothing` until a turn has had its rounds."""

    def answer(self, captured: Captured) -> Reply | StreamReply:
        """The list of models, or a reply."""
        if captured.method == "GET":
            return json_reply(
                200, {"object": "list", "data": [{"id": "m", "owned_by": "vllm", "max_model_len": WINDOW}]}
            )
        said = captured.json["messages"]
        last = max(number for number, one in enumerate(said) if one["role"] == "user")
        done = sum(one["role"] == "tool" for one in said[last:])
        return StreamReply(_asking(f"c{len(said)}") if done < ROUNDS else _said())


def rows() -> list[Row]:
    """Measure in processes of their own, which wait for no disk. Values are of a round, in milliseconds."""
    found = []
    for messages, where in ((0, "a new discussion"), (LONG, f"a discussion of {LONG:,} messages")):
        with Asker() as server:
            taken = measured("tests.bench.agent_rounds", f"{server.url}/v1", str(messages))
        name = f"a round without model, tool and fsync, in {where}"
        found += [
            row(f"{name}, median", taken["median_ms"], "ms", BAR_MS, runs=int(taken["rounds"])),
            row(f"{name}, 95th percentile", taken["p95_ms"], "ms", runs=int(taken["rounds"])),
        ]
    return found


def child(messages: int) -> dict[str, float]:
    """Take turns of many rounds. Returns milliseconds from each reply's last item until the next request is sent."""
    from core.agent.agent_messages import SetTools
    from core.app.controller import AppController
    from core.app.execution import act
    from core.app.options import OutsideOptions
    from core.app.outside import LocalOutside
    from core.services.settings.settings_messages import RefreshModels, TrustProject
    from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
    from core.talk.turn.turn_messages import SendPrompt

    def no_fsync(_descriptor: int) -> None:
        """Wait for no disk."""

    os.fsync = no_fsync  # type: ignore[assignment]
    begun, ended = _watched()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = OutsideOptions(home=folder / "home", start=folder, watches=False, tools=_tools)
        chosen = _long_home(folder / "home", messages) if messages else ""
        controller = AppController(LocalOutside(options))
        controller.start()
        controller.wait_for(lambda s: bool(s.config.project.root) and not s.program.is_loading, WAIT_S)
        act(controller, TrustProject(is_trusted=True))
        controller.send(RefreshModels("local"))
        controller.wait_for(lambda s: bool(s.config.models.get("local")), WAIT_S)
        controller.send(SelectDiscussion(chosen) if chosen else CreateDiscussion("talk"))
        state = controller.wait_for(lambda s: s.discussions.selected_id in s.discussions.open, WAIT_S)
        assert state is not None
        chosen = state.discussions.selected_id
        act(controller, SetTools(chosen, has_tools=True))
        gaps: list[float] = []
        for turn in range(TURNS):
            begun.clear()
            ended.clear()
            said = len(controller.snapshot().discussions.open[chosen].messages)
            controller.send(SendPrompt(chosen, f"go {turn}"))
            done = _looked_for(controller, _is_over(chosen, said + 2 * ROUNDS + 2))
            assert done is not None, controller.snapshot().discussions.open[chosen].failure
            if turn:  # the first loads what is loaded late
                gaps += [after - before for before, after in zip(ended, begun[1:], strict=False)]
        controller.stop()
    gaps.sort()
    assert len(gaps) == (TURNS - 1) * ROUNDS
    return {
        "median_ms": 1_000 * statistics.median(gaps),
        "p95_ms": 1_000 * gaps[int(0.95 * len(gaps))],
        "rounds": len(gaps),
    }


def _looked_for(controller: AppController, predicate: Callable[[AppState], bool]) -> AppState | None:
    """The state that satisfies `predicate`, looked for a few times a second: who is told of every change takes part in the loop."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if predicate(state := controller.snapshot()):
            return state
        time.sleep(0.05)
    return None


def _is_over(chosen: str, messages: int) -> Callable[[AppState], bool]:
    """True once a turn has ended that leaves so many messages."""
    return lambda state: (
        len(state.discussions.open[chosen].messages) >= messages
        and chosen not in state.turns.calls
        and chosen not in state.agent.turns
    )


def _watched() -> tuple[list[float], list[float]]:
    """Moments at which requests are given to the client, and at which it gives its last item."""
    from core.services.providers.compatible.client import CompatibleProvider

    begun: list[float] = []
    ended: list[float] = []
    stream = CompatibleProvider.stream

    def watched(self: CompatibleProvider, *given: object, **named: object) -> Iterator[object]:
        items = stream(self, *given, **named)  # type: ignore[arg-type]
        begun.append(time.perf_counter())
        last = None
        for item in items:
            if last is not None:
                yield last
            last = item
        ended.append(time.perf_counter())
        if last is not None:
            yield last

    CompatibleProvider.stream = watched  # type: ignore[assignment, method-assign]
    return begun, ended


def _tools() -> Mapping[str, Tool]:
    from core.agent.tool import Judged, Tool, ToolAnswer
    from core.kernel.values.agent import ActKind
    from core.kernel.values.stack import ToolSchema

    schema = ToolSchema("nothing", "Does nothing.", '{"type":"object"}')
    tool = Tool(
        schema, ActKind.OWN, lambda *_: Judged(ActKind.OWN, "nothing"), lambda *_: ToolAnswer("It is done.")
    )
    return {"nothing": tool}


def _long_home(home: Path, messages: int) -> str:
    from core.kernel.values.discussion import DiscussionMeta
    from core.kernel.values.messages import Role, TextPart
    from core.kernel.values.records import MessageRecord
    from core.talk.discussion import discussion_store
    from tests.bench.app_open import AT, LONG
    from tests.bench.app_window import long_entries

    texts = [entry.text[:200] for entry in long_entries(messages)]
    records = [
        MessageRecord(f"m{n:05}", AT, Role.ASSISTANT if n % 2 else Role.USER, (TextPart(text),))
        for n, text in enumerate(texts)
    ]
    discussion_store.create(home, DiscussionMeta(LONG, "A long one", AT, "local", "m"), records)
    return LONG


def _asking(call_id: str) -> Iterator[bytes]:
    call = {"index": 0, "id": call_id, "type": "function", "function": {"name": "nothing", "arguments": "{}"}}
    yield _chunk({"delta": {"role": "assistant", "tool_calls": [call]}})
    yield _chunk({"delta": {}, "finish_reason": "tool_calls"})
    yield b"data: [DONE]\n\n"


def _said() -> Iterator[bytes]:
    yield _chunk({"delta": {"content": "All done."}})
    yield _chunk({"delta": {}, "finish_reason": "stop"})
    yield b"data: [DONE]\n\n"


def _chunk(choice: dict[str, object]) -> bytes:
    return f"data: {json.dumps({'id': 'c', 'choices': [{'index': 0, **choice}]})}\n\n".encode()


if __name__ == "__main__":
    with compatible_settings(sys.argv[1]):
        print(json.dumps(child(int(sys.argv[2]))))
