"""The conversation: its header, its messages, the find bar, and what is said before it begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from core.agent.delegation import questions_of
from core.kernel.language import tr
from core.kernel.values.agent import AgentTurn
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.kernel.values.messages import Mark, Message
from core.kernel.values.provider import FAILURE_MARKS
from core.talk.discussion.discussion_messages import ChangeDiscussion
from panels.base import view
from panels.base.desk import Desk, action_button, action_item, action_tip, run_action, send_chord
from panels.base.ui import Ui
from panels.discussion.comparison_panel import side_by_side
from panels.discussion.composer_panel import composer_panel
from panels.discussion.find_bar import find_bar, land, place_of, terms_of
from panels.discussion.message_card import failure_row, follow_resent, live_row, mark_row, message_card
from panels.discussion.message_rows import (
    HEAD,
    MessageRows,
    branch_foot,
    branch_points,
    read_in_front,
    shown_entries,
    view_mark,
)
from panels.discussion.model_picker import effort_options, model_combo
from panels.discussion.tool_rounds import FoldedRows, Lead, Rounds, Row, folded_rows, rounds_row, turn_row
from panels.discussion.view import DiscussionView

WIDE_PX = 760
HEADER_PX = 40
COLUMN_PX = 900.0
ONE_LINE_FROM_PX = 640
"""Width from which model and effort have room beside the name; else they have a line of their own."""
NARROW_PX, BARE_PX = 300, 256
LOW_PX, LOW_PAD_PX = 420, 2.0
"""Height below which rows fold, so that messages stay in view: a small window, or a large scale."""
MODEL_PX, EFFORT_PX, EFFORT_NARROW_PX, EFFORT_BARE_PX = 200.0, 132.0, 104.0, 92.0
ANSWERS_PX = 120.0
"""Height of a question's answers, with what stands below them, in the narrowest pane."""
MAX_REPAIRS = 3
TOOLS_HOW = tr(
    "With tools, the model reads and searches this project. The model asks you before it writes a file or runs a command."
)


def conversation_panel(desk: Desk) -> None:
    """Draw the pane in the middle. O(visible) for any number of messages."""
    ui = desk.ui
    summary = desk.summary
    margin = max(8.0 if 0 < ui.width() < NARROW_PX else 16.0, (ui.width() - COLUMN_PX) / 2)
    height = ui.height()
    is_low = 0 < height < LOW_PX
    with ui.surface("conversation", "clear", height=0, padding=(margin, LOW_PAD_PX if is_low else 12)):
        if summary is None:
            _nothing_selected(desk)
            return
        _header(desk, summary, is_low=is_low)
        _warnings(desk, summary)
        if desk.opened is None:
            with ui.surface("messages", "clear", height=0, padding=(0, 0)):
                ui.text("loading", tr("Reading the discussion…"), tone="muted")
            composer_panel(desk, OpenDiscussion(id=summary.meta.id), pane_px=height, is_low=is_low)
            return
        read_in_front(desk)
        land(desk, desk.opened)
        if desk.view.of(DiscussionView).find.is_open:
            find_bar(desk, desk.opened)
        with ui.surface("messages", "clear", height=0, padding=(0, 0)):
            if not side_by_side(desk, desk.opened):
                _messages(desk, desk.opened)
        composer_panel(desk, desk.opened, pane_px=height, is_low=is_low)


def _nothing_selected(desk: Desk) -> None:
    ui = desk.ui
    if desk.state.program.is_loading:
        ui.text("loading", tr("Opening your discussions…"), tone="muted")
        return
    ui.text("title", tr("Start a discussion"), style="h2")
    ui.text("how", tr("Choose a discussion in the list, or start a new one."), tone="muted", wraps=True)
    if ui.button("new", tr("New discussion"), icon="plus", kind="primary", tip=action_tip(desk, "new")):
        run_action("new", desk)


def _header(desk: Desk, summary: DiscussionSummary, *, is_low: bool) -> None:
    ui, meta = desk.ui, summary.meta
    is_wide, is_tight = ui.width() >= WIDE_PX, ui.width() < ONE_LINE_FROM_PX
    if is_low and is_tight:
        _folded_header(desk, summary)
        return
    with ui.row("header", height=HEADER_PX):
        ui.text("name", meta.name, style="h3", tip=meta.name)
        if not is_tight:
            _model_and_effort(desk, summary, MODEL_PX)
        action_button(desk, "model")
        ui.push()
        action_button(desk, "branch", has_label=is_wide)
        if is_wide:
            if ui.button("regenerate", tr("Regenerate"), icon="arrows-rotate", kind="ghost",
                         is_enabled=desk.actions["regenerate"].is_enabled(desk), tip=action_tip(desk, "regenerate")):  # fmt: skip
                run_action("regenerate", desk)
        else:
            action_button(desk, "regenerate")
        with ui.menu("more", "", icon="ellipsis", tip=tr("More")) as is_open:
            if is_open:
                _more_menu(desk, summary)

    if is_tight:
        with ui.row("model row"):
            _model_and_effort(desk, summary, 0)


def _folded_header(desk: Desk, summary: DiscussionSummary) -> None:
    """One row where there is no height for two: the name on hover, its buttons in the menu."""
    ui = desk.ui
    with ui.row("folded header"):
        _model_and_effort(desk, summary, 0)
        with ui.menu("more", "", icon="ellipsis", tip=summary.meta.name) as is_open:
            if is_open:
                for action_id in ("branch", "regenerate"):
                    action_item(desk, action_id)
                ui.divider("of the header")
                _more_menu(desk, summary)


def _model_and_effort(desk: Desk, summary: DiscussionSummary, model_px: float) -> None:
    model_combo(desk, summary.meta, model_px)
    efforts = effort_options(view.profile(desk.state, summary.meta.provider, summary.meta.model))
    if not efforts:
        return
    room = desk.ui.width()
    width = EFFORT_PX if room >= NARROW_PX else EFFORT_NARROW_PX if room >= BARE_PX else EFFORT_BARE_PX
    effort = desk.ui.combo(
        "effort",
        efforts,
        summary.meta.effort,
        width=width,
        tip=tr("How much the model thinks before it replies"),
    )
    if effort is not None:
        desk.send(ChangeDiscussion(discussion_id=summary.meta.id, changes={"effort": effort}))


def _more_menu(desk: Desk, summary: DiscussionSummary) -> None:
    ui, meta, project = desk.ui, summary.meta, desk.state.config.project
    for action_id in ("find", "rename", "pin", "archive", "copy_reply"):
        action_item(desk, action_id)
    ui.divider("choices")
    action_item(desk, "model")
    action_item(desk, "compare")
    with ui.menu("persona", tr("Persona"), icon="user-gear") as is_open:
        if is_open:
            for name in _choices(project.personas, meta.persona):
                label = name if not name or name in project.personas else tr("{name} (missing)", name=name)
                if ui.menu_item(("persona", name), label or tr("None"), is_checked=meta.persona == name):
                    desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"persona": name}))
            ui.divider("rest")
            if ui.menu_item("edit", tr("Edit personas"), icon="pen"):
                desk.view.show_settings("prompts")
    with ui.menu("system", tr("System prompt"), icon="file-lines") as is_open:
        if is_open:
            for name in _choices(project.system_prompts, meta.system_preset):
                label = (
                    name if not name or name in project.system_prompts else tr("{name} (missing)", name=name)
                )
                if ui.menu_item(("system", name), label or tr("None"), is_checked=meta.system_preset == name):
                    desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"system_preset": name}))
            ui.divider("rest")
            if ui.menu_item("edit", tr("Edit system prompts"), icon="pen"):
                desk.view.show_settings("prompts")
    ui.divider("files")
    for action_id in ("export_markdown", "export_json", "export_page", "delete"):
        action_item(desk, action_id)


def _choices(known: Iterable[str], chosen: str) -> tuple[str, ...]:
    """None, the known names, and the one that is chosen even where there is no such one any more."""
    return tuple(dict.fromkeys(("", *known, chosen)))


def _warnings(desk: Desk, summary: DiscussionSummary) -> None:
    repaired = desk.opened.repaired if desk.opened else ()
    sentences = (*((summary.problem,) if summary.problem else ()), *repaired[:MAX_REPAIRS])
    for index, sentence in enumerate(sentences):
        with desk.ui.row(("warning", index)):
            desk.ui.icon("icon", "triangle-exclamation", tone="warn")
            desk.ui.text("text", sentence, tone="warn", style="small", wraps=True)
    if len(repaired) > MAX_REPAIRS:
        rest = tr("and {repaired} more repairs of the log", repaired=len(repaired) - MAX_REPAIRS)
        desk.ui.text("more repairs", rest, tone="warn", style="small")


def _messages(desk: Desk, opened: OpenDiscussion) -> None:
    own, call = desk.view.of(DiscussionView), desk.call
    if own.shown_id != opened.id:
        own.shown_id = opened.id
        if own.scroll_to is None or not own.find.is_open:
            own.scroll_to = own.scroll.get(opened.id, -1)
    if not opened.entries and call is None and opened.failure is None:
        with desk.ui.surface("empty", "clear", height=0, padding=(0, 0), scrolls=True):
            _empty_state(desk)
        return
    for key in [*own.resent]:  # its words may stand in another version by now
        follow_resent(desk, key)
    terms, (found_row, found_at) = terms_of(own.find), place_of(desk, opened)
    found_id = opened.entries[found_row].id if found_row >= 0 else ""

    def draw(entry: Row | AgentTurn | LiveCall | None, ui: Ui) -> None:
        here = replace(desk, ui=ui)
        match entry:
            case Rounds():
                rounds_row(here, own, (opened.id, entry.id), entry)
            case Lead():
                is_found = entry.message.id == found_id
                message_card(
                    here,
                    opened,
                    entry.message,
                    is_found=is_found,
                    terms=terms,
                    found_at=found_at if is_found else -1,
                    has_calls=False,
                )
            case None:
                failure_row(here, opened)
            case LiveCall():
                live_row(here, entry)
            case AgentTurn():
                turn_row(here, entry)
            case Mark() if (
                entry is opened.entries[-1] and entry.kind in FAILURE_MARKS and opened.failure is not None
            ):
                pass  # the row behind it says the same, with the remedy
            case Mark():
                mark_row(ui, entry, desk.state.now)
            case _:
                if entry is opened.entries[0] and entry.id != HEAD:
                    branch_foot(here, opened, HEAD)
                if opened.cut is not None and entry.id == opened.cut.begins_at:
                    view_mark(own, ui, opened, opened.cut)
                is_found = entry.id == found_id
                message_card(
                    here, opened, entry, is_found=is_found, terms=terms, found_at=found_at if is_found else -1
                )

    points = branch_points(desk, opened)
    folded = _folded(desk, opened, call, points, found_row)
    rows = MessageRows(
        opened=opened,
        folded=folded,
        call=call,
        own=own,
        draw_row=draw,
        branched=points,
        turn=desk.turn,
    )
    target = _led(desk, opened, folded.total)
    own.scroll_to = None
    if target is not None:
        target = min(folded.row_of(target), len(rows) - 1)
    shown = desk.ui.virtual_list(
        ("messages", opened.id),
        rows,
        follows_end=True,
        scroll_to=target,
        reveal=_new_form(own, opened.id, rows),
    )
    own.is_at_end = shown.is_at_end
    if target is None:
        own.first_row = folded.entry_of(shown.first)
        _keep_scroll(own, opened.id, None if shown.is_at_end else own.first_row)
    if not shown.is_at_end:
        _way_to_end(desk, shown.left_px)


def _folded(
    desk: Desk, opened: OpenDiscussion, call: LiveCall | None, points: Collection[str], found_row: int
) -> FoldedRows:
    """The entries with their rounds folded, but for what a branch, a version or the model's view is about."""
    own = desk.view.of(DiscussionView)
    begins_at = opened.cut.begins_at if opened.cut is not None else ""
    answered = call.user_message_id if call is not None and call.version_of else ""

    def whole(message: Message) -> bool:
        is_named = message.id in points or message.id == begins_at
        return is_named or opened.versions_of(message) is not None

    def fold() -> FoldedRows:
        opened_runs = {message_id for name, message_id in own.open_rounds if name == opened.id}
        return folded_rows(shown_entries(opened, call), opened_runs, whole, found_row)

    parts = (opened.entries, answered, own.open_rounds, points, begins_at, opened.versions, found_row)
    return desk.view.memo.get("folded rounds", parts, fold)


def _new_form(own: DiscussionView, discussion_id: str, rows: MessageRows) -> int | None:
    """Row of a message whose form has just opened: its buttons would stand below the fold."""
    new = {message_id for name, message_id in own.editing.keys() - own.seen_edits if name == discussion_id}
    own.seen_edits = frozenset(own.editing)
    return (
        next(
            (
                row
                for row, entry in enumerate(rows.folded.rows)
                if not isinstance(entry, Lead) and entry.id in new
            ),
            None,
        )
        if new
        else None
    )


def _led(desk: Desk, opened: OpenDiscussion, turn_place: int) -> int | None:
    """Row to go to in this frame: whoever stands at the end sees a question from its first line, whatever its height,
    and the end again once it is answered.

    Args:
        turn_place: row of the turn's calls.
    """
    own, target = desk.view.of(DiscussionView), desk.view.of(DiscussionView).scroll_to
    waiting = questions_of(desk.state, opened.id) if desk.turn is not None else ()
    question = waiting[0][1].question_id if waiting else ""
    is_there = own.led_to != "" and own.scroll.get(opened.id) == turn_place
    if question != own.led_to and target is None and (own.is_at_end or is_there):
        target = -1
    if target == -1:
        is_again = question == own.led_to and is_there
        own.led_to = question
        return turn_place if question and not is_again else -1
    return target


def _way_to_end(desk: Desk, left_px: float) -> None:
    """Draw the way back over the foot of the messages; not over the answers to a question, where they are in view.

    Args:
        left_px: from the foot of what is in view to the end.
    """
    is_asked = desk.turn is not None and bool(questions_of(desk.state, desk.turn.discussion_id))
    if is_asked and left_px < ANSWERS_PX:
        return
    label = tr("Jump to the current reply") if desk.is_replying else tr("Jump to end")
    label = tr("A tool call waits for your approval") if is_asked else label
    with desk.ui.floating("jump", at_foot=True):
        if desk.ui.button("jump", label, icon="angles-down", is_small=True, tip=action_tip(desk, "to_end")):
            run_action("to_end", desk)


def _keep_scroll(own: DiscussionView, discussion_id: str, first: int | None) -> None:
    if own.scroll.get(discussion_id) != first:
        others = {known: row for known, row in own.scroll.items() if known != discussion_id}
        own.scroll = others if first is None else {**others, discussion_id: first}


def _empty_state(desk: Desk) -> None:
    ui, summary = desk.ui, desk.summary
    if summary is None:
        return
    meta = summary.meta
    label = view.model_label(desk.state, meta.provider, meta.model)
    status = desk.state.config.providers.get(meta.provider)
    chord = send_chord(desk.state)
    ui.gap(48)
    ui.text("title", tr("What do you want to work on?"), style="h2", wraps=True)
    if status is not None and not status.is_ready:
        how = tr("{label} is not ready: {advice}", label=status.label, advice=status.advice)
    elif meta.provider == "embedded":
        how = tr(
            "{label} is a small model inside this program: no key, no network, simple answers. Enter a key for a larger model, or write below and press {chord}.",
            label=label,
            chord=chord,
        )
    else:
        how = tr("You are talking to {label}. Write below and press {chord}.", label=label, chord=chord)
    ui.text("how", how, tone="muted", wraps=True)
    ui.gap(8)
    with ui.row("first steps"):
        if ui.button("files", tr("Choose files"), icon="layer-group", tip=action_tip(desk, "presets")):
            run_action("presets", desk)
            desk.view.focus = "path"
        if ui.button("keys", tr("Models and keys"), icon="key", tip=tr("Open Settings, Providers and keys")):
            desk.view.show_settings("providers")
        action_button(desk, "palette", has_label=True)
    if meta.has_tools:
        return
    ui.gap(8)
    ui.text("tools how", TOOLS_HOW, tone="muted", wraps=True)
    with ui.row("tools"):
        if ui.button("tools", tr("Turn tools on"), icon="wrench"):
            run_action("tools", desk)
            desk.view.show_hub("agent")
