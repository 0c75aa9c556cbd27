"""The note above the composer before a send that pays for a whole prefix once more, and what can be done instead."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.values.discussion import OpenDiscussion
from core.services.settings.settings_messages import ChangeSetting
from core.talk.caching.warmth import OFFERED_FROM_USD, ColdSend, cold_send, cold_words
from panels.base.desk import Desk, run_action
from panels.discussion.discussion_room import can_send
from panels.discussion.slash import compact
from panels.discussion.view import ComposerView, DiscussionView

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
            "send", "Send anyway", is_small=True, is_enabled=can_send(desk), tip="Send it at this cost"
        ):
            run_action("send", desk)
        tip = "Replace what is old by a summary; that reads the discussion once"
        if ui.button(
            "compact", "Compact first", is_small=True, is_enabled=can and bool(opened.entries), tip=tip
        ):
            compact(desk)
        tip = "Start a new discussion with the words that you typed here"
        if ui.button("new", "New discussion", is_small=True, is_enabled=can, tip=tip):
            desk.view.of(DiscussionView).carried = (opened.id, composer.text)
            run_action("new", desk)
    if cold.is_offer:
        _offer(desk, is_enabled=can)


def _offer(desk: Desk, *, is_enabled: bool) -> None:
    """Ask, the first time that it matters, whether such sends are to be said from now on."""
    ui = desk.ui
    question = f"Say this before each send that writes more than {LIMIT_WORDS} again?"
    ui.text("question", question, tone="muted", style="small", wraps=True)
    with ui.row("answers", gap=6):
        if ui.button("say", f"Say it from {LIMIT_WORDS}", is_small=True, is_enabled=is_enabled,
                     tip="You change the amount in Caching, Settings"):  # fmt: skip
            desk.send(ChangeSetting(KEY, OFFERED_FROM_USD))
        if ui.button("never", "Never say it", kind="ghost", is_small=True, is_enabled=is_enabled):
            desk.send(ChangeSetting(KEY, 0))
