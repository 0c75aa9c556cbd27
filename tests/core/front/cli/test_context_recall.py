"""`context` shows what would go along with a message, from the index as it stands."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.kernel import paths
from core.retrieval import index_file
from core.retrieval.remote_embedder import EmbedError
from tests.core.front.cli.conftest import World
from tests.core.retrieval.test_navigation_worker import WordModel
from tests.vendors.compatible_server import EMBEDDING_DIMENSION, EMBEDDING_MODEL

ITEM = "- The checkpoint interval of the tide model is thirty seconds. [from: notes, 2026-06-01]\n"
QUESTION = "Which checkpoint interval?"


@pytest.mark.slow
def test_it_is_shown_with_why_and_stands_in_the_text(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for place in ("core.app.outside", "core.front.cli.search"):
        monkeypatch.setattr(f"{place}.LocalEmbedder", WordModel)
    known = world.home / "knowledge"
    known.mkdir(parents=True)
    (known / "facts.md").write_text(ITEM)
    with world.config.open("a") as config:
        config.write('[retrieval]\nenabled = true\nambient = true\ncorpora = ["knowledge"]\n')

    early = world.run("context", "--json", "--message", QUESTION).json["recalled"]
    assert (early["passages"], early["problem"][:22]) == ([], "Recall finds nothing: ")
    assert world.run("search", "checkpoint").code == 0

    told = world.run("context", "--message", QUESTION).out
    assert "Recalled for this message, about " in told
    assert "facts.md:1" in told
    assert "the passage contains your words checkpoint, interval" in told
    assert "thirty seconds" in world.run("context", "--text", "--message", QUESTION).out


def test_an_index_of_a_server_s_model_stays_and_the_server_is_not_asked(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    known = world.home / "knowledge"
    known.mkdir(parents=True)
    (known / "facts.md").write_text(ITEM)
    with world.config.open("a") as config:
        config.write(
            f'[retrieval]\nenabled = true\nambient = true\ncorpora = ["knowledge"]\nembedder = "local"\n'
            f'embedding_model = "{EMBEDDING_MODEL}"\nembedding_dimension = {EMBEDDING_DIMENSION}\n'
        )
    assert world.run("search", "checkpoint").code == 0
    asked = len(world.server.bodies)
    kept = {
        path.name: path.stat().st_size
        for folder in paths.index_dirs(world.home)
        for path in folder.glob("*.i8")
    }
    assert kept

    assert "thirty seconds" in world.run("context", "--text", "--message", QUESTION).out

    assert len(world.server.bodies) == asked
    assert {
        path.name: path.stat().st_size
        for folder in paths.index_dirs(world.home)
        for path in folder.glob("*.i8")
    } == kept


def test_a_message_whose_recall_fell_short_says_so_and_goes(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(WordModel):
        def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
            raise EmbedError("The model is away")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("core.app.outside.LocalEmbedder", Away)
    known = world.home / "knowledge"
    known.mkdir(parents=True)
    (known / "facts.md").write_text(ITEM)
    with world.config.open("a") as config:
        config.write('[retrieval]\nenabled = true\nambient = true\ncorpora = ["knowledge"]\n')
    world.run("search", "checkpoint")

    sent = world.run("send", QUESTION)

    assert sent.code == 0
    assert sent.err.count("manual-slop: Found by keywords only: The model is away") == 1
    assert "thirty seconds" in json.dumps(world.server.bodies[-1])


def test_a_search_answers_from_the_index_that_it_cannot_bring_up_to_date(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("core.app.outside.LocalEmbedder", WordModel)
    monkeypatch.setattr(index_file, "BUSY_S", 0.05)
    known = world.home / "knowledge"
    known.mkdir(parents=True)
    (known / "facts.md").write_text(ITEM)
    off = world.run("search", "checkpoint")
    assert (off.code, off.err.count("Search is off in this project")) == (1, 1)
    with world.config.open("a") as config:
        config.write('[retrieval]\nenabled = true\ncorpora = ["knowledge"]\n')
    assert world.run("search", "checkpoint").code == 0
    (folder,) = paths.index_dirs(world.home)
    with closing(sqlite3.connect(folder / index_file.FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        (known / "facts.md").write_text(ITEM * 2)

        ended = world.run("search", "checkpoint")

    assert ended.code == 0
    assert "thirty seconds" in ended.out
    assert "warning: the index is out of date: " in ended.err
