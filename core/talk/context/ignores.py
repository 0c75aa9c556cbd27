"""Rules by which git leaves files out: those of a person, of a repository and of its folders, compiled once for a walk."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from core.kernel.opener import read_start
from core.kernel.patterns import late

NAME = ".gitignore"
MAX_BYTES = 256_000
"""Bytes of one file of rules; what stands behind is not read."""
MAX_STARS = 3
"""Stars in one part of a rule, and `**` in one rule: with more, a hostile name keeps `re` busy for minutes."""
MAX_DEPTH = 64
"""Folders below the first rules: what lies deeper is left out where there are rules. A rule with three `**` takes `re`
seconds for one path of a thousand."""
MAX_FILE_PATTERNS, MAX_PATTERNS = 2_000, 5_000
"""Rules with wildcards that are followed of one file, and of all files that hold in a folder; the first ones are.
Each asks something of each entry. Plain names ask nothing: they are looked up."""

_STAR = "[^/]*"
"""Form in which pathspec writes `*`."""
_STARS = late(r"(\\.)|\*{2,}", re.DOTALL)
_CROSSING = late(r"(/?[^*?\\[/]+(?:/[^*?\\[/]+)*)\*\*+(?=(/.*)?\Z)", re.DOTALL)
"""Rule whose first wildcard is `**` behind other characters of its part. Git compares what stands before it by itself, so
that to its matcher the rule begins there, and `foo**/bar` reaches `foox/y/bar`. Source: git `dir.c`, `match_pathname`."""
_ESCAPE = "\\"

_SET = late(r"\[|--|&&|\|\||~~")
"""Marks that Python may once read as sets of sets within a class; classes by a name that nobody knows among it."""

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "cntrl": "\x01-\x1f\x7f",
    "digit": "0-9",
    "graph": '"-~!',
    "lower": "a-z",
    "print": " -~",
    "punct": '"-.:-@{-~_^`!',
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
"""Characters of the classes that git knows by name (`[[:alpha:]]`), which pathspec does not know. None begins with a
mark that turns a class round; `punct` is without brackets and the backslash, which no class of pathspec can hold beside others, and the slash, which no name has."""

_CLASS = late(r"(\[[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*\])|\\.|\[.*", re.DOTALL)
"""A class as a whole, as the group; or a character that is escaped, and begins none; or, where a class ends nowhere, all
the rest: none behind it ends either, and from each bracket the rest would be read again."""
_NAMED_CLASS = late(r"\[:([a-z]+):\]")


class _Rule(msgspec.Struct, frozen=True):
    """One line: what it matches of the entry's name or of its path below the rules' folder, and what it says then.

    Args:
        body: without `!`, in the words of `_written_out`; line: the later one counts.
        pattern: None where the rule has no wildcards.
    """

    body: str
    line: int
    ignores: bool
    pattern: re.Pattern[str] | None = None

    @property
    def is_of_name(self) -> bool:
        """True if it can match at any depth."""
        return _is_of_name(self.body)


class _Kind(msgspec.Struct, frozen=True):
    """The rules of one folder that judge names, or those that judge paths. Folders end in a slash.

    Args:
        plain: line and verdict of the last rule that names an entry outright; ends: of the last `*.x`, by the end from its dot.
        wild: the other rules, the last line first; any_wild: all of them at once, since most entries match none.
        begun: those at once that begin with a letter of their own; needed: a text that each of the others has.
    """

    plain: dict[str, tuple[int, bool]]
    ends: dict[str, tuple[int, bool]]
    wild: tuple[tuple[int, bool, re.Pattern[str]], ...]
    any_wild: re.Pattern[str]
    begun: re.Pattern[str]
    needed: tuple[str, ...]

    def verdict(self, entry: str) -> tuple[int, bool] | None:
        """The answer of the last matching line, None if no line matches."""
        last = self.plain.get(entry) if self.plain else None
        at = entry.find(".") if self.ends else -1
        while at >= 0:
            if (by_end := self.ends.get(entry[at:])) is not None and (last is None or by_end > last):
                last = by_end
            at = entry.find(".", at + 1)
        if self.wild and self._may_match(entry) and self.any_wild.match(entry) is not None:
            for line, ignores, pattern in self.wild:
                if last is not None and line < last[0]:
                    break
                if pattern.match(entry) is not None:
                    return line, ignores
        return last

    def _may_match(self, entry: str) -> bool:
        """False for most entries that match no rule with wildcards, in a fraction of the time that it takes to be sure."""
        for text in self.needed:
            if text in entry:
                return True
        return self.begun.match(entry) is not None


class _Level(msgspec.Struct, frozen=True):
    """The rules of one folder.

    Args:
        start: length of the folder's path with its slash; passed_over: rules that are not followed.
        has_paths: some judge paths.
    """

    start: int
    names: _Kind
    paths: _Kind
    has_paths: bool
    passed_over: int = 0

    @property
    def patterns(self) -> int:
        """Number of rules that ask something of each entry."""
        return len(self.names.wild) + len(self.paths.wild)


class Ignores(msgspec.Struct, frozen=True):
    """The rules that hold in one folder, the nearest first.

    Args:
        files: where rules were read or may appear, for the watch.
        top: folder of the repository; is_left_out: all of the folder is, but for what the repository tracks.
    """

    levels: tuple[_Level, ...] = ()
    files: tuple[str, ...] = ()
    top: str = ""
    is_left_out: bool = False

    @property
    def passed_over(self) -> int:
        """Rules that are not followed: too many of them, or such as nobody may ask of each file."""
        return sum(level.passed_over for level in self.levels)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """True if git would leave out an entry of this folder that it does not track. Of two rules the nearest and last counts."""
        if not self.levels or self.is_left_out:
            return self.is_left_out
        if path.count(os.sep, self.levels[-1].start) > MAX_DEPTH:
            return True
        path = path.replace(os.sep, "/") if os.sep != "/" else path
        name = path[path.rfind("/") + 1 :]
        if is_folder:
            path, name = f"{path}/", f"{name}/"
        is_plain = path.isascii()
        name = name if is_plain else _by_bytes(name)
        for level in self.levels:
            last = level.names.verdict(name)
            below = path[level.start :] if is_plain else _by_bytes(path[level.start :])
            if level.has_paths and (by_path := level.paths.verdict(below)) is not None:
                last = by_path if last is None or by_path > last else last
            if last is not None:
                return last[1]
        return False

    def inside(self, folder: str) -> Ignores:
        """The rules inside a folder that is entered: its own come first, and alone where it is a repository of its own."""
        if not os.path.lexists(os.path.join(folder, ".git")):
            return self if self.is_left_out else self._with(folder, os.path.join(folder, NAME))
        begun = Ignores(files=self.files, top=folder)._with_git()  # noqa: SLF001 (of its own class)
        return begun._with(folder, os.path.join(folder, NAME))  # noqa: SLF001

    def _with_git(self) -> Ignores:
        """The rules that a repository begins with: those of the person, and its own. They may lie behind a link of the person's."""
        persons = excludes_file(self.top)
        return self._with(self.top, persons, follows_links=True)._with(self.top, exclude_file(self.top))  # noqa: SLF001

    def _with(self, folder: str, file: str, *, follows_links: bool = False) -> Ignores:
        text = _read_rules(file, follows_links=follows_links)
        if text is None:
            return self
        left = MAX_PATTERNS - sum(level.patterns for level in self.levels)
        level = _level(len(folder.rstrip(os.sep)) + 1, text, min(left, MAX_FILE_PATTERNS))
        levels = self.levels if level is None else (level, *self.levels)
        return replace(self, levels=levels, files=(*self.files, file))


def ignores_at(folder: str, root: str) -> Ignores:
    """The rules of all folders above one, its own not included.

    They begin where the repository does, which may be above the project. A folder on the way that is itself left
    out was opened or named outright: rules from above it do not count below it.

    Args:
        folder: absolute, links resolved; root: where to begin where there is no repository, at or above `folder`.
    """
    top = _repository(folder) or root
    ignores = Ignores(top=top)
    if os.path.lexists(os.path.join(top, ".git")):
        ignores = ignores._with_git()  # noqa: SLF001 (of its own class)
    files = [os.path.join(top, NAME)]
    at = top
    for part in os.path.relpath(folder, top).split(os.sep) if folder != top else ():
        ignores = ignores.inside(at)
        at = os.path.join(at, part)
        files.append(os.path.join(at, NAME))
        if ignores.leaves_out(at, is_folder=True):
            ignores = replace(ignores, levels=())
    return replace(ignores, files=tuple(dict.fromkeys((*ignores.files, *files))))


def _level(start: int, text: str, most: int) -> _Level | None:
    """The rules of a file, None for none. `most`: wildcards among them that are followed."""
    plain: list[_Rule] = []
    wild: list[_Rule] = []
    rules, beyond = _lines(text)
    for rule in rules:
        (wild if _is_wild(rule.body) else plain).append(rule)
    compiled = [rule for rule in map(_compiled, wild[:most]) if rule.pattern is not None]
    unasked = len(wild[most:]) + beyond
    if not plain and not compiled and not unasked:
        return None
    names, paths = (
        _kind(
            [rule for rule in plain if rule.is_of_name is is_of_name],
            [rule for rule in compiled if rule.is_of_name is is_of_name],
        )
        for is_of_name in (True, False)
    )
    has_paths = bool(paths.plain or paths.wild)
    return _Level(start=start, names=names, paths=paths, has_paths=has_paths, passed_over=unasked)


def _kind(plain: list[_Rule], wild: list[_Rule]) -> _Kind:
    named: dict[str, tuple[int, bool]] = {}
    ends: dict[str, tuple[int, bool]] = {}
    for rule in plain:  # the later line takes the place of the earlier
        is_end = rule.body.startswith("*")
        name = rule.body.removeprefix("/").removeprefix("*").removesuffix("/")
        for entry in (f"{name}/",) if rule.body.endswith("/") else (name, f"{name}/"):
            (ends if is_end else named)[entry] = (rule.line, rule.ignores)
    patterns = tuple((rule.line, rule.ignores, rule.pattern) for rule in reversed(wild) if rule.pattern)
    begun = [rule.pattern for rule in wild if rule.pattern and rule.body[0] not in _UNTOLD]
    needed = [_needed(rule.body) for rule in wild if rule.pattern and rule.body[0] in _UNTOLD]
    return _Kind(
        plain=named,
        ends=ends,
        wild=patterns,
        any_wild=_any_of([pattern for _, _, pattern in patterns]),
        begun=_any_of(begun),
        needed=tuple(dict.fromkeys(needed)),
    )


_UNTOLD = "*?[\\/"
"""Signs at the beginning of a rule behind which it may begin with any letter."""


def _needed(body: str) -> str:
    """The longest text that each entry has which a rule matches; empty for one that tells none before a class or an escape."""
    return max(re.split(r"[*?/]", re.split(r"[\[\\]", body, maxsplit=1)[0]), key=len)


def _any_of(patterns: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern.pattern})" for pattern in patterns) or "(?!)")


def _repository(folder: str) -> str:
    """The nearest folder at or above one that holds `.git`, empty where none does."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def _read_rules(file: str, *, follows_links: bool) -> str | None:
    """The text of a file of rules, a character for each byte; None where there is none that git would read (a link within a project is not followed)."""
    try:
        text = read_start(file, MAX_BYTES, follows_links=follows_links).removeprefix(codecs.BOM_UTF8)
    except OSError:
        return None
    return text.decode("latin-1")


def _by_bytes(entry: str) -> str:
    """A name as git compares it, with a character for each of its bytes: a `?` is one byte of an `é`, which has two."""
    return entry.encode("utf-8", "surrogatepass" if os.name == "nt" else "surrogateescape").decode("latin-1")


def _lines(text: str) -> tuple[list[_Rule], int]:
    """The rules that stand in a text, not yet compiled, in order; of two that are the same the later one. And how many
    are passed over.
    """
    rules: dict[tuple[str, bool], _Rule] = {}
    beyond: set[str] = set()
    for at, raw in enumerate(text.split("\n")):
        line = raw.removesuffix("\r")
        is_negated = line.startswith("!")
        body = _without_last_spaces(line[is_negated:])
        if not body.strip("/") or line.startswith("#"):
            continue
        if _is_beyond(body := _written_out(_without_names(body))):
            beyond.add(body)
            continue
        rules.pop((body, is_negated), None)
        rules[body, is_negated] = _Rule(body=body, line=at, ignores=not is_negated)
    return list(rules.values()), len(beyond)


def _is_wild(body: str) -> bool:
    """True where a rule needs a pattern: neither a name, nor the end of one from a dot on (`*.x`)."""
    bare = body.removeprefix("*") if body.startswith("*.") and _is_of_name(body) else body
    return any(mark in bare for mark in "*?[\\")


def _compiled(rule: _Rule) -> _Rule:
    """The rule with its pattern, without one where git would pass it over too."""
    from pathspec.patterns.gitignore.spec import (
        GitIgnoreSpecPattern,
    )  # only where there are wildcards: it loads slowly

    body = rule.body
    if "**" in body and not rule.is_of_name and (crossing := _CROSSING.match(body)) is not None:
        return _crossing(rule, crossing[1].removeprefix("/"), crossing[2] or "")
    if body[-1].isspace():  # pathspec strips what is not a space, too
        body = f"{body[:-2] if body[-2:-1] == _ESCAPE else body[:-1]}[{body[-1]}]"
    try:
        regex = GitIgnoreSpecPattern(
            f"!{body}"
        ).regex  # `!`: what follows it is neither a comment nor another `!`
    except (ValueError, re.error):
        return rule
    if regex is None:
        return rule
    return replace(rule, pattern=re.compile(_bounded(regex.pattern, is_of_name=rule.is_of_name)))


def _crossing(rule: _Rule, before: str, rest: str) -> _Rule:
    """A rule like `foo**/bar`: its stars pass over folders. `rest`: from the slash behind them on, empty for none."""
    inner = "/" if rest == "/" else ""
    if rest.strip("/"):
        behind = _compiled(replace(rule, body=rest))
        if behind.pattern is None:
            return rule
        inner = behind.pattern.pattern.removeprefix(r"\A(?:").removesuffix(r")\Z").removeprefix("^")
    any_depth = "(?s:.*/)?" if rest.strip("/") else "(?s:.*)"
    return replace(rule, pattern=re.compile(rf"\A(?:{re.escape(before)}{any_depth}(?:{inner}))\Z"))


def _bounded(regex: str, *, is_of_name: bool) -> str:
    """Bounded form of pathspec's pattern, whose time grows with the name alone, not with its power.

    Between two stars the first place that fits is as good as any later one, so `re` need not try those. Groups lose
    their names, so that many patterns can be joined.
    """
    regex = regex.replace("(?P<ps_d>", "(?:")
    if is_of_name:  # a name has no folder before it
        regex = regex.replace("^(?:.+/)?", "^", 1)
    if regex.endswith("|$)"):  # `$` would pass over a line's end
        regex = regex.removesuffix("|$)") + r"|\Z)"
    first, *rest = regex.split(_STAR)
    if rest:
        tried = (f"{_STAR}{part}" if "(?" in part else f"(?>{_STAR}?{part})" for part in rest[:-1])
        regex = "".join([first, *tried, _STAR, rest[-1]])
    if is_of_name:  # it is asked from the name's begin on, also where it speaks of the end alone
        return regex if regex.startswith("^") else f"^{_STAR}{regex}"
    return rf"\A(?:{regex})\Z"


def _is_of_name(body: str) -> bool:
    return "/" not in body.removesuffix("/")


def _without_last_spaces(line: str) -> str:
    """A line without the spaces at its end, as git strips them: no tabs, and none that a backslash escapes."""
    body = line.rstrip(" ")
    escapes = len(body) - len(body.rstrip(_ESCAPE))
    return line[: len(body) + 1] if escapes % 2 else body


def _without_names(body: str) -> str:
    """A rule with the characters of its classes in place of their names."""

    def spelled(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return found[0][:1] + _NAMED_CLASS.sub(lambda name: _CLASSES.get(name[1], name[0]), found[0][1:])

    return _CLASS.sub(spelled, body) if "[:" in body else body


def _written_out(body: str) -> str:
    """A rule in the words in which pathspec means the entries themselves: it takes what lies below one for a match too."""
    crossing = _CROSSING.match(body) if "**" in body else None
    kept = crossing[1].count("/") if crossing is not None and not _is_of_name(body) else -1
    parts = [_as_git_has_stars(part, is_kept=at == kept) for at, part in enumerate(body.split("/"))]
    parts = [part for at, part in enumerate(parts) if part != "**" or parts[at + 1 : at + 2] != ["**"]]
    body = "/".join(parts)
    if parts[-2:] == ["**", ""] and len(parts) > 2:
        body += "*/"
    elif parts[-1] == "**" and len(parts) > 1:
        body += "/*"
    for any_depth in ("/**/", "**/"):
        if body.startswith(any_depth) and _is_of_name(rest := body.removeprefix(any_depth)) and rest.strip():
            body = rest
    return body


def _as_git_has_stars(part: str, *, is_kept: bool) -> str:
    """Stars of one part of a rule as git has them: alone in it, two or more are `**`; beside other characters, they are one.

    Args:
        is_kept: they stand behind all that the rule says without wildcards, as in `foo**/bar`, and are `**` as well.
    """
    if len(part) > 1 and not part.strip("*"):
        return "**"
    if is_kept:
        return f"{part.rstrip('*')}**"
    return _STARS.sub(lambda found: found[1] or "*", part) if "**" in part else part


def _is_beyond(body: str) -> bool:
    """True if a rule is passed over: its stars would take `re` too long, or `re` reads its class otherwise than git."""
    stars = max(body.count("**"), *(part.count("*") for part in body.split("/")))
    return stars > MAX_STARS or (
        "[" in body and any(found[1] and _SET.search(found[1], 1) for found in _CLASS.finditer(body))
    )


# Files of git's own folder: rules of the repository, and its index, whose files no rule leaves out.


MAX_CONFIG_BYTES = 256_000
MAX_INDEX_BYTES = 64_000_000
MAX_NAMES_BYTES = 128_000_000
"""Of all names and folders: those of version 4 share their beginnings, and each name may lie in many folders."""
_HEAD, _FIXED = 12, 62
"""Bytes before the first entry, and before an entry's name, where names of objects are SHA-1."""


def exclude_file(top: str) -> str:
    """The file of a repository's own rules: a linked worktree's are those of the repository that it belongs to, and a
    submodule's lie where its `.git` says.
    """
    return os.path.join(_common_folder(top), "info", "exclude")


def _common_folder(top: str) -> str:
    git = _git_folder(top)
    common = _pointed(os.path.join(git, "commondir"), "")
    return os.path.normpath(os.path.join(git, common)) if common else git


def excludes_file(top: str) -> str:
    """The file of a person's own rules, of all repositories: where their settings say, or those of this one, else in its usual
    place; empty where they say that there is none.

    Files that a configuration includes are not followed. Source: git, git-config, `core.excludesFile` (read 2026-11-30).
    """
    home, environ = os.path.expanduser("~"), os.environ
    folder = os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    own = [os.path.join(home, ".gitconfig"), os.path.join(folder, "config")]
    named = environ.get("GIT_CONFIG_GLOBAL")
    for file in (os.path.join(_common_folder(top), "config"), *(own if named is None else [named])):
        if (said := _setting(file)) is not None:
            return os.path.normpath(os.path.join(top, os.path.expanduser(said))) if said else ""
    return os.path.join(folder, "ignore")


_SECTION = late(r"\s*\[([^\]\n]*)\](.*)", re.DOTALL)
_EXCLUDES = late(r"\s*excludesfile\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = late(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"#;][^"#;]*?))\s*(?:[#;].*)?$', re.DOTALL)


def _setting(file: str) -> str | None:
    """The last `core.excludesFile` of a configuration; None where it has none or cannot be read."""
    try:
        text = read_start(file, MAX_CONFIG_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    section: str = ""
    said: str | None = None
    for line in text.splitlines():
        rest = line
        if (head := _SECTION.match(line)) is not None:
            section, rest = head[1].strip().lower(), head[2]
        if section == "core" and (found := _EXCLUDES.match(rest)) is not None:
            value = _VALUE.match(found[1])
            said = re.sub(r"\\(.)", r"\1", value[1] or value[2] or "") if value is not None else ""
    return None if said is not None and "\0" in said else said


def index_file(top: str) -> str:
    """The file in which a repository, a worktree or a submodule lists what it tracks."""
    return os.path.join(_git_folder(top), "index")


def _git_folder(top: str) -> str:
    git = os.path.join(top, ".git")
    named = _pointed(git, "gitdir:")
    return os.path.normpath(os.path.join(top, named)) if named else git


def _pointed(file: str, begin: str) -> str:
    """Path that a file of git's names, empty where it names no path."""
    try:
        said = (
            read_start(file, 4_096, follows_links=False).decode("utf-8", "surrogateescape").split("\n", 1)[0]
        )
    except OSError:
        return ""
    named = said.removeprefix(begin).strip()
    return named if said.startswith(begin) and "\0" not in named else ""


def tracked(file: str) -> frozenset[bytes]:
    """Paths below the repository that an index names, and the folders above them; none where it cannot be read.

    Source: git, gitformat-index, versions 2 to 4 (read 2026-11-30). What a split index keeps in another file, and an index of
    SHA-256, count as not tracked.
    """
    try:
        at = os.stat(file)
    except OSError:
        return frozenset()
    return _read(file, (at.st_mtime_ns, at.st_size, at.st_ino))


@lru_cache(maxsize=4)
def _read(file: str, stamp: tuple[int, int, int]) -> frozenset[bytes]:
    del stamp  # says when the file is another one
    try:
        data = read_start(file, MAX_INDEX_BYTES, follows_links=False)
        return frozenset(_with_folders(_names(data)))
    except (OSError, ValueError, IndexError):
        return frozenset()


def _names(data: bytes) -> list[bytes]:
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in {2, 3, 4}:
        return []
    names: list[bytes] = []
    at, name, size = _HEAD, b"", 0
    for _ in range(min(count, len(data) // _FIXED)):
        start = at + _FIXED + (2 if version > 2 and data[at + 60] & 0x40 else 0)
        if version == 4:
            shared, start = _number(data, start)
            end = data.index(b"\0", start)
            name = name[: max(0, len(name) - shared)] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at + 8) & ~7
        size += len(name)
        if size > MAX_NAMES_BYTES:
            raise ValueError(size)
        names.append(name)
    return names


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as git packs offsets, and where it ends."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1


def _with_folders(names: list[bytes]) -> set[bytes]:
    found = set(names)
    size = 0
    for name in names:
        above = name.rpartition(b"/")[0]
        while above and above not in found:
            size += len(above)
            if size > MAX_NAMES_BYTES:
                raise ValueError(size)
            found.add(above)
            above = above.rpartition(b"/")[0]
    return found
