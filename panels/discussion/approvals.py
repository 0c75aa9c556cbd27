"""The question before a tool call: what it would do, whole, why it asks, and a person's answer."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.agent.agent_messages import ApproveCall, RefuseCall
from core.agent.tool import escaped, hidden_count
from core.agent.tool_policy import bare_reason
from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.agent import ActKind, Approval, CallState, EditHunk, ToolCall
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.updates import is_under_way, outcome_of
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.desk import Desk
from panels.base.gauge import file_button
from panels.base.ui import Ui
from panels.base.window_fields import Kept
from panels.discussion.tool_mode import tool_label
from panels.discussion.view import DiscussionView

GUARD_S = 0.5
"""A yes works so long after its question came: nobody says it by what they were doing before."""
KINDS = {
    ActKind.READ: ("eye", tr("reads a file")),
    ActKind.EDIT: ("pen-to-square", tr("changes a file")),
    ActKind.COMMAND: ("terminal", tr("runs a command")),
    ActKind.NETWORK: ("globe", tr("uses the network")),
    ActKind.SERVER: ("plug", tr("calls an MCP server")),
    ActKind.OWN: ("book", tr("writes only the program's own files")),
}
MOST_REASONS = 12
BESIDE_FROM_PX = 330
"""Width from which all answers stand in one row."""
YES_BESIDE_FROM_PX = 260
"""Width from which both ways to say yes have their words in one row."""


class ApprovalView(msgspec.Struct):
    """Answers that are being made up, by the question's id.

    Args:
        left: numbers of the hunks that were left out; words: for the model with a no; sent: the answer under way.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    left: dict[str, frozenset[int]] = msgspec.field(default_factory=dict)
    words: dict[str, str] = msgspec.field(default_factory=dict)
    sent: dict[str, str] = msgspec.field(default_factory=dict)

    def taken(self, question_id: str, approval: Approval) -> tuple[int, ...]:
        """Numbers of the hunks that are ticked."""
        left = self.left.get(question_id, frozenset())
        return tuple(number for number in range(len(approval.hunks)) if number not in left)


def asking(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls that wait for a person, in order."""
    return tuple(call for call in calls if call.state is CallState.ASKING and call.approval is not None)


def questions(desk: Desk) -> tuple[tuple[str, int], ...]:
    """Discussions in which calls wait for a person, with their number; the selected one first, then those with a turn,
    then those that were not opened since a program that ended left them.
    """
    state = desk.state
    turns = sorted(state.agent.turns.items(), key=lambda one: one[0] != state.discussions.selected_id)
    counted = ((name, len(asking(turn.calls))) for name, turn in turns if name in state.discussions.summaries)
    rows, opened = state.discussions.summaries, state.discussions.open
    left = desk.view.memo.get("left questions", (rows, opened), lambda: tuple(
        (name, row.left_calls) for name, row in rows.items() if name not in opened and has_left_calls(row)
    ))  # fmt: skip
    return (*((name, number) for name, number in counted if number), *left)


def has_left_calls(row: DiscussionSummary) -> bool:
    """True if calls of a discussion that is not open ask once it is."""
    return bool(row.left_calls) and row.meta.has_tools


def go_to_question(desk: Desk, discussion_id: str) -> None:
    """Show the end of a discussion, where its question stands. Sends SelectDiscussion."""
    own = desk.view.of(DiscussionView)
    own.scroll = {name: row for name, row in own.scroll.items() if name != discussion_id}
    own.scroll_to = -1
    desk.view.page = "chat"
    desk.send(SelectDiscussion(discussion_id))


def approval_card(desk: Desk, discussion_id: str, call: ToolCall) -> None:
    """Draw the question of a call. Sends ApproveCall, RefuseCall. No key presses its yes, and it takes none of anybody's."""
    approval, ui = call.approval, desk.ui
    assert approval is not None
    own = desk.view.of(ApprovalView)
    with ui.surface(("approval", call.id, approval.id), "card_selected", padding=(14, 12)), ui.group("parts"):
        _head(ui, call, approval)
        _reasons(desk, approval)
        _detail(ui, approval)
        for number, hunk in enumerate(approval.hunks):
            _hunk(ui, own, call, approval, number, hunk)
        _answers(desk, own, discussion_id, call, approval)


def _head(ui: Ui, call: ToolCall, approval: Approval) -> None:
    icon, kind = KINDS[approval.kind]
    label = tool_label(call.name)
    title = escaped(approval.title) or label
    with ui.row("head"):
        ui.icon("icon", "shield-halved", tone="warn")
        ui.text("title", title, style="strong", wraps=True, width=0)
    with ui.row("about", gap=6):
        ui.icon("kind icon", icon)
        about = f"{label}: {kind}" if title != label else capital(kind)
        ui.text("kind", about, tone="muted", style="small", width=0, wraps=True, tip=call.name)
        if call.is_recovered:
            ui.badge("recovered", tr("call in text"), tone="warn",
                     tip=tr("The model wrote this call as text instead of calling the tool"))  # fmt: skip


def _reasons(desk: Desk, approval: Approval) -> None:
    ui = desk.ui
    hidden = hidden_count("".join((approval.title, approval.detail, *(hunk.text for hunk in approval.hunks))))
    reasons = list(approval.reasons[:MOST_REASONS])
    if len(approval.reasons) > MOST_REASONS:
        reasons.append(tr("and {reasons} more reasons", reasons=len(approval.reasons) - MOST_REASONS))
    sandbox = desk.state.agent.sandbox
    is_bare = approval.kind is ActKind.COMMAND and not sandbox.is_confined
    if is_bare and (warning := bare_reason(sandbox)) not in reasons:
        reasons.append(warning)
    if hidden:
        reasons.append(
            tr(
                "The call contains {hidden}, shown as ‹U+…›",
                hidden=fmt.count(hidden, tr("hidden character"), tr("hidden characters")),
            )
        )
    for number, reason in enumerate(reasons):
        with ui.row(("reason", number), gap=6):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", escaped(reason), tone="warn", style="small", wraps=True, width=0)


def _detail(ui: Ui, approval: Approval) -> None:
    """The command, address or path whole: it wraps, whatever its length."""
    if not approval.detail or (approval.hunks and approval.detail == approval.path):
        _path(ui, approval)
        return
    with ui.surface("detail", "code", padding=(10, 8)):
        ui.text("text", escaped(approval.detail).replace("\t", "    "), style="mono", wraps=True)
    _path(ui, approval)


def _path(ui: Ui, approval: Approval) -> None:
    if not approval.path:
        return
    with ui.row("path", gap=6):
        ui.text("text", escaped(approval.path), style="mono_small", tone="muted", wraps=True, width=0)
        is_new = not approval.base_sha256 and bool(approval.hunks)
        if is_new:
            ui.badge("new", tr("new file"))
        else:
            file_button(ui, approval.path)


def _hunk(ui: Ui, own: ApprovalView, call: ToolCall, approval: Approval, number: int, hunk: EditHunk) -> None:
    """A place of an edit, ticked or not."""
    asked = call.question_id
    is_taken = number in own.taken(asked, approval)
    with ui.group(("hunk", number), gap=4):
        if len(approval.hunks) > 1:
            ticked = ui.checkbox(
                "taken", hunk_words(hunk), is_taken, tip=tr("Accept change {number}", number=number + 1)
            )
            if ticked is not None:
                own.left[asked] = own.left.get(asked, frozenset()) ^ {number}
        else:
            ui.text("where", hunk_words(hunk), tone="muted", style="small")
        ui.code("text", escaped(hunk.text.rstrip("\n")), language="diff")


def hunk_words(hunk: EditHunk) -> str:
    """Place and size of a hunk: `Line 12 · +3 −1`."""
    lines = hunk.text.split("\n")
    added, removed = sum(x.startswith("+") for x in lines), sum(x.startswith("-") for x in lines)
    return tr("Line {line:,} · +{added:,} −{removed:,}", line=hunk.first_line, added=added, removed=removed)


def _answers(desk: Desk, own: ApprovalView, discussion_id: str, call: ToolCall, approval: Approval) -> None:
    ui, asked = desk.ui, call.question_id
    taken = own.taken(asked, approval)
    if approval.grant:
        granted = tr("“Allow for this discussion” would allow: {approval}", approval=_grant(approval))
        ui.text("grant", granted, tone="muted", style="small", wraps=True)
    hint = (
        tr("Your reason for the model, if you refuse or leave out changes")
        if len(approval.hunks) > 1
        else tr("Your reason for the model, if you refuse")
    )
    words = ui.text_input("words", own.words.get(asked, ""), hint=hint)
    if words is not None:
        own.words[asked] = words
    is_free = not is_under_way(desk.state, own.sent.get(asked, ""))
    can_allow = is_free and (bool(taken) or not approval.hunks)
    width = ui.width()
    is_wide, is_narrow = width >= BESIDE_FROM_PX, 0 < width < YES_BESIDE_FROM_PX
    did = ""
    with ui.row("answers"):
        did = _once(ui, approval, taken, can_allow=can_allow)
        if not is_narrow:
            did = _for_discussion(ui, approval, can_allow=can_allow) or did
        if is_wide:
            ui.push()
            did = _no(ui, is_free=is_free) or did
    if is_narrow and approval.grant:
        with ui.row("grant yes"):
            did = _for_discussion(ui, approval, can_allow=can_allow) or did
    if not is_wide:
        with ui.row("no"):
            did = _no(ui, is_free=is_free) or did
    said = own.words.pop(asked, "").strip() if did else ""
    if did == "refuse":
        own.sent[asked] = desk.ask(RefuseCall(discussion_id=discussion_id, call_id=call.id, words=said))
    elif did:
        hunks = None if len(taken) == len(approval.hunks) else taken
        left = "" if hunks is None else said
        answer = ApproveCall(
            discussion_id=discussion_id,
            call_id=call.id,
            approval_id=approval.id,
            hunks=hunks,
            for_discussion=did == "grant",
            words=left,
        )
        own.sent[asked] = desk.ask(answer)
    outcome = outcome_of(desk.state, own.sent.get(asked, ""))
    if outcome is not None and not outcome.is_done:
        ui.text("problem", outcome.said, tone="error", style="small", wraps=True)


def _grant(approval: Approval) -> str:
    """All that a yes for the discussion would allow, in one line."""
    return "; ".join(map(escaped, approval.grant.split("\n")))


def _once(ui: Ui, approval: Approval, taken: tuple[int, ...], *, can_allow: bool) -> str:
    """Draw the yes to this call. Returns `once` or nothing."""
    some = 0 < len(taken) < len(approval.hunks)
    label = (
        tr("Accept {taken} of {hunks}", taken=len(taken), hunks=len(approval.hunks))
        if some
        else tr("Allow once")
    )
    is_yes = ui.button("once", label, icon="check", kind="primary", is_enabled=can_allow, is_small=True,
                       tip=tr("Allow only this call"), guard_s=GUARD_S)  # fmt: skip
    return "once" if is_yes else ""


def _for_discussion(ui: Ui, approval: Approval, *, can_allow: bool) -> str:
    """Draw the yes to all like it, where there is one. Returns `grant` or nothing."""
    is_yes = bool(approval.grant) and ui.button(
        "grant", tr("Allow for this discussion"), is_enabled=can_allow, is_small=True,
        tip=tr("Allow until the program ends: {approval}", approval=_grant(approval)), guard_s=GUARD_S,
    )  # fmt: skip
    return "grant" if is_yes else ""


def _no(ui: Ui, *, is_free: bool) -> str:
    tip = tr("The model gets your refusal and the words above")
    is_no = ui.button(
        "refuse", tr("Refuse"), icon="ban", kind="danger", is_enabled=is_free, is_small=True, tip=tip
    )
    return "refuse" if is_no else ""
