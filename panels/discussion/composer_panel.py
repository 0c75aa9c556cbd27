"""The composer: what is about to be said, with its attachments, its preset and what it will cost."""

from __future__ import annotations

from core.base import figures as fmt
from core.discussion.messages import AttachText, Detach, SetDiscussionPreset, SetDraft
from core.spending.estimates import next_request
from core.turn.messages import CancelReply
from core.values.discussion import OpenDiscussion
from core.values.messages import AttachmentPart
from core.values.updates import outcome_of
from panels.base import selection
from panels.base.action import action_tip, run_action
from panels.base.desk import Desk, send_chord
from panels.base.gauge import NAME, estimate, estimate_tip, gauge, gauge_tone
from panels.base.ui import Ui
from panels.discussion.actions import can_send
from panels.discussion.view import ComposerView, DiscussionView

EDITOR_MIN_PX = 68.0
EDITOR_MAX_PX = 220.0
LINE_PX = 20.0
CHROME_PX = 78.0
CHIPS_PX = 36.0
PROBLEM_PX = 24.0
GAUGE_FROM_PX, PRICE_FROM_PX, NAME_FROM_PX = 360, 520, 600
"""Width from which the estimate has room, with its price, with its name."""


def composer_px(desk: Desk) -> float:
    """Height that the composer takes, so that the messages leave it free."""
    own = desk.view.of(DiscussionView)
    opened = desk.opened
    if opened is None:
        return 0.0
    height = CHROME_PX + _editor_px(own.composer(opened.id))
    height += CHIPS_PX if opened.draft.attachments else 0.0
    return height + PROBLEM_PX * len(_problems(desk))


def _editor_px(composer: ComposerView) -> float:
    lines = composer.text.count("\n", 0, 20_000) + 1
    return min(EDITOR_MAX_PX, max(EDITOR_MIN_PX, LINE_PX * lines + 12))


def composer_panel(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw the composer of a discussion. Sends SetDraft, AttachText, Detach, SetDiscussionPreset, SendPrompt."""
    ui, own = desk.ui, desk.view.of(DiscussionView)
    composer = own.composer(opened.id)
    composer.sync(opened.draft.text)
    _follow_sent(desk, opened, composer)
    with ui.surface(("composer", opened.id), "card", padding=(12, 10)):
        _editor(desk, opened, composer)
        if opened.draft.attachments:
            _chips(desk, opened)
        for index, problem in enumerate(_problems(desk)):
            with ui.row(("problem", index), gap=6):
                ui.icon("icon", "triangle-exclamation", tone="warn")
                ui.text("text", problem, tone="warn", style="small", width=0, tip=problem)
        _foot(desk, opened)


def _follow_sent(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Forget sent words once they are on disk; put them back where they were refused or not written."""
    outcome = outcome_of(desk.state, composer.command_id) if composer.command_id else None
    if outcome is None:
        return
    composer.command_id = ""
    if outcome.is_done:
        composer.sent = ""
        return
    composer.refusal = outcome.refusal
    composer.take_back()
    if composer.text != opened.draft.text:
        composer.typed(composer.text)
        desk.send(SetDraft(opened.id, composer.text))


def _problems(desk: Desk) -> tuple[str, ...]:
    report = selection.report_of(desk.state)
    return report.problems[:2] if report is not None and not report.fits else ()


def _editor(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    ui, view, settings = desk.ui, desk.view, desk.state.config.settings
    sends_on_enter = send_chord(desk.state) == "Enter"
    _history(desk, opened, composer)
    is_wanted = view.focus == "composer" and view.focus_not != opened.id
    edited = ui.editor(
        "editor", composer.text, hint="Write a message", height=_editor_px(composer), revision=composer.revision,
        is_focused=is_wanted, paste_limit_chars=settings.files.paste_as_attachment_chars,
        submits_on_enter=sends_on_enter,
    )  # fmt: skip
    if is_wanted:
        view.focus = view.focus_not = ""
    if edited is None:
        return
    if edited.pasted:
        desk.send(AttachText(opened.id, edited.pasted))
    if edited.text != composer.text:
        composer.history_at = 0
        composer.typed(edited.text)
        desk.send(SetDraft(opened.id, edited.text))
    if edited.is_submitted:
        run_action("send", desk)


def _history(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Walk through earlier prompts with Up and Down while the composer is empty or shows one of them."""
    history = desk.state.discussions.prompt_history
    if not history or (composer.text and not composer.history_at) or not desk.ui.is_focused("editor"):
        return
    step = 0
    if composer.history_at < len(history) and desk.ui.shortcut("Up", while_typing=True):
        step = 1
    elif composer.history_at and desk.ui.shortcut("Down", while_typing=True):
        step = -1
    if step:
        composer.history_at += step
        text = history[-composer.history_at] if composer.history_at else ""
        composer.replace(text)
        composer.pending.append(text)
        desk.send(SetDraft(opened.id, text))


def _chips(desk: Desk, opened: OpenDiscussion) -> None:
    with desk.ui.row("chips"):
        for part in opened.draft.attachments:
            _chip(desk, desk.ui, opened.id, part)


def _chip(desk: Desk, ui: Ui, discussion_id: str, part: AttachmentPart) -> None:
    with ui.row(("chip", part.sha256), gap=4):
        ui.icon("icon", "file-image" if part.is_image else "file-lines")
        ui.text("name", part.name, style="small", tip=fmt.size(part.size_bytes))
        if ui.button("remove", "", icon="xmark", kind="ghost", tip=f"Remove {part.name}", is_small=True):
            desk.send(Detach(discussion_id, part.sha256))


def _foot(desk: Desk, opened: OpenDiscussion) -> None:
    ui = desk.ui
    with ui.row("foot"):
        if ui.button("attach", "", icon="paperclip", kind="ghost", tip=action_tip(desk, "attach")):
            run_action("attach", desk)
        _preset_menu(desk)
        request = next_request(desk.state, opened.id)
        if request is not None and ui.width() > GAUGE_FROM_PX:
            if ui.width() > NAME_FROM_PX:
                ui.text("estimate name", NAME, tone="faint", style="small")
            shown = estimate(request) if ui.width() > PRICE_FROM_PX else gauge(request)
            ui.text("gauge", shown, tone=gauge_tone(request), style="small", tip=estimate_tip(request))
        ui.push()
        if desk.call is not None:
            if ui.button("stop", "Stop", icon="stop", tip="Stop the reply (Escape)"):
                desk.send(CancelReply(opened.id))
            return
        chord = send_chord(desk.state)
        if ui.button(
            "send", "Send", icon="paper-plane", kind="primary", is_enabled=can_send(desk),
            shortcut=chord if chord != "Enter" else "", tip=_send_tip(desk, chord),
        ):  # fmt: skip
            run_action("send", desk)


def _send_tip(desk: Desk, chord: str) -> str:
    return (
        "This home is read-only: nothing can be saved"
        if desk.state.program.is_home_read_only
        else f"Send ({chord})"
    )


def _preset_menu(desk: Desk) -> None:
    ui, summary, project = desk.ui, desk.summary, desk.state.config.project
    if summary is None:
        return
    current = summary.meta.preset
    is_missing = bool(selection.missing_preset(desk.state))
    label = f"{current} (missing)" if is_missing else current or "No preset"
    tip = (
        f"There is no preset {current!r} in this project: no files are sent"
        if is_missing
        else "Context preset"
    )
    with ui.menu("preset", label, icon="layer-group", tip=tip) as is_open:
        if not is_open:
            return
        for name in ("", *project.presets):
            label = name or "No preset"
            if ui.menu_item(("preset", name), label, is_checked=name == current) and name != current:
                desk.send(SetDiscussionPreset(summary.meta.id, name))
        ui.divider("more")
        if ui.menu_item("edit", "Edit presets", icon="pen", shortcut="Ctrl+1"):
            run_action("presets", desk)
