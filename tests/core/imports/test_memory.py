"""What an import has read whole is passed over until it changes; nothing that a person could miss is."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import pytest

from core.imports import import_sources
from core.imports.import_run import ImportRequest, run_import
from core.kernel.opener import open_file
from core.kernel.values.imports import ImportReport

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)


def session(*said: str, key: str = "s") -> str:
    rows = (
        {
            "type": "assistant" if number % 2 else "user",
            "uuid": f"{key}{number}",
            "parentUuid": f"{key}{number - 1}" if number else None,
            "sessionId": key,
            "timestamp": f"2026-10-01T08:0{number}:00.000Z",
            "message": {"role": "assistant" if number % 2 else "user", "content": text},
        }
        for number, text in enumerate(said)
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "a.jsonl").write_text(session("One?", "Yes.", key="a"))
    (folder / "b.jsonl").write_text(session("Two?", "No.", key="b"))
    return folder


def imported(place: Path, *, is_dry: bool = False, without: frozenset[str] = frozenset()) -> ImportReport:
    home, given = place.parent / "home", (str(place),)
    return run_import(
        ImportRequest(
            home=home,
            paths=given,
            now=NOW,
            provider="anthropic",
            model="claude",
            is_dry=is_dry,
            without=without,
        )
    )


def imported_from(given: Path) -> ImportReport:
    home = given.parent / "home"
    request = ImportRequest(home=home, paths=(str(given),), now=NOW, provider="acme", model="m", is_dry=False)
    return run_import(request)


def replaced(path: Path, text: str, at_ns: int) -> None:
    path.write_text(text)
    os.utime(path, ns=(at_ns, at_ns))


def test_a_folder_that_did_not_change_is_passed_over_without_opening_a_file_of_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def counted(path: Path, *, follows_links: bool = True) -> BinaryIO:
        opened.append(path.name)
        return open_file(path, follows_links=follows_links)

    monkeypatch.setattr(import_sources, "open_file", counted)
    imported(place)
    assert {"a.jsonl", "b.jsonl"} <= set(opened), "the first time both are read"
    opened.clear()

    assert imported(place).unchanged == 2
    assert opened == []


def test_a_file_that_did_not_change_is_counted_and_not_read(place: Path) -> None:
    first = imported(place)
    again = imported(place)

    assert (first.made, first.unchanged) == (2, 0)
    assert (again.count, again.files, again.unchanged, again.new_count, again.rows) == (2, 2, 2, 0, ())


def test_other_words_of_one_size_and_date_are_read(place: Path) -> None:
    imported(place)
    path, at = place / "a.jsonl", (place / "a.jsonl").stat().st_mtime_ns
    replaced(
        path, path.read_text().replace("Yes.", "Yea."), at
    )  # as a backup puts back what was there before
    assert (imported(place).new_messages, imported(place).unchanged) == (1, 2)


def test_a_link_that_leads_elsewhere_is_read(place: Path) -> None:
    link, at = place.parent / "link.jsonl", (place / "a.jsonl").stat().st_mtime_ns
    os.utime(place / "b.jsonl", ns=(at, at))
    (place / "b.jsonl").write_text(session("Who?", "Moon", key="b"))
    os.utime(place / "b.jsonl", ns=(at, at))
    (place / "a.jsonl").write_text(session("One?", "Yes.", key="a"))
    os.utime(place / "a.jsonl", ns=(at, at))
    link.symlink_to(place / "a.jsonl")
    first = imported_from(link)
    link.unlink()
    link.symlink_to(place / "b.jsonl")
    second = imported_from(link)
    assert (first.made, second.made, second.unchanged) == (1, 1, 0)


def test_a_branch_is_read_again_once_its_trunk_has_come(place: Path) -> None:
    first = "97f2b291-b7b7-4eb1-9fb7-99f7bb84a8a0"
    kept = {"sessionId": first, "messageUuid": "a1"}
    row = json.loads(session("Go on.", key="c"))
    row |= {"uuid": "c9", "parentUuid": "a1", "sessionId": "c", "forkedFrom": kept}
    trunk = (place / "a.jsonl").read_text()
    (place / "a.jsonl").unlink()
    (place / "c.jsonl").write_text(f"{json.dumps(row)}\n")
    imported(place)
    (place / f"{first}.jsonl").write_text(trunk)
    assert imported(place).unchanged == 1  # b alone
    assert imported(place).unchanged == 3


def test_a_file_that_grew_adds_its_part_alone(place: Path) -> None:
    imported(place)
    (place / "a.jsonl").write_text(session("One?", "Yes.", "Why?", "So.", key="a"))
    again = imported(place)

    assert (again.grown, again.new_messages, again.unchanged) == (1, 2, 1)


def test_a_date_alone_is_no_change_and_other_words_of_the_same_length_are(place: Path) -> None:
    imported(place)
    path = place / "a.jsonl"
    replaced(path, path.read_text(), 1_700_000_000_000_000_000)
    assert imported(place).unchanged == 2
    replaced(path, path.read_text().replace("Yes.", "Yea."), 1_700_000_001_000_000_000)
    again = imported(place)

    assert (again.unchanged, again.new_messages) == (1, 1)


def test_a_discussion_that_is_not_here_any_more_is_made_again(place: Path) -> None:
    imported(place)
    folders = sorted((place.parent / "home" / "discussions").iterdir())
    shutil.rmtree(folders[0])
    again = imported(place)

    assert (again.made, again.unchanged) == (1, 1)


def test_what_was_left_out_looked_at_or_damaged_is_read_again(place: Path) -> None:
    rows = imported(place, is_dry=True).rows
    imported(place, without=frozenset({rows[0].discussion_id}))
    again = imported(place)
    assert (again.made, again.unchanged) == (1, 1)

    with (place / "b.jsonl").open("a") as file:
        file.write("no row\n")
    imported(place)
    assert [len(imported(place).faults) for _ in range(2)] == [1, 1]


def test_a_file_with_a_torn_end_is_passed_over_too_and_says_so_each_time(place: Path) -> None:
    path = place / "b.jsonl"
    path.write_text(path.read_text() + '{"type":"user","mess')
    first, again = imported(place), imported(place)

    assert (again.count, again.unchanged, again.new_count) == (2, 2, 0)
    assert again.faults == first.faults
    assert again.faults[0].why == "the last line ends in the middle; the program read the lines before it"
    path.write_text(session("Two?", "No.", "Why?", key="b"))
    assert (imported(place).new_messages, imported(place).faults) == (1, ())


@pytest.mark.usefixtures("german")
def test_what_is_wrong_with_a_file_that_is_passed_over_is_told_in_the_language_of_now(place: Path) -> None:
    path = place / "b.jsonl"
    path.write_text(path.read_text() + '{"type":"user","mess')
    first, again = imported(place), imported(place)
    assert again.faults == first.faults
    assert "letzte Zeile" in again.faults[0].why


def test_a_session_of_many_files_is_passed_over_until_one_of_them_changes(place: Path) -> None:
    storage = place / "storage"
    for message, text in (("msg_1", "Ask?"), ("msg_2", "So.")):
        role = "user" if message == "msg_1" else "assistant"
        for name, told in (
            (
                f"message/ses_1/{message}.json",
                {"id": message, "role": role, "time": {"created": 1793000000000}},
            ),
            (f"part/{message}/prt_1.json", {"id": "prt_1", "type": "text", "text": text}),
        ):
            (storage / name).parent.mkdir(parents=True, exist_ok=True)
            (storage / name).write_text(json.dumps(told))
    (storage / "session" / "p").mkdir(parents=True)
    (storage / "session" / "p" / "ses_1.json").write_text(json.dumps({"id": "ses_1", "title": "Tides"}))
    first, again = imported(place), imported(place)
    assert (first.made, again.unchanged, again.rows) == (3, 3, ())

    (storage / "message" / "ses_1" / "msg_3.json").write_text(json.dumps({"id": "msg_3", "role": "user"}))
    (storage / "part" / "msg_3").mkdir()
    (storage / "part" / "msg_3" / "prt_1.json").write_text(json.dumps({"type": "text", "text": "And?"}))
    assert (imported(place).new_messages, imported(place).unchanged) == (1, 3)
    part = storage / "part" / "msg_3" / "prt_1.json"
    part.write_text(json.dumps({"type": "text", "text": "Or?"}))
    assert imported(place).unchanged == 2
