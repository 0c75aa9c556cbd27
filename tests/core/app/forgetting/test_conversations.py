"""A conversation is forgotten: no word of it stays in home, trash, caches or logs, and all else does."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from core.agent.commands import RunMark
from core.app.forgetting.census import look
from core.app.forgetting.forgetting_places import PLACES
from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.knowledge import ForgetTarget
from core.knowledge.evidence_rows import item_hash
from core.knowledge.fact_store import FactReader, sync_facts
from core.knowledge.harvest.replies import load_review
from core.knowledge.ledger import HarvestLedger
from core.knowledge.mcp_server.proposal_worker import load_proposals
from core.knowledge.memory_log import add_events, read_logs
from core.knowledge.recovery import undo_apply
from core.talk.discussion import trash
from tests.core.app.forgetting.day import (
    OTHER,
    SECRET,
    SHARED,
    WORD,
    a_day,
    branch,
    forgotten,
    items,
    places_in_use,
    traces,
)
from tests.core.knowledge.harvest.harvests import NOW, OLD, add_discussion


@pytest.fixture
def home(isolated_home: Path) -> Path:
    isolated_home.mkdir()
    return isolated_home


def test_no_file_of_ours_holds_a_word_of_a_forgotten_conversation(home: Path) -> None:
    secret = a_day(home)
    where = {one.id for one in filter(None, (places_in_use()[name] for name in traces()))}
    assert {
        "discussions",
        "items",
        "facts",
        "evidence",
        "events",
        "applies",
        "review",
        "proposals",
        "replies",
        "digest",
    } <= where
    assert {"catalog", "prefixes", "diagnostics", "leftovers"} <= where

    receipt = forgotten(home, secret)

    assert traces() == []
    assert receipt.problems == ()
    assert {row.place for row in receipt.places} == {one.id for one in PLACES if not one.is_wordless}


def test_what_others_said_stays_with_its_own_origin(home: Path) -> None:
    secret = a_day(home)
    receipt = forgotten(home, secret)

    assert [item.text for item in items(home)] == [SHARED, OTHER]
    origins = {item.text: item.provenance.source for item in items(home) if item.provenance is not None}
    assert origins[SHARED] == origins[OTHER] == "2026-10-02-keys"
    assert {fact.text for fact in FactReader(home).facts()} == {SHARED, OTHER}
    assert (receipt.items, receipt.kept_items) == (3, 1)
    assert len(load_review(home)) == 1
    assert [one.text for one in load_proposals(home)] == [OTHER]
    assert [item.name for item in trash.items(home)] == ["Keys"]
    assert [path.read_text() for path in (paths.inbox_dir(home) / paths.INBOX_TAKEN_DIR).iterdir()] == [OTHER]
    assert [row.removed for row in receipt.places if row.place == "taken"] == [1]


def test_hashes_and_the_fact_of_forgetting_stay(home: Path) -> None:
    secret = a_day(home)
    gone = {item_hash(item.category, item.text) for item in items(home) if WORD in item.text.lower()}
    forgotten(home, secret)

    events = read_logs(home).events
    told = {event.item for event in events if event.kind is ItemEventKind.FORGOTTEN}
    assert gone <= told
    assert {event.kind for event in events if event.item in gone} >= {
        ItemEventKind.ACCEPTED,
        ItemEventKind.FORGOTTEN,
    }
    assert {entry.path for entry in HarvestLedger(home).entries() if secret in entry.path} == set()


def test_an_apply_of_a_forgotten_conversation_is_undone_without_it(home: Path) -> None:
    secret = a_day(home)
    trash.delete(home, secret, NOW, "deleted by you")
    forgotten(home, secret)

    report = undo_apply(home, NOW + timedelta(hours=1), is_agreed=True)

    assert report.problems == ()
    assert traces() == []
    assert [item.name for item in trash.items(home)] == []
    with pytest.raises(StorageError, match="There is no harvest to undo"):
        undo_apply(home, NOW + timedelta(hours=2), is_agreed=True)


def test_every_file_of_a_used_home_belongs_to_a_place_of_the_table(home: Path) -> None:
    a_day(home)
    RunMark(home).note()  # of a run that was killed, or whose last command was still ending

    assert [name for name, place in places_in_use().items() if place is None] == []


def test_branches_begin_with_its_records_and_go_only_when_they_are_named(home: Path) -> None:
    secret = a_day(home)
    other = branch(home, secret)

    receipt = forgotten(home, secret)

    assert receipt.holders == (other,)
    assert paths.discussion_dir(home, other).is_dir()
    forgotten(home, other, later_s=120)
    assert traces() == []


def test_another_conversation_that_repeats_what_was_said_is_named_and_one_that_does_not_is_not(
    home: Path,
) -> None:
    """Nobody recalled it there and nothing was branched: it was pasted, or said again."""
    secret = a_day(home)
    pasted = add_discussion(home, "Pasted", f"> {SECRET}\nIs that so?", at=OLD + timedelta(days=2))
    add_discussion(home, "Short", "When does it open?", "At nine.", at=OLD + timedelta(days=3))

    assert look(home, ForgetTarget((secret,))).holders == (pasted,)
    assert forgotten(home, secret).holders == (pasted,)
    assert paths.discussion_dir(home, pasted).is_dir()


def test_what_holds_words_of_it_is_named_in_the_trash_too(home: Path) -> None:
    secret = a_day(home)
    other = branch(home, secret)
    took = add_discussion(home, "Took", "What of the gate?", at=OLD + timedelta(days=2))
    names = tuple(item_hash(item.category, item.text) for item in items(home) if WORD in item.text.lower())
    add_events(
        home, [ItemEvent(ItemEventKind.INJECTED, "2026-11-01T00:00:00Z", discussion=took, items=names)]
    )
    for one in (other, took):
        trash.delete(home, one, NOW, "deleted by you")

    assert set(forgotten(home, secret).holders) == {other, took}


def test_evidence_decides_where_a_person_took_the_origin_off_and_foreign_files_are_told(home: Path) -> None:
    secret = a_day(home)
    knowledge = paths.knowledge_dir(home)
    for path in knowledge.glob("*.md"):
        path.write_text(re.sub(r" \[from: 2026-10-01-[^\]]*\]", "", path.read_text()))
    left = ("knowledge/facts.md~", "knowledge/global/facts.yaml.bak")
    (home / left[1]).parent.mkdir(exist_ok=True)
    for name in left:
        (home / name).write_text(f"- {WORD.upper()} is what they call it.\n")

    receipt = forgotten(home, secret)

    assert sorted(traces()) == sorted(left)
    assert (receipt.items, [item.text for item in items(home)]) == (3, [SHARED, OTHER])
    (told,) = receipt.problems
    assert (told.place, [name for name in left if name not in told.problem]) == ("strangers", [])


@pytest.mark.parametrize(
    ("good", "bad"), [(b"---\n", b"--\n"), (b"# ", b"# caf\xe9 ")], ids=["front matter", "Latin-1"]
)
def test_facts_leave_a_file_that_cannot_be_read_and_stay_gone_once_it_can(
    home: Path, good: bytes, bad: bytes
) -> None:
    secret = a_day(home)
    path = paths.knowledge_dir(home) / "global" / "facts.yaml"
    path = path if path.exists() else next(paths.knowledge_dir(home).glob("repos/*.yaml"))
    path.write_bytes(path.read_bytes().replace(good, bad, 1))

    receipt = forgotten(home, secret)

    assert (traces(), receipt.problems) == ([], ())
    path.write_bytes(path.read_bytes().replace(bad, good, 1))
    sync_facts(home, NOW + timedelta(hours=1))
    assert {fact.text for fact in FactReader(home).facts()} == {SHARED, OTHER}


def test_a_conversation_in_the_trash_is_forgotten_there(home: Path) -> None:
    secret = a_day(home)
    trash.delete(home, secret, NOW, "deleted by you")
    forgotten(home, secret)

    assert traces() == []


def test_what_is_not_there_changes_nothing(home: Path) -> None:
    a_day(home)
    before = traces()

    with pytest.raises(StorageError, match="no discussion"):
        forgotten(home, "20200101-000000-zzzzzz")
    assert traces() == before


def test_facts_do_not_come_back_where_the_derived_table_was_lost(home: Path) -> None:
    secret = a_day(home)
    for path in paths.cache_dir().glob("facts-*"):
        path.unlink()
    forgotten(home, secret)

    assert traces() == []
    assert {fact.text for fact in FactReader(home).facts()} == {SHARED, OTHER}
