"""Places that a command line names: folders that it goes to, and files of keys and passwords."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from glob import iglob
from itertools import islice

from core.agent.asked_places import reasons_to_ask_before_reading
from core.agent.command_rules import CommandLine
from core.context.places import is_inside

MOST_FOLDERS = 32
"""Folders in which a part of a command line may run, beyond which nobody knows where it does."""
MOST_NAMES = 2_000
"""Files of one pattern that are looked at."""
_LONGEST_PATH = 4_000
_BETWEEN = re.compile(r"[\s;|&<>()`$\"'\\{}\[\]]+")
"""Characters between the words of a line that does not parse."""
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


def secret_reasons(text: str, line: CommandLine, folder: str, root: str) -> tuple[str, ...]:
    """Reasons why a command line is asked about whatever was granted, as the tools of files ask: it names a secret.

    Args:
        text: the line as it was given; its words are taken where it does not parse. Others as above.
    """
    commands = line.commands or (tuple(filter(None, _BETWEEN.split(text))),)
    folders = working_folders(line, folder, root)
    found: dict[str, None] = {}
    for word in (word for words in commands for word in words):
        for name in _names(word):
            found |= dict.fromkeys(_reasons(name, folders, root))
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


def _reasons(name: str, folders: tuple[str, ...], root: str) -> Iterator[str]:
    if not name or len(name) > _LONGEST_PATH:
        return
    if "*" in name or "?" in name:
        for folder in folders:
            matches = [*islice(iglob(name, root_dir=folder), MOST_NAMES + 1)]
            if len(matches) > MOST_NAMES:
                yield f"{name!r} stands for more files than are looked at for keys and passwords."
            for match in matches[:MOST_NAMES]:
                yield from _reasons_of_path(match, folder, root)
    for folder in folders:
        yield from _reasons_of_path(name, folder, root)


def _reasons_of_path(name: str, folder: str, root: str) -> Iterator[str]:
    path = os.path.normpath(os.path.join(folder, name))
    is_there = os.path.lexists(path)
    if is_there or "." in name or "/" in name:  # else it is as likely a word of another kind
        yield from _said(name, name if name.startswith("~") else path, root)
    if is_there and (resolved := os.path.realpath(path)) != path:
        yield from _said(name, resolved, root)


def _said(name: str, path: str, root: str) -> Iterator[str]:
    relative = os.path.relpath(path, root) if is_inside(path, root) else path
    for reason in reasons_to_ask_before_reading(relative):
        yield f"It names {name!r}. {reason}"
