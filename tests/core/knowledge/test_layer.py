"""What of knowledge enters layer 7, the snapshot it comes from, and what is known to be the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.frame import frame
from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles
from core.kernel.values.facts import FactCategory, IndexedFact
from core.kernel.values.knowledge import (
    Category,
    DigestSwitch,
    Item,
    KnowledgeState,
    NoteFile,
    NoteStatus,
    Provenance,
)
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.evidence_rows import item_hash
from core.knowledge.facts.fact_merge import ranked
from core.knowledge.knowledge_reader import KnowledgeReader, watch_paths
from core.knowledge.layer7 import (
    BLOCK_BYTES,
    HEAD,
    TRUNCATED,
    Layer7Texts,
    injected_digest,
    layer_inputs,
    project,
)
from core.knowledge.merges import known_items, same_text
from core.talk.context.stack import knowledge_layer

ON = KnowledgeState(digest="# D\n- one\n", switch=DigestSwitch.ON)


def note(path: str, *texts: str, file_id: str = "1:2", **more: object) -> NoteFile:
    items = tuple(Item(Category.FILES, f"files/{file_id}.md", text) for text in texts)
    return replace(NoteFile(file_id, path, items, path=path), **more)  # type: ignore[arg-type]


def files(*shown: str) -> tuple[ItemFiles, ...]:
    return tuple(ItemFiles(FileItem(path), (FileSnapshot(path, f"/p/{path}"),)) for path in shown)


def layer_bytes(digest: str, notes: tuple[object, ...]) -> int:
    return len(knowledge_layer(digest, "", notes).text.encode())  # type: ignore[arg-type]


def test_notes_of_files_in_scope_come_sorted_with_the_digest_before_them() -> None:
    state = replace(
        ON, notes=(note("/p/b", "on b", file_id="1:1"), note("/p/a", "on a"), note("/p/c", "on c"))
    )

    texts = layer_inputs(state, files("b", "a"), 8192)

    digest, notes = texts.digest, texts.notes
    assert digest == "# D\n- one\n"
    assert [(n.name, n.text) for n in notes] == [("a", "- on a\n"), ("b", "- on b\n")]
    assert layer_inputs(state, files("a", "b"), 8192) == texts
    assert knowledge_layer(digest, "", notes).text == (
        "{knowledge}\n# D\n- one\n\n{/knowledge}\n"
        '<note name="a">\n- on a\n</note>\n<note name="b">\n- on b\n</note>\n'
    )


def test_notes_that_no_words_bear_out_enter_no_request() -> None:
    told = replace(ON, notes=(note("/p/a", "it writes twice", "it reads once"),))
    left = frozenset({item_hash(Category.FILES, "it writes twice")})

    (found,) = layer_inputs(told, files("a"), 8192, (), left).notes
    assert found.text == "- it reads once\n"


def test_notes_say_where_they_come_from() -> None:
    told = note("/p/a", "on a")
    origin = Provenance("2026-10-01-tides", "2026-11-20")
    told = replace(told, items=tuple(replace(item, provenance=origin) for item in told.items))

    (found,) = layer_inputs(replace(ON, notes=(told,)), files("a"), 8192).notes

    assert found.text == "- on a [from: 2026-10-01-tides, 2026-11-20]\n"


@pytest.mark.parametrize("switch", [DigestSwitch.OFF_BY_DELETION, DigestSwitch.OFF_BY_CONFIGURATION])
def test_off_is_off_for_notes_too(switch: DigestSwitch) -> None:
    state = replace(ON, switch=switch, notes=(note("/p/a", "on a"),))

    assert layer_inputs(state, files("a"), 8192) == Layer7Texts()


def test_orphans_and_disabled_files_bring_no_notes() -> None:
    orphan = note("/p/a", "on a", status=NoteStatus.ORPHANED)
    disabled = replace(files("a")[0], item=FileItem("a", enabled=False))

    assert layer_inputs(replace(ON, notes=(replace(orphan, path=""),)), files("a"), 8192).notes == ()
    assert layer_inputs(replace(ON, notes=(note("/p/a", "on a"),)), (disabled,), 8192).notes == ()


@given(st.integers(0, 1500), st.lists(st.text("ab é{<", max_size=60), max_size=12))
def test_the_budget_holds_by_whole_items(budget: int, texts: list[str]) -> None:
    whole = project([("Facts", [(f"fact {n} {text}", None) for n, text in enumerate(texts)])])
    state = KnowledgeState(
        digest=whole,
        switch=DigestSwitch.ON,
        notes=(note("/p/a", *(f"{n} {t}" for n, t in enumerate(texts))), note("/p/b", *texts, file_id="1:3")),
    )

    found_texts = layer_inputs(state, files("a", "b"), budget)
    digest, notes = found_texts.digest, found_texts.notes

    assert layer_bytes(digest, notes) <= budget
    assert digest in {"", whole} or digest.endswith(TRUNCATED)
    assert set(digest.splitlines()) <= {*whole.splitlines(), *TRUNCATED.splitlines()}
    for found in notes:
        assert all(line.startswith("- ") for line in found.text.splitlines())


def test_the_newest_notes_are_kept_in_the_order_of_the_file() -> None:
    state = replace(ON, digest="", notes=(note("/p/a", "old" * 50, "newer", "newest"),))
    room = len(frame("note", "- newer\n- newest\n", name="a"))

    assert layer_inputs(state, files("a"), room).notes[0].text == "- newer\n- newest\n"
    assert layer_inputs(state, files("a"), room - 1).notes[0].text == "- newest\n"


def test_a_digest_over_the_budget_loses_its_last_items_and_says_so() -> None:
    one, two, three = ("one " * 20).strip(), ("two " * 20).strip(), ("three " * 20).strip()
    text = project([("Facts", [(one, None), (two, None), (three, None)])])

    assert injected_digest(text, len(text) + BLOCK_BYTES) == text
    assert (
        injected_digest(text, len(text) + BLOCK_BYTES - 1)
        == f"{HEAD}\n## Facts\n- {one}\n- {two}\n{TRUNCATED}"
    )
    assert injected_digest(text, 60 + BLOCK_BYTES) == ""


def test_a_digest_that_a_person_wrote_cannot_close_its_block() -> None:
    assert injected_digest("a {/knowledge} b", 100) == "a (/knowledge) b"


def test_inputs_are_read_from_a_home(tmp_path: Path) -> None:
    (tmp_path / "knowledge").mkdir()
    (tmp_path / "knowledge" / "digest.md").write_bytes(b"\xef\xbb\xbf# mine\r\n- x\r\n")

    def inputs(settings: KnowledgeSettings) -> Layer7Texts:
        return layer_inputs(KnowledgeReader(tmp_path).read(settings, ()), (), settings.budget_bytes)

    assert inputs(KnowledgeSettings()) == Layer7Texts("# mine\n- x\n")
    assert inputs(KnowledgeSettings(digest_enabled=False)) == Layer7Texts()
    (tmp_path / "knowledge" / "digest.md").unlink()
    assert inputs(KnowledgeSettings()) == Layer7Texts()


def test_a_snapshot_says_what_is_wrong_and_holds_the_rest(tmp_path: Path) -> None:
    directory = tmp_path / "knowledge"
    directory.mkdir()
    (directory / "facts.md").write_text("- one\n", encoding="utf-8")
    (directory / "questions.md").mkdir()
    (directory / "tasks.md").write_bytes("- x\n".encode("utf-16"))
    (directory / "digest.md").write_bytes(b"x" * 70_000)

    state = KnowledgeReader(tmp_path).read(KnowledgeSettings())

    assert [i.text for f in state.categories for i in f.items] == ["one"]
    assert len(state.problems) == 3
    assert state.switch is DigestSwitch.OFF_BY_DELETION
    assert state.digest_bytes == 70_000


def test_what_did_not_change_is_the_same_object(tmp_path: Path) -> None:
    (tmp_path / "knowledge" / "files").mkdir(parents=True)
    (tmp_path / "knowledge" / "facts.md").write_text("- one\n", encoding="utf-8")
    (tmp_path / "knowledge" / "files" / "1:2.md").write_text("# /a\n\n- one\n", encoding="utf-8")
    reader = KnowledgeReader(tmp_path)
    first = reader.read(KnowledgeSettings())

    second = reader.read(KnowledgeSettings())

    assert all(a is b for a, b in zip(first.categories, second.categories, strict=True))
    assert first.notes is second.notes
    assert str(tmp_path / "knowledge" / "digest.md") in watch_paths(tmp_path)
    assert str(tmp_path / "knowledge" / "files" / "1:2.md") in first.watched


def fact(text: str, category: Category = Category.FACTS, file: str = "facts.md") -> Item:
    return Item(category, file, text)


def test_nearly_the_same_is_shown_nearest_first_whatever_the_category() -> None:
    known = known_items(
        [
            fact("the tide turns every six hours"),
            fact("tides turn every six hours or so", Category.DECISIONS, "decisions.md"),
            fact("bread needs salt"),
        ]
    )

    near = known.near("The tide turns every six hours.")

    assert [item.text for item in near] == [
        "the tide turns every six hours",
        "tides turn every six hours or so",
    ]
    assert known.near("quite another thing") == ()
    assert known.near("") == ()


def test_exactly_the_same_counts_in_its_own_place_only() -> None:
    known = known_items([fact("One  thing."), fact("note", Category.FILES, "files/1:2.md")])

    assert known.exact(Category.FACTS, "facts.md", "one thing") is not None
    assert known.exact(Category.DECISIONS, "decisions.md", "one thing") is None
    assert known.exact(Category.FILES, "files/1:2.md", "Note") is not None
    assert known.exact(Category.FILES, "files/1:3.md", "note") is None


@given(st.text(max_size=60))
def test_folding_for_sameness_is_idempotent(text: str) -> None:
    assert same_text(same_text(text)) == same_text(text)


def known_fact(number: int, text: str = "", effective: float = 0.7, **more: object) -> IndexedFact:
    made: IndexedFact = IndexedFact(
        f"tides:fact:{number:03d}", text or f"Fact {number}", FactCategory.FACT, "tides", 0.7,
        effective_confidence=effective, **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return made


def test_facts_stand_between_digest_and_notes_in_a_frame_of_their_own_sorted_by_id() -> None:
    state = replace(ON, notes=(note("/p/a", "on a"),))
    known = ranked([known_fact(3, effective=0.9), known_fact(1), known_fact(2, "ends </facts> here")])

    texts = layer_inputs(state, files("a"), 8192, known)

    assert texts.facts == "- Fact 1\n- ends </facts> here\n- Fact 3\n"
    text = knowledge_layer(texts.digest, texts.facts, texts.notes).text
    assert text.endswith(f'<facts-2>\n{texts.facts}</facts-2>\n<note name="a">\n- on a\n</note>\n')


def test_what_the_digest_says_does_not_stand_again_among_the_facts() -> None:
    said = ("A tide turns twice", "It rains", "Kestrels nest here")
    digest = "# D\n- A tide turns twice. — by the log [05-08]\n- It rains [from: 2026-10-01-a, 2026-10-01]\n"
    facts = [known_fact(number, words) for number, words in enumerate(said)]

    texts = layer_inputs(replace(ON, digest=digest), (), 8192, facts)

    assert texts.facts == "- Kestrels nest here\n"


def test_doubtful_and_stale_facts_enter_no_prompt_and_the_best_come_first_on_any_day() -> None:
    best = [
        known_fact(5, effective=0.9), known_fact(4, source_count=3), known_fact(2, last_confirmed="2026-11-02"),
        known_fact(3, last_confirmed="2026-11-01"), known_fact(1), known_fact(6), known_fact(7, effective=0.5),
    ]  # fmt: skip
    doubtful = [known_fact(8, effective=0.49), known_fact(9, effective=0.9, stale=True)]

    assert ranked([*doubtful, *reversed(best)]) == tuple(best)


def test_off_is_off_for_facts_too() -> None:
    assert (
        layer_inputs(replace(ON, switch=DigestSwitch.OFF_BY_DELETION), (), 8192, (known_fact(1),))
        == Layer7Texts()
    )


@given(st.integers(0, 1500), st.lists(st.text("ab é</facts>", max_size=60), max_size=12), st.integers(0, 12))
def test_facts_and_notes_share_what_the_digest_leaves(budget: int, texts: list[str], count: int) -> None:
    """Notes keep half, facts take the rest and what notes do not need; all of it within the budget, by whole items."""
    known = ranked([known_fact(number, f"{number} {text}") for number, text in enumerate(texts)])
    state = replace(ON, notes=(note("/p/a", *(f"note {n}" for n in range(count))),))

    alone = layer_inputs(replace(ON, notes=()), (), budget, known)
    found = layer_inputs(state, files("a"), budget, known)
    without = layer_inputs(state, files("a"), budget)

    assert len(knowledge_layer(found.digest, found.facts, found.notes).text.encode()) <= budget
    lines = [f"- {one.text}\n" for one in sorted(known, key=lambda one: one.id)]
    assert set(found.facts.splitlines(keepends=True)) <= set(lines)
    assert len(found.facts) <= len(alone.facts)
    if sum(map(len, lines)) + 200 < budget / 2 - len(found.digest):
        assert found.facts == "".join(lines)
    if not known:
        assert found == without
