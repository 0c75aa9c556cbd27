"""What `.gitignore` files leave out of a glob: git's rules, judged entry by entry on the way down."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

import msgspec

NAME = ".gitignore"
MAX_BYTES = 256_000
"""Of one file of rules; what stands behind is not read."""
MAX_STARS = 3
"""Stars in one part of a rule, and `**` in one rule: with more, a hostile name keeps `re` busy for minutes."""

_OTHER_CLASS = re.compile(r"\[.*(?:\[|--|&&|\|\||~~)")
"""Classes by name (`[[:alpha:]]`) and what Python may once read as sets."""

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


class _Rule(msgspec.Struct, frozen=True):
    """One line: what it matches of the entry's name or of its path below the rules' folder, and what it says then."""

    pattern: re.Pattern[str]
    is_of_name: bool
    ignores: bool

    def matches(self, name: str, below: str) -> bool:
        """Whether it means this entry itself, not one above it. Folders end in a slash."""
        if self.is_of_name:
            return self.pattern.search(name) is not None
        return self.pattern.fullmatch(below) is not None


class _Level(msgspec.Struct, frozen=True):
    """The rules of one folder, the last line first.

    Args:
        start: length of the folder's path with its slash.
        of_names, of_paths: all rules of each kind at once, since most entries match none.
    """

    start: int
    rules: tuple[_Rule, ...]
    of_names: re.Pattern[str]
    of_paths: re.Pattern[str]

    def verdict(self, name: str, below: str) -> bool | None:
        """What the last rule that matches says, None where none does."""
        if self.of_names.search(name) is None and self.of_paths.fullmatch(below) is None:
            return None
        return next((rule.ignores for rule in self.rules if rule.matches(name, below)), None)


class Ignores(msgspec.Struct, frozen=True):
    """The rules that hold in one folder, the nearest first.

    Args:
        files: where rules were read or may appear, for the watch.
    """

    levels: tuple[_Level, ...] = ()
    files: tuple[str, ...] = ()

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether git would leave out an entry of this folder. Where two rules match, the nearest and last counts."""
        if not self.levels:
            return False
        ending = "/" if is_folder else ""
        name = os.path.basename(path) + ending
        for level in self.levels:
            below = path[level.start :].replace(os.sep, "/") + ending
            if (verdict := level.verdict(name, below)) is not None:
                return verdict
        return False

    def inside(self, folder: str) -> Ignores:
        """The rules inside a folder that is entered: its own come first."""
        return self._with(folder, os.path.join(folder, NAME))

    def _with(self, folder: str, file: str) -> Ignores:
        rules = _read_rules(file)
        if rules is None:
            return self
        of_names, of_paths = (
            _any(rule for rule in rules if rule.is_of_name is kind) for kind in (True, False)
        )
        level = _Level(len(folder.rstrip(os.sep)) + 1, rules, of_names, of_paths)
        return Ignores((level, *self.levels) if rules else self.levels, (*self.files, file))


def ignores_at(folder: str, root: str) -> Ignores:
    """The rules of all folders above one, its own not included.

    They begin where the repository does, which may be above the project. A folder on the way that is itself left
    out was opened or named outright: rules from above it do not count below it.

    Args:
        folder: absolute, links resolved; root: where to begin where there is no repository, at or above `folder`.
    """
    top = _repository(folder) or root
    git = os.path.join(top, ".git")
    ignores = Ignores()._with(top, os.path.join(git, "info", "exclude"))  # noqa: SLF001 (of its own class)
    files = [os.path.join(top, NAME)]
    at = top
    for part in os.path.relpath(folder, top).split(os.sep) if folder != top else ():
        ignores = ignores.inside(at)
        at = os.path.join(at, part)
        files.append(os.path.join(at, NAME))
        if ignores.leaves_out(at, is_folder=True):
            ignores = Ignores(files=ignores.files)
    return Ignores(ignores.levels, tuple(dict.fromkeys((*ignores.files, *files))))


def _any(rules: Iterable[_Rule]) -> re.Pattern[str]:
    """One pattern for what any of these rules matches; nothing for none. Named groups lose their names."""
    patterns = [re.sub(r"\(\?P<\w+>", "(?:", rule.pattern.pattern) for rule in rules]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or "(?!)")


def _repository(folder: str) -> str:
    """The nearest folder at or above one that holds `.git`, empty where none does."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def _read_rules(file: str) -> tuple[_Rule, ...] | None:
    """The rules of a file, the last first; None where there is none that git would read (a link is not followed)."""
    try:
        descriptor = os.open(file, _OPEN_FLAGS)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        try:
            text = opened.read(MAX_BYTES).decode("utf-8-sig", "surrogateescape")
        except OSError:
            return None
    return tuple(_rules(text))[::-1]


def _rules(text: str) -> Iterator[_Rule]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not any(line and not line.startswith("#") for line in lines):
        return
    from pathspec.patterns.gitignore.spec import (
        GitIgnoreSpecPattern,
    )  # only where there are rules: it loads slowly

    for line in lines:
        is_negated = line.startswith("!")
        body = _written_out(line[is_negated:])
        if not body.strip("/ ") or line.startswith("#") or _is_beyond(body):
            continue
        try:
            pattern = GitIgnoreSpecPattern("!" * is_negated + body)
        except (ValueError, re.error):
            continue
        if pattern.regex is not None and pattern.include is not None:
            yield _Rule(pattern.regex, _is_of_name(body), ignores=pattern.include)


def _is_of_name(body: str) -> bool:
    return "/" not in body.rstrip(" ").removesuffix("/")


def _written_out(body: str) -> str:
    """A rule in the words in which pathspec means the entries themselves: it takes what lies below one for a match too."""
    parts = body.split("/")
    parts = [part for at, part in enumerate(parts) if part != "**" or parts[at + 1 : at + 2] != ["**"]]
    body = "/".join(parts)
    if parts[-2:] == ["**", ""] and len(parts) > 2:
        body += "*/"
    elif parts[-1].rstrip(" ") == "**" and len(parts) > 1:
        body = f"{body.rstrip(' ')}/*"
    for any_depth in ("/**/", "**/"):
        if body.startswith(any_depth) and _is_of_name(rest := body.removeprefix(any_depth)) and rest.strip():
            body = rest
    return body


def _is_beyond(body: str) -> bool:
    """Whether a rule is passed over: its stars would take `re` too long, or `re` reads its class otherwise than git."""
    stars = max(body.count("**"), *(part.count("*") for part in body.split("/")))
    return stars > MAX_STARS or _OTHER_CLASS.search(body) is not None
