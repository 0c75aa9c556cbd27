"""The opener: files are read, everything else is named, and nobody waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.kernel import opener
from core.kernel.disk import append_file, write_file
from core.kernel.errors import StorageError
from core.kernel.opener import OddFileError, oddity, open_file, read_file, read_start
from tests.core.kernel.nodes import NO_FILES, put


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "state.toml", kind)

    for read in (read_file, open_file, lambda p: read_start(p, 10)):
        with pytest.raises((OddFileError, IsADirectoryError)) as caught:
            read(path)
        assert caught.value.strerror
    assert str(path) in oddity(path)
    with pytest.raises(StorageError) as refused:
        append_file(path, b"words\n")
    assert refused.value.remedy


@pytest.mark.parametrize(
    "kind", ["a loop of links", "a link to /dev/zero", "a link to /dev/stdin", "a folder"]
)
def test_writing_leaves_alone_what_it_must_not_replace(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "state.toml", kind)

    with pytest.raises(StorageError):
        write_file(path, b"new")

    assert path.is_symlink() or path.is_dir()
    assert Path("/dev/zero").is_char_device()


@pytest.mark.parametrize("kind", ["a pipe", "a socket"])
def test_a_pipe_at_a_name_of_ours_gives_way_to_the_file_that_is_written(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "state.toml", kind)

    write_file(path, b"new")

    assert path.read_bytes() == b"new"


def test_a_file_is_read_through_a_link_and_written_through_it(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    target = tmp_path / "notes" / "facts.md"
    target.write_bytes(b"old")
    link = tmp_path / "facts.md"
    link.symlink_to("notes/facts.md")

    assert read_file(link) == b"old"
    write_file(link, b"new")
    append_file(link, b"er\n")

    assert link.is_symlink()
    assert target.read_bytes() == b"new\ner\n"
    assert oddity(link) == ""


def test_a_link_to_a_file_that_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    link = tmp_path / "facts.md"
    link.symlink_to("real.md")

    with pytest.raises(FileNotFoundError):
        read_file(link)
    write_file(link, b"new")

    assert (tmp_path / "real.md").read_bytes() == b"new"


def test_a_link_that_does_not_count_is_refused_and_replaced_itself(tmp_path: Path) -> None:
    target = tmp_path / "theirs"
    target.write_bytes(b"theirs")
    link = tmp_path / "digest.md"
    link.symlink_to(target)

    with pytest.raises(OddFileError, match="link"):
        read_file(link, follows_links=False)
    write_file(link, b"ours", follows_links=False)

    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"theirs", b"ours", False)


def test_a_file_over_its_bound_is_refused_with_both_figures(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")

    assert read_file(path, 5) == b"12345"
    assert read_start(path, 3) == b"123"
    with pytest.raises(OddFileError, match="5 bytes, more than the allowed 4"):
        read_file(path, 4)


def test_a_file_of_holes_is_refused_where_size_has_no_bound(tmp_path: Path) -> None:
    path = put(tmp_path / "log.jsonl", "a huge file of holes")

    for read in (lambda p: read_file(p, None), open_file):
        with pytest.raises(OddFileError, match="but hardly any of them exist"):
            read(path)
    assert read_start(path, 8) == bytes(8)


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert opener._read(descriptor, 1_000, None) == b"x" * 3_000_000
    finally:
        os.close(descriptor)


def test_a_link_into_the_system_s_own_folders_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.symlink_to("/proc/self/environ")

    with pytest.raises(OddFileError, match="a place of the system"):
        read_file(path)


def test_a_folder_held_by_its_path_alone_follows_no_link_either(tmp_path: Path) -> None:
    """Where the system reaches no entries through a folder, as on Windows."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("words")
    (tmp_path / "way").symlink_to("real")
    (tmp_path / "real" / "link").symlink_to("a")
    held = opener.HeldFolder(str(tmp_path), None)

    inside = held.inside("real")
    assert opener.read_held(inside.open("a", os.O_RDONLY), 10) == b"words"
    with pytest.raises(OddFileError):
        inside.open("link", os.O_RDONLY)
    with pytest.raises(NotADirectoryError):
        held.inside("way")
    assert held.inside("new", made_mode=opener.OWN_MODE).status("none") is None
    assert (tmp_path / "new").is_dir()
