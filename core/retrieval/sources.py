"""Files that the index is made from: notes, knowledge, discussions, the project's own."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.key_files import mark_of, text_reasons
from core.kernel.key_names import KEY_FOLDERS
from core.kernel.language import as_sentences, joined, tr
from core.kernel.opener import read_file, read_start
from core.kernel.patterns import late
from core.kernel.secrets import AHEAD_CHARS, MASK, named_secrets
from core.kernel.values.curation import LineRange
from core.kernel.values.imports import Transcript
from core.kernel.values.messages import TextPart
from core.kernel.values.retrieval import (
    AskedPlaces,
    Chunk,
    ChunkKind,
    Corpus,
    CorpusCount,
    SearchPlaces,
    SourceHead,
    SourcesPreview,
)
from core.knowledge.categories import CATEGORY_NAMES, parse_file
from core.knowledge.evidence_rows import is_struck
from core.knowledge.facts import fact_file
from core.knowledge.facts.fact_checks import FOLDERS, place_of
from core.knowledge.note_files import parse_notes
from core.retrieval.chunker import KnowledgeLine, Measure, SpokenTurn, file_chunks, line_chunks, turn_chunks
from core.retrieval.front_matter import MAX_TAGS, FieldNames, inline_tags, note_head, read_front_matter
from core.retrieval.index_store import SourceKey, VectorStore
from core.retrieval.languages import is_foreign
from core.retrieval.navigation import MARKER, is_generated, is_index_name
from core.talk.context.file_reader import read_content
from core.talk.context.globs import KeyGate, expand, is_inside
from core.talk.context.ignores import NAME as IGNORE_FILE
from core.talk.context.ignores import ignores_at
from core.talk.context.outline import has_outline, symbols_of
from core.talk.discussion.note_exports import HEAD_BYTES, exported_notes, is_keep_note, is_note_export
from core.talk.transcripts import ours

# Text of a file as it is indexed: its head and its chunks, from its bytes. Pure but for the tokenizer that
# measures.

PROSE_ENDINGS = frozenset(
    {"md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd", "txt", "rst", "org", "adoc", "asciidoc", "tid"}
    | {"csv", "tsv", "text", "wiki", "mediawiki", "textile", "norg", "typ", "tex"}
)

DOCUMENT_ENDINGS = frozenset(
    {
        *("html", "htm", "xhtml", "enex", "json", "epub", "pdf", "rtf", "canvas", "ipynb", "opml"),
        *("docx", "docm", "dotx", "pptx", "pptm", "ppsx", "xlsx", "xlsm"),
        *("odt", "ott", "odp", "ods"),
    }
)
"""Endings of the files that `core.talk.discussion.document_text` reads; of JSON exports of note programs alone."""

READING = 12
"""Form of what is made of a file: with another one, each file is read once more. It goes up with every change of what
`note_head` or `read_source` makes of a file (`tests/core/retrieval/test_index_form.py`): an index keeps old heads otherwise.
"""

_HEAD_CHARS = 16_384
"""Characters of a note's beginning that are read for its title, tags and dates."""

_LONG_LINE = 2_000
"""Mean length of a line from which a file counts as made by a program: nobody looks for its words. Prose may have no other
lines than its paragraphs, or be one, as what was dictated is."""

_LONG_WORD = 100
"""Mean length of a run without a blank or a mark between clauses, from which such lines are no prose either."""

_BETWEEN = late(r"[\s、。，．！？；：]+")


class SourceText(msgspec.Struct, frozen=True):
    """Head and chunks that a file gives to the index.

    Args:
        problem: why it gives nothing, or not all of what it is, in a phrase; sha256: of its bytes, empty where it could not be read.
        is_known: its bytes are those that the index knows, and nothing else is told.
        is_foreign: part of it is in another language than English, where that was asked.
        keys: why it is taken for a file of keys, a sentence, empty for any other file; only who may show it uses the rest.
    """

    head: SourceHead = SourceHead()
    chunks: tuple[Chunk, ...] = ()
    problem: str = ""
    sha256: str = ""
    is_known: bool = False
    keys: str = ""
    is_foreign: bool = False


def read_file_source(
    corpus: Corpus,
    path: str,
    file: str,
    measure: Measure,
    *,
    known_sha256: str,
    fields: FieldNames,
    tells_language: bool,
) -> SourceText:
    """Open and read one file for the index. Raises nothing: what is wrong with it is its `problem`.

    Args:
        path: relative, POSIX; file: where it is; known_sha256: of the bytes that the index knows.
        tells_language: whether `is_foreign` is told.
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
    reading = read_source(corpus, path, data, measure, fields)
    foreign = tells_language and any(
        is_foreign(one.text) for one in reading.chunks if one.kind is not ChunkKind.CODE
    )
    return replace(reading, sha256=sha256, is_foreign=foreign)


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
    if corpus is Corpus.NOTES and is_document(path):
        return _document(path, data, measure)
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
    if is_document(path):
        return _document_head(path, data)
    content = read_content(data)
    if content.problem is not None or is_generated(data) or _is_made(content.text, is_prose=True):
        return SourceHead()
    return _note_head(path, content.text, fields)


def is_document(path: str) -> bool:
    """True for a note whose text is taken out of its file: a page, a book, a PDF, an office file, an export."""
    return path.rpartition(".")[2].lower() in DOCUMENT_ENDINGS


def is_note(path: str, head: bytes = b"") -> bool:
    """True for a file that is read among the notes, by the ending of its name, and JSON by its first bytes.

    Args:
        head: as `json_head` gives it.
    """
    ending = path.rpartition(".")[2].lower()
    return is_note_export(head) if ending == "json" else ending in PROSE_ENDINGS or is_document(path)


def json_head(path: str, file: str) -> bytes:
    """First bytes of a file of JSON, which tell an export of notes; empty for all others, and where it cannot be read."""
    try:
        return read_start(file, HEAD_BYTES) if path.lower().endswith(".json") else b""
    except OSError:
        return b""


def _document(path: str, data: bytes, measure: Measure) -> SourceText:
    from core.talk.discussion.document_text import read_document

    found = read_document(data, path.rpartition(".")[2].lower(), is_sent=False)
    if "problem" in found or not found["text"]:
        why, remedy = (found["problem"], found["remedy"]) if "problem" in found else _SCAN
        return SourceText(head=_document_head(path, data), problem=as_sentences(why, remedy))
    chunks = file_chunks(without_secrets(found["text"]), (), measure, ChunkKind.PROSE)
    return SourceText(head=_document_head(path, data), chunks=tuple(chunks))


_SCAN = (
    tr("the pages of the PDF are pictures without text"),
    tr("Add the text with a program for text recognition (OCR)"),
)


def _document_head(path: str, data: bytes) -> SourceHead:
    """Head of a document: its file's name, so that a folder's index need not unpack it. A note of Google Keep has its own."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    if not path.lower().endswith(".json") or not is_keep_note(data[:HEAD_BYTES]):
        return SourceHead(title=name)
    try:
        (note,) = exported_notes(data)
    except ValueError:
        return SourceHead(title=name)
    tags = (tag for tag in map(str.lower, note.tags) if without_secrets(tag) == tag)
    return SourceHead(
        title=without_secrets(clean(note.title)) or name,
        tags=tuple(dict.fromkeys(map(clean, tags)))[:MAX_TAGS],
        date=note.day,
    )


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
        return SourceText(problem=tr("the file's lines are so long that a program must have written it"))
    head = _note_head(path, said, fields) if is_prose else SourceHead(title=path.rpartition("/")[2])
    found = named_secrets(said)
    keys = text_reasons(path.rpartition("/")[2], said, found) if corpus is Corpus.PROJECT else ()
    text = _masked(said, found)
    symbols = symbols_of(path, text) if has_outline(path) else ()
    kind = ChunkKind.PROSE if is_prose else ChunkKind.CODE
    return SourceText(
        head=head,
        chunks=tuple(file_chunks(text, symbols, measure, kind)),
        problem=_bad_front_matter(said) if corpus is Corpus.NOTES else "",
        keys=next(iter(keys), ""),
    )


def _is_made(text: str, *, is_prose: bool) -> bool:
    if len(text) <= _LONG_LINE * (text.count("\n") + 1):
        return False
    return not is_prose or len(text) > _LONG_WORD * (1 + sum(1 for _ in _BETWEEN.finditer(text)))


def _note_head(path: str, text: str, fields: FieldNames) -> SourceHead:
    """Head of a note, from the text as it stands in the file: the same wherever it is asked for."""
    text = as_markdown(text, path)
    head = note_head(without_secrets(text[: _HEAD_CHARS + AHEAD_CHARS])[:_HEAD_CHARS], path, fields)
    if len(text) <= _HEAD_CHARS:
        return head
    further = (
        tag for tag in inline_tags(text[_HEAD_CHARS:]) if tag not in head.tags and without_secrets(tag) == tag
    )
    return replace(head, tags=(*head.tags, *further)[:MAX_TAGS])


def _bad_front_matter(text: str) -> str:
    """Phrase that says which lines of a note's front matter are no YAML; empty where all are."""
    lines = read_front_matter(text[:_HEAD_CHARS]).bad_lines
    if not lines:
        return ""
    numbers = ", ".join(map(str, lines[:5])) + (tr(" and more") if len(lines) > 5 else "")
    if len(lines) == 1:
        return tr(
            "the file's front matter: YAML cannot read line {numbers} (quote a value with a colon); the program uses the rest",
            numbers=numbers,
        )
    return tr(
        "the file's front matter: YAML cannot read lines {numbers} (quote a value with a colon); the program uses the rest",
        numbers=numbers,
    )


def _discussion(data: bytes, measure: Measure) -> SourceText:
    for found in ours.read_log(data):
        if not isinstance(found, Transcript):
            return SourceText(problem=found.why)
        turns = []
        for number, message in enumerate(found.messages, 1):
            said = "\n\n".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
            if said:
                day = message.at.date().isoformat() if message.at is not None else ""
                turns.append(
                    SpokenTurn(number=number, role=message.role, text=without_secrets(clean(said)), date=day)
                )
        last = next((turn.date for turn in reversed(turns) if turn.date), "")
        return SourceText(head=SourceHead(date=last), chunks=tuple(turn_chunks(turns, measure)))
    return SourceText()


def _knowledge(path: str, text: str, measure: Measure) -> SourceText:
    lines = tuple(_fact_lines(path, text) if path.endswith((".yaml", ".yml")) else _item_lines(path, text))
    title = path.rpartition("/")[2].rpartition(".")[0]
    return SourceText(head=SourceHead(title=title), chunks=tuple(line_chunks(lines, measure)))


def _item_lines(path: str, text: str) -> Iterator[KnowledgeLine]:
    data = text.encode()
    heading, items = "", parse_file(path, data).items
    if path.startswith("files/"):
        notes = parse_notes(path, data)
        heading, items = notes.heading, notes.items
    for item in items:
        if is_struck(item.text):  # its successor is found; cut into pieces, the old value would stand alone
            continue
        day = item.provenance.date if item.provenance is not None else ""
        yield KnowledgeLine(
            lines=LineRange(item.first_line, item.last_line),
            heading=heading or item.category.value,
            text=item.text,
            date=day,
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
                lines=LineRange(line, max(line, last)),
                heading=heading,
                text=item.fact.text,
                date=item.fact.last_confirmed,
            )


MAX_FILES = 200_000
MAX_NOTE_BYTES = 16_000_000
MAX_DOCUMENT_BYTES = 64_000_000
MAX_PROJECT_BYTES = 1_000_000
MAX_LOG_BYTES = 256_000_000
"""Larger files are passed over and said: of notes, of those among them that are documents (pictures make most of a PDF), of a
project's files (made by programs), of logs. To read one takes
some ten times as much memory."""


YOUNG_NS = 100_000_000
"""Age up to which a file may change once more without another time: clocks of file systems tick in milliseconds."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file that is to be in the index.

    Args:
        stamp: size, times and place of the file, for a quick look; is_young: it may change and keep them.
        keys: why it is taken for a file of keys unread, a sentence, empty for any other file; is_shown: the person said of its
            place that it holds none.
    """

    key: SourceKey
    path: Path
    stamp: str
    size_bytes: int
    is_young: bool = False
    keys: str = ""
    is_shown: bool = False

    @property
    def is_too_large(self) -> bool:
        """True if it is larger than a file of its corpus may be."""
        most = {Corpus.PROJECT: MAX_PROJECT_BYTES, Corpus.DISCUSSIONS: MAX_LOG_BYTES}
        of_notes = MAX_DOCUMENT_BYTES if is_document(self.key.path) else MAX_NOTE_BYTES
        return self.size_bytes > most.get(self.key.corpus, of_notes)


class FoundSources(NamedTuple):
    """Files of a scope, the folder that they count in (empty for the home), without index files that we made.

    `folders`: absolute, those that were looked into; none for the home's own files, which others watch.
    `unread`: folders below the scope, POSIX, in which nobody can look: of what lies there nothing is known.
    `rules_passed_over`: rules of .gitignore that were not followed.
    `left_out`: files that lie among notes and are none, by the ending of their names.
    """

    scope: str
    files: list[SourceFile]
    folders: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    rules_passed_over: int = 0
    left_out: Mapping[str, int] = MappingProxyType({})

    def is_unread(self, path: str) -> bool:
        """True for a path below the scope that lies where nobody can look."""
        return any(not folder or path.startswith(f"{folder}/") for folder in self.unread)


def find_sources(home: Path, places: SearchPlaces, corpus: Corpus) -> Iterator[FoundSources]:
    """The files of a corpus, scope by scope. A note that lies in the project counts among the notes alone.

    Raises:
        SlopError: a folder cannot be walked whole.
    """
    match corpus:
        case Corpus.NOTES:
            for root in places.notes:
                found = _below(corpus, root, places.shown)
                files, others = list[SourceFile](), Counter[str]()
                heads = {one.key.path: _head_of(one) for one in found.files}
                # Takeout writes each note of Keep twice, as JSON and as a page.
                twins = {
                    f"{path[: -len('.json')]}.html" for path, head in heads.items() if is_keep_note(head)
                }
                for one in found.files:
                    if one.key.path not in twins and is_note(one.key.path, heads[one.key.path]):
                        files.append(one)
                    else:
                        others[Path(one.key.path).suffix.lower()] += 1
                yield found._replace(files=files, left_out=others)
        case Corpus.PROJECT:
            if places.project:
                found = _below(corpus, places.project, places.shown)
                yield found._replace(files=[one for one in found.files if not _is_note_of(places, one)])
        case Corpus.KNOWLEDGE:
            yield FoundSources(scope="", files=_known(paths.knowledge_dir(home)))
        case Corpus.DISCUSSIONS:
            yield FoundSources(scope="", files=_logs(home))


def preview_of(home: Path, places: SearchPlaces) -> SourcesPreview:
    """Files that would be read, by corpus. Raises nothing: a folder that cannot be walked is a problem of the places."""
    counts: list[CorpusCount] = []
    problems = list(places.problems)
    for corpus in places.corpora:
        try:
            counts.append(
                CorpusCount(
                    corpus=corpus, files=sum(len(found.files) for found in find_sources(home, places, corpus))
                )
            )
        except SlopError as error:
            problems.append(joined(": ", (error.where, error.what)))
    return SourcesPreview(replace(places, problems=tuple(problems)), tuple(counts))


def is_made_by_us(path: str) -> bool:
    """True for an index file that we made, by its name and its first line. A link does not count."""
    if not is_index_name(os.path.basename(path)):
        return False
    try:
        return is_generated(read_start(path, len(MARKER) + 3, follows_links=False))
    except OSError:
        return False


def wakes_index(path: str) -> bool:
    """True for a path whose change calls for another look: neither hidden nor an index file that we made."""
    name = os.path.basename(path)
    return name == IGNORE_FILE or not (name.startswith(".") or is_made_by_us(path))


def stamp_of(status: os.stat_result) -> str:
    """Size, times and place of a file: while they are the same its bytes are taken to be, and who may read them."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def _below(corpus: Corpus, root: str, shown: tuple[str, ...]) -> FoundSources:
    found = expand(root, ("**", "*"), MAX_FILES, ignores_at(root, root))
    if found.is_too_many:
        raise SlopError(
            tr(
                "Too many files to search: over {MAX_FILES:,}, or over 10 s to find them", MAX_FILES=MAX_FILES
            ),
            remedy=tr("Name a smaller folder, or leave some out in .gitignore"),
            where=root,
        )
    start = len(root.rstrip(os.sep)) + 1
    gate = KeyGate(root, shown, _with_hidden(found.folders))
    files = (
        _sources_file(
            SourceKey(corpus=corpus, scope=root, path=path[start:].replace(os.sep, "/")),
            Path(path),
            inside=root,
            gate=gate,
        )
        for path in found.paths
        if not is_made_by_us(path)
    )
    unread = tuple(path[start:].replace(os.sep, "/") for path in found.unread)
    return FoundSources(
        scope=root,
        files=[one for one in files if one is not None],
        folders=found.folders,
        unread=unread,
        rules_passed_over=found.rules_passed_over,
    )


def _is_note_of(places: SearchPlaces, one: SourceFile) -> bool:
    path = os.path.join(one.key.scope, one.key.path)
    return any(is_inside(path, root) for root in places.notes) and is_note(one.key.path, _head_of(one))


def _head_of(one: SourceFile) -> bytes:
    return b"" if one.keys else json_head(one.key.path, str(one.path))


def _known(directory: Path) -> list[SourceFile]:
    names = list(CATEGORY_NAMES)
    for folder, ending in (("files", ".md"), *((folder, ".yaml") for folder in FOLDERS)):
        names += [f"{folder}/{name}" for name in _names(directory / folder) if name.endswith(ending)]
    files = (
        _sources_file(SourceKey(corpus=Corpus.KNOWLEDGE, scope="", path=name), directory / name)
        for name in names
    )
    return [one for one in files if one is not None]


def _logs(home: Path) -> list[SourceFile]:
    files = (
        _sources_file(SourceKey(corpus=Corpus.DISCUSSIONS, scope="", path=name), paths.log_file(home, name))
        for name in _names(paths.discussions_dir(home))
        if paths.is_directory_name(name)
    )
    return [one for one in files if one is not None]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _sources_file(
    key: SourceKey, path: Path, inside: str = "", gate: KeyGate | None = None
) -> SourceFile | None:
    """A file, None where there is none, or a link that leads out of the folder that is searched.

    An empty one counts as a note alone: its folder's index lists it by its name.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            path = path.resolve(strict=True)
            if inside and not path.is_relative_to(inside):
                return None
            status = os.stat(path)
    except (OSError, RuntimeError):
        return None
    if not stat.S_ISREG(status.st_mode) or not (status.st_size or key.corpus is Corpus.NOTES):
        return None
    is_young = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < YOUNG_NS
    found = SourceFile(
        key=key, path=path, stamp=stamp_of(status), size_bytes=status.st_size, is_young=is_young
    )
    if gate is None:
        return found
    keys = next(iter(gate.place_reasons(str(path), mark_of(status))), "")
    return replace(found, keys=keys, is_shown=gate.is_shown(str(path)))


def _with_hidden(folders: Iterable[str]) -> Iterator[str]:
    """Folders, and those of keys in them."""
    for folder in folders:
        yield folder
        yield from (os.path.join(folder, name) for name in KEY_FOLDERS)


# Folders that may be searched: links resolved first, then judged by the project's root and the person's
# allowed roots.

_NO_TEXT = tr("the path of this folder is not UTF-8 text")


def judge(asked: AskedPlaces) -> SearchPlaces:
    """Look at each folder that is named. One that lies elsewhere, or is no folder, does not count and is said."""
    bounds = [os.path.realpath(path) for path in (asked.project, *asked.allowed) if path]
    notes: list[str] = []
    problems: list[str] = []
    for name in asked.roots if Corpus.NOTES in asked.corpora else ():
        path = os.path.realpath(os.path.join(asked.project or os.curdir, os.path.expanduser(name)))
        if not any(is_inside(path, bound) for bound in bounds):
            problems.append(
                tr(
                    "{name}: it is outside the project and its allowed roots; add it to `allowed_roots`",
                    name=name,
                )
            )
        elif not os.path.isdir(path):
            problems.append(tr("{name}: there is no such folder", name=name))
        elif not _is_text(path):
            problems.append(joined(": ", (name, _NO_TEXT)))
        else:
            notes.append(path)
    project = os.path.realpath(asked.project) if asked.project and Corpus.PROJECT in asked.corpora else ""
    if not _is_text(project):
        problems.append(tr("the project folder: {reason}", reason=_NO_TEXT))
        project = ""
    return SearchPlaces(
        notes=tuple(dict.fromkeys(notes)),
        project=project,
        corpora=asked.corpora,
        problems=tuple(problems),
        shown=asked.shown,
    )


def _is_text(path: str) -> bool:
    """True if a path can be kept in an index. A name on disk may be any bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


# Content of the index by corpus, what gave it nothing, and the folders that each corpus counts in.


def scopes(places: SearchPlaces) -> Iterator[tuple[Corpus, str]]:
    """Each corpus that is on, with each folder that it counts in; empty for what belongs to the home."""
    for corpus in places.corpora:
        match corpus:
            case Corpus.NOTES:
                yield from ((corpus, root) for root in places.notes)
            case Corpus.PROJECT:
                yield corpus, places.project
            case _:
                yield corpus, ""


class Contents(NamedTuple):
    """Files and passages of each corpus that is on; and files that give nothing, by path, with the reason."""

    counts: tuple[CorpusCount, ...]
    passed_over: tuple[tuple[str, str], ...]


def contents(store: VectorStore, places: SearchPlaces) -> Contents:
    """Content of the index. A file that lies in two folders of notes counts in both.

    Raises:
        SlopError: the index cannot be read.
    """
    found = {corpus: CorpusCount(corpus=corpus) for corpus in places.corpora}
    passed_over: dict[tuple[str, str], None] = {}
    for corpus, scope in scopes(places):
        sources = store.sources(corpus, scope)
        passed_over |= {(path, state.problem): None for path, state in sources.items() if state.problem}
        states = sources.values()
        before = found[corpus]
        found[corpus] = CorpusCount(
            corpus=corpus,
            files=before.files + len(states),
            chunks=before.chunks + sum(one.chunks for one in states),
            bare=before.bare + sum(one.bare for one in states),
        )
    return Contents(tuple(found.values()), tuple(passed_over))


# Notes in other markup than Markdown: their headings and numbered lists as Markdown, for the head of a note.


_LINE = re.MULTILINE
_NUMBERED = (late(r"^#+[ \t]", _LINE), "- ")
_TITLED = r"\\(?:title|part|chapter|(?:sub){0,2}section)\*?(?:\[[^\]\n]*\])?\{([^{}\n]*)\}"
_WIKI = (
    _NUMBERED,
    (late(r"^(?:%title[ \t]|[ \t]*=+)([^=\n]++)=*[ \t]*$", _LINE), r"# \1"),
    (late(r"^%date[ \t]", _LINE), "date: "),
    (late(r"^%\w.*|'{2,5}", _LINE), ""),
)
_RULES: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "tex": (
        (late(r"(?<!\\)%.*"), ""),
        (late(r"\\(?:emph|text[a-z]{2})\{([^{}\n]*)\}"), r"\1"),
        (late(rf"^[ \t]*{_TITLED}.*", _LINE), r"# \1"),
        (late(r"^[ \t]*\\.*", _LINE), ""),
        (late(r"#(?=\S)"), ""),
    ),
    "typ": (
        (late(r"^#set document\([^\n]*?\btitle: *\"([^\"\n]+)\".*", _LINE), r"# \1"),
        (late(r"^[ \t]*(?:#(?:import|include|set|show|let)\b|//).*", _LINE), ""),
        (late(r"^=+ (.+)", _LINE), r"# \1"),
        (late(r"#(?=[A-Za-z])"), ""),
    ),
    "wiki": _WIKI,
    "mediawiki": _WIKI,
    "textile": (_NUMBERED, (late(r"^h[1-6]\. +(.+)", _LINE), r"# \1")),
    "norg": (
        (late(r"\A\s*@document\.meta\n([^@]*)\n@end"), r"---\n\1\n---"),
        (late(r"^ *\*+ +(.+)", _LINE), r"# \1"),
    ),
}
"""By ending, what stands for what. `#` begins a tag in Markdown alone: elsewhere it begins a command or an item of a list.

Source: the manuals of LaTeX, Typst, MediaWiki, Vimwiki 2.5, Textile and Neorg.
"""


def as_markdown(text: str, path: str) -> str:
    """A note's text as far as its head needs it; that of any ending without rules as it is. Same text: same result."""
    for form, plain in _RULES.get(path.rpartition(".")[2].lower(), ()):
        text = form.sub(plain, text)
    return text
