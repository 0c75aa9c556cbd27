"""The program in another language: a person reads it, a model gets the same bytes."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.core.front.cli.conftest import WAIT_S, World

PRESET = """
[project]
name = "Harbour"
context = ["NOTES.md", "gone.md"]
[presets.all]
items = [
    { path = "whole.py" },
    { path = "named.py", mode = "outline", notes = "Only names." },
    { path = "large.txt" },
    { path = "missing.txt" },
    { path = "noted.py", mode = "notes", notes = "Not shown." },
]
"""


def spoken(world: World, tag: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own: texts are made when modules load."""
    return subprocess.run(
        world.command(*arguments),
        cwd=world.project,
        env={**world.environ, "MANUAL_SLOP_LANGUAGE": tag},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def same_every_time(body: object) -> str:
    """A body without what differs from one start to the next: times and ids."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b[0-9a-f]{12,64}\b|\b\d{8}-\d{6}\w*", "…", text)


@pytest.mark.slow
def test_a_model_gets_the_same_request_in_every_language(world: World) -> None:
    (world.project / "manual_slop.toml").write_text(PRESET, encoding="utf-8")
    (world.project / "NOTES.md").write_text("Ships leave at six.\n", encoding="utf-8")
    for name in ("whole.py", "named.py", "noted.py"):
        (world.project / name).write_text("def tide():\n    return 6\n", encoding="utf-8")
    (world.project / "large.txt").write_text("x" * 2_100_000, encoding="utf-8")
    assert world.run("trust", "--yes").code == 0
    knowledge = world.home / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "facts.md").write_text(
        "# Facts\n\n- The harbour closes at six. [from: by hand]\n", encoding="utf-8"
    )
    assert world.run("knowledge", "digest", "--regenerate").code == 0

    bodies = []
    for tag in ("en", "de"):
        before = len(world.server.requests)
        ended = spoken(world, tag, "send", "--preset", "all", "--tools", "When does it close?")
        assert ended.returncode == 0, ended.stderr
        bodies.append([same_every_time(one.json) for one in world.server.requests[before:] if one.json])

    assert bodies[0] == bodies[1]
    assert any("large.txt" in body for body in bodies[0])


@pytest.mark.slow
def test_help_and_refusals_are_said_in_the_language_of_the_settings(world: World) -> None:
    world.config.write_text('[appearance]\nlanguage = "de"\n', encoding="utf-8")
    environ = {**world.environ}
    environ.pop("MANUAL_SLOP_LANGUAGE", None)

    def said(*arguments: str) -> str:
        ended = subprocess.run(
            world.command(*arguments), cwd=world.project, env=environ, capture_output=True, text=True, check=False,
            timeout=WAIT_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return ended.stdout + ended.stderr

    assert "Sprachmodelle" in said("--help")
    assert "braucht --discussion" in said("send", "--retry", "--discussion", "new")
