"""The two workers of retrieval: one keeps the index, one answers questions beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol, assert_never

from msgspec.structs import replace

from core.base import paths
from core.base.errors import SlopError
from core.retrieval.counts import contents
from core.retrieval.embedder import Embedder, EmbedsAway, SourceReader
from core.retrieval.erasure import pay
from core.retrieval.heads import FieldNames
from core.retrieval.index_file import IndexFaultError, delete_index, drop_unused
from core.retrieval.index_run import drop_unnamed, index
from core.retrieval.judged_places import judge
from core.retrieval.local_store import LocalStore
from core.retrieval.messages import (
    FindSources,
    HoldIndex,
    IndexEffect,
    IndexEnded,
    IndexProgressed,
    NavigationSurveyed,
    RetrievalEvent,
    RunIndex,
    RunSearch,
    SearchAnswered,
    SearchEffect,
    SourcesFound,
    StopIndex,
    SurveyNavigation,
    ToolUsed,
)
from core.retrieval.mirror import mirror, server_store
from core.retrieval.navigation_files import (
    existing_folders,
    mend,
    notes_navigator,
    routers,
    survey,
    write_navigation,
)
from core.retrieval.postgres_store import PostgresStore
from core.retrieval.search import SearchRequest, search
from core.retrieval.source_text import READING
from core.retrieval.sources import SourceFile, preview_of
from core.retrieval.store import ServedIndex
from core.retrieval.tools import use_tool
from core.values.retrieval import (
    AskedPlaces,
    Corpus,
    EmbeddingServer,
    IndexProgress,
    IndexReport,
    MemoryToolAnswer,
    NavigationReport,
    SearchAnswer,
    SearchFilters,
    SearchPlaces,
)

Emit = Callable[[RetrievalEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

TELL_S = 0.1
"""Seconds between two words on how far a run is."""

STOPPED, ENDING = "You stopped it", "The program is ending"


def _label(model: Embedder) -> str:
    return f"{model.name}/{model.dimension}"


class Model(Embedder, SourceReader, Protocol):
    """Reads files, and embeds with the model that comes with the program, in a process that ends with `close`."""

    def close(self) -> None:
        """End the process."""


class Retrieving:
    """Things that both workers share: the index and the model, opened when first needed. Thread-safe.

    Args:
        home: the person's data; make: starts the model for names of fields; remote: an embedder on a server.
    """

    def __init__(
        self,
        home: Path,
        make: Callable[[FieldNames], Model],
        remote: Callable[[EmbeddingServer], Embedder],
    ) -> None:
        self.home, self._make, self._remote = home, make, remote
        self._lock = threading.Lock()
        self._model: tuple[FieldNames, Model] | None = None
        self._away: tuple[EmbeddingServer, Embedder] | None = None
        self._store: tuple[str, LocalStore] | None = None
        self._server: tuple[str, PostgresStore] | None = None

    def embedder(self, asked: AskedPlaces) -> Embedder:
        """The embedder that settings name: on a server, or the model that comes with the program."""
        if asked.embedder is None:
            return self.model(FieldNames(asked.tag_fields, asked.date_fields))
        with self._lock:
            if self._away is None or self._away[0] != asked.embedder:
                self._away = asked.embedder, self._remote(asked.embedder)
            return self._away[1]

    def interrupt(self) -> None:
        """Wait no more for an embedder on a server. Thread-safe."""
        if self._away is not None and isinstance(self._away[1], EmbedsAway):
            self._away[1].interrupt()

    def model(self, fields: FieldNames) -> Model:
        """The model, started anew where the names of fields are others."""
        with self._lock:
            if self._model is not None and self._model[0] != fields:
                self._model[1].close()
                self._model = None
            if self._model is None:
                self._model = fields, self._make(fields)
            return self._model[1]

    def store(self, model: Embedder) -> LocalStore:
        """The index for a model."""
        made_by = _label(model)
        with self._lock:
            # It may have been deleted, as a forgetting does: nothing of it may be found any more.
            if self._store is not None and (self._store[0] != made_by or not self._store[1].is_there()):
                self._close_store()
            if self._store is None:
                self._store = made_by, LocalStore(self.folder_of(model), model.name, model.dimension)
            return self._store[1]

    def server(self, url: str, model: Embedder) -> PostgresStore | None:
        """The index on a server, None where there is none. Nothing is reached yet."""
        place = f"{url} {_label(model)}"
        with self._lock:
            if self._server is not None and self._server[0] != place:
                self._server[1].close()
                self._server = None
            if self._server is None and url:
                self._server = place, server_store(self.home, url, model.name, model.dimension)
            return self._server[1] if self._server is not None else None

    def searched(self, url: str, model: Embedder) -> LocalStore | ServedIndex:
        """The index that is searched: on a server, with the one here behind it, or the one here."""
        server = self.server(url, model)
        return self.store(model) if server is None else ServedIndex(server, self.store(model))

    def renew(self, model: Embedder) -> None:
        """Delete the index for a model: it is made anew by the next run."""
        with self._lock:
            self._close_store()
            delete_index(self.folder_of(model))

    def folder_of(self, model: Embedder) -> Path:
        """The folder of the index for a model: another program beside this one may use another, and keeps its own."""
        return paths.index_dir(self.home, _label(model) if isinstance(model, EmbedsAway) else "")

    def close(self) -> None:
        """Let go of the index, and end the model's process."""
        with self._lock:
            self._close_store()
            if self._model is not None:
                self._model[1].close()
                self._model = None
            if self._server is not None:
                self._server[1].close()
                self._server = None

    def _close_store(self) -> None:
        if self._store is not None:
            self._store[1].close()
            self._store = None


class SearchHandler:
    """Answers questions, one after the other. Never fails for a question: what went wrong stands in the answer."""

    def __init__(self, shared: Retrieving, emit: Emit) -> None:
        self._shared, self._emit = shared, emit

    def handle(self, effect: SearchEffect) -> None:
        """Answer one question, or one use of a tool."""
        asked = effect.asked
        places = judge(asked)
        if isinstance(effect, RunSearch):
            answer = self._answer(asked, places, effect.query, effect.count, effect.filters)
            self._emit(SearchAnswered(answer, places, effect.command_id))
        else:
            told = self.used(asked, effect.name, effect.arguments_json)
            self._emit(ToolUsed(told.text, told.is_error, places, effect.command_id))

    def used(self, asked: AskedPlaces, name: str, arguments_json: str) -> MemoryToolAnswer:
        """Answer a model's call of a tool of memory. Thread-safe, total."""
        places = judge(asked)
        fields = FieldNames(asked.tag_fields, asked.date_fields)
        return use_tool(
            name,
            arguments_json,
            partial(self._answer, asked, places),
            places,
            lambda: survey(places, self._shared.home, fields).stale,
        )

    def _answer(
        self, asked: AskedPlaces, places: SearchPlaces, query: str, count: int, filters: SearchFilters
    ) -> SearchAnswer:
        fields = FieldNames(asked.tag_fields, asked.date_fields)
        model = self._shared.embedder(asked)
        request = SearchRequest(query, places.corpora, places.scopes, count, filters)
        return search(
            self._shared.searched(asked.server, model),
            model,
            request,
            navigate=notes_navigator(places, self._shared.home, fields),
            is_made_anew=not self._shared.store(model).is_whole(),
        )


class IndexHandler:
    """Keeps the index: one run at a time, which can be told to wait or to stop from another thread."""

    def __init__(self, shared: Retrieving, emit: Emit) -> None:
        self._shared, self._emit = shared, emit
        self._stop = threading.Event()
        self._go_on = threading.Event()
        self._go_on.set()
        self._why = ""
        self._is_closing = False
        self._told_at = 0.0

    @staticmethod
    def supersedes(new: IndexEffect, old: IndexEffect) -> bool:
        """True where a run that waits does nothing that a later one does not do as well."""
        return (
            isinstance(new, RunIndex)
            and isinstance(old, RunIndex)
            and (new.is_anew or not old.is_anew)
            and (not new.only or (bool(old.only) and set(old.only) <= set(new.only)))
        )

    def prepare(self) -> None:
        """A run is about to be queued: from now on it can be stopped. On the controller's thread."""
        if not self._is_closing:
            self._stop.clear()

    def hold(self, *, is_paused: bool) -> None:
        """Let the run wait, or go on. Thread-safe."""
        if is_paused:
            self._go_on.clear()
        else:
            self._go_on.set()

    def cancel(self) -> None:
        """Stop the run that is queued or under way. Thread-safe."""
        self._why = STOPPED
        self._stop.set()
        self._go_on.set()
        self._shared.interrupt()

    def close(self) -> None:
        """The program ends: stop the run, and every one that may still come. Thread-safe."""
        self._is_closing, self._why = True, ENDING
        self._stop.set()
        self._go_on.set()
        self._shared.interrupt()

    def handle(self, effect: IndexEffect) -> None:
        """Carry out one effect. A run ends with an event of its own, also where it fails."""
        match effect:
            case RunIndex():
                self._run(effect)
            case SurveyNavigation():
                self._survey(effect)
            case FindSources():
                preview = preview_of(self._shared.home, judge(effect.asked))
                self._emit(SourcesFound(preview, effect.command_id))
            case StopIndex():
                self.cancel()
            case HoldIndex():
                self.hold(is_paused=effect.is_paused)
            case _:
                assert_never(effect)

    def _run(self, effect: RunIndex) -> None:
        places = judge(effect.asked)
        try:
            try:
                report, folders = self._indexed(effect, places)
            except IndexFaultError as error:
                if not error.is_torn:
                    raise
                effect = replace(effect, is_anew=True, only=())
                report, folders = self._indexed(effect, places)
        except SlopError as error:
            left = self._so_far(effect, places) if self._stop.is_set() else None
            self._emit(IndexEnded(left, places, error.what, error.remedy, effect.command_id))
        except Exception as error:  # the run is over, and is told so; the queue tells the rest
            self._emit(self._failed(effect, places, error))
            raise
        else:
            is_all = not effect.only or bool({Corpus.NOTES, Corpus.PROJECT} & set(effect.only))
            seen = folders if is_all else None
            self._emit(IndexEnded(report, places, command_id=effect.command_id, folders=seen))

    def _indexed(self, effect: RunIndex, places: SearchPlaces) -> tuple[IndexReport, tuple[str, ...]]:
        asked, shared = effect.asked, self._shared
        whole = places
        if effect.only:
            places = replace(
                places, corpora=tuple(corpus for corpus in places.corpora if corpus in effect.only)
            )
        fields = FieldNames(asked.tag_fields, asked.date_fields)
        reader, embedder = shared.model(fields), shared.embedder(asked)
        if effect.is_anew:
            shared.renew(embedder)
        else:
            drop_unused(shared.home, shared.folder_of(embedder))
        store = shared.store(embedder)
        store.note_reading(repr((READING, fields, isinstance(embedder, EmbedsAway))))

        def on_notes(notes: Mapping[str, list[SourceFile]]) -> Iterable[tuple[str, str]]:
            if not effect.only:
                store.note_whole()  # keywords answer from here on
            return write_navigation(store, notes, fields)

        removed = 0 if effect.only else drop_unnamed(store, whole, asked.project)
        report, folders = index(store, reader, embedder, shared.home, places, self._progressed, on_notes)
        if (server := shared.server(asked.server, embedder)) is not None:
            why = mirror(store, server, places, self._progressed, is_anew=effect.is_anew)
            report = replace(report, server=why)
            if not why:
                pay(shared.home)
        content = contents(store, whole)
        return replace(
            report,
            removed=report.removed + removed,
            passed_over=(*report.passed_over, *content.passed_over),
            counts=content.counts,
            is_part=bool(effect.only),
        ), folders

    def _so_far(self, effect: RunIndex, places: SearchPlaces) -> IndexReport | None:
        """Content of the index after a run that was stopped; None where it cannot be read."""
        try:
            content = contents(self._shared.store(self._shared.embedder(effect.asked)), places)
        except SlopError:
            return None
        return IndexReport(counts=content.counts, passed_over=content.passed_over, stopped=True)

    def _survey(self, effect: SurveyNavigation) -> None:
        fields = FieldNames(effect.asked.tag_fields, effect.asked.date_fields)
        places, home = judge(effect.asked), self._shared.home
        try:
            found = survey(places, home, fields, existing_folders(effect.around))
            unmended: tuple[str, ...] = ()
            if effect.mends:
                unmended = tuple(f"{path}: {reason}" for path, reason in mend(found).problems)
                found = survey(places, home, fields, existing_folders(effect.around))
            report = NavigationReport(
                len(found.fresh),
                tuple(found.stale),
                found.orphans,
                found.own,
                (*found.problems, *unmended),
                routers(places),
            )
        except SlopError as error:
            report = NavigationReport(problems=(error.what,))
        self._emit(NavigationSurveyed(report, effect.command_id))

    def _failed(self, effect: RunIndex, places: SearchPlaces, error: Exception) -> IndexEnded:
        return IndexEnded(None, places, f"The index failed: {error}", "See the log file.", effect.command_id)

    def _progressed(self, progress: IndexProgress) -> None:
        self._go_on.wait()
        if self._stop.is_set():
            raise SlopError(self._why, remedy="It goes on where it was when it is started again")
        begins_vectors = bool(progress.bare) and not progress.vectors  # the longest part, and its first word
        if begins_vectors or time.monotonic() - self._told_at > TELL_S:
            self._told_at = time.monotonic()
            self._emit(IndexProgressed(progress))
