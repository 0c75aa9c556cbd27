"""Examples of the guide: each command in a `console` block runs, in its order, and prints what the page shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.core.front.cli.conftest import ROOT, World
from tests.vendors.compatible_server import Said

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    path.name for path in sorted((ROOT / "docs/guide").glob("*.md")) if BLOCK.search(path.read_text("utf-8"))
]
TIDE = 'def tide(hour: float) -> float:\n    """Height of the water in metres."""\n    return 2.1 * hour\n'
NOTE = "---\ntitle: Harbour\ntags: [sea]\n---\nThe harbour wall was raised by two metres in 1953.\n"


def _message(number: str, role: str, text: str) -> dict[str, object]:
    return {
        "id": number,
        "author": {"role": role},
        "create_time": 1793620800.0,
        "content": {"content_type": "text", "parts": [text]},
    }


FACTS = "# Facts\n\n- The harbour wall is four metres high [from: d1 2026-11-02]\n- Pumps run at low tide [from: d1 2026-11-02]\n"


CHAT = {
    "title": "Tides",
    "create_time": 1793620800.0,
    "current_node": "c",
    "mapping": {
        "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
        "b": {
            "id": "b",
            "parent": "a",
            "children": ["c"],
            "message": _message("b", "user", "What is a tide?"),
        },
        "c": {
            "id": "c",
            "parent": "b",
            "children": [],
            "message": _message("c", "assistant", "The rise of the sea."),
        },
    },
}


def examples(page: str) -> list[tuple[str, list[str]]]:
    """Each command of a page with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall((ROOT / "docs/guide" / page).read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(shown: list[str]) -> str:
    """What a page shows, `…` standing for any text in a line, and for any lines where it stands alone."""
    lines = [
        "(?:.*\n)*" if line.strip() == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown
    ]
    return "".join(lines)


def prepare(world: World) -> None:
    """The project that the guide speaks of: a program, a note, a preset; a home with two items of knowledge; Claude Code's own folder."""
    (world.project / "tide.py").write_text(TIDE, "utf-8")
    (world.project / "notes").mkdir()
    (world.project / "notes" / "harbour.md").write_text(NOTE, "utf-8")
    knowledge = world.home / "knowledge"
    knowledge.mkdir(parents=True, mode=0o700)
    (knowledge / "facts.md").write_text(FACTS, "utf-8")
    (world.project / "chat.json").write_text(json.dumps([CHAT]), "utf-8")
    (Path.home() / ".claude" / "projects").mkdir(parents=True)
    world.server.replies.extend([Said("A tide is the rise and fall of the sea.")] * 9)


def _short(said: str, world: World) -> str:
    said = said.replace(str(world.project), "~/harbour").replace(str(world.home), "~/.manual_slop")
    return said.replace(str(Path.home()), "~")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_example_of_the_guide_prints_what_the_page_shows(world: World, page: str) -> None:
    prepare(world)
    for command, shown in examples(page):
        *before, last = command.split(" | manual-slop ")
        given = shlex.split(before[0].removeprefix("echo "))[0].encode() if before else b""
        ended = world.run(*shlex.split(last.removeprefix("manual-slop ")), given=given)
        said = re.sub(r" +$", "", ended.out + ended.err, flags=re.MULTILINE)
        assert re.fullmatch(pattern(shown), _short(said, world)), f"{command}\n{said}"
