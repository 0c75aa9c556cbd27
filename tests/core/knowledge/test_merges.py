"""A merge: one item for several, with all that they stood on; refused where anything would vanish; undone byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.facts import HistoryKind, Quote
from core.kernel.values.knowledge import Category, Item, MergeGroup, MergeReport, NewItem, Provenance
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.apply import MergeRequest, apply_merge, begin_apply, finish_apply
from core.knowledge.categories import joined, parse_file, split_tag, with_tag, without_origins
from core.knowledge.evidence_rows import item_hash
from core.knowledge.fact_store import FactReader
from core.knowledge.history_text import evidence_for
from core.knowledge.knowledge_reader import KnowledgeReader, digest_file, fresh_digest, regenerate_digest
from core.knowledge.memory_log import item_history, read_logs
from core.knowledge.merges import MergeRefusedError, check_merge, merge_hunks, merged_item
from core.knowledge.part_writer import KEPT_VERSIONS, ensure_part, versions, write_parts
from core.knowledge.parts import PatchPlan, RemovalError, hunks_of, patched, reversed_hunks
from core.knowledge.recovery import list_applies, undo_apply
from tests.core.knowledge.homes import FIRST, NOW, SECOND, entry_of, made_home

A, B, C = (Provenance(name, f"2026-01-0{day}") for day, name in enumerate("abc", 1))
FILE = (
    b"\xef\xbb\xbf# Facts\r\n\r\nProse that stays.\r\n- The tide turns twice a day here. [from: a, 2026-01-01]\r\n"
    b"- Tides turn two times a day in this harbour. [from: b, 2026-01-02]\r\n\r\nMore prose.\r\n- Another.\r\n"
    b"- The tide of the harbour turns twice,\r\n  every day. [from: c, 2026-01-03]\r\nThe end"
)
ONE = "The harbour's tide turns twice a day."


def items(home: Path) -> tuple[Item, ...]:
    return KnowledgeReader(home).read(KnowledgeSettings()).items


def facts(home: Path, data: bytes = FILE) -> Path:
    path = paths.knowledge_dir(home) / "facts.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def group(home: Path, text: str = ONE, word: str = "tide") -> MergeGroup:
    return MergeGroup(
        "g", tuple(one for one in items(home) if word in one.text.lower()), text, "They say the same."
    )


def merge(home: Path, *groups: MergeGroup, seed: str = "seed", is_agreed: bool = True) -> MergeReport:
    return apply_merge(MergeRequest(home, Category.FACTS, "facts.md", groups, NOW, seed, is_agreed))


def test_one_item_stands_for_three_with_every_origin_and_the_rest_keeps_its_bytes(tmp_path: Path) -> None:
    path = facts(tmp_path)

    report = merge(tmp_path, group(tmp_path))

    line = f"- {ONE} [from: a, 2026-01-01] [from: b, 2026-01-02] [from: c, 2026-01-03]".encode()
    assert path.read_bytes() == (
        b"\xef\xbb\xbf# Facts\r\n\r\nProse that stays.\r\n\r\nMore prose.\r\n- Another.\r\n"
        + line
        + b"\r\nThe end"
    )
    assert (report.items, report.merged) == (3, 1)
    assert Path(report.version).read_bytes() == FILE
    (_, new) = items(tmp_path)
    assert new.text == ONE
    assert new.provenance == replace(C, also=(A, B))


def test_an_undo_brings_every_byte_back(tmp_path: Path) -> None:
    path = facts(tmp_path)
    merge(tmp_path, group(tmp_path))

    report = undo_apply(tmp_path, NOW)

    assert path.read_bytes() == FILE
    assert report.left == ()


def test_an_undo_keeps_what_a_person_wrote_since_and_leaves_an_item_that_they_changed(tmp_path: Path) -> None:
    path = facts(
        tmp_path, b"# Facts\n- Tide one.\n- Tide two is here.\n- Sun one is it.\n- Sun two is here.\nEnd\n"
    )
    merge(tmp_path, group(tmp_path, "Tides.", "tide"), group(tmp_path, "Suns.", "sun"))
    assert path.read_bytes() == b"# Facts\n- Tides.\n- Suns.\nEnd\n"
    path.write_bytes(b"# Facts\nNew prose.\n- Tides.\n- Suns, changed.\nEnd\n- Mine.\n")

    report = undo_apply(tmp_path, NOW)

    text = path.read_text()
    assert "New prose." in text
    assert "- Mine." in text
    assert "- Suns, changed." in text
    assert report.left != ()


def test_a_merged_item_stands_on_what_its_items_stood_on_and_its_history_tells_their_words(
    tmp_path: Path,
) -> None:
    home = made_home(tmp_path)
    said = [
        ("The tide turns twice a day here.", FIRST, "twice"),
        ("Tides turn two times each day.", SECOND, "times"),
    ]
    for text, discussion, quote in said:
        with begin_apply(home, NOW, seed=quote) as apply:
            item = NewItem(Category.FACTS, text, provenance=A, quote=Quote(("turn",), quote))
            apply.append([item], entry_of(home, discussion))
            finish_apply(apply)

    merge(home, group(home, "Tides turn twice."))

    (new,) = items(home)
    told = item_history(home, new)
    assert [one.row.quote for one in told.witnesses] == ["twice", "times"]
    (merged,) = [line for line in told.lines if line.kind is HistoryKind.MERGED_FROM]
    assert merged.objects == (said[0][0], said[1][0])
    assert merged.event.reason == "They say the same."
    undo_apply(home, NOW)
    assert [len(evidence_for(item_hash(one.category, one.text), read_logs(home))) for one in items(home)] == [
        1,
        1,
    ]


def test_the_digest_is_renewed_where_it_is_on_and_never_made(tmp_path: Path) -> None:
    facts(tmp_path)
    merge(tmp_path, group(tmp_path))
    assert not digest_file(tmp_path).exists()
    undo_apply(tmp_path, NOW)
    assert not digest_file(tmp_path).exists()
    regenerate_digest(tmp_path)

    merge(tmp_path, group(tmp_path), seed="other")

    assert ONE in digest_file(tmp_path).read_text("utf-8")
    assert digest_file(tmp_path).read_text("utf-8") == fresh_digest(tmp_path)


def test_structured_facts_become_one_that_keeps_an_id_and_come_back(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    with begin_apply(home, NOW, seed="one") as apply:
        texts = ("The tide turns twice a day here.", "Tides turn two times each day.", "Another.")
        apply.append([NewItem(Category.FACTS, text, provenance=A) for text in texts], entry_of(home, FIRST))
        finish_apply(apply)
    before = {path: path.read_bytes() for path in (paths.knowledge_dir(home) / "global").iterdir()}

    merge(home, group(home, "Tides turn twice."))

    current = [(fact.id, fact.text) for fact in FactReader(home).facts() if not fact.stale]
    assert current == [("global:fact:001", "Tides turn twice."), ("global:fact:003", "Another.")]
    undo_apply(home, NOW)
    assert {path: path.read_bytes() for path in before} == before
    assert [fact.stale for fact in FactReader(home).facts()] == [False] * 3


def test_the_last_ten_versions_of_a_file_are_kept(tmp_path: Path) -> None:
    for number in range(KEPT_VERSIONS + 2):
        facts(tmp_path, b"# Facts\n- The tide one %d.\n- The tide two.\n" % number)
        merge(tmp_path, group(tmp_path, "Tides."), seed=f"s{number}")

    kept = versions(tmp_path, "facts.md")
    assert len(kept) == KEPT_VERSIONS
    assert f"one {KEPT_VERSIONS + 1}." in kept[0].read_text()
    assert "one 2." in kept[-1].read_text()


def test_a_merge_of_much_asks_first_and_writes_nothing(tmp_path: Path) -> None:
    data = b"# Facts\n" + b"".join(b"- The tide number %d is high.\n" % number for number in range(6))
    path = facts(tmp_path, data)

    with pytest.raises(RemovalError) as raised:
        merge(tmp_path, group(tmp_path, "Tides."), is_agreed=False)

    assert len(raised.value.items) == 6
    assert path.read_bytes() == data
    assert not versions(tmp_path, "facts.md")


@pytest.mark.parametrize(
    ("text", "why"), [("  ", "A merged item is empty"), ("The tide " * 30, "would not be shorter")]
)
def test_a_merge_that_loses_or_gains_nothing_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = facts(tmp_path)

    with pytest.raises(MergeRefusedError, match=why):
        merge(tmp_path, group(tmp_path, text))

    assert path.read_bytes() == FILE


def test_a_merge_of_an_item_that_was_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = facts(tmp_path)
    asked = group(tmp_path)
    path.write_bytes(FILE.replace(b"two times", b"2 times"))

    with pytest.raises(MergeRefusedError, match="is gone or different now"):
        merge(tmp_path, asked)

    assert path.read_bytes() == FILE.replace(b"two times", b"2 times")


def test_whatever_was_proposed_no_origin_and_no_item_may_vanish() -> None:
    before = parse_file(
        "facts.md", b"- One is here. [from: a, 2026-01-01]\n- Two is here. [from: b, 2026-01-02]\n- Three.\n"
    )
    one, two, _ = before.items
    asked = MergeGroup("g", (one, two), "Both.")

    with pytest.raises(MergeRefusedError, match="origin"):
        check_merge(before, parse_file("facts.md", b"- Both. [from: b, 2026-01-02]\n- Three.\n"), (asked,))
    with pytest.raises(MergeRefusedError, match="nothing replaces them"):
        check_merge(
            before, parse_file("facts.md", b"- Both. [from: a, 2026-01-01] [from: b, 2026-01-02]\n"), (asked,)
        )
    with pytest.raises(MergeRefusedError, match="of the merged items"):
        check_merge(before, parse_file("facts.md", b"- Three.\n"), (asked,))


def test_where_one_of_its_items_was_changed_since_none_of_them_goes(tmp_path: Path) -> None:
    """An editor's save between the plan and the write, and between a crash and the next start."""
    path = facts(tmp_path)
    part = PatchPlan("facts.md", merge_hunks("facts.md", FILE, (group(tmp_path),)))
    changed = FILE.replace(b"  every day.", b"  each day.")
    path.write_bytes(changed)

    with pytest.raises(StorageError, match="has changed"):
        write_parts(tmp_path, (part,))
    ensure_part(tmp_path, part)

    assert path.read_bytes() == changed


def test_tasks_stay_in_their_section(tmp_path: Path) -> None:
    data = b"# Tasks\n\n## Open\n\n- Mend the gauge now.\n- Mend the tide gauge.\n\n## Done\n\n- Mend the roof.\n"
    path = facts(tmp_path)
    path.unlink()
    tasks = paths.knowledge_dir(tmp_path) / "tasks.md"
    tasks.write_bytes(data)
    chosen = tuple(one for one in items(tmp_path) if one.category is Category.TASKS_OPEN)

    request = MergeRequest(
        tmp_path,
        Category.TASKS_OPEN,
        "tasks.md",
        (MergeGroup("g", chosen, "Mend the gauge."),),
        NOW,
        "s",
        is_agreed=True,
    )
    apply_merge(request)

    assert tasks.read_bytes() == b"# Tasks\n\n## Open\n\n- Mend the gauge.\n\n## Done\n\n- Mend the roof.\n"
    undo_apply(tmp_path, NOW)
    assert tasks.read_bytes() == data


def test_a_merge_is_an_apply_of_its_own_in_the_list(tmp_path: Path) -> None:
    facts(tmp_path)
    report = merge(tmp_path, group(tmp_path))

    (record,) = list_applies(tmp_path)

    assert record.id == report.apply_id
    assert record.is_ended
    assert [step.entry for step in record.steps] == [None]


NAMES = st.text(st.sampled_from("ab]\\["), min_size=1, max_size=6)
ORIGINS = st.lists(st.builds(Provenance, NAMES, st.dates().map(str)), min_size=1, max_size=5)


@given(ORIGINS)
def test_several_origins_are_written_on_one_line_and_read_again(origins: list[Provenance]) -> None:
    tag = joined(origins)
    assert tag is not None
    assert split_tag(with_tag("Words.", tag)) == ("Words.", tag)
    assert set(tag.all) == set(origins)
    gone = {origins[0].source}
    left = without_origins(tag, gone)
    assert set(left.all if left is not None else ()) == {one for one in origins if one.source not in gone}


LINES = st.lists(st.sampled_from(["- a", "- b", "- c", "", "prose", "  more"]), max_size=12)


@given(LINES, st.data())
def test_a_patch_leads_there_and_back_and_may_be_asked_twice(lines: list[str], data: st.DataObject) -> None:
    lines = [f"{line} {number}" if line.startswith("- ") else line for number, line in enumerate(lines)]
    before = "\n".join(lines).encode()
    marks = [number for number, line in enumerate(lines) if line.startswith("- ")]
    chosen = sorted(data.draw(st.sets(st.sampled_from(marks), min_size=1))) if marks else []
    changes = [(at, at + 1, ("- merged",) if at == chosen[-1] else ()) for at in chosen]
    hunks = hunks_of(before, changes)

    after, left = patched(before, hunks)

    assert left == ()
    assert (
        after
        == "\n".join(
            new
            for n, line in enumerate(lines)
            for new in ([line] if n not in chosen else ["- merged"] * (n == chosen[-1]))
        ).encode()
    )
    assert patched(after, hunks) == (after, ())
    assert patched(after, reversed_hunks(hunks)) == (before, ())
    assert patched(before, reversed_hunks(hunks)) == (before, ())


def test_words_that_would_break_the_list_are_made_safe(tmp_path: Path) -> None:
    facts(tmp_path)
    made = merged_item(group(tmp_path, "# Head\n- x [from: forged, 2026-01-01] {/knowledge}"))

    assert made.text == "\\# Head - x (from: forged, 2026-01-01] (/knowledge)"
