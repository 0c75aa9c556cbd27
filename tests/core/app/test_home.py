"""The home: made, owned by one program, migrated with a way back, and never touched when it is newer than we are."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from core.app import home
from core.app.home import Holder, HomeLock, Migration
from core.kernel import paths
from core.kernel.errors import StorageError
from tests.command_forks import FORKS, Forked
from tests.core.kernel.faults import DyingDisk, FullDisk, ReadOnlyDisk, made
from tests.core.records import ID, NOW
from tests.core.talk.discussion.test_store import tree
from tests.patience import PATIENCE_S

OWNER = """
import sys
from pathlib import Path
from core.app import home
owned = home.acquire(Path(sys.argv[1]))
print(owned, flush=True)
sys.stdin.read()
"""


def start_owner(root: Path) -> Forked:
    child = FORKS.program(OWNER, root, has_input=True)
    child.line()
    return child


def upper_case(root: Path) -> None:
    for path in (root / "discussions").glob("*/meta.toml"):
        path.write_bytes(path.read_bytes().upper())
    (root / "made.txt").write_text("made")


def metas(root: Path) -> list[Path]:
    return [path.relative_to(root) for path in root.glob("discussions/*/meta.toml")] + [Path("made.txt")]


TO_TWO = Migration(1, metas, upper_case)


def broken_at(step: Callable[[Path], None], error: BaseException) -> Migration:
    def run(root: Path) -> None:
        step(root)
        raise error

    return Migration(1, metas, run)


def test_a_new_home_is_made_with_its_format(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "home"
    opened = home.open_home(root, NOW)

    assert (root / "home.toml").read_text() == "format = 1\n"
    assert (root / "discussions").is_dir()
    assert not opened.is_read_only
    assert opened.notes == (f"The program made a new data folder in {root}",)
    assert home.open_home(root, NOW).notes == ()


def test_a_home_of_a_newer_format_is_not_touched(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "home.toml").write_text("format = 7\n")
    before = tree(tmp_path)

    with pytest.raises(StorageError, match="has format 7; this program reads formats up to 1") as caught:
        home.open_home(tmp_path, NOW)

    assert "Update Manual Slop" in caught.value.remedy
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "content", [b"", b"format = 'one'", b"format = 0", b"format =", b"\xff", b"format = true"]
)
def test_a_home_file_that_says_nothing_is_reported_and_not_touched(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "home.toml").write_bytes(content)

    with pytest.raises(StorageError, match=r"home\.toml is not valid") as caught:
        home.open_home(tmp_path, NOW)

    assert "format = 1" in caught.value.remedy
    assert (tmp_path / "home.toml").read_bytes() == content


def test_a_migration_runs_once_and_keeps_a_backup(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    directory = made(tmp_path)
    old = (directory / "meta.toml").read_bytes()

    opened = home.open_home(tmp_path, NOW, current_format=2, migrations=(TO_TWO,))

    assert (directory / "meta.toml").read_bytes() == old.upper()
    assert (tmp_path / "home.toml").read_text() == "format = 2\n"
    backup = tmp_path / "backups" / "format-1-20261120-073000"
    assert tree(backup) == {f"discussions/{ID}/meta.toml": tree(backup)[f"discussions/{ID}/meta.toml"]}
    assert (backup / "discussions" / ID / "meta.toml").read_bytes() == old
    assert str(backup) in opened.notes[0]
    assert home.open_home(tmp_path, NOW, current_format=2, migrations=(TO_TWO,)).notes == ()


def test_several_migrations_run_in_order(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    ran: list[int] = []
    steps = tuple(Migration(n, lambda _: (), lambda _, n=n: ran.append(n)) for n in (3, 1, 2))  # type: ignore[misc]

    home.open_home(tmp_path, NOW, current_format=4, migrations=steps)

    assert ran == [1, 2, 3]
    assert (tmp_path / "home.toml").read_text() == "format = 4\n"


def test_a_migration_that_fails_puts_everything_back(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    made(tmp_path)
    before = tree(tmp_path / "discussions")

    with pytest.raises(
        StorageError, match="could not migrate the data folder from format 1: no such key"
    ) as caught:
        home.open_home(
            tmp_path, NOW, current_format=2, migrations=(broken_at(upper_case, ValueError("no such key")),)
        )

    assert "All files are as before" in caught.value.remedy
    assert tree(tmp_path / "discussions") == before
    assert not (tmp_path / "made.txt").exists()
    assert (tmp_path / "home.toml").read_text() == "format = 1\n"


def test_a_migration_that_is_interrupted_puts_everything_back_too(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    made(tmp_path)
    before = tree(tmp_path / "discussions")

    with pytest.raises(KeyboardInterrupt):
        home.open_home(
            tmp_path, NOW, current_format=2, migrations=(broken_at(upper_case, KeyboardInterrupt()),)
        )

    assert tree(tmp_path / "discussions") == before


def test_a_migration_that_was_killed_starts_again_from_the_old_files(tmp_path: Path) -> None:
    """The marker of a backup is what a killed process leaves; the half-done work is undone first."""
    home.open_home(tmp_path, NOW)
    directory = made(tmp_path)
    old = (directory / "meta.toml").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        home.open_home(
            tmp_path, NOW, current_format=2, migrations=(broken_at(lambda _: None, KeyboardInterrupt()),)
        )
    backup = tmp_path / "backups" / "format-1-20261120-073000"
    (backup / "in-progress.toml").write_text(
        f'from_format = 1\nfiles = ["discussions/{ID}/meta.toml", "made.txt"]\n'
    )
    (directory / "meta.toml").write_bytes(b"half")

    home.open_home(tmp_path, NOW + timedelta(days=1), current_format=2, migrations=(TO_TWO,))

    assert (directory / "meta.toml").read_bytes() == old.upper()
    assert not list((tmp_path / "backups").glob("*/in-progress.toml"))


def test_a_kill_after_the_migration_does_not_bring_the_old_files_back(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    directory = made(tmp_path)
    home.open_home(tmp_path, NOW, current_format=2, migrations=(TO_TWO,))
    new = (directory / "meta.toml").read_bytes()
    marker = tmp_path / "backups" / "format-1-20261120-073000" / "in-progress.toml"
    marker.write_text(f'from_format = 1\nfiles = ["discussions/{ID}/meta.toml"]\n')

    home.open_home(tmp_path, NOW, current_format=2, migrations=(TO_TWO,))

    assert (directory / "meta.toml").read_bytes() == new
    assert not marker.exists()


@pytest.mark.parametrize(
    "text",
    [
        "files = 5",
        'files = ["../outside.txt"]',
        'files = ["/etc/outside.txt"]',
        "files = [5]",
        "",
        "[",
        "\x00",
    ],
)
def test_a_marker_that_tells_no_files_of_the_home_is_said_and_touches_nothing(
    tmp_path: Path, text: str
) -> None:
    root = tmp_path / "home"
    home.open_home(root, NOW)
    outside = tmp_path / "outside.txt"
    outside.write_text("kept")
    marker = root / "backups" / "format-1-20261120-073000" / "in-progress.toml"
    marker.parent.mkdir(parents=True)
    marker.write_text(text)

    with pytest.raises(StorageError, match="unfinished migration") as refused:
        home.open_home(root, NOW, current_format=2, migrations=(TO_TWO,))

    assert refused.value.where == str(marker)
    assert outside.read_text() == "kept"


def test_a_read_only_home_is_opened_for_reading_and_says_so(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    made(tmp_path)
    before = tree(tmp_path)

    opened = home.open_home(tmp_path, NOW, disk=ReadOnlyDisk())

    assert opened.is_read_only
    assert "read-only" in opened.notes[0]
    assert tree(tmp_path) == before


def test_a_read_only_place_without_a_home_or_with_an_old_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the folder above it is read-only"):
        home.open_home(tmp_path / "new", NOW, disk=ReadOnlyDisk())

    home.open_home(tmp_path, NOW)
    with pytest.raises(StorageError, match="is read-only and cannot be migrated from format 1 to 2"):
        home.open_home(tmp_path, NOW, disk=ReadOnlyDisk(), current_format=2, migrations=(TO_TWO,))


def test_a_full_disk_does_not_make_a_home_read_only(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)

    assert not home.open_home(tmp_path, NOW, disk=FullDisk(0)).is_read_only


def test_a_new_home_on_a_dying_disk_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="reported a fault"):
        home.open_home(tmp_path / "h", NOW, disk=DyingDisk(2))


def test_half_made_discussions_of_a_killed_process_are_removed_after_a_while(tmp_path: Path) -> None:
    home.open_home(tmp_path, NOW)
    staging = tmp_path / "discussions" / f".new-{ID}.00ff.tmp"
    staging.mkdir()
    (staging / "meta.toml").write_bytes(b"x")
    os.utime(staging, (NOW.timestamp(), NOW.timestamp()))

    home.open_home(tmp_path, NOW + timedelta(minutes=5))
    assert staging.exists()
    home.open_home(tmp_path, NOW + timedelta(hours=5))
    assert not staging.exists()


def test_one_program_owns_a_home_and_a_second_learns_who(tmp_path: Path) -> None:
    lock = home.acquire(tmp_path / "home")
    second = home.acquire(tmp_path / "home")

    assert isinstance(lock, HomeLock)
    assert isinstance(second, Holder)
    assert second.pid == os.getpid()
    lock.release()
    third = home.acquire(tmp_path / "home")
    assert isinstance(third, HomeLock)
    third.release()


def test_a_second_start_asks_the_owner_to_come_forward_once(tmp_path: Path) -> None:
    lock = home.acquire(tmp_path)
    assert isinstance(lock, HomeLock)
    assert not lock.take_raise_request()

    home.ask_to_raise(tmp_path)
    home.ask_to_raise(tmp_path)

    assert lock.take_raise_request()
    assert not lock.take_raise_request()
    lock.release()


def test_a_request_from_before_the_start_is_not_answered(tmp_path: Path) -> None:
    home.ask_to_raise(tmp_path)
    lock = home.acquire(tmp_path)

    assert isinstance(lock, HomeLock)
    assert not lock.take_raise_request()
    lock.release()


@pytest.mark.slow
def test_a_killed_owner_does_not_keep_its_home(tmp_path: Path) -> None:
    child = start_owner(tmp_path)
    holder = home.acquire(tmp_path)
    assert isinstance(holder, Holder)
    assert holder.pid == child.pid

    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=PATIENCE_S)

    lock = home.acquire(tmp_path)
    assert isinstance(lock, HomeLock)
    assert (tmp_path / paths.OWNER_FILE).exists()
    lock.release()
    assert not (tmp_path / paths.OWNER_FILE).exists()


@pytest.mark.parametrize("content", [b"", b"pid = 'x'", b"\xff", b"pid ="])
def test_an_owner_that_does_not_say_who_it_is_is_still_an_owner(tmp_path: Path, content: bytes) -> None:
    lock = home.acquire(tmp_path)
    assert isinstance(lock, HomeLock)
    (tmp_path / paths.OWNER_FILE).write_bytes(content)

    assert home.acquire(tmp_path) == Holder()
    lock.release()


def test_the_windows_state_is_kept_and_a_broken_one_set_aside(tmp_path: Path) -> None:
    assert home.read_state(tmp_path) == ""
    home.write_state(tmp_path, "scale = 1.5\n")
    assert home.read_state(tmp_path) == "scale = 1.5\n"

    (tmp_path / "state.toml").write_bytes(b"scale = ")
    assert home.read_state(tmp_path) == ""
    assert (tmp_path / "state.toml.broken").read_bytes() == b"scale = "
    with pytest.raises(StorageError, match="the disk is full"):
        home.write_state(tmp_path, "x = 1", disk=FullDisk(1))
