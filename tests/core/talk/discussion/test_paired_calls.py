"""Calls and results as a request may hold them, whatever a log holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.messages import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from core.talk.discussion.open_calls import paired
from tests.core.records import NOW

IDS = st.sampled_from(["a", "b", "c"])


def message(role: Role, parts: list[Part]) -> Message:
    return Message("m", NOW, role, tuple(parts))


CALLS = st.builds(lambda name: ToolCallPart(name, "grep", "{}"), IDS)
RESULTS = st.builds(lambda name: ToolResultPart(name, "found"), IDS)
MESSAGES = st.one_of(
    st.builds(message, st.just(Role.USER), st.just([TextPart("words")])),
    st.builds(message, st.just(Role.ASSISTANT), st.lists(CALLS | st.just(TextPart("words")), max_size=3)),
    st.builds(message, st.just(Role.TOOL), st.lists(RESULTS, max_size=3)),
)


@given(st.lists(MESSAGES, max_size=8).map(tuple))
def test_each_call_stands_once_with_its_result_behind_it_and_what_is_in_order_stays(
    said: tuple[Message, ...],
) -> None:
    sent = paired(said)
    assert paired(sent) is sent
    waiting: list[str] = []
    seen: list[str] = []
    for one in sent:
        if one.role is Role.TOOL:
            for part in one.parts:
                assert isinstance(part, ToolResultPart)
                assert waiting.pop(0) == part.call_id
            continue
        assert not waiting
        waiting = [part.call_id for part in one.parts if isinstance(part, ToolCallPart)]
        seen += waiting
    assert not waiting
    assert len(seen) == len(set(seen))
