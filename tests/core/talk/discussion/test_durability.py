"""What a durable record does to its discussion's row."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.kernel.values.records import UsageRecord
from core.kernel.values.usage import Usage, UsageKind
from core.talk.discussion.discussion_messages import RecordsAppended
from tests.core.app.playbook import START, Playbook


@pytest.mark.parametrize(
    ("kind", "is_use"),
    [(kind, kind is UsageKind.COMPACTION) for kind in UsageKind if kind is not UsageKind.TURN],
)
def test_what_the_program_pays_to_keep_a_prefix_warm_is_no_use_of_its_discussion(
    kind: UsageKind, is_use: bool
) -> None:
    book = Playbook().ready()
    chosen = book.discussion("Tides")
    before = book.state.discussions.summaries[chosen]

    book.later(60).play(
        RecordsAppended(chosen, (UsageRecord("p", START, kind.value, Usage(cost_usd=0.5)),), None)
    )

    row = book.state.discussions.summaries[chosen]
    later = before.updated_at + timedelta(seconds=60)
    assert row.usage.cost_usd == 0.5
    assert row.paid_at == later
    assert row.updated_at == (later if is_use else before.updated_at)
