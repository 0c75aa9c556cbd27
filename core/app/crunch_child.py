"""The worker process: counts tokens, makes outlines, reads conversations, documents and pages, one job after the other, until its input ends."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

from core.app.crunch_wire import read_frame, write_frame
from core.kernel.codecs import to_msgpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.kernel.values.curation import Symbol
    from core.retrieval.embedders import E5, MiniLM

_NICENESS = 5


def main() -> None:
    """Serve the parent, and give way to it."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    serve(_done)


def _done(header: dict[str, object], payload: bytes) -> object:
    match header:
        case {"job": "count", "sizes": list() as sizes}:
            return _counts(payload, sizes)
        case {"job": "outline", "path": str() as path}:
            return _outline(path, payload)
        case {"job": "messages", "kind": str() as kind, "new_bytes": int() as new_bytes}:
            return _messages(kind, payload, new_bytes)
        case {"job": "document"}:
            return _document(payload)
        case {"job": "page", "charset": str() as charset}:
            return _page(payload, charset)
        case {
            "job": "source",
            "corpus": str(),
            "path": str(),
            "file": str(),
            "known": str(),
            "tells_language": bool(),
            "is_bounded": bool(),
        }:
            return _source(header, payload)
        case {"job": "language"}:
            return _is_foreign(payload)
        case {"job": "embed", "model": str() as model, "sizes": list() as sizes}:
            return _vectors(model, payload, sizes)
        case _:
            raise ValueError(f"Unknown job {header.get('job')!r}")


def _counts(payload: bytes, sizes: list[int]) -> list[int]:
    from core.kernel.o200k import count_tokens

    return [count_tokens(text) for text in _texts(payload, sizes)]


def _texts(payload: bytes, sizes: list[int]) -> Iterator[str]:
    start = 0
    for size in sizes:
        yield payload[start : start + size].decode("utf-8", "replace")
        start += size


def _outline(path: str, payload: bytes) -> list[object]:
    from core.talk.context.outline import symbols_of

    return [_row(symbol) for symbol in symbols_of(path, payload.decode("utf-8", "replace"))]


def _row(symbol: Symbol) -> tuple[object, ...]:
    lines = (symbol.lines.first, symbol.lines.last)
    return (symbol.name, symbol.kind, lines, symbol.signature, symbol.depth)


def _messages(kind: str, payload: bytes, new_bytes: int) -> dict[str, object]:
    from core.kernel.values.imports import TranscriptKind
    from core.knowledge.harvest.transcript_sources import unread_messages

    try:
        found = unread_messages(TranscriptKind(kind), payload, new_bytes)
    except ValueError as problem:
        return {"problem": str(problem)}
    return {"said": [(one.role, one.text, one.id) for one in found]}


def _document(payload: bytes) -> dict[str, object]:
    from core.kernel.machine import limit_memory
    from core.talk.discussion.document_text import MAX_MEMORY_BYTES, read_document

    limit_memory(MAX_MEMORY_BYTES)
    return read_document(payload)


def _page(payload: bytes, charset: str) -> str:
    from core.kernel.machine import limit_memory
    from core.talk.discussion.page_text import MAX_MEMORY_BYTES, page_text

    limit_memory(MAX_MEMORY_BYTES)
    return page_text(payload, charset)


def _source(header: dict[str, object], payload: bytes) -> bytes:
    from core.kernel.codecs import packed_decoder_of
    from core.kernel.machine import limit_memory
    from core.kernel.values.retrieval import Corpus
    from core.retrieval.front_matter import FieldNames
    from core.retrieval.sources import read_file_source
    from core.talk.discussion.pdf_text import MAX_MEMORY_BYTES

    if header["is_bounded"]:
        limit_memory(MAX_MEMORY_BYTES)
    reading = read_file_source(
        Corpus(str(header["corpus"])),
        str(header["path"]),
        str(header["file"]),
        _model().tokens.starts,
        known_sha256=str(header["known"]),
        fields=packed_decoder_of(FieldNames).decode(payload),
        tells_language=bool(header["tells_language"]),
    )
    return to_msgpack(reading)


def _is_foreign(payload: bytes) -> bool:
    from core.retrieval.languages import is_foreign

    return is_foreign(payload.decode("utf-8", "replace"))


def _vectors(model: str, payload: bytes, sizes: list[int]) -> bytes:
    from core.retrieval.embedders import E5_NAME

    chosen = _model_of_languages() if model == E5_NAME else _model()
    return chosen.embed(list(_texts(payload, sizes))).tobytes()


@cache
def _model() -> MiniLM:
    from core.retrieval.embedders import MiniLM

    return MiniLM()


@cache
def _model_of_languages() -> E5:
    from core.retrieval.embedders import E5

    return E5()


# Child side of a worker process: reads jobs one after the other, answers each, and ends with its parent.


Job = tuple[dict[str, object], bytes]
Done = Callable[[dict[str, object], bytes], object]
"""Carries out a job by its header and payload. What it raises is the job's answer, and ends nothing."""


def serve(done: Done) -> None:
    """Serve the parent over standard input and output.

    The end of the input ends the process at once, even in the middle of a job: the parent is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(sys.stdin.buffer, jobs), name="jobs-read", daemon=True).start()
    while True:
        header, payload = jobs.get()
        answer = _answered(done, header, payload)
        if isinstance(answer["value"], bytes):
            write_frame(replies, {"id": answer["id"], "is_bytes": True}, answer["value"])
        else:
            write_frame(replies, answer)


def _read_jobs(source: BinaryIO, jobs: queue.SimpleQueue[Job]) -> None:
    try:
        while True:
            jobs.put(read_frame(source))
    finally:
        os._exit(0)


def _answered(done: Done, header: dict[str, object], payload: bytes) -> dict[str, object]:
    """The answer to a job. A fault in one job is reported and does not end the worker."""
    try:
        return {"id": header["id"], "value": done(header, payload)}
    except Exception as fault:  # noqa: BLE001 (the edge of a worker)
        return {"id": header["id"], "value": None, "error": f"{type(fault).__name__}: {fault}"}


if __name__ == "__main__":
    main()
