"""Sentence of layer 6 on the notes: where a model has the tools of memory and folders of notes are searched."""

from __future__ import annotations

from core.settings.searched_places import asked_places
from core.values.curation import NamedText
from core.values.retrieval import Corpus
from core.values.state import AppState

GUIDE = NamedText(
    "notes",
    "The person's notes have a router: read_note with index.md gives it, it comes first and says which folder's "
    "index.md holds what, and search_notes is for fuzzy recall of what no index names.",
)
"""The same for every project, so that another folder of notes rewrites no prefix. Source: 50-retrieval.md."""


def notes_guide(state: AppState, *, has_memory: bool) -> tuple[NamedText, ...]:
    """The sentence, none where there is nothing to read by it.

    Args:
        has_memory: the model is offered `search_notes` and `read_note`.
    """
    asked = asked_places(state)
    has_router = asked is not None and bool(asked.roots) and Corpus.NOTES in asked.corpora
    return (GUIDE,) if has_memory and has_router else ()
