"""Text of a file as it is indexed: its head and its chunks, from its bytes. Pure but for the tokenizer that measures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from core.base.key_files import text_reasons
from core.base.opener import read_file
from core.base.secrets import AHEAD_CHARS, MASK, named_secrets
from core.base.text import clean
from core.context.file_content import read_content
from core.context.outline import has_outline, symbols_of
from core.facts import fact_file
from core.facts.places import place_of
from core.knowledge.categories import parse_file
from core.knowledge.files import parse_notes
from core.retrieval.chunker import KnowledgeLine, SpokenTurn, file_chunks, line_chunks, turn_chunks
from core.retrieval.cuts import Measure
from core.retrieval.heads import FieldNames, note_head
from core.retrieval.navigation import is_generated
from core.transcripts import ours
from core.values.curation import LineRange
from core.values.messages import TextPart
from core.values.retrieval import Chunk, ChunkKind, Corpus, SourceHead
from core.values.transcript import Transcript

PROSE_ENDINGS = frozenset({"md", "markdown", "mdx", "txt", "rst", "org", "adoc"})

READING = 2
"""Form of what is made of a file: with another one, each file is read once more."""

_HEAD_CHARS = 16_384
"""Of a note, that are read for what it says of itself."""

_LONG_LINE = 2_000
"""Mean length of a line from which a file counts as made by a program: nobody looks for its words. Prose may have no other
lines than its paragraphs, or be one, as what was dictated is."""

_LONG_WORD = 100
"""Mean length of a run without a blank or a mark between clauses, from which such lines are no prose either."""

_BETWEEN = re.compile(r"[\s、。，．！？；：]+")


class SourceText(msgspec.Struct, frozen=True):
    """Head and chunks that a file gives to the index.

    Args:
        problem: why it gives nothing, in a phrase; sha256: of its bytes, empty where it could not be read.
        is_known: its bytes are those that the index knows, and nothing else is told.
        keys: why it is taken for a file of keys, a sentence, empty where it is none; only who may show it uses the rest.
    """

    head: SourceHead = SourceHead()
    chunks: tuple[Chunk, ...] = ()
    problem: str = ""
    sha256: str = ""
    is_known: bool = False
    keys: str = ""


def read_file_source(
    corpus: Corpus, path: str, file: str, measure: Measure, *, known_sha256: str, fields: FieldNames
) -> SourceText:
    """Open and read one file for the index. Total: what is wrong with it is its `problem`.

    Args:
        path: relative, POSIX; file: where it is; known_sha256: of the bytes that the index knows.
    """
    try:
        data = read_file(file, None)
    except OSError as error:
        return SourceText(problem=str(error.strerror or error))
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 == known_sha256:
        return SourceText(sha256=sha256, is_known=True)
    if is_generated(data):
        return SourceText(sha256=sha256)
    return replace(read_source(corpus, path, data, measure, fields), sha256=sha256)


def read_source(
    corpus: Corpus,
    path: str,
    data: bytes,
    measure: Measure,
    fields: FieldNames = FieldNames(),  # noqa: B008 (frozen)
) -> SourceText:
    """Read one file for the index.

    Args:
        path: relative, POSIX; its name says what it is. data: the whole file, or for a log its whole lines.
    """
    if corpus is Corpus.DISCUSSIONS:
        return _discussion(data, measure)
    content = read_content(data)
    if content.problem is not None:
        return SourceText(problem=content.problem.detail)
    if corpus is Corpus.KNOWLEDGE:
        return _knowledge(path, without_secrets(content.text), measure)
    return _file(corpus, path, content.text, measure, fields)


def read_head(path: str, data: bytes, fields: FieldNames = FieldNames()) -> SourceHead:  # noqa: B008 (frozen)
    """Head of a note as the index keeps it; an empty one where the file is no text of a person's.

    Args:
        path: relative, POSIX; data: the whole file.
    """
    content = read_content(data)
    if content.problem is not None or is_generated(data) or _is_made(content.text, is_prose=True):
        return SourceHead()
    return _note_head(path, content.text, fields)


def without_secrets(text: str) -> str:
    """The text with secrets masked, each line where it was."""
    return _masked(text, named_secrets(text))


def _masked(text: str, found: list[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    end = 0
    for start, until, _ in found:
        pieces += (text[end:start], MASK, "\n" * text.count("\n", start, until))
        end = until
    return "".join((*pieces, text[end:])) if pieces else text


def _file(corpus: Corpus, path: str, said: str, measure: Measure, fields: FieldNames) -> SourceText:
    ending = path.rpartition(".")[2].lower()
    is_prose = corpus is Corpus.NOTES or ending in PROSE_ENDINGS
    if _is_made(said, is_prose=is_prose):
        return SourceText(problem="its lines are so long that a program must have made it")
    head = _note_head(path, said, fields) if is_prose else SourceHead(path.rpartition("/")[2])
    found = named_secrets(said)
    keys = text_reasons(path.rpartition("/")[2], said, found) if corpus is Corpus.PROJECT else ()
    text = _masked(said, found)
    symbols = symbols_of(path, text) if has_outline(path) else ()
    kind = ChunkKind.PROSE if is_prose else ChunkKind.CODE
    return SourceText(head, tuple(file_chunks(text, symbols, measure, kind)), keys=next(iter(keys), ""))


def _is_made(text: str, *, is_prose: bool) -> bool:
    if len(text) <= _LONG_LINE * (text.count("\n") + 1):
        return False
    return not is_prose or len(text) > _LONG_WORD * (1 + sum(1 for _ in _BETWEEN.finditer(text)))


def _note_head(path: str, text: str, fields: FieldNames) -> SourceHead:
    """Head of a note, from the text as it stands in the file: the same wherever it is asked for."""
    return note_head(without_secrets(text[: _HEAD_CHARS + AHEAD_CHARS])[:_HEAD_CHARS], path, fields)


def _discussion(data: bytes, measure: Measure) -> SourceText:
    for found in ours.read_log(data):
        if not isinstance(found, Transcript):
            return SourceText(problem=found.why)
        turns = []
        for number, message in enumerate(found.messages, 1):
            said = "\n\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
            if said:
                day = message.at.date().isoformat() if message.at is not None else ""
                turns.append(SpokenTurn(number, message.role, without_secrets(clean(said)), day))
        last = next((turn.date for turn in reversed(turns) if turn.date), "")
        return SourceText(SourceHead(date=last), tuple(turn_chunks(turns, measure)))
    return SourceText()


def _knowledge(path: str, text: str, measure: Measure) -> SourceText:
    lines = tuple(_fact_lines(path, text) if path.endswith((".yaml", ".yml")) else _item_lines(path, text))
    title = path.rpartition("/")[2].rpartition(".")[0]
    return SourceText(SourceHead(title), tuple(line_chunks(lines, measure)))


def _item_lines(path: str, text: str) -> Iterator[KnowledgeLine]:
    data = text.encode()
    heading, items = "", parse_file(path, data).items
    if path.startswith("files/"):
        notes = parse_notes(path, data)
        heading, items = notes.heading, notes.items
    for item in items:
        day = item.provenance.date if item.provenance is not None else ""
        yield KnowledgeLine(
            LineRange(item.first_line, item.last_line), heading or item.category.value, item.text, day
        )


def _fact_lines(path: str, text: str) -> Iterator[KnowledgeLine]:
    place = place_of(path)
    if place is None:
        return
    file = fact_file.parse_file(place, text.encode())
    for item in file.items:
        if item.fact is not None:
            line = item.line
            last = line + text.count("\n", item.start, item.end) - 1
            heading = f"{item.fact.domain} {item.fact.category.value}"
            yield KnowledgeLine(
                LineRange(line, max(line, last)), heading, item.fact.text, item.fact.last_confirmed
            )
