"""A file that was refused: said with its discussion, and gone with what it was meant for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import AttachFile, AttachText, CreateDiscussion, Detach
from tests.core.app.programs import Programs, until


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    programs = Programs(tmp_path)
    yield programs
    programs.stop()


def _notices(state: AppState) -> list[tuple[str, str]]:
    return [
        (one.discussion_id, one.text) for one in state.program.notices if one.id.startswith("attachments")
    ]


def test_the_error_of_a_file_is_its_discussions_and_goes_with_the_draft(
    programs: Programs, tmp_path: Path
) -> None:
    archive = tmp_path / "arch.zip"
    archive.write_bytes(b"PK\x03\x04\x00\xff\xfe")
    controller = programs.start()
    controller.send(CreateDiscussion("Sky"))
    chosen = until(
        controller, lambda s: s.discussions.selected_id in s.discussions.open
    ).discussions.selected_id
    controller.send(AttachFile(chosen, str(archive)))
    state = until(controller, lambda s: bool(_notices(s)))
    ((about, text),) = _notices(state)
    assert about == chosen
    assert "arch.zip" in text

    controller.send(AttachText(chosen, "a long log"))
    state = until(controller, lambda s: bool(s.discussions.open[chosen].draft.attachments))
    assert not _notices(state)

    controller.send(AttachFile(chosen, str(archive)))
    until(controller, lambda s: bool(_notices(s)))
    controller.send(Detach(chosen, state.discussions.open[chosen].draft.attachments[0].sha256))
    assert not _notices(until(controller, lambda s: not s.discussions.open[chosen].draft.attachments))


def test_of_two_equal_pastes_the_one_that_was_pressed_goes(programs: Programs) -> None:
    controller = programs.start()
    controller.send(CreateDiscussion("Sky"))
    chosen = until(
        controller, lambda s: s.discussions.selected_id in s.discussions.open
    ).discussions.selected_id
    for name in ("pasted.txt", "pasted 2.txt"):
        controller.send(AttachText(chosen, "the same log", name))
    state = until(controller, lambda s: len(s.discussions.open[chosen].draft.attachments) == 2)
    first, second = state.discussions.open[chosen].draft.attachments
    assert first.sha256 == second.sha256

    controller.send(Detach(chosen, second.sha256, second.name))

    state = until(controller, lambda s: len(s.discussions.open[chosen].draft.attachments) < 2)
    assert state.discussions.open[chosen].draft.attachments == (first,)
