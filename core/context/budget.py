"""Budget of a model's window: what may be sent, what the conversation and the journal may take of it, and when it is full."""

from __future__ import annotations

import msgspec

UNKNOWN_WINDOW_TOKENS = 32_768
"""Taken where nobody knows the window of a model. Source: 60-agent.md, "Log, view, compaction"; so are the shares."""

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
    """A model's window, and if it is assumed. None, and what is none, is not known."""
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
    return WindowBudget(window, is_assumed, sendable, fixed, max(0, sendable - fixed))


def is_told(used: int, window: int) -> bool:
    """True if the model is to be told to write its journal."""
    return used * 100 >= window * TOLD_PERCENT


def is_full(used: int, window: int) -> bool:
    """True if the view is to be rebuilt."""
    return used * 100 >= window * FULL_PERCENT
