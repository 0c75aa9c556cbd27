"""The end of a program while the context is still being counted: not waited for, and nothing said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.app import crunch, outside
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from tests.core.app.programs import Programs, until
from tests.patience import PATIENCE_S, ends

pytestmark = pytest.mark.usefixtures("own_worker_process")


def test_the_end_cuts_a_count_off_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Under load `send` noted that tokens were estimated, since its worker process was closed."""
    child = tmp_path / "never_answers.py"
    child.write_text("import sys\nsys.stdin.buffer.read()\n")
    monkeypatch.setattr(crunch, "_CHILD", child)
    monkeypatch.setattr(outside, "STOP_WORKERS_S", 10 * PATIENCE_S)  # who waits for the count waits for ever
    programs = Programs(tmp_path)
    try:
        program = programs.start()
        for _ in range(2):
            program.send(CreateDiscussion())
        state = until(program, lambda s: len(s.discussions.summaries) == 2 and bool(s.context.reports))
        for name in state.discussions.summaries:
            program.send(SelectDiscussion(name))
        ends(program.stop)
    finally:
        programs.stop()

    assert not [record.message for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]
    assert not program.snapshot().program.notices
