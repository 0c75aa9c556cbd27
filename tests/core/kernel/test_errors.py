"""Words of a failure: what failed, what to do, and where, as sentences."""

from __future__ import annotations

import pytest

from core.kernel.errors import SlopError


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
