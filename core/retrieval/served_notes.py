"""Search as a client of our server gets it: `search_notes` and `read_note`, where retrieval is on, without discussions."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from core.kernel.values.retrieval import AskedPlaces, Corpus, MemoryToolAnswer
from core.kernel.values.stack import ToolSchema
from core.retrieval.retrieval_tools import TOOLS
from core.retrieval.retrieval_worker import Retrieving, SearchHandler

NAMES = frozenset(one.name for one in TOOLS)

_SEARCHES = (
    "Searches notes, knowledge and files of the project by words and by meaning, for what no index.md names. Every "
    "passage comes with its source."
)
OFF = "Search is switched off here: `[retrieval] enabled` in the settings switches it on."


def served_places(asked: AskedPlaces) -> AskedPlaces:
    """Places without discussions: these are served by project, and by tools of their own."""
    return replace(asked, corpora=tuple(one for one in asked.corpora if one is not Corpus.DISCUSSIONS))


class ServedNotes:
    """Search over a home and its project, as settings say at each call. Used by one thread.

    Args:
        asked: the places, None while search is off; make: the index and its model, made when first needed.
    """

    def __init__(self, asked: Callable[[], AskedPlaces | None], make: Callable[[], Retrieving]) -> None:
        self._asked, self._make = asked, make
        self._held: Retrieving | None = None

    def tools(self) -> tuple[ToolSchema, ...]:
        """Schemas, none while search is off."""
        if self._asked() is None:
            return ()
        return tuple(
            replace(one, description=_SEARCHES) if one.name == "search_notes" else one for one in TOOLS
        )

    def answer(self, name: str, arguments: object) -> MemoryToolAnswer:
        """Answer a call. Total."""
        asked = self._asked()
        if asked is None:
            return MemoryToolAnswer(OFF, is_error=True)
        if self._held is None:
            self._held = self._make()
        handler = SearchHandler(self._held, lambda _event: None)
        try:
            given = msgspec.json.encode(arguments).decode()
        except (TypeError, ValueError) as error:
            return MemoryToolAnswer(f"The arguments do not fit: {error}", is_error=True)
        return handler.used(served_places(asked), name, given)

    def close(self) -> None:
        """Let go of the index and the model."""
        if self._held is not None:
            self._held.close()
