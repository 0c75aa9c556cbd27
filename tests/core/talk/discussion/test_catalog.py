"""The list of discussions: derived, quick, searchable, and never worth more than the files it comes from."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.ids import make_id
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.records import Record
from core.kernel.values.usage import Usage
from core.talk.discussion import catalog as catalog_module
from core.talk.discussion import discussion_store, log, log_codec, trash
from core.talk.discussion.catalog import Catalog, Refreshed
from core.talk.discussion.catalog_entries import stored_summary
from core.talk.discussion.catalog_file import SCHEMA_VERSION, schema_number
from core.talk.discussion.discussion_meta import write_meta
from core.talk.discussion.discussion_worker import summarise
from core.talk.discussion.log import all_paid_since
from tests.core.kernel.faults import made
from tests.core.records import ID, NOW, delete, edit, meta, reply, restore, used, user

OTHER = "20261120-080000-bbbbbb"
THIRD = "20261120-090000-cccccc"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def catalog(home: Path, tmp_path: Path) -> Iterator[Catalog]:
    found = Catalog(home, tmp_path / "cache" / "catalog.sqlite")
    yield found
    found.close()


def refreshed(catalog: Catalog) -> dict[str, DiscussionSummary]:
    """Rows that a whole refresh reports, by id."""
    return {summary.meta.id: summary for step in catalog.refresh() for summary in step.summaries}


def indexed(catalog: Catalog, home: Path, *records: Record, name: str = "A talk") -> DiscussionSummary:
    discussion_store.create(home, meta(ID, name), records)
    return refreshed(catalog)[ID]


def hits(catalog: Catalog, query: str) -> tuple[str, ...]:
    return catalog.search(query).ids


def test_a_row_tells_what_the_log_and_the_meta_say(catalog: Catalog, home: Path) -> None:
    row = indexed(
        catalog, home, user("a", "What is a cache?"), reply("b", "A place\n\nfor copies"), used("u", "b"), user("c", "x"),
        used("v", "b"), reply("d", "Last words", reasoning="hidden thought"),
    )  # fmt: skip

    assert row == DiscussionSummary(meta(), NOW, 2, Usage(20, 10, cost_usd=0.5), "Last words", "")


def test_a_branch_costs_what_was_paid_in_it_and_shows_what_its_messages_cost(
    catalog: Catalog, home: Path
) -> None:
    """A branch of a branch, too, and a ping of the parent; in the list, the discussion and the day alike."""
    upkeep = used("k", "keepalive")
    discussion_store.create(
        home, meta(ID), (user("a"), reply("b"), used("u", "b"), upkeep, user("c"), reply("d"))
    )
    discussion_store.branch(home, ID, "d", meta(OTHER))
    log.append(home, OTHER, [user("e"), reply("f"), used("v", "f", cost=1.5)])
    discussion_store.branch(home, OTHER, "f", meta(THIRD))

    rows = refreshed(catalog)
    opened = {name: discussion_store.load(home, name, NOW).discussion for name in (ID, OTHER, THIRD)}

    assert {name: row.usage.cost_usd for name, row in rows.items()} == {ID: 0.5, OTHER: 1.5, THIRD: None}
    assert [rows[name].upkeep.pings for name in (ID, OTHER, THIRD)] == [1, 0, 0]
    assert {name: one.usage for name, one in opened.items()} == {n: rows[n].usage for n in opened}
    assert {name: one.upkeep for name, one in opened.items()} == {n: rows[n].upkeep for n in opened}
    costs = [m.usage.cost_usd for m in opened[THIRD].messages if m.usage is not None]
    assert costs == [0.25, 1.5]
    paid = all_paid_since(home, [paths.log_file(home, name) for name in opened], NOW)
    assert sum(one.usd for one in paid.values()) == 2.0


def test_edits_and_deletions_change_the_row(catalog: Catalog, home: Path) -> None:
    row = indexed(catalog, home, user("a", "one"), user("b", "two"), delete("d", "b"), edit("e", "a", "ONE"))
    assert (row.turns, row.preview) == (1, "ONE")

    log.append(home, ID, [restore("r", "b")])
    row = refreshed(catalog)[ID]
    assert (row.turns, row.preview) == (2, "two")


def test_a_message_without_a_reply_is_known_from_the_log_until_one_follows_or_it_goes(
    catalog: Catalog, home: Path
) -> None:
    row = indexed(catalog, home, user("a", "one"), reply("b", "two"), user("c", "three"))
    assert row.is_unanswered
    assert row == replace(
        summarise(row.meta, discussion_store.load(home, ID, NOW).discussion), updated_at=row.updated_at
    )

    for record, is_unanswered in (
        (delete("x", "c"), False),
        (restore("r", "c"), True),
        (reply("d", "x"), False),
    ):
        log.append(home, ID, [record])
        assert refreshed(catalog)[ID].is_unanswered is is_unanswered


def test_what_was_known_is_there_at_once_after_a_restart(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "cache" / "c.sqlite"
    first = Catalog(home, file)
    for number in range(5):
        made(home, [user("a", f"number {number}")], make_id(NOW + timedelta(days=number), "x"))
    rows = refreshed(first)
    first.close()

    second = Catalog(home, file)
    assert {row.meta.id: row for row in second.load_summaries()} == rows
    assert [row.meta.id for row in second.load_summaries()] == sorted(rows, reverse=True)
    assert refreshed(second) == {}
    second.close()


def test_only_what_changed_is_derived_again(catalog: Catalog, home: Path) -> None:
    for discussion_id in (ID, OTHER, THIRD):
        made(home, [user("a")], discussion_id)
    assert set(refreshed(catalog)) == {ID, OTHER, THIRD}

    log.append(home, OTHER, [user("b", "news")])
    write_meta(home, replace(meta(THIRD), name="renamed"))

    changed = refreshed(catalog)
    assert {i: (row.meta.name, row.turns) for i, row in changed.items()} == {
        OTHER: ("A talk", 2),
        THIRD: ("renamed", 1),
    }


def test_what_left_the_home_leaves_the_list_and_the_search(catalog: Catalog, home: Path) -> None:
    made(home, [user("a", "unicorn")])
    made(home, discussion_id=OTHER)
    refreshed(catalog)
    trash.delete(home, ID, NOW, "x")

    steps = list(catalog.refresh())

    assert steps[0] == Refreshed((), (ID,), 0, 1)
    assert [row.meta.id for row in catalog.load_summaries()] == [OTHER]
    assert hits(catalog, "unicorn") == ()
    trash.restore(home)
    assert ID in refreshed(catalog)
    assert hits(catalog, "unicorn") == (ID,)


def test_a_home_without_discussions_is_done_at_once(catalog: Catalog) -> None:
    assert list(catalog.refresh()) == [Refreshed((), (), 0, 0)]
    assert catalog.load_summaries() == ()


def test_work_comes_in_slices_that_can_be_dropped_and_gone_on_with(home: Path, tmp_path: Path) -> None:
    for number in range(6):
        made(home, [user("a")], make_id(NOW + timedelta(days=number), "x"))
    catalog = Catalog(home, tmp_path / "c.sqlite", clock=iter(range(10**6)).__next__)

    steps = catalog.refresh(slice_s=1)
    first, second = next(steps), next(steps)
    steps.close()

    assert (first.done, first.total, second.done) == (1, 6, 2)
    assert first.summaries[0].meta.created_at == NOW
    assert first.summaries[0].meta.id > second.summaries[0].meta.id
    assert len(catalog.load_summaries()) == 2
    assert len(refreshed(catalog)) == 4
    catalog.close()


def test_a_long_log_is_read_over_several_slices(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "SLICE_BYTES", 1_000)
    made(home, [user(f"{n}", f"word{n}") for n in range(50)])
    steps = list(catalog.refresh(slice_s=0.0))

    assert len(steps) > 5
    assert [step.done for step in steps[:-1]] == [0] * (len(steps) - 1)
    assert [row.turns for step in steps for row in step.summaries][-1] == 50
    assert hits(catalog, "word49") == (ID,)


def test_much_work_is_done_by_a_process_of_its_own(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the child did is only read here: this process parses no log."""
    monkeypatch.setattr(catalog_module, "MUCH_CHANGED", 3)
    wanted = {make_id(NOW, str(n)) for n in range(5)}
    for discussion_id in wanted:
        made(home, [user("a", "parsed elsewhere")], discussion_id)
    monkeypatch.setattr(Catalog, "_index", lambda *_: pytest.fail("parsed here"))

    steps = list(catalog.refresh())

    assert {row.meta.id for step in steps for row in step.summaries} == wanted
    assert [step.done == step.total for step in steps] == [False] * (len(steps) - 1) + [True]
    assert set(hits(catalog, "elsewhere")) == wanted


@pytest.mark.parametrize("python", ["/nowhere/python", "python", "", shutil.which("false") or "false"])
def test_where_no_child_can_work_the_work_is_done_here(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setattr(catalog_module, "MUCH_BYTES", 1)
    monkeypatch.setattr("sys.executable", python)
    made(home, [user("a", "parsed here")])

    assert set(refreshed(catalog)) == {ID}
    assert hits(catalog, "parsed") == (ID,)


def test_a_refresh_that_is_dropped_ends_its_child(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "MUCH_CHANGED", 3)
    for number in range(5):
        made(home, [user("a")], make_id(NOW, str(number)))
    children: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def remembered(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        children.append(start(*args, **kwargs))
        return children[-1]

    monkeypatch.setattr(subprocess, "Popen", remembered)
    with contextlib.closing(catalog.refresh()) as steps:
        next(steps)

    assert [child.poll() is not None for child in children] == [True]
    assert len(refreshed(catalog)) <= 5
    assert len(catalog.load_summaries()) == 5


def test_one_discussion_is_brought_up_to_date_after_an_append(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "SLICE_BYTES", 1_000)
    made(home)
    assert catalog.update(OTHER) is None
    log.append(home, ID, [user(f"{n}", f"word{n}") for n in range(50)])

    row = catalog.update(ID)

    assert row is not None
    assert (row.turns, row.preview) == (50, "word49")
    assert hits(catalog, "word49") == (ID,)
    assert refreshed(catalog) == {}
    trash.delete(home, ID, NOW, "x")
    assert catalog.update(ID) is None
    assert catalog.load_summaries() == ()


def test_a_log_that_was_rewritten_is_read_from_its_start(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, user("a", "dragon"), user("b", "castle"))
    made(home, [user("a", "lion"), user("b", "castle"), user("c", "river")], OTHER)
    paths.log_file(home, ID).write_bytes(paths.log_file(home, OTHER).read_bytes())

    row = catalog.update(ID)

    assert row is not None
    assert row.turns == 3
    assert hits(catalog, "dragon") == ()
    assert hits(catalog, "lion") == (ID,)


def test_a_record_that_is_being_written_counts_when_it_is_whole(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, user("a"))
    line = (home / "discussions" / ID / "log.jsonl").read_bytes().replace(b'"a"', b'"b"')
    path = paths.log_file(home, ID)
    with path.open("ab") as stream:
        stream.write(line[:40])
    first = catalog.update(ID)
    with path.open("ab") as stream:
        stream.write(line[40:])
    second = catalog.update(ID)

    assert first is not None
    assert second is not None
    assert (first.turns, second.turns) == (1, 2)


def test_foreign_lines_and_a_broken_meta_give_a_row_with_its_problem(catalog: Catalog, home: Path) -> None:
    directory = made(home, [user("a", "Find the needle in the haystack")])
    with (directory / "log.jsonl").open("ab") as stream:
        stream.write(b"nonsense\n")
    (directory / "meta.toml").write_bytes(b"= broken")

    row = refreshed(catalog)[ID]

    assert "meta.toml is broken" in row.problem
    assert row.meta.name == "Find the needle in the haystack"
    assert row.turns == 1


def test_a_log_that_cannot_be_read_gives_a_row_that_says_so(catalog: Catalog, home: Path) -> None:
    directory = made(home)
    (directory / "log.jsonl").mkdir()

    row = refreshed(catalog)[ID]

    assert "a folder is where a file should be" in row.problem
    (directory / "log.jsonl").rmdir()
    assert refreshed(catalog)[ID].problem == ""


def test_a_log_that_breaks_its_reader_takes_no_other_down(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours in one kind of record: its discussion says so, the others are listed, and it heals."""
    for discussion_id in (ID, OTHER, THIRD):
        discussion_store.create(home, meta(discussion_id), [user("a", "one")])
    store_of_other = paths.log_file(home, OTHER)
    store_of_other.write_bytes(store_of_other.read_bytes().replace(b'"text":"one"', b'"text":"poison"'))
    decode = log_codec.decode

    def breaking(line: bytes, number: int) -> Record | log_codec.ForeignLine:
        if b"poison" in line:
            raise TypeError("a record of tomorrow")
        return decode(line, number)

    monkeypatch.setattr(log_codec, "decode", breaking)
    rows = refreshed(catalog)

    assert {key: row.turns for key, row in rows.items()} == {ID: 1, OTHER: 0, THIRD: 1}
    assert rows[OTHER].problem == "The program cannot read the log: TypeError: a record of tomorrow."
    assert (rows[ID].problem, rows[THIRD].problem) == ("", "")
    monkeypatch.undo()
    assert {key: row.turns for key, row in refreshed(catalog).items()} == {OTHER: 1}


def test_strange_things_beside_discussions_are_passed_over(catalog: Catalog, home: Path) -> None:
    made(home)
    (home / "discussions" / "empty").mkdir()
    (home / "discussions" / ".new-x.tmp").mkdir()
    (home / "discussions" / "file").write_bytes(b"x")

    assert set(refreshed(catalog)) == {ID}


@pytest.mark.parametrize("content", [b"", b"not a database at all", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_missing_or_broken_index_is_made_anew(home: Path, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "c.sqlite"
    file.write_bytes(content)
    made(home, [user("a", "phoenix")])
    catalog = Catalog(home, file)

    assert catalog.load_summaries() == ()
    assert set(refreshed(catalog)) == {ID}
    assert hits(catalog, "phoenix") == (ID,)
    catalog.close()


def test_an_index_that_breaks_in_use_is_made_anew(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    for number in range(300):
        made(home, [user("a", f"phoenix{number}")], make_id(NOW, str(number)))
    catalog = Catalog(home, file)
    assert len(refreshed(catalog)) == 300
    catalog.close()
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    file.write_bytes(data)

    catalog.load_summaries()
    refreshed(catalog)

    assert len(catalog.load_summaries()) == 300
    assert len(hits(catalog, "phoenix299")) == 1
    catalog.close()


def test_an_index_of_another_version_is_made_anew(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE discussion(id)")
        db.execute("PRAGMA user_version = 99")
    db.close()
    made(home, [user("a", "phoenix")])
    catalog = Catalog(home, file)

    assert set(refreshed(catalog)) == {ID}
    assert stored_summary('{"turns": "many"}') is None
    catalog.close()


def test_a_row_with_another_field_makes_another_version_of_the_index() -> None:
    class WiderSummary(DiscussionSummary, frozen=True):
        is_partial_too: bool = False

    WiderSummary.__name__ = "DiscussionSummary"
    numbers = {schema_number("t", one) for one in (DiscussionSummary, WiderSummary, DiscussionSummary)}
    numbers.add(schema_number("other", DiscussionSummary))

    assert len(numbers) == 3
    assert SCHEMA_VERSION > 0


def test_where_no_index_can_be_kept_it_works_in_memory(home: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file where the directory belongs")
    made(home, [user("a", "phoenix")])
    catalog = Catalog(home, tmp_path / "cache" / "c.sqlite")

    assert set(refreshed(catalog)) == {ID}
    assert hits(catalog, "phoenix") == (ID,)
    catalog.close()


def test_two_programs_may_share_an_index(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    window, command = Catalog(home, file), Catalog(home, file)
    made(home, [user("a", "one")])
    refreshed(window)
    log.append(home, ID, [user("b", "two")])
    command.update(ID)

    assert window.load_summaries()[0].turns == 2
    assert refreshed(window) == {}
    window.close()
    command.close()


def test_an_index_that_was_deleted_gives_the_same_rows_again(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    made(home, [user("a", "one"), reply("b"), used("u", "b"), edit("e", "a", "two")])
    first = Catalog(home, file)
    refreshed(first)
    log.append(home, ID, [delete("d", "b"), user("c", "three")])
    grown = refreshed(first)
    first.close()
    file.unlink()

    again = Catalog(home, file)
    assert refreshed(again) == grown
    again.close()


def test_search_finds_words_as_they_are_typed(catalog: Catalog, home: Path) -> None:
    indexed(
        catalog,
        home,
        user("a", "How does prompt caching work?"),
        reply("b", "Über den Präfix: naïve_prefix.hash()"),
    )

    for query in (
        "p",
        "pro",
        "prompt",
        "CACHING pr",
        "caching   how",
        "uber",
        "prafix",
        "naïve_pre",
        "prefix.ha",
        "hash(",
    ):
        assert hits(catalog, query) == (ID,), query
    for query in ("romp", "cachingx", "prompt zebra", "hash.prefix"):
        found = catalog.search(query)
        assert found.ids == () or found.instead not in ("", query), query


def test_search_finds_words_of_scripts_without_blanks(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, user("a", "今日は世界の天気です。한국어도 있습니다"))

    for query in ("世界", "天", "世界の", "국어"):
        assert hits(catalog, query) == (ID,), query
    assert hits(catalog, "界世") == ()


def test_names_come_first_then_weight_and_words_may_be_scattered(catalog: Catalog, home: Path) -> None:
    discussion_store.create(
        home, meta(ID, "nothing"), [user("a", "zebra and lion"), user("b", "filler " * 40)]
    )
    discussion_store.create(home, meta(OTHER, "zebra lion"), [user("a", "other words")])
    discussion_store.create(home, meta(THIRD, "lion"), [user("a", "here is a zebra")])
    refreshed(catalog)

    assert hits(catalog, "zebra lion") == (OTHER, ID, THIRD)
    assert catalog.search("zebra", limit=1).ids == (OTHER,)


def test_a_new_name_is_found_and_the_old_one_is_not(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, name="elephant")
    write_meta(home, replace(meta(), name="giraffe"))
    refreshed(catalog)

    assert (hits(catalog, "giraffe"), hits(catalog, "elephant")) == ((ID,), ())


def test_edited_and_deleted_words_are_not_found(catalog: Catalog, home: Path) -> None:
    indexed(
        catalog, home, user("a", "unicorn"), user("b", "griffin"), edit("e", "a", "horse"), delete("d", "b")
    )

    assert (hits(catalog, "unicorn"), hits(catalog, "griffin"), hits(catalog, "horse")) == ((), (), (ID,))
    log.append(home, ID, [restore("r", "b")])
    catalog.update(ID)
    assert hits(catalog, "griffin") == (ID,)


def test_the_line_of_context_stands_around_the_find(catalog: Catalog, home: Path) -> None:
    text = "start " * 100 + "then comes the Needle\nof the story " + "and more " * 100
    indexed(catalog, home, user("a", text))

    line = catalog.search("needle story").lines[ID]

    assert line.startswith("…")
    assert "comes the Needle of the story and more" in line
    assert len(line) <= 160
    assert catalog.search("start").lines[ID].startswith("start start")
    assert catalog.search("talk").lines[ID] == "A talk"


def test_the_line_of_context_stands_where_the_words_stand_together(catalog: Catalog, home: Path) -> None:
    text = "".join(f"Paragraph {n}: the quick fox of many words and lines.\n\n" for n in range(60))
    indexed(catalog, home, user("a", text))

    for query in ("Paragraph 37", "37 paragraph"):
        line = catalog.search(query).lines[ID]
        assert "Paragraph 37: the quick" in line
        assert line.index("37") < 60


def test_a_phrase_is_found_as_it_stands(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, user("a", "the slot of the cache"), reply("b", "a cache has a slot"))
    discussion_store.create(home, meta(OTHER, "Other"), (user("c", "slot and cache"),))
    refreshed(catalog)

    assert set(hits(catalog, "slot of")) == {ID}
    assert set(hits(catalog, "cache slot")) == {ID, OTHER}
    assert hits(catalog, '"slot of the"') == (ID,)
    assert hits(catalog, '"cache slot"') == ()
    assert hits(catalog, "“slot and” cache") == (OTHER,)
    assert hits(catalog, '"slot of') == (ID,), "it is still being typed"
    assert catalog.search('"slot of the"').messages == {ID: "a"}


def test_where_nothing_is_found_the_nearest_words_are_looked_for_and_said(
    catalog: Catalog, home: Path
) -> None:
    indexed(catalog, home, user("a", "Benchmarks of the embedding model"))

    found = catalog.search("embeding modle")

    assert (found.ids, found.instead, found.query) == ((ID,), "embedding model", "embeding modle")
    assert catalog.search("embedding").instead == ""
    assert catalog.search("zebra").ids == ()


@pytest.mark.parametrize(("word", "slip"), [
    ("хороший", "хорошый"), ("ευχαριστώ", "ευχαρηστώ"), ("Müller", "Mülter"), ("re\u0301sume\u0301s", "résunés"),
])  # fmt: skip
def test_a_slip_in_a_word_with_accents_of_any_script_is_seen(
    catalog: Catalog, home: Path, word: str, slip: str
) -> None:
    indexed(catalog, home, user("a", f"it says {word} there"))

    found = catalog.search(slip)

    assert found.ids == (ID,)
    assert found.instead


def test_of_too_many_words_those_of_the_nearest_length_are_compared(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "MAX_VOCABULARY", 1)
    indexed(catalog, home, user("a", "the aquari of an aquarium"))

    assert catalog.search("aquarimu").instead == "aquarium"


def test_of_very_many_messages_the_newest_count_and_that_is_said(
    catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "MAX_MATCHES", 4)
    days = [f"202611{day}-080000-aaaaaa" for day in range(11, 21)]
    for day in days:
        said = (user("a", "common ground"), reply("b", "commonly found, but " * (day == days[4]) + "so"))
        discussion_store.create(home, meta(day, "Plans of common use" if day == days[0] else "-"), said)
    refreshed(catalog)
    log.append(home, days[3], [user("c", "common again")])
    catalog.update(days[3])

    found = catalog.search("common")

    assert found.ids[0] == days[0], "a name is found, however old it is"
    assert set(found.ids[1:]) >= {days[-1], days[3]}, "the newest discussion, and the newest words"
    assert found.of_newest == 4
    assert catalog.search("commonly").ids == (days[4],)
    assert catalog.search("common found").ids == (days[4],), "the others are looked for in all that is there"
    assert catalog.search('"common again"').ids == (days[3],)
    assert catalog.search("commonly").of_newest == 0


def test_a_find_names_its_message(catalog: Catalog, home: Path) -> None:
    indexed(
        catalog,
        home,
        user("a", "one needle"),
        user("b", "none"),
        edit("e", "b", "a griffin"),
        name="Unicorns",
    )

    assert catalog.search("needle").messages == {ID: "a"}
    assert catalog.search("griffin").messages == {ID: "b"}
    assert catalog.search("unicorns").messages == {}


def test_a_find_whose_log_went_is_still_shown_by_what_is_known(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, user("a", "needle here"))
    paths.log_file(home, ID).unlink()

    assert catalog.search("needle").lines == {ID: "needle here"}
    assert catalog.search("needle").messages == {}


def test_signs_without_letters_are_looked_for_as_they_stand(catalog: Catalog, home: Path) -> None:
    indexed(catalog, home, user("a", "party 🎉 time?!"))

    assert hits(catalog, "🎉") == (ID,)
    assert hits(catalog, "?!") == (ID,)
    assert hits(catalog, "!!") == hits(catalog, "") == hits(catalog, "   ") == ()


def test_keys_in_a_message_are_neither_indexed_nor_previewed(
    catalog: Catalog, home: Path, tmp_path: Path
) -> None:
    key = "sk-ant-api03-abcdefghijklmnop0123456789"
    row = indexed(catalog, home, user("a", f"my key is {key} ok"))
    catalog.close()

    assert row.preview == "my key is [secret] ok"
    assert hits(catalog, "abcdefghijklmnop0123456789") == ()
    assert not any(b"abcdefghijklmnop" in path.read_bytes() for path in (tmp_path / "cache").iterdir())


QUERIES = st.text(max_size=20) | st.lists(
    st.sampled_from(
        [
            '"',
            "*",
            "AND",
            "OR",
            "NOT",
            "NEAR(",
            ")",
            "^",
            ":",
            "-",
            "text:",
            "a",
            "世",
            "é",
            "{",
            "\0",
            "\ud800",
        ]
    ),
    max_size=6,
).map(" ".join)


@given(st.lists(QUERIES, max_size=20))
def test_no_query_breaks_the_search(tmp_path_factory: pytest.TempPathFactory, queries: list[str]) -> None:
    base = tmp_path_factory.mktemp("search")
    made(base / "home", [user("a", "AND a text: NEAR é 世")])
    catalog = Catalog(base / "home", base / "c.sqlite")
    refreshed(catalog)
    for query in queries:
        found = catalog.search(query)
        assert set(found.ids) <= {ID}
        assert set(found.lines) == set(found.ids)
    assert catalog.load_summaries()
    catalog.close()
