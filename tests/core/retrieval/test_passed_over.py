"""Files that give nothing to the index are said by every run, with the reason, until they do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.stored_texts import retold
from core.kernel.values.retrieval import Corpus
from core.retrieval import sources
from tests.core.retrieval.test_index_faults import found, passed_over
from tests.core.retrieval.test_navigation_worker import Room


def test_what_could_not_be_searched_is_said_by_every_run_until_it_can(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that looked at it is over, and its report with the program that made it."""
    monkeypatch.setattr(sources, "MAX_NOTE_BYTES", 5_000)
    monkeypatch.setattr(sources, "YOUNG_NS", -(10**18))
    large, binary = room.notes / "large.md", room.notes / "binary.md"
    large.write_text("word\n" * 1_500)
    binary.write_bytes(b"\0\1\2" * 100)
    first = passed_over(room.index())
    room.shared.close()
    again = room.index()
    room.asked = replace(room.asked, corpora=(Corpus.NOTES, Corpus.KNOWLEDGE))
    part = room.index(only=(Corpus.KNOWLEDGE,))

    assert first.keys() == {"large.md", "binary.md"}
    assert (again.read, passed_over(again), passed_over(part)) == (0, first, first)

    large.write_text("A zebra.\n")
    binary.unlink()
    mended = room.index()
    assert (mended.passed_over, mended.read, found(room, "zebra")) == ((), 1, ["large.md"])


def test_rules_of_gitignore_that_are_not_followed_are_said(room: Room) -> None:
    """What they leave out may be found, and read by a model."""
    (room.notes / ".gitignore").write_text("[[:letter:]]*\n")

    assert list(passed_over(room.index()).values()) == [
        "the program does not understand 1 rule of this file and does not apply them"
    ]


@pytest.mark.usefixtures("german")
def test_the_index_keeps_its_reasons_in_english(room: Room) -> None:
    """They are told again in the language of whoever reads them, and the Hook API gives them as they stand."""
    (room.notes / "tide.md").write_text("---\ntags: [a\n---\nThe tide.\n")

    (reason,) = passed_over(room.index()).values()

    assert reason.startswith("the file's front matter: YAML cannot read line")
    assert type(reason) is str
    assert retold(reason).startswith("der Vorspann der Datei: YAML kann Zeile")
