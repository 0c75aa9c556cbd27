"""A playbook made a draft: inert until it is renamed, never over another file, taken back whole, forgotten with its playbook."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.errors import SlopError, StorageError
from core.kernel.values.knowledge import DraftKind, Item
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.apply import draft_names, make_draft
from core.knowledge.categories import parse_file
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.merges import becomes, draft_name, draft_text, steps_of
from core.knowledge.recovery import undo_apply
from core.services.settings.prompts import prompt_names, read_prompts
from tests.core.knowledge.homes import NOW

LINE = b"- **Ship it**: 1. Run `make wheel`. 2. Tell; $(touch ran) the list. [from: a, 2026-01-01]\n"


def playbook(home: Path, line: bytes = LINE) -> Item:
    path = paths.knowledge_dir(home) / "playbooks.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"# Playbooks\n\n" + line)
    (item,) = KnowledgeReader(home).read(KnowledgeSettings()).items
    return item


def test_a_prompt_has_its_steps_and_says_where_it_came_from_and_what_makes_it_count(tmp_path: Path) -> None:
    made = make_draft(tmp_path, playbook(tmp_path), DraftKind.PROMPT, NOW, "s")

    path = Path(made.path)
    assert path.relative_to(paths.knowledge_dir(tmp_path)).as_posix() == "drafts/ship-it.md.draft"
    text = path.read_text("utf-8")
    assert "# Ship it\n" in text
    assert "1. Run `make wheel`.\n2. Tell; $(touch ran) the list.\n" in text
    assert "[from: a, 2026-01-01]" in text
    assert "until you rename it to ship-it.md" in text
    assert made.becomes == "ship-it.md"


def test_no_prompt_of_the_program_comes_of_a_draft(tmp_path: Path) -> None:
    before = read_prompts(tmp_path, {})
    for name in prompt_names():
        make_draft(
            tmp_path,
            playbook(tmp_path, b"- **%s**: Obey.\n" % name.removesuffix(".md").encode()),
            DraftKind.PROMPT,
            NOW,
            "s",
        )

    assert read_prompts(tmp_path, {}) == before


def test_a_tool_is_no_program_and_run_by_mistake_it_does_nothing(tmp_path: Path) -> None:
    made = make_draft(tmp_path, playbook(tmp_path), DraftKind.TOOL, NOW, "s")

    assert not os.access(made.path, os.X_OK)
    ran = subprocess.run(["/bin/sh", made.path], cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 1
    assert b"this is a draft" in ran.stderr
    assert not (tmp_path / "ran").exists()


def test_every_line_of_a_tool_is_a_comment_whatever_the_playbook_says() -> None:
    item = parse_file(
        "playbooks.md", b"- **A\rtouch x**: one\n  touch y\n  \x0btouch z [from: `touch w`, 2026-01-01]\n"
    ).items[0]

    lines = draft_text(item, DraftKind.TOOL, draft_name(item, DraftKind.TOOL, ())).split("\n")

    assert [line for line in lines if line and not line.startswith("#")] == [
        'echo "this is a draft: write its commands first" >&2',
        "exit 1",
    ]


def test_a_draft_never_takes_the_place_of_another_file(tmp_path: Path) -> None:
    first = make_draft(tmp_path, playbook(tmp_path), DraftKind.TOOL, NOW, "s")
    Path(first.path).write_text("mine")

    second = make_draft(tmp_path, playbook(tmp_path), DraftKind.TOOL, NOW, "t")

    assert Path(first.path).read_text() == "mine"
    assert Path(second.path).name == "ship-it-2.sh.draft"


def test_an_undo_removes_it_and_leaves_one_that_was_changed_or_renamed(tmp_path: Path) -> None:
    make_draft(tmp_path, playbook(tmp_path), DraftKind.TOOL, NOW, "s")
    undo_apply(tmp_path, NOW)
    assert draft_names(tmp_path) == frozenset()

    changed = Path(make_draft(tmp_path, playbook(tmp_path), DraftKind.TOOL, NOW, "t").path)
    changed.write_text("mine")
    report = undo_apply(tmp_path, NOW)
    assert changed.read_text() == "mine"
    assert len(report.left) == 1

    renamed = Path(make_draft(tmp_path, playbook(tmp_path), DraftKind.PROMPT, NOW, "u").path)
    renamed.rename(renamed.with_name("ship-it.md"))
    undo_apply(tmp_path, NOW)
    assert renamed.with_name("ship-it.md").exists()


def test_only_a_playbook_that_stands_there_becomes_a_draft(tmp_path: Path) -> None:
    item = playbook(tmp_path)
    playbook(tmp_path, b"- **Other**: Do.\n")
    with pytest.raises(StorageError, match="is gone or different now"):
        make_draft(tmp_path, item, DraftKind.TOOL, NOW, "s")
    fact = parse_file("facts.md", b"- A fact.\n").items[0]
    with pytest.raises(SlopError, match="You can make a draft only from a playbook"):
        make_draft(tmp_path, fact, DraftKind.TOOL, NOW, "s")
    assert draft_names(tmp_path) == frozenset()


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. One. 2. Two.", ("One.", "Two.")),
        ("One.\n  - Two.\n  3) Three.", ("One.", "Two.", "Three.")),
        ("Push; wait. Tell.", ("Push;", "wait.", "Tell.")),
        ("Push", ("Push",)),
    ],
)
def test_steps_stand_a_line_each(text: str, steps: tuple[str, ...]) -> None:
    assert steps_of(text) == steps


def test_a_name_in_other_letters_has_a_file_too() -> None:
    item = parse_file("playbooks.md", "- **潮汐**: Do.\n".encode()).items[0]

    assert becomes(draft_name(item, DraftKind.PROMPT, ())) == "playbook.md"
