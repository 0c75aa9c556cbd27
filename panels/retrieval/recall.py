"""Recall in the Retrieval panel: whether what fits goes with a message, what would now, what did lately, what never does."""

from __future__ import annotations

from core.base import figures as fmt
from core.base.text import one_line
from core.settings.messages import ChangeProjectSetting, ChangeSetting
from core.values.recall import SentRecall
from panels.base import selection
from panels.base.desk import Desk
from panels.context.recalled_rows import passage_words, recalled_rows, source_words
from panels.retrieval.sources import ask_to_look, is_locked

SHOWN = 5


def recall_section(desk: Desk) -> None:
    """Draw it for the selected discussion. Sends ChangeProjectSetting, ChangeSetting, KeepOut."""
    ask_to_look(desk)
    _switch(desk)
    _next(desk)
    _lately(desk)
    _kept_out(desk)


def _switch(desk: Desk) -> None:
    ui, settings = desk.ui, desk.state.config.settings.retrieval
    with ui.surface("switch", "card", padding=(12, 10)), ui.group("lines", gap=6):
        changed = ui.checkbox(
            "ambient", "Send along what fits", settings.ambient,
            is_enabled=not is_locked(desk.state.config.project), tip="For this project, in its manual_slop.toml",
        )  # fmt: skip
        if changed is not None:
            desk.send(ChangeProjectSetting("retrieval.ambient", changed))
        ui.text("about", f"The few best passages of knowledge and past discussions join a message, behind your words and at most "
                f"{settings.ambient_tokens:,} tokens. You see them before you send, and can keep each one out.",
                tone="muted", style="small", wraps=True)  # fmt: skip


def _next(desk: Desk) -> None:
    ui, report = desk.ui, selection.report_of(desk.state)
    if not desk.state.config.settings.retrieval.ambient:
        return
    with ui.group("next", gap=8):
        ui.text("title", "With the next message", style="strong")
        is_said = desk.opened is not None and bool(desk.opened.kept_out)
        if report is None or not (report.recalled.passages or report.recalled.problem or is_said):
            text = (
                "Nothing fits what stands in the composer."
                if _has_words(desk)
                else "Write a message: what fits it is shown here."
            )
            ui.text("none", text, tone="muted", style="small", wraps=True)
        if report is not None:
            recalled_rows(desk, report.recalled)


def _has_words(desk: Desk) -> bool:
    return desk.opened is not None and bool(desk.opened.draft.text.strip())


def _lately(desk: Desk) -> None:
    ui, chosen = desk.ui, desk.state.discussions.selected_id
    sent = [one for one in desk.state.context.sent_recall if one.discussion_id == chosen]
    if not sent and not desk.state.config.settings.retrieval.ambient:
        return
    with ui.group("lately", gap=8):
        ui.text("title", "Sent lately in this discussion", style="strong")
        if not sent:
            ui.text("none", "Nothing since the program was started.", tone="muted", style="small", wraps=True)
        for at, one in enumerate(sent[:SHOWN]):
            _sent(desk, at, one)


def _sent(desk: Desk, at: int, sent: SentRecall) -> None:
    ui = desk.ui
    with ui.surface(("sent", at), "inset", padding=(12, 8)), ui.group("lines", gap=4):
        when = fmt.moment(sent.at, desk.state.now)
        ui.text("when", f"{when} · ≈ {sent.tokens_est:,} tokens", style="small_strong", width=0)
        ui.text("words", f"With “{one_line(sent.words, 80)}”", tone="muted", style="small", width=0)
        for passage in sent.passages:
            with ui.group(("passage", passage.place), gap=2):
                ui.text(
                    "place", passage_words(desk.state, passage), style="small", wraps=True, tip=passage.title
                )
                ui.text("why", f"Because {passage.why}.", tone="muted", style="small", wraps=True)


def _kept_out(desk: Desk) -> None:
    ui, kept = desk.ui, desk.state.config.settings.retrieval.kept_out
    if not kept:
        return
    with ui.group("kept out", gap=8):
        ui.text("title", "Never sent by themselves", style="strong")
        for source in kept:
            with ui.row(("source", source)):
                said = source_words(desk.state, source)
                ui.text("name", said, style="small", width=0, wraps=True)
                if ui.button("back", "Let in", kind="ghost", is_small=True):
                    rest = tuple(one for one in kept if one != source)
                    desk.send(ChangeSetting("retrieval.kept_out", rest))
