"""What a run is made of, from its settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.harvest.harvest_messages import HarvestRun
from core.knowledge.harvest.harvest_run import distiller, scan_request
from core.knowledge.harvest.modes import SUMMARIZE_THRESHOLD_BYTES
from tests.core.knowledge.harvest.harvests import NOW, Model


def run(settings: KnowledgeSettings, template: str = "") -> HarvestRun:
    return HarvestRun(settings, frozenset({"open"}), "local", "m", ModelProfile("local", "m"), template)


def test_ages_sizes_and_sources_are_the_settings(tmp_path: Path) -> None:
    settings = KnowledgeSettings(live_days=0.5, max_source_bytes=9, harvest_sources=("~/talks", "/logs"))

    made = scan_request(tmp_path, run(settings), NOW)

    assert (made.live_for, made.max_bytes, made.open_ids) == (timedelta(hours=12), 9, frozenset({"open"}))
    assert made.sources == (Path.home() / "talks", Path("/logs"))
    assert (made.home, made.now) == (tmp_path, NOW)


def test_a_piece_is_what_the_model_can_read(tmp_path: Path) -> None:
    small = distiller(
        tmp_path, run(KnowledgeSettings()), Model(), ModelProfile("local", "m", context_tokens=4096)
    )
    unknown = distiller(tmp_path, run(KnowledgeSettings()), Model(), ModelProfile("local", "m"))

    assert small.piece_bytes < 4096 * 3 < unknown.piece_bytes == SUMMARIZE_THRESHOLD_BYTES
    assert small.knowledge == tmp_path / "knowledge"


def test_the_prompt_is_the_one_that_the_run_names(tmp_path: Path) -> None:
    made = distiller(tmp_path, run(KnowledgeSettings(), "Words.\n"), Model(), ModelProfile("local", "m"))

    assert made.template == "Words."
