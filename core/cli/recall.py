"""Recall for a message on the command line: what would go along, from the index as it stands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from core.app.embedder_process import LocalEmbedder
from core.base import paths
from core.base.errors import FailureKind, ProviderError
from core.providers.protocol import Provider
from core.retrieval.index_file import FILE_NAME
from core.retrieval.recaller import Recaller, local_answer
from core.retrieval.remote_embedder import remote_embedders
from core.retrieval.search import FIRST_EMBED_S
from core.retrieval.worker import Retrieving
from core.values.recall import Recalled, RecallQuestion
from core.values.spec import StackSpec

WAIT_S = 60.0
"""Longest wait: the model is started for this one question."""

NO_INDEX = "Nothing is recalled: there is no search index yet. `manual-slop search` makes it."


def recall_for(spec: StackSpec, home: Path) -> Recalled:
    """Passages that would go along with a spec's message; nothing where ambient recall is off or nothing is said."""
    inputs = spec.inputs
    text = inputs.user_text.strip()
    if spec.recall is None or not text:
        return Recalled()
    if not any((folder / FILE_NAME).exists() for folder in paths.index_dirs(home)):
        return Recalled(problem=NO_INDEX)
    shared = local_retrieving(home)
    try:
        recaller = Recaller(local_answer(shared, FIRST_EMBED_S), WAIT_S)
        return recaller.recall(RecallQuestion(text, spec.discussion_id, spec.recall, inputs.digest))
    finally:
        shared.close()


def local_retrieving(home: Path) -> Retrieving:
    """The index of a home as it stands, with the model that comes with the program; no server is asked for vectors."""
    return Retrieving(home, LocalEmbedder, remote_embedders(_ask_nobody, lambda: datetime.now(UTC)))


def _ask_nobody(provider: str) -> Provider:
    """Looking sends nothing, and costs nothing: where a server makes the vectors, words alone answer."""
    raise ProviderError(FailureKind.NO_NETWORK, f"{provider!r} is not asked for vectors here")
