"""Measures an autonomous day of 24 simulated hours through the whole program: growth of its memory, and its books."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.__main__ import Row, row
from tests.bench.agent_rounds import WAIT_S, WINDOW
from tests.bench.child import compatible_settings, measured
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply

if TYPE_CHECKING:
    from core.app.controller import AppController
    from core.kernel.values.state import AppState

HOURS, VISIT_H = 24, 2
"""The day, and how often the person looks in."""
BAR_MB = 5.0
TOKENS = 10_000
"""Input that each call is billed for."""


class Idler(LoopbackServer):
    """A compatible server whose model looks once after each visit and hands over at most turns."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def answer(self, captured: Captured) -> Reply | StreamReply:
        """The list of models, or a reply."""
        if captured.method == "GET":
            return json_reply(
                200, {"object": "list", "data": [{"id": "m", "owned_by": "vllm", "max_model_len": WINDOW}]}
            )
        self.asked += 1
        self.requests.clear()
        last = captured.json["messages"][-1]
        return StreamReply(_said() if last["role"] == "tool" or self.asked % 5 == 0 else _yields(self.asked))


def rows() -> list[Row]:
    """Measure in a process of its own."""
    with tempfile.TemporaryDirectory() as folder, Idler() as server:
        # Where no bytecode lies, the prices are compiled: the day hides in the 20 MB that this leaves free.
        compiled = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run(
            [sys.executable, "-c", "import genai_prices.data"], env={**os.environ, **compiled}, check=True
        )
        taken = measured("tests.bench.agent_day", f"{server.url}/v1", **compiled)
        unbooked = abs(TOKENS * server.asked - taken["booked"])
    turns = int(taken["turns"])
    return [
        row(
            "an autonomous day of 24 hours, memory that it grows", taken["grown_mb"], "MB", BAR_MB, runs=turns
        ),
        row(
            "an autonomous day, tokens billed that are not in the books", unbooked, "tokens", 0.0, runs=turns
        ),
    ]


def child() -> dict[str, float]:
    """Live through the day. Returns growth of memory after its first hours, turns, and tokens in the books."""
    from core.agent.agent_messages import SetTools, StartAutonomy
    from core.app.controller import AppController
    from core.app.execution import act
    from core.app.options import OutsideOptions
    from core.app.outside import LocalOutside
    from core.services.settings.settings_messages import RefreshModels, TrustProject
    from core.talk.discussion.discussion_messages import CreateDiscussion

    now = [datetime(2026, 11, 23, tzinfo=UTC)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = OutsideOptions(home=folder / "home", start=folder, watches=False)
        controller = AppController(LocalOutside(options, clock=lambda: now[0]), clock=lambda: now[0])
        controller.start()
        controller.wait_for(lambda s: bool(s.config.project.root) and not s.program.is_loading, WAIT_S)
        act(controller, TrustProject(is_trusted=True))
        controller.send(RefreshModels("local"))
        controller.wait_for(lambda s: bool(s.config.models.get("local")), WAIT_S)
        controller.send(CreateDiscussion("talk"))
        state = controller.wait_for(lambda s: s.discussions.selected_id in s.discussions.open, WAIT_S)
        assert state is not None
        chosen = state.discussions.selected_id
        act(controller, SetTools(chosen, has_tools=True))
        act(controller, StartAutonomy(chosen))

        first_mb, turns = _lived(controller, chosen, now)
        state = controller.wait_for(lambda s: _waits(s, chosen, now[0]), WAIT_S)
        assert state is not None
        grown = _memory_mb() - first_mb
        used = state.discussions.summaries[chosen].usage
        controller.stop()
    return {"grown_mb": grown, "turns": turns, "booked": float(used.input_tokens or 0)}


def _lived(controller: AppController, chosen: str, now: list[datetime]) -> tuple[float, int]:
    """Let the day pass, `now` being its clock. Returns memory (MB) after the first visit, and turns of its own."""
    from core.kernel.values.updates import Tick
    from core.talk.turn.turn_messages import SendPrompt

    end, visit, first_mb, turns = now[0] + timedelta(hours=HOURS), now[0], 0.0, 0
    while now[0] < end:
        if now[0] >= visit:
            controller.send(SendPrompt(chosen, f"How is it at {now[0]:%H:%M}?", may_queue=True))
            asked = f"{now[0]:%H:%M}?"
            controller.wait_for(partial(_has_said, chosen, asked), WAIT_S)
            visit = now[0] + timedelta(hours=VISIT_H)
        state = controller.wait_for(lambda s: _waits(s, chosen, now[0]), WAIT_S)
        assert state is not None
        loop = state.attention.autonomy
        assert loop is not None
        if not first_mb and now[0] > end - timedelta(hours=HOURS - VISIT_H):
            first_mb = _memory_mb()
        now[0] = min(visit, loop.next_at or visit)
        turns += loop.next_at is not None
        controller.emit(Tick())
        controller.wait_for(lambda s: s.now is not None and s.now >= now[0], WAIT_S)
    return first_mb, turns


def _has_said(chosen: str, words: str, state: AppState) -> bool:
    return any(one.text.endswith(words) for one in state.discussions.open[chosen].messages)


def _waits(state: AppState, chosen: str, now: datetime) -> bool:
    """True if nothing is at work, and the next turn lies ahead."""
    from core.kernel.values.updates import is_busy

    loop = state.attention.autonomy
    assert loop is not None
    is_at_work = is_busy(state, chosen) or bool(loop.message_id) or state.harvest.is_working
    return not is_at_work and (loop.next_at is None or loop.next_at > now)


def _memory_mb() -> float:
    """Memory of its own, also what the kernel put away: pages of files come and go with the load of the machine."""
    gc.collect()
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return (
        sum(int(kb) for kb in re.findall(r"^(?:Anonymous|Swap): +([0-9]+) kB", rollup, re.MULTILINE))
        * 1.024e-3
    )


def _chunks(delta: dict[str, object], finish: str) -> bytes:
    about = {"id": "c", "object": "chat.completion.chunk", "model": "m", "created": 0}
    usage = {"prompt_tokens": TOKENS, "completion_tokens": 2, "total_tokens": TOKENS + 2}
    made = (
        {**about, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
        {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**about, "choices": [], "usage": usage},
    )
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in made) + b"data: [DONE]\n\n"


def _said() -> Iterator[bytes]:
    yield (_chunks({"content": "All is as it was."}, "stop"))


def _yields(number: int) -> Iterator[bytes]:
    function = {"name": "yield_to_user", "arguments": '{"why": "nothing"}'}
    call = {"index": 0, "id": f"c{number}", "type": "function", "function": function}
    yield _chunks({"tool_calls": [call]}, "tool_calls")


if __name__ == "__main__":
    with compatible_settings(sys.argv[1]):
        print(json.dumps(child()))
