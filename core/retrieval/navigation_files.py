"""Index files of the notes on disk: which are stale, orphaned or a person's own, and writing those that are wanted."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from core.kernel.disk import OS_DISK, Disk, remove_file, write_file
from core.kernel.errors import StorageError
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.o200k import count_tokens
from core.kernel.opener import read_file, reason_of
from core.kernel.values.retrieval import Corpus, Router, SearchHit, SearchPlaces, SourceHead
from core.retrieval.front_matter import FieldNames
from core.retrieval.local_store import LocalStore
from core.retrieval.navigation import (
    INDEX_NAME,
    hand_written,
    heads_found,
    index_files,
    is_current,
    notes_tree,
    page_names,
    without_marker,
)
from core.retrieval.search import SearchRequest
from core.retrieval.sources import SourceFile, find_sources, is_made_by_us, read_head, without_secrets
from core.talk.context.globs import expand

MAX_FOUND = 100_000
MAX_NAVIGATED = 20_000
"""Notes of a root that are looked at for a question while the search index is away."""
MAX_ROUTERS, MAX_ROUTER_BYTES = 8, 64_000
"""Routers that are shown, and their size: one that we made is a tenth of it."""
PROJECT_FILE = "manual_slop.toml"
"""A folder below with one of its own is another project: its index files are its own affair."""

HeadOf = Callable[[SourceFile], SourceHead]


class Survey(msgspec.Struct, frozen=True):
    """Index files as they are and as they should be. Paths are absolute.

    Args:
        fresh: say what they list; stale: do not, or are missing, with the content that they should have.
        orphans: made by us, for a folder that has no notes or is not enabled any more.
        own: written by a person (or no file at all), and left alone.
        problems: what could not be looked at, in sentences.
    """

    fresh: tuple[str, ...] = ()
    stale: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    orphans: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """True if nothing is stale or orphaned."""
        return not self.stale and not self.orphans


class Mended(msgspec.Struct, frozen=True):
    """Index files that were written and removed; problems: those that could not be, by path, with the reason."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


def head_reader(fields: FieldNames) -> HeadOf:
    """Read heads from the notes themselves: a time of change may lie."""

    def read(one: SourceFile) -> SourceHead:
        if one.is_too_large:
            return SourceHead()
        try:
            return read_head(one.key.path, read_file(one.path, None), fields)
        except OSError:
            return SourceHead()

    return read


def existing_folders(named: Iterable[str]) -> list[str]:
    """Those of some folders that are there, links resolved."""
    return [os.path.realpath(path) for path in named if os.path.isdir(path)]


def survey(places: SearchPlaces, home: Path, fields: FieldNames, around: Iterable[str] = ()) -> Survey:
    """Compare the index files of all notes with what the notes say.

    Args:
        around: absolute folders in which index files of folders that are no longer enabled are looked for.
    """
    found = tuple(find_sources(home, places, Corpus.NOTES))
    unread = [os.path.join(one.scope, folder) for one in found for folder in one.unread]
    said = (
        *places.problems,
        *(tr("{folder}: this folder cannot be read", folder=folder) for folder in unread),
    )
    return survey_notes({one.scope: one.files for one in found}, head_reader(fields), around, said)


def survey_notes(
    notes: Mapping[str, Sequence[SourceFile]],
    head_of: HeadOf,
    around: Iterable[str] = (),
    problems: Sequence[str] = (),
    *,
    trusts_markers: bool = False,
) -> Survey:
    """As `survey`, of notes that were found already.

    Args:
        trusts_markers: a file whose hash fits counts as fresh, and its text is not made to be compared.
        notes: files of each root by its absolute path.
    """
    wanted: dict[str, bytes] = {}
    fresh: set[str] = set()
    own: list[str] = []
    listed: set[str] = set()
    for root in sorted(notes, key=lambda path: (path.count(os.sep), path)):
        paths = {os.path.join(root, one.key.path): one for one in notes[root]}
        if paths and listed.issuperset(paths):
            continue  # it lies in a root that lists it already
        listed.update(paths)
        tree = notes_tree(os.path.basename(root) or root, {one.key.path: head_of(one) for one in notes[root]})

        def is_fresh(folder: str, digest: str, root: str = root) -> bool:
            current = _current(os.path.join(root, folder), digest) if trusts_markers else set()
            fresh.update(current)
            return bool(current)

        wanted |= {
            os.path.join(root, path): data for path, data in index_files(tree, count_tokens, is_fresh).items()
        }
        own += [os.path.join(root, path) for path in hand_written(tree)]
    said = list(problems)
    made = _made((*notes, *around), said)
    stale: dict[str, bytes] = {}
    for path, data in wanted.items():
        if os.path.lexists(path) and not is_made_by_us(path):
            own.append(path)
        elif _is_same(path, data):
            fresh.add(path)
        else:
            stale[path] = data
    return Survey(
        fresh=tuple(sorted(fresh)),
        stale=dict(sorted(stale.items())),
        orphans=tuple(sorted(made - wanted.keys() - fresh)),
        own=tuple(sorted(set(own))),
        problems=tuple(said),
    )


def routers(places: SearchPlaces) -> tuple[Router, ...]:
    """Routers of the folders of notes as they stand there, ours or a person's; those of the first few folders."""
    found = []
    for root in places.notes[:MAX_ROUTERS]:
        path = os.path.join(root, INDEX_NAME)
        try:
            data = read_file(path, MAX_ROUTER_BYTES, follows_links=False)
        except OSError:
            continue
        text = without_secrets(clean(without_marker(data).decode("utf-8", "replace")))
        found.append(Router(path, text))
    return tuple(found)


def mend(found: Survey, *, disk: Disk = OS_DISK) -> Mended:
    """Write what is stale and remove what is orphaned. Raises nothing: what could not be done is said.

    Each file is looked at once more: what a person wrote in between is left alone.
    """
    written: list[str] = []
    removed: list[str] = []
    problems: list[tuple[str, str]] = []
    for path, data in found.stale.items():
        if os.path.lexists(path) and not is_made_by_us(path):
            continue
        try:
            write_file(Path(path), data, mode=_mode(path), disk=disk, follows_links=False)
        except (StorageError, OSError) as error:
            problems.append((path, _reason(error)))
        else:
            written.append(path)
    for path in found.orphans:
        if not is_made_by_us(path):
            continue
        try:
            remove_file(Path(path), disk=disk)
        except (StorageError, OSError) as error:
            problems.append((path, _reason(error)))
        else:
            removed.append(path)
    return Mended(written=tuple(written), removed=tuple(removed), problems=tuple(problems))


def write_navigation(
    store: LocalStore, notes: Mapping[str, Sequence[SourceFile]], fields: FieldNames
) -> tuple[tuple[str, str], ...]:
    """Bring the index files of notes to what the search index knows of them; what it does not know is read.

    Returns:
        Files that could not be written, with the reason.

    Raises:
        SlopError: the search index cannot be read.
    """
    known = {root: store.sources(Corpus.NOTES, root) for root in notes}
    read = head_reader(fields)

    def head_of(one: SourceFile) -> SourceHead:
        state = known[one.key.scope].get(one.key.path)
        return state.head if state is not None and state.stamp == one.stamp else read(one)

    return mend(survey_notes(notes, head_of, trusts_markers=True)).problems


def notes_navigator(
    places: SearchPlaces, home: Path, fields: FieldNames
) -> Callable[[SearchRequest], tuple[SearchHit, ...]]:
    """Answers questions from the heads of the notes themselves, which need no index."""

    def navigate(asked: SearchRequest) -> tuple[SearchHit, ...]:
        read = head_reader(fields)
        heads = (
            (found.scope, one.key.path, read(one))
            for found in find_sources(home, places, Corpus.NOTES)
            for one in found.files[:MAX_NAVIGATED]
        )
        return heads_found(heads, asked.query, asked.filters, asked.count)

    return navigate


def _made(folders: Iterable[str], problems: list[str]) -> set[str]:
    """Paths of index files that we made, in some folders and below."""
    made: set[str] = set()
    for folder in dict.fromkeys(folders):
        found = expand(folder, ("**", "index*.md"), MAX_FOUND)
        if found.is_too_many:
            problems.append(
                tr("{folder}: it holds too many files to look for earlier index files", folder=folder)
            )
        made.update(
            path for path in found.paths if is_made_by_us(path) and not _is_of_another_project(path, folder)
        )
    return made


def _is_of_another_project(path: str, folder: str) -> bool:
    above = os.path.dirname(path)
    while len(above) > len(folder):
        if os.path.lexists(os.path.join(above, PROJECT_FILE)):
            return True
        above = os.path.dirname(above)
    return False


def _current(folder: str, digest: str) -> set[str]:
    """Paths of a folder's index and its pages where their hashes fit, else none."""
    current: set[str] = set()
    waiting = [INDEX_NAME]
    while waiting:
        name = waiting.pop()
        path = os.path.join(folder, name)
        try:
            data = read_file(path, follows_links=False)
        except OSError:
            return set()
        if not is_current(data, digest if name == INDEX_NAME else ""):
            return set()
        current.add(path)
        waiting += [page for page in page_names(data) if os.path.join(folder, page) not in current]
    return current


def _is_same(path: str, data: bytes) -> bool:
    try:
        kept = read_file(path, len(data) * 2 + 4_096, follows_links=False)
    except OSError:
        return False
    return kept.replace(b"\r\n", b"\n") == data


def _mode(path: str) -> int | None:
    """Permissions of a new index file: who may read its folder may read it. None where there is one already."""
    if os.path.lexists(path):
        return None
    try:
        return stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) & 0o666
    except OSError:
        return 0o600


def _reason(error: StorageError | OSError) -> str:
    return error.what if isinstance(error, StorageError) else reason_of(error)
