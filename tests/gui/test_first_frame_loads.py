"""What the first frame loads: each module and each class made by `exec` that it does not need is waited for at every start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

PUT_OFF = ("core.kernel.secret_kinds", "core.app.warm_loss", "panels.context.structure_panel")
ROOT = Path(__file__).parents[2]
HOUSE = ("core", "gui", "panels")
MOST_HOUSE_MODULES = 75
"""The toolkit's own side and what it stands on: no room, no value of the program, no message."""

LOADED_LATER = {
    *PUT_OFF,
    *(
        "asyncio",
        "concurrent.futures",
        "cryptography",
        "email",
        "httpx2",
        "keyring",
        "logging",
        "numpy",
        "ssl",
    ),
    *(
        "argparse",
        "hashlib",
        "anthropic",
        "google.genai",
        "importlib.metadata",
        "openai",
        "pydantic",
        "sqlite3",
        "watchfiles",
    ),
    *("markdown_it", "pygments", "tomli_w", "traceback", "tree_sitter", "xllamacpp"),
    *("core.app.app_messages", "core.kernel.values.state", "panels.base.view", "panels.shell.rooms"),
    *("core.app.controller", "core.app.dispatch", "core.app.outside", "core.kernel.secret_names"),
    *(
        "core.app.tool_table",
        "core.agent.sandbox",
        "core.knowledge.knowledge_step",
        "core.mcp.mcp_step",
    ),
    *("core.services.settings.settings_loader", "core.services.spending.pricing", "panels.shell.palette"),
}

PROGRAM = """
import json, os, sys
from pathlib import Path
from core.app.options import OutsideOptions
from gui.app import LastLook, WindowApp
from gui.screen import any_screen
from gui.startup import Starting

with any_screen():
    starting = Starting(OutsideOptions(home=Path(sys.argv[1])))
    app = WindowApp(LastLook(), lambda: starting.controller)
    app.open()
    app.loop.frame()
    made = {
        f"{one.__module__}.{one.__name__}"
        for module in list(sys.modules.values())
        for one in list(getattr(module, "__dict__", {}).values())
        if isinstance(one, type) and "__dataclass_fields__" in vars(one)
    }
    at_first = sorted(sys.modules)
    starting.begin()
    starting.wait()
    print(json.dumps({"modules": at_first, "dataclasses": sorted(made), "later": sorted(sys.modules)}))
    starting.stop()
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Modules and dataclasses after the first frame of a first start, and modules once the controller is there."""
    folder = tmp_path_factory.mktemp("first")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "home")],
        cwd=ROOT,
        env={**os.environ, "MANUAL_SLOP_CONFIG": str(folder / "config.toml")},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_first_frame_loads_nothing_that_can_come_later(started: dict[str, list[str]]) -> None:
    assert LOADED_LATER & set(started["modules"]) == set()


def test_the_first_frame_loads_no_more_of_the_house_than_it_did(started: dict[str, list[str]]) -> None:
    own = [name for name in started["modules"] if name.partition(".")[0] in HOUSE]

    assert len(own) <= MOST_HOUSE_MODULES, len(own)


def test_no_class_of_the_first_frame_is_made_from_source_text(started: dict[str, list[str]]) -> None:
    """A dataclass compiles its methods at every start, as long as twenty structs take."""
    own = [name for name in started["dataclasses"] if name.partition(".")[0] in HOUSE]

    assert own == []


def test_what_was_put_off_is_there_before_the_controller_is(started: dict[str, list[str]]) -> None:
    assert set(PUT_OFF) <= set(started["later"])
