"""Tool calls and results in a message: rounds in a row as one line, each call folded, whole on a click."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping

import msgspec

from core.agent.agent_messages import KillCommands
from core.agent.delegation import questions_of
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.agent import AgentTurn, CallState, ToolCall
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
from panels.base.ui import Tone, Ui
from panels.base.view import Memo
from panels.discussion.approvals import approval_card
from panels.discussion.tool_mode import (
    COMMANDS,
    LINE_FROM_PX,
    QUIET,
    STATES,
    asked_by,
    call_summary,
    shown_arguments,
    state_words,
    tail_text,
    task_link,
    task_words,
    tool_icon,
    tool_label,
)
from panels.discussion.view import DiscussionView, MessageKey

FOLDED_LINES, FOLDED_CHARS = 6, 1_200
"""Lines and characters of a folded result."""


Calls = Mapping[tuple[str, str], ToolCallPart]
"""Calls that were answered, by the message of the answer and the call's id."""


def answered_calls(memo: Memo, entries: tuple[Entry, ...]) -> Calls:
    """Every call that has a result. O(messages) once for each list of them."""
    return memo.get("answered calls", (entries,), lambda: _answered(entries))


def _answered(entries: tuple[Entry, ...]) -> Calls:
    """The newest call of its id before each result: some servers begin anew with each reply."""
    newest: dict[str, ToolCallPart] = {}
    answered: dict[tuple[str, str], ToolCallPart] = {}
    for message in entries:
        if not isinstance(message, Message) or message.is_deleted:
            continue
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                newest[part.call_id] = part
            elif isinstance(part, ToolResultPart) and part.call_id in newest:
                answered[message.id, part.call_id] = newest[part.call_id]
    return answered


def quiet_words(message: Message, calls: Calls) -> str:
    """Words of a message of results, where it only says that something was done; empty where it says more."""
    said: list[str] = []
    for part in message.parts:
        if not isinstance(part, ToolResultPart):
            return ""
        words = _quiet(part, message, calls.get((message.id, part.call_id)))
        if not words:
            return ""
        said.append(words)
    return " · ".join(dict.fromkeys(said))


def _quiet(part: ToolResultPart, message: Message, call: ToolCallPart | None) -> str:
    is_done = part.end(message.status) is CallEnd.DONE and not part.attachments
    return QUIET.get(call.name, "") if call is not None and is_done else ""


def tool_parts(desk: Desk, key: MessageKey, message: Message, calls: Calls) -> None:
    """Draw the calls and results of a message. Sends SelectDiscussion."""
    own, ui = desk.view.of(DiscussionView), desk.ui
    for index, part in enumerate(message.parts):
        match part:
            case ToolCallPart():
                _call(desk, own, (*key, index), part)
            case ToolResultPart():
                call = calls.get((message.id, part.call_id))
                if words := _quiet(part, message, call):
                    quiet_line(ui, ("result", index), words)
                else:
                    _result(own, ui, (*key, index), part, part.end(message.status), call)
            case _:
                pass


def _call(desk: Desk, own: DiscussionView, place: tuple[str, str, int], part: ToolCallPart) -> None:
    ui, is_open = desk.ui, place in own.open_tools
    with ui.group(("call", place[2]), gap=4):
        with ui.row("line", gap=6):
            tip = tr("Hide the arguments") if is_open else tr("Show the arguments")
            icon = "chevron-down" if is_open else "chevron-right"
            if ui.button("fold", "", icon=icon, kind="ghost", is_small=True, tip=tip):
                own.open_tools ^= {place}
            ui.icon("icon", tool_icon(part.name), tone="cyan")
            ui.text("name", tool_label(part.name), style="small_strong", tip=part.name)
            ui.text(
                "summary",
                call_summary(part.name, "", part.arguments_json),
                tone="muted",
                style="small",
                width=0,
            )
            task_link(desk, place[0], part.name, part.call_id)
        if is_open:
            ui.code("arguments", shown_arguments(part.arguments_json), language="json")


def quiet_line(ui: Ui, key: Hashable, words: str) -> None:
    """Draw what a tool did that has no more to say."""
    icon, tone, _ = STATES[CallState.DONE]
    with ui.row(key, gap=6):
        ui.icon("icon", icon, tone=tone)
        ui.text("words", words, tone="muted", style="small", width=0, wraps=True)


def _result(
    own: DiscussionView,
    ui: Ui,
    place: tuple[str, str, int],
    part: ToolResultPart,
    end: CallEnd,
    call: ToolCallPart | None,
) -> None:
    is_open = place in own.open_tools
    lines = part.text.count("\n") + 1
    is_long = lines > FOLDED_LINES or len(part.text) > FOLDED_CHARS
    with ui.group(("result", place[2]), gap=4):
        with ui.row("line", gap=6):
            icon, tone, words = STATES[CallState(end)]
            ui.icon("icon", icon, tone=tone)
            name = tool_label(call.name) if call is not None else tr("The tool")
            is_done = end is CallEnd.DONE
            said = f"{name}: {tr('answered') if is_done else words}"
            tone = "muted" if is_done else tone
            summary = call_summary(call.name, "", call.arguments_json) if call is not None else ""
            is_narrow = 0 < ui.width() < LINE_FROM_PX
            if is_narrow:
                ui.text("words", said, tone=tone, style="small", width=0, wraps=True)
            else:
                ui.text("words", said, tone=tone, style="small")
                ui.text("summary", summary, tone="faint", style="small", width=0)
            if is_long:
                size = fmt.count(lines, tr("line"), tr("lines")) if lines > 1 else fmt.size(len(part.text))
                label = tr("Show less") if is_open else tr("Show all {size}", size=size)
                if ui.button("fold", label, kind="link", is_small=True):
                    own.open_tools ^= {place}
        if is_narrow:
            ui.text("summary", summary, tone="faint", style="small", width=0)
        is_command = call is not None and call.name in COMMANDS
        shown = part.text if is_open or not is_long else folded(part.text, at_end=is_command)
        if shown := shown.rstrip("\n"):
            ui.code("answer", shown)


def folded(text: str, *, at_end: bool = False) -> str:
    """Start of a result, or its end, where a command says how it went; with a mark that there is more."""
    if at_end:
        tail = "\n".join(text.rstrip("\n")[-FOLDED_CHARS:].split("\n")[-FOLDED_LINES:])
        return f"… {tail}"
    head = "\n".join(text[:FOLDED_CHARS].split("\n")[:FOLDED_LINES])
    return f"{head} …"


def parts_px(message: Message, line_px: float) -> float:
    """A guess of the height of a message's calls and results while they are folded."""
    height = 0.0
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            height += 28.0
        elif isinstance(part, ToolResultPart):
            height += 52.0 + line_px * min(FOLDED_LINES, part.text.count("\n", 0, FOLDED_CHARS) + 1)
    return height


# The calls of a running turn in the conversation: what waits for a person first, then what runs, then how
# many are left.

SHOWN = 6
TAIL_LINES = 6


def has_calls(turn: AgentTurn | None) -> bool:
    """True while calls of the turn's last reply have no result."""
    return turn is not None and any(not call.state.is_over for call in turn.calls)


def turn_row(desk: Desk, turn: AgentTurn) -> None:
    """Draw what the turn's calls do, with the first question that waits. Sends CancelReply, KillCommands and the answers."""
    ui = desk.ui
    with ui.surface("turn", "card", padding=(16, 12)), ui.group("parts"):
        _head(desk, turn)
        running = [call for call in turn.calls if call.state is CallState.RUNNING]
        for call in running[:SHOWN]:
            _running(desk, turn, call)
        waiting = questions_of(desk.state, turn.discussion_id)
        if waiting:
            asked_by(desk, turn.discussion_id, waiting[0][0])
            approval_card(desk, *waiting[0])
        _rest(ui, turn, len(running) - len(running[:SHOWN]), len(waiting))


def _head(desk: Desk, turn: AgentTurn) -> None:
    ui = desk.ui
    with ui.row("head"):
        ui.icon("icon", "wrench", tone="cyan")
        ui.text("name", tr("Tools"), style="strong")
        ui.text("round", tr("round {rounds:,}", rounds=turn.rounds), tone="muted", style="small", width=0)
    if turn.is_left:
        ui.text(
            "left",
            tr("These calls began before the program ended: each asks you first."),
            tone="muted",
            style="small",
            wraps=True,
        )


def _running(desk: Desk, turn: AgentTurn, call: ToolCall) -> None:
    ui = desk.ui
    is_narrow = 0 < ui.width() < LINE_FROM_PX
    state, summary = (
        state_words(call, desk.state.now),
        call_summary(call.name, call.summary, call.arguments_json),
    )
    with ui.group(("running", call.id), gap=4):
        with ui.row("line"):
            ui.icon("icon", tool_icon(call.name), tone="accent")
            ui.text(
                "name",
                tool_label(call.name),
                style="small_strong",
                tip=call.name,
                width=0 if is_narrow else None,
            )
            if not is_narrow:
                ui.text("summary", summary, style="small", tone="muted", width=0)
                ui.text("state", state, tone="muted", style="small")
            task_link(desk, turn.discussion_id, call.name, call.id)
            if call.name in COMMANDS and ui.button(
                "kill", "", icon="stop", kind="ghost", is_small=True, tip=tr("End this command")
            ):
                desk.send(KillCommands(turn.discussion_id, call.id))
        if is_narrow:
            ui.text("summary", summary, style="small", tone="muted", width=0)
            ui.text("state", state, tone="muted", style="small", width=0)
        if call.tail:
            ui.code("tail", tail_text(call.tail, TAIL_LINES))
        if words := task_words(desk.state, turn.discussion_id, call.id):
            ui.text("task", words, tone="muted", style="small", width=0)


def _rest(ui: Ui, turn: AgentTurn, more: int, waiting: int) -> None:
    """Say how many calls stand otherwise."""
    counted = Counter(call.state for call in turn.calls)
    said = [tr("{more:,} more running", more=more)] if more > 0 else []
    said += (
        [
            tr("1 more question after this one")
            if waiting == 2
            else tr("{more:,} more questions after this one", more=waiting - 1)
        ]
        if waiting > 1
        else []
    )
    states = (CallState.PREPARING, CallState.DONE, CallState.FAILED, CallState.REFUSED, CallState.INTERRUPTED)
    said += [f"{counted[state]:,} {_words(state, counted[state])}" for state in states if counted[state]]
    if said:
        ui.text("rest", " · ".join(said), tone="muted", style="small", wraps=True)


def _words(state: CallState, count: int) -> str:
    if state is CallState.PREPARING:
        return tr("waits its turn") if count == 1 else tr("wait their turn")
    return STATES[state][2]


# Rounds of tools that are over, folded: runs of calls and their results, each a line that opens. Pure but
# for the line.

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
    """Number of entries of one round: the reply and the messages of its results; 0 for a round that does not fold."""
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
