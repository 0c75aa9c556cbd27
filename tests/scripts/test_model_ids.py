"""The table of models against the vendors' lists: what they offer and it lacks."""

from __future__ import annotations

from datetime import date
from importlib import metadata
from pathlib import Path

import anthropic

from scripts.model_ids import FILES, VERIFIED, listed_ids, main, missing_ids

TODAY = date(2026, 11, 29)
INSTALLED = Path(anthropic.__file__).parents[1]


def test_every_model_that_the_installed_sdks_list_has_a_window() -> None:
    assert missing_ids(INSTALLED, TODAY) == ()
    assert len(listed_ids(INSTALLED, "openai", TODAY)) > 20
    assert "gemini-4-argon" in listed_ids(INSTALLED, "gemini", TODAY)


def test_the_table_was_compared_with_sdks_at_least_as_new_as_the_installed_ones() -> None:
    """Who moves a pin runs `make models`, adds what it names and moves `VERIFIED`."""
    for name, version in VERIFIED.items():
        installed = metadata.version(name)
        assert [int(part) for part in installed.split(".")] <= [int(part) for part in version.split(".")], (
            name
        )


def test_a_model_that_an_sdk_lists_and_the_table_lacks_is_named(tmp_path: Path) -> None:
    for names in FILES.values():
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("Model = str\n", encoding="utf-8")
    text = (
        'ChatModel = Literal["gpt-9-nova", "gpt-5.5", "gpt-old", "gpt-9-audio", "gpt-6.2-sol"]\n'
        '"""Deprecated values:\n\n- "gpt-old", "gpt-older": Announced shutdown\n  date: 2026-10-23. See\n'
        '- "gpt-5.5": Announced shutdown date: 2028-10-23.\n"""\n'
    )
    (tmp_path / FILES["openai"][0]).write_text(text, encoding="utf-8")

    assert missing_ids(tmp_path, TODAY) == ("openai gpt-9-nova",)
    assert main([str(tmp_path)]) == 1
