"""Answers what goes along with a message, within a bound. It never raises: a turn does not fail for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from core.base.errors import SlopError
from core.retrieval.ambient import CORPORA, recall_filters, recall_query, recalled, wanted_count
from core.retrieval.embedder import Embedder
from core.retrieval.judged_places import judge
from core.retrieval.messages import RecallAnswered
from core.retrieval.search import SearchRequest, search
from core.retrieval.worker import Retrieving
from core.values.recall import Recalled, RecallQuestion
from core.values.retrieval import SearchAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

RECALL_S = 2.0
"""Seconds that a message waits for what may go along with it, at most."""

_EMBED_S = 1.0

_log = logging.getLogger(__name__)

TOO_SLOW = "Recall took too long; the message goes without it."
BUSY = "Recall is busy with an earlier question; the message goes without it."


class Recaller:
    """Searches for what fits a message. Thread-safe.

    Args:
        answer: searches; may take long and may raise. bound_s: seconds until nothing is the answer.
        tell: learns of each answer; thread-safe, returns at once.
    """

    def __init__(
        self,
        answer: Callable[[RecallQuestion], SearchAnswer],
        bound_s: float = RECALL_S,
        tell: Callable[[RecallAnswered], None] = lambda _: None,
    ) -> None:
        self._answer, self._bound_s, self._tell = answer, bound_s, tell
        self._one = threading.Lock()

    def recall(self, question: RecallQuestion) -> Recalled:
        """Passages for a message; what went wrong is said in it."""
        found = self._recalled(question)
        self._tell(RecallAnswered(question.discussion_id, found.problem))
        return found

    def _recalled(self, question: RecallQuestion) -> Recalled:
        if not recall_query(question.text) or not set(question.spec.asked.corpora) & set(CORPORA):
            return Recalled()
        until = time.monotonic() + self._bound_s  # of both waits together
        if not self._one.acquire(timeout=self._bound_s):
            return Recalled(problem=BUSY)
        answered: SimpleQueue[Recalled] = SimpleQueue()
        threading.Thread(target=self._ask, args=(question, answered), name="recall", daemon=True).start()
        try:
            return answered.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return Recalled(problem=TOO_SLOW)

    def _ask(self, question: RecallQuestion, answered: SimpleQueue[Recalled]) -> None:
        try:
            answered.put(recalled(question, self._answer(question)))
        except SlopError as error:
            answered.put(Recalled(problem=f"Nothing was recalled: {error.what}"))
        except Exception as error:  # noqa: BLE001 (no turn fails for recall; the log has it)
            _log.exception("recall failed")
            answered.put(Recalled(problem=f"Nothing was recalled: {error}"))
        finally:
            self._one.release()


def local_answer(shared: Retrieving, embed_s: float = _EMBED_S) -> Callable[[RecallQuestion], SearchAnswer]:
    """Searches the index that is kept here. `embed_s`: seconds until keywords alone answer."""

    def answer(question: RecallQuestion) -> SearchAnswer:
        asked = question.spec.asked
        places = judge(asked)
        model = shared.embedder(asked)
        corpora = tuple(corpus for corpus in places.corpora if corpus in CORPORA)
        request = SearchRequest(
            question.text, corpora, places.scopes, wanted_count(question), recall_filters(question)
        )
        return search(shared.store(model), _Hurried(model, embed_s), request)

    return answer


class _Hurried:
    """An embedder that is given up sooner: keywords alone are better than a message that waits."""

    def __init__(self, embedder: Embedder, most_s: float) -> None:
        self._embedder, self._most_s = embedder, most_s

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def is_warm(self) -> bool:
        return self._embedder.is_warm

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return self._embedder.embed(texts, timeout_s=min(timeout_s, self._most_s))
