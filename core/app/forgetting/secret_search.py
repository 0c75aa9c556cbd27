"""Secrets looked for in every place of the table, and taken out of those that are no log."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from core.app.forgetting.forgetting_places import Folder, place_of
from core.app.forgetting.leftovers import empty_logs, files_of, is_of_home, pieces_of
from core.app.forgetting.secret_finds import (
    Cure,
    SecretFind,
    SecretReport,
    cure_of,
    finds_in,
    is_searched,
    without_secrets,
)
from core.kernel import paths
from core.kernel.disk import discussion_lock, remove_file
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.opener import reason_of
from core.kernel.secrets import scrub
from core.knowledge.evidence_rows import requoted
from core.knowledge.fact_store import sync_facts
from core.knowledge.file_writer import change_file, harvest_lock, withdrawing, write_lock
from core.knowledge.knowledge_reader import regenerate_digest
from core.knowledge.ledger import HarvestLedger
from core.retrieval.index_file import delete_index
from core.talk.discussion import trash
from core.talk.discussion.catalog_file import wipe_catalog
from core.talk.discussion.discussion_store import discussion_of

_PIECE_BYTES = 4_000_000

_Found = tuple[Path, SecretFind]


def search_secrets(home: Path) -> SecretReport:
    """Look for secrets in every file that the table of places names. Nothing is changed, nothing asked elsewhere.

    What cannot be read is told as a problem, and the rest goes on.
    """
    found, files, problems = _search(home)
    return SecretReport(finds=tuple(find for _, find in found), files=files, problems=problems)


def clean_secrets(home: Path, now: datetime) -> SecretReport:
    """Take secrets out of every place that is no log, then look again. The home is to be held alone.

    Returns:
        What is left, with how many finds are gone.

    Raises:
        LockedError: a harvest runs, or others write all the time. StorageError: what was written is whole; ask again.
    """
    problems: list[str] = []
    with harvest_lock(home, tr("the removal of secrets from files")):
        found, *_ = _search(home)
        if not any(find.cure in {Cure.SCRUB, Cure.ANEW} for _, find in found):
            return search_secrets(home)
        with withdrawing(home):
            for path, find in dict(found).items():
                _tried(problems, find.file, partial(_cleanse, home, path, find))
            if any(find.place == "ledger" for _, find in found):
                _tried(problems, "ledger", partial(_cleanse_ledger, home))
            sync_facts(home, now, ours=None)
            regenerate_digest(home, may_create=False, keeps=False)
        _tried(problems, "catalog", lambda: wipe_catalog(paths.catalog_file(home)))
        after = search_secrets(home)
    said = tuple(dict.fromkeys((*problems, *after.problems)))
    return replace(after, cleaned=max(0, len(found) - len(after.finds)), problems=said)


def _search(home: Path) -> tuple[list[_Found], int, tuple[str, ...]]:
    binned = {Path(item.path).name: item.discussion_id for item in trash.items(home)}
    found: list[_Found] = []
    problems: list[str] = []
    files = 0
    roots = ((Folder.HOME, home), (Folder.CACHE, paths.cache_dir()), (Folder.LOG, paths.log_dir()))
    folders = [folder for _, folder in roots]
    for root, folder in roots:
        for path in files_of(folder, [one for one in folders if one != folder]):
            name = path.relative_to(folder).as_posix()
            if not is_searched(root, name) or not is_of_home(home, root, name):
                continue
            files += 1
            try:
                found += [(path, find) for find in _finds(path, root, name, binned)]
            except OSError as error:
                problems.append(scrub(tr("{name} was skipped: {error}", name=name, error=reason_of(error))))
    return found, files, tuple(problems)


def _finds(path: Path, root: Folder, name: str, binned: dict[str, str]) -> Iterator[SecretFind]:
    place = place_of(root, name)
    cure = cure_of(place, name)
    first, _, rest = name.partition("/")
    owner = rest.partition("/")[0]
    owners = {"discussions": discussion_of(owner), "trash": binned.get(owner, "")}
    for line, kind in finds_in(_pieces(path), name):
        yield SecretFind(
            place=place.id if place is not None else "",
            root=root,
            file=scrub(name),
            line=line if root is not Folder.CACHE else 0,
            kind=kind,
            cure=cure,
            discussion_id=owners.get(first, "") if root is Folder.HOME else "",
        )


def _pieces(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for data in pieces_of(path, _PIECE_BYTES):
        yield decoder.decode(data)


def _tried(problems: list[str], name: str, work: Callable[[], object]) -> None:
    try:
        work()
    except (SlopError, OSError) as error:
        problems.append(scrub(tr("{name} could not be cleaned: {error}", name=name, error=error)))


def _cleanse(home: Path, path: Path, find: SecretFind) -> None:
    if find.cure is Cure.ANEW:
        _drop(path, find)
    elif find.cure is Cure.SCRUB and find.place != "ledger":
        with _lock(home, path, find):
            change_file(path, partial(_cleansed, path.name, find.place))


def _cleansed(name: str, place_id: str, data: bytes) -> bytes:
    clean = without_secrets(data, name)
    return requoted(data, clean) if place_id == "evidence" else clean


def _lock(home: Path, path: Path, find: SecretFind) -> AbstractContextManager[object]:
    """The lock of those who write such a file."""
    if find.place == "discussions":
        return discussion_lock(home.joinpath(*path.relative_to(home).parts[:2]))
    return nullcontext() if find.place == "window" else write_lock(home)


def _drop(path: Path, find: SecretFind) -> None:
    """Remove what is made anew by itself; the catalog and the digest have their own ways."""
    if find.place == "diagnostics":
        empty_logs(path.parent)
    elif find.place == "index":
        delete_index(path.parent)  # words and vectors of it belong together
    elif find.place not in {"catalog", "digest"}:
        remove_file(path)


def _cleanse_ledger(home: Path) -> None:
    ledger = HarvestLedger(home)
    entries = [(one, replace(one, path=scrub(one.path), error=scrub(one.error))) for one in ledger.entries()]
    changed = [new for old, new in entries if new != old]
    for entry in changed:
        ledger.add(entry)
    if changed:
        ledger.fold()
