"""What models, files and protocols get is the same in every language: English.

A whole program is run twice in a child, once in each language, and everything that left it is compared: bodies of requests, the
log, answers of the Hook API, of the knowledge server, and of `--json`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.kernel.language import LANGUAGE_VARIABLE, LANGUAGES
from tests.patience import PATIENCE_S

CHILD = "import sys, pathlib; from tests.core.app.test_english_doors import lived; lived(pathlib.Path(sys.argv[1]))"
COMMANDS = (
    ("doctor",),
    ("models", "local"),
    ("usage",),
    ("discussions",),
    ("knowledge",),
    ("knowledge", "why", "facts.md:99"),
    ("search", "tide"),
    ("harvest",),
    ("servers",),
    ("presets",),
    ("why", "last"),
    ("send", "Hello", "--discussion", "none of mine"),
    ("discussions", "delete", "none of mine"),
)
CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("read_file", {"path": "wide.txt"}),
    ("read_file", {"path": "raw.bin"}),
    ("read_file", {"path": "gone"}),
    ("read_file", {}),
    ("edit_file", {"path": "wide.txt", "old_text": "a", "new_text": "b"}),
    ("bash", {"command": "ls"}),
    ("search_notes", {"query": "tide"}),
    ("read_note", {"path": "../x"}),
    ("nothing", {}),
    ("web_fetch", {"url": "ftp:/x"}),
    ("glob", {"pattern": "["}),
    ("bash_output", {"id": "7"}),
)
"""Calls that fail, each in its way."""


def lived(base: Path) -> None:
    """A day of a program: tools that fail in every way, a call that fails, a server's answers. Writes what left it."""
    from core.agent.agent_messages import SetTools
    from core.app.execution import act
    from core.kernel.values.agent import Mode
    from core.services.settings.settings_messages import TrustProject
    from core.talk.turn.turn_messages import SendPrompt
    from tests.core.agent.test_whole_tools import calls, is_over
    from tests.core.front.hooks.conftest import World
    from tests.vendors.compatible_server import VLLM, CompatibleServer, Said
    from tests.vendors.loopback import Answer, json_reply

    left: dict[str, Any] = {}
    with CompatibleServer(VLLM) as server:
        world = World(base, server)
        os.environ["MANUAL_SLOP_CONFIG"] = str(world.config)
        (world.project / "wide.txt").write_bytes("half".encode("utf-16"))
        (world.project / "raw.bin").write_bytes(b"\0\1")
        with world.config.open("a", encoding="utf-8") as file:
            file.write("[retrieval]\nenabled = true\nroots = ['notes']\n")
        world.start()
        act(world.controller, TrustProject(is_trusted=True))
        chosen = world.discussion()
        act(world.controller, SetTools(chosen, has_tools=True, mode=Mode.PLAN))
        server.replies.extend([*(calls(one) for one in CALLS), Said("That is all.")])
        world.controller.send(SendPrompt(chosen, "Look around."))
        world.until(lambda s: is_over(s, chosen))
        server.faults.append(
            Answer(json_reply(400, {"error": {"message": "no", "type": "invalid_request_error"}}))
        )
        world.controller.send(SendPrompt(chosen, "Again."))
        world.until(lambda s: s.discussions.open[chosen].failure is not None and not s.turns.calls)
        left["requests"] = [json.dumps(body, indent=1, ensure_ascii=False) for body in server.bodies]
        left["answers"] = _answers(world.client, chosen)
        left["log"] = (world.home / "discussions" / chosen / "log.jsonl").read_text("utf-8")
        world.stop()
        left["json"] = [_json(*command) for command in COMMANDS]
        left["mcp"] = _served(base)
    (base / "left.json").write_text(json.dumps(left, ensure_ascii=False))


def _answers(client: Any, chosen: str) -> list[str]:
    """Answers of every operation that reads, and of some that are refused."""
    from core.front.hooks.table import OPERATIONS

    told = []
    for one in OPERATIONS:
        if one.method == "GET" and "events" not in one.path and "screenshot" not in one.path:
            path = re.sub(r"\{\w+\}", chosen, one.path)
            told.append(f"{path} {client.http.get(path).text}")
    for path, body in (("/api/discussions", {"nam": 1}), ("/api/none", {}), ("/api/discussions", [])):
        told.append(f"{path} {client.http.post(path, json=body).text}")
    return told


def _json(*command: str) -> str:
    from core.front.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        main([*command, "--json", "--project", os.environ["PROJECT"]])
    return f"{command} {out.getvalue()} {err.getvalue()}"


def _served(base: Path) -> str:
    """What the server of knowledge answers, as another program hears it."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    asked: tuple[tuple[str, dict[str, str]], ...] = (
        ("search_knowledge", {"query": "tide"}),
        ("search_knowledge", {}),
        ("search_notes", {"query": "tide"}),
        ("none", {}),
    )
    lines += [
        {"id": 3 + at, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(asked)
    ]
    done = subprocess.run(
        [sys.executable, "-m", "core.front.cli", "mcp", "--notes", "--discussions", "--project", str(base / "project")],
        input="".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines),
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    return "\n".join(sorted(done.stdout.splitlines()))


def same_every_time(text: str, base: Path) -> str:
    """Without what differs from run to run: ids, times, ports, figures of time."""
    text = text.replace(str(base), "/base")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+Z]+|\d{8}-\d{6}-\w+|\b[0-9a-f]{8,64}\b|127\.0\.0\.1:\d+", "…", text)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "0", text)


@pytest.mark.slow
@pytest.mark.parametrize("tag", sorted(LANGUAGES.keys() - {"en"}))
def test_what_models_files_and_protocols_get_is_the_same_in_every_language(tmp_path: Path, tag: str) -> None:
    left: dict[str, dict[str, Any]] = {}
    for spoken in ("en", tag):
        base = tmp_path / spoken
        base.mkdir()
        subprocess.run(
            [sys.executable, "-c", CHILD, str(base)],
            env={
                **os.environ,
                LANGUAGE_VARIABLE: spoken,
                "MANUAL_SLOP_HOME": str(base / "home"),
                "PROJECT": str(base / "project"),
            },
            check=True,
            timeout=PATIENCE_S,
        )
        left[spoken] = json.loads((base / "left.json").read_text("utf-8"))
    assert "UTF-16" in "".join(left["en"]["requests"]), "the tools met what they cannot do"
    for door, english in left["en"].items():
        for one, other in zip(_lines(english), _lines(left[tag][door]), strict=True):
            assert same_every_time(other, tmp_path / tag) == same_every_time(one, tmp_path / "en"), door


def _lines(told: str | list[str]) -> list[str]:
    return (told if isinstance(told, str) else "\n".join(told)).splitlines()
