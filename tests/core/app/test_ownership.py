"""Who owns a home: asked again and again, so that one that lost it leaves what happens once, and takes over when it can."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from core.app.home import Holder, Ownership
from core.kernel import paths
from core.kernel.errors import LockedError
from core.signals.signals_messages import PutSignalsAway
from tests.command_forks import FORKS, Forked
from tests.core.app.programs import Programs, until
from tests.patience import PATIENCE_S

ANOTHER_PROGRAM = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from core.app.home import Ownership
from core.signals.inbox import Inbox
home = Path(sys.argv[1])
other = home.with_name("other")
Ownership(other, is_wanted=True).take()
for name in ("owner.toml", "home.lock"):  # the first takes a lock anew that is only removed, faster than we start
    os.replace(other / name, home / name)
note = home / "inbox" / "claimed.txt"
note.write_text("Read, and taken by no turn.")
os.utime(note, (0, 0))
Inbox(home, lambda: datetime.now(UTC)).read()
print("up", flush=True)
sys.stdin.read()
"""


def start_another_program(home: Path) -> Forked:
    """A process that owns the home and has read a file out of its inbox."""
    child = FORKS.program(ANOTHER_PROGRAM, home, has_input=True)
    assert child.line() == "up"
    return child


def owning(home: Path) -> Ownership:
    made = Ownership(home, is_wanted=True)
    made.take()
    return made


def test_a_command_never_owns_a_home_and_a_second_program_is_turned_away(tmp_path: Path) -> None:
    first = owning(tmp_path)
    command = Ownership(tmp_path, is_wanted=False)
    command.take()
    assert (first.is_ours(), command.is_ours(), command.look()) == (True, False, None)
    with pytest.raises(LockedError, match="already has this data folder open"):
        owning(tmp_path)
    first.release()

    assert not first.is_ours()
    assert command.look() is None
    assert not command.is_ours()


def test_a_lock_that_was_removed_is_taken_anew_where_nobody_came_between(tmp_path: Path) -> None:
    owner = owning(tmp_path)
    (tmp_path / paths.HOME_LOCK_FILE).unlink()
    assert not owner.is_ours(), "whoever starts now could own it too"

    assert owner.look() is None
    assert owner.is_ours()
    with pytest.raises(LockedError):
        owning(tmp_path)
    owner.release()


def test_only_one_of_two_owns_a_home_whose_lock_was_removed_and_the_other_when_that_one_is_gone(
    tmp_path: Path,
) -> None:
    first = owning(tmp_path)
    (tmp_path / paths.HOME_LOCK_FILE).unlink()
    second = owning(tmp_path)
    assert (first.is_ours(), second.is_ours()) == (False, True)
    held = first.look()
    assert isinstance(held, Holder)
    assert held.words == f"process {os.getpid()}"
    assert first.look() == held
    second.release()

    assert first.look() is None
    assert first.is_ours()
    first.release()


def test_one_that_lost_a_home_takes_no_name_of_its_owner_away(tmp_path: Path) -> None:
    first = owning(tmp_path)
    (tmp_path / paths.HOME_LOCK_FILE).unlink()
    second = owning(tmp_path)
    first.release()

    assert (tmp_path / paths.OWNER_FILE).exists()
    assert second.is_ours()
    assert first.look() is None
    second.release()
    assert not first.is_ours(), "what was let go for good is not taken again"


def test_a_folder_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    owner = owning(tmp_path / "home")
    (tmp_path / "home").rename(tmp_path / "moved")

    assert owner.look() is None
    assert not (tmp_path / "home").exists()
    assert not owner.is_ours()
    (tmp_path / "moved").rename(tmp_path / "home")
    assert owner.is_ours()
    owner.release()


@pytest.mark.slow
def test_a_program_takes_over_without_a_restart_when_the_one_that_has_its_home_is_killed(
    tmp_path: Path,
) -> None:
    program = Programs(tmp_path)
    first = program.start(watches=True)
    try:
        until(first, lambda _: (program.home / "inbox").is_dir())
        child = start_another_program(program.home)
        until(first, lambda s: s.program.holder == f"process {child.pid}")
        note = program.home / "inbox" / "beside.txt"
        note.write_text("Dropped while the other had it.", encoding="utf-8")
        os.utime(note, (0, 0))
        os.kill(child.pid, signal.SIGKILL)
        child.communicate(timeout=PATIENCE_S)
        state = until(first, lambda s: len(s.signals.waiting) == 2)
        first.send(PutSignalsAway())
        until(first, lambda s: not s.signals.waiting)
    finally:
        program.stop()

    assert [one.sender for one in state.signals.waiting] == ["claimed.txt", "beside.txt"]
    assert state.program.holder == ""
    assert len(os.listdir(program.home / "inbox" / "taken")) == 2
