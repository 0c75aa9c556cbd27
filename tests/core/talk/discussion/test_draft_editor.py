"""A draft in the person's own editor: what an earlier editor left is never written over unread."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.updates import OperationFailed
from core.talk.discussion.discussion_messages import DraftEdited, EditDraft
from core.talk.discussion.draft_editor import FILE, DraftEditor


def test_a_text_that_an_editor_left_and_that_cannot_be_read_stays(tmp_path: Path) -> None:
    left = paths.discussion_dir(tmp_path, "d1") / FILE
    left.parent.mkdir(parents=True)
    left.write_bytes("Ebbe für drei Tage".encode("latin-1"))
    told: list[DraftEdited | OperationFailed] = []
    editor = DraftEditor(root=tmp_path, emit=told.append, environ={"VISUAL": "true"})

    with pytest.raises(StorageError, match="Save the file as UTF-8"):
        editor.handle(EditDraft(discussion_id="d1", text="Compare both."))

    assert left.read_bytes() == "Ebbe für drei Tage".encode("latin-1")
    assert told == [DraftEdited(discussion_id="d1", began="Compare both.", text="Compare both.")]
