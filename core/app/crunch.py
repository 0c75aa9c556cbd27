"""The worker process as the program sees it: jobs in, futures out; token counts, outlines, conversations, PDFs and pages."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from core.app.crunch_wire import read_frame, write_frame
from core.kernel.child_process import start_child
from core.kernel.codecs import packed_decoder_of, to_msgpack
from core.kernel.disk import make_dirs, write_passing
from core.kernel.errors import SlopError
from core.kernel.figures import time_limit
from core.kernel.frame import size_bytes
from core.kernel.language import tr
from core.kernel.opener import open_descriptor, read_file
from core.kernel.patterns import late
from core.kernel.tokens import estimate_tokens
from core.kernel.values.curation import LineRange, Symbol
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.retrieval import Corpus
from core.knowledge.harvest.transcript import Said
from core.retrieval.embedders import E5_NAME, MODEL_NAME, words_file
from core.retrieval.embedding import DIMENSION
from core.retrieval.front_matter import FieldNames
from core.retrieval.remote_embedder import EmbedError
from core.retrieval.sources import SourceText, is_document
from core.talk.discussion.pdf_text import Found

# The worker process as the program sees it: started when first needed, jobs in, futures out.

T = TypeVar("T")

JOB_TIMEOUT_S = 60.0
_ATTEMPTS = 2
_CHILD = Path(__file__).with_name("crunch_child.py")


class CrunchError(SlopError):
    """A job could not be done: the worker process failed at it twice, ran out of time, or said why."""


class CrunchLateError(CrunchError):
    """A job ran out of its time, and its worker process was ended."""


class CrunchClosedError(CrunchError):
    """The program ends, and its worker process with it: nobody waits for the job any more."""


@dataclass(eq=False)
class _Job:
    header: dict[str, object]
    payload: bytes
    lane: str
    future: Future[object] = field(default_factory=Future)


class JobProcess:
    """Runs jobs in a child process, so that a crash there ends nothing else.

    The process starts with the first job. It ends when `close` is called or this process ends in any way.
    After a crash the job is tried once more in a new process. Jobs run one after the other; a job in a named
    lane takes the place of those of the same lane that still wait (their futures are cancelled).

    Thread-safe. `timeout_s`: seconds after which a job is given up and its process ended; `attempts`: processes that
    may end over one job.
    """

    def __init__(self, timeout_s: float, attempts: int) -> None:
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._wake = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._next_id = 0

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process: a script of ours that serves jobs (`core.app.crunch_child`). Raises OSError."""
        raise NotImplementedError

    @property
    def pid(self) -> int | None:
        """The id of the worker process, None while none runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def close(self) -> None:
        """End the process; jobs that wait or run fail with CrunchClosedError. Idempotent."""
        with self._wake:
            self._is_closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._wake.notify_all()
        for job in waiting:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(_closed())
        self._end_process()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)
            self._end_process()

    def submit(self, header: dict[str, object], payload: bytes, lane: str = "") -> Future[object]:
        """Have a job done, by its header and payload. The future fails with CrunchError."""
        job = _Job(header=header, payload=payload, lane=lane)
        with self._wake:
            if self._is_closed:
                raise _closed()
            replaced = [old for old in self._waiting if lane and old.lane == lane]
            self._waiting = deque(old for old in self._waiting if old not in replaced)
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="crunch", daemon=True)
                self._thread.start()
            self._wake.notify()
        for old in replaced:
            old.future.cancel()
        return job.future

    def _run(self) -> None:
        while (job := self._next_job()) is not None:
            if job.future.set_running_or_notify_cancel():
                self._settle(job)
            del job  # its payload may be tens of megabytes, and the next one may be hours away

    def _settle(self, job: _Job) -> None:
        try:
            job.future.set_result(self._done(job))
        except CrunchError as fault:
            job.future.set_exception(fault)
        except Exception as fault:  # noqa: BLE001 (the edge of a worker)
            job.future.set_exception(
                CrunchError(tr("The helper process could not start or answer"), remedy=str(fault))
            )

    def _next_job(self) -> _Job | None:
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._is_closed)
            return None if self._is_closed else self._waiting.popleft()

    def _done(self, job: _Job) -> object:
        for _ in range(self._attempts):
            answer = self._asked(job)
            if answer is not None:
                break
            if self._is_closed:
                raise _closed()
        else:
            name = job.header["job"]
            raise CrunchError(
                tr("The helper process ended twice during the task {task!r}", task=name)
                if self._attempts == _ATTEMPTS
                else tr("The helper process ended during the task {task!r}", task=name)
            )
        if "error" in answer:
            raise CrunchError(
                tr("The helper process failed at the task {task!r}", task=job.header["job"]),
                remedy=str(answer["error"]),
            )
        return answer["value"]

    def _asked(self, job: _Job) -> dict[str, object] | None:
        """One attempt: the answer, or None where the process ended over it.

        Raises:
            CrunchError: the job ran out of time.
        """
        process = self._running()
        self._next_id += 1
        is_late = threading.Event()
        timer = threading.Timer(self._timeout_s, _give_up, (process, is_late))
        timer.daemon = True
        timer.start()
        try:
            write_frame(cast("BinaryIO", process.stdin), {**job.header, "id": self._next_id}, job.payload)
            answer, payload = read_frame(cast("BinaryIO", process.stdout))
            return {**answer, "value": payload} if answer.get("is_bytes") else answer
        except (OSError, EOFError, ValueError):
            self._end_process()
            if is_late.is_set():
                what = tr(
                    "The helper process needed more than {time_limit} for the task {task!r}",
                    time_limit=time_limit(self._timeout_s),
                    task=job.header["job"],
                )
                raise CrunchLateError(what) from None
            return None
        finally:
            timer.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._is_closed:
            raise _closed()
        process = self._process
        if process is None or process.poll() is not None:
            self._end_process()
            self._process = process = self.start()
        if self._was_closed():  # meanwhile, by one who saw no process to end
            self._end_process()
            raise _closed()
        return process

    def _was_closed(self) -> bool:
        with self._wake:
            return self._is_closed

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                _close(stream)


class Crunch(JobProcess):
    """Runs heavy, lock-holding work in a process of its own."""

    def __init__(self, timeout_s: float = JOB_TIMEOUT_S, attempts: int = _ATTEMPTS) -> None:
        super().__init__(timeout_s, attempts)

    def start(self) -> subprocess.Popen[bytes]:
        """Start a process that gives way to this one."""
        return start_child(_CHILD)

    def count(self, texts: Mapping[str, str], lane: str = "") -> Future[dict[str, int]]:
        """Count o200k tokens.

        Args:
            texts: by any name (the sha256 of a segment); lane: see the class.

        Returns:
            A future of the counts by the same names. It fails with CrunchError.
        """
        encoded = [text.encode("utf-8", "replace") for text in texts.values()]
        header: dict[str, object] = {"job": "count", "sizes": [len(part) for part in encoded]}
        names = tuple(texts)
        counted = self.submit(header, b"".join(encoded), lane)
        return mapped(counted, lambda value: dict(zip(names, cast("list[int]", value), strict=True)))

    def outline(self, path: str, text: str) -> Future[tuple[Symbol, ...]]:
        """Make the outline of a file (`core.talk.context.outline.symbols_of`). The future fails with CrunchError."""
        header: dict[str, object] = {"job": "outline", "path": path.encode("utf-8", "replace").decode()}
        made = self.submit(header, text.encode("utf-8", "replace"), "")
        return mapped(made, lambda value: tuple(map(_symbol, cast("list[list[object]]", value))))

    def messages(self, kind: TranscriptKind, data: bytes, new_bytes: int) -> Future[tuple[Said, ...]]:
        """The part of a conversation that a harvest may read (`unread_messages`).

        Returns:
            A future that fails with ValueError where the conversation cannot be read, else with CrunchError.
        """
        header: dict[str, object] = {"job": "messages", "kind": kind.value, "new_bytes": new_bytes}
        return mapped(self.submit(header, data, ""), lambda value: _said(cast("dict[str, object]", value)))

    def document(self, data: bytes) -> Future[Found]:
        """Text of a PDF, an office file or a book (`core.talk.discussion.document_text`). The future fails with CrunchError."""
        return mapped(self.submit({"job": "document"}, data, ""), lambda value: cast("Found", value))

    def page(self, data: bytes, charset: str) -> Future[str]:
        """Text of an HTML page (`core.talk.discussion.page_text`). The future fails with CrunchError."""
        header: dict[str, object] = {"job": "page", "charset": charset.encode("utf-8", "replace").decode()}
        return mapped(self.submit(header, data, ""), lambda value: cast("str", value))

    def read_source(
        self,
        corpus: str,
        path: str,
        file: str,
        known_sha256: str,
        fields: bytes,
        *,
        tells_language: bool,
        is_bounded: bool,
    ) -> Future[bytes]:
        """A file read for the search index (`core.retrieval.sources`), packed. The future fails with CrunchError.

        Args:
            is_bounded: the process gets the bound of memory that one for documents has, from now on.
        """
        header: dict[str, object] = {
            "job": "source",
            "corpus": corpus,
            "path": path,
            "file": file,
            "known": known_sha256,
            "tells_language": tells_language,
            "is_bounded": is_bounded,
        }
        return mapped(self.submit(header, fields, ""), lambda value: cast("bytes", value))

    def is_foreign(self, text: str) -> Future[bool]:
        """True where a text is in another language than English. The future fails with CrunchError."""
        return mapped(self.submit({"job": "language"}, text.encode("utf-8", "replace"), ""), bool)

    def embed(self, texts: Sequence[str], model: str = MODEL_NAME) -> Future[bytes]:
        """Vectors of texts by a model of ours, row after row. The future fails with CrunchError."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        header: dict[str, object] = {"job": "embed", "model": model, "sizes": [len(part) for part in encoded]}
        return mapped(self.submit(header, b"".join(encoded), ""), lambda value: cast("bytes", value))


def _closed() -> CrunchClosedError:
    return CrunchClosedError(tr("The program has ended its helper process"))


def _give_up(process: subprocess.Popen[bytes], is_late: threading.Event) -> None:
    is_late.set()
    process.kill()


def _close(stream: object) -> None:
    """Close a pipe whose other end is gone."""
    try:
        cast("BinaryIO", stream).close()
    except (OSError, ValueError):
        return


def _said(answer: dict[str, object]) -> tuple[Said, ...]:
    if "problem" in answer:
        raise ValueError(answer["problem"])
    rows = cast("list[tuple[str, str, str]]", answer["said"])
    return tuple(Said(role=role, text=text, id=message_id) for role, text, message_id in rows)


def _symbol(row: list[object]) -> Symbol:
    name, kind, (first, last), signature, depth = cast("tuple[str, str, list[int], str, int]", tuple(row))
    return Symbol(name=name, kind=kind, lines=LineRange(first, last), signature=signature, depth=depth)


def _change(done: Future[object], mapped: Future[T], change: Callable[[object], T]) -> None:
    try:
        mapped.set_result(change(done.result()))
    except ValueError as fault:
        mapped.set_exception(fault)


def mapped(source: Future[object], change: Callable[[object], T]) -> Future[T]:
    """A future of what `change` makes of another's result; cancelling it cancels the other."""
    mapped: Future[T] = Future()

    def finish(done: Future[object]) -> None:
        if done.cancelled():
            mapped.cancel()
            mapped.set_running_or_notify_cancel()
        elif not mapped.set_running_or_notify_cancel():
            return
        elif (fault := done.exception()) is not None:
            mapped.set_exception(fault)
        else:
            _change(done, mapped, change)

    mapped.add_done_callback(lambda done: source.cancel() if done.cancelled() else None)
    source.add_done_callback(finish)
    return mapped


# The embedding model and the reading of files, in a worker process of their own.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READ_S = 600.0
LANGUAGE_S = 1.0

AT_ONCE = 16
"""Texts of one job: a question asked beside an indexing run waits for no more than these, half a second on two slow cores."""


class OwnEmbedder:
    """Embeds with a model that comes with the program, in a process. Thread-safe."""

    dimension = DIMENSION

    def __init__(self, crunch: Crunch, name: str) -> None:
        self._crunch, self.name = crunch, name
        self.is_warm = False

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        """Vectors of texts; between two jobs of many of them others have their turn. Raises EmbedError."""
        import numpy as np

        if importlib.util.find_spec("onnxruntime") is None:
            raise EmbedError(
                tr("The embedding model is not installed"),
                remedy=tr(
                    'To search by meaning, run pip install "manual-slop[search]" (in a checkout: make run)'
                ),
            )
        vectors = np.zeros((len(texts), self.dimension), np.int8)
        until_s = time.monotonic() + timeout_s
        alike = sorted(
            range(len(texts)), key=lambda at: len(texts[at])
        )  # short ones are not padded to long ones
        try:
            for start in range(0, len(alike), AT_ONCE):
                part = alike[start : start + AT_ONCE]
                asked = self._crunch.embed([texts[at] for at in part], self.name)
                data = asked.result(max(until_s - time.monotonic(), 0.0))
                vectors[part] = np.frombuffer(data, np.int8).reshape(len(part), self.dimension)
        except TimeoutError as error:
            raise EmbedError(
                tr("The embedding model needed more than {timeout_s}", timeout_s=time_limit(timeout_s)),
                remedy=tr("Try again"),
            ) from error
        except (CrunchError, CancelledError) as error:
            why = error.remedy if isinstance(error, CrunchError) else ""
            raise EmbedError(tr("The embedding model failed: {value}", value=why or error)) from error
        self.is_warm = True
        return vectors


class LocalEmbedder(OwnEmbedder):
    """Embeds with the model that comes with the program, English alone, and reads files for the index. Thread-safe.

    The process starts with the first job and ends with `close`, or with this program. Documents have one of their own, which a
    hostile file may end. `of_languages` is the model for any language, in the first process; None where its table of words is
    not installed.
    """

    name = MODEL_NAME

    def __init__(self, fields: FieldNames = FieldNames()) -> None:  # noqa: B008 (frozen)
        super().__init__(Crunch(READ_S), MODEL_NAME)
        self._documents = Crunch(DOCUMENT_TIMEOUT_S, attempts=1)
        self._fields = to_msgpack(fields)
        self.of_languages = OwnEmbedder(self._crunch, E5_NAME) if words_file() is not None else None

    def is_foreign(self, text: str) -> bool:
        """True where a text is in another language than English. Its words of grammar tell, where the process is too slow."""
        try:
            return self._crunch.is_foreign(text).result(LANGUAGE_S)
        except (TimeoutError, CrunchError, CancelledError):
            from core.retrieval.question_words import is_foreign_by_words

            return is_foreign_by_words(text)

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        """Read a file; `is_known` where its bytes have the hash that is known. Raises CrunchError."""
        is_bounded = corpus is Corpus.NOTES and is_document(path)
        reading = (self._documents if is_bounded else self._crunch).read_source(
            corpus.value,
            path,
            str(file),
            known_sha256,
            self._fields,
            tells_language=tells_language,
            is_bounded=is_bounded,
        )
        return packed_decoder_of(SourceText).decode(reading.result())

    def close(self) -> None:
        """End both processes."""
        self._crunch.close()
        self._documents.close()


# Services of the worker process to the program: token counts, remembered; outlines; conversations and PDFs
# read.

# Token counts kept across runs: a line of hash and count each, in the cache's folder. Safe to delete.

MOST_KEPT = 20_000
"""Counts kept, the newest; the file is cut to them when it is read."""

_MAX_BYTES = 20_000_000
_LINE = late(rb"^([0-9a-f]{64}) ([0-9]{1,9})$", re.MULTILINE)

log = logging.getLogger(__name__)


class CountFile:
    """The counts by sha256 of the text, which holds no words. One thread at a time; other programs may append too.

    Args:
        file: made when something is kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> dict[str, int]:
        """Counts as they were kept, the newest last. Never fails: what cannot be read is counted anew."""
        try:
            data = read_file(self._file, _MAX_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            log.warning("token counts are made anew: %s", error)
            self._replace({})
            return {}
        lines = _LINE.findall(data[: data.rfind(b"\n") + 1])
        newest = {key.decode("ascii"): int(count) for key, count in lines[-MOST_KEPT:]}
        if len(lines) > 2 * MOST_KEPT:
            self._replace(newest)
        return newest

    def add(self, counts: Mapping[str, int]) -> None:
        """Keep more counts, behind the others. A failure is logged."""
        try:
            make_dirs(self._file.parent)
            descriptor = open_descriptor(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            with os.fdopen(descriptor, "rb+") as file:
                file.write(b"\n" * _is_torn(file) + _lines(counts))
        except (OSError, SlopError) as error:
            log.warning("token counts were not kept: %s", error)

    def _replace(self, counts: Mapping[str, int]) -> None:
        try:
            write_passing(self._file, _lines(counts))
        except SlopError as error:
            log.warning("token counts were not kept: %s", error)


def _lines(counts: Mapping[str, int]) -> bytes:
    """Rows of what is the hash of a text; other keys are of this run alone."""
    rows = (f"{key} {count}\n".encode("ascii", "replace") for key, count in counts.items())
    return b"".join(row for row in rows if _LINE.match(row.rstrip(b"\n")))


def _is_torn(file: BinaryIO) -> bool:
    """True if the last line was cut off by a kill, so that the next one must not join it."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return False
    file.seek(size - 1)
    return file.read(1) != b"\n"


MOST_COUNTS = 200_000
"""Counts kept; past it all are forgotten and made anew, which costs time and no money."""

BATCH_BYTES = 2_000_000
DOCUMENT_TIMEOUT_S, PAGE_TIMEOUT_S = 30.0, 20.0


class Counting:
    """Thread-safe. `known` is one mapping that grows; callers only read it.

    Args:
        crunch: the worker process; this closes it.
        kept: file of the counts of earlier runs, read when they are first asked for; None keeps none.
    """

    def __init__(self, crunch: Crunch | None = None, kept: Path | None = None) -> None:
        self._crunch = crunch or Crunch()
        self._kept = None if kept is None else CountFile(kept)
        self._lock = threading.Lock()
        self._counts: dict[str, int] | None = None

    def known(self) -> Mapping[str, int]:
        """o200k tokens by sha256, of everything counted so far."""
        counts = self._counts
        if counts is not None:
            return counts
        with self._lock:
            return self._all()

    def _all(self) -> dict[str, int]:
        """The counts, those of earlier runs among them; the lock is held."""
        if self._counts is None:
            self._counts = self._kept.load() if self._kept is not None else {}
        return self._counts

    def count(self, texts: Mapping[str, str]) -> None:
        """Count texts by their sha256 and remember them; returns when done, at once where all of them are known.

        A text whose count fails keeps its estimate: a figure in a view is no reason to stop.
        """
        known = self.known()
        for batch in _batches({name: text for name, text in texts.items() if name not in known}):
            is_exact = True
            try:
                found = self._crunch.count(batch).result()
                counted = {
                    name: found[name] for name in batch if name in found
                }  # the names that are held already
            except CrunchError as error:
                _say(tr("the program only estimates tokens: %s"), error)
                counted = {name: estimate_tokens(size_bytes(text)) for name, text in batch.items()}
                is_exact = False
            with self._lock:
                before = self._all()
                self._counts = {**(before if len(before) < MOST_COUNTS else {}), **counted}
                if is_exact and self._kept is not None:
                    self._kept.add({name: n for name, n in counted.items() if name not in before})

    def outline(self, path: str, text: str) -> tuple[Symbol, ...]:
        """The outline of a file; none when the worker process fails at it."""
        try:
            return self._crunch.outline(path, text).result()
        except CrunchError as error:
            _say(tr("{path} has no outline: %s", path=path), error)
            return ()

    def messages(self, kind: TranscriptKind, data: bytes, new_bytes: int) -> tuple[Said, ...]:
        """The part of a conversation that a harvest may read.

        Raises:
            ValueError: it cannot be read. CrunchError: the worker process failed at it.
        """
        return self._crunch.messages(kind, data, new_bytes).result()

    def document(self, data: bytes) -> Found:
        """Text of a PDF, an office file or a book. The child process ends afterwards, because a file can use up its memory.

        Raises:
            CrunchError: it ended over the file, or took too long.
        """
        reader = Crunch(DOCUMENT_TIMEOUT_S, attempts=1)
        try:
            return reader.document(data).result()
        finally:
            reader.close()

    def close(self) -> None:
        """End the worker process."""
        self._crunch.close()


def read_page(data: bytes, charset: str, on_cancel: Callable[[Callable[[], None]], None]) -> str:
    """Text of an HTML page, in a process that ends with it: a hostile one takes a minute of a core and more.

    Args:
        on_cancel: takes what ends the reading.

    Raises:
        CrunchError: it cannot be read, took too long, or was cancelled.
    """
    reader = Crunch(PAGE_TIMEOUT_S, attempts=1)
    try:
        read = reader.page(data, charset)
        on_cancel(reader.close)
        return read.result()
    finally:
        reader.close()


def _batches(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Cut into batches of a few megabytes, so that no job holds the process for long."""
    batches: list[dict[str, str]] = []
    size = BATCH_BYTES
    for name, text in texts.items():
        if size >= BATCH_BYTES:
            batches.append({})
            size = 0
        batches[-1][name] = text
        size += len(text)
    return batches


def _say(text: str, error: CrunchError) -> None:
    """Warn of a job that failed; not of one that the end of the program cut off."""
    log.log(logging.DEBUG if isinstance(error, CrunchClosedError) else logging.WARNING, text, error)
