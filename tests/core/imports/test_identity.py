"""Identity of imported conversations: no id, one id twice, no date; nothing that was said is lost or called here."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.imports.import_plan import LABELS, NO_DATE, OTHER_WORDS, sum_text
from core.imports.import_run import UNTICKED, ImportRequest, run_import
from core.imports.import_sources import KNOWN
from core.kernel.language import LANGUAGES, language, speak
from core.kernel.values.imports import ImportReport, TranscriptKind
from core.kernel.values.records import MarkRecord, MessageRecord
from core.talk.discussion import log
from core.talk.discussion.discussion_meta import read_meta
from core.talk.transcripts import chatgpt
from core.talk.transcripts.transcript_reader import paths
from panels.harvest.conversations import origin_words
from tests.core.imports.test_run import FIRST, NOW, home, ids, imported, talk, words

__all__ = ["home"]


def said(home: Path) -> set[str]:
    return {text for one in ids(home) for text in words(home, one)}


def test_conversations_without_an_id_are_told_apart_by_what_they_say(home: Path) -> None:
    odd: list[Any] = ["", 5, None]
    given = [{**talk(("u1", "", f"Question {n}?")), "id": key} for n, key in enumerate(odd)]
    first = imported(home, given)

    assert (first.made, said(home)) == (3, {"Question 0?", "Question 1?", "Question 2?"})
    assert imported(home, given).new_count == 0
    grown = [{**talk(("u1", "", "Question 0?"), ("a1", "u1", "Answer.")), "id": None}]
    assert imported(home, grown).grown == 1, "it is the same one when it grew"


def test_an_id_with_other_words_becomes_a_branch_and_is_said(home: Path) -> None:
    imported(home, [talk(("u1", "", "Which datum?"), ("a1", "u1", "Mean sea level."))])
    other = [talk(("u1", "", "Which datum?"), ("a1", "u1", "Lowest astronomical tide."))]
    report = imported(home, other)

    assert (report.made, report.skipped[OTHER_WORDS]) == (1, 1)
    assert said(home) == {"Which datum?", "Mean sea level.", "Lowest astronomical tide."}
    branch = next(one for one in ids(home) if "Lowest astronomical tide." in words(home, one))
    assert read_meta(home, branch).meta.parent_id in ids(home)
    assert imported(home, other).new_count == 0, "the second time it is here"


def test_two_of_one_id_in_one_file_keep_the_words_of_both(home: Path) -> None:
    imported(home, [talk(("u1", "", "One?")), talk(("u1", "", "Two?"))])

    assert said(home) == {"One?", "Two?"}


def test_a_talk_without_dates_has_that_of_its_file_also_when_the_file_is_touched(home: Path) -> None:
    path = home.parent / "chat.md"
    path.write_text("# Chat\n\n## User\n\nWhy?\n\n## Assistant\n\nSo.\n", encoding="utf-8")
    os.utime(path, (1.6e9, 1.6e9))

    def run() -> ImportReport:
        return run_import(ImportRequest(home, (str(path),), NOW, "p", "m", is_dry=False))

    first = run()
    (made,) = ids(home)
    records = log.read(home, made).records
    assert made.startswith("20200913-")
    assert {one.at for one in records if isinstance(one, MessageRecord)} == {
        datetime.fromtimestamp(1.6e9, UTC)
    }
    assert first.skipped[NO_DATE] == 1
    assert any("The source gives no date" in one.text for one in records if isinstance(one, MarkRecord))
    os.utime(path, (1.65e9, 1.65e9))
    assert (run().new_count, ids(home)) == (0, [made])


def test_what_the_person_unticked_is_not_taken_and_counted(home: Path) -> None:
    given = [talk(*FIRST), talk(*FIRST, key="c2")]
    dry = imported(home, given, dry=True)
    path = str(home.parent / "export-0.json")
    left = frozenset({dry.rows[0].discussion_id})
    report = run_import(ImportRequest(home, (path,), NOW, "p", "m", is_dry=False, without=left))

    assert ([row.why for row in report.rows], report.made) == ([UNTICKED, ""], 2)
    assert dry.rows[0].discussion_id not in ids(home)


def test_titles_are_the_first_words_of_a_person_not_of_a_program(home: Path) -> None:
    command = "<command-message>insights is running</command-message>"
    rows = imported(
        home,
        [
            {
                **talk(("u1", "", "/add **"), ("a1", "u1", "Added."), ("u2", "a1", "Why is it slow?")),
                "title": "",
            },
            {**talk(("u1", "", command), ("u2", "u1", "What do tides do?"), key="c2"), "title": command},
            {**talk(("u1", "", "/etc/fstab is broken, why?"), key="c3"), "title": ""},
        ],
    ).rows

    assert [row.title for row in rows] == [
        "Why is it slow?",
        "What do tides do?",
        "/etc/fstab is broken, why?",
    ]


def test_a_comb_of_answers_is_read_in_a_time_that_grows_with_it(home: Path) -> None:
    """Its paths alone, each whole, would be quadratic: 12,000 leaves took 44 s and 1.2 GB."""
    turns = [(f"u{n}", f"u{n - 1}" if n else "", "More?") for n in range(700)]
    leaves = [(f"a{n}", f"u{n}", "So.") for n in range(700)]
    given = chatgpt.read(talk(*turns, *leaves, current="a699"))
    found = paths(given, most_messages=10_000)

    assert sum(map(len, found.paths)) <= 10_000
    assert (len(found.paths[0]), len(found.paths) + found.left) == (701, 700)
    report = imported(home, [talk(*turns, *leaves, current="a699")], dry=True)
    assert report.rows[0].new >= 701
    assert report.skipped["branches over the bound"] >= 500


def test_a_cut_export_says_first_that_it_is_cut(home: Path) -> None:
    path = home.parent / "conversations.json"
    whole = json.dumps([talk(*FIRST), talk(*FIRST, key="c2")])
    for end, head in (
        (-90, "conversations.json is cut off in the middle; "),
        (-len(whole) + 300, "The program could read nothing. "),
    ):
        path.write_text(whole[:end])
        report = run_import(ImportRequest(home, (str(path),), NOW, "p", "m"))
        assert sum_text(report).startswith(head)
        assert "Export again" in report.faults[0].remedy
        assert "nothing new" not in sum_text(report)


@pytest.mark.usefixtures("german")
def test_a_cut_export_is_named_by_its_file_alone_in_every_language(home: Path) -> None:
    path = home.parent / "conversations.json"
    path.write_text(json.dumps([talk(*FIRST), talk(*FIRST, key="c2")])[:-90])
    report = run_import(ImportRequest(home, (str(path),), NOW, "p", "m"))

    assert "nach Gespräch 1" in report.faults[0].place
    assert sum_text(report).startswith("conversations.json bricht mittendrin ab; ")


def test_a_cut_archive_and_a_file_of_no_program_say_what_to_do(home: Path) -> None:
    archive, other = home.parent / "export.zip", home.parent / "notes.json"
    archive.write_bytes(b"PK\x03\x04" + bytes(500))
    other.write_text("{}")
    report = run_import(ImportRequest(home, (str(archive), str(other)), NOW, "p", "m"))

    assert "the archive is cut off" in report.faults[0].why
    assert "Choose an export or a session" in report.faults[1].remedy


def test_what_to_choose_names_every_program_that_is_known() -> None:
    ours = {TranscriptKind.SHAREGPT, TranscriptKind.MESSAGES, TranscriptKind.PLAIN}
    ours |= {TranscriptKind.EXPORT, TranscriptKind.DISCUSSION}
    listed = KNOWN.partition("(")[2].partition(")")[0].split(", ")
    programs = {
        name.partition(" (")[0].removesuffix(" CLI") for kind, name in LABELS.items() if kind not in ours
    }

    assert programs == {*listed}


def test_files_that_hold_no_conversation_are_named(home: Path) -> None:
    folder = home.parent / "folder"
    folder.mkdir()
    for name in ("notes.md", "run.log"):
        (folder / name).write_text("x")
    report = run_import(ImportRequest(home, (str(folder),), NOW, "p", "m"))

    assert report.other_names == ("notes.md", "run.log")


@pytest.mark.parametrize("tag", sorted(LANGUAGES))
def test_the_mark_of_an_import_names_its_origin_in_every_language(home: Path, tag: str) -> None:
    before = language()
    speak(tag)
    try:
        report = imported(home, [talk(*FIRST)])
    finally:
        speak(before)
    (mark,) = (
        one for one in log.read(home, report.rows[0].discussion_id).records if isinstance(one, MarkRecord)
    )

    assert origin_words(mark.text) == "from ChatGPT"


def test_what_a_program_notes_beside_a_session_is_no_file_without_a_conversation(home: Path) -> None:
    folder = home.parent / "sessions"
    folder.mkdir()
    row = {"type": "message", "id": "m", "message": {"role": "user", "content": "When?"}}
    (folder / "one.jsonl").write_text(
        f"{json.dumps({'type': 'session_start', 'id': 'd'})}\n{json.dumps(row)}\n"
    )
    for name in ("one.settings.json", "one.meta.json", "lone.settings.json"):
        (folder / name).write_text('{"model": "m"}')
    report = run_import(ImportRequest(home, (str(folder),), NOW, "p", "m"))

    assert (report.made, report.other_names) == (1, ("lone.settings.json",))
    assert run_import(ImportRequest(home, (str(folder / "one.meta.json"),), NOW, "p", "m")).faults
