"""An export goes nowhere near what is ours, and over a file only with a yes, whatever way the place is spelt."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel.errors import StorageError
from core.talk.discussion.discussion_export import ExportPlace, check_place, look_at
from core.talk.discussion.discussion_messages import ExportDiscussion
from tests.core.app.playbook import Playbook, of

Make = Callable[[Path], Path]


def refusal(path: Path | str, *kept: Path, replaces: bool = True) -> str:
    try:
        check_place(look_at(str(path), kept), replaces=replaces)
    except StorageError as error:
        return error.what
    return ""


def _log(base: Path) -> Path:
    log = base / "home" / "discussions" / "a" / "log.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("truth")
    return log


def _linked_folder(base: Path) -> Path:
    (base / "way").symlink_to(_log(base).parent)
    return base / "way" / "new.md"


def _linked_file(base: Path) -> Path:
    (base / "talk.md").symlink_to(_log(base))
    return base / "talk.md"


def _dangling_link(base: Path) -> Path:
    _log(base)
    (base / "talk.md").symlink_to(base / "home" / "hook_token")
    return base / "talk.md"


def _out_of_the_home(base: Path) -> Path:
    _log(base)
    (base / "elsewhere").mkdir()
    (base / "home" / "way").symlink_to(base / "elsewhere")
    return base / "home" / "way.md"


def _dots(base: Path) -> Path:
    _log(base)
    (base / "elsewhere").mkdir()
    return base / "elsewhere" / ".." / "home" / "new.md"


@pytest.mark.parametrize(
    "make", [_log, _linked_folder, _linked_file, _dangling_link, _out_of_the_home, _dots]
)
def test_nothing_goes_into_the_home_even_with_a_yes(tmp_path: Path, make: Make) -> None:
    assert "belongs to Manual Slop" in refusal(make(tmp_path), tmp_path / "home")


def test_a_home_that_is_itself_a_link_is_known_by_both_names(tmp_path: Path) -> None:
    _log(tmp_path)
    (tmp_path / "alias").symlink_to(tmp_path / "home")

    assert "belongs" in refusal(tmp_path / "home" / "x.md", tmp_path / "alias")
    assert "belongs" in refusal(tmp_path / "alias" / "x.md", tmp_path / "home")


def test_what_is_not_there_yet_is_known_by_its_name_in_any_case(tmp_path: Path) -> None:
    assert "belongs" in refusal(tmp_path / "Config.TOML", tmp_path / "config.toml")
    assert refusal(tmp_path / "config.toml.md", tmp_path / "config.toml") == ""


def test_a_settings_file_of_ours_is_kept_wherever_it_lies_and_its_neighbours_are_free(tmp_path: Path) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text("")

    assert "belongs" in refusal(settings, settings)
    assert refusal(tmp_path / "talk.md", settings) == ""


def test_a_file_that_is_there_goes_only_with_a_yes(tmp_path: Path) -> None:
    there = tmp_path / "talk.md"
    there.write_text("mine")

    assert "the file exists already" in refusal(there, replaces=False)
    assert refusal(there, replaces=True) == ""


def test_a_link_that_leads_nowhere_is_something_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "talk.md").symlink_to(tmp_path / "gone")

    assert "this is not a file" in refusal(tmp_path / "talk.md", replaces=False)


def test_what_is_no_file_is_never_written_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert "this is not a file" in refusal(tmp_path / "pipe")
    assert "this is not a file" in refusal("/dev/null")
    assert "this is a folder" in refusal(tmp_path)


@pytest.mark.parametrize("path", ["talk.md", "", "~nobody-of-that-name/talk.md", "/a\0b"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    assert "The program exports nothing" in refusal(path)


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    assert refusal(tmp_path / "a") != ""


def test_the_rule_is_pure() -> None:
    free = ExportPlace(Path("/x/talk.md"))
    check_place(free, replaces=False)
    with pytest.raises(StorageError, match="belongs"):
        check_place(ExportPlace(Path("/x/talk.md"), kept="/x"), replaces=True)


def test_the_step_names_what_is_kept() -> None:
    book = Playbook().ready()
    chosen = book.discussion("Sky")

    (write,) = of(book.play(ExportDiscussion(chosen, "json", "/tmp/x", replaces=True)), ExportDiscussion)

    assert write.kept[0] == "/home/person/.manual_slop"
    assert write.replaces
