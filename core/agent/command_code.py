"""Code of the project that a command line runs: bound by a yes from its question to its run."""

from __future__ import annotations

import os
from collections.abc import Mapping

from core.agent.command_places import working_folders
from core.agent.command_rules import CommandLine
from core.kernel import figures
from core.kernel.run_code import CodeHashes
from core.kernel.run_files import RunWords
from core.kernel.run_words import line_words, run_words
from core.talk.context.globs import is_inside

_MOST_NAMED = 5


def code_of(text: str, line: CommandLine, folder: str, root: str) -> Mapping[str, str]:
    """Sha256 (hex) by path of the files that a line runs, with what they import in the project. Total.

    Args:
        text: the line as it was given; its words are taken where it does not parse; line: as rules see it.
        folder: in which it begins, root: of the project; absolute, links resolved.
    """
    words = RunWords()
    for where in working_folders(line, folder, root):
        for command in line.commands:
            words += run_words(_program_of_project(command, root), where)
        if not line.commands:
            words += line_words(text, where)
            for place in _own_places(root):
                words += line_words(text, place)
    return CodeHashes().imported(words, root).files


def _own_places(root: str) -> tuple[str, ...]:
    """Folders of the project in which programs are looked for by name."""
    places = map(os.path.realpath, filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep)))
    return tuple(place for place in places if is_inside(place, root))


def _program_of_project(command: tuple[str, ...], root: str) -> tuple[str, ...]:
    """The command with its program's path, where a name means a file of the project."""
    if os.sep in command[0]:
        return command
    paths = (os.path.join(place, command[0]) for place in _own_places(root))
    return next(((path, *command[1:]) for path in paths if os.access(path, os.X_OK)), command)


def code_words(files: Mapping[str, str], root: str) -> str:
    """Words of a question on what a command runs; empty where it names nothing."""
    if not files:
        return ""
    return f"It runs {_named(tuple(files), root)}: a change before it runs needs another yes."


def changed_words(asked: Mapping[str, str], now: Mapping[str, str], root: str) -> str:
    """Sentence for the model on code that changed between question and run; empty where none did."""
    changed = tuple(path for path in sorted({*asked, *now}) if asked.get(path) != now.get(path))
    if not changed:
        return ""
    are = "is" if len(changed) == 1 else "are"
    return f"Not run: {_named(changed, root)} {are} not as it was when this was asked. Look again, then ask again."


def _named(paths: tuple[str, ...], root: str) -> str:
    names = [os.path.relpath(path, root) if is_inside(path, root) else path for path in paths]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {figures.count(more, 'more file')}" if more > 0 else "")
