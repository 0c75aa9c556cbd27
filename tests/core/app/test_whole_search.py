"""The whole program without a window: what changes on disk is found by a search in the running program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.app.execution import act
from core.kernel.values.retrieval import SearchAnswer
from core.kernel.values.state import AppState
from core.retrieval.retrieval_messages import SearchMemory
from tests.core.app.programs import until
from tests.core.app.test_whole import World, ask
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import (
    EMBEDDING_DIMENSION,
    EMBEDDING_MODEL,
    OLLAMA,
    CompatibleServer,
    Said,
)

CONFIG = f"""
[retrieval]
enabled = true
corpora = ["notes", "knowledge", "discussions"]
roots = ["notes"]
embedder = "local"
embedding_model = "{EMBEDDING_MODEL}"
embedding_dimension = {EMBEDDING_DIMENSION}
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with CompatibleServer(OLLAMA) as server:
        world = World(tmp_path, server)
        with (tmp_path / "config.toml").open("a", encoding="utf-8") as config:
            config.write(CONFIG)
        notes = world.project / "notes"
        (notes / "ops").mkdir(parents=True)
        (notes / "retry.md").write_text("# Retry policy\n\nThe gateway retries thrice.\n")
        yield world
        world.stop()


def is_idle(state: AppState) -> bool:
    return state.retrieval.progress is None and state.retrieval.report is not None


def searched(controller: AppController, query: str) -> SearchAnswer:
    answer = act(controller, SearchMemory(query), timeout_s=PATIENCE_S).retrieval.answer
    assert answer is not None
    return answer


def wait_for(controller: AppController, query: str, path: str) -> SearchAnswer:
    """Search after each run until a path comes first."""
    while True:
        answer = searched(controller, query)
        if answer.hits and answer.hits[0].keyword > 0 and answer.hits[0].path == path:
            return answer
        report = controller.snapshot().retrieval.report
        until(controller, lambda s: is_idle(s) and s.retrieval.report is not report)  # noqa: B023


@pytest.mark.slow
def test_what_changes_on_disk_is_found_without_a_restart(world: World) -> None:
    controller = world.start(watches=True)
    notes = world.project / "notes"
    until(controller, lambda s: is_idle(s) and str(notes / "ops") in s.retrieval.folders)
    assert wait_for(controller, "gateway", "retry.md").degraded is False, "with vectors of the server"

    fresh = notes / "retry.md.new"
    fresh.write_text("# Retry policy\n\nThe zeppelin lands at noon.\n")
    os.replace(fresh, notes / "retry.md")  # as editors save
    wait_for(controller, "zeppelin", "retry.md")

    (notes / "ops" / "disks.md").write_text("# Disks\n\nThe walrus sleeps on the array.\n")
    wait_for(controller, "walrus", "ops/disks.md")
    assert "[Disks](disks.md)" in (notes / "ops" / "index.md").read_text()

    chosen = world.discussion(controller)
    world.server.replies.append(Said("A narwhal, I suppose."))
    ask(controller, chosen, "Which animal has a horn?")
    wait_for(controller, "narwhal", chosen)

    known = world.home / "knowledge" / "facts.md"
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text("- The pangolin rolls itself up. [from: notes, 2026-06-01]\n")
    wait_for(controller, "pangolin", "facts.md")
