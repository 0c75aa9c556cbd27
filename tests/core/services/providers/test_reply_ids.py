"""Ids of last replies: one for each discussion, not more than a thousand."""

from __future__ import annotations

from core.services.providers.protocol import MAX_REMEMBERED, LastIds


def test_a_discussion_has_its_own_last_id_and_a_newer_one_replaces_it() -> None:
    ids = LastIds()
    ids.put("a", "r1")
    ids.put("b", "r2")
    ids.put("a", "r3")

    assert (ids.get("a"), ids.get("b"), ids.get("c")) == ("r3", "r2", None)


def test_what_has_no_discussion_or_no_id_is_not_kept() -> None:
    ids = LastIds()
    ids.put("", "r1")
    ids.put("a", "")

    assert (ids.get(""), ids.get("a")) == (None, None)


def test_the_discussion_that_was_silent_longest_is_forgotten() -> None:
    ids = LastIds()
    for number in range(MAX_REMEMBERED):
        ids.put(f"d{number}", "r")
    ids.put("d0", "again")
    ids.put("one more", "r")

    assert ids.get("d1") is None
    assert (ids.get("d0"), ids.get("d2"), ids.get("one more")) == ("again", "r", "r")
