"""The face for scripts: names that people look for, over the same program."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import ai_client
from core.errors import SlopError
from core.knowledge import harvest, harvest_distil
from core.store.meta import read_meta
from tests.core.knowledge.harvests import add_discussion


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")


def test_a_large_conversation_is_read_under_the_name_that_scripts_know() -> None:
    assert ai_client.run_subagent_summarization is harvest_distil.run_subagent_summarization
    assert ai_client.run_subagent_summarization is harvest.run_subagent_summarization


def test_an_invalidated_cache_salts_the_next_request(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    before = read_meta(tmp_path, chosen).meta

    ai_client.invalidate_cache(chosen, home=tmp_path)

    after = read_meta(tmp_path, chosen).meta
    assert after.cache_epoch == before.cache_epoch + 1
    assert after.name == before.name


def test_what_is_not_there_cannot_be_invalidated(tmp_path: Path) -> None:
    with pytest.raises(SlopError, match="There is no discussion 'nowhere'"):
        ai_client.invalidate_cache("nowhere", home=tmp_path)
