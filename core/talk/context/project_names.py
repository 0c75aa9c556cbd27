"""Names of a project's files and folders, held for a lookup at each keystroke; its symbols where a file is named."""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from core.kernel.language import tr
from core.kernel.queue import queued
from core.kernel.values.curation import FileHit, FileItem, FileMode, FilesLookedUp, HitKind
from core.kernel.values.updates import Report
from core.talk.context.context_messages import ContextEvent, FilesFound, LookUpFiles
from core.talk.context.file_reader import Outliner, look_up_glob, read_item
from core.talk.context.globs import Places, expand
from core.talk.context.ignores import ignores_at

MOST_NAMES = 250_000
"""Files of a project that are held; of a larger one nobody completes names."""
SHOWN = 8
MOST_LOOKED_AT = 1_500
"""Places of the first word that one lookup looks at: of a letter that stands everywhere, the rest is not ranked."""
FRESH_S = 10.0
"""Age from which the names are read again, behind the answer of the names so far."""
_SEPARATORS = str.maketrans("", "", "/_-. ")
SYMBOL = "#"
"""Mark between a file and a symbol in it."""


class _JoinedNames:
    """Lines in one text, which is scanned for words."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "\n" + "\n".join(lines) + "\n"
        self._starts: list[int] = []
        at = 1
        for line in lines:
            self._starts.append(at)
            at += len(line) + 1

    def find(self, words: Sequence[str]) -> list[int]:
        """Numbers of the lines that hold every word, the best first: by where the first one stands, then by length."""
        found: dict[int, tuple[int, int]] = {}
        for at in self._places(words[0]):
            number = bisect_right(self._starts, at) - 1
            line = self._text[self._starts[number] : self._text.index("\n", at)]
            if number not in found and all(word in line for word in words[1:]):
                found[number] = (self._rank(line, words[0]), len(line))
        return sorted(found, key=lambda number: (found[number], number))

    @staticmethod
    def _rank(line: str, word: str) -> int:
        own = line.rstrip("/").rpartition("/")[2]
        return 0 if own.startswith(word) else 1 if line.startswith(word) else 2 if word in own else 3

    def _places(self, word: str) -> Iterator[int]:
        """Places where a word stands: beginnings of names first."""
        if word not in self._text:
            return  # most words that are not found are not there at all: one scan in place of three
        for lead in (f"/{word}", f"\n{word}", word):
            at, seen = self._text.find(lead), 0
            while at >= 0 and seen < MOST_LOOKED_AT:
                yield at + len(lead) - len(word)
                seen += 1
                at = self._text.find(lead, at + 1)


class ProjectNames:
    """Files and folders by name. O(names) to make; a lookup is a scan of one text. Immutable.

    Args:
        files, folders: relative to the project's root, POSIX.
    """

    def __init__(self, files: Sequence[str] = (), folders: Sequence[str] = ()) -> None:
        self._names = (*(f"{folder}/" for folder in sorted(folders) if folder not in ("", ".")), *files)
        self._folded = [name.casefold().replace("\n", " ") for name in self._names]
        self._lines = _JoinedNames(self._folded)

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _joined(self) -> _JoinedNames:
        return _JoinedNames("\n".join(self._folded).translate(_SEPARATORS).split("\n"))

    def find(self, wanted: str, most: int = SHOWN) -> tuple[str, ...]:
        """The best names that hold every word: those that begin with the first one, then those whose own name does, then by length.

        Where none does: those that hold the words between separators (`file5077` finds `file_50_77`).
        """
        words = wanted.casefold().split()
        if not words:
            return self._names[:most]
        best = self._lines.find(words)
        joined = [word for word in (word.translate(_SEPARATORS) for word in words) if word]
        if not best and joined:
            best = self._joined.find(joined)
        return tuple(self._names[number] for number in best[:most])


class LookupHandler:
    """Carries out lookups of names, one thread at a time.

    Args:
        outline: of a file, for its symbols; emit: the inbox; clock: seconds.
    """

    def __init__(
        self,
        outline: Outliner,
        emit: Callable[[ContextEvent | Report], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outline, self._emit, self._clock = outline, emit, clock
        self._root, self._read_at, self._names, self._is_too_many = "", 0.0, ProjectNames(), False

    def handle(self, effect: LookUpFiles) -> None:
        """Answer one lookup; where the names are old, once more with those of now."""
        if effect.is_glob:
            self._say(effect, self._glob(effect))
            return
        is_known = self._root == effect.root
        if is_known:
            self._say(effect, self._found(effect))
        if not is_known or self._clock() - self._read_at > FRESH_S:
            self._read(effect)
            self._say(effect, self._found(effect))

    def _say(self, effect: LookUpFiles, found: FilesLookedUp) -> None:
        self._emit(FilesFound(found))

    def _read(self, effect: LookUpFiles) -> None:
        root = os.path.realpath(effect.root)
        found = expand(root, ("**", "*"), MOST_NAMES, ignores_at(root, root))
        self._is_too_many = found.is_too_many
        self._names = ProjectNames(
            [_below(path, root) for path in found.paths], [_below(path, root) for path in found.folders[1:]]
        )
        self._root, self._read_at = effect.root, self._clock()

    def _found(self, effect: LookUpFiles) -> FilesLookedUp:
        wanted, mark, symbol = effect.text.partition(SYMBOL)
        if mark:
            return self._symbols(effect, wanted, symbol.casefold())
        hits = tuple(
            FileHit(path=name, kind=HitKind.FOLDER if name.endswith("/") else HitKind.FILE)
            for name in self._names.find(wanted)
        )
        problem = (
            tr("More than {MOST_NAMES:,} files: type a path or a glob.", MOST_NAMES=MOST_NAMES)
            if self._is_too_many
            else ""
        )
        return FilesLookedUp(text=effect.text, hits=hits, total=len(self._names), problem=problem)

    def _symbols(self, effect: LookUpFiles, path: str, wanted: str) -> FilesLookedUp:
        item = FileItem(path=path, mode=FileMode.OUTLINE)
        read = read_item(
            effect.root,
            item,
            effect.limits,
            effect.allowed_roots,
            outline=self._outline,
            shown=effect.shown,
        )
        problem = read.problem or (read.files[0].problem if read.files else None)
        known = read.files[0].symbols if read.files else ()
        named = [one for one in known if wanted in one.name.casefold()]
        named.sort(key=lambda one: not one.name.casefold().rpartition(".")[2].startswith(wanted))
        hits = tuple(
            FileHit(path=path, kind=HitKind.SYMBOL, symbol=one.name, detail=one.signature)
            for one in named[:SHOWN]
        )
        said = (
            problem.detail
            if problem is not None
            else ""
            if known
            else tr("{path} has no outline.", path=path)
        )
        return FilesLookedUp(text=effect.text, hits=hits, total=len(named), problem=said)

    def _glob(self, effect: LookUpFiles) -> FilesLookedUp:
        """Number of the files that a glob finds, or of which a path is one."""
        item, places = FileItem(path=effect.text), Places(effect.root, effect.allowed_roots)
        absolute = places.absolute(effect.text)
        try:
            if not item.is_glob or os.path.lexists(absolute):
                total = 1 if os.path.isfile(absolute) else 0
                said = (
                    ""
                    if total
                    else tr("This is a folder: add /**/* to include the folder's files.")
                    if os.path.isdir(absolute)
                    else tr("No such file.")
                )
                return FilesLookedUp(text=effect.text, total=total, problem=said, is_glob=True)
            found = look_up_glob(places, item, absolute, effect.limits)
        except (OSError, ValueError) as fault:
            return FilesLookedUp(
                text=effect.text,
                problem=tr("The program cannot search the project: {fault}.", fault=fault),
                is_glob=True,
            )
        if found is None:
            return FilesLookedUp(
                text=effect.text, problem=tr("This path is outside the project."), is_glob=True
            )
        most = effect.limits.max_glob_files
        said = tr("More than {most:,} files: make the glob narrower.", most=most) if found.is_too_many else ""
        return FilesLookedUp(text=effect.text, total=len(found.paths), problem=said, is_glob=True)


def _below(path: str, root: str) -> str:
    return path[len(root) :].lstrip(os.sep).replace(os.sep, "/")


def supersedes(newer: LookUpFiles, older: LookUpFiles) -> bool:
    """The newest of its kind counts: a mention and a glob are typed in two places."""
    return newer.is_glob == older.is_glob


WORK = queued("names", LookUpFiles, supersedes)
