"""Measures the private memory of a process that searches an index, without the embedder. Run by `retrieval_search`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.kernel.values.retrieval import Corpus
from core.retrieval.embedding import DIMENSION
from core.retrieval.local_store import LocalStore
from core.retrieval.search import SearchRequest, search
from tests.bench.retrieval_corpus import MODEL, SCOPE


class _Fixed:
    """Answers any text with one vector."""

    name, dimension, is_warm = MODEL, DIMENSION, True

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return np.full((len(texts), DIMENSION), 20, np.int8)


def private_mb() -> float:
    """Memory that is this process' own and stands nowhere else; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")) / 1e3


def main(folder: str, questions: str) -> None:
    """Search, then print how much is held."""
    store = LocalStore(Path(folder), MODEL, DIMENSION)
    for question in json.loads(questions):
        if search(store, _Fixed(), SearchRequest(question, (Corpus.NOTES,), (SCOPE,))).degraded:
            raise AssertionError("the index does not answer")
    print(json.dumps({"private_mb": private_mb()}))
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
