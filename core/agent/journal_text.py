"""The journal's text: entries under their times, parsed from whatever a person made of the file, and written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from core.kernel.figures import count
from core.kernel.frame import clean, one_line, size_bytes
from core.kernel.patterns import late
from core.kernel.tokens import estimate_tokens

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?"
_HEAD = late(rf"## ({_TIME})(?:[ \t]+[—–-][ \t]+(.*?))?[ \t]*")
_HEAD_LIKE = late(rf"^(?=##[ \t]+{_TIME})", re.MULTILINE)
_MARK = late(r"<!-- discussion ([^\s<>]{1,120}) -->[ \t]*")
TITLE_CHARS = 120
LINE_CHARS = 160
MAX_ENTRY_CHARS = 20_000
"""A longer entry is kept in the file and shown cut."""


class JournalEntry(msgspec.Struct, frozen=True):
    """An entry.

    Args:
        at: its time, UTC, whole seconds; title: may be empty; text: without its head, LF, no blank lines at its ends.
        discussion_id: of the discussion that wrote it; empty: a person did, and it covers nothing.
    """

    at: datetime
    title: str = ""
    text: str = ""
    discussion_id: str = ""

    @property
    def head(self) -> str:
        """Its heading, one line."""
        return f"## {timestamp(self.at)}" + (f" — {self.title}" if self.title else "")

    @property
    def short(self) -> str:
        """Time and first line alone, one line."""
        first = self.title or one_line(self.text, LINE_CHARS)
        return f"## {timestamp(self.at)}" + (f" — {first}" if first else "")


def timestamp(at: datetime) -> str:
    """A time as the journal writes it: ISO 8601, UTC, seconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at.year >= 1000 else at.isoformat()


def new_entry(at: datetime, title: str, text: str, discussion_id: str) -> JournalEntry:
    """An entry as the program stamps it.

    Lines of the text that would read as the head of another entry, or as the mark of its discussion, are indented.
    """
    body = clean(text).strip("\n")
    body = _HEAD_LIKE.sub(" ", body)
    body = f" {body}" if _MARK.match(body) else body
    heading = one_line(clean(title), TITLE_CHARS).strip()
    return JournalEntry(
        at=at.astimezone(UTC).replace(microsecond=0),
        title=heading,
        text=body.rstrip(),
        discussion_id=discussion_id,
    )


def written(entry: JournalEntry) -> str:
    """Text of an entry as it is appended to the journal file, a blank line behind it."""
    mark = f"<!-- discussion {entry.discussion_id} -->\n" if entry.discussion_id else ""
    body = f"{entry.text}\n" if entry.text else ""
    return f"{entry.head}\n{mark}{body}\n"


def parsed(text: str) -> tuple[JournalEntry, ...]:
    """Entries of a journal, sorted by time, those of one time as they stand. Takes any text and raises nothing.

    A heading without a time that there is belongs to the entry before it; text before the first heading is no entry.
    """
    found: list[JournalEntry] = []
    head: tuple[datetime, str] | None = None
    lines: list[str] = []
    for line in clean(text).split("\n"):
        begun = _head_of(line)
        if begun is None:
            lines.append(line)
            continue
        if head is not None:
            found.append(_entry(head, lines))
        head, lines = begun, []
    if head is not None:
        found.append(_entry(head, lines))
    return tuple(sorted(found, key=lambda entry: entry.at))


def tokens_of(text: str) -> int:
    """Tokens of a text, from its size alone: the same on every machine."""
    return estimate_tokens(size_bytes(text))


def shown(entries: Sequence[JournalEntry], budget: int, sources: dict[str, str] | None = None) -> str:
    """The journal as a model sees it, oldest first: the newest entries whole, of older ones the head.

    Args:
        entries: sorted; budget: tokens, 70 % for whole entries, 30 % for heads.
        sources: names of other discussions whose entries may stand here, by id. None: whose entries these are is not said.

    Returns:
        Text of at most `budget` tokens; empty where nothing fits.
    """
    whole_room, head_room = budget * 7 // 10, budget * 3 // 10
    rows: list[str] = []
    is_whole = True
    for entry in reversed(entries):
        source = _source(entry, sources)
        if is_whole:
            row = _row(entry, source)
            if (tokens := tokens_of(row)) <= whole_room:
                whole_room -= tokens
                rows.append(row)
                continue
            is_whole = False
        row = f"{entry.short}{source}\n"
        tokens = tokens_of(row)
        if tokens > head_room:
            break
        head_room -= tokens
        rows.append(row)
    return "".join(reversed(rows))


def covering(entries: Iterable[JournalEntry], discussion_id: str, now: datetime) -> JournalEntry | None:
    """The newest entry of a discussion, whose older messages it covers; one from the future covers nothing."""
    own = (entry for entry in entries if entry.discussion_id == discussion_id and entry.at <= now)
    return max(own, key=lambda entry: entry.at, default=None) if discussion_id else None


def without_discussions(text: str, discussion_ids: Collection[str]) -> tuple[str, int]:
    """A journal without the entries of discussions, every other byte as it was; and how many there were.

    Args:
        text: LF; an entry ends where the next one's head begins.
    """
    kept: list[str] = []
    count, goes = 0, False
    *whole, last = text.split("\n")
    lines = [*(f"{line}\n" for line in whole), *([last] if last else [])]
    for number, line in enumerate(lines):
        if _head_of(line.rstrip("\n")) is not None:
            after = lines[number + 1].rstrip("\n") if number + 1 < len(lines) else ""
            mark = _MARK.fullmatch(after)
            goes = mark is not None and mark[1] in discussion_ids
            count += goes
        if not goes:
            kept.append(line)
    return ("".join(kept), count) if count else (text, 0)


def _row(entry: JournalEntry, source: str) -> str:
    text = entry.text
    if len(text) > MAX_ENTRY_CHARS:
        text = f"{text[:MAX_ENTRY_CHARS]}\n[{count(len(text) - MAX_ENTRY_CHARS, 'more character stands', 'more characters stand')} in the journal]"
    return f"{entry.head}{source}\n{text}\n\n" if text else f"{entry.head}{source}\n\n"


def _source(entry: JournalEntry, sources: dict[str, str] | None) -> str:
    if sources is None or entry.discussion_id == "":
        return "" if sources is None else " (written by hand)"
    name = sources.get(entry.discussion_id, "")
    return f" (of another discussion: {one_line(name, TITLE_CHARS)})" if name else ""


def _entry(head: tuple[datetime, str], lines: list[str]) -> JournalEntry:
    at, title = head
    mark = _MARK.fullmatch(lines[0]) if lines else None
    body = "\n".join(lines[1:] if mark else lines).strip("\n").rstrip()
    return JournalEntry(
        at=at, title=one_line(title, TITLE_CHARS), text=body, discussion_id=mark[1] if mark else ""
    )


def _head_of(line: str) -> tuple[datetime, str] | None:
    match = _HEAD.fullmatch(line)
    if match is None:
        return None
    try:
        at = datetime.fromisoformat(match[1])
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return at.replace(microsecond=0), (match[2] or "").strip()
