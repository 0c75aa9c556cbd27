"""The ledger: what survives, what stops a run, the gate, growth, and two processes at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import ConfigError, StorageError
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge.ledger import SUM_FILE, HarvestLedger, SourceHash, hash_source, timestamp
from core.knowledge.ledger_text import (
    journal_line,
    ledger_bytes,
    path_of,
    raw_of,
    read_journal,
    read_ledger,
    read_own,
    to_entry,
    to_raw,
)
from tests.command_forks import FORKS
from tests.core.kernel.faults import DyingDisk, FullDisk, ReadOnlyDisk
from tests.core.knowledge.homes import NOW

KEY, OTHER = "a" * 64, "b" * 64


def entry(
    key: str = KEY, status: LedgerStatus = LedgerStatus.HARVESTED, **more: object
) -> HarvestLedgerEntry:
    return HarvestLedgerEntry(key, "discussions/x/log.jsonl", status, timestamp(NOW), **more)  # type: ignore[arg-type]


def stored(home: Path) -> Path:
    return home / "knowledge" / "ledger.json"


def test_an_entry_counts_from_its_append_and_after_the_fold(tmp_path: Path) -> None:
    ledger = HarvestLedger(tmp_path)
    ledger.add(entry(items={"facts": 2}, size_bytes=9))

    assert HarvestLedger(tmp_path).may_reclaim(KEY)
    assert not stored(tmp_path).exists()
    ledger.fold()

    assert HarvestLedger(tmp_path).get(KEY) == entry(items={"facts": 2}, size_bytes=9)
    assert not ledger.journal.exists()
    assert json.loads(stored(tmp_path).read_bytes())["entries"][KEY] == {
        "path": "discussions/x/log.jsonl",
        "status": "harvested",
        "at": "2026-11-20T12:00:00.123456+00:00",
        "deleted": False,
        "bytes": 9,
        "items": {"facts": 2},
    }


@pytest.mark.parametrize(
    ("status", "undone_at", "may"),
    [
        (LedgerStatus.HARVESTED, "", True),
        (LedgerStatus.DELETED_UNHARVESTED, "", True),
        (LedgerStatus.HARVESTED, "2026-11-20", False),
        (LedgerStatus.HARVEST_FAILED, "", False),
        (LedgerStatus.TOO_LARGE, "", False),
        (LedgerStatus.PRUNED, "", False),
    ],
)
def test_the_gate_opens_for_proven_harvests_only(
    tmp_path: Path, status: LedgerStatus, undone_at: str, may: bool
) -> None:
    ledger = HarvestLedger(tmp_path)
    ledger.add(entry(status=status, undone_at=undone_at))

    assert ledger.may_reclaim(KEY) is may
    assert not ledger.may_reclaim(OTHER)


def test_the_gate_sees_what_another_process_wrote(tmp_path: Path) -> None:
    ledger = HarvestLedger(tmp_path)
    ledger.load()
    HarvestLedger(tmp_path).add(entry())
    assert ledger.may_reclaim(KEY)

    HarvestLedger(tmp_path).mark_undone(KEY, NOW)

    assert not ledger.may_reclaim(KEY)


def test_foreign_keys_and_entries_survive_a_rewrite(tmp_path: Path) -> None:
    stored(tmp_path).parent.mkdir()
    foreign = {
        "version": 7,
        "entries": {
            KEY: {"status": "harvest-failed", "path": "p", "mine": [1, {"x": None}]},
            "note": "no entry at all",
            "path:/tmp/x": {"status": "from-the-future", "n": 1e400},
        },
        "later": {"a": "é"},
    }
    stored(tmp_path).write_text(json.dumps(foreign), encoding="utf-8-sig")
    ledger = HarvestLedger(tmp_path)

    ledger.add(entry())
    ledger.fold()

    now = json.loads(stored(tmp_path).read_bytes())
    assert list(now) == ["version", "entries", "later"]
    assert now["entries"]["note"] == "no entry at all"
    assert now["entries"]["path:/tmp/x"] == foreign["entries"]["path:/tmp/x"]  # type: ignore[index]
    assert now["entries"][KEY]["mine"] == [1, {"x": None}]
    assert now["entries"][KEY]["status"] == "harvested"
    assert [e.sha256 for e in ledger.entries()] == [KEY]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{\n"entries": {\n"a": {"path": ', 3),
        (b"[]", 1),
        (b'{"entries": []}', 1),
        (b'{\n\n"entries": \xff}', 3),
        (b"[" * 100_000, 1),
        (b'{"entries": {}} extra', 1),
    ],
)
def test_a_ledger_that_does_not_parse_stops_the_run_and_is_left(
    tmp_path: Path, data: bytes, line: int
) -> None:
    stored(tmp_path).parent.mkdir()
    stored(tmp_path).write_bytes(data)
    ledger = HarvestLedger(tmp_path)

    for act in (ledger.load, ledger.fold, lambda: ledger.add(entry())):
        with pytest.raises(ConfigError) as caught:
            act()
        assert caught.value.line == line
        assert caught.value.where == f"{stored(tmp_path)}, line {line}"
    assert stored(tmp_path).read_bytes() == data
    assert not ledger.journal.exists()


def folded(home: Path, *entries: HarvestLedgerEntry) -> HarvestLedger:
    ledger = HarvestLedger(home)
    for one in entries:
        ledger.add(one)
    ledger.fold()
    return ledger


def test_a_ledger_that_we_wrote_is_read_entry_by_entry_and_one_that_was_touched_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded(tmp_path, entry(), entry(OTHER, LedgerStatus.TOO_LARGE))
    whole: list[str] = []

    def noted(data: bytes, where: str) -> dict[str, object]:
        whole.append(where)
        return read_ledger(data, where)

    monkeypatch.setattr("core.knowledge.ledger.read_ledger", noted)

    assert [e.sha256 for e in HarvestLedger(tmp_path).entries()] == [KEY, OTHER]
    assert HarvestLedger(tmp_path).harvested_lengths("discussions/x/log.jsonl", 9) == ()
    assert whole == []
    stored(tmp_path).write_bytes(stored(tmp_path).read_bytes().replace(b"too-large", b"harvested"))
    assert HarvestLedger(tmp_path).may_reclaim(OTHER)
    assert whole == [str(stored(tmp_path))]


def test_half_a_ledger_stops_the_run_although_we_wrote_it(tmp_path: Path) -> None:
    folded(tmp_path, entry(), entry(OTHER))
    data = stored(tmp_path).read_bytes()
    stored(tmp_path).write_bytes(data[: len(data) // 2])

    with pytest.raises(ConfigError):
        HarvestLedger(tmp_path).load()


@pytest.mark.parametrize("mark", [b"", b"nonsense\n"])
def test_without_its_hash_a_ledger_is_read_as_a_whole(tmp_path: Path, mark: bytes) -> None:
    folded(tmp_path, entry())
    (tmp_path / "knowledge" / SUM_FILE).write_bytes(mark)

    assert HarvestLedger(tmp_path).may_reclaim(KEY)


def test_a_hash_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "knowledge" / SUM_FILE).mkdir(parents=True)

    assert folded(tmp_path, entry()).may_reclaim(KEY)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=6))
def test_whatever_stands_in_a_ledger_reads_the_same_entry_by_entry(entries: dict[str, object]) -> None:
    data = ledger_bytes({"entries": entries})
    own = read_own(data, "x")

    assert {key: raw_of(raw) for key, raw in own["entries"].items()} == entries
    assert ledger_bytes(own) == data
    assert read_ledger(data, "x") == {"entries": entries}
    for raw in own["entries"].values():
        said = raw_of(raw)
        path = said.get("path") if isinstance(said, dict) else ""
        assert path_of(raw) == (path if isinstance(path, str) else "")


def test_a_hash_that_stands_twice_is_one_entry_of_which_nothing_is_lost(tmp_path: Path) -> None:
    """As a merge of two versions leaves it: the later status counts, keys of both survive."""
    stored(tmp_path).parent.mkdir()
    one = '{"status": "harvested", "path": "p", "mine": 1}'
    two = '{"status": "harvest-failed", "path": "p", "yours": {"a": [2]}}'
    stored(tmp_path).write_text(f'{{"entries": {{"{KEY}": {one}, "{KEY}": {two}}}}}', "utf-8")

    assert not HarvestLedger(tmp_path).may_reclaim(KEY)
    folded(tmp_path, entry(OTHER))

    now = json.loads(stored(tmp_path).read_bytes())["entries"]
    assert list(now) == [KEY, OTHER]
    assert (now[KEY]["status"], now[KEY]["mine"], now[KEY]["yours"]) == ("harvest-failed", 1, {"a": [2]})


def test_entries_that_stand_twice_as_a_whole_are_united(tmp_path: Path) -> None:
    stored(tmp_path).parent.mkdir()
    halves = [f'"entries": {{"{key}": {json.dumps(to_raw(entry(key)))}}}' for key in (KEY, OTHER)]
    stored(tmp_path).write_text(f"{{{', '.join(halves)}}}", "utf-8")

    assert [e.sha256 for e in HarvestLedger(tmp_path).entries()] == [KEY, OTHER]


def test_what_a_conversation_was_harvested_at_is_known_at_once_after_an_entry_more(tmp_path: Path) -> None:
    ledger = folded(tmp_path, HarvestLedgerEntry(KEY, "p", LedgerStatus.HARVESTED, "", size_bytes=4))
    assert ledger.harvested_lengths("p", 9) == (4,)

    ledger.add(HarvestLedgerEntry(OTHER, "p", LedgerStatus.HARVESTED, "", size_bytes=6))
    ledger.add(HarvestLedgerEntry(OTHER, "p", LedgerStatus.HARVESTED, "", size_bytes=6))

    assert ledger.harvested_lengths("p", 9) == (4, 6)


def test_crlf_is_read_as_it_is(tmp_path: Path) -> None:
    document = {"entries": {KEY: to_raw(entry())}}
    data = ledger_bytes(document).replace(b"\n", b"\r\n")

    assert read_ledger(data, "x") == document


def test_a_torn_last_line_of_the_journal_is_no_entry_and_the_next_is(tmp_path: Path) -> None:
    ledger = HarvestLedger(tmp_path)
    ledger.add(entry())
    with ledger.journal.open("ab") as file:
        file.write(journal_line(OTHER, to_raw(entry(OTHER)))[:30])
    ledger = HarvestLedger(tmp_path)

    assert not ledger.may_reclaim(OTHER)
    assert ledger.torn_lines == 1
    ledger.add(entry(OTHER))
    assert HarvestLedger(tmp_path).may_reclaim(OTHER)
    assert HarvestLedger(tmp_path).may_reclaim(KEY)


@pytest.mark.parametrize("room", [0, 1, 40, 100])
def test_on_a_full_disk_an_entry_is_not_there_at_all(tmp_path: Path, room: int) -> None:
    HarvestLedger(tmp_path).add(entry(OTHER))
    ledger = HarvestLedger(tmp_path, disk=FullDisk(room))

    with pytest.raises(StorageError, match="disk is full"):
        ledger.add(entry())

    assert not ledger.may_reclaim(KEY)
    assert not HarvestLedger(tmp_path).may_reclaim(KEY)
    assert HarvestLedger(tmp_path).may_reclaim(OTHER)


@pytest.mark.parametrize("disk", [FullDisk(10), ReadOnlyDisk(), DyingDisk(0)])
def test_a_fold_that_fails_leaves_the_journal(tmp_path: Path, disk: FullDisk) -> None:
    HarvestLedger(tmp_path).add(entry())

    with pytest.raises(StorageError):
        HarvestLedger(tmp_path, disk=disk).fold()

    assert HarvestLedger(tmp_path).may_reclaim(KEY)


def test_a_conversation_that_grew_is_known_by_its_harvested_head(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"one\n")
    ledger = HarvestLedger(tmp_path)
    first = hash_source(log)
    ledger.add(HarvestLedgerEntry(first.sha256, "p", LedgerStatus.HARVESTED, "", size_bytes=4))
    log.write_bytes(b"one\ntwo\n")

    lengths = ledger.harvested_lengths("p", 8)
    grown = hash_source(log, lengths)

    assert lengths == (4,)
    assert ledger.harvested_prefix(grown) == 4
    assert not ledger.may_reclaim(grown.sha256)
    assert ledger.harvested_prefix(SourceHash("x", 8, {4: OTHER})) == 0
    log.write_bytes(b"ONE\ntwo\n")
    assert ledger.harvested_prefix(hash_source(log, lengths)) == 0


def test_an_undone_harvest_is_no_harvested_head(tmp_path: Path) -> None:
    ledger = HarvestLedger(tmp_path)
    ledger.add(HarvestLedgerEntry(KEY, "p", LedgerStatus.HARVESTED, "", size_bytes=4))
    ledger.mark_undone(KEY, NOW)

    assert ledger.harvested_lengths("p", 8) == ()
    found = ledger.get(KEY)
    assert found is not None
    assert found.undone_at == timestamp(NOW)


@given(st.binary(max_size=300), st.sets(st.integers(1, 300), max_size=8))
def test_hashes_of_heads_are_those_of_their_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, lengths: set[int]
) -> None:
    import hashlib

    path = tmp_path_factory.mktemp("hash") / "f"
    path.write_bytes(data)

    found = hash_source(path, lengths)

    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.prefixes == {n: hashlib.sha256(data[:n]).hexdigest() for n in lengths if n <= len(data)}


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), st.lists, max_leaves=4))
def test_anything_may_stand_where_an_entry_should(value: object) -> None:
    assert to_entry(KEY, value) is None
    found = to_entry(
        KEY,
        {"status": "harvested", "path": value, "items": value, "bytes": value, "at": value, "deleted": value},
    )
    assert found is not None
    assert to_raw(found)["status"] == "harvested"


@given(st.binary(max_size=200))
def test_any_bytes_may_stand_in_the_journal(data: bytes) -> None:
    rows, torn = read_journal(data + b"\n" + journal_line(KEY, to_raw(entry())))

    assert rows[-1] == (KEY, to_raw(entry()))
    assert torn <= data.count(b"\n") + 1


_CHILD = """
import sys
from pathlib import Path
from core.knowledge.ledger import HarvestLedger
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
ledger = HarvestLedger(Path(sys.argv[1]))
for n in range(20):
    ledger.add(HarvestLedgerEntry(f"{sys.argv[2]}{n:063}", "p", LedgerStatus.HARVESTED, ""))
    if n % 7 == 0:
        ledger.fold()
"""


def test_two_processes_that_write_and_fold_at_once_lose_no_entry(tmp_path: Path) -> None:
    writers = [FORKS.program(_CHILD, tmp_path, name) for name in "ab"]
    assert [process.communicate() for process in writers] == [(b"", b"")] * 2
    assert [process.returncode for process in writers] == [0, 0]

    assert len(list(HarvestLedger(tmp_path).entries())) == 40
