"""The difference from the last request, and the guard of the prefix."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Role
from core.kernel.values.stack import ContextChange, DiscussionMetadata, LayerId, StackInputs, ToolSchema
from core.talk.context.difference import (
    CUT,
    compare,
    first_difference,
    is_as_before,
    prefix_change,
    prefix_reasons,
)
from core.talk.context.report import recorded
from core.talk.context.stack import AggregateStack, build_stack
from tests.core.stacks import curated, full_inputs, inputs, said, texts

BASE = StackInputs(
    role_text="R" * 400,
    digest="D" * 400,
    metadata=DiscussionMetadata("Talk"),
    items=(curated("a", "A" * 400), curated("b", "B" * 400)),
    turns=(said("q0", Role.USER, "Q" * 400), said("a0", Role.ASSISTANT, "X" * 400)),
    user_text="first",
)


def following(base: StackInputs, text: str, **changed: object) -> StackInputs:
    """The inputs of the turn after `base`, whose message was answered."""
    turns = (*base.turns, said("q1", Role.USER, base.user_text), said("a1", Role.ASSISTANT, "reply"))
    return replace(base, turns=turns, user_text=text, **changed)  # type: ignore[arg-type]


def difference(old: StackInputs, new: StackInputs, *, keeps_texts: bool = False) -> ContextChange:
    before, after = build_stack(old), build_stack(new)
    held = {layer.id: layer for layer in before.layers} if keeps_texts else None
    previous = recorded(before.report())
    return compare(previous, after, after.report(), sent=held)


def tokens(stack: AggregateStack, *layers: LayerId) -> int:
    return sum(report.tokens_est for report in stack.report() if report.layer in layers)


@settings(max_examples=60)
@given(old=inputs(), new=inputs())
def test_what_is_as_before_has_no_change_of_its_prefix(old: StackInputs, new: StackInputs) -> None:
    for other in (new, old, replace(old, user_text="again"), replace(old, digest=f"{old.digest}!")):
        before, after = build_stack(old), build_stack(other)
        view = before.canonical_view
        is_same = is_as_before(recorded(before.report()), after, view, view)

        change = prefix_change(recorded(before.report()), after.shown(view), {})

        assert change is None or not is_same
        assert is_same == (before.layers[:7] == after.layers[:7])
        assert not is_as_before(recorded(before.report()), before, None, view)


@settings(max_examples=60)
@given(base=inputs(), text=texts())
def test_the_next_turn_continues_the_last_request(base: StackInputs, text: str) -> None:
    base = replace(base, retrieved="", attachments=(), user_text="first")

    assert difference(base, following(base, text, metadata=DiscussionMetadata("Renamed"))).layer is None


def test_a_continued_request_keeps_all_but_what_is_new() -> None:
    new = following(BASE, "second")
    change, stack = difference(BASE, new), build_stack(new)
    sent_before = build_stack(BASE).report()

    assert change.same_tokens_est == sum(r.tokens_est for r in sent_before if r.layer is not LayerId.METADATA)
    assert change.same_tokens_est + change.rewritten_tokens_est == sum(r.tokens_est for r in stack.report())


def test_an_edited_file_voids_what_follows_it_but_not_what_stands_before() -> None:
    new = following(BASE, "second", items=(BASE.items[0], curated("b", "B" * 100 + "!" + "B" * 299)))
    change, stack = difference(BASE, new, keeps_texts=True), build_stack(new)
    first_file = stack.report()[LayerId.FILE_DETAILS - 1].segments[0]

    assert change.layer is LayerId.FILE_DETAILS
    before = (LayerId.ROLE, LayerId.KNOWLEDGE, LayerId.FILE_SET)
    assert change.same_tokens_est == tokens(stack, *before) + first_file.tokens_est
    details = stack.layer(LayerId.FILE_DETAILS).text
    assert change.byte_offset == details.index("!")


def test_without_the_earlier_text_the_byte_is_unknown() -> None:
    change = difference(BASE, replace(BASE, digest="other"))

    assert (change.layer, change.byte_offset) == (LayerId.KNOWLEDGE, None)


def test_layers_are_compared_in_the_order_of_the_wire() -> None:
    """Tools stand before the role instructions, the project behind the digest where it moves."""
    tool = ToolSchema("t", "T", "{}")
    assert difference(BASE, replace(BASE, role_text="new", tools=(tool,))).layer is LayerId.TOOLS
    moved = replace(BASE, takes_long_system=False)
    changed = replace(moved, digest="new", project=(NamedText("p", "new"),))
    assert difference(moved, changed).layer is LayerId.KNOWLEDGE
    assert difference(BASE, replace(changed, takes_long_system=True)).layer is LayerId.PROJECT


def test_an_edited_turn_is_found_although_the_record_holds_one_segment_of_the_turns() -> None:
    edited = (said("q0", Role.USER, "edited"), BASE.turns[1])

    assert difference(BASE, following(replace(BASE, turns=edited), "second")).layer is LayerId.TURNS
    assert difference(BASE, replace(following(BASE, "x"), turns=())).layer is LayerId.TURNS


def test_an_edited_message_is_found() -> None:
    new = following(replace(BASE, user_text="edited"), "second")

    assert difference(BASE, new).layer is LayerId.USER


def test_a_record_stays_small_however_long_the_discussion_and_the_preset() -> None:
    turns = tuple(said(f"m{n}", Role.USER, "x") for n in range(500))
    items = tuple(curated(f"f{n}", "x") for n in range(500))
    layers = recorded(build_stack(StackInputs(turns=turns, items=items)).report())

    assert sum(len(layer.segments) for layer in layers) < 70
    assert layers[LayerId.TURNS - 1].segments[0].key == "11/m499"


def test_the_first_request_is_all_new() -> None:
    stack = build_stack(BASE)
    change = compare((), stack, stack.report())

    assert (change.layer, change.same_tokens_est) == (LayerId.ROLE, 0)


@pytest.mark.parametrize(
    ("changed", "layer", "reason"),
    [
        ({"epoch": 1}, LayerId.ROLE, "cache invalidated"),
        ({"role_text": "other"}, LayerId.ROLE, "role instructions changed"),
        ({"role_text": "other", "model": "m2"}, LayerId.ROLE, "model changed"),
        ({"tool_format_text": "x"}, LayerId.TOOL_FORMAT, "tool format changed"),
        ({"tools": ()}, LayerId.TOOLS, "tools changed"),
        ({"system_text": None}, LayerId.SYSTEM_PRESET, "system prompt preset changed"),
        ({"persona": NamedText("x", "y")}, LayerId.PERSONA, "persona changed"),
        ({"project": ()}, LayerId.PROJECT, "project context changed"),
        ({"digest": "new"}, LayerId.KNOWLEDGE, "digest regenerated"),
        ({"notes": ()}, LayerId.KNOWLEDGE, "notes of files in scope changed"),
    ],
)
def test_each_change_of_the_stable_prefix_has_its_reason(
    changed: dict[str, object], layer: LayerId, reason: str
) -> None:
    old = full_inputs()
    new = replace(old, **changed)  # type: ignore[arg-type]
    found = prefix_change(build_stack(old).report(), build_stack(new), prefix_reasons(old, new))

    assert found is not None
    assert (found.layer, found.reason, found.is_explained) == (layer, reason, True)


def test_a_change_that_no_input_explains_is_said_with_layer_and_byte() -> None:
    old, stack = full_inputs(), build_stack(full_inputs())
    sent = {layer.id: layer for layer in stack.layers}
    drifted = build_stack(replace(old, digest="DIGEST at 12:03"))
    found = prefix_change(stack.report(), drifted, prefix_reasons(old, old), sent)

    assert found is not None
    assert not found.is_explained
    assert found.byte_offset == len("{knowledge}\nDIGEST")
    assert str(found) == "Layer 7 (Knowledge) differs at byte 18: no reason was recorded"


@settings(max_examples=60)
@given(base=inputs(), other=inputs())
def test_volatile_changes_never_trip_the_guard(base: StackInputs, other: StackInputs) -> None:
    new = replace(
        base, metadata=other.metadata, items=other.items, turns=other.turns, user_text=other.user_text
    )

    assert prefix_change(build_stack(base).report(), build_stack(new), {}) is None
    assert prefix_reasons(base, new) == {}


@settings(max_examples=200)
@given(first=texts(), second=texts())
def test_the_first_difference_is_that_of_the_bytes(first: str, second: str) -> None:
    one, two = first.encode(), second.encode()
    place = next((i for i, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), None)
    wanted = min(len(one), len(two)) if place is None and one != two else place

    assert first_difference(first, second) == wanted


def test_turns_that_a_cut_begins_say_so() -> None:
    base = StackInputs(role_text="ROLE")
    assert prefix_reasons(base, replace(base, cut_id="cut")) == {LayerId.TURNS: CUT}
