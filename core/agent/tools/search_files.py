"""`grep`: lines of files that a regular expression finds, in time that grows with the text alone (RE2)."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

import msgspec

from core.agent.guarded_files import Fence, ToolPath, judge_path, key_reasons, read_guarded
from core.agent.tool import (
    Described,
    Judged,
    Tool,
    ToolAnswer,
    ToolDesk,
    ToolPlaces,
    arguments_of,
    refused,
    schema_of,
)
from core.agent.tools.read_file import judge_read
from core.kernel.figures import count
from core.kernel.frame import frame
from core.kernel.values.agent import ActKind
from core.talk.context.globs import KeyGate, expand, glob_base
from core.talk.context.ignores import ignores_at

# Walk through the project's files for `glob` and `grep`: bounded, by the rules of `.gitignore`, inside the
# folders.

MAX_WALKED = 50_000
"""Files that one walk finds before it is cut."""


class Walk(msgspec.Struct, frozen=True):
    """Finds of a walk.

    Args:
        files: sorted by path, none of them ours; ignored: matches that `.gitignore` left out; is_cut: there are more.
    """

    files: tuple[ToolPath, ...] = ()
    ignored: int = 0
    is_cut: bool = False


def walk(start: ToolPath, pattern: str, places: ToolPlaces, *, with_ignored: bool = False) -> Walk | str:
    """Find the files below a folder whose path matches.

    Args:
        start: a folder that was judged; pattern: with `/`; one without is looked for at any depth.

    Returns:
        The files, or why there are none, a sentence for the model.
    """
    if "\0" in pattern or len(pattern) > 1_000 or ".." in pattern.split("/"):
        return "The pattern is too long, or leaves its folder."
    if pattern.startswith("/"):
        return "The pattern is relative: name the folder by `folder`."
    parts = pattern if "/" in pattern else f"**/{pattern}"
    fence = Fence(places)
    if not any(mark in parts for mark in "*?["):
        return _one(fence.judge(os.path.join(start.path, parts)))
    below, wild = glob_base(parts)
    place = fence.judge(os.path.join(start.path, below)) if below else start
    if place.problem:
        return place.problem
    if not os.path.isdir(place.path):
        return f"There is no folder {place.shown!r}."
    rules = None if with_ignored else ignores_at(place.path, place.root)
    found = expand(place.path, wild, MAX_WALKED, rules)
    files = tuple(entry for entry in map(fence.entry, found.paths) if not entry.problem)
    return Walk(files=files, ignored=found.ignored, is_cut=found.is_too_many)


def _one(place: ToolPath) -> Walk | str:
    if place.problem:
        return place.problem
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(place.path).st_mode):
            return Walk(files=(place,))
    return Walk()


TIMEOUT_S = 20.0
MAX_MATCHES, MAX_LINE_CHARS, MAX_CHARS = 200, 400, 40_000
MAX_SEARCHED_BYTES = 8_000_000
_MEMORY_BYTES = 16 << 20
_SAMPLE_BYTES = 8_192


class Grep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `grep`."""

    pattern: Annotated[
        str,
        Described(description="Regular expression, RE2: no look-around, no back references.", min_length=1),
    ]
    path: Annotated[str, Described(description="A file or a folder; empty: the project.")] = ""
    files: Annotated[str, Described(description="Only files whose path matches, as `*.py`.")] = ""
    ignore_case: bool = False
    context: Annotated[int, Described(description="Lines around each.", ge=0, le=20)] = 0
    names_only: Annotated[bool, Described(description="Only the names of the files.")] = False
    with_ignored: Annotated[bool, Described(description="Also what .gitignore leaves out.")] = False


class GrepPlan(msgspec.Struct, frozen=True):
    """Place that is searched: a file, or a folder."""

    place: ToolPath
    asked: Grep
    is_folder: bool


class _Search:
    """One search: what it found, what it left out, and when it must end."""

    def __init__(self, asked: Grep, desk: ToolDesk, expression: Any) -> None:
        self.asked, self.desk, self.expression = asked, desk, expression
        self.end = time.monotonic() + TIMEOUT_S
        self.blocks: list[str] = []
        self.room = MAX_CHARS
        self.matches = self.files = 0
        self.left_out: dict[str, int] = {}
        self.gate = KeyGate(desk.places.root, desk.places.shown)
        self.stop = ""

    def look_into(self, place: ToolPath, *, is_named: bool) -> None:
        """Search one file; `is_named`: it was asked for by name and judged as such."""
        if not is_named and self.gate.name_reasons(place.path):
            return self._leave("may hold keys or passwords")
        found = read_guarded(place, MAX_SEARCHED_BYTES)
        if found.problem:
            return self._leave("too large or unreadable")
        if found.data is None:
            return None
        if not is_named and found.has_other_names:
            return self._leave("have another name elsewhere (hard links)")
        if b"\0" in found.data[:_SAMPLE_BYTES]:
            return self._leave("binary") if is_named else None
        if self.expression.search(found.data) is None:
            return None
        if not is_named and key_reasons(place, found, self.gate):
            return None  # unsaid: that it was left out would tell that it matches
        rows = list(self._rows(found.data))
        if rows:
            self.files += 1
            self._add(place, rows)
        return None

    def is_over(self) -> bool:
        """True if it must end here; `stop` says why."""
        if self.matches >= MAX_MATCHES or self.room <= 0:
            self.stop = "There is more: narrow the pattern, or search in fewer files."
        elif time.monotonic() > self.end:
            self.stop = f"Stopped after {TIMEOUT_S:.0f} s: search in fewer files."
        elif self.desk.wait(0):
            self.stop = "Stopped."
        return bool(self.stop)

    def _rows(self, data: bytes) -> Iterator[str]:
        lines = data.split(b"\n")
        if lines and lines[-1] == b"":
            lines.pop()
        around = self.asked.context
        shown = -1
        for at, line in enumerate(lines):
            if at % 2_000 == 0 and self.is_over():
                return
            match = self.expression.search(line)
            if match is None:
                continue
            self.matches += 1
            first = max(shown + 1, at - around)
            if around and shown >= 0 and first > shown + 1:
                yield "   --\n"
            for number in range(first, at):
                yield _row(number, "-", lines[number], 0)
            if at > shown:
                yield _row(at, ":", line, match.start())
            shown = max(shown, at)
            if self.asked.names_only or self.matches >= MAX_MATCHES:
                return
            for number in range(at + 1, min(at + 1 + around, len(lines))):
                if self.expression.search(lines[number]) is not None:
                    break
                yield _row(number, "-", lines[number], 0)
                shown = number

    def _add(self, place: ToolPath, rows: list[str]) -> None:
        block = f"{place.shown}\n"
        if not self.asked.names_only:
            block += "".join(rows)
        if len(block) > self.room:
            block = f"{block[: self.room]}\n"
        self.blocks.append(block)
        self.room -= len(block)

    def _leave(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1


def _row(at: int, sign: str, line: bytes, start: int) -> str:
    """A line with its number, cut around the match."""
    if len(line) > MAX_LINE_CHARS:
        first = max(0, min(start - MAX_LINE_CHARS // 4, len(line) - MAX_LINE_CHARS))
        text = line[first : first + MAX_LINE_CHARS].decode("utf-8", "replace")
        return f"{at + 1:>6}{sign} …{text}… [{len(line):,} bytes]\n"
    return f"{at + 1:>6}{sign} {line.rstrip(bytes([13])).decode('utf-8', 'replace')}\n"


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.READ, "Search in files", arguments_json, Grep)
    if isinstance(asked, Judged):
        return asked
    place = judge_path(asked.path or ".", desk.places)
    title = f"Search for {asked.pattern}"
    if place.problem:
        return refused(ActKind.READ, title, place.problem)
    compiled = _compiled(asked)
    if isinstance(compiled, str):
        return refused(ActKind.READ, title, compiled)
    if os.path.isdir(place.path):
        return Judged(
            kind=ActKind.READ,
            title=title,
            detail=place.path,
            plan=GrepPlan(place=place, asked=asked, is_folder=True),
        )
    return judge_read(
        ActKind.READ, title, place, GrepPlan(place=place, asked=asked, is_folder=False), desk.places
    )


def _compiled(asked: Grep) -> Any:
    """The regular expression over bytes, or a sentence that says why the pattern is invalid."""
    import re2

    options = re2.Options()
    options.case_sensitive = not asked.ignore_case
    options.max_mem = _MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(f"(?m){asked.pattern}".encode("utf-8", "replace"), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        return f"This is no regular expression of RE2: {said}"


def _run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    plan: GrepPlan = judged.plan
    asked = plan.asked
    search = _Search(asked, desk, _compiled(asked))
    if not plan.is_folder:
        search.look_into(plan.place, is_named=True)
        return ToolAnswer(text=_text(search, Walk()))
    found = walk(plan.place, asked.files or "**/*", desk.places, with_ignored=asked.with_ignored)
    if isinstance(found, str):
        return ToolAnswer(text=found, is_error=True)
    if found.is_cut:
        said = f"There are more than {MAX_WALKED:,} files, or they take too long: search in fewer of them."
        return ToolAnswer(text=said, is_error=True)
    for place in found.files:
        if search.is_over():
            break
        if not os.path.islink(place.path):  # a link is found where it leads
            search.look_into(place, is_named=False)
    return ToolAnswer(text=_text(search, found))


def _text(search: _Search, found: Walk) -> str:
    said = [f"{search.stop}\n"] if search.stop else []
    said += [f"{count(number, 'file')} left out: {why}.\n" for why, number in sorted(search.left_out.items())]
    if found.ignored:
        said.append(
            f"{count(found.ignored, 'file or folder is', 'files and folders are')} left out by .gitignore.\n"
        )
    if not search.blocks:
        return "".join(["Nothing found.\n", *said])
    body = "".join(search.blocks) if search.asked.names_only else "\n".join(search.blocks)
    return frame("matches", body, pattern=search.asked.pattern, files=f"{search.files}") + "".join(said)


TOOL = Tool(
    schema=schema_of(
        "grep",
        "Searches the project's files for lines that match a regular expression. What .gitignore leaves out, binary "
        "files and files of keys are left out.",
        Grep,
    ),
    kind=ActKind.READ,
    judge=_judge,
    run=_run,
)


# `glob`: names of files that a pattern finds.

MAX_NAMES = 500


class GlobFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `glob`."""

    pattern: Annotated[
        str, Described(description="As `src/**/*.py`; `*` is one name, `**` any folders.", min_length=1)
    ]
    folder: Annotated[str, Described(description="Where to begin; empty: the project.")] = ""
    with_ignored: Annotated[bool, Described(description="Also what .gitignore leaves out.")] = False


def _glob_judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.READ, "Find files", arguments_json, GlobFiles)
    if isinstance(asked, Judged):
        return asked
    title = f"Find files {asked.pattern}"
    place = judge_path(asked.folder or ".", desk.places)
    if place.problem:
        return refused(ActKind.READ, title, place.problem)
    return Judged(kind=ActKind.READ, title=title, detail=place.path, plan=(place, asked))


def _glob_run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    place, asked = judged.plan
    walked = walk(place, asked.pattern, desk.places, with_ignored=asked.with_ignored)
    if isinstance(walked, str):
        return ToolAnswer(text=walked, is_error=True)
    return ToolAnswer(text=_glob_text(walked, asked))


def _glob_text(walked: Walk, asked: GlobFiles) -> str:
    names = [place.shown for place in walked.files[:MAX_NAMES]]
    rest = len(walked.files) - len(names)
    said = [f"{rest:,} more: narrow the pattern.\n"] if rest else []
    if walked.is_cut:
        return (
            f"More than {MAX_WALKED:,} files match, or it takes too long: narrow the pattern or the folder.\n"
        )
    if walked.ignored:
        said.append(f"{walked.ignored:,} are left out by .gitignore.\n")
    if not names:
        return "".join(["Nothing found. Hidden folders are entered only when named.\n", *said])
    return frame("files", "\n".join(names), pattern=asked.pattern) + "".join(said)


GLOB = Tool(
    schema=schema_of(
        "glob",
        "Finds files of the project by their names. What .gitignore leaves out is left out; hidden folders are entered "
        "only when named.",
        GlobFiles,
    ),
    kind=ActKind.READ,
    judge=_glob_judge,
    run=_glob_run,
)
