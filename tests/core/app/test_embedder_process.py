"""The embedder of the worker process: many texts are many jobs, so that a question beside them has its turn."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np
import pytest

from core.app.crunch import AT_ONCE, LocalEmbedder
from core.retrieval.remote_embedder import EmbedError
from tests.patience import PATIENCE_S


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
