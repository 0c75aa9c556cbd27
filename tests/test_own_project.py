"""The repository's own `manual_slop.toml`: what its presets name is there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "manual_slop.toml").read_text(encoding="utf-8"))
ITEMS = [item for preset in PROJECT["presets"].values() for item in preset["items"]]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: str(item["path"]))
def test_every_item_of_a_preset_names_a_file_and_what_is_in_it(item: dict[str, object]) -> None:
    found = sorted(ROOT.glob(str(item["path"])))
    text = "".join(path.read_text(encoding="utf-8") for path in found)

    assert found
    symbols = item.get("symbols", [])
    assert isinstance(symbols, list)
    assert [name for name in symbols if f"def {name}(" not in text and f"class {name}" not in text] == []
    assert all((ROOT / name).is_file() for name in PROJECT["project"]["context"])
