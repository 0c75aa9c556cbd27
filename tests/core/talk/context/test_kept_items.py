"""What a preset's file cannot hold is refused when it is entered, and not lost later."""

from __future__ import annotations

from core.kernel.values.curation import FileItem
from core.kernel.values.state import AppState
from core.services.settings.settings_schema import MOST_PATH_CHARS
from core.talk.context.context_messages import ChangePreset, CreatePreset
from core.talk.context.context_step import change, create

LINES = FileItem("one line of a pasted text\n" * 5_000)
PROBLEM = "is too long for a path: it has 130,000 characters, over 4,096."


def test_a_pasted_text_is_no_path_and_makes_no_preset() -> None:
    state, effects = create(AppState(), CreatePreset("default", (LINES,)))

    assert (dict(state.config.project.presets), effects) == ({}, ())
    (notice,) = state.program.notices
    assert notice.text.startswith("'one line of a pasted text one line")
    assert notice.text.endswith(PROBLEM)
    assert len(notice.text) < 200


def test_the_longest_path_is_taken_and_what_stands_beside_a_longer_one_stays() -> None:
    longest = FileItem("a" * MOST_PATH_CHARS)
    state, _ = create(AppState(), CreatePreset("default", (longest,)))
    assert not state.program.notices

    state, effects = change(state, ChangePreset("default", (longest, LINES)))

    assert state.config.project.presets["default"].items == (longest,)
    assert effects == ()
    (notice,) = state.program.notices
    assert notice.text.endswith(PROBLEM)
