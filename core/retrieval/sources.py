"""Files that the index is made from: notes, knowledge, discussions, the project's own."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from core.base import paths
from core.base.errors import SlopError
from core.base.key_files import mark_of
from core.base.key_names import KEY_FOLDERS
from core.base.opener import read_start
from core.context.globs import expand
from core.context.ignores import NAME as IGNORE_FILE
from core.context.ignores import ignores_at
from core.context.key_gate import KeyGate
from core.context.places import is_inside
from core.facts.places import FOLDERS
from core.knowledge.categories import CATEGORY_NAMES
from core.retrieval.navigation import MARKER, is_generated, is_index_name
from core.retrieval.source_text import PROSE_ENDINGS
from core.retrieval.store import SourceKey
from core.values.retrieval import Corpus, CorpusCount, SearchPlaces, SourcesPreview

MAX_FILES = 200_000
MAX_NOTE_BYTES = 16_000_000
MAX_PROJECT_BYTES = 1_000_000
MAX_LOG_BYTES = 256_000_000
"""Larger files are passed over and said: of notes, of a project's files (made by programs), of logs. To read one takes
some ten times as much memory."""


YOUNG_NS = 100_000_000
"""Age up to which a file may change once more without another time: clocks of file systems tick in milliseconds."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file that is to be in the index.

    Args:
        stamp: size, times and place of the file, for a quick look; is_young: it may change and keep them.
        keys: why it is taken for a file of keys unread, a sentence, empty where it is none; is_shown: the person said of its
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
        return self.size_bytes > most.get(self.key.corpus, MAX_NOTE_BYTES)


class FoundSources(NamedTuple):
    """Files of a scope, the folder that they count in (empty for the home), without index files that we made.

    `folders`: absolute, those that were looked into; none for the home's own files, which others watch.
    `unread`: folders below the scope, POSIX, in which nobody can look: of what lies there nothing is known.
    `rules_passed_over`: rules of .gitignore that were not followed.
    """

    scope: str
    files: list[SourceFile]
    folders: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    rules_passed_over: int = 0

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
                yield found._replace(files=[one for one in found.files if _is_note(one)])
        case Corpus.PROJECT:
            if places.project:
                found = _below(corpus, places.project, places.shown)
                yield found._replace(files=[one for one in found.files if not _is_note_of(places, one)])
        case Corpus.KNOWLEDGE:
            yield FoundSources("", _known(paths.knowledge_dir(home)))
        case Corpus.DISCUSSIONS:
            yield FoundSources("", _logs(home))


def preview_of(home: Path, places: SearchPlaces) -> SourcesPreview:
    """Files that would be read, by corpus. Total: a folder that cannot be walked is a problem of the places."""
    counts: list[CorpusCount] = []
    problems = list(places.problems)
    for corpus in places.corpora:
        try:
            counts.append(
                CorpusCount(corpus, sum(len(found.files) for found in find_sources(home, places, corpus)))
            )
        except SlopError as error:
            problems.append(f"{error.where}: {error.what}")
    return SourcesPreview(replace(places, problems=tuple(problems)), tuple(counts))


def is_made_by_us(path: str) -> bool:
    """True for an index file that we made, by its name and its first line. A link is none."""
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
            f"There are too many files to search: over {MAX_FILES:,}, or they take over 10 s to find",
            remedy="Name a smaller folder, or leave some out in .gitignore",
            where=root,
        )
    start = len(root.rstrip(os.sep)) + 1
    gate = KeyGate(root, shown, _with_hidden(found.folders))
    files = (
        _file(SourceKey(corpus, root, path[start:].replace(os.sep, "/")), Path(path), inside=root, gate=gate)
        for path in found.paths
        if not is_made_by_us(path)
    )
    unread = tuple(path[start:].replace(os.sep, "/") for path in found.unread)
    return FoundSources(
        root, [one for one in files if one is not None], found.folders, unread, found.rules_passed_over
    )


def _is_note(one: SourceFile) -> bool:
    return one.key.path.rpartition(".")[2].lower() in PROSE_ENDINGS


def _is_note_of(places: SearchPlaces, one: SourceFile) -> bool:
    path = os.path.join(one.key.scope, one.key.path)
    return _is_note(one) and any(is_inside(path, root) for root in places.notes)


def _known(directory: Path) -> list[SourceFile]:
    names = list(CATEGORY_NAMES)
    for folder, ending in (("files", ".md"), *((folder, ".yaml") for folder in FOLDERS)):
        names += [f"{folder}/{name}" for name in _names(directory / folder) if name.endswith(ending)]
    files = (_file(SourceKey(Corpus.KNOWLEDGE, "", name), directory / name) for name in names)
    return [one for one in files if one is not None]


def _logs(home: Path) -> list[SourceFile]:
    files = (
        _file(SourceKey(Corpus.DISCUSSIONS, "", name), paths.log_file(home, name))
        for name in _names(paths.discussions_dir(home))
        if paths.is_directory_name(name)
    )
    return [one for one in files if one is not None]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _file(key: SourceKey, path: Path, inside: str = "", gate: KeyGate | None = None) -> SourceFile | None:
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
    found = SourceFile(key, path, stamp_of(status), status.st_size, is_young)
    if gate is None:
        return found
    keys = next(iter(gate.place_reasons(str(path), mark_of(status))), "")
    return replace(found, keys=keys, is_shown=gate.is_shown(str(path)))


def _with_hidden(folders: Iterable[str]) -> Iterator[str]:
    """Folders, and those of keys in them."""
    for folder in folders:
        yield folder
        yield from (os.path.join(folder, name) for name in KEY_FOLDERS)
