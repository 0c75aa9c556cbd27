"""Measures what tools cost a start: the first frame with tools and the Agent panel, or with MCP servers, against one without."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.__main__ import Row, row
from tests.bench.child import measured

if TYPE_CHECKING:
    from core.kernel.values.records import Record

RUNS = 10
BAR = 1.05
ID = "20261120-070000-aaaaaa"
AT = datetime(2026, 11, 20, 7, tzinfo=UTC)
TURNS, CALLS = 50, 1_000
WITH, WITHOUT, SERVED = "tools", "plain", "servers"
SERVERS = 5


def rows() -> list[Row]:
    """Start all by turns, in a home of their own each, on this machine's screen or a virtual one."""
    from gui.screen import any_screen

    with any_screen(), tempfile.TemporaryDirectory() as folder:
        homes = {mode: make_home(Path(folder) / mode, mode) for mode in (WITHOUT, WITH, SERVED)}
        runs = [{mode: _child(home) for mode, home in homes.items()} for _ in range(RUNS + 1)]
        del runs[0]  # it brings the files into memory
    name = f"first frame, {CALLS:,} calls behind it, Agent panel open / without"

    def ratio(figure: str, mode: str = WITH) -> float:
        return statistics.median(run[mode][figure] / run[WITHOUT][figure] for run in runs)

    return [
        row(name, ratio("first_s"), "times", BAR, runs=RUNS),
        row("until the discussion and its panel are drawn / without", ratio("shown_s"), "times", runs=RUNS),
        row(
            f"first frame, {SERVERS} MCP servers configured / without",
            ratio("first_s", SERVED),
            "times",
            BAR,
            runs=RUNS,
        ),
    ]


def make_home(folder: Path, mode: str) -> Path:
    """A home with one discussion; with tools: its calls, and the Agent panel open as the window was left."""
    from core.kernel import paths
    from core.kernel.values.discussion import DiscussionMeta
    from core.talk.discussion import discussion_store

    home, has_tools = folder / "home", mode == WITH
    folder.mkdir()
    own = f'command = {json.dumps(sys.executable)}\nargs = ["-c", "input()"]\n'
    servers = [f"[mcp.servers.bench-{number}]\n{own}" for number in range(SERVERS)]
    (folder / "config.toml").write_text("".join(servers) if mode == SERVED else "", encoding="utf-8")
    meta = DiscussionMeta(ID, "Slots", AT, "embedded", "m", has_tools=has_tools)
    discussion_store.create(home, meta, tuple(_records(CALLS if has_tools else 0)))
    panel = "agent" if has_tools else "context"
    paths.state_file(home).write_text(f'hub_tab = "{panel}"\nis_hub_shown = true\n', encoding="utf-8")
    return home


def _records(calls: int) -> Iterator[Record]:
    """A talk, with so many calls in it."""
    from core.kernel.values.messages import Role, TextPart, ToolCallPart, ToolResultPart
    from core.kernel.values.records import MessageRecord, StartRecord

    for turn in range(TURNS):
        yield MessageRecord(f"{turn:03}-user", AT, Role.USER, (TextPart(f"And place {turn}?"),))
        names = [f"{turn:03}-{number}" for number in range(calls // TURNS)]
        if names:
            asked = tuple(ToolCallPart(name, "grep", '{"pattern": "slot"}') for name in names)
            yield MessageRecord(f"{turn:03}-asks", AT, Role.ASSISTANT, asked)
            yield from (StartRecord(f"{name}-start", AT, name) for name in names)
            results = tuple(ToolResultPart(name, "src/slots.py:41: return slot\n" * 5) for name in names)
            yield MessageRecord(f"{turn:03}-results", AT, Role.TOOL, results)
        yield MessageRecord(f"{turn:03}-reply", AT, Role.ASSISTANT, (TextPart("It stands there. " * 20),))


def child(started: float) -> dict[str, float]:
    """Seconds from the start to the first frame, and to the one that draws the discussion that was read."""
    from core.app.options import OutsideOptions
    from gui.app import LastLook, WindowApp
    from gui.startup import Starting

    home = Path(os.environ["MANUAL_SLOP_HOME"])
    starting = Starting(OutsideOptions(home=home))
    app = WindowApp(LastLook(), lambda: starting.controller)
    app.open()
    app.loop.frame()
    first_s = time.time() - started
    starting.begin()
    end = time.monotonic() + 60
    while ID not in app.state().discussions.open:
        assert time.monotonic() < end, "the discussion is not read"
        app.loop.frame()
        time.sleep(1 / 240)
    app.loop.frame()
    shown_s = time.time() - started
    starting.stop()
    return {"first_s": first_s, "shown_s": shown_s}


def _child(home: Path) -> dict[str, float]:
    config = str(home.parent / "config.toml")
    return measured(
        "tests.bench.agent_first_frame",
        str(time.time()),
        MANUAL_SLOP_HOME=str(home),
        MANUAL_SLOP_CONFIG=config,
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(child(float(sys.argv[1]))) + "\n")
    sys.stdout.flush()
    os._exit(0)
