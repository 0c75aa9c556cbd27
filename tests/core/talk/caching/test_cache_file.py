"""`cache.json`: what was known comes back, and no file, however bad, stops anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.kernel import paths
from core.kernel.disk import Disk
from core.kernel.errors import StorageError
from core.kernel.values.cache import (
    Balance,
    CacheLedger,
    CacheLedgerEntry,
    DiscussionCache,
    DiscussionCacheState,
    ExtensionEvidence,
    LedgerScope,
    SentDelta,
    SentKnowledge,
    SentPart,
    SentPlace,
    TurnGap,
)
from core.talk.caching.cache_file import (
    KEPT_ENTRIES,
    LoadedCache,
    cache_file,
    decode_cache,
    encode_cache,
    load_cache,
    save_cache,
)
from core.talk.caching.cache_ledger import lost_extensions

ID = "20261120-120000-abcdef"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCOPE = LedgerScope("anthropic", "key", "claude-opus-5-5", '{"effort":"high"}')
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
ENTRIES = st.builds(
    CacheLedgerEntry,
    WORDS,
    st.integers(0, 10**6),
    st.sampled_from([300, 3600]),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(lambda at: at.replace(tzinfo=UTC)),  # noqa: DTZ001
    st.just(ID),
    st.booleans(),
    WORDS | st.just(""),
)
COUNTS = st.integers(0, 10**6)
PARTS = st.lists(st.builds(SentPart, WORDS, WORDS), max_size=4).map(tuple)
SENT = st.builds(
    SentKnowledge,
    st.just(SCOPE),
    PARTS,
    ttl_s=st.sampled_from([0, 300, 3600]),
    expires_at=st.sampled_from([None, NOW]),
    documents=st.none() | PARTS,
    base=PARTS,
    deltas=st.lists(st.builds(SentDelta, WORDS, PARTS, COUNTS, st.booleans()), max_size=2).map(tuple),
    places=st.lists(st.builds(SentPlace, WORDS, WORDS, COUNTS, COUNTS, WORDS), max_size=2).map(tuple),
    folded_tokens=st.integers(-(10**6), 10**6),
)
CACHES = st.builds(
    lambda entries, epoch, gaps, turns, sent: DiscussionCache(
        DiscussionCacheState(ID, "anthropic", NOW, None),
        CacheLedger({SCOPE: {e.prefix_hash: e for e in entries}} if entries else {}),
        epoch,
        gaps,
        NOW,
        sent,
        turns=turns,
        balance=Balance(-2.5, turns),
    ),
    st.lists(ENTRIES, max_size=8),
    st.integers(0, 99),
    st.lists(st.builds(TurnGap, st.floats(0, 1e7), st.floats(0, 2e9)), max_size=9).map(tuple),
    st.integers(0, 99),
    SENT | st.none(),
)


def full() -> DiscussionCache:
    entry = CacheLedgerEntry(
        "h", 900, 3600, NOW + timedelta(hours=1), ID, is_extended=True, name="cachedContents/1"
    )
    state = DiscussionCacheState(
        ID, "anthropic", NOW, NOW + timedelta(hours=1), 3, 900, NOW, caching_enabled=False
    )
    gaps = (TurnGap(60.0, 1e9), TurnGap(90.5, 2e9))
    return DiscussionCache(state, CacheLedger({SCOPE: {"h": entry}}), 2, gaps, NOW, turns=3)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    paths.discussion_dir(tmp_path, ID).mkdir(parents=True)
    return tmp_path


def test_what_was_known_is_known_after_a_restart(home: Path) -> None:
    save_cache(home, ID, full())

    assert load_cache(home, ID) == LoadedCache(full())


@settings(max_examples=60, deadline=None)
@given(CACHES)
def test_every_cache_comes_back_as_it_was_and_as_the_same_bytes(cache: DiscussionCache) -> None:
    data = encode_cache(cache)

    assert decode_cache(data, ID) == LoadedCache(cache)
    assert encode_cache(decode_cache(data, ID).cache) == data


def test_no_file_is_an_empty_cache(home: Path) -> None:
    assert load_cache(home, ID) == LoadedCache()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.integers(0, 400).map(lambda end: encode_cache(full())[:end]))
def test_a_torn_or_foreign_file_is_an_empty_cache_with_a_reason(data: bytes) -> None:
    found = decode_cache(data, ID)

    assert found.cache == DiscussionCache()
    assert found.problem.startswith("The program dropped its cache record")


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 3},
        {"rows": [{}]},
        {"epoch": "x"},
        {"state": []},
        {"gaps": ["x"]},
        {"gaps_s": ["x"]},
        {"balance": 5},
        {"turns": "x"},
        {"last_turn_at": "yesterday"},
        {"format": 2},
        {"cannot_extend": [1]},
    ],
)
def test_a_file_of_another_shape_is_dropped_with_a_reason(change: dict[str, object]) -> None:
    data = json.dumps({**json.loads(encode_cache(full())), **change}).encode()

    assert decode_cache(data, ID).problem


def test_a_file_from_before_hours_and_lengths_were_kept_is_read() -> None:
    old = json.loads(encode_cache(full()))
    for key in ("gaps", "turns", "balance"):
        del old[key]
    scope = {"provider": "anthropic", "key_id": "", "model": "m", "settings": ""}
    found = decode_cache(json.dumps({**old, "gaps_s": [60.0, 90.5], "cannot_extend": [scope]}).encode(), ID)

    assert not found.problem
    assert found.cache.gaps == (TurnGap(60.0), TurnGap(90.5))
    assert (found.cache.turns, found.cache.in_habits) == (3, False)
    assert lost_extensions(found.cache.ledger) == (ExtensionEvidence("anthropic", "m", lost=1),)


def test_deep_nesting_and_figures_that_are_none_are_survived() -> None:
    deep = b'{"rows":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    text = encode_cache(full()).decode()

    assert decode_cache(deep, ID).problem
    assert decode_cache(text.replace("90.5", "NaN").encode(), ID).problem
    assert decode_cache(text.replace("90.5", "-5").encode(), ID).cache.gaps == (TurnGap(60.0, 1e9),)


def test_entries_and_state_of_another_discussion_are_not_taken_over() -> None:
    """The file was copied with its folder, or put there by hand."""
    found = decode_cache(encode_cache(full()), "20261120-120000-zzzzzz")

    assert found.cache.state is None
    assert found.cache.ledger == CacheLedger()


def test_impossible_figures_are_left_out() -> None:
    text = encode_cache(full()).decode()

    assert (
        decode_cache(text.replace('"tokens":900', '"tokens":-1').encode(), ID).cache.ledger == CacheLedger()
    )
    assert decode_cache(text.replace('"ttl_s":3600', '"ttl_s":0').encode(), ID).cache.ledger == CacheLedger()


def test_of_many_entries_those_that_live_longest_are_kept() -> None:
    entries = {str(n): CacheLedgerEntry(str(n), n, 300, NOW + timedelta(seconds=n), ID) for n in range(200)}
    kept = decode_cache(encode_cache(DiscussionCache(ledger=CacheLedger({SCOPE: entries}))), ID).cache.ledger

    assert set(kept.entries[SCOPE]) == {str(n) for n in range(200 - KEPT_ENTRIES, 200)}


def test_half_characters_and_figures_without_bounds_are_written_so_that_they_can_be_read() -> None:
    cache = DiscussionCache(epoch=3, turns=2, mode="ask \ud800", balance=Balance(float("nan"), 10**30))
    loaded = decode_cache(encode_cache(cache), ID)

    assert loaded.problem == ""
    assert (loaded.cache.epoch, loaded.cache.turns, loaded.cache.balance) == (3, 2, Balance())


def test_a_huge_file_is_not_read(home: Path) -> None:
    with cache_file(home, ID).open("wb") as file:
        file.truncate(5_000_000_000)

    assert "5,000,000,000 bytes, more than" in load_cache(home, ID).problem
    assert load_cache(home, ID).cache == DiscussionCache()


def test_a_folder_in_its_place_is_said(home: Path) -> None:
    cache_file(home, ID).mkdir()

    assert load_cache(home, ID).problem
    with pytest.raises(StorageError):
        save_cache(home, ID, full())


class FullDisk(Disk):
    """A medium without room."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_old_file_whole(home: Path) -> None:
    save_cache(home, ID, full())
    with pytest.raises(StorageError):
        save_cache(home, ID, DiscussionCache(), disk=FullDisk())

    assert load_cache(home, ID) == LoadedCache(full())


def test_an_id_cannot_leave_the_home(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        load_cache(tmp_path, "../../etc")


@pytest.mark.parametrize(
    ("name", "figure"), [("ttl_s", 10**15), ("tokens", 10**15), ("ttl_s", -1), ("ttl_s", 0)]
)
def test_an_entry_with_an_impossible_figure_is_left_out(name: str, figure: int) -> None:
    entry = CacheLedgerEntry("hash", 900, 300, NOW, ID)
    data = json.loads(encode_cache(DiscussionCache(ledger=CacheLedger({SCOPE: {"hash": entry}}))))
    data["rows"][0]["entry"][name] = figure

    assert decode_cache(json.dumps(data).encode(), ID).cache.ledger.entries == {}


def test_a_file_that_is_none_says_what_to_do_about_it(tmp_path: Path) -> None:
    place = cache_file(tmp_path, ID)
    place.parent.mkdir(parents=True)
    place.write_bytes(b" " * 5_000_000)

    problem = load_cache(tmp_path, ID).problem
    assert "5,000,000 bytes" in problem
    assert "Move the file away, or make the file smaller" in problem
    assert str(place) in problem
