"""A new item that contradicts a known one: shown with the reason, struck through when accepted, back after an undo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel import paths
from core.kernel.values.facts import ItemEventKind
from core.kernel.values.harvest import ArtifactFacts, HarvestPreview
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, Item, NewItem, Provenance, Replacement
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.evidence_rows import is_struck, item_hash, short_name, struck, unstruck
from core.knowledge.harvest import preview as harvest_preview
from core.knowledge.harvest.distillation import build_harvest_prompt, distil, without_known, without_quotes
from core.knowledge.harvest.harvest_reply import Reply, read_reply
from core.knowledge.harvest.preview import choices_of, propose, read_review, review_text, with_choices
from core.knowledge.harvest.transcript import Said
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.memory_log import item_history, read_logs
from core.knowledge.merges import known_items
from core.knowledge.recovery import undo_apply
from tests.core.knowledge.homes import FIRST, NOW, entry_of, made_home

OLD = "Tides turn every seven hours."
NEW = NewItem(Category.FACTS, "Tides turn every six hours.", provenance=Provenance("first", "2026-11-20"))
WHY = "The harbour's table says six."
FILE = "# Facts\n\nProse.\n- Other. [from: a, 2026-01-01]\n- Tides turn every seven hours. [from: b, 2026-01-02]\n"


def items(home: Path) -> tuple[Item, ...]:
    return KnowledgeReader(home).read(KnowledgeSettings()).items


def facts(home: Path, text: str = FILE) -> Path:
    path = paths.knowledge_dir(home) / "facts.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


def replace_old(home: Path, *more: NewItem) -> None:
    (old,) = [one for one in items(home) if one.text.startswith("Tides turn every seven")]
    new = NewItem(**{name: getattr(NEW, name) for name in NEW.__struct_fields__ if name != "replaces"},
                  replaces=Replacement(old, WHY))  # fmt: skip
    with begin_apply(home, NOW, seed="seed") as apply:
        apply.append([new, *more], entry_of(home, FIRST))
        finish_apply(apply)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made_home(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        FILE.replace("\n", "\r\n"),
        "\ufeff- Tides turn every seven hours.\n",
        "# Facts\n\n- Tides turn every seven\n  hours or so. [from: b, 2026-01-02]\n- Last.\n",
    ],
)
def test_the_old_line_is_struck_through_leaves_the_digest_and_comes_back(home: Path, text: str) -> None:
    path = facts(home, text)
    replace_old(home)

    struck_line = next(line for line in path.read_text("utf-8-sig").splitlines() if "~~" in line)
    assert struck_line.startswith("- ~~Tides turn every seven")
    assert "(replaced 2026-11-20: Tides turn every six hours.)" in struck_line
    digest = (paths.knowledge_dir(home) / "digest.md").read_text()
    assert "seven" not in digest.replace("(replaced", "")
    assert "Tides turn every six hours." in digest

    undo_apply(home, NOW)
    assert path.read_bytes() == text.encode()


def test_the_event_names_both_and_the_reason_and_the_struck_item_keeps_its_history(home: Path) -> None:
    facts(home)
    replace_old(home)

    (event,) = [e for e in read_logs(home).events if e.kind is ItemEventKind.SUPERSEDED]
    assert (event.item, event.was) == (item_hash("facts", NEW.text), (item_hash("facts", OLD),))
    assert event.reason == WHY
    (gone,) = [one for one in items(home) if is_struck(one.text)]
    assert item_history(home, gone).item == item_hash("facts", OLD)
    assert ItemEventKind.SUPERSEDED in [e.kind for e in item_history(home, gone).events]


def test_an_item_that_is_gone_by_now_is_not_replaced_and_the_new_one_is_written(home: Path) -> None:
    path = facts(home)
    old = next(one for one in items(home) if one.text == OLD)
    path.write_text("# Facts\n\n- Other.\n")
    new = NewItem(NEW.category, NEW.text, provenance=NEW.provenance, replaces=Replacement(old, WHY))
    with begin_apply(home, NOW, seed="seed") as apply:
        apply.append([new], entry_of(home, FIRST))
    assert [one.text for one in items(home)] == ["Other.", NEW.text]
    assert ItemEventKind.SUPERSEDED not in [e.kind for e in read_logs(home).events]


@given(text=st.text(min_size=1, max_size=60), by=st.text(max_size=200))
def test_a_struck_item_is_known_by_the_words_that_it_had(text: str, by: str) -> None:
    flat = " ".join(text.split())
    if flat and "~" not in flat:
        line = struck(text, by, "2026-11-20")
        assert is_struck(line)
        assert "\n" not in line
        assert unstruck(line) == flat


@pytest.mark.parametrize("text", ["~~one~~ and two", "~~", "a ~~b~~", "~~~~"])
def test_an_item_that_is_struck_in_part_is_known(text: str) -> None:
    assert not is_struck(text)


KNOWN = [
    Item(Category.FACTS, "facts.md", OLD, first_line=3),
    Item(Category.FACTS, "facts.md", "Cats purr.", first_line=4),
]
SAID = (Said("user", "So the tides turn every six hours, not seven."),)
NAME = short_name("facts", OLD)
ROW = {"statement": "Tides turn every six hours.", "reason": WHY, "replaces": NAME}
FACTS = ArtifactFacts("d", "/p/log.jsonl", "tides", TranscriptKind.DISCUSSION, 1, NOW, sha256="f" * 64)


def proposed(row: Mapping[str, object]) -> HarvestPreview:
    return propose(HarvestPreview(), FACTS, read_reply(json.dumps({"facts": [row]})), known_items(KNOWN))


def test_a_model_is_told_of_what_its_text_may_contradict_and_of_nothing_else() -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return json.dumps({"facts": [ROW]})

    found = distil(SAID, "n", "T.", ask, related=known_items(KNOWN).related)
    assert f"\n{NAME}: {OLD}\n" in prompts[0]
    assert "Cats" not in prompts[0]
    assert (found.items[0].replaces, found.items[0].reason) == (NAME, WHY)


def test_a_reply_that_was_paid_for_counts_whatever_was_learned_since() -> None:
    content = '<user id="m1">\nHi.\n</user>\n'
    plain = build_harvest_prompt("T.", "n", content)
    assert without_known(build_harvest_prompt("T.", "n", content, known=KNOWN)) == plain
    assert without_known(plain) == plain
    assert without_quotes(plain) == build_harvest_prompt("T.", "n", "<user>\nHi.\n</user>\n")


def test_the_review_shows_the_known_item_and_the_person_may_leave_it() -> None:
    preview = proposed(ROW)
    (one,) = preview.items
    assert one.replaces == Replacement(KNOWN[0], WHY)
    assert harvest_preview.chosen(preview, FACTS, NOW)[0].replaces == one.replaces

    left = harvest_preview.replacing(preview, one.id, is_replacing=False)
    assert harvest_preview.chosen(left, FACTS, NOW)[0].replaces is None
    kept = read_review(review_text(choices_of(left)))
    assert with_choices(preview, kept).items[0].is_replacing is False


@pytest.mark.parametrize(
    "change",
    [{"replaces": "k00000000"}, {"replaces": ""}, {"reason": ""}, {"reason": 3}, {"replaces": ["x"]}],
)
def test_a_replacement_without_a_reason_or_of_nothing_known_is_none(change: dict[str, object]) -> None:
    (one,) = proposed(ROW | change).items
    assert (one.replaces, one.item.head) == (None, ROW["statement"])


def test_a_known_item_that_was_replaced_is_neither_told_nor_near() -> None:
    gone = Item(Category.FACTS, "facts.md", struck(OLD, "x", "2026-11-20"), first_line=3)
    known = known_items([gone])
    assert known.related(SAID[0].text) == ()
    assert known.near(OLD) == ()
    assert (
        propose(HarvestPreview(), FACTS, Reply(read_reply(json.dumps({"facts": [ROW]})).items), known)
        .items[0]
        .replaces
        is None
    )
