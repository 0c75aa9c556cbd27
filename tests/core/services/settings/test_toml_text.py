"""Settings files that cannot be read say why, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.errors import ConfigError
from core.services.settings import settings_file
from core.services.settings.settings_file import parse, read_text


def test_a_missing_file_is_no_error(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none.toml") is None
    assert read_text(tmp_path / "none" / "deep.toml") is None


def test_a_byte_order_mark_is_taken_off(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbfa = 1\n")

    assert read_text(tmp_path / "a.toml") == "a = 1\n"


def test_a_file_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")

    with pytest.raises(ConfigError) as caught:
        read_text(path)
    assert caught.value.line == 2
    assert "UTF-8" in str(caught.value)
    assert str(caught.value).endswith(f"{path}, line 2")


def test_a_folder_in_place_of_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="The program cannot read the settings file"):
        read_text(tmp_path)


def test_a_huge_file_is_refused_without_reading_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_file, "MAX_FILE_BYTES", 10)
    (tmp_path / "a.toml").write_bytes(b"a = 123456789\n")

    with pytest.raises(ConfigError, match="has more than 10 bytes"):
        read_text(tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a = 1\nb = \n", 2, "Invalid value"),
        ("a = 1\n\n[x\n", 3, "Expected"),
        ("a = 1\na = 2\n", 2, "overwrite"),
        ('a = """\nnever closed\n', 2, "Unterminated"),
    ],
)
def test_a_syntax_error_names_the_line_and_the_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        parse(text, Path("some.toml"))
    assert caught.value.line == line
    assert str(line) not in caught.value.what, "it is named once, with the place"
    assert str(caught.value).endswith(f"some.toml, line {line}")


def test_nesting_without_end_is_an_error_and_no_crash() -> None:
    with pytest.raises(ConfigError, match=r"nested|the program reads at most 100,000"):
        parse("a = " + "[" * 100_000 + "]" * 100_000, Path("deep.toml"))
