"""Reading files of presets: what is refused, what is found, and what is not read again."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from core.kernel.values.curation import FileItem, FileMode, FileProblemKind, FileSnapshot, ItemFiles, Symbol
from core.kernel.values.settings import FileLimits
from core.talk.context import file_reader as module
from core.talk.context.file_reader import FileCache, read_item, read_items
from core.talk.context.globs import KeyGate, Places
from tests.patience import PATIENCE_S

LIMITS = FileLimits(max_file_bytes=1_000, max_glob_files=5)
OLD_NS = 1_700_000_000_000_000_000


def one(root: Path, path: str, **item: object) -> FileSnapshot:
    found = read_item(str(root), FileItem(path, **item), LIMITS)  # type: ignore[arg-type]
    assert found.problem is None
    assert len(found.files) == 1
    return found.files[0]


def problem_of(root: Path, path: str) -> tuple[FileProblemKind, str]:
    snapshot = one(root, path)
    assert snapshot.problem is not None
    assert snapshot.text == ""
    return snapshot.problem.kind, snapshot.problem.detail


def write(root: Path, path: str, data: bytes | str = "x\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    os.utime(file, ns=(OLD_NS, OLD_NS))
    return file


def test_a_file_is_read_with_its_hash_size_and_lines(tmp_path: Path) -> None:
    data = "é = 1\nlast"
    file = write(tmp_path, "src/a.py", data)
    snapshot = one(tmp_path, "src/a.py")

    assert (snapshot.path, snapshot.text, snapshot.line_count) == ("src/a.py", data, 2)
    assert snapshot.sha256 == snapshot.text_sha256 == hashlib.sha256(data.encode()).hexdigest()
    assert (snapshot.size_bytes, snapshot.mtime_ns) == (len(data.encode()), OLD_NS)
    assert snapshot.absolute_path == str(file)


def test_line_ends_and_byte_order_mark_are_folded_and_the_hashes_say_so(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbfa\r\nb\rc\n"
    write(tmp_path, "a", raw)
    snapshot = one(tmp_path, "a")

    assert snapshot.text == "a\nb\nc\n"
    assert snapshot.sha256 == hashlib.sha256(raw).hexdigest()
    assert snapshot.text_sha256 == hashlib.sha256(b"a\nb\nc\n").hexdigest()


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        (b"GIF89a\x00\x01", FileProblemKind.BINARY, "byte 6 is NUL"),
        (b"\x01\x02\x03\x04abc", FileProblemKind.BINARY, "control characters"),
        ("naïve\n".encode("latin-1"), FileProblemKind.NOT_UTF8, "byte 0xEF at position 2, line 1"),
        ("a\n\xff".encode("latin-1"), FileProblemKind.NOT_UTF8, "line 2"),
        ("text".encode("utf-16"), FileProblemKind.NOT_UTF8, "UTF-16, little-endian"),
        ("text".encode("utf-32"), FileProblemKind.NOT_UTF8, "UTF-32, little-endian"),
        (b"x" * 1_001, FileProblemKind.TOO_LARGE, "1,001 bytes; the limit is 1,000"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, kind: FileProblemKind, said: str
) -> None:
    write(tmp_path, "a", data)
    found, detail = problem_of(tmp_path, "a")

    assert found is kind
    assert said in detail


@pytest.mark.parametrize(
    "data",
    [b"", b"\x1b[31mred\x1b[0m\n", "\u202ebidi\u202c \u200b".encode(), b"\x07bell in a long enough line"],
)
def test_odd_text_is_still_text(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, "a", data)

    assert one(tmp_path, "a").text.encode() == data


def test_a_file_of_exactly_the_limit_is_taken(tmp_path: Path) -> None:
    write(tmp_path, "a", b"x" * 1_000)

    assert one(tmp_path, "a").size_bytes == 1_000


def test_a_vanished_file_and_a_folder_are_said(tmp_path: Path) -> None:
    write(tmp_path, "src/a")

    assert problem_of(tmp_path, "gone.py")[0] is FileProblemKind.VANISHED
    assert problem_of(tmp_path, "src/a/b")[0] is FileProblemKind.VANISHED
    kind, detail = problem_of(tmp_path, "src")
    assert kind is FileProblemKind.NOT_A_FILE
    assert "glob" in detail


def test_pipes_sockets_and_devices_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        monkeypatch.setattr(os, "open", lambda *_: pytest.fail("opened"))
        assert problem_of(tmp_path, "pipe") == (FileProblemKind.NOT_A_FILE, "This is a named pipe.")
        assert problem_of(tmp_path, "sock")[0] is FileProblemKind.NOT_A_FILE
        found = read_item("/", FileItem("/dev/zero"), LIMITS)
        assert found.files[0].problem is not None
        assert found.files[0].problem.detail == "This is a device."


def test_a_pipe_that_takes_a_files_place_does_not_block(tmp_path: Path) -> None:
    """Between the look and the opening the file was replaced: opening must not wait for a writer."""
    file = write(tmp_path, "a")
    status = os.lstat(file)
    file.unlink()
    os.mkfifo(file)
    reader = module.Reader(Places(str(tmp_path)), LIMITS, lambda _path, _text: (), KeyGate(str(tmp_path)))
    found: list[FileSnapshot] = []
    thread = threading.Thread(
        target=lambda: found.append(module._read(reader, str(file), "a", status)[0]), daemon=True
    )
    thread.start()
    thread.join(timeout=PATIENCE_S)

    assert found
    assert found[0].problem is not None
    assert found[0].problem.kind is FileProblemKind.NOT_A_FILE


def test_an_unreadable_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert problem_of(tmp_path, "a") == (
        FileProblemKind.UNREADABLE,
        "The file cannot be read: Permission denied.",
    )


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "src/../../secret", "link", "linked/secret"])
def test_what_lies_outside_is_refused_links_resolved(tmp_path: Path, path: str) -> None:
    root = tmp_path / "project"
    write(root, "src/a")
    write(tmp_path, "secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "linked").symlink_to(tmp_path)

    kind, detail = problem_of(root, path)
    assert kind is FileProblemKind.OUTSIDE
    assert "allowed_roots" in detail


def test_an_allowed_folder_may_be_read_and_is_shown_in_full(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    file = write(tmp_path, "shared/a")
    (tmp_path / "shared-not").mkdir()
    write(tmp_path, "shared-not/b")
    item, near = FileItem(str(file)), FileItem(str(tmp_path / "shared-not/b"))
    found = read_items(str(root), (item, near), LIMITS, (str(tmp_path / "shared"),))

    assert (found[0].files[0].path, found[0].files[0].text) == (str(file), "x\n")
    assert found[1].files[0].problem is not None


def test_a_link_inside_the_project_is_read_under_its_own_name(tmp_path: Path) -> None:
    write(tmp_path, "real/a", "text")
    (tmp_path / "link").symlink_to("real/a")
    (tmp_path / "loop").symlink_to("loop")

    assert (one(tmp_path, "link").path, one(tmp_path, "link").text) == ("link", "text")
    assert problem_of(tmp_path, "loop")[0] is FileProblemKind.UNREADABLE


def test_a_project_that_is_reached_by_a_link_still_shows_relative_paths(tmp_path: Path) -> None:
    write(tmp_path, "real/src/a", "text")
    (tmp_path / "project").symlink_to("real")
    found = read_item(str(tmp_path / "project"), FileItem(str(tmp_path / "project/src/a")), LIMITS)

    assert (found.files[0].path, found.files[0].text) == ("src/a", "text")


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "*\0", "x" * 5_000, "", "~nobody-here/x"])
def test_impossible_paths_are_problems_and_nothing_else(tmp_path: Path, path: str) -> None:
    found = read_item(str(tmp_path), FileItem(path), LIMITS)

    assert found.problem or all(file.problem for file in found.files)


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    write(tmp_path, "pages/[id].tsx", "page")

    assert one(tmp_path, "pages/[id].tsx").text == "page"


def test_disabled_items_are_not_read(tmp_path: Path) -> None:
    item = FileItem("gone", enabled=False)

    assert read_items(str(tmp_path), (item,), LIMITS) == (ItemFiles(item, ()),)


def test_an_unchanged_file_is_not_opened_again_and_a_changed_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    plain = os.open

    def seen(path: str, flags: int, mode: int) -> int:
        opened.append(Path(path).name)
        return plain(path, flags, mode)

    write(tmp_path, "a", "one")
    write(tmp_path, "b", "two")
    monkeypatch.setattr(time, "time_ns", lambda: 2 * 10**18)
    monkeypatch.setattr(os, "open", seen)
    cache, items = FileCache(), (FileItem("a"), FileItem("b"))
    first = read_items(str(tmp_path), items, LIMITS, cache=cache)
    second = read_items(str(tmp_path), items, LIMITS, cache=cache)
    (tmp_path / "a").write_text("new")
    third = read_items(str(tmp_path), items, LIMITS, cache=cache)

    assert opened == ["a", "b", "a"]
    assert second[0].files[0] is first[0].files[0]
    assert (third[0].files[0].text, third[1].files[0]) == ("new", first[1].files[0])


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    """Same size, same time stamp on a coarse clock: only reading again tells."""
    file = tmp_path / "a"
    file.write_text("one")
    cache = FileCache()
    before = read_item(str(tmp_path), FileItem("a"), LIMITS, cache=cache)
    stamp = file.stat().st_mtime_ns
    file.write_text("two")
    os.utime(file, ns=(stamp, stamp))
    after = read_item(str(tmp_path), FileItem("a"), LIMITS, cache=cache)

    assert (before.files[0].text, after.files[0].text) == ("one", "two")


def test_outlines_are_made_only_where_an_item_needs_them(tmp_path: Path) -> None:
    asked: list[str] = []

    def outline(path: str, text: str) -> tuple[Symbol, ...]:
        asked.append(Path(path).name)
        return ()

    for name in ("a.py", "b.py", "c.py"):
        write(tmp_path, name)
    items = (FileItem("a.py"), FileItem("b.py", mode=FileMode.OUTLINE), FileItem("c.py", symbols=("f",)))
    read_items(str(tmp_path), items, LIMITS, outline=outline)

    assert asked == ["b.py", "c.py"]


def test_an_outline_comes_with_the_file(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "def f():\n    pass\n")

    assert [symbol.name for symbol in one(tmp_path, "a.py", mode=FileMode.OUTLINE).symbols] == ["f"]
