"""What of the state enters a discussion's stack."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import Draft
from core.kernel.values.messages import Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.records import MessageRecord, UsageRecord
from core.kernel.values.spec import CallToBuild
from core.kernel.values.stack import LayerId, ToolSchema
from core.kernel.values.state import AppState
from core.kernel.values.updates import with_open
from core.kernel.values.usage import Usage
from core.kernel.values.window import ViewLine
from core.talk.context.assembly_desk import told_inputs, told_records
from core.talk.context.context_spec import stack_spec
from core.talk.context.stack import build_stack
from core.talk.discussion.log_content import apply
from tests.panels import states


def answered_by(kind: ProviderKind) -> AppState:
    """A discussion in work, its provider being of a kind."""
    state = states.working()
    meta = state.discussions.summaries[state.discussions.selected_id].meta
    status = ProviderStatus(meta.provider, kind, "It", KeySource.ENVIRONMENT)
    providers = {**state.config.providers, meta.provider: status}
    return replace(state, config=replace(state.config, providers=providers))


@pytest.mark.parametrize("kind", ProviderKind)
def test_nothing_that_counts_the_turns_is_sent_to_claude_code_which_marks_the_last_block(
    kind: ProviderKind,
) -> None:
    state = answered_by(kind)

    stack = build_stack(stack_spec(state, state.discussions.selected_id).inputs)

    assert bool(stack.layer(LayerId.METADATA).text) is (kind is not ProviderKind.CLAUDE_CODE)


@pytest.mark.parametrize(
    ("draft", "said"),
    [("/compact", ""), ("/model opus", ""), ("//compact it", "/compact it"), ("/etc/hosts is odd", "/etc/hosts is odd")],
)  # fmt: skip
def test_of_the_composer_what_would_be_sent_is_counted_and_a_command_is_not(draft: str, said: str) -> None:
    state = states.with_opened(states.working(), draft=Draft(draft))

    assert stack_spec(state, state.discussions.selected_id).inputs.user_text == said


@pytest.mark.parametrize(
    ("usage", "is_paid"),
    [
        (Usage(input_tokens=10, cost_usd=0.02, is_told=True), True),
        (Usage(input_tokens=10, cost_usd=0.0, is_told=True), False),
        (Usage(input_tokens=10, cost_usd=0.02), False),
    ],
)
def test_a_model_is_paid_once_its_server_told_that_its_last_reply_cost_something(
    usage: Usage, is_paid: bool
) -> None:
    """A server of this machine may pass requests on to one that is paid."""
    state, at = states.working(), datetime(2026, 11, 20, 12, tzinfo=UTC)
    chosen = state.discussions.selected_id
    meta = state.discussions.summaries[chosen].meta
    reply = MessageRecord(
        "last", at, Role.ASSISTANT, (TextPart("so"),), provider=meta.provider, model=meta.model
    )
    opened = apply(apply(state.discussions.open[chosen], reply), UsageRecord("used", at, "last", usage))

    assert stack_spec(with_open(state, opened), chosen).is_paid is is_paid


def test_a_round_repeats_what_was_told_of_the_discussion_when_its_turn_began() -> None:
    """After a restart nothing else knows it: a turn that waits for a yes goes on behind the bytes that were sent."""
    state, at = states.working(), datetime(2026, 11, 20, 12, tzinfo=UTC)
    chosen = state.discussions.selected_id
    opened = state.discussions.open[chosen]
    asked = MessageRecord("asked", at, Role.USER, (TextPart("Now a command"),))
    call = MessageRecord("call", at, Role.ASSISTANT, (ToolCallPart("c", "bash", "{}"),))
    result = MessageRecord("result", at, Role.TOOL, (ToolResultPart("c", "done"),))
    opened = apply(opened, asked)
    words = next(one for one in opened.messages if one.id == "asked")
    first = stack_spec(with_open(state, opened), chosen, words)
    offered = replace(first.inputs, tools=(ToolSchema("bash", "Runs a command.", "{}"),))
    records = told_records(CallToBuild("c", "q", "asked", first), offered, at)
    assert len(records) == 1
    for record in (*records, call, result):
        opened = apply(opened, record)
    later = stack_spec(with_open(state, opened), chosen, words, is_round=True)
    round_ = told_inputs(CallToBuild("c", "q", "asked", later), later.inputs)

    assert later.inputs.metadata != offered.metadata
    assert round_.metadata == offered.metadata
    assert round_.tools == offered.tools
    assert [turn.id for turn in round_.turns][-3:] == ["asked", "call", "result"]


@pytest.mark.parametrize("refusals", [{}, {"of another model": frozenset({"m1"})}])
def test_the_turns_are_made_once_for_all_that_ask_between_two_changes(
    refusals: dict[str, frozenset[str]],
) -> None:
    """Previews, prices and calls ask at each change of the state: a long discussion would be paired anew for each."""
    state = states.working()
    first_id = state.discussions.open[state.discussions.selected_id].messages[0].id
    state = states.with_opened(state, lines={first_id: (ViewLine(message_id=first_id, text="A signal."),)})
    state = replace(state, caching=replace(state.caching, refusals=refusals))
    first, second = (stack_spec(state, state.discussions.selected_id).inputs.turns for _ in range(2))

    assert first
    assert first is second
