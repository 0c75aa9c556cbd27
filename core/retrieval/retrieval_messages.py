"""Messages of retrieval: questions, and the index that is kept for them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.kernel.values.retrieval import (
    AskedPlaces,
    Corpus,
    IndexProgress,
    IndexReport,
    NavigationReport,
    SearchAnswer,
    SearchFilters,
    SearchPlaces,
    SourcesPreview,
)
from core.kernel.values.updates import FILLED


class SearchMemory(msgspec.Struct, frozen=True):
    """Search. The outcome comes with the answer in `state.retrieval`.

    Args:
        count: sources that are wanted, 1 to 100; asked: where is searched, as the step fills it in.
    """

    query: str
    count: int = 10
    filters: SearchFilters = SearchFilters()
    command_id: str = ""
    asked: Annotated[AskedPlaces, FILLED] = AskedPlaces()


class UseMemoryTool(msgspec.Struct, frozen=True):
    """Use a tool of memory as a model would. The outcome comes with its answer in `state.retrieval`. `asked`: as in `SearchMemory`."""

    name: str
    arguments_json: str
    command_id: str = ""
    asked: Annotated[AskedPlaces, FILLED] = AskedPlaces()


class UpdateIndex(msgspec.Struct, frozen=True):
    """Bring the index to what the files say. The outcome comes when it is.

    Args:
        is_anew: make it anew from the files alone; asked: as in `SearchMemory`.
        only: of these corpora, empty for all that are switched on.
    """

    is_anew: bool = False
    command_id: str = ""
    asked: Annotated[AskedPlaces, FILLED] = AskedPlaces()
    only: Annotated[tuple[Corpus, ...], FILLED] = ()


class PauseIndexing(msgspec.Struct, frozen=True):
    """Let the run under way wait, or go on."""

    is_paused: bool


class CancelIndexing(msgspec.Struct, frozen=True):
    """Stop the run under way; what is done stays done."""


class LookAtSources(msgspec.Struct, frozen=True):
    """Look at what would be read if every corpus were on, also while retrieval is off here. `asked`: as in `SearchMemory`."""

    command_id: str = ""
    asked: Annotated[AskedPlaces, FILLED] = AskedPlaces()


class CheckNavigation(msgspec.Struct, frozen=True):
    """Compare the index files of notes with the notes. The outcome comes with `state.retrieval.navigation`.

    Args:
        mends: first write index files that are stale or missing, and remove orphans; asked: as in `SearchMemory`.
        around: folders in which files of what is no longer searched are looked for.
    """

    command_id: str = ""
    mends: Annotated[bool, FILLED] = False
    asked: Annotated[AskedPlaces, FILLED] = AskedPlaces()
    around: Annotated[tuple[str, ...], FILLED] = ()


class BuildNavigation(msgspec.Struct, frozen=True):
    """Write index files that are stale or missing, and remove orphans; then as `CheckNavigation`."""

    command_id: str = ""


class SearchAnswered(msgspec.Struct, frozen=True):
    """A question was answered."""

    answer: SearchAnswer
    places: SearchPlaces
    command_id: str = ""


class SourcesFound(msgspec.Struct, frozen=True):
    """Sources were looked at: what would be read."""

    preview: SourcesPreview
    command_id: str = ""


class NavigationSurveyed(msgspec.Struct, frozen=True):
    """The index files of notes were checked."""

    report: NavigationReport
    command_id: str = ""


class RecallAnswered(msgspec.Struct, frozen=True):
    """It is known what goes along with a message. `problem`: why less than was configured, empty where all was asked."""

    discussion_id: str
    problem: str = ""


class ToolUsed(msgspec.Struct, frozen=True):
    """A tool of memory answered."""

    text: str
    is_error: bool
    places: SearchPlaces
    command_id: str = ""


class IndexProgressed(msgspec.Struct, frozen=True):
    """The run under way got on."""

    progress: IndexProgress


class IndexEnded(msgspec.Struct, frozen=True):
    """A run ended.

    Args:
        problem: it could not go on, empty where it came to its end; remedy: with it.
        folders: those that were looked into, whose change calls for another run; None where it did not look.
    """

    report: IndexReport | None
    places: SearchPlaces
    problem: str = ""
    remedy: str = ""
    command_id: str = ""
    folders: tuple[str, ...] | None = None


RetrievalCommand = (
    SearchMemory
    | UseMemoryTool
    | UpdateIndex
    | PauseIndexing
    | CancelIndexing
    | LookAtSources
    | CheckNavigation
    | BuildNavigation
)
"""Commands that a front end may give this room."""

RetrievalEvent = (
    SearchAnswered
    | ToolUsed
    | IndexProgressed
    | IndexEnded
    | SourcesFound
    | NavigationSurveyed
    | RecallAnswered
)
"""Events of this room."""

SearchEffect = SearchMemory | UseMemoryTool
"""The search worker's, on one thread."""

IndexLook = CheckNavigation | LookAtSources
"""Looks between two runs, on the index worker's thread: a walk over files holds no search up."""

IndexEffect = UpdateIndex | IndexLook | CancelIndexing | PauseIndexing
"""The index worker's; `CancelIndexing` and `PauseIndexing` reach a run from outside its thread."""

RetrievalEffect = SearchEffect | IndexEffect
"""All effects of this room."""
