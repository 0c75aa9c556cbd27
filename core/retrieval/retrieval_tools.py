"""Tools of memory for a model: `search_notes` and `read_note`, each with its schema beside it. Read-only.

An answer is text for the model, framed with its source; what goes wrong is an answer too, marked as an error.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from core.kernel import figures
from core.kernel.codecs import from_json, schemas_of, to_json
from core.kernel.errors import SlopError
from core.kernel.frame import frame
from core.kernel.language import as_sentences
from core.kernel.opener import read_file, read_start
from core.kernel.values.retrieval import (
    Corpus,
    MemoryToolAnswer,
    SearchAnswer,
    SearchFilters,
    SearchHit,
    SearchPlaces,
)
from core.kernel.values.stack import ToolSchema
from core.retrieval.front_matter import note_names
from core.retrieval.navigation import INDEX_NAME
from core.retrieval.retrieval_report import degraded_text, place_text
from core.retrieval.sources import (
    PROSE_ENDINGS,
    SourceFile,
    as_markdown,
    find_sources,
    is_document,
    is_note,
    json_head,
    without_secrets,
)

HEAD_BYTES, MAX_NAMED = 16_384, 20_000
"""Bytes of a note that are read for its names; and how many notes' names are looked at."""
MAX_NOTE_BYTES = 64_000_000
MAX_ANSWER_LINES, MAX_ANSWER_CHARS = 400, 24_000
_MOST_HITS = 20

Described = msgspec.Meta


class SearchNotes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `search_notes`."""

    query: Annotated[str, Described(description="Words or a question.", min_length=1, max_length=2_000)]
    count: Annotated[int, Described(description="Passages wanted.", ge=1, le=_MOST_HITS)] = 5
    corpus: Annotated[str, Described(description="notes, knowledge, discussions or project; empty: all.")] = (
        ""
    )
    folder: Annotated[str, Described(description="Only below this folder.")] = ""
    tag: Annotated[str, Described(description="Only notes with this tag.")] = ""


class ReadNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_note`."""

    path: Annotated[
        str,
        Described(
            description="As search_notes or an index.md names it, or a [[link]], title or alias of it.",
            min_length=1,
            max_length=1_000,
        ),
    ]
    first_line: Annotated[int, Described(description="Line to begin with, from 1.", ge=1)] = 1
    lines: Annotated[int, Described(description="Most lines.", ge=1, le=MAX_ANSWER_LINES)] = 200


def _schema(name: str, description: str, arguments: type[msgspec.Struct]) -> ToolSchema:
    found = schemas_of([arguments], "{name}")
    schema: dict[str, Any] = dict(found[arguments.__name__])
    schema = {key: value for key, value in schema.items() if key not in {"title", "description"}}
    return ToolSchema(
        name=name,
        description=description,
        parameters_json=to_json(schema, order="sorted").decode(),
    )


TOOLS = (
    _schema(
        "read_note",
        "Reads a note, or the index.md of a folder of notes, by its path. Start with index.md: it says which folder "
        "holds what.",
        ReadNote,
    ),
    _schema(
        "search_notes",
        "Searches notes, knowledge and past discussions by words and by meaning, for what no index.md names. Every "
        "passage comes with its source.",
        SearchNotes,
    ),
)
"""Schemas, by name."""

Search = Callable[[str, int, SearchFilters], SearchAnswer]


def use_tool(
    name: str,
    arguments_json: str,
    search: Search,
    places: SearchPlaces,
    unmade: Callable[[], Mapping[str, bytes]] = dict,
) -> MemoryToolAnswer:
    """Answer a model's call. Raises nothing: wrong arguments and unreadable files are answers.

    Args:
        search: query, count, filters; places: folders that may be read, judged.
        unmade: index files that no run has made yet, by absolute path: a program without a window makes none unasked.
    """
    try:
        if name == "search_notes":
            return _search(from_json(arguments_json, SearchNotes), search, places)
        if name == "read_note":
            return _read(from_json(arguments_json, ReadNote), places, unmade)
    except (msgspec.DecodeError, UnicodeError) as error:
        return MemoryToolAnswer(f"The arguments do not fit: {error}", is_error=True)
    except SlopError as error:
        return MemoryToolAnswer(as_sentences(error.what, error.remedy), is_error=True)
    return MemoryToolAnswer(f"There is no tool {name!r}.", is_error=True)


def _search(asked: SearchNotes, search: Search, places: SearchPlaces) -> MemoryToolAnswer:
    if asked.corpus and asked.corpus not in {corpus.value for corpus in Corpus}:
        return MemoryToolAnswer(
            f"There is no corpus {asked.corpus!r}: notes, knowledge, discussions, project.", is_error=True
        )
    corpora = (Corpus(asked.corpus),) if asked.corpus else ()
    answer = search(
        asked.query, asked.count, SearchFilters(corpora=corpora, folder=asked.folder, tag=asked.tag)
    )
    said = degraded_text(answer)
    parts = [f"{said}\n"] if said else []
    names = root_names(places.notes)
    parts += [_hit(hit, names.get(hit.scope, "")) for hit in answer.hits] or ["Nothing found.\n"]
    return MemoryToolAnswer("".join(parts))


def _hit(hit: SearchHit, folder: str) -> str:
    is_told_apart = folder and hit.corpus is Corpus.NOTES
    return frame(
        "passage",
        hit.text,
        corpus=hit.corpus.value,
        source=f"{folder}/{place_text(hit)}" if is_told_apart else place_text(hit),
        title=hit.title,
        heading=hit.heading,
        date=hit.date,
        newer=hit.newer,
    )


def _read(
    asked: ReadNote, places: SearchPlaces, unmade: Callable[[], Mapping[str, bytes]]
) -> MemoryToolAnswer:
    names = root_names(places.notes)
    if names and asked.path.removeprefix("./") == INDEX_NAME:
        return MemoryToolAnswer(_routers(places.notes, names))
    file = note_file(asked.path, places) or note_by_name(asked.path, places)
    if file and is_document(file):
        said = f"{asked.path} is a document, not a plain text: its passages come from search_notes."
        return MemoryToolAnswer(said, is_error=True)
    if file:
        try:
            data: bytes | None = read_file(file, MAX_NOTE_BYTES)
        except OSError as error:
            return MemoryToolAnswer(f"{asked.path} cannot be read: {error.strerror or error}", is_error=True)
    elif asked.path.rpartition("/")[2] == INDEX_NAME:
        made, readings = unmade(), _readings(asked.path, places.notes)
        data = next(filter(None, (made.get(os.path.normpath(os.path.join(*one))) for one in readings)), None)
    else:
        data = None
    if data is None:
        return MemoryToolAnswer(f"There is no note {asked.path!r} in the folders of notes.", is_error=True)
    lines = without_secrets(data.decode("utf-8", "replace")).splitlines(keepends=True)
    first = asked.first_line - 1
    if lines and first >= len(lines):
        return MemoryToolAnswer(f"{asked.path} has {figures.count(len(lines), 'line')}.", is_error=True)
    shown: list[str] = []
    room = MAX_ANSWER_CHARS
    for line in lines[first : first + asked.lines]:
        if len(line) > room:
            shown.append(line[:room] if not shown else "")
            break
        shown.append(line)
        room -= len(line)
    last = first + max(1, sum(1 for line in shown if line))
    more = f"The note goes on: {len(lines):,} lines in all.\n" if last < len(lines) else ""
    return MemoryToolAnswer(
        frame("note", "".join(shown), source=asked.path, lines=f"{first + 1}-{last}") + more
    )


def _routers(roots: Iterable[str], names: Mapping[str, str]) -> str:
    """The way to the routers of several folders of notes."""
    lines = [f"- {names[root]}/{INDEX_NAME}" for root in roots]
    return "\n".join(["There are several folders of notes. The router of each:", *lines, ""])


def root_names(roots: Sequence[str]) -> Mapping[str, str]:
    """Names by which several folders of notes are told apart: of each as many of its last parts as it takes for all.

    Args:
        roots: absolute, each once. None has a name where there is one alone: a path says enough.
    """
    parts = [root.strip(os.sep).split(os.sep) for root in roots]
    if len(parts) < 2:
        return {}
    ways = (["/".join(of_root[-count:]) for of_root in parts] for count in range(1, max(map(len, parts)) + 1))
    names = next((way for way in ways if len(set(way)) == len(way)), [root.strip(os.sep) for root in roots])
    return dict(zip(roots, names, strict=True))


def note_file(path: str, places: SearchPlaces) -> str:
    """The file of a note by its path below one of the folders, links resolved; empty where it lies in none of them.

    Where there are several folders, the path that begins with the name of one is meant there.
    """
    if "\0" in path:
        return ""
    for root, inside in _readings(path, places.notes):
        found = os.path.realpath(os.path.join(root, inside))
        is_inside = found.startswith(root.rstrip(os.sep) + os.sep)
        if is_inside and os.path.isfile(found) and is_note(found, json_head(found, found)):
            return found
    return ""


def note_by_name(said: str, places: SearchPlaces) -> str:
    """The file of a note by a link as notes write it (`[[Name#Part|words]]`), or by its title or an alias; empty for none.

    Names of files go first, then titles and aliases; of several the one with the shortest path.
    """
    link = said.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    name = _folded(link.partition("|")[0].partition("#")[0].partition("^")[0])
    if name.rpartition(".")[2] in PROSE_ENDINGS and "." in name:
        name = name.rpartition(".")[0]
    if not name or name.rpartition("/")[2] == INDEX_NAME:
        return ""
    found = find_sources(Path(), places, Corpus.NOTES)
    files = sorted(
        (one for scope in found for one in scope.files if not one.keys),
        key=lambda one: (len(one.key.path), one.key.path),
    )[:MAX_NAMED]
    for one in files:
        path = _folded(one.key.path.rpartition(".")[0])
        if path == name or path.endswith(f"/{name}"):
            return str(one.path)
    return next((str(one.path) for one in files if name in _names_of(one)), "")


def _names_of(one: SourceFile) -> set[str]:
    """Title and aliases of a note, folded."""
    try:
        text = without_secrets(
            read_start(one.path, HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
        )
    except OSError:
        return set()
    return {_folded(name) for name in note_names(as_markdown(text, one.key.path), one.key.path)}


def _folded(name: str) -> str:
    """A name in one form of each letter: macOS writes those of files with their accents apart."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def _readings(path: str, roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Folders in which a path may be meant, each with the path there, the likeliest first."""
    plain = [(root, path) for root in roots]
    names = root_names(roots) or {root: os.path.basename(root) for root in roots}
    named = [
        (root, path.removeprefix(f"{name}/"))
        for root, name in names.items()
        if name and path.startswith(f"{name}/")
    ]
    yield from (*plain, *named) if len(roots) == 1 else (*named, *plain)
