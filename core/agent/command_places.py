"""Places that a command line names: folders that it goes to, files of keys and passwords, and what is outside the project."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from glob import iglob
from itertools import islice

from core.agent.command_rules import CommandLine
from core.agent.toolchains import SYSTEM, TOOLCHAINS
from core.kernel.key_files import KeyContents
from core.kernel.key_names import name_reasons
from core.talk.context.globs import is_below, is_inside

MOST_FOLDERS = 32
"""Folders in which a part of a command line may run, beyond which nobody knows where it does."""
MOST_NAMES = 2_000
"""Files of one pattern that are looked at."""
_LONGEST_PATH = 4_000
_BETWEEN = re.compile(r"[\s;|&<>()`$\"'\\{}\[\]]+")
"""Characters between the words of a line that does not parse."""
_OUTSIDE = "That is outside the project."
_OF_SANDBOX, _SCRATCH = ("/dev", "/proc"), "/tmp"  # noqa: S108
"""Places of which a command has its own."""
_BEFORE_NAME = re.compile(r"[=:@,]")
"""Characters behind which a word may name a file: `--file=x`, `HEAD:x`, `@x`."""


def within_folder(line: CommandLine, folder: str, root: str) -> CommandLine:
    """The command line as rules see it: rules count in the project, and none covers a line that leaves it by `cd`.

    Args:
        folder: in which it begins, root: of the project; absolute, links resolved.
    """
    if _folders(line, folder, root) is not None:
        return line
    return CommandLine(why_not="No rule can cover it: it may leave the project.")


def working_folders(line: CommandLine, folder: str, root: str) -> tuple[str, ...]:
    """Folders in which parts of a line may run, as far as they are known. Arguments as above."""
    return _folders(line, folder, root) or (folder,)


def place_reasons(
    text: str, line: CommandLine, folder: str, root: str, shown: Collection[str] = ()
) -> tuple[str, ...]:
    """Reasons why a command line is asked about whatever was granted, as the tools of files ask: it names a file of keys, or a
    place outside the project.

    Args:
        text: the line as it was given; its words are taken where it does not parse. shown: places that the person showed to what
            runs in the project, absolute, links resolved. Others as above.
    """
    commands = line.commands or (tuple(filter(None, _BETWEEN.split(text))),)
    folders = working_folders(line, folder, root)
    found: dict[str, None] = {}
    for words in commands:
        for number, word in enumerate(words):
            for name in _names(word):
                reasons = _reasons(name, folders, root, shown)
                found |= dict.fromkeys(one for one in reasons if number or _OUTSIDE not in one)
    return tuple(found)


def _folders(line: CommandLine, folder: str, root: str) -> tuple[str, ...] | None:
    """Folders in which a part of a line may run, as each `cd` may fail; None where one may be outside the project."""
    known = {folder: None}
    for words in line.commands:
        if words[0] != "cd":
            continue
        where = [word for word in words[1:] if word not in {"-L", "-P", "-e", "-@", "--"}]
        if len(where) != 1 or where[0][:1] in {"", "-", "~"} or any(mark in where[0] for mark in "*?"):
            return None
        for before in tuple(known):
            named = os.path.join(before, where[0])
            both = os.path.realpath(named), os.path.realpath(os.path.normpath(named))
            if not all(is_inside(each, root) for each in both):
                return None
            known |= dict.fromkeys(both)
        if len(known) > MOST_FOLDERS:
            return None
    return tuple(known)


def _names(word: str) -> Iterator[str]:
    """Parts of a word that may name a file."""
    yield word
    if word.startswith("-") and not word.startswith("--"):
        yield word[2:]
    for mark in _BEFORE_NAME.finditer(word):
        yield word[mark.end() :]


def _reasons(name: str, folders: tuple[str, ...], root: str, shown: Collection[str]) -> Iterator[str]:
    if not name or len(name) > _LONGEST_PATH:
        return
    if "*" in name or "?" in name:
        for folder in folders:
            matches = [*islice(iglob(os.path.expanduser(name), root_dir=folder), MOST_NAMES + 1)]
            if len(matches) > MOST_NAMES:
                yield f"{name!r} stands for more files than are looked at for keys and passwords."
            for match in matches[:MOST_NAMES]:
                yield from _reasons_of_path(match, folder, root, shown)
    for folder in folders:
        yield from _reasons_of_path(name, folder, root, shown)


def _reasons_of_path(name: str, folder: str, root: str, shown: Collection[str]) -> Iterator[str]:
    path = os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
    is_there = os.path.lexists(path)
    if is_there or "." in name or "/" in name:  # else it is as likely a word of another kind
        yield from _said(name, path, root, shown)
    if is_there and (resolved := os.path.realpath(path)) != path:
        yield from _said(name, resolved, root, shown)


def _said(name: str, path: str, root: str, shown: Collection[str]) -> Iterator[str]:
    if is_below(path, shown):
        return
    is_in = is_inside(path, root)
    reasons = name_reasons(os.path.relpath(path, root) if is_in else path)
    for reason in reasons or (KeyContents().reasons(path) if is_in else ()):
        yield f"It names {name!r}. {reason}"
    if not is_in and _is_others(path):
        yield f"It names {name!r}. {_OUTSIDE}"


def _is_others(path: str) -> bool:
    """True for a path, outside the project, of the person or of the machine, not of a tool: what is not there counts where it
    would be the person's own.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    own = (*SYSTEM, *_OF_SANDBOX, *(os.path.join(home, one) for one in TOOLCHAINS))
    if is_below(path, own) or path == _SCRATCH:
        return False
    return os.path.lexists(path) or is_inside(path, home)
