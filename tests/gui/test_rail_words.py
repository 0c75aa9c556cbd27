"""The words under the rail's buttons, in each language."""

from __future__ import annotations

import pytest

from core.kernel.language import language, speak, tr
from gui.metrics import Measure
from panels.shell.layout import PLACES, STEPS, WIDE_PX

WORDS = {"Discussions", "Settings", *(place.label for place in PLACES)}


@pytest.mark.parametrize("tag", ["en", "de"])
def test_the_words_under_the_rails_buttons_are_whole(measure: Measure, tag: str) -> None:
    before = language()
    speak(tag)
    try:
        widest = max(measure.width(tr(word), "small") for word in WORDS)
    finally:
        speak(before)

    wordy = [width for width, _, _ in STEPS if width > WIDE_PX / 2]
    assert widest <= min(wordy)
