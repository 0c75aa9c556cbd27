"""What of the state enters a discussion's stack."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.context.spec import stack_spec
from core.context.stack import build_stack
from core.values.provider import KeySource, ProviderKind, ProviderStatus
from core.values.stack import LayerId
from core.values.state import AppState
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
