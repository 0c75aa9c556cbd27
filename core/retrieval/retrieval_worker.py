"""The two workers of retrieval: one keeps the index, one answers questions; the same search for clients of our server."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol, assert_never, runtime_checkable

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import to_json
from core.kernel.errors import SlopError, StorageError
from core.kernel.frame import clean
from core.kernel.language import in_english, spliced, tr
from core.kernel.opener import create_missing
from core.kernel.queue import at_once, queued
from core.kernel.values.retrieval import (
    AskedPlaces,
    Corpus,
    EmbeddingServer,
    IndexProgress,
    IndexReport,
    MemoryToolAnswer,
    NavigationReport,
    Recalled,
    RecallQuestion,
    SearchAnswer,
    SearchFilters,
    SearchMode,
    SearchPlaces,
)
from core.kernel.values.stack import ToolSchema
from core.retrieval.ambient import CORPORA, recall_filters, recall_query, recalled, wanted_count
from core.retrieval.embedders import E5_NAME, INSTALL_REMEDY
from core.retrieval.embedding import cosine, index_name
from core.retrieval.front_matter import FieldNames
from core.retrieval.index_file import FILE_NAME, IndexFaultError, delete_index, drop_unused
from core.retrieval.index_run import drop_unnamed, index, known_scale, mirror, note_scale, pay, server_store
from core.retrieval.index_store import ServedIndex
from core.retrieval.local_store import LocalStore
from core.retrieval.navigation_files import (
    existing_folders,
    mend,
    notes_navigator,
    routers,
    survey,
    write_navigation,
)
from core.retrieval.nearness import MINILM, OWN
from core.retrieval.postgres_store import PostgresStore
from core.retrieval.remote_embedder import Embedder, EmbedError, EmbedsAway, SourceReader, sound_vectors
from core.retrieval.retrieval_messages import (
    CancelIndexing,
    CheckNavigation,
    IndexEffect,
    IndexEnded,
    IndexLook,
    IndexProgressed,
    LookAtSources,
    NavigationSurveyed,
    PauseIndexing,
    RecallAnswered,
    RetrievalEvent,
    SearchAnswered,
    SearchEffect,
    SearchMemory,
    SourcesFound,
    ToolUsed,
    UpdateIndex,
)
from core.retrieval.retrieval_tools import TOOLS, use_tool
from core.retrieval.search import SearchRequest, search
from core.retrieval.sources import READING, SourceFile, contents, judge, preview_of, without_secrets
from core.talk.discussion.discussion_meta import read_meta

# The two workers of retrieval: one keeps the index, one answers questions beside it.

Emit = Callable[[RetrievalEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

LIKENESS_S = 8.0
"""Most that a reply's sentences are embedded for; the worker of knowledge waits that long for them."""

TELL_S = 0.1
"""Seconds between two words on how far a run is."""

STOPPED, ENDING = tr("You stopped the indexing"), tr("The program is ending")


_FOREIGN = "other-languages"
"""Mark in the folder of the model that knows English alone: somebody writes or asks in another language."""

ENGLISH_ALONE = tr("The question is not in English, and this embedding model knows English only")
ON_THE_WAY = tr("The program is making the index for another embedding model; the previous index answered")
ASK_AGAIN = tr("Ask again when the index is ready")


def _label(model: Embedder) -> str:
    return f"{index_name(model.name)}/{model.dimension}"


@runtime_checkable
class KnowsLanguages(Protocol):
    """The model that comes with the program, with what it needs for other languages than English."""

    @property
    def of_languages(self) -> Embedder | None:
        """The model for any language; None where it is not installed."""

    def is_foreign(self, text: str) -> bool:
        """True where a text is in another language than English. Bounded, total."""


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
        self._stores: dict[str, LocalStore] = {}
        self._server: tuple[str, PostgresStore] | None = None

    def embedder(self, asked: AskedPlaces) -> Embedder:
        """The embedder that settings name: on a server, or the model that comes with the program.

        That is the one for any language where the home holds another than English, or is asked in one.
        """
        if asked.embedder is None:
            own, many = self.own(asked)
            return many if many is not None and self._is_many(many) else own
        with self._lock:
            if self._away is None or self._away[0] != asked.embedder:
                self._away = asked.embedder, self._remote(asked.embedder)
            return self._away[1]

    def likeness(self, said: Sequence[str], known: Sequence[str]) -> Sequence[Sequence[float]]:
        """Nearness of each known text to each of those that were said, by the model of this machine.

        Empty where that model does not run: nothing is started, and no server is asked, for the sake of a figure.
        """
        with self._lock:
            own = self._model[1] if self._model is not None else None
        if own is None or not own.is_warm or not said or not known:
            return ()
        many = own.of_languages if isinstance(own, KnowsLanguages) else None
        is_foreign = isinstance(own, KnowsLanguages) and own.is_foreign("\n".join((*said[:8], *known[:8])))
        model: Embedder = many if many is not None and is_foreign else own
        try:
            vectors = sound_vectors(model, [*said, *known], timeout_s=LIKENESS_S).astype("int64")
        except EmbedError:
            return ()
        dots = vectors[len(said) :] @ vectors[: len(said)].T
        scale = OWN.get(model.name, MINILM)
        return [[scale.nearness(cosine(float(dot))) for dot in row] for row in dots]

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

    def own(self, asked: AskedPlaces) -> tuple[Model, Embedder | None]:
        """The model that comes with the program, and the one for any language, where that is installed."""
        own = self.model(FieldNames(asked.tag_fields, asked.date_fields))
        return own, own.of_languages if isinstance(own, KnowsLanguages) else None

    def _is_many(self, many: Embedder) -> bool:
        marked = (paths.index_dir(self.home) / _FOREIGN).exists()
        return marked or (self.folder_of(many) / FILE_NAME).exists()

    def note_foreign(self) -> None:
        """Note that another language than English is written or asked in: the next run makes an index for any."""
        with suppress(OSError, StorageError):
            create_missing(paths.index_dir(self.home) / _FOREIGN)

    def answering(self, asked: AskedPlaces) -> tuple[Embedder, LocalStore]:
        """The model and index that answer now: while those that settings name are made, those before them."""
        wanted = self.embedder(asked)
        store = self.store(wanted)
        with suppress(IndexFaultError):
            if store.is_embedded():
                return wanted, store
        for other in self._others(asked, wanted):
            if (self.folder_of(other) / FILE_NAME).exists() and (before := self.store(other)).is_whole():
                return other, before
        return wanted, store

    def _others(self, asked: AskedPlaces, wanted: Embedder) -> Iterator[Embedder]:
        """Models of this machine whose indexes may answer in place of another's: no server is asked that nobody names."""
        own, many = self.own(asked)
        yield from (one for one in (many, own) if one is not None and _label(one) != _label(wanted))

    def with_languages(self, asked: AskedPlaces, model: Embedder, answer: SearchAnswer) -> SearchAnswer:
        """The answer, marked as degraded if the query is not English and the model knows English alone. The next run then makes an index
        for any language.
        """
        own, many = self.own(asked)
        if answer.mode is SearchMode.OFF or not isinstance(own, KnowsLanguages):
            return answer
        if _label(model) != _label(self.embedder(asked)):
            return replace(answer, degraded=True, reason=ON_THE_WAY, remedy=ASK_AGAIN)
        if answer.degraded or _label(model) != _label(own) or not own.is_foreign(answer.query):
            return answer
        self.note_foreign()
        remedy, is_coming = (INSTALL_REMEDY, False) if many is None else (ASK_AGAIN, True)
        return replace(answer, degraded=True, reason=ENGLISH_ALONE, remedy=remedy, needs_run=is_coming)

    def drop_english(self, asked: AskedPlaces, model: Embedder) -> None:
        """Delete the index for English alone once the one for any language can answer everything."""
        own, many = self.own(asked)
        if many is not None and _label(model) == _label(many) and self.store(many).is_embedded():
            with self._lock:
                self._close_store(_label(own))
                delete_index(self.folder_of(own))

    def store(self, model: Embedder) -> LocalStore:
        """The index for a model."""
        made_by = _label(model)
        with self._lock:
            # It may have been deleted, as a forgetting does: nothing of it may be found any more.
            if made_by in self._stores and not self._stores[made_by].is_there():
                self._close_store(made_by)
            if made_by not in self._stores:
                made = LocalStore(self.folder_of(model), index_name(model.name), model.dimension)
                self._stores[made_by] = made
            return self._stores[made_by]

    def server(self, url: str, model: Embedder) -> PostgresStore | None:
        """The index on a server, None where there is none. Nothing is reached yet."""
        place = f"{url} {_label(model)}"
        with self._lock:
            if self._server is not None and self._server[0] != place:
                self._server[1].close()
                self._server = None
            if self._server is None and url:
                self._server = place, server_store(self.home, url, index_name(model.name), model.dimension)
            return self._server[1] if self._server is not None else None

    def searched(self, url: str, model: Embedder, store: LocalStore) -> LocalStore | ServedIndex:
        """The index that is searched: on a server, with the one here behind it, or the one here."""
        server = self.server(url, model)
        return store if server is None else ServedIndex(server, store)

    def renew(self, model: Embedder) -> None:
        """Delete the index for a model: it is made anew by the next run."""
        with self._lock:
            self._close_store(_label(model))
            delete_index(self.folder_of(model))

    def folder_of(self, model: Embedder) -> Path:
        """The folder of the index for a model: another program beside this one may use another, and keeps its own."""
        is_first = not isinstance(model, EmbedsAway) and model.name != E5_NAME
        return paths.index_dir(self.home, "" if is_first else _label(model))

    def close(self) -> None:
        """Let go of the index, and end the model's process."""
        with self._lock:
            for made_by in tuple(self._stores):
                self._close_store(made_by)
            if self._model is not None:
                self._model[1].close()
                self._model = None
            if self._server is not None:
                self._server[1].close()
                self._server = None

    def _close_store(self, made_by: str) -> None:
        if (store := self._stores.pop(made_by, None)) is not None:
            store.close()


class SearchHandler:
    """Answers questions, one after the other. Never fails for a question: what went wrong stands in the answer."""

    def __init__(self, shared: Retrieving, emit: Emit) -> None:
        self._shared, self._emit = shared, emit

    def handle(self, effect: SearchEffect) -> None:
        """Answer one question, or one use of a tool."""
        asked = effect.asked
        places = judge(asked)
        if isinstance(effect, SearchMemory):
            answer = self._answer(asked, places, effect.query, effect.count, effect.filters)
            self._emit(SearchAnswered(answer=answer, places=places, command_id=effect.command_id))
        else:
            told = self.used(asked, effect.name, effect.arguments_json)
            self._emit(
                ToolUsed(text=told.text, is_error=told.is_error, places=places, command_id=effect.command_id)
            )

    def used(self, asked: AskedPlaces, name: str, arguments_json: str) -> MemoryToolAnswer:
        """Answer a model's call of a tool of memory. Thread-safe, total."""
        places = judge(asked)
        fields = FieldNames(asked.tag_fields, asked.date_fields)
        with in_english():  # a model reads it
            return use_tool(
                name,
                arguments_json,
                partial(self._answer, asked, places, by_evidence=True),
                places,
                lambda: survey(places, self._shared.home, fields).stale,
            )

    def _answer(
        self,
        asked: AskedPlaces,
        places: SearchPlaces,
        query: str,
        count: int,
        filters: SearchFilters,
        *,
        by_evidence: bool = False,
    ) -> SearchAnswer:
        fields = FieldNames(asked.tag_fields, asked.date_fields)
        model, store = self._shared.answering(asked)
        request = SearchRequest(
            query=query,
            corpora=places.corpora,
            scopes=places.scopes,
            count=count,
            filters=filters,
            by_evidence=by_evidence,
        )
        answer = search(
            self._shared.searched(asked.server, model, store),
            model,
            request,
            navigate=notes_navigator(places, self._shared.home, fields),
            is_made_anew=not store.is_whole(),
            scale=known_scale(store),
        )
        return self._shared.with_languages(asked, model, answer)


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
            isinstance(new, UpdateIndex)
            and isinstance(old, UpdateIndex)
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
            case UpdateIndex():
                self._run(effect)
            case CheckNavigation():
                self._survey(effect)
            case LookAtSources():
                preview = preview_of(self._shared.home, judge(effect.asked))
                self._emit(SourcesFound(preview, effect.command_id))
            case CancelIndexing():
                self.cancel()
            case PauseIndexing():
                self.hold(is_paused=effect.is_paused)
            case _:
                assert_never(effect)

    def _run(self, effect: UpdateIndex) -> None:
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
            self._emit(
                IndexEnded(
                    report=left,
                    places=places,
                    problem=error.what,
                    remedy=error.remedy,
                    command_id=effect.command_id,
                )
            )
        except Exception as error:  # the run is over, and is told so; the queue tells the rest
            self._emit(self._failed(effect, places, error))
            raise
        else:
            is_all = not effect.only or bool({Corpus.NOTES, Corpus.PROJECT} & set(effect.only))
            seen = folders if is_all else None
            self._emit(IndexEnded(report=report, places=places, command_id=effect.command_id, folders=seen))

    def _indexed(self, effect: UpdateIndex, places: SearchPlaces) -> tuple[IndexReport, tuple[str, ...]]:
        asked, shared = effect.asked, self._shared
        whole = places
        if effect.only:
            places = replace(
                places, corpora=tuple(corpus for corpus in places.corpora if corpus in effect.only)
            )
        fields = FieldNames(asked.tag_fields, asked.date_fields)
        (reader, others), embedder = shared.own(asked), shared.embedder(asked)
        if effect.only and not shared.store(embedder).is_whole():
            return self._indexed(replace(effect, only=()), whole)
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
        report, folders, is_foreign = index(
            store,
            reader,
            embedder,
            shared.home,
            places,
            self._progressed,
            on_notes,
            tells_language=embedder is reader,
            leaves_foreign=embedder is reader and others is not None,
        )
        if is_foreign:
            shared.note_foreign()
            if others is not None:
                return self._indexed(replace(effect, only=(), is_anew=False), whole)
        if not (report.no_vectors or effect.only):
            store.note_whole(is_embedded=True)
            note_scale(store, embedder)
            shared.drop_english(asked, embedder)
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

    def _so_far(self, effect: UpdateIndex, places: SearchPlaces) -> IndexReport | None:
        """Content of the index after a run that was stopped; None where it cannot be read."""
        try:
            content = contents(self._shared.answering(effect.asked)[1], places)
        except SlopError:
            return None
        return IndexReport(counts=content.counts, passed_over=content.passed_over, stopped=True)

    def _survey(self, effect: CheckNavigation) -> None:
        fields = FieldNames(effect.asked.tag_fields, effect.asked.date_fields)
        places, home = judge(effect.asked), self._shared.home
        try:
            found = survey(places, home, fields, existing_folders(effect.around))
            unmended: tuple[str, ...] = ()
            if effect.mends:
                unmended = tuple(spliced("{}: {}", path, reason) for path, reason in mend(found).problems)
                found = survey(places, home, fields, existing_folders(effect.around))
            report = NavigationReport(
                fresh=len(found.fresh),
                stale=tuple(found.stale),
                orphans=found.orphans,
                own=found.own,
                problems=(*found.problems, *unmended),
                routers=routers(places),
            )
        except SlopError as error:
            report = NavigationReport(problems=(error.what,))
        self._emit(NavigationSurveyed(report, effect.command_id))

    def _failed(self, effect: UpdateIndex, places: SearchPlaces, error: Exception) -> IndexEnded:
        return IndexEnded(
            report=None,
            places=places,
            problem=tr("The indexing failed: {error}", error=error),
            remedy=tr("See the log file."),
            command_id=effect.command_id,
        )

    def _progressed(self, progress: IndexProgress) -> None:
        self._go_on.wait()
        if self._stop.is_set():
            raise SlopError(
                self._why, remedy=tr("Start indexing again: the program goes on where it stopped")
            )
        begins_vectors = bool(progress.bare) and not progress.vectors  # the longest part, and its first word
        if begins_vectors or time.monotonic() - self._told_at > TELL_S:
            self._told_at = time.monotonic()
            self._emit(IndexProgressed(progress))


# Answers what goes along with a message, within a bound. It never raises: a turn does not fail for it.

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

RECALL_S = 2.0
"""Seconds that a message waits for what may go along with it, at most."""

_EMBED_S = 1.0

_NAMES_KEPT = 1_000

_log = logging.getLogger(__name__)

TOO_SLOW = tr("Recall took too long; the program sends the message without recall.")
BUSY = tr("Recall is busy with an earlier question; the program sends the message without recall.")


class Recaller:
    """Searches for what fits a message. Thread-safe.

    Args:
        answer: searches; may take long and may raise. bound_s: seconds until nothing is the answer.
        tell: learns of each answer; thread-safe, returns at once. name: of a discussion by its id.
    """

    def __init__(
        self,
        answer: Callable[[RecallQuestion], SearchAnswer],
        bound_s: float = RECALL_S,
        tell: Callable[[RecallAnswered], None] = lambda _: None,
        name: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._answer, self._bound_s, self._tell, self._name = answer, bound_s, tell, name
        self._one = threading.Lock()

    def recall(self, question: RecallQuestion) -> Recalled:
        """Passages for a message. The result also names any problem."""
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
            answered.put(recalled(question, self._answer(question), name=self._name))
        except SlopError as error:
            answered.put(Recalled(problem=tr("The program recalled nothing: {what}", what=error.what)))
        except Exception as error:  # noqa: BLE001 (no turn fails for recall; the log has it)
            _log.exception("recall failed")
            answered.put(Recalled(problem=tr("The program recalled nothing: {error}", error=error)))
        finally:
            self._one.release()


def discussion_names(home: Path) -> Callable[[str], str]:
    """Names of discussions by their ids, as their files have them now; empty where there is none."""

    @lru_cache(_NAMES_KEPT)
    def read(discussion_id: str, _written_ns: int) -> str:
        return without_secrets(clean(read_meta(home, discussion_id).meta.name))

    def name(discussion_id: str) -> str:
        try:
            return read(discussion_id, paths.meta_file(home, discussion_id).stat().st_mtime_ns)
        except (OSError, StorageError):
            return ""

    return name


def local_answer(shared: Retrieving, embed_s: float = _EMBED_S) -> Callable[[RecallQuestion], SearchAnswer]:
    """Searches the index that is kept here. `embed_s`: seconds until keywords alone answer."""

    def answer(question: RecallQuestion) -> SearchAnswer:
        asked = question.spec.asked
        places = judge(asked)
        model, store = shared.answering(asked)
        corpora = tuple(corpus for corpus in places.corpora if corpus in CORPORA)
        request = SearchRequest(
            query=recall_query(question.text),
            corpora=corpora,
            scopes=places.scopes,
            count=wanted_count(question),
            filters=recall_filters(question),
            by_evidence=True,
        )
        answered = search(store, _Hurried(model, embed_s), request, scale=known_scale(store))
        return shared.with_languages(asked, model, answered)

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


SEARCH_WORK = queued("search", SearchEffect)
LOOK_WORK = queued("index", IndexLook, IndexHandler.supersedes)
RUN_WORK = queued("index run", UpdateIndex)
STOP_WORK = at_once("index stop", CancelIndexing | PauseIndexing)


# Search as a client of our server gets it: `search_notes` and `read_note`, where retrieval is on, without
# discussions.

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
        """Answer a call. Raises nothing."""
        asked = self._asked()
        if asked is None:
            return MemoryToolAnswer(OFF, is_error=True)
        if self._held is None:
            self._held = self._make()
        handler = SearchHandler(self._held, lambda _event: None)
        try:
            given = to_json(arguments).decode()
        except (TypeError, ValueError) as error:
            return MemoryToolAnswer(f"The arguments do not fit: {error}", is_error=True)
        return handler.used(served_places(asked), name, given)

    def close(self) -> None:
        """Let go of the index and the model."""
        if self._held is not None:
            self._held.close()
