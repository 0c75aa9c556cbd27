"""Words of a failure: what failed, what to do, and where, as sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.kernel.errors import SlopError
from core.kernel.language import as_sentences


@pytest.mark.parametrize("what", ["It is too long", "It is too long."])
@pytest.mark.parametrize("remedy", ["Shorten it", "Shorten it."])
def test_one_full_stop_stands_between_sentences_whether_or_not_they_bring_their_own(
    what: str, remedy: str
) -> None:
    assert str(SlopError(what, remedy=remedy, where="/a")) == "It is too long. Shorten it. /a"
    assert str(SlopError(what, where="/a")) == "It is too long. /a"
    assert str(SlopError(what, remedy=remedy)) == f"It is too long. {remedy}"


def test_what_comes_last_stays_as_it_is() -> None:
    assert [str(SlopError(words)) for words in ("", "It failed", "Gone.")] == ["", "It failed", "Gone."]
    assert str(SlopError("No folder", where="/a/..")) == "No folder. /a/.."


def test_a_question_gets_no_full_stop_behind_its_mark() -> None:
    failure = SlopError("'limit' is not a setting; did you mean day_limit?", remedy="Look at the list")

    assert str(failure) == "'limit' is not a setting; did you mean day_limit? Look at the list"
    assert as_sentences("", "Why?", "", "So", is_closed=True) == "Why? So."
    assert as_sentences("Stop!", is_closed=True) == "Stop!"


def test_nobody_joins_sentences_by_a_full_stop_of_their_own() -> None:
    sources = {
        path: path.read_text(encoding="utf-8")
        for room in ("core", "panels", "gui")
        for path in Path(room).rglob("*.py")
    }

    own = [str(path) for path, text in sources.items() if re.search(r"""["'][.] ["']([.]join[(]|,)""", text)]

    assert own == [], "as_sentences of core.kernel.language joins them"
    assert len(sources) > 100
