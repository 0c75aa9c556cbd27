"""The request: wire order, alternating roles, the volatile tail."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from msgspec.structs import replace

from core.kernel.values.messages import ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort, ProviderRequest
from core.kernel.values.stack import DiscussionMetadata, LayerId, Segment, StackInputs
from core.talk.context.stack import build_stack
from tests.core.stacks import curated, full_inputs, inputs, picture, said

FACTS = DiscussionMetadata("Talk")


def shape(request: ProviderRequest) -> list[tuple[str, list[str]]]:
    """Each message as its role and the keys (or types) of its parts."""
    return [
        (m.role.value, [p.key if isinstance(p, Segment) else type(p).__name__ for p in m.parts])
        for m in request.messages
    ]


def test_the_full_stack_in_wire_order() -> None:
    stack = build_stack(full_inputs())
    request = stack.request(Effort.HIGH, 500, "d1")

    assert [tool.name for tool in request.tools] == ["read", "write"]
    keys = ["1", "4", "5/Pat", "6/context", "6/AGENTS.md", "7/digest", "7/src/a.py"]
    assert [segment.key for segment in request.system] == keys
    assert shape(request) == [
        ("user", ["9", "10", "11/m1"]),
        ("assistant", ["11/m2"]),
        ("user", ["12/text", "12/rag", "8"]),
    ]
    assert stack.wire_order == ("2", "3/read", "3/write", *keys, "9", "10", "11", "12/text", "12/rag", "8")
    assert (request.effort, request.max_output_tokens, request.discussion_id) == (Effort.HIGH, 500, "d1")
    assert (request.provider, request.model) == ("anthropic", "claude-opus-5-5")


def test_project_context_moves_to_the_first_message_where_long_system_prompts_hurt() -> None:
    stack = build_stack(replace(full_inputs(), takes_long_system=False))
    request = stack.request()

    assert not any(segment.layer is LayerId.PROJECT for segment in request.system)
    assert shape(request)[0] == ("user", ["6", "9", "10", "11/m1"])
    order = stack.wire_layers
    assert order.index(LayerId.PROJECT) == order.index(LayerId.FILE_SET) - 1
    assert stack.text == build_stack(full_inputs()).text


@settings(max_examples=60)
@given(base=inputs())
def test_roles_alternate_and_the_first_message_is_the_users(base: StackInputs) -> None:
    request = build_stack(base).request()
    roles = [message.role for message in request.messages]

    assert all(one is not two for one, two in pairwise(roles))
    assert roles[:1] in ([], [Role.USER])
    assert all(message.parts for message in request.messages)
    texts = [part.text for message in request.messages for part in message.parts if isinstance(part, Segment)]
    assert all(text.strip() for text in (*texts, *(segment.text for segment in request.system)))


def test_messages_of_one_role_in_a_row_become_one() -> None:
    turns = (
        said("a", Role.USER, "one"),
        said("b", Role.USER, "two"),
        said("c", Role.ASSISTANT, "x"),
        said("d", Role.ASSISTANT, "y"),
        said("e", Role.USER, "not answered"),
    )

    assert shape(build_stack(StackInputs(turns=turns, user_text="now", metadata=FACTS)).request()) == [
        ("user", ["11/a", "11/b"]),
        ("assistant", ["11/c", "11/d"]),
        ("user", ["11/e", "12/text", "8"]),
    ]


def test_a_conversation_whose_beginning_was_taken_out_says_so_first() -> None:
    request = build_stack(StackInputs(turns=(said("a", Role.ASSISTANT, "x"),), user_text="now")).request()

    assert shape(request) == [("user", ["11/start"]), ("assistant", ["11/a"]), ("user", ["12/text"])]


def test_the_users_text_goes_out_as_it_is_and_comes_again_the_same() -> None:
    text = "  spaces kept, no line end"
    now = build_stack(StackInputs(user_text=text)).request().messages[0].parts[0]
    later = build_stack(StackInputs(turns=(said("a", Role.USER, text),), user_text="b")).request()

    assert isinstance(now, Segment)
    assert isinstance(later.messages[0].parts[0], Segment)
    assert now.text == later.messages[0].parts[0].text == text
    assert now.sha256 == later.messages[0].parts[0].sha256


def test_attachments_stand_behind_the_text_now_and_later() -> None:
    image = picture()
    now = build_stack(StackInputs(user_text="look", attachments=(image,), metadata=FACTS))
    turns = (said("a", Role.USER, TextPart("look"), image), said("b", Role.ASSISTANT, "seen"))
    later = build_stack(StackInputs(turns=turns, user_text="more", metadata=FACTS))

    assert shape(now.request()) == [("user", ["12/text", "AttachmentPart", "8"])]
    assert shape(later.request())[0] == ("user", ["11/a", "AttachmentPart"])
    assert 'name="chart.png" type="image/png" bytes="1000"' in now.text
    assert (
        now.layer(LayerId.USER).sha256
        != build_stack(StackInputs(user_text="look")).layer(LayerId.USER).sha256
    )


def test_metadata_stands_alone_where_nothing_was_said() -> None:
    """As a new discussion without files is prewarmed: one author, so the request that is shown is the one sent."""
    assert build_stack(StackInputs()).request().messages == ()
    assert shape(build_stack(StackInputs(metadata=FACTS)).request()) == [("user", ["8"])]
    only_files = build_stack(StackInputs(items=(curated("a", "x"),), metadata=FACTS)).request()
    assert shape(only_files) == [("user", ["9", "10", "8"])]


def test_reasoning_is_sent_back_only_while_its_turn_runs() -> None:
    """Metadata stands behind the tool results then, as it is sent, so that they can be cached."""
    thought = ReasoningPart("hm", '{"signature":"s"}')
    call, result = ToolCallPart("1", "read", "{}"), ToolResultPart("1", "text")
    turns = (
        said("a", Role.USER, "first"),
        said("b", Role.ASSISTANT, thought, "answer"),
        said("c", Role.USER, "second"),
        said("d", Role.ASSISTANT, thought, call),
        said("e", Role.TOOL, result),
    )
    running = build_stack(StackInputs(turns=turns, metadata=FACTS))

    assert shape(running.request()) == [
        ("user", ["11/a"]),
        ("assistant", ["11/b/1"]),
        ("user", ["11/c", "8"]),
        ("assistant", ["ReasoningPart", "ToolCallPart"]),
        ("tool", ["ToolResultPart"]),
    ]
    assert shape(build_stack(StackInputs(turns=turns, user_text="third")).request())[3:] == [
        ("assistant", ["ToolCallPart"]),
        ("tool", ["ToolResultPart"]),
        ("user", ["12/text"]),
    ]
    stack = build_stack(StackInputs(turns=turns, user_text="third"))
    assert "hm" not in stack.text
    view = replace(stack.canonical_view, reasoned=("d",))
    assert shape(stack.request(view=view))[3] == ("assistant", ["ReasoningPart", "ToolCallPart"])
    other = build_stack(StackInputs(turns=turns, user_text="third", model="another"))
    assert shape(other.request(view=view))[3] == ("assistant", ["ToolCallPart"])


def test_blank_replies_and_blank_layers_do_not_go_out() -> None:
    turns = (said("a", Role.USER, "x"), said("b", Role.ASSISTANT, " \n"), said("c", Role.ASSISTANT, "y"))
    stack = build_stack(StackInputs(role_text=" \n", digest="\n", turns=turns, user_text="z"))

    assert stack.request().system == ()
    assert shape(stack.request()) == [("user", ["11/a"]), ("assistant", ["11/c"]), ("user", ["12/text"])]


def test_a_thousand_files_are_one_block_on_the_wire_and_a_segment_each_for_counting() -> None:
    stack = build_stack(
        StackInputs(items=tuple(curated(f"f{n}", f"{n}\n") for n in range(1_000)), user_text="x")
    )
    request = stack.request()

    assert shape(request) == [("user", ["9", "10", "12/text"])]
    block = request.messages[0].parts[1]
    assert isinstance(block, Segment)
    assert block.text == stack.layer(LayerId.FILE_DETAILS).text
    assert len([s for s in stack.segments if s.layer is LayerId.FILE_DETAILS]) == 1_000
