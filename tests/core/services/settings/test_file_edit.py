"""A settings file is replaced only by text that says exactly what was meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.kernel.errors import ConfigError
from core.services.settings.settings_file import edit_file
from core.services.settings.toml_document import CannotEditError


def _cannot(_text: str) -> str:
    raise CannotEditError("a")


def _same(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "a": 2}


@pytest.mark.parametrize(
    "change", [lambda _: "a = 3\n", lambda _: "a = ", lambda _: "a = 2\nb = 1\n", _cannot]
)
def test_a_change_that_would_say_something_else_writes_nothing(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    path = tmp_path / "x.toml"
    path.write_text("a = 1\n")
    with pytest.raises(ConfigError, match="cannot change the file safely"):
        edit_file(path, change, _same)

    assert path.read_text() == "a = 1\n"


def test_a_change_that_says_what_was_meant_is_written_and_a_file_made_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"

    assert edit_file(path, lambda text: text + "a = 2\n", _same, head="# head\n")
    assert path.read_text() == "# head\na = 2\n"
    assert not edit_file(path, lambda text: text.replace("2", "2 # two"), _same)
    assert not edit_file(path, lambda text: text, _same)
    assert path.read_text() == "# head\na = 2 # two\n"
