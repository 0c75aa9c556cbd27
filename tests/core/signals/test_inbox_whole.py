"""A file that is dropped into the inbox of a running program, with real files and a real watch."""

from __future__ import annotations

import os
from pathlib import Path

from core.kernel.values.signals import SignalSource
from core.signals.signals_messages import PutSignalsAway
from tests.core.app.programs import Programs, until


def test_a_dropped_file_becomes_a_signal(tmp_path: Path) -> None:
    program = Programs(tmp_path)
    inbox = program.home / "inbox"
    inbox.mkdir(parents=True)
    before = inbox / "before.txt"
    before.write_text("Dropped while nothing ran.", encoding="utf-8")
    os.utime(before, (0, 0))
    controller = program.start(watches=True)
    try:
        until(controller, lambda s: len(s.signals.waiting) == 1)
        draft = inbox / ".note.txt"
        draft.write_text("Look at the logs.", encoding="utf-8")
        os.utime(draft, (0, 0))
        draft.rename(inbox / "note.txt")
        state = until(controller, lambda s: len(s.signals.waiting) == 2)
    finally:
        program.stop()

    said = [(one.source, one.sender, one.text) for one in state.signals.waiting]
    assert said == [
        (SignalSource.INBOX, "before.txt", "Dropped while nothing ran."),
        (SignalSource.INBOX, "note.txt", "Look at the logs."),
    ]
    assert sorted(os.listdir(inbox)) == ["waiting"]


def test_a_file_that_no_turn_took_is_told_of_by_the_next_program_and_one_put_away_is_not(
    tmp_path: Path,
) -> None:
    program = Programs(tmp_path)
    inbox = program.home / "inbox"
    inbox.mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (inbox / name).write_text(f"This is {name}.", encoding="utf-8")
        os.utime(inbox / name, (0, 0))
    try:
        first = program.start(watches=True)
        state = until(first, lambda s: len(s.signals.waiting) == 2)
        first.send(PutSignalsAway(state.signals.waiting[0].id))
        until(first, lambda s: len(s.signals.waiting) == 1)
        first.stop()
        state = until(program.start(watches=True), lambda s: bool(s.signals.waiting))
    finally:
        program.stop()

    assert [(one.sender, one.text) for one in state.signals.waiting] == [("b.txt", "This is b.txt.")]
    assert [name[-5:] for name in os.listdir(inbox / "taken")] == ["a.txt"]
    assert [name[-5:] for name in os.listdir(inbox / "waiting")] == ["b.txt"]
