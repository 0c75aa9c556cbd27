"""`send --template` and `send --editor`: variables, what is piped in, and an editor in a real terminal."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest

from tests.core.front.cli.conftest import World

EDITOR = """
import sys
path = sys.argv[-1]
text = open(path, encoding="utf-8").read()
open(path, "w", encoding="utf-8").write(text + "from the editor\\n")
"""


@pytest.fixture
def template(world: World) -> Path:
    folder = world.project / "prompts" / "templates"
    folder.mkdir(parents=True)
    path = folder / "review.md"
    path.write_text("Review {{what}} as {{who}}.\n")
    return path


def test_a_template_is_filled_and_what_is_piped_in_follows(world: World, template: Path) -> None:
    ended = world.run(
        "send", "--template", "review", "--var", "what=the = sign", "--var", "who=a poet", "Now", given=b"+ x"
    )

    assert ended.code == 0, ended.err
    sent = world.server.bodies[0]["messages"][-1]["content"]
    assert "Review the = sign as a poet.\n\nNow\n\n+ x" in sent


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--var", "what=x"), "needs a value for 'who'"),
        (("--var", "what=x", "--var", "who=y", "--var", "whom=z"), "has no variable 'whom'"),
        (("--var", "what"), "--var takes NAME=TEXT, not 'what'"),
    ],
)
def test_a_variable_that_is_missing_or_unknown_sends_nothing(
    world: World, template: Path, words: tuple[str, ...], said: str
) -> None:
    ended = world.run("send", "--template", "review", *words)

    assert ended.code == 2
    assert said in ended.err
    assert not world.server.bodies


def test_a_template_that_is_not_there_is_named_with_those_that_are(world: World, template: Path) -> None:
    ended = world.run("send", "--template", "reveiw")

    assert ended.code == 2
    assert "reveiw" in ended.err
    assert "review" in ended.err


def test_no_editor_is_one_sentence(world: World) -> None:
    ended = world.run("send", "--editor", "x")

    assert ended.code != 0
    assert "No editor is set" in ended.err
    assert not world.server.bodies


def test_an_editor_in_a_terminal_writes_the_message(world: World, tmp_path: Path, template: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text(EDITOR)
    screen, terminal = pty.openpty()
    ended = world.fork(
        "send", "--editor", "--quiet", "--template", "review", "--var", "what=a", "--var", "who=b",
        ends=dict.fromkeys(range(3), terminal), VISUAL=f"{sys.executable} {script}",
    )  # fmt: skip
    os.close(terminal)
    assert ended.wait() == 0
    os.close(screen)

    sent = world.server.bodies[0]["messages"][-1]["content"]
    assert "Review a as b.from the editor" in sent
