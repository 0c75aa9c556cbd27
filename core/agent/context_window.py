"""The model's view of a discussion, rebuilt from its log; what of the window it uses. Names that people know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from core.agent.cut_plan import CutRequest, plan_cut
from core.agent.journal_text import parsed, tokens_of
from core.kernel.values.messages import Message, ToolResultPart
from core.kernel.values.records import Record
from core.kernel.values.window import CutPlan, CutReason
from core.services.spending.estimates import reply_texts
from core.talk.context.token_scale import budget_of
from core.talk.discussion.cuts import sent_view
from core.talk.discussion.log_content import fold


def restore_from_log(records: Iterable[Record]) -> tuple[Message, ...]:
    """The messages that a model sees, from a log's records alone: the same after every restart, byte for byte."""
    return sent_view(fold("", records))


def build_context_window(
    messages: Sequence[Message],
    journal: str,
    *,
    discussion_id: str,
    now: datetime,
    window_tokens: int | None = None,
    fixed_tokens: int = 0,
    sizes: Mapping[str, int] | None = None,
    why: CutReason = CutReason.FULL,
) -> CutPlan:
    """Plan the view of a conversation that has become too large for its model.

    Args:
        messages: in order, none deleted; journal: text of the journal file.
        window_tokens: of the model, None where nobody knows; fixed_tokens: of all that stands before the conversation.
        sizes: tokens by message; None: estimated.

    Returns:
        The cut, or why there is none, with sizes.
    """
    known = {message.id: message_tokens(message) for message in messages} if sizes is None else sizes
    budget = budget_of(window_tokens, fixed_tokens)
    return plan_cut(
        CutRequest(
            messages=tuple(messages),
            sizes=known,
            budget=budget,
            entries=parsed(journal),
            discussion_id=discussion_id,
            now=now,
            why=why,
        )
    )


def message_tokens(message: Message) -> int:
    """Tokens of a message, from its size alone; attachments are not in it."""
    results = (part.text for part in message.parts if isinstance(part, ToolResultPart))
    texts = (*reply_texts(message.parts), *results)
    return sum(map(tokens_of, texts)) + 4
