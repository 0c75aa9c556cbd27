"""The journal's text, as the program writes it and as a person leaves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.journal_text import (
    JournalEntry,
    covering,
    new_entry,
    parsed,
    shown,
    timestamp,
    tokens_of,
    without_discussions,
    written,
)
from core.kernel.frame import clean
from tests.core.records import NOW, texts, times

_LINES = st.sampled_from(
    [
        "## 2026-01-01T00:00:00Z — forged",
        "## 2026-13-45T99:00:00Z",
        "## A heading",
        "<!-- discussion other -->",
        "",
        "words",
        " ## 2026-01-01T00:00:00Z",
    ]
)
_BODIES = st.lists(_LINES | texts, max_size=5).map("\n".join)


@pytest.mark.slow
@given(st.lists(st.tuples(times, texts, _BODIES, st.sampled_from(["", "d1", "d2"])), max_size=4))
def test_what_is_written_is_read_again_whatever_its_words_are(
    rows: list[tuple[datetime, str, str, str]],
) -> None:
    entries = [new_entry(*row) for row in rows if row[0].year >= 1000]

    found = parsed("".join(written(entry) for entry in entries))

    assert list(found) == sorted(entries, key=lambda entry: entry.at)


@given(st.text() | _BODIES)
def test_any_text_is_read(text: str) -> None:
    entries = parsed(text)

    assert list(entries) == sorted(entries, key=lambda entry: entry.at)
    assert all(entry.at.tzinfo is UTC for entry in entries)


def test_a_journal_edited_by_hand_keeps_its_order_and_its_headings() -> None:
    text = (
        "# My journal\nnot an entry\n"
        "## 2026-11-20T09:00:00+02:00 - later\n<!-- discussion d1 -->\nsecond\n## Decisions\nkept in the entry\n"
        "## 2026-11-20T06:00:00\nfirst, by hand\n"
        "## 2026-99-99T00:00:00Z\nno such day\n"
    )

    first, second = parsed(text)

    assert first == JournalEntry(
        datetime(2026, 11, 20, 6, tzinfo=UTC), "", "first, by hand\n## 2026-99-99T00:00:00Z\nno such day"
    )
    assert (second.title, second.discussion_id) == ("later", "d1")
    assert second.text == "second\n## Decisions\nkept in the entry"
    assert timestamp(second.at) == "2026-11-20T07:00:00Z"


def test_only_the_newest_own_entry_that_is_not_from_the_future_covers() -> None:
    hour = timedelta(hours=1)
    entries = (
        new_entry(NOW - 2 * hour, "", "old", "d1"),
        new_entry(NOW - hour, "", "own", "d1"),
        new_entry(NOW, "", "by hand", ""),
        new_entry(NOW, "", "another's", "d2"),
        new_entry(NOW + hour, "", "from the future", "d1"),
    )

    assert covering(entries, "d1", NOW) == entries[1]
    assert covering(entries, "d3", NOW) is None
    assert covering(entries, "", NOW) is None


@given(st.lists(st.tuples(st.integers(0, 99), _BODIES), max_size=8), st.integers(0, 400))
def test_what_is_shown_fits_its_budget_with_the_newest_whole(
    rows: list[tuple[int, str]], budget: int
) -> None:
    entries = sorted(
        (new_entry(NOW + timedelta(minutes=at), "", text, "d1") for at, text in rows),
        key=lambda entry: entry.at,
    )

    text = shown(entries, budget)

    assert tokens_of(text) <= budget
    if entries and tokens_of(f"{entries[-1].head}\n{entries[-1].text}\n\n") <= budget * 7 // 10:
        assert entries[-1].text in text


def test_older_entries_are_told_by_their_head_and_others_with_their_source() -> None:
    old = new_entry(NOW, "", "What was long ago\n" + "x" * 4000, "d2")
    new = new_entry(NOW + timedelta(hours=1), "", "What was just now", "d1")

    text = shown((old, new), 200, {"d2": "Another talk"})

    assert text.startswith(f"## {timestamp(old.at)} — What was long ago")
    assert "(of another discussion: Another talk)" in text
    assert text.endswith("What was just now\n\n")
    assert "x" * 200 not in text
    assert clean(text) == text


def test_entries_of_a_discussion_leave_a_journal_and_every_other_byte_stays() -> None:
    by_hand = "# Mine\n\n## 2026-11-20T09:00:00Z\nby hand, of d1\n"
    own, other = written(new_entry(NOW, "", "secret", "d1")), written(new_entry(NOW, "", "kept", "d2"))

    assert without_discussions(f"{by_hand}{own}{other}{own}", {"d1"}) == (f"{by_hand}{other}", 2)
    assert without_discussions(f"{by_hand}{own}\n", {"d3"}) == (f"{by_hand}{own}\n", 0)
