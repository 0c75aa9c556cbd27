"""The embedder of the worker process: many texts are many jobs, so that a question beside them has its turn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.app.crunch import AT_ONCE, LocalEmbedder
from core.kernel.values.retrieval import Corpus
from core.retrieval.remote_embedder import EmbedError
from core.talk.discussion.pdf_text import MAX_MEMORY_BYTES
from tests.patience import PATIENCE_S
from tests.pdfs import make_pdf


class SlowProcess:
    """A worker process that does its jobs when it is told: the length of a text is its vector."""

    def __init__(self, _timeout_s: float) -> None:
        self.jobs: list[Sequence[str]] = []
        self.is_stuck = False

    def embed(self, texts: Sequence[str], model: str) -> Future[bytes]:
        self.jobs.append(texts)
        done: Future[bytes] = Future()
        if not self.is_stuck:
            done.set_result(b"".join(bytes([len(text)]) * LocalEmbedder.dimension for text in texts))
        return done


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> SlowProcess:
    made = SlowProcess(0)
    monkeypatch.setattr("core.app.crunch.Crunch", lambda *_, **_more: made)
    return made


def test_search_by_meaning_that_is_not_installed_is_told_with_the_line_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No process is started for it."""
    embedder = LocalEmbedder()
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(EmbedError, match="not installed") as said:
        embedder.embed(["x"], timeout_s=PATIENCE_S)

    assert 'pip install "manual-slop[search]"' in said.value.remedy


def test_no_job_holds_more_texts_than_a_question_can_wait_for(process: SlowProcess) -> None:
    texts = ["x" * (1 + number * 7 % 100) for number in range(3 * AT_ONCE + 5)]
    vectors = LocalEmbedder().embed(texts, timeout_s=PATIENCE_S)

    assert [len(job) for job in process.jobs] == [AT_ONCE, AT_ONCE, AT_ONCE, 5]
    assert vectors.shape == (len(texts), LocalEmbedder.dimension)
    assert vectors[:, 0].tolist() == [len(text) for text in texts], "each text has its own vector"
    assert vectors.dtype == np.int8


def test_the_time_is_that_of_all_jobs_together(process: SlowProcess) -> None:
    process.is_stuck = True
    with pytest.raises(EmbedError, match=r"needed more than 0\.05 s"):
        LocalEmbedder().embed(["x"] * 3 * AT_ONCE, timeout_s=0.05)
    assert len(process.jobs) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("own_worker_process")
@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")
def test_documents_have_a_process_of_their_own_which_is_bounded_and_may_die(tmp_path: Path) -> None:
    """The bound holds however many files were read before, and never for the process that embeds."""
    (tmp_path / "a.pdf").write_bytes(make_pdf("The landlord keeps the key."))
    (tmp_path / "a.md").write_text("# Plan\n\nSow beans.\n")
    embedder = LocalEmbedder()

    def read(name: str) -> int:
        found = embedder.read(Corpus.NOTES, name, tmp_path / name, "", tells_language=False)
        assert not found.problem
        return len(found.chunks)

    def started() -> list[psutil.Process]:
        return [one for one in psutil.Process().children() if one not in before]

    before = psutil.Process().children()
    assert read("a.md") == read("a.pdf") == read("a.md") == 1
    bounds = {one.rlimit(psutil.RLIMIT_AS)[0]: one for one in started()}
    assert set(bounds) == {psutil.RLIM_INFINITY, MAX_MEMORY_BYTES}
    bounds[MAX_MEMORY_BYTES].kill()
    psutil.wait_procs([bounds[MAX_MEMORY_BYTES]], timeout=PATIENCE_S)
    assert read("a.pdf") == read("a.md") == 1
    assert bounds[psutil.RLIM_INFINITY] in started()
    embedder.close()
    assert not started()
