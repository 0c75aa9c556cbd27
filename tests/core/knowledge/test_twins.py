"""An item and its structured fact are one to a person: what is deleted, edited, merged or put back is so in both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.frame import frame
from core.kernel.values.facts import ItemEvent, ItemEventKind, ItemWords
from core.kernel.values.knowledge import (
    Category,
    Item,
    KnowledgeState,
    MergeGroup,
    NewItem,
    Provenance,
    Replacement,
)
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge import knowledge_step
from core.knowledge.apply import MergeRequest, apply_merge
from core.knowledge.edits import delete_fact, delete_item, edit_fact, edit_item, restore_fact, restore_item
from core.knowledge.evidence_rows import item_hash
from core.knowledge.fact_store import FactReader, said_anew, sync_facts
from core.knowledge.facts.fact_merge import ranked
from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.history_text import WITH_CONVERSATION, evidence_for, history_lines
from core.knowledge.knowledge_messages import (
    ChangeKnowledge,
    DeleteKnowledgeItem,
    KnowledgeDeleted,
    NoteInjection,
    RestoreItem,
)
from core.knowledge.knowledge_reader import read_categories, regenerate_digest
from core.knowledge.knowledge_worker import KnowledgeHandler
from core.knowledge.ledger import timestamp
from core.knowledge.memory_log import (
    Injections,
    add_events,
    fact_history,
    item_history,
    read_logs,
    seen_items,
)
from core.knowledge.recovery import undo_apply
from tests.core.app.playbook import Playbook
from tests.core.knowledge.homes import NOW, applied

TAG = Provenance("talk", "2026-11-20")
MOON, MUD = "The moon makes tides at noon", "Mud is deep by the old pier"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    applied(tmp_path, *(NewItem(Category.FACTS, text, provenance=TAG) for text in (MOON, MUD)))
    return tmp_path


def item(home: Path, text: str) -> Item:
    return next(one for file in read_categories(home) for one in file.items if one.text == text)


def sent(home: Path) -> list[str]:
    """Words of the structured facts that may enter a prompt."""
    return sorted(fact.text for fact in ranked(FactReader(home).facts()))


def in_editor(home: Path, change: Callable[[str], str]) -> None:
    path = home / "knowledge" / "facts.md"
    path.write_text(change(path.read_text()))
    sync_facts(home)


def in_facts(home: Path, was: str, now: str) -> None:
    path = home / "knowledge" / "repos" / "tides.yaml"
    path.write_text(path.read_text().replace(was, now))
    sync_facts(home)


def test_what_is_deleted_is_not_sent_and_comes_back_with_its_undo_byte_for_byte(home: Path) -> None:
    path = home / "knowledge" / "facts.md"
    before = path.read_bytes()
    undo = delete_item(home, item(home, MOON))

    assert sent(home) == [MUD]
    assert next(fact for fact in FactReader(home).facts() if fact.text == MOON).withdrawn
    restore_item(home, undo)

    assert (sent(home), path.read_bytes()) == ([MUD, MOON], before)


def test_the_notice_of_a_deleted_item_offers_its_way_back(home: Path) -> None:
    told: list[object] = []
    handler = KnowledgeHandler(home, told.append)
    handler.handle(ChangeKnowledge(DeleteKnowledgeItem(item(home, MOON)), KnowledgeSettings()))
    (deleted,) = [one for one in told if isinstance(one, KnowledgeDeleted)]
    state, _ = knowledge_step.HANDLERS(Playbook().state, deleted)

    (notice,) = state.program.notices
    assert (notice.action, notice.action_label) == (deleted.undo, "Undo")
    state, (back,) = knowledge_step.HANDLERS(state, deleted.undo)
    assert isinstance(back, ChangeKnowledge)
    assert not state.program.notices
    handler.handle(back)
    assert sent(home) == [MUD, MOON]


def test_an_item_that_was_deleted_comes_back_at_the_end_where_its_file_changed_and_never_twice(
    home: Path,
) -> None:
    undo = delete_item(home, item(home, MOON))
    in_editor(home, lambda text: text + "- Mine\n")
    restore_item(home, undo)

    assert (
        (home / "knowledge" / "facts.md").read_text().endswith(f"- Mine\n- {MOON} [from: talk, 2026-11-20]\n")
    )
    with pytest.raises(Exception, match="exists already"):
        restore_item(home, undo)
    with pytest.raises(Exception, match="These lines are not an item"):
        restore_item(home, RestoreItem(undo.item, b"- a\n- b\n", 0, ""))


def test_a_line_taken_out_in_an_editor_is_not_sent_and_is_again_when_it_is_back(home: Path) -> None:
    line = f"- {MOON} [from: talk, 2026-11-20]\n"
    in_editor(home, lambda text: text.replace(line, ""))
    assert sent(home) == [MUD]
    in_editor(home, lambda text: text + line)
    assert sent(home) == [MUD, MOON]

    told = [(e.kind, e.fact) for e in read_logs(home).events if e.fact and not e.item]
    assert told == [
        (ItemEventKind.DELETED, "tides:fact:001"),
        (ItemEventKind.RESTORED, "tides:fact:001"),
    ]


def test_a_line_struck_through_by_hand_is_not_sent(home: Path) -> None:
    in_editor(home, lambda text: text.replace(MOON, f"~~{MOON}~~"))
    assert sent(home) == [MUD]


@pytest.mark.parametrize("is_outside", [True, False])
def test_the_fact_takes_on_the_words_of_an_item_that_was_edited(home: Path, *, is_outside: bool) -> None:
    now = "The moon makes tides at one"
    if is_outside:
        in_editor(home, lambda text: text.replace(MOON, now))
    else:
        edit_item(home, item(home, MOON), now)

    assert sent(home) == [MUD, now]
    index = (home / "knowledge" / "index.json").read_bytes()
    sync_facts(home)
    assert (home / "knowledge" / "index.json").read_bytes() == index
    delete_item(home, item(home, now))
    assert sent(home) == [MUD]


def test_an_item_says_what_a_person_wrote_into_its_facts_file_each_time_and_no_sync_writes_it_again(
    home: Path,
) -> None:
    regenerate_digest(home)
    for was, now in ((MOON, "Sun and moon"), ("Sun and moon", "Sun, moon and wind")):
        if was != MOON:
            paths.facts_file(home).unlink()  # what the last sync saw is derived, and may be deleted
        in_facts(home, was, now)
        assert (sent(home), item(home, now).provenance) == ([MUD, now], TAG)
        assert f"- {now} [from: talk" in (home / "knowledge" / "digest.md").read_text()
    files = {path: path.read_bytes() for path in (home / "knowledge").rglob("*.*") if path.is_file()}
    sync_facts(home)
    assert files == {path: path.read_bytes() for path in files}
    assert evidence_for(item_hash(Category.FACTS, "Sun, moon and wind"), read_logs(home))

    told = "\n".join(history_lines(item_history(home, item(home, "Sun, moon and wind"))))
    assert told.count("changed by you (in its file of facts)") == 2
    delete_item(home, item(home, "Sun, moon and wind"))
    assert sent(home) == [MUD]


def test_a_fact_taken_out_by_hand_is_not_sent_and_the_item_that_stays_is_named(home: Path) -> None:
    path = home / "knowledge" / "repos" / "tides.yaml"
    path.write_text(path.read_text().replace(item_text(FactReader(home).facts()[0]), ""))
    before = (home / "knowledge" / "facts.md").read_bytes()

    assert sync_facts(home).left == (f"facts.md:3: {MOON}",)
    assert (sent(home), (home / "knowledge" / "facts.md").read_bytes()) == ([MUD], before)
    assert sync_facts(home).left == ()
    again = NewItem(Category.FACTS, MOON, provenance=TAG)
    applied(home, again, sha256="b" * 64, path="/talks/b.md")
    assert sent(home) == [MUD]


def test_item_and_fact_that_were_edited_to_different_words_stay_and_are_told(home: Path) -> None:
    path = home / "knowledge" / "facts.md"
    path.write_text(path.read_text().replace("at noon", "at one"))
    facts = home / "knowledge" / "repos" / "tides.yaml"
    facts.write_text(facts.read_text().replace("at noon", "at two"))

    assert sync_facts(home).left == ("facts.md:3: The moon makes tides at one",)
    assert (sent(home), sync_facts(home).left) == ([MUD, "The moon makes tides at two"], ())


@pytest.mark.parametrize(
    ("category", "text", "was", "now", "said"),
    [
        (Category.PLAYBOOKS, "**Ship**: tag it", "Ship: tag it", "Ship: sign it", "**Ship**: sign it"),
        (Category.FACTS, "Mud — it is deep", "Mud", "Sand", "Sand — it is deep"),
        (Category.FACTS, "Mud\n  is deep", "Mud is deep", "Sand is", "Sand is"),
        (Category.FACTS, "Mud is deep and wide", "Mud is deep…", "Sand", ""),
    ],
)
def test_what_a_fact_does_not_hold_of_its_item_stays(
    category: Category, text: str, was: str, now: str, said: str
) -> None:
    assert said_anew(Item(category, "facts.md", text), was, now) == said


def test_words_that_a_person_edited_or_merged_away_are_known_to_the_next_harvest(home: Path) -> None:
    now = "The moon makes tides at one"
    in_editor(home, lambda text: text.replace(MOON, now))
    again = NewItem(Category.FACTS, f"{MOON}.", provenance=TAG)
    applied(home, again, sha256="b" * 64, path="/talks/b.md")
    assert sent(home) == [MUD, now]
    assert MOON not in (home / "knowledge" / "facts.md").read_text()
    assert next(fact for fact in FactReader(home).facts() if fact.text == now).source_count == 2

    group = MergeGroup("g", (item(home, now), item(home, MUD)), "Moon, tides and mud")
    apply_merge(MergeRequest(home, Category.FACTS, "facts.md", (group,), NOW, "m", is_agreed=True))
    applied(home, again, sha256="c" * 64, path="/talks/c.md")
    assert sent(home) == ["Moon, tides and mud"]
    delete_item(home, item(home, "Moon, tides and mud"))
    applied(home, again, sha256="d" * 64, path="/talks/d.md")
    assert [one.text for file in read_categories(home) for one in file.items] == [f"{MOON}."]


def test_words_that_a_person_gives_a_fact_back_after_its_item_was_edited_stay(home: Path) -> None:
    edit_item(home, item(home, MOON), "The moon makes tides at one")
    in_facts(home, "The moon makes tides at one", MOON)
    assert sent(home) == [MUD, MOON]
    edit_item(home, item(home, MUD), "Mud is deep by the new pier")

    assert sent(home) == ["Mud is deep by the new pier", MOON]


def test_an_item_takes_on_the_words_of_its_fact_that_was_edited(home: Path) -> None:
    edit_fact(home, "tides:fact:001", MOON, "Sun and moon", 0.9, ())
    sync_facts(home)

    assert sent(home) == [MUD, "Sun and moon"]
    assert item(home, "Sun and moon").provenance == TAG
    told = "\n".join(history_lines(fact_history(home, "tides:fact:001", FactReader(home).facts())))
    assert told.count("changed by you") == 1
    delete_item(home, item(home, "Sun and moon"))
    assert sent(home) == [MUD]


def test_a_fact_changed_by_hand_after_its_item_had_gone_is_the_persons_own(home: Path) -> None:
    delete_item(home, item(home, MOON))
    edit_fact(home, "tides:fact:001", MOON, "Sun and moon", 0.9, ())
    sync_facts(home)

    assert sent(home) == [MUD, "Sun and moon"]


def test_a_fact_written_by_hand_stands_on_itself(home: Path) -> None:
    path = home / "knowledge" / "repos" / "tides.yaml"
    path.write_text(
        path.read_text().replace("tides:fact:002", "tides:fact:007").replace(MUD, "Sand is white")
    )
    sync_facts(home)
    applied(
        home, NewItem(Category.FACTS, "Sand is white", provenance=TAG), sha256="b" * 64, path="/talks/b.md"
    )
    delete_item(home, item(home, "Sand is white"))

    assert sent(home) == ["Sand is white", MOON]


def test_a_merge_and_its_undo_hold_for_the_facts_also_after_a_delete(home: Path) -> None:
    merged = "The moon makes tides at noon, and mud is deep by the old pier"
    group = MergeGroup("g", (item(home, MOON), item(home, MUD)), merged)
    done = apply_merge(MergeRequest(home, Category.FACTS, "facts.md", (group,), NOW, "m", is_agreed=True))
    assert sent(home) == [merged]
    undo = delete_item(home, item(home, merged))
    assert sent(home) == []
    restore_item(home, undo)
    undo_apply(home, NOW, done.apply_id, is_agreed=True)
    assert sent(home) == [MUD, MOON]
    delete_item(home, item(home, MOON))
    assert sent(home) == [MUD]

    told = "\n".join(history_lines(item_history(home, item(home, MUD))))
    assert f"merged into: {merged} (undone since)" in told
    assert told.index("undone since") < told.index("  undone")
    fact = "\n".join(history_lines(fact_history(home, "tides:fact:002", FactReader(home).facts())))
    assert "  undone" in fact


def test_a_deleted_fact_takes_its_item_with_it_and_both_come_back(home: Path) -> None:
    files = [home / "knowledge" / name for name in ("facts.md", "repos/tides.yaml")]
    before = [path.read_bytes() for path in files]
    undo = delete_fact(home, "tides:fact:001", MOON)

    assert (sent(home), MOON in files[0].read_text()) == ([MUD], False)
    restore_fact(home, undo)
    assert (sent(home), [path.read_bytes() for path in files]) == ([MUD, MOON], before)


def test_the_old_and_the_new_item_of_a_replacement_tell_it_each_from_its_side(home: Path) -> None:
    new = NewItem(
        Category.FACTS,
        "Sun and moon make tides",
        provenance=Provenance("other", "2026-11-20"),
        replaces=Replacement(item(home, MOON), "The sun was forgotten."),
    )
    applied(home, new, sha256="b" * 64, path="/talks/b.md")
    struck = next(one for file in read_categories(home) for one in file.items if one.text.startswith("~~"))

    ours, theirs = (
        "\n".join(history_lines(item_history(home, one)))
        for one in (item(home, "Sun and moon make tides"), struck)
    )
    assert f"replaces: {MOON} (The sun was forgotten, from b.md)" in ours
    assert "replaced by: Sun and moon make tides (The sun was forgotten, from other)" in theirs
    assert "replaced by" not in ours
    undo_apply(home, NOW, is_agreed=True)
    assert "  undone" in "\n".join(history_lines(item_history(home, item(home, MOON))))


def test_words_said_again_after_their_item_was_replaced_are_a_fact_of_their_own(home: Path) -> None:
    new = NewItem(
        Category.FACTS, "Sun and moon", provenance=TAG, replaces=Replacement(item(home, MOON), "So")
    )
    applied(home, new, sha256="b" * 64, path="/talks/b.md")
    applied(home, NewItem(Category.FACTS, MOON, provenance=TAG), sha256="c" * 64, path="/talks/c.md")

    assert sent(home) == [MUD, "Sun and moon", MOON]


def test_an_unreadable_category_file_withdraws_nothing(home: Path) -> None:
    (home / "knowledge" / "facts.md").write_bytes(b"\0\0")
    sync_facts(home)
    assert sent(home) == [MUD, MOON]


def test_what_waits_for_a_broken_file_is_written_once_when_it_can_be_read(home: Path) -> None:
    path = home / "knowledge" / "repos" / "tides.yaml"
    whole = path.read_text()
    path.write_text(whole.removeprefix("---\n"))
    late = NewItem(Category.DECISIONS, "Use boots", provenance=TAG)
    held = applied(home, late, sha256="b" * 64, path="/talks/b.md")
    assert held == ("repos/tides.yaml",)
    sync_facts(home)
    assert "Use boots" not in path.read_text()
    path.write_text(whole)
    for _ in range(2):
        sync_facts(home)

    facts = {fact.id: fact for fact in FactReader(home).facts()}
    assert (facts["tides:fact:003"].text, facts["tides:fact:003"].tags) == ("Use boots", ("decision",))
    assert (len(facts), path.read_text().count("Use boots")) == (3, 1)
    assert "not written yet: the program cannot read the file for this fact" in "\n".join(
        history_lines(item_history(home, item(home, "Use boots")))
    )
    delete_item(home, item(home, "Use boots"))
    assert sent(home) == [MUD, MOON]


def test_a_forgotten_fact_comes_back_from_no_file_until_it_is_said_again(home: Path) -> None:
    path, logs = home / "knowledge" / "repos" / "tides.yaml", home / "knowledge" / "evidence.jsonl"
    whole, name = path.read_text(), item_hash(Category.FACTS, MOON)
    path.write_text(whole.replace(item_text(FactReader(home).facts()[0]), ""))
    logs.write_text("".join(row for row in logs.read_text().splitlines(keepends=True) if name not in row))
    gone = ItemEvent(ItemEventKind.FORGOTTEN, timestamp(NOW), name, reason=WITH_CONVERSATION)
    add_events(home, [gone])
    in_editor(home, lambda text: text.replace(f"- {MOON} [from: talk, 2026-11-20]\n", ""))
    path.write_text(whole)  # a copy, or what could not be read when it was forgotten
    (problem,) = sync_facts(home).problems

    assert (sent(home), problem.line) == ([MUD], whole[: whole.index(MOON)].count("\n"))
    assert "you forgot tides:fact:001" in problem.text
    applied(home, NewItem(Category.FACTS, MOON, provenance=TAG), sha256="b" * 64, path="/talks/b.md")
    assert sent(home) == [MUD, MOON]


def test_a_line_typed_anew_has_no_history_of_a_forgotten_one_of_the_same_words(home: Path) -> None:
    add_events(home, [ItemEvent(ItemEventKind.FORGOTTEN, timestamp(NOW), item_hash(Category.FACTS, MOON))])
    assert item_history(home, item(home, MOON)).lines == ()
    assert item_history(home, item(home, MUD)).lines != ()


def test_a_request_tells_the_facts_that_it_held_beside_its_items(home: Path) -> None:
    def entered() -> tuple[int, ...]:
        facts = FactReader(home).facts()
        return tuple(len(fact_history(home, fact.id, facts).injected) for fact in facts)

    notes = Injections(home, KnowledgeState, lambda: ranked(FactReader(home).facts()))
    text = frame("facts", f"- {MUD}\n- not known\n</facts>\n") + f"- {MOON}\n"
    for _ in range(2):
        notes.note(NoteInjection("d", "m", "model", text, NOW))
    assert entered() == (0, 1)
    Injections(home, KnowledgeState, lambda: ranked(FactReader(home).facts())).note(
        NoteInjection("d", "m", "model", text, NOW)
    )

    assert entered() == (0, 1)
    assert [one.discussion for one in item_history(home, item(home, MUD)).injected] == ["d"]
    (seen,) = seen_items(home, (), facts=FactReader(home).facts())
    assert (seen.facts, seen.missing) == ((ItemWords("fact", MUD),), 0)
