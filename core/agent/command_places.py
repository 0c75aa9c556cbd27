"""Places that a command line names, and code of the project that it runs: judged before a question, bound by its yes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from glob import iglob
from itertools import islice

from core.agent.command_rules import CommandLine
from core.agent.toolchains import SYSTEM, TOOLCHAINS
from core.kernel import figures
from core.kernel.key_files import KeyContents
from core.kernel.key_names import name_reasons
from core.kernel.language import in_english, tr
from core.kernel.patterns import late
from core.kernel.run_code import CodeHashes, RunWords, folder_mark
from core.kernel.run_words import line_words, run_words
from core.talk.context.globs import is_below, is_inside

# Places that a command line names: folders that it goes to, files of keys and passwords, and what is
# outside the project.

MOST_FOLDERS = 32
"""Folders in which a part of a command line may run, beyond which nobody knows where it does."""
MOST_NAMES = 2_000
"""Files of one pattern that are looked at."""
_LONGEST_PATH = 4_000
_BETWEEN = late(r"[\s;|&<>()`$\"'\\{}\[\]]+")
"""Characters between the words of a line that does not parse."""
_OUTSIDE = tr("That path is outside the project.")
_OF_SANDBOX, _SCRATCH = ("/dev", "/proc"), "/tmp"  # noqa: S108
"""Places of which a command has its own."""
_BEFORE_NAME = late(r"[=:@,]")
"""Characters behind which a word may name a file: `--file=x`, `HEAD:x`, `@x`."""


def within_folder(line: CommandLine, folder: str, root: str) -> CommandLine:
    """The command line as rules see it: rules count in the project, and none covers a line that leaves it by `cd`.

    Args:
        folder: in which it begins, root: of the project; absolute, links resolved.
    """
    if _folders(line, folder, root) is not None:
        return line
    return CommandLine(why_not=tr("No rule can cover this command: it may leave the project."))


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
                yield tr("{name!r} matches too many files to check them for keys and passwords.", name=name)
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
        yield tr("The command names {name!r}. {reason}", name=name, reason=reason)
    if not is_in and _is_others(path):
        yield tr("The command names {name!r}. {OUTSIDE}", name=name, OUTSIDE=_OUTSIDE)


def _is_others(path: str) -> bool:
    """True for a path, outside the project, of the person or of the machine, not of a tool: what is not there counts where it
    would be the person's own.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    own = (*SYSTEM, *_OF_SANDBOX, *(os.path.join(home, one) for one in TOOLCHAINS))
    if is_below(path, own) or path == _SCRATCH:
        return False
    return os.path.lexists(path) or is_inside(path, home)


# Code of the project that a command line runs: bound by a yes from its question to its run.

_MOST_NAMED = 5


def code_of(text: str, line: CommandLine, folder: str, root: str) -> Mapping[str, str]:
    """Sha256 (hex) by path of the files that a line runs, with what they import in the project. Raises nothing.

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
    whole = {place + os.sep: folder_mark(place) for place in words.whole if is_inside(place, root)}
    return {**CodeHashes().imported(words, root).files, **whole}


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
    return tr(
        "The command runs {files}. If that code changes first, the program asks you again.",
        files=_named(tuple(files), root, tr("all code in {folder}")),
    )


def changed_words(asked: Mapping[str, str], now: Mapping[str, str], root: str) -> str:
    """Sentence for the model on code that changed between question and run; empty where none did."""
    changed = tuple(path for path in sorted({*asked, *now}) if asked.get(path) != now.get(path))
    if not changed:
        return ""
    are = "is" if len(changed) == 1 else "are"
    with in_english():  # a model reads it
        named = _named(changed, root, "the code in {folder}")
    return f"Not run: {named} {are} not as it was when this was asked. Look again, then ask again."


def _named(paths: tuple[str, ...], root: str, whole: str) -> str:
    """Files, and folders of which all counts, for which `whole` stands: the project's own by its name."""
    names = [os.path.relpath(path, root) if is_inside(path, root) else path for path in paths]
    names = [
        whole.format(folder=os.path.basename(root) if name == os.curdir else name)
        if path.endswith(os.sep)
        else name
        for path, name in zip(paths, names, strict=True)
    ]
    return figures.first_of(names, _MOST_NAMED)
