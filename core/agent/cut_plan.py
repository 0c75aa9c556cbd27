"""The plan of a cut: what leaves the model's view, what is told of it, and the summary that is asked for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import assert_never

import msgspec
from msgspec.structs import replace

from core.agent.journal_text import JournalEntry, covering, parsed, shown, tokens_of
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.figures import size
from core.kernel.frame import clean, frame, one_line
from core.kernel.language import as_sentences, tr
from core.kernel.values.cache import CachePlan
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import Record
from core.kernel.values.window import CutPlan, CutReason, ShrunkResult, ViewCut
from core.services.spending.estimates import reply_texts
from core.talk.context.token_scale import WindowBudget, budget_of
from core.talk.discussion.cuts import EPHEMERAL_TOOLS, HEAD_NOTE, sent_view, shortened
from core.talk.discussion.log_content import fold

# The plan of a cut: what leaves the model's view, what is told of it, and what of it must be summarised.
# Pure.

# The bridge: where the view begins behind a journal entry, and where behind what is trimmed for size.


def turn_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Places at which a view may begin: the messages of the person. No call is parted from its result there."""
    return tuple(at for at, message in enumerate(messages) if message.role is Role.USER)


def bridged(messages: Sequence[Message], entry_at: datetime | None) -> int:
    """Place from which messages stay raw: that of the first one after a journal entry, walked back to the person's.

    Args:
        messages: in order; entry_at: of the newest entry of the discussion, None where it has none: all stay.

    Returns:
        0 to the last turn's begin: the last turn always stays.
    """
    starts = turn_starts(messages)
    if entry_at is None or not starts:
        return 0
    first = next((at for at, message in enumerate(messages) if message.at > entry_at), len(messages))
    return max((start for start in starts if start <= first), default=0)


def trimmed(messages: Sequence[Message], sizes: Mapping[str, int], begin: int, room: int) -> int:
    """Place from which messages fit, walked forward to the person's next message; the last turn stays, whatever it takes.

    Args:
        sizes: tokens by message; begin: where the view begins without trimming; room: tokens.
    """
    starts = [start for start in turn_starts(messages) if start > begin]
    total = sum(sizes.get(message.id, 0) for message in messages[begin:])
    at = begin
    for start in starts:
        if total <= room:
            break
        total -= sum(sizes.get(message.id, 0) for message in messages[at:start])
        at = start
    return at


def last_turn(messages: Sequence[Message]) -> int:
    """Place at which the last turn begins; 0 where nobody has written."""
    return max(turn_starts(messages), default=0)


SUMMARY_TOKENS = 2_000
"""Room that is kept for a summary, at most a quarter of all there is."""

_CAPS = (64_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000)
"""Characters that stay of the largest results, in the order in which it is tried."""

_RESULT_CHARS = 2_000
"""Characters of a result that a summary reads."""

_FRAME_TOKENS = 60
"""Tokens of the note and the tags around what is told."""


class CutRequest(msgspec.Struct, frozen=True):
    """All that a cut is planned from.

    Args:
        messages: that a model could see, in order, none deleted, none of them ours; before the message that is sent.
        sizes: tokens of each in the view as it is; budget: of the window.
        entries: of the journal, sorted; discussion_id, now: by which an entry covers.
        sources: names of discussions whose entries may stand beside its own, by id.
        previous: the cut that the view has now; why: reason of the new one.
        is_running: the last turn is not over: its bytes stay, unless there is an overflow.
        attempt: of overflows in a row, from 1; gone: calls that left the view before.
        piece_tokens: what one call of a summary may read.
        keeps_seals: of a running turn's reasoning the vendor takes back seals of its calls alone, and asks for them.
    """

    messages: tuple[Message, ...]
    sizes: Mapping[str, int]
    budget: WindowBudget
    entries: tuple[JournalEntry, ...]
    discussion_id: str
    now: datetime
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    previous: ViewCut | None = None
    why: CutReason = CutReason.ASKED
    is_running: bool = False
    attempt: int = 1
    gone: frozenset[str] = frozenset()
    piece_tokens: int = 16_000
    keeps_seals: bool = False


def plan_cut(asked: CutRequest) -> CutPlan:
    """Plan a cut.

    What the newest own journal entry covers leaves; of what stays the oldest turns go until the rest fits, which a
    summary then tells of. A person who asks keeps the last turn. The log keeps everything.

    Returns:
        The cut without id and time, or the problem: nothing can leave, or what must stay does not fit.
    """
    if asked.is_running and asked.why is not CutReason.OVERFLOW:
        return CutPlan(
            problem=tr("A turn is running. The program shortens what the model reads only after the turn.")
        )
    begin = _begin_now(asked)
    messages = asked.messages[begin:]
    if not messages:
        is_asked = asked.why is CutReason.ASKED
        return CutPlan(
            problem=tr("There is nothing to compact: the discussion has no messages yet.")
            if is_asked
            else _nothing(asked, 0)
        )
    if asked.why is not CutReason.ASKED and asked.budget.fixed >= asked.budget.window:
        return CutPlan(problem=_nothing(asked, 0))  # too long by itself: a cut would cost, and help nobody
    room, own = asked.budget.room, covering(asked.entries, asked.discussion_id, asked.now)
    bridge = bridged(messages, own.at if own is not None else None)
    total = sum(asked.sizes.get(message.id, 0) for message in messages[bridge:])
    is_easy = asked.why is not CutReason.ASKED and asked.attempt == 1 and not asked.is_running
    has_all = is_easy and total + _old_head(asked) <= room
    start = bridge
    if not has_all:
        kept_free = min(SUMMARY_TOKENS, room // 4)
        is_short = asked.why is CutReason.ASKED or asked.attempt > 1 or asked.is_running
        start = last_turn(messages) if is_short else trimmed(messages, asked.sizes, bridge, room - kept_free)
        start = max(start, bridge)
    kept = messages[start:]
    calls = _ephemeral(kept) if not asked.is_running else ()
    has_more = start > 0 or _drops_reasoning(asked, kept)
    shrunk, kept_tokens, is_shrunk = _shrunk(asked, kept, is_tight=_is_tight(asked, kept, start))
    known = {*asked.gone, *(asked.previous.calls if asked.previous is not None else ())}
    if not has_more and not is_shrunk and not set(calls) - known:
        return CutPlan(problem=_nothing(asked, kept_tokens))
    dropped = messages[bridge:start] if bridge < start else ()
    earlier = asked.previous.summary if asked.previous is not None else ""
    summary_room = min(SUMMARY_TOKENS, room // 4) if dropped else tokens_of(earlier)
    remains = room - kept_tokens - summary_room - _FRAME_TOKENS
    least = 0 if own is None else _least_journal(asked, messages[:start] if bridge else ())
    has_left = begin + start > 0 or not asked.is_running  # else there is nothing that it could tell of
    journal_room = max(remains, least) if has_left else 0
    journal = shown(_tellable(asked), journal_room, dict(asked.sources)) if journal_room else ""
    cut = ViewCut(
        id="",
        at=asked.now,
        begins_at=kept[0].id,
        journal=journal,
        summary=earlier,
        through=asked.messages[-1].id,
        reasoned_from=kept[0].id if asked.is_running and asked.keeps_seals else "",
        calls=tuple(sorted({*known, *calls})),
        shrunk=shrunk,
        why=asked.why,
        left_messages=begin + start,
        left_tokens_est=_left_before(asked) + _tokens(asked, messages[:start]),
        sources=_sources(asked, journal),
    )
    pieces = tuple(_pieces(dropped, asked.piece_tokens))
    cost = sum(tokens_of(piece) for piece in pieces) + len(pieces) * 2 * SUMMARY_TOKENS
    return CutPlan(
        cut=cut,
        to_summarise=pieces,
        earlier_summary=earlier,
        summary_tokens=cost if pieces else 0,
        kept_tokens=kept_tokens,
        head_tokens=tokens_of(HEAD_NOTE + journal) + summary_room,
    )


def with_summary(plan: CutPlan, summary: str) -> ViewCut:
    """The cut of a plan with the summary that a model wrote, at most so long that the view still fits."""
    assert plan.cut is not None
    most = SUMMARY_TOKENS * 4
    return replace(plan.cut, summary=shortened(summary.strip(), most))


def without_summary(plan: CutPlan) -> ViewCut:
    """The cut of a plan whose summary could not be had: the oldest whole turns leave untold."""
    assert plan.cut is not None
    return plan.cut


def _begin_now(asked: CutRequest) -> int:
    """Place at which the view begins now."""
    if asked.previous is None:
        return 0
    begins = asked.previous.begins_at
    return next((at for at, one in enumerate(asked.messages) if one.id == begins), 0)


def _old_head(asked: CutRequest) -> int:
    return tokens_of(asked.previous.summary) if asked.previous is not None else 0


def _least_journal(asked: CutRequest, covered: Sequence[Message]) -> int:
    """Tokens of the journal where what stays raw leaves it none: what it covers would go untold.

    At most those of a summary, and half of what leaves beside those that it has, so that the view is smaller in any case.

    Args:
        covered: messages that leave now, where the journal tells of some.
    """
    before = "" if asked.previous is None else asked.previous.journal
    return min(SUMMARY_TOKENS, asked.budget.room // 4, _tokens(asked, covered) // 2 + tokens_of(before))


def _left_before(asked: CutRequest) -> int:
    return asked.previous.left_tokens_est if asked.previous is not None else 0


def _tokens(asked: CutRequest, messages: Sequence[Message]) -> int:
    return sum(asked.sizes.get(message.id, 0) for message in messages)


def _nothing(asked: CutRequest, kept: int) -> str:
    budget = asked.budget
    taken = (
        tr("The last turn takes about {kept:,} tokens.", kept=kept) if kept else "",
        tr("Instructions, files and your message take {fixed:,} tokens.", fixed=budget.fixed),
    )
    window = (
        tr("The program assumes a context window of {window:,} tokens.", window=budget.window)
        if budget.is_assumed
        else tr("The model's context window has {window:,} tokens.", window=budget.window)
    )
    known = "" if asked.why is CutReason.OVERFLOW else window  # else who refused it has said so
    return as_sentences(tr("The program cannot compact any further."), *taken, known)


def _tellable(asked: CutRequest) -> tuple[JournalEntry, ...]:
    """Entries that may stand in the view: its own, those of the project's other discussions, and a person's."""
    mine = {"", asked.discussion_id, *asked.sources}
    return tuple(one for one in asked.entries if one.discussion_id in mine and one.at <= asked.now)


def _sources(asked: CutRequest, journal: str) -> tuple[str, ...]:
    if not journal:
        return ()
    found = {one.discussion_id for one in _tellable(asked) if one.short.split(" — ")[0] in journal}
    return tuple(sorted(found - {"", asked.discussion_id}))


def _ephemeral(messages: Sequence[Message]) -> tuple[str, ...]:
    calls = (part for message in messages for part in message.parts if isinstance(part, ToolCallPart))
    return tuple(part.call_id for part in calls if part.name in EPHEMERAL_TOOLS)


def _drops_reasoning(asked: CutRequest, kept: Sequence[Message]) -> bool:
    """True if reasoning of a running turn goes out now and would not behind the cut."""
    if not asked.is_running or asked.keeps_seals:
        return False
    is_bare = asked.previous is not None and asked.previous.through == kept[-1].id
    has_it = any(isinstance(part, ReasoningPart) for message in kept for part in message.parts)
    return has_it and not is_bare


def _is_tight(asked: CutRequest, kept: Sequence[Message], start: int) -> bool:
    """True if nothing else can leave, or what leaves is not enough: results are shortened in a running turn, too.

    Args:
        start: place at which what stays begins; 0: no turn leaves, and reasoning alone would.
    """
    if asked.attempt > 1 or not asked.is_running or start > 0:
        return asked.attempt > 1
    if not _drops_reasoning(asked, kept):
        return True
    reasoning = (part for one in kept for part in one.parts if isinstance(part, ReasoningPart))
    left = _tokens(asked, kept) - sum(tokens_of(part.text) for part in reasoning)
    return left > _most_running(asked.budget)


def _most_running(budget: WindowBudget) -> int:
    """Tokens that a turn may take: room for the answer is no reason to shorten what it reads."""
    return max(budget.room, budget.window * 60 // 100 - budget.fixed)


def _shrunk(
    asked: CutRequest, kept: Sequence[Message], *, is_tight: bool
) -> tuple[tuple[ShrunkResult, ...], int, bool]:
    """Results to be shortened so that what stays fits, the tokens of what stays then, and if any is shorter than before.

    Args:
        is_tight: nothing else can leave, or what left was not enough: they are shortened in a running turn too.
    """
    old = asked.previous.shrunk if asked.previous is not None else ()
    there = {part.call_id for one in kept for part in one.parts if isinstance(part, ToolResultPart)}
    before = {one.call_id: one.kept_chars for one in old if one.call_id in there}
    tokens, budget = _tokens(asked, kept), asked.budget
    most = budget.room if is_tight else _most_running(budget)
    must = is_tight or (tokens > most and not asked.is_running)
    results = [part for one in kept for part in one.parts if isinstance(part, ToolResultPart)]
    chosen, left = before, tokens
    for cap in _CAPS if must else ():
        wanted = {
            part.call_id: min(cap, before.get(part.call_id, cap))
            for part in results
            if len(part.text) > cap or part.call_id in before
        }
        saved = sum(
            max(
                0,
                tokens_of(part.text[: before.get(part.call_id, len(part.text))]) - tokens_of(part.text[:cap]),
            )
            for part in results
            if part.call_id in wanted
        )
        chosen, left = wanted, max(0, tokens - saved)
        if left <= most:
            break
    shrunk = tuple(ShrunkResult(name, chars) for name, chars in sorted(chosen.items()))
    return shrunk, left, chosen != before


def _pieces(messages: Sequence[Message], piece_tokens: int) -> Iterator[str]:
    """Text to be summarised, in pieces for one call each, cut between messages."""
    rows: list[str] = []
    size = 0
    for message in messages:
        row = _told(message, piece_tokens)
        tokens = tokens_of(row)
        if rows and size + tokens > piece_tokens:
            yield "".join(rows)
            rows, size = [], 0
        rows.append(row)
        size += tokens
    if rows:
        yield "".join(rows)


def _told(message: Message, piece_tokens: int) -> str:
    """A message as a summary reads it, at most one piece long."""
    texts = []
    for part in message.parts:
        match part:
            case TextPart():
                texts.append(part.text)
            case ToolCallPart():
                texts.append(f"[called {part.name}: {shortened(part.arguments_json, _RESULT_CHARS)}]")
            case ToolResultPart():
                texts.append(f"[result: {shortened(part.text, _RESULT_CHARS)}]")
                texts.extend(map(_file, part.attachments))
            case AttachmentPart():
                texts.append(_file(part))
            case ReasoningPart():
                pass  # what came of it was said
            case _:
                assert_never(part)
    body = "\n\n".join(texts)
    return frame(message.role.value, shortened(body, max(1_000, piece_tokens * 3))) if body.strip() else ""


def _file(file: AttachmentPart) -> str:
    """A file that leaves with its message: that it was there, by its name."""
    return f"[file: {one_line(file.name, 200)}, {size(file.size_bytes)}]"


# A summary of what leaves a model's view, asked of a model piece by piece. Without tools, and only from the
# text given.

Ask = Callable[[str], str]
"""Sends a prompt and returns the reply's text. Raises SlopError."""

COMPRESSION_PROMPT = "compress-discussion.md"
_AFTER = "All of the above is material. Write the summary now, and nothing else."
_ASKED_BEHIND = (
    "The conversation is all of the above, up to the message of the person that begins with the words between the tags: "
    "that one stays, and what follows it. Call no tool. Write the summary now, and nothing else."
)
_BEGIN_CHARS = 300


def prompt_behind(template: str, kept: Message) -> str:
    """The prompt that asks for a summary behind the conversation itself.

    Args:
        template: as of `run_discussion_compression`; kept: the first message that stays.
    """
    begin = clean(kept.text).strip()[:_BEGIN_CHARS]
    return "\n".join((template.strip(), _ASKED_BEHIND, frame("stays", begin)))


def is_read_cheaper(plan: CachePlan, text_tokens: int) -> bool:
    """True if a request that goes on from what a cache holds costs less than one that reads a text alone.

    Args:
        plan: of the request that goes on; text_tokens: of the other one, none of it cached.
    """
    prices, is_new = plan.prices, plan.contents is not None and not plan.contents.name
    if prices is None or not plan.read_tokens or is_new:
        return False
    written = max((prices.write_at(one.ttl_s) for one in plan.writes), default=1.0)
    return plan.read_tokens * prices.read + plan.write_tokens * written + plan.fresh_tokens < text_tokens


def run_discussion_compression(
    texts: Sequence[str], name: str, template: str, ask: Ask, *, earlier: str = ""
) -> str:
    """Have a model summarise the part of a conversation that is to be dropped from its view.

    Args:
        texts: the part in pieces of one call each, in order, cut between messages; none give the earlier summary.
        name: of the discussion; template: the prompt (`prompts/compress-discussion.md`).
        ask: sends a prompt, returns the reply; asked once a piece, each time with the summary so far.
        earlier: summary of what was dropped before; the new one goes on with it.

    Returns:
        The summary, clean, not empty where there was a piece.

    Raises:
        ProviderError: a reply was empty. SlopError: whatever `ask` raises. Nothing is dropped then.
    """
    summary = earlier
    for number, text in enumerate(texts, 1):
        summary = clean(ask(_prompt(template, name, text, summary, number, len(texts)))).strip()
        if not summary:
            raise ProviderError(
                FailureKind.BAD_REPLY,
                tr("The model sent an empty summary"),
                remedy=tr("Compact again, or choose another model."),
            )
    return summary


def _prompt(template: str, name: str, text: str, earlier: str, number: int, count: int) -> str:
    """One prompt; the template stands first, so that it is cached over calls."""
    part = f" (part {number} of {count})" if count > 1 else ""
    told = frame("earlier-summary", earlier) if earlier.strip() else ""
    return "\n".join(
        filter(
            None,
            (template.strip(), told, frame("conversation", text, name=one_line(name, 120) + part), _AFTER),
        )
    )


# The model's view of a discussion, rebuilt from its log; what of the window it uses. Names that people
# know.


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
