"""Measures a day of use: 40 discussions with 5,000 messages opened and left, twice, and what memory stays over a bare window."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.bench.__main__ import Row, row
from tests.bench.app_window import bare
from tests.bench.child import measured

DISCUSSIONS, MESSAGES = 40, 125
AT = datetime(2026, 11, 20, 7, tzinfo=UTC)
MEMORY_BAR_MB = 110.0


def rows() -> list[Row]:
    """Measure in a process and a home of its own, on this machine's screen or a virtual one.

    With a driver that draws: the one that draws nothing keeps memory of each frame.
    """
    from gui.screen import any_screen

    with any_screen():
        nothing, day = _child("bare"), _child("day")
    name = f"window, memory over bare, {DISCUSSIONS} discussions of {MESSAGES} messages opened and left"
    return [
        row(f"{name}, once", day["once_mb"] - nothing["memory_mb"], "MB", MEMORY_BAR_MB),
        row(f"{name}, twice", day["twice_mb"] - nothing["memory_mb"], "MB", MEMORY_BAR_MB),
        row("threads of the window then", day["threads"], "", None),
    ]


def _child(mode: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / "home")
        if mode == "day":
            measured("tests.bench.app_day", "home", MANUAL_SLOP_HOME=home)
        return measured("tests.bench.app_day", mode, MANUAL_SLOP_HOME=home)


def make_home(home: Path) -> dict[str, float]:
    """Discussions with messages of many lengths. Returns how many."""
    from core.kernel.values.discussion import DiscussionMeta
    from core.kernel.values.messages import Role, TextPart
    from core.kernel.values.records import MessageRecord
    from core.talk.discussion import discussion_store
    from tests.bench.app_window import long_entries

    texts = [entry.text for entry in long_entries(DISCUSSIONS * MESSAGES)]
    for number in range(DISCUSSIONS):
        at = AT + timedelta(minutes=number)
        own = texts[number * MESSAGES : (number + 1) * MESSAGES]
        records = [
            MessageRecord(f"m{n:05}", at, Role.ASSISTANT if n % 2 else Role.USER, (TextPart(text),))
            for n, text in enumerate(own)
        ]
        made = f"{at:%Y%m%d-%H%M%S}-aaaaaa"
        discussion_store.create(
            home, DiscussionMeta(made, f"Talk {number}", at, "openai", "gpt-4.1"), records
        )
    return {"made": DISCUSSIONS}


def day() -> dict[str, float]:
    """Open each discussion as a click does, see it drawn, and go on to the next. The home was made by another process."""
    from core.app.lifecycle import RESTS
    from core.app.options import OutsideOptions
    from core.talk.discussion.discussion_messages import SelectDiscussion
    from gui.app import LastLook, WindowApp
    from gui.startup import Starting

    home = Path(os.environ["MANUAL_SLOP_HOME"])
    ids = sorted(one.name for one in (home / "discussions").iterdir())
    starting = Starting(OutsideOptions(home=home))
    app = WindowApp(LastLook(), lambda: starting.controller)
    app.open()
    starting.begin()

    def frames(holds: Callable[[], object], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not holds() and time.monotonic() < end:
            app.loop.frame()
            time.sleep(1 / 60)

    frames(lambda: len(app.state().discussions.summaries) == len(ids) and not app.state().program.is_loading)
    taken = []
    for _ in range(2):
        for chosen in ids:
            app.send(SelectDiscussion(chosen))
            frames(lambda chosen=chosen: chosen in app.state().context.reports)  # type: ignore[misc]
        frames(lambda: False, RESTS.total_seconds() + 5)
        taken.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6)
    threads = len(os.listdir("/proc/self/task"))
    if starting.controller is not None:
        starting.controller.stop()
    return {"once_mb": taken[0], "twice_mb": taken[1], "threads": threads}


if __name__ == "__main__":
    runs = {
        "bare": lambda: bare(time.time()),
        "home": lambda: make_home(Path(os.environ["MANUAL_SLOP_HOME"])),
        "day": day,
    }
    print(json.dumps(runs[sys.argv[1]]()))
    sys.stdout.flush()
    os._exit(0)
