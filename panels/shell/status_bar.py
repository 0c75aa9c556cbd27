"""The status bar: model, tokens against the window, cost, workers, connection, where the data lies."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice

from core.agent.delegation import is_at_work
from core.app.app_messages import Command, DismissNotice
from core.kernel import figures as fmt
from core.kernel.errors import FailureKind
from core.kernel.frame import one_line
from core.kernel.language import joined, tr
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.state import AppState, Level, Notice
from core.kernel.values.usage import Usage
from core.knowledge.harvest.harvest_messages import NOTICE as HARVEST
from core.knowledge.knowledge_messages import WAYS_BACK
from core.knowledge.mcp_server.proposal_messages import NOTICE as PROPOSALS
from core.mcp.mcp_messages import NOTICE as SERVERS
from core.services.settings.asked_values import asked_lines, question_id, trust_reason, trust_title
from core.services.settings.settings_messages import TrustProject
from core.services.spending.estimates import next_request
from core.talk.caching.warmth import RECENT, is_of_model
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.agent.agent_room import show_autonomy
from panels.agent.autonomy import MEANINGS, autonomy_words
from panels.base import view as selection
from panels.base.desk import Desk
from panels.base.gauge import LEVEL_ICONS, estimate_tip, gauge, gauge_tone
from panels.base.ui import Style, Tone, Ui
from panels.base.view import Dialog, WindowView
from panels.caching.spending import CacheLook, look_of
from panels.discussion.approvals import go_to_question, questions
from panels.knowledge.knowledge_room import PROPOSED, KnowledgeView
from panels.shell.layout import STATUS_PX, panes, rail_px
from panels.shell.rooms import NoticesView, shown_panes

LINE_PX = 24
TIGHT_PX, CROWDED_PX = 640, 1_000
"""Width under which what is money and tokens stays, and the rest gives way; while something is at work beside them."""


def status_bar(desk: Desk) -> None:
    """Draw the line at the foot of the window. O(workers)."""
    state, ui = desk.state, desk.ui
    is_at_work = bool(state.turns.calls or state.agent.turns) or any(
        one.status != "idle" for one in state.program.workers.values()
    )
    is_tight = 0 < ui.width() < (CROWDED_PX if is_at_work else TIGHT_PX)
    with (
        ui.surface("status", "base", height=STATUS_PX, padding=(12, 2)),
        ui.row("line", gap=16, height=LINE_PX),
    ):
        _model(state, ui)
        request = next_request(state, state.discussions.selected_id)
        if request is not None:
            tip = estimate_tip(request)
            ui.text("tokens", gauge(request), tone=gauge_tone(request), style="small", tip=tip)
        summary = selection.selected(state)
        if summary is not None and summary.usage != Usage():
            ui.text("cost", fmt.money(summary.usage.cost_usd, is_estimate=summary.usage.is_estimate), tone="muted", style="small",
                    tip=tr("Cost of this discussion so far"))  # fmt: skip
        if summary is not None:
            _cache(state, ui, summary, is_tight=is_tight)
        ui.push()
        _autonomy(desk, is_tight=is_tight)
        _questions(desk, is_tight=is_tight)
        _workers(state, ui, is_tight=is_tight)
        if state.program.holder:
            tip = tr(
                "Another Manual Slop uses this data folder ({holder}). Until that program ends, this one has no inbox, channels or autonomy",
                holder=state.program.holder,
            )
            if is_tight:
                ui.icon("home elsewhere", "lock", tone="warn", tip=tip)
            else:
                ui.badge("home elsewhere", tr("data folder in use by another program"), tone="warn", tip=tip)
        if state.program.is_home_read_only:
            tip = tr("Nothing can be saved: the data folder {home} is read-only", home=state.program.home)
            if is_tight:
                ui.icon("read only", "lock", tone="warn", tip=tip)
            else:
                ui.badge("read only", tr("read-only data folder"), tone="warn", tip=tip)
        if state.config.project.root and not is_tight:
            ui.text("project", state.config.project.name or state.config.project.root, tone="faint", style="small",
                    tip=state.config.project.root)  # fmt: skip


def _model(state: AppState, ui: Ui) -> None:
    summary = selection.selected(state)
    if summary is None:
        ui.text("model", tr("No discussion"), tone="muted", style="small")
        return
    meta = summary.meta
    status = state.config.providers.get(meta.provider)
    is_ready = status is not None and status.is_ready
    icon, tone, problem = _light(state, meta.provider)
    with ui.row("connection", gap=6):
        ui.icon("icon", icon, tone=tone, tip=problem or tr("Ready"))
        label = f"{selection.model_label(state, meta.provider, meta.model)}"
        ui.text(
            "model", label, tone="muted", style="small", tip=selection.provider_label(state, meta.provider)
        )
        if tone == "warn" and not is_ready:
            ui.text("problem", problem, tone="warn", style="small", tip=problem)


def _light(state: AppState, provider: str) -> tuple[str, Tone, str]:
    """Icon of a provider, its tone, and what stands against it: green only where nothing is known to."""
    if not state.config.providers:
        return "circle", "faint", tr("Reading the settings…")
    status, opened = state.config.providers.get(provider), selection.opened(state)
    if status is None or not status.is_ready:
        problem = status.advice if status else selection.without_provider(provider)
        return "plug-circle-xmark", "warn", problem
    failure = opened.failure if opened is not None else None
    if failure is not None and failure.kind is not FailureKind.SPEND_LIMIT:
        return "circle-exclamation", "error", tr("The last request failed: {what}", what=failure.what)
    return "circle", "ok", ""


def _cache(state: AppState, ui: Ui, summary: DiscussionSummary, *, is_tight: bool) -> None:
    """State of the prefix: warm or not, until when, and where there is room what the last reply read from it."""
    look = look_of(state, summary.meta.id)
    words = cache_words(state, summary, look)
    if is_tight:
        words = words.partition(" · ")[0]
    if words:
        tip = "\n".join(filter(None, (look.headline, look.words, look.next_words)))
        is_read = look.is_read
        with ui.row("cache", gap=6):
            ui.icon("icon", "bolt", tone="ok" if is_read else "faint")
            ui.text("text", words, tone="ok" if is_read else "muted", style="small", tip=tip)


def cache_words(state: AppState, summary: DiscussionSummary, look: CacheLook) -> str:
    """`cache warm until 14:12 · 11.9k reused`; empty where its model never cached anything of it."""
    if look.standing.is_on and not is_of_model(state, summary.meta.id):
        return ""
    if not look.is_read:
        return look.short
    opened = selection.opened(state)
    recent = islice(selection.latest(opened), RECENT) if opened is not None else iter(())
    used = next((message.usage for message in recent if message.usage is not None), None)
    reused = used.cache_read_tokens if used is not None else None
    if not reused:
        return look.short
    return joined(" · ", (look.short, tr("{tokens} tokens reused", tokens=fmt.tokens(reused))))


def _workers(state: AppState, ui: Ui, *, is_tight: bool) -> None:
    """Draw what is at work; where room is short by its sign alone, unless it failed."""
    for name, worker in state.program.workers.items():
        if worker.status == "idle":
            continue
        tone: Tone = "error" if worker.status == "failed" else "muted"
        with ui.row(("worker", name), gap=6):
            words, has_failed = worker.detail or worker.name, worker.status == "failed"
            tip = words if is_tight else ""
            ui.icon("icon", "circle-exclamation" if has_failed else "gear", tone=tone, tip=tip)
            if has_failed or not is_tight:
                ui.text("detail", words, tone=tone, style="small", tip=worker.name)
            if worker.fraction is not None:
                ui.progress("fraction", worker.fraction, width=28 if is_tight else 64)
    calls = sum(is_at_work(state, name) for name in state.turns.calls.keys() | state.agent.turns.keys())
    if calls:
        words = fmt.count(calls, tr("reply in progress"), tr("replies in progress"))
        if is_tight:
            ui.icon("calls", "comments", tone="accent", tip=words)
        else:
            ui.text("calls", words, tone="accent", style="small")


def _autonomy(desk: Desk, *, is_tight: bool) -> None:
    """State of the autonomous discussion and the time to its next turn; a click goes there."""
    autonomy = desk.state.attention.autonomy
    if autonomy is None:
        return
    icon, _, words = autonomy_words(autonomy, desk.state.now)
    row = desk.state.discussions.summaries.get(autonomy.discussion_id)
    name = f"“{row.meta.name}”" if row is not None else tr("A discussion")
    label = words.rpartition(" · ")[2] if is_tight else words
    tip = tr(
        "{discussion} is autonomous: {state}. {meaning}",
        discussion=name,
        state=words,
        meaning=autonomy.stopped or MEANINGS[autonomy.state],
    )
    if desk.ui.button("autonomy", label, icon=icon, kind="ghost", is_small=True, tip=tip):
        desk.send(SelectDiscussion(autonomy.discussion_id))
        show_autonomy(desk)


def _questions(desk: Desk, *, is_tight: bool) -> None:
    """Say that tool calls wait for a yes, in whatever discussion; a click goes there."""
    waiting = questions(desk)
    if not waiting:
        return
    count = sum(number for _, number in waiting)
    words = (
        tr("One tool call needs your approval")
        if count == 1
        else tr("{count:,} tool calls need your approval", count=count)
    )
    label = f"{count:,}" if is_tight else words
    if desk.ui.button(
        "questions",
        label,
        icon="shield-halved",
        kind="ghost",
        is_small=True,
        tip=tr("Show the question ({waiting})", waiting=words),
    ):
        go_to_question(desk, waiting[0][0])


# Notices that stay until they are read: what happened, the remedy, an action, and a way to dismiss.

SHOW = tr("Show")
LEADS = {PROPOSALS: "knowledge", SERVERS: "mcp"}
"""Panel to which a notice leads, by its id: a person answers there what it says."""

SHOWN = 3
SHOWN_TIGHT = 1
WIDTH_PX, MARGIN_PX = 420.0, 12.0
NARROW_PX = 260.0
"""Width under which a button stands below the words of a notice: beside them there is no room for words."""
WORDS_PX = 110.0
"""Width under which words beside a button would be broken inside: then, too, it stands below them."""
AROUND_PX, LETTER_PX = 106.0, 6.6
"""Width of what stands around words and label, and of a letter of the label, about."""
COMPOSER_PX, FREE_FROM_PX = 170, 480.0
"""Room below them for the composer in a low window without a list; height from which the pane leaves them room of their own."""
NOTICES_TIGHT_PX = 1000
"""In a narrower window notices must leave room for the conversation."""
ASKED, ASKED_TIGHT = 5, 2
LOW_PX = 480
"""Height of a window under which the question of trust is its title and the way to all of it: more would lie over the list."""
ASKED_CHARS = 200


def notices_panel(desk: Desk) -> None:
    """Draw what the person should read. Sends DismissNotice, actions."""
    project, own = desk.state.config.project, desk.view.of(NoticesView)
    question = desk.view.memo.get("question of trust", (project.asked,), lambda: question_id(project.asked))
    asks = bool(project.asked) and (project.root, question) not in own.was_trust_put_off
    notices = _worth_showing(desk.state, desk.view)
    said = _said(desk)
    if not notices and not asks and said is None:
        desk.view.notices_px = 0.0
        return
    is_tight = desk.ui.width() < NOTICES_TIGHT_PX
    shown = dict(panes(desk.view, desk.view.room_px)) if desk.view.page == "chat" else {}
    width = shown["list"] - 2 * MARGIN_PX if "list" in shown else WIDTH_PX
    left, high_px = rail_px(desk.ui.width(), desk.ui.height()), desk.ui.height()
    is_room = "list" in shown or tuple(shown) == ("hub",) or not 0 < high_px < FREE_FROM_PX
    foot = STATUS_PX if is_room else STATUS_PX + COMPOSER_PX
    with desk.ui.floating("notices", width=width, left=left, foot=foot), desk.ui.group("stack"):
        desk.view.notices_px = desk.ui.height() + 2 * MARGIN_PX if is_room else 0.0
        _notices(desk, own, notices, SHOWN_TIGHT if is_tight else SHOWN, width)
        if said is not None and _banner(desk.ui, "said", said, width):
            desk.view.said = None
        if asks:
            limit = 0 if 0 < desk.ui.height() < LOW_PX else ASKED_TIGHT if is_tight else ASKED
            _trust_banner(desk, own, question, limit)


def _said(desk: Desk) -> Notice | None:
    """Say why a chord did nothing, until another is pressed or another discussion stands in front."""
    said = desk.view.said
    if said is None or said[0] != desk.state.discussions.selected_id:
        return None
    return Notice(id="said", level=Level.INFO, text=said[1])


def _worth_showing(state: AppState, view: WindowView) -> tuple[Notice, ...]:
    """All but what is shown elsewhere: the question of trust above, what belongs to a discussion that is not in front,
    the way back to what was deleted and why a harvest or a merge did not begin in their panel. A failed send is told where it failed.
    """
    opened = selection.opened(state)
    here = opened.id if opened is not None and view.page == "chat" else ""
    told = {"trust"}
    if "hub" in shown_panes(view):
        told.update({"knowledge": WAYS_BACK, "harvest": (HARVEST,)}.get(view.panel, ()))
        if view.panel == "knowledge" and view.of(KnowledgeView).tab == "merge":
            told.add(HARVEST)
    if opened is not None and opened.failure is not None:
        told.add(f"call/{opened.id}")
    return tuple(
        notice
        for notice in state.program.notices
        if notice.id not in told and notice.discussion_id in ("", here) and not _stands_in_panel(view, notice)
    )


def _stands_in_panel(view: WindowView, notice: Notice) -> bool:
    """True if the panel in front shows what a notice says. A refusal is said there as everywhere."""
    if view.panel != LEADS.get(notice.id) or "hub" not in shown_panes(view):
        return False
    is_there = notice.id != PROPOSALS or view.of(KnowledgeView).tab == PROPOSED
    return is_there and (notice.is_standing or notice.level is Level.INFO)


def _lead(desk: Desk, notice_id: str) -> None:
    """Show the panel that a notice leads to."""
    if notice_id == PROPOSALS:
        desk.view.of(KnowledgeView).tab = PROPOSED
    desk.view.show_hub(LEADS[notice_id])


def _notices(desk: Desk, own: NoticesView, notices: tuple[Notice, ...], shown: int, width: float) -> None:
    """The gravest and newest of them, each in its place."""
    ui, send = desk.ui, desk.send
    graves = sorted(
        range(len(notices)), key=lambda at: (list(Level).index(notices[at].level), at), reverse=True
    )
    hidden = len(notices) - shown
    if hidden > 0:
        label = (
            tr("Show fewer")
            if own.are_all_shown
            else tr("Show {name}", name=fmt.count(hidden, tr("more notice"), tr("more notices")))
        )
        if ui.button("more", label, kind="plain", is_small=True):
            own.are_all_shown = not own.are_all_shown
    for at in sorted(graves if own.are_all_shown else graves[:shown], reverse=True):
        notice = notices[at]
        did = _banner(ui, ("notice", notice.id), notice, width)
        if did == "action" and isinstance(notice.action, TrustProject) and notice.action.is_trusted:
            desk.view.dialog = Dialog(kind="trust")  # nobody says yes to what does not stand above the button
        elif did == "action" and isinstance(notice.action, Command):
            send(notice.action)
        elif did == "action" and notice.id in LEADS:
            _lead(desk, notice.id)
        if did:
            send(DismissNotice(notice.id))


def _banner(ui: Ui, key: Hashable, notice: Notice, width: float) -> str:
    """Draw one notice. Returns `action`, `dismiss` or nothing."""
    is_narrow = width < NARROW_PX
    icon, tone = LEVEL_ICONS[notice.level]
    style: Style = "small" if is_narrow else "body"
    label = SHOW if notice.id in LEADS else notice.action_label if notice.action is not None else ""
    is_below = is_narrow or width - AROUND_PX - LETTER_PX * len(label) < WORDS_PX
    did = ""
    with ui.surface(key, "popup", padding=(12, 8)):
        with ui.row("head"):
            ui.icon("icon", icon, tone=tone)
            ui.text("text", notice.text, style=style, wraps=True, width=0)
            if label and not is_below and ui.button("action", label, kind="plain", is_small=True):
                did = "action"
            if ui.button("dismiss", "", icon="xmark", kind="ghost", tip=tr("Dismiss"), is_small=True):
                did = "dismiss"
        if notice.detail:
            ui.text("detail", notice.detail, tone="muted", style="small", wraps=True)
        if label and is_below and ui.button("action", label, kind="plain", is_small=True):
            did = "action"
    return did


def _trust_banner(desk: Desk, own: NoticesView, question: str, limit: int) -> None:
    """Say that the project asks, and for what first, where there is height for that. The whole question, and the yes,
    stand in the dialog.

    Args:
        limit: most lines of it, 0 for the title alone.
    """
    ui, project = desk.ui, desk.state.config.project
    lines = desk.view.memo.get("lines of trust", (project.asked,), lambda: asked_lines(project.asked))
    with ui.surface("trust", "popup", padding=(12, 8)):
        with ui.row("head"):
            ui.icon("icon", "shield-halved", tone="warn")
            ui.text("text", trust_title(project), style="strong", wraps=True, width=0)
        if limit:
            ui.text("why", trust_reason(project), tone="muted", style="small", wraps=True)
        for index, line in enumerate(lines[:limit]):
            ui.text(("asked", index), f"•  {one_line(line.words, ASKED_CHARS)}", style="small", wraps=True)
        if 0 < limit < len(lines):
            ui.text("rest", tr("and {lines} more", lines=len(lines) - limit), tone="muted", style="small")
        with ui.row("answers"):
            if ui.button("look", tr("Review all"), kind="primary", is_small=True):
                desk.view.dialog = Dialog(kind="trust")
            if ui.button("later", tr("Not now"), is_small=True):
                own.was_trust_put_off.add((project.root, question))
