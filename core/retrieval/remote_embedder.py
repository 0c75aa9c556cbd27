"""The embedding model of a server that the person's settings name, over an OpenAI-compatible `/embeddings`.

It may cost nothing: what goes out by itself with every changed file passes no limit of spending. A server of which a
price is known is not asked, nor one elsewhere of which nobody knows whether it has one, and that is said. Under a limit
of the day no server is asked of which nobody knows the price.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from core.kernel.errors import FailureKind, ProviderError, SlopError
from core.kernel.figures import time_limit
from core.kernel.language import tr
from core.kernel.values.retrieval import Corpus, EmbeddingServer
from core.kernel.web_addresses import is_loopback
from core.retrieval.embedding import quantised
from core.retrieval.sources import SourceText
from core.services.providers.compatible.model_list import MOST_TEXTS, Embeds
from core.services.providers.http import Call, asking
from core.services.providers.protocol import Provider

# Makers of vectors and readers of files, as a search and an indexing run see them.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbedError(SlopError):
    """No vectors: the embedder is away, too slow, or answers what no vector is."""


class NoVectorError(EmbedError):
    """It answers, and makes no vector of one of these texts, or of none at all."""


class Embedder(Protocol):
    """Thread-safe. Another model is another index: `name` tells them apart."""

    @property
    def name(self) -> str:
        """Name of the model and its dimension."""

    @property
    def dimension(self) -> int:
        """Components of a vector."""

    @property
    def is_warm(self) -> bool:
        """True once it has answered: the next answer is not held up by its start."""

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        """Vectors of texts, a row each, quantised.

        Raises:
            EmbedError: see the class.
        """


@runtime_checkable
class EmbedsAway(Protocol):
    """An embedder whose answer may be long in coming."""

    def interrupt(self) -> None:
        """End what is asked for now: who waits for it gets an EmbedError."""


def sound_vectors(embedder: Embedder, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
    """Vectors of texts as an index may hold them: a row each, of the embedder's own dimension, none of it zero.

    Raises:
        EmbedError: it answered something else, or not at all.
    """
    vectors = embedder.embed(texts, timeout_s=timeout_s)
    if vectors.shape != (len(texts), embedder.dimension):
        got = " x ".join(map(str, vectors.shape))
        raise EmbedError(
            tr(
                "The embedding model returned {got} numbers instead of {texts} x {dimension}",
                got=got,
                texts=len(texts),
                dimension=embedder.dimension,
            ),
            remedy=tr(
                "Set `embedding_dimension` under `[retrieval]` to the number that the embedding model returns"
            ),
        )
    if not vectors.any(axis=1).all():
        raise NoVectorError(
            tr("The embedding model did not return a vector"), remedy=tr("Choose another model")
        )
    return vectors


class SourceReader(Protocol):
    """Reads files in another process, where parsing and measuring holds nobody up."""

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        """Read a file; `is_known` where its bytes have the hash that is known.

        Args:
            tells_language: whether `is_foreign` is told, which takes a model of its own.

        Raises:
            SlopError: the process failed at it.
        """


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SETTING = tr("Set `embedding_model` and `embedding_dimension` under `[retrieval]` in your settings")
_UNPRICED = tr(
    "Is the embedding model free? Set input_usd = 0 and output_usd = 0 in your models.toml. Otherwise name a server on this machine"
)
_UNPRICED_LIMIT = tr(
    "You set a limit for the day. Is the embedding model free? Set input_usd = 0 and output_usd = 0 in your models.toml. Otherwise remove the limit"
)
_OF_THE_TEXT = frozenset(
    {FailureKind.BAD_REQUEST, FailureKind.CONTEXT_TOO_LONG, FailureKind.REQUEST_TOO_LARGE}
)


def remote_embedders(
    find: Callable[[str], Provider], clock: Callable[[], datetime]
) -> Callable[[EmbeddingServer], RemoteEmbedder]:
    """Makes embedders of servers with the prices of the day. `find`: as in `RemoteEmbedder`."""

    def price(provider: str, model: str) -> float | None:
        from core.services.spending.pricing import input_usd_per_token

        return input_usd_per_token(provider, model, clock())

    return lambda server: RemoteEmbedder(server, find, price)


class RemoteEmbedder:
    """Embeds by a server's model. Thread-safe; a server that is silent is left when the time is over.

    Args:
        find: the client of a provider, which may raise ProviderError.
        price: of a token in US dollars by provider and model, None where nobody knows one.
    """

    def __init__(
        self,
        server: EmbeddingServer,
        find: Callable[[str], Provider],
        price: Callable[[str, str], float | None],
    ) -> None:
        self._server, self._find, self._price = server, find, price
        self.name = f"{server.provider}/{server.model}"
        self.dimension = server.dimension
        self.is_warm = False
        self._lock = threading.Lock()
        self._waiting: list[tuple[Call, SimpleQueue[list[list[float]] | Exception]]] = []

    def interrupt(self) -> None:
        """End what is asked for now: who waits for it gets an EmbedError."""
        with self._lock:
            for call, answered in self._waiting:
                answered.put(
                    EmbedError(tr("The program stopped waiting for {name}", name=self.name))
                )  # before the end of the call gives another reason
                call.close()

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        """Vectors of texts. `timeout_s`: of one request. Raises EmbedError."""
        import numpy as np

        parts = [
            self._vectors(self._asked(texts[start : start + MOST_TEXTS], timeout_s))
            for start in range(0, len(texts), MOST_TEXTS)
        ]
        self.is_warm = True
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.int8)

    def _vectors(self, rows: list[list[float]]) -> NDArray[np.int8]:
        import numpy as np

        sizes = {len(row) for row in rows}
        if sizes != {self.dimension}:
            got = ", ".join(f"{size:,}" for size in sorted(sizes))
            what = tr(
                "{name} returns vectors of {got} components, not of {dimension:,}",
                name=self.name,
                got=got,
                dimension=self.dimension,
            )
            raise EmbedError(what, remedy=_SETTING)
        found = np.asarray(rows, np.float64)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise NoVectorError(
                tr("The embedding model {model} did not return a vector", model=self.name),
                remedy=tr("Choose another model"),
            )
        return quantised((found / lengths).astype(np.float32))

    def _asked(self, texts: Sequence[str], timeout_s: float) -> list[list[float]]:
        call = Call()
        answered: SimpleQueue[list[list[float]] | Exception] = SimpleQueue()

        def ask() -> None:
            with asking(call):
                try:
                    answered.put(self._client().embed(self._server.model, texts))
                except Exception as error:  # noqa: BLE001 - the edge of this thread: who waits raises it
                    answered.put(error)

        one = call, answered
        with self._lock:
            self._waiting.append(one)
        threading.Thread(target=ask, name="embedding-call", daemon=True).start()
        try:
            found = answered.get(timeout=timeout_s)
        except Empty:
            call.close()
            raise EmbedError(
                tr("{name} took longer than {timeout_s}", name=self.name, timeout_s=time_limit(timeout_s)),
                remedy=tr("Try again"),
            ) from None
        finally:
            with self._lock:
                self._waiting.remove(one)
        if isinstance(found, EmbedError):
            raise found
        if isinstance(found, ProviderError):
            kind = NoVectorError if found.kind in _OF_THE_TEXT else EmbedError
            raise kind(found.what, remedy=found.remedy, where=found.where) from found
        if isinstance(found, Exception):
            raise EmbedError(tr("{name} failed: {found}", name=self.name, found=found)) from found
        return found

    def _client(self) -> Embeds:
        if not self._server.model:
            raise EmbedError(
                tr(
                    "You named no embedding model at the provider {provider!r}",
                    provider=self._server.provider,
                ),
                remedy=_SETTING,
            )
        client = self._find(self._server.provider)
        if not isinstance(client, Embeds):
            what = tr("{provider!r} cannot make vectors", provider=self._server.provider)
            raise EmbedError(
                what,
                remedy=tr("Choose a provider of the kind `compatible` from `[providers]`, such as Ollama"),
            )
        price = self._price(self._server.provider, self._server.model)
        if price:
            what = tr(
                "{model} costs money. The program does not use the model, to spare you the cost",
                model=self.name,
            )
            raise EmbedError(what, remedy=tr("Name a server of your own, such as Ollama"))
        if price is None and (self._server.is_limited or not is_loopback(client.base_url)):
            what = tr(
                "The price of {model} is unknown. The program does not use the model, because that might cost you money",
                model=self.name,
            )
            raise EmbedError(what, remedy=_UNPRICED_LIMIT if self._server.is_limited else _UNPRICED)
        return client
