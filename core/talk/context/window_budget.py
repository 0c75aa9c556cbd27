"""Budget of a model's window: the largest request, the shares of conversation and journal, and when it is full."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import msgspec

from core.kernel.frame import size_bytes
from core.kernel.tokens import IMAGE_TOKENS_EST, estimate_tokens
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Message, Role, ToolResultPart
from core.kernel.values.state import AppState
from core.kernel.values.window import CompactionPhase, ContextWindow, LineKind
from core.services.settings.settings_rules import profile_of
from core.talk.context.context_spec import gets_tools

UNKNOWN_WINDOW_TOKENS = 32_768
"""Taken where nobody knows the window of a model."""

USED_PERCENT, _ANSWER_PERCENT = 60, 25
"""Of the window, that a view which is rebuilt may fill; of that the part that stays free for the answer."""

TOLD_PERCENT, FULL_PERCENT = 80, 90
"""Of the window: from here on the model is told to write its journal; from here on the view is rebuilt."""


class WindowBudget(msgspec.Struct, frozen=True):
    """Budget of a view that is rebuilt, in tokens.

    Args:
        window: of the model; is_assumed: nobody knows it.
        sendable: of all that is sent, the rest stays free for the answer and for the turns to come.
        fixed: instructions, tools, layers 6, 7, 9 and 10, and the message that is sent.
        room: for conversation and journal; at least 0.
    """

    window: int
    is_assumed: bool
    sendable: int
    fixed: int
    room: int


def window_of(context_tokens: int | None) -> tuple[int, bool]:
    """A model's window, and whether the program assumes it. None: unknown."""
    if context_tokens is None or context_tokens <= 0:
        return UNKNOWN_WINDOW_TOKENS, True
    return context_tokens, False


def budget_of(context_tokens: int | None, fixed: int) -> WindowBudget:
    """Budget of a window.

    Args:
        context_tokens: None where nobody knows it; fixed: tokens that no compaction can leave out, >= 0.
    """
    window, is_assumed = window_of(context_tokens)
    used = window * USED_PERCENT // 100
    sendable = used - used * _ANSWER_PERCENT // 100
    return WindowBudget(
        window=window, is_assumed=is_assumed, sendable=sendable, fixed=fixed, room=max(0, sendable - fixed)
    )


def is_told(used: int, window: int) -> bool:
    """True if the model is to be told to write its journal."""
    return used * 100 >= window * TOLD_PERCENT


def is_full(used: int, window: int) -> bool:
    """True if the view is to be rebuilt."""
    return used * 100 >= window * FULL_PERCENT


# Use of the model's window by a discussion, as far as the state tells; when its view is to be rebuilt.

JOURNAL_LINE = (
    "(A line of the program, not of the person: this conversation fills {share} % of your window. Write down now, with "
    "the tool `journal`, what you must still know when its beginning has left your view: what is wanted and decided, "
    "what is done, what is open. Then go on.)"
)
"""Told once when the window fills, and again after a cut."""


def context_window(state: AppState, discussion_id: str) -> ContextWindow | None:
    """Use of the window, None for a discussion that is not open."""
    opened = state.discussions.open.get(discussion_id)
    summary = state.discussions.summaries.get(discussion_id)
    if opened is None or summary is None:
        return None
    profile = profile_of(state, summary.meta.provider, summary.meta.model)
    limit, is_assumed = window_of(profile.context_tokens)
    used, is_reported = _used(state, opened)
    cut, compaction = opened.cut, state.agent.compactions.get(discussion_id)
    return ContextWindow(
        limit_tokens=limit,
        is_assumed=is_assumed,
        used_tokens=used,
        is_reported=is_reported,
        begins_at=cut.begins_at if cut is not None else "",
        left_messages=cut.left_messages if cut is not None else 0,
        left_tokens_est=cut.left_tokens_est if cut is not None else 0,
        phase=compaction.phase if compaction is not None else None,
    )


def must_make_room(state: AppState, discussion_id: str, message: Message) -> bool:
    """True if the view is to be rebuilt before a message of the person is sent: with it the window is nearly full, or a
    compaction is under way. Not to be asked while its turn is running: what was sent of that stays as it is.
    """
    opened = state.discussions.open[discussion_id]
    compaction = state.agent.compactions.get(discussion_id)
    if compaction is not None and compaction.phase is not CompactionPhase.WAITING:
        return True
    if opened.messages and opened.messages[-1].id != message.id:
        return False
    return _fills(state, opened, message)


def _fills(state: AppState, opened: OpenDiscussion, message: Message) -> bool:
    """True if the window is nearly full with a message of the person behind what was said."""
    window = context_window(state, opened.id)
    if window is None or not any(one.role is Role.ASSISTANT for one in opened.messages):
        return False
    return is_full(window.used_tokens + words_tokens(message), window.limit_tokens)


def journal_line(state: AppState, discussion_id: str, message: Message | None = None) -> str:
    """Line that tells a model to write its journal, empty where it has no journal, or was told since the last cut.

    Args:
        message: of the person, that would hold it: where the view is cut before it goes, the line would come too late.
    """
    opened, summary = state.discussions.open[discussion_id], state.discussions.summaries[discussion_id]
    window = context_window(state, discussion_id)
    if (
        not gets_tools(state, summary.meta)
        or summary.meta.delegated_by
        or window is None
        or not is_told(window.used_tokens, window.limit_tokens)
    ):
        return ""
    told = {key for key, lines in opened.lines.items() if any(one.kind is LineKind.JOURNAL for one in lines)}
    if told and any(one.id in told for one in _since_cut(opened)):
        return ""
    if message is not None and (discussion_id in state.agent.compactions or _fills(state, opened, message)):
        return ""
    return JOURNAL_LINE.format(share=min(99, round(window.share * 100)))


def _since_cut(opened: OpenDiscussion) -> Iterator[Message]:
    """Messages of the view that its newest cut did not see, from the end: it may have left older ones in it."""
    last_seen = "" if opened.cut is None else opened.cut.through
    return takewhile(lambda one: one.id != last_seen, reversed(opened.messages))


def words_tokens(message: Message) -> int:
    """Tokens of a message's words and files, from their size."""
    files = sum(
        IMAGE_TOKENS_EST if part.is_image else estimate_tokens(part.text_bytes or part.size_bytes)
        for part in message.attachments
    )
    return estimate_tokens(size_bytes(message.text)) + files


def _used(state: AppState, opened: OpenDiscussion) -> tuple[int, bool]:
    """Tokens of the last request with its reply, and if the provider said so; what was sent before a cut tells nothing."""
    since = opened.cut.at if opened.cut is not None else None
    reply, later = _last_reply(opened)
    if reply is not None and (since is None or reply.at > since) and reply.usage is not None:
        usage = reply.usage
        if usage.input_tokens is not None and not usage.is_estimate:
            written = max(0, (usage.output_tokens or 0) - (usage.reasoning_tokens or 0))
            return usage.input_tokens + written + later, True
    request = opened.last_request
    if request is not None and (since is None or request.at > since):
        written = words_tokens(reply) if reply is not None and reply.at >= request.at else 0
        return sum(layer.tokens_est for layer in request.layers) + written + later, False
    report = state.context.reports.get(opened.id)
    return (report.total_tokens_est if report is not None else 0), False


def _last_reply(opened: OpenDiscussion) -> tuple[Message | None, int]:
    """The last reply, and the tokens of the results of tools behind it."""
    later = 0
    for message in reversed(opened.messages):
        if message.role is Role.ASSISTANT:
            return message, later
        if message.role is Role.TOOL:
            texts = (part.text for part in message.parts if isinstance(part, ToolResultPart))
            later += sum(estimate_tokens(size_bytes(text)) for text in texts)
    return None, later
