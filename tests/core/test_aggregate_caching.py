"""The byte contract: unchanged stable inputs give the same first N characters, and the same bytes on the wire."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Role
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import DiscussionMetadata, LayerId, StackInputs, ToolSchema
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import AggregateStack, build_initial_context, build_stack, stable_prefix_length
from tests.core.stacks import curated, full_inputs, inputs, said, texts
from tests.prefix_guard import Recorded, check_prefixes


class Source:
    """A snapshot to build from, as the controller offers one."""

    def __init__(self, base: StackInputs) -> None:
        self.base = base

    def stack_inputs(self, user_message: str) -> StackInputs:
        return replace(self.base, user_text=user_message)


def volatile() -> st.SearchStrategy[dict[str, object]]:
    """New values for everything behind the boundary."""
    return inputs().map(
        lambda other: {
            name: getattr(other, name)
            for name in ("metadata", "preset_name", "items", "turns", "retrieved", "attachments")
        }
    )


@settings(max_examples=40)
@given(base=inputs(), changed=volatile(), first=texts(), second=texts())
def test_aggregate_stable_to_volatile_ordering(
    base: StackInputs, changed: dict[str, object], first: str, second: str
) -> None:
    """Two turns agree on the first N characters, whatever changed behind the boundary."""
    one, two = Source(base), Source(replace(base, **changed))  # type: ignore[arg-type]
    length = stable_prefix_length(one)

    assert stable_prefix_length(two) == length
    context = build_initial_context(one, first)
    assert context[:length] == build_initial_context(two, second)[:length]
    stack = build_stack(one.stack_inputs(first))
    assert context[:length] == "".join(stack.layer(LayerId(n)).text for n in range(1, 8))
    assert context[length:] == "".join(stack.layer(LayerId(n)).text for n in range(8, 13))
    assert [layer.id for layer in stack.layers] == sorted(LayerId)


def test_the_layers_stand_in_the_order_of_the_contract() -> None:
    text = build_initial_context(Source(full_inputs()), "MESSAGE")
    marks = (
        "ROLE,TOOL FORMAT,Reads,Writes,SYSTEM,PERSONA,PROJECT,IDENTITY,DIGEST,NOTE,Talk,core,FILE A,FILE B"
    )
    wanted = [*marks.split(","), "QUESTION", "ANSWER", "RECALL", "MESSAGE"]
    places = [text.index(mark) for mark in wanted]

    assert places == sorted(places)
    assert text.index("Talk") > stable_prefix_length(Source(full_inputs())) > text.index("NOTE")


@settings(max_examples=40)
@given(base=inputs())
def test_offsets_point_at_the_layers_of_the_same_text(base: StackInputs) -> None:
    stack = build_stack(base)
    text = stack.text

    for layer, offset, report in zip(stack.layers, stack.offsets, stack.report(), strict=True):
        assert text[offset : offset + layer.length_chars] == layer.text
        assert (report.offset_chars, report.length_chars) == (offset, layer.length_chars)
    assert len(text) == stack.offsets[-1] + stack.layers[-1].length_chars


def test_no_stable_input_gives_a_prefix_of_length_0_and_no_empty_headings() -> None:
    source = Source(StackInputs(metadata=DiscussionMetadata("Talk")))

    assert stable_prefix_length(source) == 0
    assert build_initial_context(Source(StackInputs()), "just this") == "just this"


@settings(max_examples=40)
@given(base=inputs(), other=texts())
def test_discussions_of_one_mode_agree_up_to_the_end_of_the_digest(base: StackInputs, other: str) -> None:
    first = build_stack(base)
    second = build_stack(replace(base, notes=(NamedText("other.py", other),), items=(), turns=()))

    assert first.shared_prefix_length == second.shared_prefix_length <= first.stable_prefix_length
    assert first.text[: first.shared_prefix_length] == second.text[: second.shared_prefix_length]


@settings(max_examples=40)
@given(base=inputs(), following=st.lists(volatile(), max_size=4))
def test_a_memo_changes_no_byte(base: StackInputs, following: list[dict[str, object]]) -> None:
    memo = StackMemo()
    for changed in ({}, *following, {}):
        current = replace(base, **changed)  # type: ignore[arg-type]
        assert build_stack(current, memo) == build_stack(current)
        assert build_stack(current, memo).text == build_stack(current).text


def test_the_order_of_tools_and_of_their_keys_does_not_matter() -> None:
    tools = (ToolSchema("b", "B", '{"y":{"d":1,"c":2},"x":3}'), ToolSchema("a", "A", "{}"))
    turned = (ToolSchema("a", "A", "{}"), ToolSchema("b", "B", '{ "x": 3, "y": {"c":2, "d":1} }'))
    one, two = build_stack(StackInputs(tools=tools)), build_stack(StackInputs(tools=turned))

    assert one.text == two.text
    assert one.request().tools == two.request().tools
    assert one.layer(LayerId.TOOLS).text.splitlines() == [
        '{"description":"A","name":"a","parameters":{}}',
        '{"description":"B","name":"b","parameters":{"x":3,"y":{"c":2,"d":1}}}',
    ]


def test_the_digest_is_framed_exactly() -> None:
    stack = build_stack(StackInputs(digest="- a fact\n- another"))

    assert stack.text == "{knowledge}\n- a fact\n- another\n{/knowledge}\n"
    assert stack.stable_prefix_length == stack.shared_prefix_length == len(stack.text)


def test_the_salt_stands_at_the_head_only_after_an_invalidation() -> None:
    assert build_stack(StackInputs(epoch=0, role_text="ROLE")).text == "ROLE\n"
    assert build_stack(StackInputs(epoch=3, role_text="ROLE")).text == "cache epoch 3\nROLE\n"


def body_of(request: ProviderRequest) -> dict[str, object]:
    """A request as a plain vendor would see it, for the check that is used on real ones."""
    messages = [
        {"role": m.role.value, "content": [getattr(part, "text", repr(part)) for part in m.parts]}
        for m in request.messages
    ]
    tools = [[tool.name, tool.description, tool.parameters_json] for tool in request.tools]
    return {"tools": tools, "system": [segment.text for segment in request.system], "messages": messages}


def stable_parts(stack: AggregateStack) -> dict[str, object]:
    """Prefix parts of a body: where layer 6 moved, it is the first part of the first message."""
    body = body_of(stack.request())
    head: list[object] = []
    if not stack.takes_long_system and stack.layer(LayerId.PROJECT).pieces:
        messages = body["messages"]
        assert isinstance(messages, list)
        head = messages[0]["content"][:1]
    return {"tools": body["tools"], "system": body["system"], "head": head}


@settings(max_examples=40)
@given(base=inputs(), turns=st.lists(st.tuples(texts(), texts()), min_size=1, max_size=4))
def test_consecutive_turns_share_the_wire_prefix(base: StackInputs, turns: list[tuple[str, str]]) -> None:
    history = base.turns
    recorded = []
    for number, (question, answer) in enumerate(turns):
        stack = build_stack(replace(base, turns=history, user_text=question))
        ids = (n for n in stack.wire_layers if n.is_stable)
        kept = tuple(segment.text for n in ids for segment in stack.layer(n).segments)
        recorded.append(Recorded(stable_parts(stack), kept))
        asked, answered = said(f"q{number}", Role.USER, question), said(f"a{number}", Role.ASSISTANT, answer)
        history = (*history, asked, answered)

    assert check_prefixes(recorded, lambda body: body) == len(turns) - 1


@settings(max_examples=40)
@given(base=inputs(), question=texts(), answer=texts(), following=texts())
def test_what_was_sent_before_the_tail_is_a_prefix_of_the_next_request(
    base: StackInputs, question: str, answer: str, following: str
) -> None:
    """Everything up to the end of the user's text comes again, byte for byte; only the metadata is new."""
    base = replace(base, retrieved="", attachments=())
    first = build_stack(replace(base, user_text=question))
    turns = (*base.turns, said("q", Role.USER, question), said("a", Role.ASSISTANT, answer))
    second = build_stack(
        replace(base, turns=turns, user_text=following, metadata=DiscussionMetadata("Renamed"))
    )
    before = [text for text in flat(first) if text not in tail(first)]

    assert flat(second)[: len(before)] == before


def flat(stack: AggregateStack) -> list[str]:
    """All texts of the messages in wire order with their roles."""
    return [f"{m.role}:{getattr(part, 'text', part)}" for m in stack.request().messages for part in m.parts]


def tail(stack: AggregateStack) -> set[str]:
    return {f"user:{segment.text}" for segment in stack.layer(LayerId.METADATA).segments}


def test_a_changed_file_leaves_the_stable_prefix_alone() -> None:
    base = full_inputs()
    edited = replace(base, items=(curated("src/a.py", "EDITED\n"), base.items[1]))
    one, two = build_stack(base), build_stack(edited)

    assert one.text[: one.stable_prefix_length] == two.text[: two.stable_prefix_length]
    assert one.layer(LayerId.FILE_SET) == two.layer(LayerId.FILE_SET)
    assert one.layer(LayerId.FILE_DETAILS).sha256 != two.layer(LayerId.FILE_DETAILS).sha256
