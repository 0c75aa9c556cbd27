"""Whether a request extends the one before it: where not, the byte, the layer and why."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CachePlan
from core.kernel.values.curation import NamedText
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    ReasoningPart,
    Role,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import DiscussionMetadata, LayerId, StackInputs, ToolSchema
from core.kernel.values.window import BaseFile, ContextView, FrozenBase, TurnSwitch
from core.talk.context.difference import (
    CUT,
    Basis,
    PrefixBreak,
    break_text,
    first_break,
    is_asked,
    with_cause,
)
from core.talk.context.stack import build_stack
from tests.core.stacks import curated, said

THOUGHT, CALL = ReasoningPart("hm", '{"signature":"s"}'), ToolCallPart("1", "read", "{}")
TURN = (
    said("a", Role.USER, "first"),
    said("b", Role.ASSISTANT, THOUGHT, CALL),
    said("c", Role.TOOL, ToolResultPart("1", "text")),
)
READ, OLD = ToolSchema("read", "Read.", "{}"), NamedText("Old", "You are old.")
FACTS = DiscussionMetadata("name", turn_count=1)


def request(
    turns: tuple[Message, ...] = (), words: str = "", *reasoned: str, **inputs: object
) -> ProviderRequest:
    given = StackInputs(role_text="role", metadata=FACTS, turns=turns, user_text=words)
    stack = build_stack(replace(given, **inputs))  # type: ignore[arg-type]
    return stack.request(view=replace(stack.canonical_view, reasoned=reasoned))


def test_a_turn_extends_the_one_before_it_but_for_what_stood_behind_its_words() -> None:
    first, round_ = request(words="first"), request(TURN)
    after = request((*TURN, said("d", Role.ASSISTANT, THOUGHT, "Done.")), "more", "b")

    assert first_break(first, round_) is None
    assert first_break(first, first) is None
    moved = first_break(round_, after)
    assert moved is not None
    assert moved.layer is LayerId.METADATA, "it stood behind the first words, and no view kept it there"


def test_thinking_that_is_left_out_is_named_with_its_byte() -> None:
    turns = (*TURN, said("d", Role.ASSISTANT, "Done."))
    kept, left = request(turns, "more", "b"), request(turns, "more")

    found = first_break(kept, left)

    assert found is not None
    assert (found.layer, found.reason) == (LayerId.TURNS, "the program left out earlier thinking")
    assert found.byte_offset == len("role\n" + "first")
    assert first_break(kept, replace(kept, messages=kept.messages[:-2])) is not None


def test_a_reply_that_is_asked_for_again_repeats_what_was_sent_and_nothing_is_paid_again() -> None:
    sent = request((*TURN, said("d", Role.ASSISTANT, THOUGHT, "Done.")), "more", "b", "d")
    again = replace(sent, messages=sent.messages[:3])

    found = first_break(sent, again)

    assert found is not None
    assert found.reason == "the request ends earlier than the one before it"
    told = break_text(found, CachePlan(read_tokens=900))
    assert told.endswith("The cache holds all of it: nothing is paid again.")


def test_a_compaction_is_named_in_place_of_the_layers_that_it_let_be_told_anew() -> None:
    reasons = {LayerId.KNOWLEDGE: "digest regenerated", LayerId.TURNS: CUT}
    for layer in (LayerId.FILE_SET, LayerId.TURNS):
        found = PrefixBreak(layer=layer, byte_offset=9, reason="the layer changed")
        assert with_cause(found, reasons).reason == CUT
    head = PrefixBreak(layer=LayerId.PERSONA, byte_offset=9, reason="the layer Persona changed")
    assert with_cause(head, reasons) == head
    assert with_cause(head, {LayerId.PERSONA: "persona changed"}).reason == "persona changed"


@pytest.mark.parametrize(
    ("inputs", "layer", "reason"),
    [
        ({"role_text": "rule"}, LayerId.ROLE, "the layer Role instructions changed"),
        ({"tools": (READ,)}, LayerId.TOOLS, "the tools changed"),
        ({"tools": (READ,), "role_text": "rule"}, LayerId.TOOLS, "the tools changed"),
        ({"persona": OLD}, LayerId.PERSONA, "the layer Persona changed"),
        ({"persona": OLD, "role_text": "rule"}, LayerId.ROLE, "the layer Role instructions changed"),
        (
            {"preset_name": "files", "items": (curated("a.py", "x = 1"),)},
            LayerId.FILE_SET,
            "the layer Context preset changed",
        ),
        ({"model": "another"}, LayerId.ROLE, "the model changed"),
        ({"turns": (said("a", Role.USER, "fiend"), *TURN[1:])}, LayerId.TURNS, "an earlier message"),
    ],
)
def test_each_change_has_its_layer_and_a_reason(
    inputs: dict[str, object], layer: LayerId, reason: str
) -> None:
    found = first_break(request(TURN, "more"), request(**{"turns": TURN, "words": "more", **inputs}))  # type: ignore[arg-type]

    assert found is not None
    assert found.layer is layer
    assert found.reason.startswith(reason)


def test_it_is_told_with_what_is_paid_anew_and_the_plans_reason() -> None:
    one, two = (request(words=text, metadata=DiscussionMetadata()) for text in ("one", "two"))
    found = first_break(one, two)
    plan = CachePlan(
        write_tokens=1_000, fresh_tokens=20, cost_usd=0.5, read_cost_usd=0.1, sentences=("It went cold.",)
    )

    assert found is not None
    assert (
        break_text(found, plan)
        == "Layer 12 (Your message) differs at byte 5: the last message was changed or removed. You pay again for about 1,020 tokens, est. $0.40. It went cold."
    )
    assert break_text(found, plan, is_held=False).endswith(
        "The cache had already ended, so about 1,020 tokens are sent anew anyway, est. $0.40. It went cold."
    )
    assert break_text(found, None).endswith("removed.")


def test_what_is_new_behind_a_break_is_not_called_paid_again() -> None:
    """A message was edited; the next one brings as many words as all that stood behind the edited one."""
    edited = (said("a", Role.USER, "fiend"), *TURN[1:])
    behind = "first" + "1read{}" + "1text"
    found = first_break(request(TURN), request(edited, "w" * len(behind), metadata=DiscussionMetadata()))
    plan = CachePlan(write_tokens=1_000, cost_usd=0.5, read_cost_usd=0.1)

    assert found is not None
    assert found.layer is LayerId.TURNS
    assert found.again == 0.5
    assert (
        f"pay again for about {round(1_000 * found.again)} tokens, est. ${0.4 * found.again:.2f}"
        in break_text(found, plan)
    )
    assert "about 1,000 tokens are sent anew" in break_text(found, plan, is_held=False)


LATER = (*TURN, said("d", Role.ASSISTANT, "Done."))
SHOWN = ContextView(reasoned=("b",))
PICTURE = AttachmentPart(sha256="ab" * 32, media_type="image/png", name="shot.png", size_bytes=10)
ASKED = Basis(turns=TURN, view=SHOWN, message_id="e", text="more")
ANSWERED = Basis(turns=(*TURN, said("e", Role.USER, "more")), view=SHOWN, message_id="f", text="and?")


@pytest.mark.parametrize(
    ("before", "after", "reasons", "is_explained"),
    [
        (Basis(TURN, SHOWN), Basis(LATER, SHOWN), {}, False),
        (Basis(TURN, SHOWN), Basis(LATER, ContextView(reasoned=("b", "e"))), {}, False),
        (Basis(TURN, SHOWN), Basis(LATER, SHOWN), {LayerId.TOOLS: "tools changed"}, True),
        (Basis(TURN, SHOWN), Basis((said("a", Role.USER, "edited"), *LATER[1:]), SHOWN), {}, True),
        (Basis(TURN, SHOWN), Basis(LATER[:1], SHOWN), {}, True),
        (Basis(TURN, SHOWN), Basis(LATER, ContextView()), {}, True),
        (
            Basis(TURN, SHOWN),
            Basis(LATER, replace(SHOWN, base=FrozenBase(files=(BaseFile("10/a", "0", "a"),)))),
            {},
            True,
        ),
        (Basis(TURN), Basis(LATER), {}, True),
        (ASKED, ANSWERED, {}, False),
        (ASKED, ASKED, {}, False),
        (ASKED, replace(ASKED, text="in other words"), {}, True),
        (ASKED, replace(ASKED, message_id="version"), {}, True),
        (replace(ASKED, attachments=(PICTURE,)), ASKED, {}, True),
        (replace(ASKED, attachments=(PICTURE,)), ANSWERED, {}, True),
        (ASKED, replace(ANSWERED, turns=(*TURN, said("e", Role.USER, "edited"))), {}, True),
        (replace(ASKED, recalled=(("a", "passage"),)), ANSWERED, {}, True),
        (ASKED, replace(ANSWERED, recalled=(("d", "passage"),)), {}, False),
    ],
)
def test_what_a_person_did_or_a_plan_chose_explains_a_break_and_nothing_else_does(
    before: Basis, after: Basis, reasons: dict[LayerId, str], is_explained: bool
) -> None:
    found = first_break(request(TURN, "more", "b"), request(LATER, "more"))

    assert found is not None
    assert is_asked(found, before, after, reasons) is is_explained


def test_a_tool_that_is_put_in_is_named_by_its_own_first_byte() -> None:
    given = first_break(request(TURN[:1], "more"), request(TURN[:1], "more", tools=(READ,)))

    assert given is not None
    assert given.byte_offset == 1, "'read' and 'role' part there"


def test_switches_that_move_to_the_head_explain_its_break_and_nothing_else_does() -> None:
    switched = replace(SHOWN, switches=(TurnSwitch(message_id="a", text="{}"),))
    found = PrefixBreak(layer=LayerId.TOOLS, byte_offset=1, reason="the tools changed")

    assert is_asked(found, Basis(TURN, switched), Basis(LATER, SHOWN), {})
    assert not is_asked(found, Basis(TURN, switched), Basis(LATER, switched), {})
