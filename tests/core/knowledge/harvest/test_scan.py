"""What a scan finds, and that it changes nothing."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.errors import ConfigError
from core.kernel.values.discussion import Draft
from core.kernel.values.harvest import Artifact, ArtifactClass
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.kernel.values.records import MarkRecord
from core.knowledge.harvest.harvest_scan import ScanRequest, foreign_name, look_again, scan
from core.knowledge.harvest.transcript_sources import messages_of
from core.knowledge.ledger import HarvestLedger, hash_source, timestamp
from core.talk.discussion import discussion_meta, log
from tests.core.knowledge.harvest.harvests import NOW, OLD, Harvest, Model, add_discussion, age, go_on, tree
from tests.operations import LINEAR, growth


def found(home: Path, **changes: object) -> dict[str, Artifact]:
    """Artifacts by the title that a person knows, or by the last part of their path."""
    artifacts = Harvest(home, Model(), **changes).scan()  # type: ignore[arg-type]
    return {one.facts.title or Path(one.facts.path).name: one for one in artifacts}


def classes(home: Path, **changes: object) -> dict[str, str]:
    return {name: one.kind.value for name, one in found(home, **changes).items()}


def test_every_discussion_of_the_home_gets_its_class(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?", "The moon.")
    add_discussion(tmp_path, "Fresh", "Why?", at=NOW - timedelta(days=2))
    add_discussion(tmp_path, "Pinned", "Why?", pinned=True)
    add_discussion(tmp_path, "Empty")
    drafted = add_discussion(tmp_path, "Drafted")
    discussion_meta.write_draft(tmp_path, drafted, Draft("Half a thou"))
    age(paths.discussion_dir(tmp_path, drafted), OLD)
    add_discussion(tmp_path, "Huge", "x" * 3_000)
    (paths.discussions_dir(tmp_path) / "stray.txt").write_text("what is this")
    (paths.discussions_dir(tmp_path) / "not ours").mkdir()
    os.utime(paths.discussions_dir(tmp_path) / "stray.txt", (OLD.timestamp(), OLD.timestamp()))

    assert classes(tmp_path, max_bytes=2_000) == {
        "Tides": "harvest",
        "Fresh": "live",
        "Pinned": "user-kept",
        "Empty": "prune",
        "Drafted": "keep",
        "Huge": "keep",
        "stray.txt": "keep",
        "not ours": "keep",
    }


def test_a_scan_changes_nothing_not_even_a_folder(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?")
    before = tree(tmp_path), sorted(p.name for p in tmp_path.iterdir())

    assert len(found(tmp_path)) == 1
    assert scan(ScanRequest(tmp_path / "none", NOW), HarvestLedger(tmp_path / "none")) == ()

    assert (tree(tmp_path), sorted(p.name for p in tmp_path.iterdir())) == before


def test_a_discussion_that_is_open_or_receiving_a_reply_is_live(tmp_path: Path) -> None:
    opened = add_discussion(tmp_path, "Open", "Why?")
    arriving = add_discussion(tmp_path, "Arriving", "Why?")
    (paths.discussion_dir(tmp_path, arriving) / paths.REPLY_FILE).write_text("")
    request = ScanRequest(tmp_path, NOW, open_ids=frozenset({opened}))

    assert {one.kind for one in scan(request, HarvestLedger(tmp_path))} == {ArtifactClass.LIVE}


def test_what_a_killed_process_left_half_made_is_pruned_after_an_hour(tmp_path: Path) -> None:
    root = paths.discussions_dir(tmp_path)
    for name, at in ((".new-20261001-080000-aaaaaa.ff.tmp", OLD), (".new-x.tmp", NOW), (".DS_Store", OLD)):
        (root / name).mkdir(parents=True)
        (root / name / "log.jsonl").write_text("12345")
        age(root / name, at)

    artifacts = Harvest(tmp_path, Model()).scan()

    assert [(one.kind, one.facts.size_bytes) for one in artifacts] == [(ArtifactClass.PRUNE, 5)]


def test_facts_name_the_conversation_as_provenance_will(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides & Harbours", "Why?")

    facts = found(tmp_path)["Tides & Harbours"].facts

    assert facts.name == "2026-10-01-tides-harbours"
    assert facts.sha256 == hash_source(Path(facts.path)).sha256
    assert facts.new_bytes == facts.size_bytes == Path(facts.path).stat().st_size


def record(home: Path, facts_path: str, size: int, **changes: str) -> None:
    data = Path(facts_path).read_bytes()[:size]
    Path(home, "part").write_bytes(data)
    entry = HarvestLedgerEntry(
        hash_source(home / "part").sha256,
        facts_path,
        LedgerStatus.HARVESTED,
        timestamp(NOW),
        size_bytes=size,
        **changes,  # type: ignore[arg-type]
    )
    HarvestLedger(home).add(entry)


def test_what_the_ledger_proves_costs_nothing_more(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?")
    facts = found(tmp_path)["Tides"].facts
    record(tmp_path, facts.path, facts.size_bytes)

    again = found(tmp_path)["Tides"]

    assert (again.kind, again.facts.known_status, again.facts.new_bytes) == (
        ArtifactClass.HARVEST,
        "harvested",
        0,
    )


def test_an_undone_harvest_proves_nothing(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?")
    facts = found(tmp_path)["Tides"].facts
    record(tmp_path, facts.path, facts.size_bytes, undone_at=timestamp(NOW))

    assert found(tmp_path)["Tides"].facts.known_status == ""


def test_a_conversation_that_grew_is_known_by_its_head(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?", "The moon.")
    facts = found(tmp_path)["Tides"].facts
    record(tmp_path, facts.path, facts.size_bytes)
    go_on(tmp_path, chosen, "And the sun?")

    again = found(tmp_path)["Tides"].facts

    assert again.known_status == ""
    assert again.new_bytes == again.size_bytes - facts.size_bytes


def test_a_head_that_was_rewritten_is_not_taken_for_harvested(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?", "The moon.")
    facts = found(tmp_path)["Tides"].facts
    record(tmp_path, facts.path, facts.size_bytes)
    Path(facts.path).write_bytes(Path(facts.path).read_bytes().replace(b"moon", b"noom"))
    go_on(tmp_path, chosen, "And the sun?")

    again = found(tmp_path)["Tides"].facts

    assert again.new_bytes == again.size_bytes


def test_a_ledger_that_does_not_parse_stops_the_scan(tmp_path: Path) -> None:
    add_discussion(tmp_path, "Tides", "Why?")
    paths.knowledge_dir(tmp_path).mkdir()
    (paths.knowledge_dir(tmp_path) / "ledger.json").write_text("{")

    with pytest.raises(ConfigError, match=r"ledger\.json"):
        found(tmp_path)


def test_a_log_of_a_newer_version_is_kept_and_never_called_empty(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Newer")
    path = paths.log_file(tmp_path, chosen)
    path.write_text('{"v": 2, "type": "message"}\n')
    age(path.parent, OLD)

    artifact = found(tmp_path)["Newer"]

    assert artifact.kind is ArtifactClass.KEEP
    assert "version 2" in artifact.why


def test_a_log_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    path = paths.log_file(tmp_path, chosen)
    path.unlink()
    path.mkdir()
    age(path.parent, OLD)

    artifact = found(tmp_path)["Tides"]

    assert artifact.kind is ArtifactClass.KEEP
    assert "cannot be read" in artifact.why


def test_other_sources_are_recognised_and_never_ours(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    (folder / "sub").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "a.md").write_text("# aider chat started at 2025-10-20 21:49:17\n")
    (folder / "a.md").write_text("\n# aider chat started at 2025-10-20 21:49:17\n\n#### Hi\n")
    (folder / "sub" / "readme.md").write_text("# Readme\n")
    (folder / "link.md").symlink_to(folder / "a.md")
    age(folder, OLD)

    artifacts = Harvest(tmp_path / "home", Model(), sources=(folder, folder / "a.md")).scan()

    assert [
        (Path(one.facts.path).name, one.kind, one.facts.kind, one.facts.is_ours) for one in artifacts
    ] == [
        ("a.md", ArtifactClass.HARVEST, TranscriptKind.AIDER, False),
        ("readme.md", ArtifactClass.KEEP, TranscriptKind.UNKNOWN, False),
    ]


def test_a_source_that_is_gone_is_said(tmp_path: Path) -> None:
    artifacts = Harvest(tmp_path / "home", Model(), sources=(tmp_path / "gone.md",)).scan()

    assert artifacts[0].kind is ArtifactClass.KEEP
    assert "cannot be read" in artifacts[0].why


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("2026-03-06_16-11-26Z-consider-this", "2026-03-06-consider-this"),
        ("session_b", "2026-10-01-session_b"),
        ("2026-99-99-odd", "2026-10-01-2026-99-99-odd"),
        ("]}[from: x", "2026-10-01-from-x"),
    ],
)
def test_a_foreign_name_starts_with_its_own_date(stem: str, name: str) -> None:
    assert foreign_name(stem, datetime(2026, 10, 1, tzinfo=UTC)) == name


def test_looking_again_sees_what_was_said_since(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    request = Harvest(tmp_path, Model()).request
    facts = scan(request, HarvestLedger(tmp_path))[0].facts
    go_on(tmp_path, chosen, "More.", at=NOW)

    again, data = look_again(facts, HarvestLedger(tmp_path))

    assert len(data) == again.size_bytes > facts.size_bytes
    assert request.classified(again).kind is ArtifactClass.LIVE


def test_progress_is_told_up_to_the_last_conversation(tmp_path: Path) -> None:
    for name in "abc":
        add_discussion(tmp_path, name, "Why?")
    told: list[tuple[int, int, str]] = []

    scan(Harvest(tmp_path, Model()).request, HarvestLedger(tmp_path), lambda *at: told.append(at))

    assert told == [(0, 0, "")] * 3 + [(1, 3, ""), (2, 3, ""), (3, 3, "")]


def test_a_scan_takes_work_in_proportion_to_the_conversations(tmp_path: Path) -> None:
    def scanned(count: int) -> None:
        home = tmp_path / str(count)
        if not home.exists():  # each size is scanned twice
            first = paths.discussion_dir(home, add_discussion(home, "Tides", "Why? " * 2_000))
            for number in range(1, count):
                copy = first.with_name(f"20261001-080000-{number:06d}")
                shutil.copytree(first, copy)
                os.utime(copy / paths.LOG_FILE, (OLD.timestamp(), OLD.timestamp()))
        artifacts = Harvest(home, Model()).scan()
        assert len(artifacts) == count
        assert len({one.facts.sha256 for one in artifacts}) == 1

    assert growth(scanned, 25) <= LINEAR


def test_an_imported_talk_is_as_old_as_its_last_word_until_somebody_goes_on(tmp_path: Path) -> None:
    """It was written a moment ago: who imports a backlog can harvest it at once."""
    mark = MarkRecord("m1", OLD, "imported", "Imported on 2026-11-23 from ChatGPT: conversations.json")
    chosen = add_discussion(tmp_path, "Tides", "Why?", "The moon.", at=OLD)
    log.append(tmp_path, chosen, (mark,))
    age(paths.discussion_dir(tmp_path, chosen), NOW)
    seen = found(tmp_path)["Tides"]

    assert (seen.kind, seen.facts.updated_at) == (ArtifactClass.HARVEST, OLD)
    assert "from ChatGPT" in seen.facts.origin
    again, _ = look_again(seen.facts, HarvestLedger(tmp_path))
    assert again.updated_at == OLD
    go_on(tmp_path, chosen, "And the sun?", "It helps.")
    age(paths.discussion_dir(tmp_path, chosen), NOW)
    assert found(tmp_path)["Tides"].kind is ArtifactClass.LIVE


def test_a_text_file_that_is_named_itself_is_a_conversation_as_for_an_import(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "chat.md").write_text("# Chat\n\n## User\n\nWhy?\n\n## Assistant\n\nSo.\n")
    age(folder, OLD)

    assert found(tmp_path, sources=(folder,))["chat.md"].kind is ArtifactClass.KEEP
    named = found(tmp_path, sources=(folder / "chat.md",))["chat.md"]
    assert (named.kind, named.facts.kind) == (ArtifactClass.HARVEST, TranscriptKind.PLAIN)
    assert [one.text for one in messages_of(TranscriptKind.PLAIN, (folder / "chat.md").read_bytes())] == [
        "Why?",
        "So.",
    ]
