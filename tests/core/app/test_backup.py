"""A home goes into an archive and comes back; what is damaged, foreign or would write outside changes nothing."""

from __future__ import annotations

import io
import os
import random
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.app import backup
from core.app.backup import MANIFEST, BackupDone, back_up, restore
from core.app.home import alone
from core.kernel.errors import LockedError, StorageError
from core.kernel.opener import open_file

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


def test_a_home_that_a_program_owns_is_not_replaced(tmp_path: Path) -> None:
    home, archive = made_home(tmp_path), tmp_path / "kept.tar.gz"
    backed_up(home, archive)
    with alone(home), pytest.raises(LockedError):
        restore(archive, home, now=NOW, agreed=lambda _: True)
    assert home.is_dir()


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
