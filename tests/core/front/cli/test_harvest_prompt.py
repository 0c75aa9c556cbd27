"""`knowledge prompt`: printed with its place, copied once, opened in the editor that the person named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.knowledge.harvest.harvest_messages import HARVEST_PROMPT
from core.services.settings.prompts import own_prompt_path, read_prompts
from tests.core.front.cli.conftest import World

EDITOR = """
import os, sys
from pathlib import Path
Path(sys.argv[-1]).write_bytes({data!r})
Path({seen!r}).write_text(f"{{os.getcwd()}} {{'ANTHROPIC_API_KEY' in os.environ}} {{sys.argv[1:-1]}}")
sys.exit({code})
"""


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    return tmp_path / "an editor.py"


def edit(
    world: World, editor: Path, data: bytes, code: int = 0, name: str = "VISUAL"
) -> tuple[int, str, str]:
    """Run `--edit` with an editor that writes `data`. What the command ended with, said, and what the editor saw."""
    seen = editor.with_suffix(".seen")
    editor.write_text(EDITOR.format(data=data, seen=str(seen), code=code))
    environ = {"VISUAL": "", "EDITOR": "nobody-has-this", name: f"{sys.executable} '{editor}' --wait"}
    environ["ANTHROPIC_API_KEY"] = "sk-ant-not-a-key"
    ended = world.run("knowledge", "prompt", "--edit", given=b"", types=False, **environ)
    return ended.code, ended.out + ended.err, seen.read_text()


def test_the_prompt_is_printed_with_its_place_and_whose_it_is(world: World) -> None:
    shipped = read_prompts(world.home, {})[HARVEST_PROMPT]
    ended = world.run("knowledge", "prompt")

    assert ended.code == 0
    assert ended.out.strip() == shipped.strip()
    assert (
        "harvest-conversation.md: shipped. `manual-slop knowledge prompt --edit` makes your own copy"
        in ended.err
    )

    own = own_prompt_path(world.home, HARVEST_PROMPT)
    own.parent.mkdir(parents=True)
    own.write_text("Keep only decisions.")
    assert world.run("knowledge", "prompt", "--json").json == {
        "path": str(own),
        "text": "Keep only decisions.",
        "whose": "yours",
    }


@pytest.mark.parametrize("name", ["VISUAL", "EDITOR"])
def test_a_copy_opens_in_the_persons_editor_away_from_their_folder_and_keys(
    world: World, editor: Path, name: str
) -> None:
    code, said, seen = edit(world, editor, b"Mine.", name=name)

    own = own_prompt_path(world.home, HARVEST_PROMPT)
    assert (code, own.read_text()) == (0, "Mine.")
    assert f"Your own copy is {own}" in said
    assert seen == f"{own.parent} False ['--wait']"


def test_without_an_editor_the_path_of_the_copy_is_printed(world: World) -> None:
    own = own_prompt_path(world.home, HARVEST_PROMPT)
    for visual, said in (
        ("", ""),
        ("nobody-has-this --wait", "is not installed"),
        ("'unclosed", "is not installed"),
    ):
        ended = world.run("knowledge", "prompt", "--edit", VISUAL=visual, EDITOR="")

        assert (ended.code, ended.out) == (0, f"{own}\n")
        assert said in ended.err
    assert own.read_text() == read_prompts(world.home, {})[HARVEST_PROMPT]


def test_what_the_person_wrote_before_is_kept_and_what_an_editor_spoils_is_said(
    world: World, editor: Path
) -> None:
    assert edit(world, editor, b"Mine.")[0] == 0
    code, said, _ = edit(world, editor, b"\xff\xfe", code=3)

    assert code == 1
    assert "ended with code 3" in said
    assert f"the program cannot read {own_prompt_path(world.home, HARVEST_PROMPT)} as a prompt" in said

    refused = world.run("knowledge", "prompt", "--edit", VISUAL="", EDITOR="")
    assert refused.code == 1
    assert "The program cannot read your prompt file as a prompt" in refused.err
    assert own_prompt_path(world.home, HARVEST_PROMPT).read_bytes() == b"\xff\xfe"
