"""The Signals panel: whether notifications are held back, what waits for a turn, the inbox, channels, what was taken."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.signals import Signal, SignalSource, SignalState
from core.signals.signals_messages import PutSignalsAway, SetQuiet
from core.signals.signals_step import room_of
from panels.base.desk import Desk
from panels.base.ui import Surface, Ui
from panels.signals.signals_room import SignalsView

SOURCES = {
    SignalSource.COMMAND: ("terminal", tr("Command")),
    SignalSource.FILE: ("file", tr("File")),
    SignalSource.INBOX: ("inbox", tr("Inbox")),
    SignalSource.API: ("plug", tr("Program")),
    SignalSource.CHANNEL: ("hashtag", tr("Channel")),
}
SEEN_SHOWN, HEAD_CHARS = 30, 160
SHORT_CHARS, LONG_PX = 300, 200.0
"""Length up to which a text has the height of its lines, and height of a longer one, which scrolls."""


def signals_panel(desk: Desk) -> None:
    """Draw the panel. Sends SetQuiet and PutSignalsAway."""
    ui, signals = desk.ui, desk.state.signals
    with ui.surface("all", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("parts", gap=10):
        _notifications(desk, signals)
        _waiting(desk, signals)
        _inbox(desk, signals)
        _channels(ui, signals)
        _seen(desk, signals)


def _notifications(desk: Desk, signals: SignalState) -> None:
    ui = desk.ui
    with ui.surface("quiet", "card", padding=(12, 10)), ui.group("lines", gap=6):
        ticked = ui.checkbox("switch", tr("Hold notifications back"), signals.is_quiet)
        if ticked is not None:
            desk.send(SetQuiet(ticked))
        held = len(signals.held) + signals.missed
        words = tr("You get held notifications together when you turn this switch off")
        if signals.is_quiet and held:
            words = tr(
                "{notifications} held back; you get them when you turn this switch off",
                notifications=fmt.count(held, tr("notification"), tr("notifications")),
            )
        ui.text("words", words, tone="muted", style="small", wraps=True)


def _waiting(desk: Desk, signals: SignalState) -> None:
    ui = desk.ui
    with ui.row("waiting head"):
        title = (
            tr("Signals that wait for a turn: {waiting:,}", waiting=len(signals.waiting))
            if signals.waiting
            else tr("Signals that wait for a turn")
        )
        ui.text("title", title, style="strong", width=0)
        if signals.waiting and ui.button("away", tr("Dismiss all"), kind="ghost", is_small=True,
                                         tip=tr("No turn will read these signals; the list below keeps them")):  # fmt: skip
            desk.send(PutSignalsAway())
    if not signals.waiting:
        text = tr(
            "No signal waits. Signals wake an autonomous discussion; the model takes them as data, not orders."
        )
        ui.text("nothing", text, tone="muted", style="small", wraps=True)
    if signals.dropped:
        text = tr(
            "{dropped} dropped: the program keeps only a limited number",
            dropped=fmt.count(signals.dropped, tr("older signal"), tr("older signals")),
        )
        ui.text("dropped", text, tone="warn", style="small", wraps=True)
    for signal in reversed(signals.waiting):
        _row(desk, signal, is_waiting=True)


def _row(desk: Desk, signal: Signal, *, is_waiting: bool) -> None:
    """Draw a signal: its source, sender and time, its first line, and unfolded all of it."""
    ui, own = desk.ui, desk.view.of(SignalsView)
    is_open = signal.id in own.open_signals
    icon, label = SOURCES[signal.source]
    tip = tr("Show only the first line") if is_open else tr("Show all")
    surface: Surface = "card_selected" if is_open else "card"
    with (
        ui.clickable(("signal", signal.id, is_waiting), surface, padding=(10, 6), tip=tip) as clicks,
        ui.group("lines", gap=4),
    ):
        with ui.row("head", gap=6):
            ui.icon("icon", icon, tip=label)
            sender = f"{label} · {signal.sender}" if signal.sender else label
            ui.text("sender", sender, style="small_strong", width=0)
            ui.text("at", fmt.moment(signal.at, desk.state.now), tone="faint", style="small")
            if is_waiting and ui.button(
                "away", "", icon="xmark", kind="ghost", is_small=True, tip=tr("Dismiss")
            ):
                desk.send(PutSignalsAway(signal.id))
        row = desk.state.discussions.summaries.get(signal.discussion_id)
        if row is not None:
            ui.text("for", tr("For “{name}”", name=row.meta.name), tone="muted", style="small", width=0)
        if is_open:
            is_long = len(signal.text) > SHORT_CHARS
            ui.selectable_text("text", signal.text, height=LONG_PX if is_long else None)
        elif signal.text:
            ui.text("text", one_line(signal.text, HEAD_CHARS), style="small", width=0)
    if clicks.clicked:
        own.open_signals ^= {signal.id}


def _inbox(desk: Desk, signals: SignalState) -> None:
    ui = desk.ui
    if not desk.state.program.home:
        return
    ui.text("inbox title", tr("Inbox"), style="strong")
    text = tr(
        "A text file in {folder}/inbox becomes a signal. The program moves the file to “waiting” there. After a turn takes it, or you dismiss it, the file moves to “taken”.",
        folder=desk.state.program.home,
    )
    if desk.state.program.holder:
        text = tr(
            "Another program uses this data folder ({holder}). That program reads the inbox and the channels.",
            holder=desk.state.program.holder,
        )
    ui.text("inbox", text, tone="muted", style="small", wraps=True)
    if signals.is_inbox_unready and not room_of(signals, SignalSource.INBOX):
        full = tr("The inbox is full. More files wait until a turn takes some, or you dismiss some.")
        ui.text("full", full, tone="warn", style="small", wraps=True)
    for number, sentence in enumerate(signals.inbox_odd):
        ui.text(("odd", number), sentence, tone="warn", style="small", wraps=True)


def _channels(ui: Ui, signals: SignalState) -> None:
    if not signals.channels:
        return
    ui.text("channels title", tr("Channels"), style="strong")
    for channel in signals.channels.values():
        with ui.row(("channel", channel.name), gap=6):
            ui.icon("icon", "circle" if channel.is_connected else "circle-exclamation",
                    tone="ok" if channel.is_connected else "warn")  # fmt: skip
            ui.text("name", channel.name, style="small_strong")
            words = tr("connected") if channel.is_connected else channel.problem or tr("connecting…")
            ui.text("words", words, tone="muted", style="small", wraps=True, width=0)
        if channel.dropped:
            text = tr(
                "Too many lines in ten seconds: the program dropped {dropped}",
                dropped=fmt.count(channel.dropped, tr("line"), tr("lines")),
            )
            ui.text(("flood", channel.name), text, tone="warn", style="small", wraps=True)


def _seen(desk: Desk, signals: SignalState) -> None:
    if not signals.seen:
        return
    desk.ui.text("seen title", tr("Taken or dismissed"), style="strong")
    for signal in reversed(signals.seen[-SEEN_SHOWN:]):
        _row(desk, signal, is_waiting=False)
