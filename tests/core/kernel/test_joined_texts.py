"""Texts put together keep what they say in English, in every way in which `core` puts them together."""

from __future__ import annotations

import pytest

from core.kernel.errors import SlopError
from core.kernel.language import english, joined, spliced, tr
from core.kernel.opener import OddFileError


@pytest.mark.usefixtures("german")
def test_a_text_that_went_through_an_error_or_a_form_is_known_in_english() -> None:
    text = tr("The editor cannot be started: {strerror}", strerror=tr("permission denied"))
    kept = {
        str(SlopError(text)): "The editor cannot be started: permission denied",
        str(ValueError(text)): "The editor cannot be started: permission denied",
        str(text): "The editor cannot be started: permission denied",
        spliced("{}.", text): "The editor cannot be started: permission denied.",
        spliced("{}: {:,}", "a", 1_000): "a: 1,000",
        spliced("a: {}", ValueError(text)): "a: The editor cannot be started: permission denied",
        spliced("a: {}", OddFileError(text, "Move it", "/f")): (
            "a: The editor cannot be started: permission denied. Move it: /f"
        ),
        joined(". ", (text, "x")): "The editor cannot be started: permission denied. x",
    }
    assert {english(said): told for said, told in kept.items()} == {told: told for told in kept.values()}
    assert all("Editor" in said for said, told in kept.items() if "editor" in told)


def test_in_english_a_form_is_a_plain_text() -> None:
    assert type(spliced("{}.", tr("No editor is set"))) is str
