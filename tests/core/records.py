"""Records for tests: short makers for examples, and strategies for every shape that a log may hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.messages import (
    AttachmentPart,
    CallEnd,
    Part,
    ReasoningPart,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import (
    ChooseRecord,
    DeleteRecord,
    EditRecord,
    MarkRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    UsageRecord,
    ViewRecord,
)
from core.kernel.values.stack import LayerId, LayerReport, SegmentReport
from core.kernel.values.usage import Usage

NOW = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
ID = "20261120-073000-abcdef"


def user(record_id: str, text: str = "hello", *, minute: int = 0) -> MessageRecord:
    return MessageRecord(record_id, NOW + timedelta(minutes=minute), Role.USER, (TextPart(text),))


def reply(
    record_id: str, text: str = "hi", *, status: Status = Status.COMPLETE, reasoning: str = ""
) -> MessageRecord:
    thought: tuple[Part, ...] = (ReasoningPart(reasoning),) if reasoning else ()
    said: tuple[Part, ...] = (TextPart(text),) if text else ()
    return MessageRecord(record_id, NOW, Role.ASSISTANT, (*thought, *said), status, "anthropic", "claude-x")


def version(record_id: str, of: str, text: str = "hi again") -> MessageRecord:
    return replace(reply(record_id, text), version_of=of)


def choose(record_id: str, target: str) -> ChooseRecord:
    return ChooseRecord(record_id, NOW, target)


def edit(record_id: str, target: str, text: str) -> EditRecord:
    return EditRecord(record_id, NOW, target, (TextPart(text),))


def delete(record_id: str, target: str) -> DeleteRecord:
    return DeleteRecord(record_id, NOW, target)


def restore(record_id: str, target: str) -> RestoreRecord:
    return RestoreRecord(record_id, NOW, target)


def used(
    record_id: str, target: str, *, tokens_in: int = 10, tokens_out: int = 5, cost: float = 0.25
) -> UsageRecord:
    return UsageRecord(record_id, NOW, target, Usage(tokens_in, tokens_out, cost_usd=cost))


def mark(record_id: str, text: str = "model switched") -> MarkRecord:
    return MarkRecord(record_id, NOW, "model", text)


def request(record_id: str, target: str) -> RequestRecord:
    layer = LayerReport(
        LayerId.SYSTEM_PRESET, 0, 4, 4, 1, "ab" * 32, (SegmentReport("4/x", "cd" * 32, 4, 1),)
    )
    return RequestRecord(
        record_id, NOW, target, "anthropic", "claude-x", "high", (layer,), ("4/x", "12/a"), 4
    )


def meta(discussion_id: str = ID, name: str = "A talk") -> DiscussionMeta:
    return DiscussionMeta(discussion_id, name, NOW, "anthropic", "claude-x")


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "",
        "\0",
        "\u202eevil\u202c",
        "a\r\nb",
        "\u2028\u2029\x85",
        '{"v":1}',
        "\x1b[31m",
        "世界",
        "🎉",
        "e\u0301",
        "\\ud800",
    ]
)
times = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001
counts = st.none() | st.integers(0, 10**15)
amounts = st.none() | st.floats(0, 1e9, allow_nan=False)
parts = st.one_of(
    st.builds(TextPart, texts),
    st.builds(ReasoningPart, texts, texts),
    st.builds(ToolCallPart, texts, texts, texts),
    st.builds(ToolResultPart, texts, texts, st.booleans(), ended=st.none() | st.sampled_from(CallEnd)),
    st.builds(AttachmentPart, texts, texts, texts, st.integers(0, 10**12)),
)
usages = st.builds(
    Usage,
    *(counts for _ in range(7)),
    amounts,
    amounts,
    amounts,
    texts,
    texts,
)


def records(ids: st.SearchStrategy[str] = texts, *, has_versions: bool = True) -> st.SearchStrategy[Record]:
    """Any record; ids and targets come from one strategy, so that a small one makes them meet."""
    firsts = st.just("") | ids if has_versions else st.just("")
    several = st.lists(parts, max_size=3).map(tuple)
    segments = st.lists(
        st.builds(SegmentReport, texts, texts, st.integers(0), st.integers(0)), max_size=2
    ).map(tuple)
    layers = st.builds(
        LayerReport, st.sampled_from(LayerId), *(st.integers(0) for _ in range(4)), texts, segments=segments
    )
    return st.one_of(
        st.builds(
            MessageRecord,
            ids,
            times,
            st.sampled_from(Role),
            several,
            st.sampled_from(Status),
            texts,
            texts,
            firsts,
        ),
        st.builds(ChooseRecord, ids, times, ids),
        st.builds(
            RequestRecord,
            ids,
            times,
            ids,
            texts,
            texts,
            texts,
            st.lists(layers, max_size=2).map(tuple),
            st.lists(texts, max_size=2).map(tuple),
            st.integers(0),
            texts,
        ),
        st.builds(UsageRecord, ids, times, ids, usages),
        st.builds(EditRecord, ids, times, ids, several),
        st.builds(DeleteRecord, ids, times, ids),
        st.builds(RestoreRecord, ids, times, ids),
        st.builds(ViewRecord, ids, times, texts, texts),
        st.builds(MarkRecord, ids, times, texts, texts),
    )
