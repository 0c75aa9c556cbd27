"""A merge and a draft at the real window, over the whole program: real input, a server that stands for the model, real files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.kernel import paths
from core.knowledge.apply import draft_names
from core.knowledge.part_writer import versions
from gui.elements.controls import Button
from gui.elements.editor import Editor
from gui.markdown.document import load
from tests.core.knowledge.harvest.test_whole import said
from tests.gui.conftest import Screen
from tests.gui.sitting import over
from tests.gui.test_window_harvest_live import Sitting
from tests.vendors.anthropic_server import KEY, AnthropicServer

pytestmark = pytest.mark.gui
FACTS = """# Facts

- The tide of the harbour turns twice a day. [from: 2026-10-01-tides, 2026-10-02]
- Prose above stays, so does this: the harbour is old. [from: 2026-10-03-harbour, 2026-10-04]
- Each day the tide in the harbour turns two times. [from: 2026-10-05-moon, 2026-10-06]
- The gauge is read at noon, in summer. [from: 2026-10-05-moon, 2026-10-06]
- In summer, somebody reads the gauge at noon. [from: 2026-10-07-gauge, 2026-10-08]
"""
PLAYBOOKS = """# Playbooks

- **Read the gauge**: 1. Walk to the pier. 2. Note the height. 3. Tell the harbour. [from: 2026-10-07-gauge, 2026-10-08]
"""
REPLY = json.dumps(
    {
        "merges": [
            {"reason": "Both say how often the tide turns.", "items": ["m1", "m3"],
             "text": "The tide of the harbour turns twice each day."},
            {"reason": "Both say when the gauge is read.", "items": ["m4", "m5"], "text": "In summer the gauge is read at noon."},
        ]
    }
)  # fmt: skip


@pytest.fixture
def sitting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sitting]:
    load()
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
        knowledge = paths.knowledge_dir(tmp_path / "home")
        knowledge.mkdir(parents=True)
        (knowledge / "facts.md").write_text(FACTS, encoding="utf-8")
        (knowledge / "playbooks.md").write_text(PLAYBOOKS, encoding="utf-8")
        sitting = Sitting(tmp_path, server, screen)
        with over(sitting.app, screen, monkeypatch):
            yield sitting
        sitting.stop()
    assert not screen.failures


def test_a_merge_is_asked_for_seen_changed_written_and_taken_back_with_the_mouse(
    sitting: Sitting, screen: Screen
) -> None:
    person, facts = sitting.driver, paths.knowledge_dir(sitting.home) / "facts.md"
    sitting.sees("Tides")
    person.key("Ctrl+3")
    sitting.sees("the harbour is old")
    sitting.server.replies.append(said(REPLY))
    tip = "Merge: a model proposes a shorter list; you see the price first"
    person.click(sitting.tipped(tip, Button)[0])
    sitting.sees("reads 5 items in facts.md")
    screen.check()
    person.click("Ask for a merge")
    sitting.ends(lambda s: s.harvest.merge is not None)
    sitting.sees("4 of these items would become 2")
    sitting.sees("Both say how often the tide turns.")
    sitting.sees("5 items → 3")
    screen.check()
    assert facts.read_text("utf-8") == FACTS

    person.click(sitting.tipped("Edit the merged text", Button)[0])
    editor = person.find("Text of the merged item", kind=Editor)
    assert isinstance(editor, Editor)
    person.until(lambda: editor.is_active)
    person.key("Ctrl+A")
    person.type("The harbour's tide turns twice a day.")
    screen.check()
    person.key("Ctrl+Enter")
    sitting.sees("changed")
    person.click("Write 2 merges")
    sitting.ends(lambda s: s.harvest.question is not None or s.harvest.merged is not None)
    if sitting.state.harvest.question is not None:
        sitting.sees("This would put 2 items in place of 4 of 5 facts")
        screen.check()
        person.click("Continue")
    sitting.ends(lambda s: s.harvest.merged is not None)
    sitting.sees("4 items of facts.md became 2")
    screen.check()
    line = "- The harbour's tide turns twice a day. [from: 2026-10-01-tides, 2026-10-02] [from: 2026-10-05-moon, 2026-10-06]"
    assert line in facts.read_text("utf-8")
    assert versions(sitting.home, "facts.md")[0].read_text("utf-8") == FACTS

    person.click("Items")
    sitting.sees("The harbour's tide turns twice a day.")
    sitting.sees("+1")
    person.click("Merge")
    person.click("Undo")
    sitting.ends(lambda s: s.harvest.undone is not None)
    sitting.sees("Merge of facts.md was undone")
    screen.check()
    assert facts.read_text("utf-8") == FACTS


def test_a_playbook_becomes_a_draft_that_is_seen_before_it_is_written(
    sitting: Sitting, screen: Screen
) -> None:
    person = sitting.driver
    sitting.sees("Tides")
    person.key("Ctrl+3")
    sitting.sees("Read the gauge")
    person.click(sitting.tipped("Make a draft of a prompt or tool…", Button)[0])
    sitting.sees("Make a draft of this playbook")
    screen.check()
    person.click("A tool")
    sitting.sees("rename it to read-the-gauge.sh")
    screen.check()
    assert draft_names(sitting.home) == frozenset()

    person.click("Write draft")
    sitting.ends(lambda s: s.harvest.drafted is not None)

    assert draft_names(sitting.home) == {"drafts/read-the-gauge.sh.draft"}
    sitting.sees("The program wrote a draft of the playbook.")
    screen.check()
    person.click("Undo")
    sitting.ends(lambda s: s.harvest.undone is not None)
    assert draft_names(sitting.home) == frozenset()
