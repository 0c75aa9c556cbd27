"""Counts the files and functions of the program that one warm plain send passes, from the words to the end of the turn and behind it."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import CodeType, FrameType

from tests.bench.__main__ import Row, row
from tests.bench.child import measured

ROOT = Path(__file__).parents[2]
HOUSE = tuple(f"{ROOT / name}/" for name in ("core", "gui", "panels"))
IN_ONE = frozenset({"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>", "<module>"})
"""Names of code that stands within a function."""
BEHIND_S = 1.0
"""Time in which accounts, the catalog and the next request's report are written behind the turn; a clock tick, too."""


def rows() -> list[Row]:
    """The third send of a discussion, over a real SDK against loopback, without a window."""
    found = measured("tests.bench.app_send", "send")
    return [
        row("warm plain send, files until the turn is over", found["files"], "", None),
        row("warm plain send, functions until the turn is over", found["functions"], "", None),
        row("warm plain send, files with what follows", found["files_behind"], "", None),
        row("warm plain send, functions with what follows", found["functions_behind"], "", None),
    ]


def send() -> dict[str, float]:
    """Functions that have a name, each once, by all threads."""
    from tests.core.app.test_whole import World, ask
    from tests.vendors.compatible_server import VLLM, CompatibleServer, Said

    passed: set[CodeType] = set()
    is_on = False

    def note(frame: FrameType, event: str, _: object) -> None:
        if is_on and event == "call" and frame.f_code.co_filename.startswith(HOUSE):
            passed.add(frame.f_code)

    def counted() -> tuple[int, int]:
        named = [code for code in passed if code.co_name not in IN_ONE]
        return len({code.co_filename for code in named}), len(named)

    threading.setprofile(note)
    with tempfile.TemporaryDirectory() as folder, CompatibleServer(VLLM) as server:
        server.replies += [Said(f"It turns every six hours: {number}.") for number in range(3)]
        world = World(Path(folder), server)
        controller = world.start()
        chosen = world.discussion(controller)
        for words in ("Why do tides turn?", "And then?"):
            ask(controller, chosen, words)
            time.sleep(BEHIND_S)
        is_on = True
        ask(controller, chosen, "And at night?")
        files, functions = counted()
        time.sleep(BEHIND_S)
        files_behind, functions_behind = counted()
        is_on = False
        world.stop()
    threading.setprofile(None)
    return {
        "files": files,
        "functions": functions,
        "files_behind": files_behind,
        "functions_behind": functions_behind,
    }


if __name__ == "__main__":
    print(json.dumps(send()))
    sys.stdout.flush()
