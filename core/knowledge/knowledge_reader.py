"""Reads knowledge as it is on disk: category files, notes, digest and switch, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.opener import read_file
from core.kernel.values.knowledge import CategoryFile, DigestSwitch, KnowledgeState, NoteFile
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge import merges
from core.knowledge.categories import CATEGORY_NAMES, NOTES_FOLDER, parse_file
from core.knowledge.digest import digest_file, instead_of_digest, read_digest
from core.knowledge.facts import fact_files
from core.knowledge.file_writer import WITHDRAWALS_FILE, read_bytes, withdrawal_count
from core.knowledge.note_files import read_notes

MAX_DRAFT_BYTES = 262_144
"""A larger file is no draft of ours."""

MAX_DIGEST_BYTES = 65_536
"""A digest that a person made longer than this by hand is not injected; ours has at most 4096."""


def read_categories(home: Path) -> tuple[CategoryFile, ...]:
    """The category files in the order of the digest; a missing one is empty.

    Raises:
        StorageError: one cannot be read.
    """
    directory = paths.knowledge_dir(home)
    return tuple(parse_file(name, read_bytes(directory / name)) for name in CATEGORY_NAMES)


class KnowledgeReader:
    """Reads snapshots; files that did not change are not parsed again. Used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._parsed: dict[str, CategoryFile] = {}
        self._categories: tuple[CategoryFile, ...] = ()
        self._last_notes: tuple[NoteFile, ...] = ()

    def read(
        self, settings: KnowledgeSettings, candidates: Iterable[str] = (), *, with_categories: bool = True
    ) -> KnowledgeState:
        """Read knowledge as it is now. What cannot be read is said in `problems`, and the rest is there.

        Args:
            candidates: absolute paths that files with notes may have moved to.
            with_categories: False leaves the category files as they were read before, which is soon done.
        """
        problems: list[str] = []
        withdrawals = withdrawal_count(self._home)
        if with_categories:
            self._categories = tuple(self._category(name, problems) for name in CATEGORY_NAMES)
        notes = self._notes(candidates, problems)
        digest, size = self._digest(problems)
        is_read = bool(self._categories)
        has_items = (
            not is_read or any(one.items for one in self._categories) or any(one.items for one in notes)
        )
        return KnowledgeState(
            categories=self._categories,
            notes=notes,
            digest=digest or "",
            digest_bytes=size,
            switch=switch_of(settings, has_digest=digest is not None, has_items=has_items),
            watched=watch_paths(self._home, notes),
            problems=tuple(problems),
            withdrawals=withdrawals,
            drafts=self._drafts(),
        )

    def _drafts(self) -> dict[str, str]:
        """Drafts by the marks in them; one that cannot be read is none."""
        folder = paths.knowledge_dir(self._home) / merges.FOLDER
        found: dict[str, str] = {}
        for path in sorted(folder.glob(f"*{merges.SUFFIX}")) if folder.is_dir() else ():
            with suppress(OSError):
                text = read_file(path, MAX_DRAFT_BYTES).decode("utf-8", "replace")
                found |= dict.fromkeys(merges.marks_in(text), str(path))
        return found

    def _category(self, name: str, problems: list[str]) -> CategoryFile:
        try:
            data = read_bytes(paths.knowledge_dir(self._home) / name)
        except SlopError as error:
            problems.append(str(error))
            return CategoryFile(name=name, problem=str(error))
        before = self._parsed.get(name)
        if before is None or before.data != data:
            self._parsed[name] = parse_file(name, data)
        if self._parsed[name].problem:
            problems.append(self._parsed[name].problem)
        return self._parsed[name]

    def _notes(self, candidates: Iterable[str], problems: list[str]) -> tuple[NoteFile, ...]:
        try:
            found = read_notes(self._home, candidates)
        except SlopError as error:
            problems.append(str(error))
            return ()
        problems.extend(note.problem for note in found if note.problem)
        if found != self._last_notes:
            self._last_notes = found
        return self._last_notes

    def _digest(self, problems: list[str]) -> tuple[str | None, int]:
        """The digest's text and size; None where there is no file, or none that can be injected."""
        path = digest_file(self._home)
        try:
            data = read_digest(path)
        except SlopError as error:
            problems.append(str(error))
            return None, 0
        if data is None:
            if problem := instead_of_digest(path):
                problems.append(problem)
            return None, 0
        if len(data) > MAX_DIGEST_BYTES:
            problems.append(
                f"digest.md has {len(data):,} bytes, over {MAX_DIGEST_BYTES:,}; it is not injected"
            )
            return None, len(data)
        return clean(data.decode("utf-8-sig", "replace")), len(data)


def switch_of(settings: KnowledgeSettings, *, has_digest: bool, has_items: bool = True) -> DigestSwitch:
    """State of layer 7's switch: on if the file says so, and configuration does not forbid it. Without items
    there is no file to make.
    """
    if not settings.digest_enabled:
        return DigestSwitch.OFF_BY_CONFIGURATION
    if has_digest:
        return DigestSwitch.ON
    return DigestSwitch.OFF_BY_DELETION if has_items else DigestSwitch.OFF_WITHOUT_KNOWLEDGE


def watch_paths(home: Path, notes: Iterable[NoteFile] = ()) -> tuple[str, ...]:
    """Absolute paths whose change calls for another reading: the files, those not there yet, their folders, and the files
    that notes are bound to: what they hold is noted while it is seen.
    """
    directory = paths.knowledge_dir(home)
    folder = directory / NOTES_FOLDER
    named = (*CATEGORY_NAMES, "digest.md", "ledger.json", WITHDRAWALS_FILE)
    found = {str(directory / name) for name in named} | {str(folder), str(directory / merges.FOLDER)}
    noted = {str(folder / f"{note.file_id}.md") for note in notes} | {
        note.path for note in notes if note.path
    }
    return tuple(sorted(found | noted | set(fact_files.watch_paths(home))))
