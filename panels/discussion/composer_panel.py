"""The composer: what is about to be said, what it will cost, and the note before a send that pays for a prefix once more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from core.kernel import figures as fmt
from core.kernel.language import english, tr
from core.kernel.values.discussion import CallPhase, OpenDiscussion, slash_input
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.updates import is_under_way, outcome_of
from core.services.providers.attachments import attachment_problem, attachment_tokens, goes_as_pdf
from core.services.settings.settings_messages import ChangeSetting
from core.services.settings.settings_rules import profile_of
from core.services.spending.estimates import NextRequest, next_request
from core.talk.caching.warmth import OFFERED_FROM_USD, ColdSend, cold_send, cold_words
from core.talk.discussion.discussion_messages import (
    AttachFile,
    AttachPicture,
    AttachText,
    ChangeDiscussion,
    Detach,
    SetDraft,
)
from core.talk.discussion.lifecycle import is_empty
from core.talk.turn.turn_messages import CancelReply
from panels.base import view as selection
from panels.base.desk import READ_ONLY, Desk, action_item, action_tip, run_action, send_chord
from panels.base.gauge import NAME, estimate, estimate_tip, gauge_tone
from panels.base.ui import Ui
from panels.discussion.completions import compact, is_completing, mention_strip, slash_strip
from panels.discussion.discussion_room import can_send
from panels.discussion.queue_strip import compaction_strip, held_strip, queue_strip
from panels.discussion.tool_mode import mode_look, tool_menu
from panels.discussion.view import ComposerView, DiscussionView

# The note above the composer before a send that pays for a whole prefix once more, and what can be done
# instead.

KEY = "ai_settings.caching.cold_send_usd"
LIMIT_WORDS = fmt.dollars(OFFERED_FROM_USD)
WIDE_PX = 312


def cold_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Draw the note; nothing where a cache still holds, or the amount is not passed. Sends CompactDiscussion,
    CreateDiscussion, SendPrompt, ChangeSetting.
    """
    ui, cold = desk.ui, cold_send(desk.state, opened.id)
    if cold is None or opened.id in desk.state.agent.compactions:
        return
    with ui.group("cold", gap=6):
        with ui.row("words", gap=6):
            ui.icon("icon", "clock", tone="warn")
            ui.text("text", cold_words(desk.state, cold), tone="warn", style="small", width=0, wraps=True)
        _ways(desk, opened, composer, cold)


def _ways(desk: Desk, opened: OpenDiscussion, composer: ComposerView, cold: ColdSend) -> None:
    ui, can = desk.ui, not desk.state.program.is_home_read_only
    with ui.row("ways", gap=6) if ui.width() >= WIDE_PX else ui.group("ways", gap=4):
        if ui.button(
            "send",
            tr("Send anyway"),
            is_small=True,
            is_enabled=can_send(desk),
            tip=tr("Send the message at this cost"),
        ):
            run_action("send", desk)
        tip = tr("Let the model summarize old messages; the model reads the whole discussion once for this")
        if ui.button(
            "compact", tr("Compact first"), is_small=True, is_enabled=can and bool(opened.entries), tip=tip
        ):
            compact(desk)
        tip = tr("Start a new discussion with your draft")
        if ui.button("new", tr("New discussion"), is_small=True, is_enabled=can, tip=tip):
            desk.view.of(DiscussionView).carried = (opened.id, composer.text)
            run_action("new", desk)
    if cold.is_offer:
        _offer(desk, is_enabled=can)


def _offer(desk: Desk, *, is_enabled: bool) -> None:
    """Ask, the first time that it matters, whether such sends are to be said from now on."""
    ui = desk.ui
    question = tr(
        "Warn you before each send that writes the cache again for over {LIMIT_WORDS}?",
        LIMIT_WORDS=LIMIT_WORDS,
    )
    ui.text("question", question, tone="muted", style="small", wraps=True)
    with ui.row("answers", gap=6):
        if ui.button("say", tr("Warn me above {cost}", cost=LIMIT_WORDS), is_small=True, is_enabled=is_enabled,
                     tip=tr("You can change the amount in Caching, Settings")):  # fmt: skip
            desk.send(ChangeSetting(KEY, OFFERED_FROM_USD))
        if ui.button("never", tr("Never warn"), kind="ghost", is_small=True, is_enabled=is_enabled):
            desk.send(ChangeSetting(KEY, 0))


# The composer: what is about to be said, with its attachments, its preset and what it will cost.

EDITOR_MIN_PX, EDITOR_TIGHT_PX = 68.0, 44.0
"""Height of the empty editor; in a narrow window, which is low as well."""
EDITOR_TIGHT_BELOW_PX = 340
EDITOR_MAX_PX, EDITOR_TIGHT_MAX_PX = 220.0, 56.0
EDITOR_LOW_PX, EDITOR_LOW_MAX_PX = 50.0, 68.0
"""In a low window: two lines, and three."""
GAP_PX, GAP_LOW_PX = 8.0, 3.0
CHIP_PX = 230
"""Width of a file with its preview, name and tokens: so many stand beside each other as have room."""
PREVIEW_PX = 56.0
"""Height of a picture's preview beside its name."""
LIST_SHARE, CHIPS_SHARE = 0.4, 0.2
"""Shares of the pane's height that a list of suggestions, with files half of it, and the attached files take at most: Send stays in view."""
LOOK_CHARS = 600
"""Characters of a long paste that are shown on hover over its name."""
ONE_LINE_FROM_PX, NAME_FROM_PX, MORE_FROM_PX = 640, 280, 300
"""Width from which the estimate has room beside the buttons, else it stands over them; from which with its name; from which the
menu of templates and of the editor has room."""
MODE_PX, STOP_PX = 130, 80
"""Width of the buttons that stand there at times: the tools' mode, Stop."""
LETTER_PX = 7.5
"""Width of a letter of their labels, about: these widths are those of English labels, and others are longer."""


def composer_panel(desk: Desk, opened: OpenDiscussion, *, pane_px: float, is_low: bool = False) -> None:
    """Draw the composer of a discussion. Sends SetDraft, AttachText, AttachPicture, Detach, ChangeDiscussion, SendPrompt.

    What is typed while the log is read stands behind the draft that comes with it.

    Args:
        opened: an empty one while the log is read.
        pane_px: height of the conversation with its composer, 0 before it is known.
        is_low: there is little height, which the messages need.
    """
    ui, own = desk.ui, desk.view.of(DiscussionView)
    composer = own.composer(opened.id)
    if desk.opened is not None:
        _take_carried(desk, opened, composer)
        _join_early(desk, opened, composer)
        composer.sync(opened.draft.text)
        _follow_sent(desk, opened, composer)
        for path in ui.dropped_files():
            desk.send(AttachFile(discussion_id=opened.id, path=path))
    with (
        ui.surface(("composer", opened.id), "card", padding=(8, 3) if is_low else (12, 10)),
        ui.group("parts", gap=GAP_LOW_PX if is_low else GAP_PX),
    ):
        queue_strip(desk, opened)
        held_strip(desk, opened)
        if desk.opened is not None:
            list_px = LIST_SHARE * pane_px / (2 if opened.draft.attachments else 1)
            slash_strip(desk, opened, composer, list_px)
            mention_strip(desk, opened, composer, list_px)
            compaction_strip(desk, opened, composer)
            cold_strip(desk, opened, composer)
        _editor(desk, opened, composer, is_low=is_low)
        if opened.draft.attachments:
            _chips(desk, opened, composer, CHIPS_SHARE * pane_px)
        for index, problem in enumerate(_problems(desk)):
            with ui.row(("problem", index), gap=6):
                ui.icon("icon", "triangle-exclamation", tone="warn")
                ui.text("text", problem, tone="warn", style="small", width=0, wraps=True)
        _foot(desk, opened)


def _take_carried(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Take over the words that a person goes on with in a new discussion."""
    own = desk.view.of(DiscussionView)
    origin, text = own.carried
    if origin and origin != opened.id:
        own.carried = ("", "")
        if is_empty(desk.state, opened.id):
            composer.early = text


def _join_early(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Put what was typed before the draft was there behind it."""
    early, composer.early = composer.early, ""
    if early:
        text = "\n".join(filter(None, (opened.draft.text, early)))
        if text != composer.text:
            composer.replace(text)
        composer.seen = opened.draft.text
        composer.pending.append(text)
        desk.send(SetDraft(opened.id, text))


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
    report, opened = selection.report_of(desk.state), desk.opened
    parts = opened.draft.attachments if opened is not None else ()
    problems = tuple(filter(None, (_problem(desk, part) for part in parts)))
    too_large = report.problems if report is not None and not report.fits else ()
    return (*problems, *too_large)[:2]


def _problem(desk: Desk, part: AttachmentPart) -> str:
    """Reason of the chosen model not to take a file, empty where it does."""
    if desk.summary is None:
        return ""
    meta = desk.summary.meta
    return attachment_problem(part, profile_of(desk.state, meta.provider, meta.model))


def _editor(desk: Desk, opened: OpenDiscussion, composer: ComposerView, *, is_low: bool) -> None:
    ui, view, settings = desk.ui, desk.view, desk.state.config.settings
    sends_on_enter = send_chord(desk.state) == "Enter"
    if desk.opened is not None:
        _history(desk, opened, composer)
    is_wanted = view.focus == "composer" and view.focus_not != opened.id
    is_tight = ui.width() < EDITOR_TIGHT_BELOW_PX
    least, most = (EDITOR_TIGHT_PX, EDITOR_TIGHT_MAX_PX) if is_tight else (EDITOR_MIN_PX, EDITOR_MAX_PX)
    if is_low:
        least, most = EDITOR_LOW_PX, EDITOR_LOW_MAX_PX
    paste_limit = settings.files.paste_as_attachment_chars if desk.opened is not None else 0
    edited = ui.editor(
        "editor", composer.text, hint=tr("Write a message"), height=least, most_height=most,
        revision=composer.revision, is_focused=is_wanted, is_home=True, paste_limit_chars=paste_limit,
        takes_pictures=desk.opened is not None, submits_on_enter=sends_on_enter,
    )  # fmt: skip
    if is_wanted:
        view.focus = view.focus_not = ""
    if edited is None:
        return
    if desk.opened is None:
        composer.text = composer.early = edited.text
        return
    if edited.pasted:
        name = _paste_name(opened, composer, "txt")
        composer.pasted[name] = edited.pasted
        desk.send(AttachText(discussion_id=opened.id, text=edited.pasted, name=name))
    if edited.picture:
        desk.send(
            AttachPicture(
                discussion_id=opened.id, data=edited.picture, name=_paste_name(opened, composer, "png")
            )
        )
    if edited.is_unpasted:
        _unpaste(desk, opened, composer)
    composer.caret = edited.caret
    if edited.text != composer.text:
        composer.history_at = composer.slash_at = composer.mention_at = 0
        composer.slash_problem = ""
        if not is_under_way(desk.state, composer.compaction_id):
            composer.compaction_id = ""
        composer.typed(edited.text)
        desk.send(SetDraft(opened.id, edited.text))
    if edited.is_submitted:
        run_action("send", desk)


def _history(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Walk through earlier prompts with Up and Down while the composer is empty or shows one of them."""
    history = desk.state.discussions.prompt_history
    if not history or (composer.text and not composer.history_at) or not desk.ui.is_focused("editor"):
        return
    if is_completing(composer):
        return
    step = 0
    if composer.history_at < len(history) and desk.ui.shortcut("Up", while_typing=True):
        step = 1
    elif composer.history_at and desk.ui.shortcut("Down", while_typing=True):
        step = -1
    if step:
        composer.history_at += step
        text = history[-composer.history_at] if composer.history_at else ""
        composer.put(text)
        desk.send(SetDraft(opened.id, text))


def _paste_name(opened: OpenDiscussion, composer: ComposerView, ending: str) -> str:
    """A name for a paste that becomes a file, which no other file of the draft has; noted, to be undone from the last."""
    taken = {part.name for part in opened.draft.attachments} | {*composer.paste_names}
    name = next(one for one in pasted_names(ending) if one not in taken)
    composer.paste_names.append(name)
    return name


def _unpaste(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Take the file of the newest paste off, where it is still there."""
    name = composer.paste_names.pop() if composer.paste_names else ""
    composer.pasted.pop(name, None)
    for part in opened.draft.attachments:
        if part.name == name:
            desk.send(Detach(discussion_id=opened.id, sha256=part.sha256, name=part.name))


def pasted_names(ending: str) -> Iterator[str]:
    """Names for pastes: `pasted.txt`, `pasted 2.txt` and so on."""
    return (f"pasted {number}.{ending}" if number > 1 else f"pasted.{ending}" for number in count(1))


def _chips(desk: Desk, opened: OpenDiscussion, composer: ComposerView, most_px: float) -> None:
    ui, parts = desk.ui, opened.draft.attachments
    most = max(1, int(ui.width() // CHIP_PX))
    with ui.surface("attached", "clear", padding=(0, 0), scrolls=True, most_height=max(PREVIEW_PX, most_px)):
        for start in range(0, len(parts), most):
            with ui.row(("chips", start)):
                for part in parts[start : start + most]:
                    _chip(desk, ui, opened, part, composer)
    if any(part.name in composer.pasted for part in opened.draft.attachments):
        most = desk.state.config.settings.files.paste_as_attachment_chars
        text = tr(
            "A paste of more than {most:,} characters becomes a file. The arrow makes the file text again.",
            most=most,
        )
        ui.text("pasted", text, tone="muted", style="small", wraps=True)


def _as_text(desk: Desk, opened: OpenDiscussion, part: AttachmentPart, composer: ComposerView) -> None:
    """Put a paste into the message, and take its file off."""
    pasted = composer.pasted.pop(part.name)
    text = "\n".join(filter(None, (composer.text, pasted)))
    composer.put(text)
    desk.send(SetDraft(opened.id, text))
    desk.send(Detach(discussion_id=opened.id, sha256=part.sha256, name=part.name))


def _chip(desk: Desk, ui: Ui, opened: OpenDiscussion, part: AttachmentPart, composer: ComposerView) -> None:
    problem = _problem(desk, part)
    with ui.row(("chip", part.sha256, part.name), gap=4):
        path = opened.picture_path(part)
        if path:
            ui.image("look", path, name=part.name, max_height=PREVIEW_PX)
        ui.icon("icon", "file-image" if part.is_image else "file-lines", tone="warn" if problem else "muted")
        look = composer.pasted.get(part.name, "")[:LOOK_CHARS]
        tip = "\n".join(filter(None, (attachment_line(desk, part), problem, look)))
        ui.text("name", part.name, style="small", tone="warn" if problem else "text", tip=tip)
        if part.is_image:
            ui.text(
                "tokens",
                _tokens(desk, part),
                style="small",
                tone="muted",
                tip=tr("Estimated tokens that this file adds to every request"),
            )
        if part.name in composer.pasted:
            ui.text("size", fmt.size(part.size_bytes), style="small", tone="muted")
            tip = tr("Insert the text of {name} into the message", name=part.name)
            if ui.button("as text", "", icon="arrow-turn-down", kind="ghost", tip=tip, is_small=True):
                _as_text(desk, opened, part, composer)
        if ui.button(
            "remove", "", icon="xmark", kind="ghost", tip=tr("Remove {name}", name=part.name), is_small=True
        ):
            composer.pasted.pop(part.name, None)
            desk.send(Detach(discussion_id=opened.id, sha256=part.sha256, name=part.name))


def attachment_line(desk: Desk, part: AttachmentPart) -> str:
    """Size of a file; of a PDF its pages, and whether the model gets them or their text."""
    told = [fmt.size(part.size_bytes), _tokens(desk, part)]
    if part.pages:
        told.append(fmt.count(part.pages, tr("page"), tr("pages")))
    if part.is_pdf and desk.summary is not None and not _problem(desk, part):
        profile = profile_of(desk.state, desk.summary.meta.provider, desk.summary.meta.model)
        told.append(tr("sent as a PDF") if goes_as_pdf(part, profile.pdf) else tr("sent as text"))
    return " · ".join(told)


def _tokens(desk: Desk, part: AttachmentPart) -> str:
    """Tokens of a file with each request that holds it, about."""
    meta = desk.summary.meta if desk.summary is not None else None
    form = profile_of(desk.state, meta.provider, meta.model).pdf if meta is not None else None
    return tr("{part} tok", part=fmt.tokens_est(attachment_tokens(part, form)))


def _foot(desk: Desk, opened: OpenDiscussion) -> None:
    ui, request = desk.ui, next_request(desk.state, opened.id)
    is_command = slash_input(desk.view.of(DiscussionView).composer(opened.id).text) is not None
    label, icon = (tr("Queue"), "clock") if desk.is_replying else (tr("Send"), "paper-plane")
    if is_command:
        label, icon = tr("Run"), "terminal"
    stop = tr("Stop") if desk.is_replying else ""
    mode = mode_look(desk, desk.summary)[0] if desk.summary is not None else ""
    longer = sum(len(one) - len(english(one)) for one in (label, stop, mode))
    room = ui.width() - MODE_PX - STOP_PX * desk.is_replying - LETTER_PX * max(0, longer)
    is_tight = room < ONE_LINE_FROM_PX
    if is_tight and request is not None:
        with ui.row("estimate"):
            _estimate(desk, request)
    with ui.row("foot"):
        is_read = desk.opened is not None
        tip = action_tip(desk, "attach")
        if ui.button("attach", "", icon="paperclip", kind="ghost", tip=tip, is_enabled=is_read):
            run_action("attach", desk)
        if room >= MORE_FROM_PX:  # the palette, the Tools menu and `/template` have its actions too
            _more_menu(desk)
        _preset_menu(desk)
        tool_menu(desk)
        if request is not None and not is_tight:
            _estimate(desk, request)
        ui.push()
        is_stopped = desk.is_replying and ui.button(
            "stop",
            stop,
            icon="stop",
            tip=tr("Stop the reply and its calls (Escape)"),
            is_enabled=can_stop(desk),
        )
        if is_stopped:
            desk.send(CancelReply(opened.id))
        chord = send_chord(desk.state)
        if ui.button(
            "send", label, icon=icon, kind="primary",
            is_enabled=can_send(desk), shortcut="" if chord == "Enter" else chord,
            is_heard=not ui.is_typing_elsewhere(), tip=_send_tip(desk, chord),
        ):  # fmt: skip
            run_action("send", desk)


def can_stop(desk: Desk) -> bool:
    """True while the reply under way, or its turn, has not been told to stop."""
    call, turn = desk.state.turns.calls.get(desk.state.discussions.selected_id), desk.turn
    if turn is not None:
        return not turn.is_stopping
    return call is None or call.phase not in {CallPhase.STOPPING, CallPhase.STORING}


def _estimate(desk: Desk, request: NextRequest) -> None:
    ui = desk.ui
    if ui.width() > NAME_FROM_PX:
        ui.text("estimate name", NAME, tone="faint", style="small")
    ui.text("gauge", estimate(request), tone=gauge_tone(request), style="small", tip=estimate_tip(request))


def _send_tip(desk: Desk, chord: str) -> str:
    if desk.state.program.is_home_read_only:
        return READ_ONLY
    return (
        tr("Send when the reply ends ({chord})", chord=chord)
        if desk.is_replying
        else tr("Send ({chord})", chord=chord)
    )


def _more_menu(desk: Desk) -> None:
    """The menu of what puts words into the composer."""
    with desk.ui.menu(
        "more", "", icon="pen", tip=tr("Insert a prompt template, or write the message in your own editor")
    ) as is_open:
        if is_open:
            action_item(desk, "template")
            action_item(desk, "draft_editor")


def _preset_menu(desk: Desk) -> None:
    ui, summary, project = desk.ui, desk.summary, desk.state.config.project
    if summary is None:
        return
    current = summary.meta.preset
    is_missing = bool(selection.missing_preset(desk.state))
    label = tr("{current} (missing)", current=current) if is_missing else current or tr("No preset")
    tip = (
        tr("This project has no preset {current!r}: the program sends no files", current=current)
        if is_missing
        else tr("Context preset")
    )
    with ui.menu("preset", label, icon="layer-group", tip=tip) as is_open:
        if not is_open:
            return
        for name in ("", *project.presets):
            label = name or tr("No preset")
            if ui.menu_item(("preset", name), label, is_checked=name == current) and name != current:
                desk.send(ChangeDiscussion(discussion_id=summary.meta.id, changes={"preset": name}))
        ui.divider("more")
        if ui.menu_item("edit", tr("Edit presets"), icon="pen", shortcut="Ctrl+1"):
            run_action("presets", desk)
