"""Rounds of tools that are over, folded: runs of calls and their results, each a line that opens. Pure but for the line."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.discussion import HAND_OVER
from core.kernel.values.messages import (
    CallEnd,
    Entry,
    Message,
    Role,
    Status,
    ToolCallPart,
    ToolResultPart,
)
from panels.base.desk import Desk
from panels.base.ui import Tone
from panels.discussion.view import DiscussionView, MessageKey

KINDS: dict[str, tuple[str, str]] = {
    "bash": (tr("command"), tr("commands")),
    "delegate": (tr("task"), tr("tasks")),
    "edit_file": (tr("edit"), tr("edits")),
    "glob": (tr("search"), tr("searches")),
    "grep": (tr("search"), tr("searches")),
    "read_file": (tr("read"), tr("reads")),
    "read_note": (tr("read"), tr("reads")),
    "search_notes": (tr("search"), tr("searches")),
    "view_image": (tr("picture"), tr("pictures")),
    "web_fetch": (tr("page"), tr("pages")),
    "write_file": (tr("write"), tr("writes")),
}
"""Nouns of what our tools do, one and many; every other call is a call."""
OTHER = (tr("call"), tr("calls"))
KINDS_SHOWN = 4


class Rounds(msgspec.Struct, frozen=True):
    """A run of rounds, whose answers have all arrived.

    Args:
        entries: the reply that asked first, the answers, and so on; lead: a reply with words, shown above the line without its calls.
        start: place of the first entry in the conversation.
    """

    id: str
    entries: tuple[Message, ...]
    start: int
    lead: bool
    is_open: bool


class Lead(msgspec.Struct, frozen=True):
    """A reply with words that began a run which is folded: its calls are in the line below."""

    message: Message


Row = Entry | Rounds | Lead


class FoldedRows(msgspec.Struct, frozen=True):
    """Rows of a conversation's entries, with the entry at which each begins. `total`: of the entries."""

    rows: tuple[Row, ...] = ()
    starts: tuple[int, ...] = ()
    total: int = 0

    def row_of(self, entry: int) -> int:
        """The row that shows an entry, or its run."""
        if entry < 0 or entry >= self.total:
            return entry if entry < 0 else len(self.rows) + entry - self.total
        at = bisect_left(self.starts, entry)
        return at if at < len(self.starts) and self.starts[at] == entry else at - 1

    def entry_of(self, row: int) -> int:
        """The entry at which a row begins; what stands behind them all counts on."""
        return self.starts[row] if row < len(self.rows) else self.total + row - len(self.rows)


def folded_rows(
    entries: tuple[Entry, ...],
    opened: Collection[str],
    whole: Callable[[Message], bool],
    found: int = -1,
) -> FoldedRows:
    """Fold every run of rounds that is over. O(entries).

    Args:
        opened: ids of runs that the person opened; whole: whether a message must be in view by itself.
        found: the entry that a search stands on, which is in view whatever is folded.
    """
    rows: list[Row] = []
    starts: list[int] = []
    place = 0
    while place < len(entries):
        run = _run_at(entries, place, whole)
        if run is None:
            rows.append(entries[place])
            starts.append(place)
            place += 1
            continue
        is_open = run.id in opened or run.start + run.lead <= found < run.start + len(run.entries)
        for row, at in _rows_of(run, is_open=is_open):
            rows.append(row)
            starts.append(at)
        place += len(run.entries)
    return FoldedRows(rows=tuple(rows), starts=tuple(starts), total=len(entries))


def _rows_of(run: Rounds, *, is_open: bool) -> Iterator[tuple[Row, int]]:
    """The line of a run with what stands above and, where it is open, below."""
    shown = msgspec.structs.replace(run, is_open=is_open)
    first = run.entries[0]
    if run.lead:
        yield (first if is_open else Lead(first)), run.start
    yield shown, run.start
    if is_open:
        inside = run.entries[1:] if run.lead else run.entries
        yield from ((entry, run.start + number + run.lead) for number, entry in enumerate(inside))


def _run_at(entries: tuple[Entry, ...], start: int, whole: Callable[[Message], bool]) -> Rounds | None:
    """The run that begins with an entry, None where none does."""
    place, found = start, 0
    while (answers := _answers_at(entries, place, whole, is_first=place == start)) > 0:
        place += answers
        found += 1
    if not found:
        return None
    run = tuple(entry for entry in entries[start:place] if isinstance(entry, Message))
    return Rounds(id=run[0].id, entries=run, start=start, lead=bool(run[0].text.strip()), is_open=False)


def _answers_at(
    entries: tuple[Entry, ...], place: int, whole: Callable[[Message], bool], *, is_first: bool
) -> int:
    """Number of entries of one round: the reply and the messages of its results; 0 where it is none that folds."""
    asked = entries[place] if place < len(entries) else None
    if not isinstance(asked, Message) or not _is_folding(asked, whole) or asked.role is not Role.ASSISTANT:
        return 0
    if not is_first and asked.text.strip():
        return 0
    open_ids = {part.call_id for part in asked.parts if isinstance(part, ToolCallPart)}
    at = place + 1
    while open_ids and at < len(entries):
        answer = entries[at]
        if not isinstance(answer, Message) or answer.role is not Role.TOOL or not _is_folding(answer, whole):
            return 0
        open_ids -= {part.call_id for part in answer.parts if isinstance(part, ToolResultPart)}
        at += 1
    return at - place if not open_ids and at > place + 1 else 0


WHOLE = frozenset({"delegate", HAND_OVER})
"""Tools whose calls a person acts on: a task to open, words that are theirs to answer."""


def _is_folding(message: Message, whole: Callable[[Message], bool]) -> bool:
    is_whole = message.status is Status.COMPLETE or message.role is Role.TOOL
    has_call = any(isinstance(part, ToolCallPart) and part.name in WHOLE for part in message.parts)
    return is_whole and not message.is_deleted and not has_call and not whole(message)


def run_words(run: Rounds) -> str:
    """Words of a run: `4 reads, 1 edit · 12 s · $0.02`."""
    calls = Counter(
        KINDS.get(part.name, OTHER)
        for message in run.entries
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )
    shown = calls.most_common(KINDS_SHOWN)
    named = [fmt.count(number, *kind) for kind, number in shown]
    if rest := calls.total() - sum(number for _, number in shown):
        named.append(tr("{rest:,} more", rest=rest))
    return " · ".join(filter(None, (", ".join(named), _span(run), _cost(run))))


def _span(run: Rounds) -> str:
    """Time from the first request to the last answer."""
    first, usage = run.entries[0], run.entries[0].usage
    asked_s = (usage.duration_s or 0.0) if usage is not None else 0.0
    return fmt.span(max(0.0, (run.entries[-1].at - first.at).total_seconds()) + asked_s)


def _cost(run: Rounds) -> str:
    """Cost of the replies that asked; unknown where one of them is."""
    used = [message.usage for message in run.entries if message.role is Role.ASSISTANT]
    known = [one for one in used if one is not None]
    costs = [one.cost_usd for one in known]
    if not known:
        return ""
    total = None if len(known) < len(used) or None in costs else sum(cost or 0.0 for cost in costs)
    return fmt.money(total, is_estimate=any(one.is_estimate for one in known))


def ended_otherwise(run: Rounds) -> tuple[str, Tone]:
    """Words on calls that did not end well, with their colour; empty where all was done."""
    ends = Counter(
        part.end(message.status)
        for message in run.entries
        for part in message.parts
        if isinstance(part, ToolResultPart)
    )
    failed, others = (
        ends[CallEnd.FAILED],
        [
            (CallEnd.REFUSED, tr("refused")),
            (CallEnd.INTERRUPTED, tr("interrupted")),
        ],
    )
    said = [tr("{failed:,} failed", failed=failed)] if failed else []
    said += [f"{ends[end]:,} {words}" for end, words in others if ends[end]]
    return ", ".join(said), "error" if failed else "warn"


def rounds_row(desk: Desk, own: DiscussionView, key: MessageKey, run: Rounds) -> None:
    """Draw the line of a run; a click opens or folds it."""
    ui = desk.ui
    called, words, tone = desk.view.memo.get(
        ("rounds", *key), (run,), lambda: (run_words(run), *ended_otherwise(run))
    )
    tip = tr("Collapse these calls to one line") if run.is_open else tr("Show these calls and their results")
    with ui.row("rounds", gap=6):
        icon = "chevron-down" if run.is_open else "chevron-right"
        if ui.button("fold", called, icon=icon, kind="ghost", is_small=True, tip=tip):
            own.open_rounds ^= {key}
        if words:
            ui.text("ends", words, tone=tone, style="small")
