"""Tokens of a model: the scale of our counts, learned from what the model reports, and the budget of its window."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from core.kernel.frame import size_bytes
from core.kernel.structures import shared_run
from core.kernel.tokens import IMAGE_TOKENS_EST, estimate_tokens, recalibrated, scaled, within_range
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    ReasoningPart,
    ReturnedReasoning,
    Role,
    ToolCallPart,
    ToolResultPart,
    files_of,
)
from core.kernel.values.provider import ModelProfile, ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import Segment, ToolSchema
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.kernel.values.window import CompactionPhase, ContextWindow, LineKind
from core.services.providers.attachments import attachment_tokens, is_seen_in_result, result_file_tokens
from core.services.settings.settings_rules import profile_of
from core.talk.context.context_spec import gets_tools
from core.talk.context.pieces import digest

_LEAST_REPLY_TOKENS = 40
"""A shorter reply says nothing of how its model counts: it is mostly overhead."""

_MOST_IMAGES = 0.02
"""Share of images and PDFs to the text beside them from which a bill says nothing of the text."""

Parts = Iterable[RequestPart | ToolSchema]


class RequestCount(msgspec.Struct, frozen=True):
    """Our count of a request.

    Args:
        tokens: o200k tokens of its texts; images: tokens of its images and PDFs, which no factor moves.
        thoughts: tokens of reasoning that goes back, as its vendor counted them, which none moves either.
        is_whole: every text was counted, none estimated by its size.
    """

    tokens: int
    images: int = 0
    thoughts: int = 0
    is_whole: bool = True


class TokenScale(msgspec.Struct, frozen=True):
    """Factors from o200k tokens to those of models.

    Args:
        models: of requests, by provider and model, over all discussions; talks: of the last request of a
            discussion, by its id, provider and model.
        replies: of a model's own words, by provider and model: what it does not show of its thinking is billed with them.
    """

    models: Mapping[tuple[str, str], float] = msgspec.field(default_factory=dict)
    talks: Mapping[tuple[str, str, str], float] = msgspec.field(default_factory=dict)
    replies: Mapping[tuple[str, str], float] = msgspec.field(default_factory=dict)

    def request_factor(self, profile: ModelProfile, discussion_id: str = "") -> float:
        """Factor of a discussion's next request: of its last one, else of the model's, else the prior."""
        model = (profile.provider, profile.id)
        talk = self.talks.get((discussion_id, *model))
        return self.models.get(model, profile.token_factor) if talk is None else talk

    def reply_factor(self, profile: ModelProfile, discussion_id: str = "") -> float:
        """Factor of a reply: of the model's replies so far, else that of requests."""
        known = self.replies.get((profile.provider, profile.id))
        return self.request_factor(profile, discussion_id) if known is None else known


def with_request(
    scale: TokenScale, profile: ModelProfile, discussion_id: str, count: RequestCount, reported_tokens: int
) -> TokenScale:
    """Learn from what a provider reported of a request.

    One that was not counted whole says nothing; nor does one with images or PDFs beyond a trace: how far their estimate
    is off cannot be told from how the model counts text.
    """
    billed = reported_tokens - count.images - count.thoughts
    is_text = count.images <= _MOST_IMAGES * count.tokens
    if not count.is_whole or not is_text or count.tokens <= 0 or billed <= 0:
        return scale
    model = (profile.provider, profile.id)
    key = (discussion_id, *model)
    talks = {**scale.talks}
    talks.pop(key, None)  # the newest is the last
    talks[key] = within_range(billed / count.tokens)
    return replace(
        scale, models=_moved(scale.models, model, profile.token_factor, count.tokens, billed), talks=talks
    )


def with_reply(
    scale: TokenScale, profile: ModelProfile, counted_tokens: int, reported_tokens: int
) -> TokenScale:
    """Learn from what a provider reported of a whole reply. A very short one says nothing."""
    if counted_tokens < _LEAST_REPLY_TOKENS or reported_tokens <= 0:
        return scale
    first = reported_tokens / counted_tokens
    model = (profile.provider, profile.id)
    return replace(scale, replies=_moved(scale.replies, model, first, counted_tokens, reported_tokens))


class _Counted(msgspec.Struct, frozen=True):
    """Count of a request: `tokens`, `images` and `thoughts` of its messages up to each, in arrays; `whole`: messages before the first with a
    text that was estimated.
    """

    profile: ModelProfile | None = None
    messages: tuple[RequestMessage, ...] = ()
    tokens: Sequence[int] = ()
    images: Sequence[int] = ()
    thoughts: Sequence[int] = ()
    whole: int = 0


class RequestCounter:
    """Counts the requests of one discussion as they go out: what the last one began with is not counted again.

    Thread-safe: of two that count at once one is remembered.
    """

    def __init__(self) -> None:
        self._last = _Counted()

    def count(
        self, request: ProviderRequest, counted: Mapping[str, int], profile: ModelProfile | None = None
    ) -> RequestCount:
        """Count a request. O(parts behind those of the last one), the texts are looked up."""
        last, estimated = self._last, set[str]()
        count = token_counter(counted, 1.0, estimated, profile)
        head = _weights((*request.tools, *request.system), count, profile)
        same = min(shared_run(last.messages, request.messages), last.whole) if last.profile == profile else 0
        whole, ends = same, [array("q", one[:same]) for one in (last.tokens, last.images, last.thoughts)]
        so_far = [one[-1] if same else 0 for one in ends]
        for number, message in enumerate(request.messages[same:], same + 1):
            so_far = [sum(pair) for pair in zip(so_far, _weights(message.parts, count, profile), strict=True)]
            for one, end in zip(ends, so_far, strict=True):
                one.append(end)
            if not estimated:
                whole = number
        self._last = _Counted(
            profile=profile,
            messages=request.messages,
            tokens=ends[0],
            images=ends[1],
            thoughts=ends[2],
            whole=whole,
        )
        tokens, images, thoughts = (sum(pair) for pair in zip(head, so_far, strict=True))
        return RequestCount(tokens=tokens, images=images, thoughts=thoughts, is_whole=not estimated)


def _weights(
    parts: Parts, count: Callable[[RequestPart | ToolSchema], int], profile: ModelProfile | None
) -> tuple[int, int, int]:
    """Tokens of texts, of images and PDFs, and of reasoning that goes back."""
    tokens = images = thoughts = 0
    for part in parts:
        if isinstance(part, ReturnedReasoning):
            thoughts += part.tokens
            continue
        tokens += count(part)
        if not isinstance(part, Segment):  # most are, of thousands in each request
            is_result = isinstance(part, ToolResultPart)
            seen = [file for file in files_of((part,)) if not is_result or is_seen_in_result(file, profile)]
            pictures = sum(count(file) for file in seen if file.is_image or file.is_pdf)
            images += pictures
            tokens -= pictures
    return tokens, images, thoughts


def request_parts(request: ProviderRequest) -> Parts:
    """All that a request sends, in wire order."""
    yield from request.tools
    yield from request.system
    for message in request.messages:
        yield from message.parts


def recounted(expected: Usage, before: RequestCount, now: RequestCount, moved_by: float = 1.0) -> Usage:
    """The expected input of a request by a later count of the same texts; its split stays.

    Args:
        moved_by: the model's factor as it is known now over the one that `expected` was made with.
    """
    if before.tokens <= 0 or expected.input_tokens is None:
        return expected
    texts = expected.input_tokens - before.images - before.thoughts
    sure = now.images + now.thoughts
    ratio = (texts * moved_by * now.tokens / before.tokens + sure) / max(1, expected.input_tokens)

    def moved(tokens: int | None) -> int | None:
        return None if tokens is None else scaled(tokens, ratio)

    return replace(
        expected,
        input_tokens=moved(expected.input_tokens),
        cache_read_tokens=moved(expected.cache_read_tokens),
        cache_write_tokens=moved(expected.cache_write_tokens),
        cache_write_5m_tokens=moved(expected.cache_write_5m_tokens),
        cache_write_1h_tokens=moved(expected.cache_write_1h_tokens),
        cache_write_12h_tokens=moved(expected.cache_write_12h_tokens),
    )


def token_counter(
    counted: Mapping[str, int],
    factor: float,
    estimated: set[str] | None = None,
    profile: ModelProfile | None = None,
) -> Callable[[RequestPart | ToolSchema], int]:
    """Tokens of a part for the model in use, from what was counted and from sizes.

    Args:
        estimated: takes the digests of texts that were not counted yet; profile: of the model, by which files are counted.
    """

    def tokens_of(part: RequestPart | ToolSchema) -> int:
        match part:
            case Segment():
                known = counted.get(part.sha256)
                if known is None and estimated is not None:
                    estimated.add(part.sha256)
                return scaled(estimate_tokens(size_bytes(part.text)) if known is None else known, factor)
            case AttachmentPart():
                return attachment_tokens(part, profile.pdf if profile else None, factor)
            case ToolResultPart():
                files = sum(result_file_tokens(file, profile, factor) for file in part.attachments)
                return sized(text_of(part)) + files
            case ReturnedReasoning():
                return part.tokens
            case ToolCallPart() | ReasoningPart() | ToolSchema():
                return sized(text_of(part))

    def sized(text: str) -> int:
        known = counted.get(name := text_name(text))
        if known is None and estimated is not None:
            estimated.add(name)
        return scaled(estimate_tokens(size_bytes(text)) if known is None else known, factor)

    return tokens_of


def text_of(part: RequestPart | ToolSchema) -> str:
    """The text of a part that is counted, empty for a file."""
    match part:
        case Segment():
            return part.text
        case ToolCallPart():
            return f"{part.name} {part.arguments_json}"
        case ToolResultPart() | ReasoningPart():
            return part.text
        case ToolSchema():
            return f'{{"name":"{part.name}","description":"{part.description}","parameters":{part.parameters_json}}}'
        case AttachmentPart():
            return ""


_SHORT = 4_000
"""Characters up to which the name of a text is remembered, those of most tools among them: a key of the memory is the whole text."""


def text_name(text: str) -> str:
    """Name that a text is counted under."""
    return _short_name(text) if len(text) <= _SHORT else digest(text)


_short_name = lru_cache(maxsize=8_192)(digest)


def texts_to_count(parts: Parts, counted: Mapping[str, int]) -> dict[str, str]:
    """Texts of parts that were not counted yet, by their names."""
    found = {}
    for part in parts:
        if isinstance(part, AttachmentPart | ReturnedReasoning):
            continue
        name = part.sha256 if isinstance(part, Segment) else text_name(part_text := text_of(part))
        if name not in counted:
            found[name] = part.text if isinstance(part, Segment) else part_text
    return found


def _moved(
    factors: Mapping[tuple[str, str], float],
    model: tuple[str, str],
    prior: float,
    counted_tokens: int,
    reported_tokens: int,
) -> dict[tuple[str, str], float]:
    known = factors.get(model, prior)
    return {**factors, model: recalibrated(known, counted_tokens, reported_tokens)}


# Budget of a model's window: the largest request, the shares of conversation and journal, and when it is
# full.

UNKNOWN_WINDOW_TOKENS = 32_768
"""Taken where nobody knows the window of a model."""

USED_PERCENT, _ANSWER_PERCENT = 60, 25
"""Share of the window that a rebuilt view may fill, and the share of it that stays free for the answer."""

TOLD_PERCENT, FULL_PERCENT = 80, 90
"""Share of the window from which the model is told to write its journal, and from which the view is rebuilt."""


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
