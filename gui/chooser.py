"""State of the file chooser: the folder, what is in it, what is picked. Pure but for listing a folder."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from core.base.figures import size
from core.base.surroundings import current_folder

MOST_ENTRIES = 20_000
DOUBLE_S = 0.5
"""Two presses of an entry within so many seconds open it."""
AHEAD_S = 1.0
"""Letters within so many seconds are the beginning of one name."""


class Entry(msgspec.Struct, frozen=True):
    """A file or folder of the shown folder."""

    name: str
    is_folder: bool
    size_bytes: int = 0

    @property
    def detail(self) -> str:
        """Its size in words."""
        return "" if self.is_folder else size(self.size_bytes)


class Chooser(msgspec.Struct):
    """State of one open chooser."""

    folder: Path
    picks: str
    name: str = ""
    wanted: str = ""
    shows_hidden: bool = False
    picked: list[str] = msgspec.field(default_factory=list)
    entries: list[Entry] = msgspec.field(default_factory=list)
    problem: str = ""
    revision: int = 0
    wants_filter: bool = False
    replaces: str = ""
    pressed: tuple[str, float] = ("", float("-inf"))
    ahead: tuple[str, float] = ("", float("-inf"))
    came_from: str = ""

    def open(self, folder: Path) -> None:
        """Show a folder; when it cannot be listed, stay and say why."""
        try:
            entries = list_folder(folder)
        except OSError as error:
            self.problem = f"{folder}: {(error.strerror or str(error)).lower()}"
            return
        self.folder, self.entries, self.problem, self.wanted = folder, entries, "", ""
        self.replaces = self.came_from = ""
        self.picked = []
        self.revision += 1

    def shown(self) -> list[Entry]:
        """The entries that fit the filter and the kind that is picked."""
        wanted = self.wanted.casefold()
        return [
            entry
            for entry in self.entries
            if wanted in entry.name.casefold()
            and (self.shows_hidden or not entry.name.startswith("."))
            and (entry.is_folder or self.picks != "folder")
        ]

    def press(self, entry: Entry, at_s: float, *, is_adding: bool = False) -> tuple[str, ...]:
        """The person pressed an entry: it is selected; the second press in time opens it.

        Args:
            at_s: when, on any clock; is_adding: Ctrl is down, which adds a file or takes it out again.

        Returns:
            The choice, where a file was opened by it.
        """
        name, was_at_s = self.pressed
        self.pressed = (entry.name, at_s)
        self.revision += 1
        self.problem = self.replaces = ""
        if is_adding and self.picks == "files" and not entry.is_folder:
            files = [name for name in self.picked if not self._is_folder(name)]
            self.picked = (
                [n for n in files if n != entry.name] if entry.name in files else [*files, entry.name]
            )
            return ()
        self._select(entry)
        if entry.name != name or at_s - was_at_s > DOUBLE_S:
            return ()
        self.pressed = ("", float("-inf"))
        return self.accept() if not entry.is_folder else self._enter(entry.name)

    def _select(self, entry: Entry) -> None:
        self.picked = [entry.name]
        self.revision += 1
        self.problem = self.replaces = ""
        if self.picks == "save" and not entry.is_folder:
            self.name = entry.name

    @property
    def row(self) -> int:
        """The row of the shown entries from which keys walk on: selected last, or left for here; -1 for none."""
        last = self.picked[-1] if self.picked else self.came_from
        return next((row for row, entry in enumerate(self.shown()) if entry.name == last), -1)

    def step(self, rows: int) -> None:
        """Select the entry so many rows on, or back where it is negative, at most the last or the first."""
        shown = self.shown()
        if shown:
            row = self.row
            start = row if row >= 0 else -1 if rows > 0 else 0
            self._select(shown[min(max(start + rows, 0), len(shown) - 1)])

    def find(self, typed: str, at_s: float) -> None:
        """Select the next entry whose name begins with what was typed within `AHEAD_S`.

        Args:
            typed: characters since the last call; at_s: when, on any clock.
        """
        before, was_at_s = self.ahead
        begun = (before if at_s - was_at_s <= AHEAD_S else "") + typed.casefold()
        self.ahead = (begun, at_s)
        shown, row = self.shown(), self.row
        first = row + (len(begun) == len(typed))  # a new name begins behind the selected one
        order = [*shown[max(0, first) :], *shown[: max(0, first)]]
        entry = next((one for one in order if one.name.casefold().startswith(begun)), None)
        if entry is not None:
            self._select(entry)

    def go_up(self) -> None:
        """Show the folder around this one; keys walk on from it."""
        name = self.folder.name
        self.open(self.folder.parent)
        self.came_from = name

    def open_selected(self) -> None:
        """Show the folder that is selected."""
        if self.selected_folder:
            self._enter(self.selected_folder)

    def rename(self, name: str) -> None:
        """The person typed the name to save under: it is meant, and no entry of the list."""
        self.name, self.problem, self.picked = name, "", []
        self.revision += 1

    def _is_folder(self, name: str) -> bool:
        return any(entry.is_folder for entry in self.entries if entry.name == name)

    def _enter(self, name: str) -> tuple[str, ...]:
        self.open(self.folder / name)
        self.wants_filter = True
        return ()

    @property
    def selected_folder(self) -> str:
        """The folder of the list that is selected, where it is one alone."""
        return self.picked[0] if len(self.picked) == 1 and self._is_folder(self.picked[0]) else ""

    @property
    def opens_folder(self) -> bool:
        """True if taking the choice opens a folder first."""
        return self.picks != "folder" and bool(self.selected_folder)

    def accept(self) -> tuple[str, ...]:
        """The person took the choice, by Enter or the button: a selected folder is opened, else it comes back.

        A file that would be replaced is asked for once. A path in the place of a name is followed first.
        """
        if self.opens_folder:
            return self._enter(self.selected_folder)
        if self.has_typed_path:
            self.go(self.name)
            if self.problem or self.has_typed_path:
                return ()
        name = self.name.strip()
        if self.picks == "save" and not self.is_replacing and any(one.name == name for one in self.entries):
            self.replaces, self.problem = name, f"{name!r} is there already. Replace it?"
            return ()
        return self.result()

    @property
    def has_typed_path(self) -> bool:
        """True if a path stands where the name to save under is meant to be."""
        return self.picks == "save" and "/" in self.name

    @property
    def is_replacing(self) -> bool:
        """True if the person was asked whether the file of that name may go."""
        return bool(self.replaces) and self.replaces == self.name.strip()

    def enter(self) -> tuple[str, ...]:
        """The person pressed Enter: with nothing selected, the first entry that fits the filter is meant."""
        shown = self.shown()
        if not self.picked and self.wanted and shown and self.picks != "save":
            self.picked = [shown[0].name]
            self.revision += 1
            if self.picks == "folder":
                return self._enter(shown[0].name)
        return self.accept()

    def go(self, typed: str) -> tuple[str, ...]:
        """The person typed a path: a folder is opened; a file is the choice and comes back."""
        path = Path(os.path.expanduser(typed.strip() or "."))
        path = path if path.is_absolute() else self.folder / path
        self.problem = ""
        if path.is_dir():
            self.open(Path(os.path.normpath(path)))
            self.name = "" if self.has_typed_path else self.name
        elif self.picks == "files" and path.is_file():
            return (str(path),)
        elif self.picks == "save" and path.parent.is_dir():
            self.open(Path(os.path.normpath(path.parent)))
            self.name = path.name
        else:
            self.problem = f"{path}: no such {'folder' if self.picks == 'folder' else 'file or folder'}"
        return ()

    def result(self) -> tuple[str, ...]:
        """The choice as it stands, empty when there is none yet."""
        match self.picks:
            case "folder":
                return (str(self.folder / self.selected_folder),)
            case "save":
                name = self.name.strip()
                return (str(self.folder / name),) if name and "/" not in name else ()
            case _:
                return tuple(str(self.folder / name) for name in self.picked if not self._is_folder(name))


def list_folder(folder: Path) -> list[Entry]:
    """Folders first, then files, by name without case.

    Raises:
        OSError: the folder cannot be read.
    """
    found: list[Entry] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) >= MOST_ENTRIES:
                break
            found.append(_entry(entry))
    return sorted(found, key=lambda entry: (not entry.is_folder, entry.name.casefold()))


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        is_folder = entry.is_dir()
        return Entry(entry.name, is_folder, 0 if is_folder else entry.stat().st_size)
    except OSError:
        return Entry(entry.name, is_folder=False)


def first_folder(start: str) -> tuple[Path, str]:
    """The folder to begin in, and a file's name when `start` names one."""
    path = Path(os.path.expanduser(start)) if start else Path(current_folder() or Path.home())
    if path.is_dir():
        return path.absolute(), ""
    if path.parent.is_dir():
        return path.parent.absolute(), path.name
    return Path.home(), ""
