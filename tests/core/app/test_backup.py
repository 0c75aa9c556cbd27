"""A home goes into an archive and comes back; what is damaged, foreign or would write outside changes nothing."""

from __future__ import annotations

import io
import os
import random
import shutil
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.app import backup
from core.app.backup import MANIFEST, BackupDone, Manifest, back_up, restore
from core.app.home import alone, open_home, restore_folders
from core.kernel.errors import LockedError, StorageError
from core.kernel.opener import open_file
from tests.command_forks import FORKS

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
TEXTS = {
    "discussions/d1/log.jsonl": "one\ntwo\n",
    "knowledge/facts.md": "- sky is blue\n",
    "home.toml": "format = 1\n",
}


def made_home(base: Path) -> Path:
    home = base / "home"
    for name, text in TEXTS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    (home / "keys").mkdir()
    (home / "keys" / "anthropic").write_text("a key", encoding="utf-8")
    (home / "home.lock").touch()
    return home


def backed_up(home: Path, target: Path) -> BackupDone:
    return back_up(home, target, program="manual-slop", now=NOW)


def texts(home: Path) -> dict[str, str]:
    files = (
        path for path in home.rglob("*") if path.is_file() and path.name not in ("home.lock", "owner.toml")
    )
    return {path.relative_to(home).as_posix(): path.read_text(encoding="utf-8") for path in files}


def rewritten(
    archive: Path, target: Path, change: dict[str, bytes], add: tarfile.TarInfo | None = None
) -> Path:
    """The archive with other bytes in some members, and one member more."""
    with tarfile.open(archive) as old, tarfile.open(target, "w:gz") as new:
        for member in old.getmembers():
            stream = old.extractfile(member)
            data = change.get(member.name, stream.read() if stream is not None else b"")
            if data:
                member.size = len(data)
                new.addfile(member, io.BytesIO(data))
            if add is not None and member.name != MANIFEST:
                new.addfile(add, io.BytesIO(b"x" * add.size))
                add = None
    return target


def test_a_home_comes_back_as_it_was_with_the_keys_that_stand_there(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    assert backed_up(home, archive).files == len(TEXTS)
    assert b"a key" not in archive.read_bytes()
    assert archive.stat().st_mode & 0o777 == 0o600
    (home / "discussions/d1/log.jsonl").write_text("lost", encoding="utf-8")
    (home / "keys" / "anthropic").write_text("a newer key", encoding="utf-8")
    done = restore(archive, home, now=NOW, agreed=lambda manifest: len(manifest.files) == len(TEXTS))
    assert done is not None
    assert texts(home) == {**TEXTS, "keys/anthropic": "a newer key"}
    assert texts(Path(done.aside))["discussions/d1/log.jsonl"] == "lost"


def test_a_home_is_made_where_there_is_none(tmp_path: Path) -> None:
    archive = tmp_path / "kept.tar.gz"
    backed_up(made_home(tmp_path), archive)
    done = restore(archive, tmp_path / "new", now=NOW, agreed=lambda _: True)
    assert done is not None
    assert texts(tmp_path / "new") == TEXTS


def test_without_a_yes_nothing_changes(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    (home / "knowledge/facts.md").write_text("newer", encoding="utf-8")
    assert restore(archive, home, now=NOW, agreed=lambda _: False) is None
    assert texts(home)["knowledge/facts.md"] == "newer"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "kept.tar.gz"]


def named(name: str, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, "/elsewhere", 1 if kind == tarfile.REGTYPE else 0
    return member


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (named("../beside.txt"), "would be written outside the data folder"),
        (named("/beside.txt"), "would be written outside the data folder"),
        (named("a/../../beside.txt"), "would be written outside the data folder"),
        (named("link", tarfile.SYMTYPE), "is not a file"),
        (named("pipe", tarfile.FIFOTYPE), "is not a file"),
        (named("keys/anthropic"), "does not belong in a backup"),
        (named("more.txt"), "is missing, changed or not in the backup's list of files"),
    ],
)
def test_an_archive_that_holds_more_than_a_home_is_refused(
    tmp_path: Path, member: tarfile.TarInfo, why: str
) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    bad = rewritten(archive, tmp_path / "bad.tar.gz", {}, member)
    with pytest.raises(StorageError, match=why):
        restore(bad, home, now=NOW, agreed=lambda _: True)
    assert texts(home) == {**TEXTS, "keys/anthropic": "a key"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.tar.gz", "home", "kept.tar.gz"]


def test_an_archive_that_is_damaged_or_none_of_ours_is_refused(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    other = rewritten(archive, tmp_path / "other.tar.gz", {"knowledge/facts.md": b"- the sky is red\n"})
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(archive.read_bytes()[:-40])
    foreign = tmp_path / "foreign.tar.gz"
    foreign.write_text("no archive", encoding="utf-8")
    for bad in (other, cut, foreign, tmp_path / "gone.tar.gz"):
        with pytest.raises(StorageError, match="Nothing was restored"):
            restore(bad, home, now=NOW, agreed=lambda _: True)
    assert texts(home) == {**TEXTS, "keys/anthropic": "a key"}


def test_an_archive_is_refused_or_whole_wherever_a_byte_of_it_is_wrong(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    (home / "notes.md").write_text("".join(f"tide {n} turns\n" for n in range(900)), encoding="utf-8")
    backed_up(home, archive)
    kept, data = texts(home), archive.read_bytes()
    places = range(20, len(data), len(data) // 30)
    refused = 0
    for at in places:
        archive.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            restore(archive, home, now=NOW, agreed=lambda _: False)
        except StorageError as error:
            refused += error.what.startswith("Nothing was restored")
    assert refused > len(places) - 5  # a time in a header may be another
    assert texts(home) == kept


def test_a_home_that_a_program_owns_is_not_replaced_and_nobody_is_asked(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)

    def agreed(_: Manifest) -> bool:
        raise AssertionError("nobody is to be asked")

    with alone(home), pytest.raises(LockedError):
        restore(archive, home, now=NOW, agreed=agreed)
    assert home.is_dir()


def test_a_restore_that_is_cut_off_between_its_two_steps_is_taken_back_at_the_next_start(
    tmp_path: Path,
) -> None:
    home = made_home(tmp_path)
    staging, aside = restore_folders(home, NOW)
    (staging / "discussions").mkdir(parents=True)
    home.rename(aside)
    with alone(home):
        opened = open_home(home, NOW)
    assert texts(home).items() >= {**TEXTS, "keys/anthropic": "a key"}.items()
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert any("A restore was cut off before it replaced anything" in note for note in opened.notes)


def test_a_link_to_a_home_stays_and_leads_to_what_was_restored(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    folder, link, archive = made_home(tmp_path / "disk"), tmp_path / "home", tmp_path / "kept.tar.gz"
    link.symlink_to(folder)
    backed_up(link, archive)
    (folder / "knowledge/facts.md").write_text("newer", encoding="utf-8")
    done = restore(archive, link, now=NOW, agreed=lambda _: True)
    assert link.is_symlink()
    assert texts(folder) == texts(link) == {**TEXTS, "keys/anthropic": "a key"}
    assert done is not None
    assert Path(done.aside).parent == folder.parent


def test_a_restore_cut_off_behind_a_link_is_taken_back_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    folder, link = made_home(tmp_path / "disk"), tmp_path / "home"
    link.symlink_to(folder)
    staging, aside = restore_folders(folder, NOW)
    staging.mkdir()
    folder.rename(aside)
    with alone(link):
        open_home(link, NOW)
        assert texts(link).items() >= TEXTS.items()
    assert [path.name for path in folder.parent.iterdir()] == ["home"]


RESTORER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from core.app import backup
rename = os.rename

def slow(old, new):
    if Path(old).name.startswith(".home.restore-"):
        print("between", flush=True)
        sys.stdin.readline()
    rename(old, new)

os.rename = slow
home = Path(sys.argv[2])
backup.restore(Path(sys.argv[1]), home, now=datetime.now(UTC), agreed=lambda _: True)
"""
"""A restore that waits for a line between its two steps, when no home is there."""


@pytest.mark.slow
def test_a_start_between_the_two_steps_of_a_restore_leaves_it_alone(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    (home / "knowledge/facts.md").write_text("newer", encoding="utf-8")
    restorer = FORKS.program(RESTORER, archive, home, has_input=True)
    assert restorer.line() == "between"
    for _ in range(2):
        with pytest.raises(LockedError, match=f"process {restorer.pid}"), alone(home):
            pass
        assert not home.exists()
    restorer.communicate()
    assert restorer.returncode == 0
    with alone(home):
        assert texts(home) == {**TEXTS, "keys/anthropic": "a key"}


def test_a_start_takes_a_restore_back_whose_program_was_killed_between_its_two_steps(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    (home / "knowledge/facts.md").write_text("newer", encoding="utf-8")
    restorer = FORKS.program(RESTORER, archive, home, has_input=True)
    assert restorer.line() == "between"
    restorer.kill()
    restorer.communicate()
    with alone(home):
        assert texts(home)["knowledge/facts.md"] == "newer"


def test_what_a_restore_unpacks_stays_while_it_runs_and_goes_once_it_was_killed(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    staging, _ = restore_folders(home, NOW)
    with alone(staging), alone(home):
        assert not any("cut off" in note for note in open_home(home, NOW).notes)
        assert staging.is_dir()
    with alone(home):
        open_home(home, NOW)
    assert not staging.exists()


def test_a_home_that_somebody_removed_stays_removed(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    restore(archive, home, now=NOW, agreed=lambda _: True)
    shutil.rmtree(home)
    with alone(home):
        assert "discussions/d1/log.jsonl" not in texts(home)


def test_a_full_medium_is_named_and_the_home_stays(tmp_path: Path) -> None:
    import resource

    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    (home / "index").write_bytes(bytes(4 << 20))
    backed_up(home, archive)
    kept, before = texts(home), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, before[1]))
    try:
        with pytest.raises(StorageError, match=r"The program could not write .index.") as refused:
            restore(archive, home, now=NOW, agreed=lambda _: True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "another backup" not in refused.value.remedy
    assert texts(home) == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "kept.tar.gz"]


def test_links_are_named_and_an_archive_lies_outside(tmp_path: Path) -> None:
    home = made_home(tmp_path)
    (home / "link").symlink_to(tmp_path)
    assert backed_up(home, tmp_path / "kept.tar.gz").left_out == ("link: the program does not back up links",)
    with pytest.raises(
        StorageError, match="The backup file would lie inside the data folder that it backs up"
    ):
        backed_up(home, home / "kept.tar.gz")


class Shrinking(io.BufferedReader):
    """A file that another program cuts off as soon as somebody reads in it."""

    def read(self, size: int | None = -1) -> bytes:
        os.truncate(self.fileno(), 4)
        return super().read(size)


def test_a_file_that_shrinks_while_it_is_read_comes_back_as_it_is_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"

    def opened(path: Path, *, follows_links: bool) -> io.BufferedReader:
        if path.name != "log.jsonl":
            return open_file(path, follows_links=follows_links)
        return Shrinking(io.FileIO(path, "r+"))

    monkeypatch.setattr(backup, "open_file", opened)
    assert backed_up(home, archive) == BackupDone(files=3, size_bytes=4 + 14 + 11)
    monkeypatch.undo()
    assert restore(archive, tmp_path / "new", now=NOW, agreed=lambda _: True) is not None
    assert texts(tmp_path / "new") == {**TEXTS, "discussions/d1/log.jsonl": "one\n"}


@pytest.mark.parametrize("held", [1, 1 << 24])
def test_an_archive_that_the_medium_does_not_take_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    import resource

    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    (home / "index").write_bytes(random.Random(0).randbytes(4 << 20))  # nothing that packs smaller
    monkeypatch.setattr(backup, "HELD_BYTES", held)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, before[1]))
    try:
        with pytest.raises(StorageError, match=r"The program could not write .kept\.tar\.gz."):
            backed_up(home, archive)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
