"""Autonomy in the Agent panel: start and stop beside the day's cap, state and countdown, spend, notes and what it said."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime

import msgspec

from core.agent.agent_messages import StartAutonomy, StopAutonomy
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.agent import Attention, Autonomy, LoopNote
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Message, Role
from core.kernel.values.updates import is_under_way, outcome_of
from core.kernel.values.window import ContextWindow
from core.talk.context.token_scale import (
    FULL_PERCENT,
    TOLD_PERCENT,
    USED_PERCENT,
    context_window,
    is_full,
    is_told,
)
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.agent.agent_room import AgentView
from panels.base.desk import Desk
from panels.base.gauge import NAME
from panels.base.ui import Tone, Ui
from panels.base.view import Same
from panels.caching.spending import PER_DAY, amount_row, day_line

# The state of the autonomous discussion in words: icon, tone, state and countdown. For the panel and the
# status bar.

ICONS: dict[Attention, str] = {
    Attention.ENGAGED: "comments",
    Attention.WORKING: "gear",
    Attention.FORAGING: "magnifying-glass",
    Attention.RESTING: "moon",
    Attention.STORED: "box-archive",
    Attention.DREAMING: "wheat-awn",
}
NAMES: dict[Attention, str] = {
    Attention.ENGAGED: tr("Engaged"),
    Attention.WORKING: tr("Working"),
    Attention.FORAGING: tr("Foraging"),
    Attention.RESTING: tr("Resting"),
    Attention.STORED: tr("Stored"),
    Attention.DREAMING: tr("Dreaming"),
}
MEANINGS: dict[Attention, str] = {
    Attention.ENGAGED: tr("You have just used the program, so the model waits for you"),
    Attention.WORKING: tr("The model is working with tools"),
    Attention.FORAGING: tr("The discussion has no work in progress: the model looks for unfinished work"),
    Attention.RESTING: tr("The model does nothing for a while, then looks for new work again"),
    Attention.STORED: tr("The discussion does nothing until you write a message"),
    Attention.DREAMING: tr("The model reads conversations for useful knowledge, and applies nothing"),
}


def autonomy_words(autonomy: Autonomy, now: datetime | None) -> tuple[str, Tone, str]:
    """Icon, tone and words: `Foraging · next turn in 0:21`."""
    name = NAMES[autonomy.state]
    if autonomy.stopped:
        return "circle-pause", "warn", tr("Waits for your message")
    if autonomy.message_id:
        return ICONS[autonomy.state], "accent", tr("{state} · a turn runs", state=name)
    if autonomy.next_at is None or now is None:
        return ICONS[autonomy.state], "muted", name
    left = fmt.countdown((autonomy.next_at - now).total_seconds())
    return (
        ICONS[autonomy.state],
        "muted",
        tr("{state} · next turn in {countdown}", state=name, countdown=left),
    )


NEWEST = 10_000
ROW_PX, LINE_PX, LINE_CHARS = 40.0, 20.0, 60
WHAT = tr(
    "With autonomy, the discussion goes on without you. The model works, looks around and rests; signals wake it. When autonomy starts, your approvals for this discussion end. Calls that need approval wait for you."
)


class SaidAlone(msgspec.Struct, frozen=True):
    """Words of an autonomous turn, with the model's reasoning, may be empty."""

    id: str
    at: datetime
    text: str
    reasoning: str = ""


LoopLine = LoopNote | SaidAlone


class LoopRows(msgspec.Struct, frozen=True):
    """Notes of the loop and what the model said alone, as rows of a virtual list, oldest first.

    Args:
        unfolded: ids of what was said whose reasoning is shown; draw_row: draws one.
    """

    lines: tuple[LoopLine, ...]
    unfolded: frozenset[str]
    draw_row: Callable[[LoopLine, Ui], None]

    @property
    def revision(self) -> Hashable:
        """Changes with the lines and with what is unfolded."""
        return Same(self.lines, self.unfolded)

    def __len__(self) -> int:
        return len(self.lines)

    def key(self, index: int) -> Hashable:
        """The line, and whether its reasoning is shown."""
        line = self.lines[index]
        if isinstance(line, SaidAlone):
            return line.id, line.id in self.unfolded
        return index - len(self.lines), line.at, line.text

    def estimate_px(self, index: int, width: float) -> float:
        """From the length of what is shown."""
        line = self.lines[index]
        shown = line.text
        if isinstance(line, SaidAlone) and line.id in self.unfolded:
            shown += line.reasoning
        return ROW_PX + LINE_PX * (len(shown) // max(LINE_CHARS, int(width / 8)))

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one row."""
        self.draw_row(self.lines[index], ui)


def autonomy_section(desk: Desk) -> None:
    """Draw the part. O(visible). Sends StartAutonomy, StopAutonomy, SelectDiscussion, ChangeSetting."""
    ui, own, state = desk.ui, desk.view.of(AgentView), desk.state
    chosen, autonomy = state.discussions.selected_id, state.attention.autonomy
    with ui.surface("autonomy", "card", padding=(12, 10)), ui.group("lines", gap=6):
        if autonomy is None:
            _start(desk, own)
        else:
            _running(desk, autonomy)
        amount_row(desk, PER_DAY, state.config.settings.caching.day_limit_usd)
        day_line(desk)
    shown, opened = _shown(desk), desk.opened
    if shown is None or opened is None:
        return
    lines = desk.view.memo.get(
        ("loop", chosen), (shown.notes, opened.entries), lambda: loop_lines(shown, opened)
    )

    def draw(line: LoopLine, ui: Ui) -> None:
        _row(desk, ui, own, line)

    ui.virtual_list(
        ("loop", chosen), LoopRows(lines=lines, unfolded=own.open_thoughts, draw_row=draw), follows_end=True
    )


def _shown(desk: Desk) -> Autonomy | None:
    """The autonomy of this discussion that runs, or ran last."""
    attention, chosen = desk.state.attention, desk.state.discussions.selected_id
    known = (attention.autonomy, attention.ended)
    return next((one for one in known if one is not None and one.discussion_id == chosen), None)


def has_output(desk: Desk) -> bool:
    """True while the discussion goes on alone, or left notes and words from when it did."""
    return _shown(desk) is not None


def loop_lines(autonomy: Autonomy, opened: OpenDiscussion) -> tuple[LoopLine, ...]:
    """Notes and what was said alone by their time, the newest ten thousand."""
    said: list[LoopLine] = []
    is_alone = False
    for entry in opened.entries:
        if not isinstance(entry, Message) or entry.is_deleted:
            continue
        if entry.role is Role.USER:
            is_alone = entry.is_autonomous
        elif is_alone and entry.role is Role.ASSISTANT and (entry.text.strip() or entry.reasoning.strip()):
            said.append(SaidAlone(id=entry.id, at=entry.at, text=entry.text, reasoning=entry.reasoning))
    return tuple(sorted((*autonomy.notes, *said), key=lambda line: line.at))[-NEWEST:]


def _start(desk: Desk, own: AgentView) -> None:
    """Draw the start, and why the last one was refused."""
    ui, state = desk.ui, desk.state
    with ui.row("head"):
        ui.icon("icon", "moon", tone="muted")
        ui.text(
            "words", tr("The discussion goes on only when you write"), style="strong", width=0, wraps=True
        )
    ui.text("what", WHAT, tone="muted", style="small", wraps=True)
    holder = state.program.holder
    if holder:
        text = tr(
            "Another program uses this data folder ({holder}). Autonomy runs there; it runs here once that program ends",
            holder=holder,
        )
        ui.text("elsewhere", text, tone="warn", style="small", wraps=True)
    can = desk.opened is not None and not holder and not is_under_way(state, own.started)
    if ui.button("start", tr("Start autonomy"), icon="play", kind="primary", is_small=True, is_enabled=can):
        own.started = desk.ask(StartAutonomy(state.discussions.selected_id))
    told = outcome_of(state, own.started) if own.started else None
    if told is not None and told.problem:
        ui.text("refused", told.problem, tone="error", style="small", wraps=True)
    if state.config.settings.caching.day_limit_usd is None:
        ui.text("no cap", tr("You set no daily limit: only the number of turns stops autonomy."), tone="warn",
                style="small", wraps=True)  # fmt: skip


def _running(desk: Desk, autonomy: Autonomy) -> None:
    """Draw how it stands, and its stop."""
    ui, state = desk.ui, desk.state
    icon, tone, words = autonomy_words(autonomy, state.now)
    with ui.row("head"):
        ui.icon("icon", icon, tone=tone)
        ui.text("words", words, style="strong", width=0, wraps=True)
        if ui.button(
            "stop",
            tr("Stop"),
            icon="stop",
            is_small=True,
            tip=tr("This stops the current turn; the discussion then goes on only when you write"),
        ):
            desk.send(StopAutonomy())
    if autonomy.discussion_id != state.discussions.selected_id:
        row = state.discussions.summaries.get(autonomy.discussion_id)
        with ui.row("elsewhere", gap=6):
            name = (
                tr(
                    "The discussion “{name}” is already autonomous; only one discussion can be",
                    name=row.meta.name,
                )
                if row is not None
                else tr("Another")
            )
            ui.text("name", name, style="small", width=0, wraps=True)
            if ui.button("go", tr("Open"), kind="link", is_small=True):
                desk.send(SelectDiscussion(autonomy.discussion_id))
    meaning = autonomy.stopped or MEANINGS[autonomy.state]
    ui.text("meaning", meaning, tone="warn" if autonomy.stopped else "muted", style="small", wraps=True)
    most = state.config.settings.agent.max_turns
    figures = tr(
        "{turns:,} of {most} without you · {usd} spent",
        turns=autonomy.turns,
        most=fmt.count(most, tr("turn"), tr("turns")),
        usd=fmt.money(autonomy.usd),
    )
    ui.text("figures", figures, style="small", tone="muted", wraps=True)
    if autonomy.woken_by:
        ui.text(
            "woken",
            tr("Woken by {woken_by}", woken_by=autonomy.woken_by),
            style="small",
            tone="muted",
            wraps=True,
        )
    if autonomy.errors:
        failed = tr(
            "{errors} failed in a row: each failure doubles the time until the next turn, up to an hour",
            errors=fmt.count(autonomy.errors, tr("turn"), tr("turns")),
        )
        ui.text("errors", failed, style="small", tone="warn", wraps=True)
    if state.signals.is_quiet:
        ui.text("quiet", tr("Quiet: the program holds back notifications"), style="small", tone="muted")


def _row(desk: Desk, ui: Ui, own: AgentView, line: LoopLine) -> None:
    """Draw a note, or what was said with its reasoning folded."""
    if isinstance(line, LoopNote):
        with ui.surface("note", "clear", padding=(2, 4)), ui.row("line", gap=8):
            ui.text("at", fmt.moment(line.at, desk.state.now), tone="faint", style="small")
            ui.text("text", line.text, tone="muted", style="small", width=0, wraps=True)
        return
    is_open = line.id in own.open_thoughts
    with ui.surface("said", "card", padding=(10, 8)), ui.group("lines", gap=4):
        with ui.row("head", gap=6):
            ui.icon("icon", "robot", tone="accent")
            ui.text("at", fmt.moment(line.at, desk.state.now), tone="faint", style="small", width=0)
            label = tr("Hide reasoning") if is_open else tr("Show reasoning")
            if line.reasoning.strip() and ui.button("thoughts", label, kind="link", is_small=True):
                own.open_thoughts ^= {line.id}
        if is_open:
            ui.text("reasoning", line.reasoning.strip(), tone="faint", style="small", wraps=True)
        if line.text.strip():
            ui.selectable_text("text", line.text.strip())


# The context meter: how much of the model's window is used, where something happens, and what left its
# view.

MARKS = tuple(percent / 100 for percent in (USED_PERCENT, TOLD_PERCENT, FULL_PERCENT))
METER_TIP = tr(
    "At {full} %, the model stops reading the oldest turns; the log keeps them all. Before, at {told} %, the program tells the model to write its journal. After, at most {used} % are used",
    used=USED_PERCENT,
    told=TOLD_PERCENT,
    full=FULL_PERCENT,
)
ASSUMED = tr("The context window of this model is unknown: the program assumes {:,} tokens.")


def meter(desk: Desk) -> None:
    """Draw the meter of the selected discussion, nothing where none is open."""
    ui, window = desk.ui, _window(desk)
    if window is None:
        return
    tone = window_tone(window)
    with ui.row("meter"):
        has_reply = desk.opened is not None and any(
            one.role is Role.ASSISTANT for one in desk.opened.messages
        )
        ui.text("name", tr("Last request") if has_reply else NAME, style="small", tone="muted")
        ui.text("figure", window_words(window), style="small", tone=tone, width=0, tip=window_tip(window))
    ui.progress("bar", window.share, tone="accent" if tone == "muted" else tone, height=4, marks=MARKS)
    if window.is_assumed and not _is_asked(desk):
        said = ASSUMED.format(window.limit_tokens)
        ui.text("assumed", said, tone="warn", style="small", wraps=True)
    if window.left_messages:
        ui.text("left", left_line(window), tone="muted", style="small", wraps=True,
                tip=tr("A line in the discussion shows where the model begins to read"))  # fmt: skip


def _window(desk: Desk) -> ContextWindow | None:
    """Use of the window, made anew when something that it is made from is another."""
    state, chosen = desk.state, desk.state.discussions.selected_id
    parts = (
        desk.opened,
        desk.summary,
        state.context.reports.get(chosen),
        state.agent.compactions.get(chosen),
        state.config,
    )
    return desk.view.memo.get("context window", parts, lambda: context_window(state, chosen))


def _is_asked(desk: Desk) -> bool:
    """True while a server still tells of its models, and their windows with them."""
    asking = desk.state.program.workers.get("models")
    return asking is not None and asking.status == "busy"


def window_words(window: ContextWindow) -> str:
    """Used tokens against the window: `≈18.4k / 200k · 9 %`."""
    used = fmt.tokens_est(window.used_tokens, is_exact=window.is_reported)
    assumed = " assumed" if window.is_assumed else ""
    return f"{used} / {fmt.tokens(window.limit_tokens)}{assumed} · {fmt.share(window.used_tokens, window.limit_tokens)}"


def window_tip(window: ContextWindow) -> str:
    """Meaning of the figure and of the marks."""
    how = tr("reported by the provider") if window.is_reported else tr("counted by the program")
    return tr(
        "{used_tokens:,} of {limit_tokens:,} tokens: the last request and its reply, {how}\n{METER_TIP}",
        used_tokens=window.used_tokens,
        limit_tokens=window.limit_tokens,
        how=how,
        METER_TIP=METER_TIP,
    )


def window_tone(window: ContextWindow) -> Tone:
    """Amber from where the model is told, red from where the view is made anew."""
    if is_full(window.used_tokens, window.limit_tokens):
        return "error"
    return "warn" if is_told(window.used_tokens, window.limit_tokens) else "muted"


def left_line(window: ContextWindow) -> str:
    """Messages that left the model's view."""
    messages = fmt.count(window.left_messages, tr("message"), tr("messages"))
    return tr(
        "The model no longer reads {messages} ({tokens} tokens); the log keeps them.",
        messages=messages,
        tokens=fmt.tokens_est(window.left_tokens_est),
    )
