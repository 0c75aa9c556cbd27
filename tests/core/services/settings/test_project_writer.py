"""Presets go into the project's file and everything else in it stays, byte for byte."""

from __future__ import annotations

import difflib
import errno
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.kernel.errors import ConfigError, StorageError
from core.kernel.values.curation import FileItem, FileMode, LineRange, Preset
from core.services.settings import settings_file
from core.services.settings.project_tables import item_table
from core.services.settings.settings_writer import delete_preset, rename_preset, save_preset
from core.services.settings.toml_document import bare, inline
from core.services.settings.trust import trust_record

TEXT = """\
# Our project. Do not lose this line.

[project]   # the head
name = "demo"

[presets.core]
# what we always need
items = [
    # the heart
    { path = "a.py", why = "because" }, # trailing
    { path = "b.py", mode = "outline" },   # two
    # the end
]
colour = "blue"  # not a setting, but ours

[ai_settings]
model = 'm'

[presets."my preset"]
items = ["q", "z"]

# the very end
"""


def _saved(text: str, tmp_path: Path, name: str, *items: FileItem) -> str:
    path = tmp_path / "manual_slop.toml"
    path.write_bytes(text.encode())
    save_preset(tmp_path, Preset(name, items), tmp_path / "trusted.toml")
    return path.read_bytes().decode()


def _difference(old: str, new: str) -> list[str]:
    return [line for line in difflib.ndiff(old.split("\n"), new.split("\n")) if line[:2] in {"- ", "+ "}]


def test_saving_what_stands_there_changes_nothing(tmp_path: Path) -> None:
    before = FileItem("b.py", FileMode.OUTLINE)

    assert _saved(TEXT, tmp_path, "core", FileItem("a.py"), before) == TEXT


def test_a_changed_item_keeps_its_comments_and_the_keys_we_do_not_know(tmp_path: Path) -> None:
    new = _saved(
        TEXT, tmp_path, "core", FileItem("a.py", notes="read me"), FileItem("b.py", FileMode.OUTLINE)
    )

    assert _difference(TEXT, new) == [
        '-     { path = "a.py", why = "because" }, # trailing',
        '+     { path = "a.py", why = "because", notes = "read me" }, # trailing',
        '-     { path = "b.py", mode = "outline" },   # two',
        '+     { path = "b.py", mode = "outline" }, # two',
    ]


def test_reordered_items_take_their_comments_along(tmp_path: Path) -> None:
    new = _saved(
        TEXT, tmp_path, "core", FileItem("b.py", FileMode.OUTLINE), FileItem("a.py"), FileItem("c.py")
    )

    assert (
        """\
items = [
    { path = "b.py", mode = "outline" }, # two
    # the heart
    { path = "a.py", why = "because" }, # trailing
    { path = "c.py" },
    # the end
]
"""
        in new
    )


def test_comments_above_a_removed_item_stay(tmp_path: Path) -> None:
    assert "# the heart" in _saved(TEXT, tmp_path, "core", FileItem("b.py"))
    assert "items = [\n    # the heart\n    # the end\n]" in _saved(TEXT, tmp_path, "core")


def test_a_new_preset_stands_at_the_end(tmp_path: Path) -> None:
    new = _saved(TEXT, tmp_path, "new", FileItem("x", FileMode.SLICES, (LineRange(1, 2),), ("C.m",)))

    assert new == TEXT + (
        '\n[presets.new]\nitems = [\n    { path = "x", mode = "slices", slices = [[1, 2]], symbols = ["C.m"] },\n]\n'
    )


def test_a_missing_file_is_made_readable_and_its_folder_trusted(tmp_path: Path) -> None:
    trusted = tmp_path / "trusted.toml"
    assert save_preset(tmp_path, Preset("a", (FileItem("x"),)), trusted) is True
    path = tmp_path / "manual_slop.toml"

    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert tomllib.loads(path.read_text()) == {"presets": {"a": {"items": [{"path": "x"}]}}}
    assert trust_record(tmp_path, trusted) is not None


def test_saving_into_a_strangers_file_does_not_trust_its_folder(tmp_path: Path) -> None:
    _saved(TEXT, tmp_path, "new", FileItem("x"))

    assert trust_record(tmp_path, tmp_path / "trusted.toml") is None


def test_mode_and_link_of_the_file_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text(TEXT)
    real.chmod(0o640)
    (tmp_path / "manual_slop.toml").symlink_to(real)
    save_preset(tmp_path, Preset("new"), tmp_path / "t.toml")

    assert (tmp_path / "manual_slop.toml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "[presets.new]" in real.read_text()


def test_windows_line_ends_and_the_byte_order_mark_stay(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_bytes(b"\xef\xbb\xbf# a\r\n[presets.a]\r\nitems = []\r\n")
    save_preset(tmp_path, Preset("a", (FileItem("x"),)), tmp_path / "t.toml")

    assert path.read_bytes() == (
        b'\xef\xbb\xbf# a\r\n[presets.a]\r\nitems = [\r\n    { path = "x" },\r\n]\r\n'
    )


TABLES = """\
[presets.x]
[[presets.x.items]]
path = "q"  # about q
mine = 1
[[presets.x.items]]
# about r
path = "r"
mode = "outline"

[tail]
a = 1
"""


def test_items_written_as_tables_stay_tables(tmp_path: Path) -> None:
    new = _saved(
        TABLES, tmp_path, "x", FileItem("r", FileMode.OUTLINE), FileItem("q", pinned=True), FileItem("n")
    )

    assert (
        new
        == """\
[presets.x]
[[presets.x.items]]
# about r
path = "r"
mode = "outline"

[[presets.x.items]]
path = "q"  # about q
mine = 1
pinned = true

[[presets.x.items]]
path = "n"

[tail]
a = 1
"""
    )


def test_a_preset_of_tables_can_be_emptied(tmp_path: Path) -> None:
    assert tomllib.loads(_saved(TABLES, tmp_path, "x")) == {"presets": {"x": {"items": []}}, "tail": {"a": 1}}


def test_a_rename_keeps_place_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_text(TEXT)
    rename_preset(tmp_path, "core", "the kernel", tmp_path / "trusted.toml")

    assert path.read_text() == TEXT.replace("[presets.core]", '[presets."the kernel"]')


def test_a_rename_to_a_name_that_is_taken_or_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_text(TEXT)
    for old, new, reason in (
        ("core", "my preset", "already"),
        ("gone", "x", "no preset 'gone'"),
        ("core", " ", "must not be empty"),
        ("core", "a\nb", "control characters"),
    ):
        with pytest.raises(ConfigError, match=reason):
            rename_preset(tmp_path, old, new, tmp_path / "trusted.toml")
    assert path.read_text() == TEXT


def test_a_deleted_preset_takes_nothing_else_along(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_text(TEXT)
    delete_preset(tmp_path, "core")

    start, end = TEXT.index("[presets.core]"), TEXT.index("[ai_settings]")
    assert path.read_text() == TEXT[:start] + TEXT[end:]
    delete_preset(tmp_path, "my preset")
    assert "presets" not in tomllib.loads(path.read_text())
    assert path.read_text().endswith("# the very end\n")


def test_deleting_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    delete_preset(tmp_path, "x")
    assert not (tmp_path / "manual_slop.toml").exists()
    (tmp_path / "manual_slop.toml").write_text(TEXT)
    delete_preset(tmp_path, "x")

    assert (tmp_path / "manual_slop.toml").read_text() == TEXT


def test_a_broken_file_is_named_with_its_line_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_text("[presets.a]\nitems = [\n")
    for act in (
        lambda: save_preset(tmp_path, Preset("b"), tmp_path / "t.toml"),
        lambda: rename_preset(tmp_path, "a", "b", tmp_path / "trusted.toml"),
        lambda: delete_preset(tmp_path, "a"),
    ):
        with pytest.raises(ConfigError) as caught:
            act()
        assert caught.value.line is not None
        assert caught.value.where == f"{path}, line {caught.value.line}"
    assert path.read_text() == "[presets.a]\nitems = [\n"
    assert sorted(os.listdir(tmp_path)) == ["manual_slop.toml"]


def test_a_preset_that_cannot_be_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_text('[presets.a]\nitems = [\n  "x",\n  { path = "y", mode = "everything" },\n]\n')
    with pytest.raises(ConfigError, match="mode must be one of") as caught:
        save_preset(tmp_path, Preset("a"), tmp_path / "t.toml")

    assert caught.value.line == 4
    assert "everything" in path.read_text()


@pytest.mark.parametrize("text", ["presets = { a = { items = [] } }\n", "presets = 3\n"])
def test_a_layout_that_cannot_be_changed_safely_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manual_slop.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        save_preset(tmp_path, Preset("b"), tmp_path / "t.toml")

    assert path.read_text() == text


def test_a_change_by_an_editor_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person saves in an editor after the program has read the file: both changes are there."""
    path = tmp_path / "manual_slop.toml"
    path.write_text(TEXT)
    real = settings_file._changed
    edits = iter(["# edited meanwhile\n", "# and again\n"])

    def edited_meanwhile(*args: Any) -> str:
        new = real(*args)
        path.write_text(next(edits, "") + path.read_text())
        return new

    monkeypatch.setattr(settings_file, "_changed", edited_meanwhile)
    monkeypatch.setattr(settings_file, "_stamp", lambda path: path.read_bytes() if path.exists() else None)
    save_preset(tmp_path, Preset("new", (FileItem("x"),)), tmp_path / "t.toml")

    assert path.read_text().startswith("# and again\n# edited meanwhile\n# Our project")
    assert "[presets.new]" in path.read_text()


def test_a_file_that_never_stands_still_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "manual_slop.toml").write_text(TEXT)
    stamps = iter(range(100))
    monkeypatch.setattr(settings_file, "_stamp", lambda _: next(stamps))
    with pytest.raises(StorageError, match="changes while the program writes"):
        save_preset(tmp_path, Preset("new"), tmp_path / "t.toml")

    assert (tmp_path / "manual_slop.toml").read_text() == TEXT


def test_a_disk_without_room_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "manual_slop.toml").write_text(TEXT)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError) as caught:
        save_preset(tmp_path, Preset("new"), tmp_path / "t.toml")

    assert caught.value.errno == errno.ENOSPC
    assert (tmp_path / "manual_slop.toml").read_text() == TEXT
    assert sorted(os.listdir(tmp_path)) == ["manual_slop.toml"]


_WORDS = st.sampled_from(["a", "b.py", "src/**/*.py", "é ü", 'quo"te', "back\\slash", "x#y", "[z]", "{w}"])
_ITEMS = st.lists(
    st.builds(
        FileItem,
        path=_WORDS,
        mode=st.sampled_from(FileMode),
        notes=st.sampled_from(["", "one\ntwo", "# not a comment", 'say """x"""']),
        pinned=st.booleans(),
        include_ignored=st.booleans(),
        symbols=st.sampled_from([(), ("A.b",)]),
    ),
    max_size=5,
)
_LINES = st.sampled_from(["", "# a comment", "#[presets.a]", "   # indented", "# items = [1]"])
_NAMES = st.sampled_from(["core", "my preset", "a.b", "é"])


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, dict[str, list[FileItem]]]:
    """A project's file as a person might write it, with comments everywhere, and the presets in it."""
    presets = draw(st.dictionaries(_NAMES, _ITEMS, max_size=3))
    blocks = [
        f"[presets.{bare(name)}]{draw(st.sampled_from(['', '  # c']))}\n{draw(_LINES)}\n"
        + _array(draw, items)
        + draw(st.sampled_from(["", "extra = 1 # mine\n"]))
        + draw(_LINES)
        + "\n"
        for name, items in presets.items()
    ]
    blocks.insert(draw(st.integers(0, len(blocks))), '[ai_settings]\nmodel = "m" # [presets.x]\n')
    head = draw(_LINES) + "\n" + draw(st.sampled_from(["", "top = 1\n"]))
    return head + "".join(blocks) + draw(_LINES), presets


def _array(draw: st.DrawFn, items: list[FileItem]) -> str:
    if draw(st.booleans()):
        return "items = [" + ", ".join(inline(item_table(item)) for item in items) + "]\n"
    rows = "".join(f"  {draw(_LINES)}\n  {inline(item_table(item))}, {draw(_LINES)}\n" for item in items)
    return f"items = [ {draw(_LINES)}\n{rows}  {draw(_LINES)}\n] {draw(_LINES)}\n"


def _outside_of(text: str, name: str) -> list[str]:
    """The lines of a file without those of one preset's table."""
    lines: list[str] = []
    is_in = False
    for line in text.split("\n"):
        if line.startswith("["):
            is_in = line.split("]")[0] == f"[presets.{bare(name)}"
        if not is_in:
            lines.append(line)
    return lines


@given(_files(), _NAMES, _ITEMS)
def test_whatever_stands_in_the_file_only_the_preset_changes(
    tmp_path_factory: pytest.TempPathFactory,
    file: tuple[str, dict[str, list[FileItem]]],
    name: str,
    items: list[FileItem],
) -> None:
    text, presets = file
    root = tmp_path_factory.mktemp("root")
    new = _saved(text, root, name, *items)
    expected = {**presets, name: items}

    read = tomllib.loads(new)
    assert {k: [item_table(i) for i in v] for k, v in expected.items()} == {
        k: v["items"] for k, v in read["presets"].items()
    }
    assert read["ai_settings"] == {"model": "m"}
    if name in presets:
        assert _outside_of(new, name) == _outside_of(text, name)
    else:
        assert new.startswith(text)
    for line in text.split("\n"):
        if line.strip().startswith("#"):
            assert line.strip() in new
    assert _saved(new, root, name, *items) == new


@given(_files(), _NAMES)
def test_a_preset_that_is_renamed_there_and_back_leaves_the_file_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[str, dict[str, list[FileItem]]], name: str
) -> None:
    text, presets = file
    assume(name in presets)
    root = tmp_path_factory.mktemp("root")
    (root / "manual_slop.toml").write_bytes(text.encode())
    rename_preset(root, name, "another name", root / "trusted.toml")
    assert list(tomllib.loads((root / "manual_slop.toml").read_text())["presets"]) == [
        "another name" if key == name else key for key in presets
    ]
    rename_preset(root, "another name", name, root / "trusted.toml")

    assert (root / "manual_slop.toml").read_bytes() == text.encode()


@given(_files(), _NAMES)
def test_a_preset_that_is_made_and_deleted_leaves_the_other_lines(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[str, dict[str, list[FileItem]]], name: str
) -> None:
    text, presets = file
    root = tmp_path_factory.mktemp("root")
    _saved(text, root, name, FileItem("x"))
    delete_preset(root, name)
    new = (root / "manual_slop.toml").read_text()

    assert set(tomllib.loads(new).get("presets", {})) == set(presets) - {name}
    if name not in presets:
        assert new.rstrip("\n") == text.rstrip("\n")
