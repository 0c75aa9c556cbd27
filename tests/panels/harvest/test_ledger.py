"""The ledger as a person meets it: the newest first, by the names of discussions, searched and narrowed."""

from __future__ import annotations

from msgspec.structs import replace

from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at, rows


def test_the_ledger_shows_the_newest_first_with_what_became_of_each() -> None:
    words = [" | ".join(row) for row in rows(open_at("ledger", hs.looked()))]

    assert words == [
        "old/x.tmp | 13:00 · 10 B · in the trash | empty, trashed",
        "h92/log.jsonl | 3 Nov · 8 KB · in the trash | trashed",
        "old/big.jsonl | 2 Nov · 3.0 MB · kept | too large",
        "h91/log.jsonl | 1 Nov · 80 KB · harvest output invalid after 2 attempts: not valid JSON | failed",
        "old/export.md | 2 Oct · 9 KB · 4 facts · 2 decisions · 1 open task | undone",
        "h90/log.jsonl | 1 Oct · 41 KB · 4 facts · 2 decisions · 1 open task | harvested",
    ]


def test_the_ledger_calls_a_discussion_by_its_name() -> None:
    look = replace(hs.look(), sources={"2026-10-01-tides": "h90"})
    entry = replace(hs.ledger()[0], path="/x/d1/log.jsonl", sha256="ff", at="2026-11-20T14:00:00+00:00")
    screen = open_at(
        "ledger", hs.state(hs.seen(look=replace(look, ledger=(*look.ledger, entry)))), is_wide=True
    )

    assert rows(screen)[0] == [
        "harvested",
        "Cache TTL policy",
        "4 facts · 2 decisions · 1 open task",
        "41 KB",
        "14:00",
    ]
    assert rows(screen)[-1][1] == "2026-10-01-tides"


def test_the_ledger_can_be_searched_and_narrowed() -> None:
    screen = open_at("ledger", hs.looked())

    screen.ui.type("Find an entry", "invalid")
    assert [row[-1] for row in rows(screen)] == ["failed"]
    assert screen.ui.shows("1 of 6 entries")
    screen.ui.type("Find an entry", "")
    screen.ui.choose("Show only one status", "Harvested")
    assert [row[-1] for row in rows(screen)] == ["undone", "harvested"]
    screen.ui.type("Find an entry", "nowhere")
    assert screen.ui.shows("No entry matches.")


def test_an_empty_ledger_says_so() -> None:
    assert open_at("ledger", hs.nothing()).ui.shows("Nothing is harvested yet.")
