"""Foot of a message: its versions to page through, and the branches that begin there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.stored_texts import retold
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion, ReplyVersions
from core.kernel.values.messages import Message, Role, ToolResultPart
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.kernel.values.window import ViewCut
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChooseVersion,
    DeleteMessage,
    SelectDiscussion,
    SetDraft,
)
from core.talk.turn.turn_messages import RegenerateReply
from panels.base.desk import Desk, action_tip
from panels.base.ui import Ui
from panels.base.view import Memo
from panels.discussion.model_picker import regenerate_with
from panels.discussion.view import DiscussionView

BRANCHES_SHOWN = 3
HEAD = ""
"""Place of branches that hold nothing of the discussion: before its first message."""

Branches = Mapping[str, tuple[DiscussionSummary, ...]]
"""Branches of a discussion by the id of the last message that both have, `HEAD` where they have none."""


def branches_of(state: AppState, memo: Memo, discussion_id: str) -> Branches:
    """Branches of a discussion, oldest first. O(discussions) once for each list of them."""
    rows = state.discussions.summaries
    return memo.get("branches", (rows, discussion_id), lambda: _branches(rows, discussion_id))


def _branches(rows: Mapping[str, DiscussionSummary], discussion_id: str) -> Branches:
    found: dict[str, tuple[DiscussionSummary, ...]] = {}
    for row in sorted(rows.values(), key=lambda row: (row.meta.created_at, row.meta.id)):
        if row.meta.parent_id == discussion_id and not row.meta.delegated_by:
            point = row.meta.branch_message_id
            found[point] = (*found.get(point, ()), row)
    return found


def versions_foot(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Draw which version of a message is seen, with buttons to the others. Nothing where there is but one."""
    versions = opened.versions_of(message)
    if versions is None or message.id != versions.chosen_id:
        return
    with desk.ui.row("versions", gap=4):
        pager(desk, opened, versions)
        if message.role is Role.ASSISTANT and desk.ui.button(
            "side",
            "",
            icon="table-columns",
            kind="ghost",
            is_small=True,
            tip=tr("Show the versions side by side"),
        ):
            desk.view.of(DiscussionView).side_by_side[opened.id] = message.id


def pager(desk: Desk, opened: OpenDiscussion, versions: ReplyVersions) -> None:
    """Draw the buttons `‹ 2/3 ›`."""
    ui = desk.ui
    for name, icon, step, tip in (
        ("before", "chevron-left", -1, action_tip(desk, "version_before")),
        ("number", "", 0, ""),
        ("after", "chevron-right", 1, action_tip(desk, "version_after")),
    ):
        if not step:
            shown = f"{versions.number}/{len(versions.ids)}"
            ui.text(
                name,
                shown,
                tone="muted",
                style="small",
                tip=tr("Versions of this message; the program sends the version shown"),
            )
            continue
        to = versions.neighbour(step, opened.asked_version)
        if ui.button(name, "", icon=icon, kind="ghost", is_small=True, is_enabled=bool(to), tip=tip) and to:
            desk.send(ChooseVersion(discussion_id=opened.id, message_id=versions.chosen_id, step=step))


def branch_foot(desk: Desk, opened: OpenDiscussion, point_id: str) -> None:
    """Draw that this discussion was branched behind a message, and which others were.

    Args:
        point_id: of the message, `HEAD` for the place before the first one.
    """
    meta = desk.summary.meta if desk.summary is not None else None
    ui, rows = desk.ui, desk.state.discussions.summaries
    if meta is not None and meta.parent_id and meta.branch_message_id == point_id:
        icon, words = (
            ("sitemap", tr("Task of")) if meta.delegated_by else ("code-branch", tr("Branched here from"))
        )
        with ui.row(("branched", point_id), gap=6):
            ui.icon("icon", icon, tone="accent")
            ui.text("text", words, tone="muted", style="small")
            parent = rows.get(meta.parent_id)
            if parent is None:
                ui.text("gone", tr("a discussion that is not in the list"), tone="faint", style="small")
            elif ui.button(
                "parent", parent.meta.name, kind="link", is_small=True, tip=tr("Open the discussion")
            ):
                desk.send(SelectDiscussion(meta.parent_id))
    made = branches_of(desk.state, desk.view.memo, opened.id).get(point_id, ())
    if not made:
        return
    with ui.row(("branches", point_id), gap=6):
        ui.icon("icon", "code-branch", tone="muted")
        ui.text(
            "text",
            tr("Branch from here") if len(made) == 1 else tr("Branches from here"),
            tone="muted",
            style="small",
        )
        for row in made[-BRANCHES_SHOWN:]:
            if ui.button(
                ("to", row.meta.id), row.meta.name, kind="link", is_small=True, tip=tr("Open the discussion")
            ):
                desk.send(SelectDiscussion(row.meta.id))
        if len(made) > BRANCHES_SHOWN:
            ui.text(
                "more", tr("and {made} older", made=len(made) - BRANCHES_SHOWN), tone="faint", style="small"
            )


def branch_points(desk: Desk, opened: OpenDiscussion) -> Mapping[str, tuple[str, ...]]:
    """Branch points of a discussion by the message that they stand below; those in a version that was put aside stand
    below the one that is seen. O(branches and versions).
    """
    made = branches_of(desk.state, desk.view.memo, opened.id)
    meta = desk.summary.meta if desk.summary is not None else None
    own = meta.branch_message_id if meta is not None and meta.parent_id else None
    return desk.view.memo.get(
        "branch points", (made, opened.versions, own), lambda: _points(made, opened.versions.values(), own)
    )


def _points(
    made: Branches, versions: Iterable[ReplyVersions], own: str | None
) -> Mapping[str, tuple[str, ...]]:
    points = dict.fromkeys((*made, *((own,) if own is not None else ())))
    seen_instead: dict[str, str] = {}
    for known in versions if points else ():
        for run in known.aside.values():
            seen_instead.update({entry.id: known.chosen_id for entry in run})
    found: dict[str, tuple[str, ...]] = {}
    for point in points:
        place = point
        while place in seen_instead:  # a version may stand in another that was put aside
            place = seen_instead[place]
        found[place] = (*found.get(place, ()), point)
    return found


# Usage of a reply, in the words of its card: one line, and every figure for the tooltip. Pure.


def usage_line(usage: Usage) -> str:
    """Usage of a reply, in a line: `512 tok · $0.011 · cached 11.9k`."""
    is_exact = not usage.is_estimate
    parts = [
        tr("{output_tokens} tok", output_tokens=fmt.tokens_est(usage.output_tokens, is_exact=is_exact))
        if usage.output_tokens is not None
        else tr("usage {NOT_REPORTED}", NOT_REPORTED=fmt.NOT_REPORTED)
    ]
    parts.append(fmt.money(usage.cost_usd, is_estimate=usage.is_estimate))
    if usage.cache_read_tokens:
        parts.append(tr("cached {cache_read_tokens}", cache_read_tokens=fmt.tokens(usage.cache_read_tokens)))
    return " · ".join(parts)


def usage_details(usage: Usage) -> str:
    """Every figure of a reply, one a line, for a tooltip."""
    rows = [
        ("sent", fmt.tokens(usage.input_tokens)),
        (tr("read from cache"), fmt.tokens(usage.cache_read_tokens)),
        (tr("written to cache"), fmt.tokens(usage.cache_write_tokens)),
        ("reply", fmt.tokens(usage.output_tokens)),
        (tr("reasoning in reply"), fmt.tokens(usage.reasoning_tokens)),
        ("cost", fmt.money(usage.cost_usd, is_estimate=usage.is_estimate)),
    ]
    if usage.is_estimate:
        rows.append(("estimated", tr("the provider did not report all tokens")))
    if usage.time_to_first_token_s is not None:
        rows.append((tr("first token after"), fmt.span(usage.time_to_first_token_s)))
    if usage.duration_s is not None:
        rows.append((tr("whole reply after"), fmt.span(usage.duration_s)))
    if usage.request_id:
        rows.append((tr("request"), usage.request_id))
    if usage.miss_reason:
        rows.append((tr("cache miss"), retold(usage.miss_reason)))
    return "\n".join(f"{name}: {value}" for name, value in rows)


# The mark where the model's view begins: how much stands above it, and what the model is told of that.

SHORTER = tr("The program shortened the model's view")
"""Title where every message is in it."""


def view_mark(own: DiscussionView, ui: Ui, opened: OpenDiscussion, cut: ViewCut) -> None:
    """Draw a line above the first message that the model reads. Earlier messages stay visible above."""
    place = (opened.id, cut.id)
    is_open, has_words = place in own.open_views, bool(cut.summary.strip() or cut.journal.strip())
    with ui.surface("view", "inset", padding=(12, 6)), ui.group("parts", gap=6):
        with ui.row("line", gap=6):
            ui.icon("icon", "scissors", tone="accent")
            title = tr("The model's view begins here") if cut.left_messages else SHORTER
            ui.text("title", title, style="small_strong", width=0)
            label = tr("Hide") if is_open else tr("Show the text that the model reads instead")
            if has_words and ui.button("fold", label, kind="link", is_small=True):
                own.open_views ^= {place}
        ui.text("left", left_words(cut, " above"), tone="muted", style="small", wraps=True)
        if is_open:
            for key, title, text in (
                ("summary", "A summary", cut.summary),
                ("journal", tr("The model's journal"), cut.journal),
            ):
                if text.strip():
                    ui.text((key, "title"), title, tone="faint", style="small")
                    ui.markdown(key, text)


def left_words(cut: ViewCut, where: str = "") -> str:
    """Words of what left: `12 messages above, ≈3.4k tokens, left it; the log keeps them`. `where`: as ` above`."""
    left = fmt.count(cut.left_messages, tr("message"), tr("messages"))
    tokens = fmt.tokens_est(cut.left_tokens_est)
    said = (
        [
            tr(
                "{left}{where} ({tokens} tokens) left the model's view; the log keeps them",
                left=left,
                where=where,
                tokens=tokens,
            )
        ]
        if cut.left_messages
        else []
    )
    said += (
        [tr("{calls} left the view too", calls=fmt.count(len(cut.calls), tr("tool call"), tr("tool calls")))]
        if cut.calls
        else []
    )
    said += (
        [
            tr(
                "{shrunk} cut to beginning and end",
                shrunk=fmt.count(len(cut.shrunk), tr("long result"), tr("long results")),
            )
        ]
        if cut.shrunk
        else []
    )
    is_told = not cut.left_messages or cut.summary.strip() or cut.journal.strip()
    words = "; ".join(said) or tr("No message left the model's view")
    return f"{words}." + ("" if is_told else tr(" The model reads no summary of them."))


# The words of a message, and the menu at a right click on them.


def message_text(
    ui: Ui, message: Message, terms: tuple[str, ...] = (), found_at: int = -1, *, root: str = ""
) -> None:
    """Draw what a message says: a person's words as they wrote them, a reply as Markdown, its pictures below `root`."""
    if message.text:
        is_written = message.role is Role.USER
        ui.markdown("text", message.text, is_written=is_written, terms=terms, found_at=found_at, root=root)


def copied_text(message: Message) -> str:
    """Markdown of a message; of results of tools their text."""
    results = (part.text for part in message.parts if isinstance(part, ToolResultPart))
    return message.text or "\n\n".join(results)


def message_menu(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Menu of a message and of what is selected of it."""
    ui = desk.ui
    with ui.context_menu("context menu") as is_open:
        if not is_open:
            return
        _text_items(desk, opened.id, copied_text(message))
        ui.divider("message group")
        is_own = not message.is_of_tools
        if is_own and ui.menu_item("edit", tr("Edit"), icon="pen"):
            desk.view.of(DiscussionView).editing[opened.id, message.id] = message.text
        if ui.menu_item("branch", tr("Branch here"), icon="code-branch"):
            desk.send(BranchDiscussion(opened.id, message.id))
        if message.role is Role.ASSISTANT:
            if ui.menu_item(
                "regenerate", tr("Regenerate"), icon="arrows-rotate", is_enabled=not desk.is_replying
            ):
                desk.send(RegenerateReply(discussion_id=opened.id, message_id=message.id))
            regenerate_with(desk, opened, message)
        ui.divider("delete group")
        if is_own and ui.menu_item("delete", tr("Delete"), icon="trash-can", tone="error"):
            desk.send(DeleteMessage(opened.id, message.id))


def live_menu(desk: Desk, call: LiveCall) -> None:
    """Menu of the words of a reply that is on its way."""
    with desk.ui.context_menu("context menu") as is_open:
        if is_open:
            _text_items(desk, call.discussion_id, call.text)


def _text_items(desk: Desk, discussion_id: str, text: str) -> None:
    ui = desk.ui
    selected = ui.selected_text()
    if ui.menu_item("copy", tr("Copy"), icon="copy", shortcut="Ctrl+C", is_enabled=bool(selected)):
        ui.copy(selected)
    if ui.menu_item("copy all", tr("Copy message as Markdown"), icon="copy", is_enabled=bool(text)):
        ui.copy(text)
    label = tr("Quote selection") if selected else tr("Quote message")
    if ui.menu_item("quote", label, icon="quote-left", is_enabled=bool(selected or text)):
        quote(desk, discussion_id, selected or text)


def quote(desk: Desk, discussion_id: str, text: str) -> None:
    """Put a text into the composer as a quotation, behind what stands there."""
    composer = desk.view.of(DiscussionView).composer(discussion_id)
    quoted = "\n".join(f"> {line}".rstrip() for line in text.strip("\n").split("\n"))
    before = composer.text.rstrip()
    written = f"{before}\n\n{quoted}\n\n" if before else f"{quoted}\n\n"
    composer.put(written)
    desk.send(SetDraft(discussion_id, written))
    desk.view.focus, desk.view.focus_not = "composer", ""
