"""Vectors from a server's `/embeddings`, as OpenAI documents it and Ollama, llama.cpp, vLLM and LM Studio follow.

Source: OpenAI API reference, Create embeddings; Ollama, docs/openai.md (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import openai

MOST_TEXTS = 32
"""Texts of one request. Servers that work on a processor answer so many in seconds."""


@runtime_checkable
class Embeds(Protocol):
    """A client whose server makes vectors."""

    @property
    def base_url(self) -> str:
        """Address at which it is asked."""
        ...

    def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of at most `MOST_TEXTS` texts, none of them empty, in their order.

        Raises:
            ProviderError: as `Provider.stream`.
        """
        ...


def embedded(client: openai.OpenAI, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Ask for vectors. They are asked for as numbers: older servers know no other form.

    Raises:
        ValueError: the answer has not one vector for each text; and as the SDK.
    """
    answer = client.embeddings.create(model=model, input=list(texts), encoding_format="float")
    rows = {int(row.index): [float(figure) for figure in row.embedding] for row in answer.data}
    if rows.keys() != set(range(len(texts))):
        raise ValueError(f"{len(rows)} vectors came for {len(texts)} texts")
    return [rows[index] for index in range(len(texts))]
