"""The list of trusted folders: by resolved path, never read generously, safe from two writers."""

from __future__ import annotations

import stat
import threading
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.kernel.errors import ConfigError
from core.services.settings.trust import count_as_shown, distrust, trust, trust_record, trusted_folders


def test_a_folder_is_trusted_after_being_told_so_and_not_after_the_opposite(tmp_path: Path) -> None:
    file = tmp_path / "c" / "trusted.toml"
    assert trust_record(tmp_path, file) is None
    trust(tmp_path, file, ())
    assert trust_record(tmp_path, file) is not None
    distrust(tmp_path, file)
    assert trust_record(tmp_path, file) is None


def test_trust_is_of_one_folder_and_not_of_what_is_below_or_above(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    folder = tmp_path / "a"
    (folder / "b").mkdir(parents=True)
    trust(folder, file, ())

    assert trust_record(folder / "b", file) is None
    assert trust_record(tmp_path, file) is None


def test_a_link_to_a_trusted_folder_is_that_folder(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    trust(tmp_path / "link", file, ())

    assert trust_record(real, file) is not None
    assert trusted_folders(file) == (str(real),)


def test_a_trusted_path_that_becomes_a_link_elsewhere_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    (tmp_path / "good").mkdir()
    (tmp_path / "evil").mkdir()
    trust(tmp_path / "good", file, ())
    (tmp_path / "good").rmdir()
    (tmp_path / "good").symlink_to(tmp_path / "evil")

    assert trust_record(tmp_path / "good", file) is None


def test_the_list_is_readable_by_its_owner_only_and_says_when(tmp_path: Path) -> None:
    file = tmp_path / "c" / "trusted.toml"
    at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    trust(tmp_path, file, (), now=at)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tomllib.loads(file.read_text())["folders"] == [
        {"path": str(tmp_path), "trusted_at": at, "shown": []}
    ]


def test_trusting_twice_keeps_the_first_time(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    trust(tmp_path, file, (), now=datetime(2026, 1, 1, tzinfo=UTC))
    before = file.read_bytes()
    trust(tmp_path, file, (), now=datetime(2027, 1, 1, tzinfo=UTC))

    assert file.read_bytes() == before


@pytest.mark.parametrize("text", ["broken", "format = 3\n", "format = 1\nfolders = 3\n"])
def test_a_list_that_cannot_be_read_trusts_nothing_and_is_not_overwritten(tmp_path: Path, text: str) -> None:
    file = tmp_path / "trusted.toml"
    file.write_text(text)

    assert trust_record(tmp_path, file) is None
    with pytest.raises(ConfigError):
        trust(tmp_path, file, ())
    with pytest.raises(ConfigError):
        distrust(tmp_path, file)
    assert file.read_text() == text


def test_rows_that_are_none_trust_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    file.write_text(f'format = 1\nfolders = [3, {{ path = 4 }}, {{ path = "{tmp_path.as_posix()}" }}]\n')

    assert trust_record(tmp_path, file) is None


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    folders = [tmp_path / str(number) for number in range(8)]
    threads = [threading.Thread(target=trust, args=(folder, file, ())) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(trusted_folders(file)) == {str(folder) for folder in folders}


SHOWN = (("servers", "box"), "http://b/v1")
OTHER = (("presets", "a", "x.py"), "whole")


def test_what_was_shown_is_kept_with_the_folder_and_joins_what_was_shown_before(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    trust(tmp_path, file, [SHOWN])
    trust(tmp_path, file, [OTHER])

    record = trust_record(tmp_path, file)
    assert record is not None
    assert record.shown == frozenset({SHOWN, OTHER})


def test_a_yes_forgets_what_is_asked_for_no_more(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    trust(tmp_path, file, [SHOWN])
    trust(tmp_path, file, [OTHER], asked=frozenset({OTHER}))

    record = trust_record(tmp_path, file)
    assert record is not None
    assert record.shown == frozenset({OTHER})


def test_what_the_program_wrote_counts_only_where_the_folder_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    count_as_shown(tmp_path, file, [SHOWN])
    assert trust_record(tmp_path, file) is None

    file.write_text(f'format = 1\n[[folders]]\npath = "{tmp_path}"\ntrusted_at = 2026-01-01T00:00:00Z\n')
    count_as_shown(tmp_path, file, [SHOWN])
    record = trust_record(tmp_path, file)
    assert record is not None
    assert record.shown is None

    trust(tmp_path, file, [])
    count_as_shown(tmp_path, file, [SHOWN])
    record = trust_record(tmp_path, file)
    assert record is not None
    assert record.shown == frozenset({SHOWN})
    assert record.trusted_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_rows_of_what_was_shown_that_are_none_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "trusted.toml"
    row = f'path = "{tmp_path}", trusted_at = 2026-01-01T00:00:00Z, shown = [["only"], [1, 2], 3, ["a", "b"]]'
    file.write_text(f"format = 2\nfolders = [{{ {row} }}]\n")

    record = trust_record(tmp_path, file)
    assert record is not None
    assert record.shown == frozenset({(("a",), "b")})


def test_what_a_person_writes_takes_the_place_of_what_stood_there(tmp_path: Path) -> None:
    """The record grew by every save of a preset, without end."""
    trust_file, place = tmp_path / "trusted.toml", ("presets", "core", "a.py")
    trust(tmp_path, trust_file, [(place, "whole"), (("folders", "/x"), "/x")])

    for number in range(20):
        count_as_shown(tmp_path, trust_file, [(place, f"slices {number}"), (place, "again")])

    record = trust_record(tmp_path, trust_file)
    assert record is not None
    assert record.shown is not None
    assert set(record.shown) == {(place, "slices 19"), (place, "again"), (("folders", "/x"), "/x")}
