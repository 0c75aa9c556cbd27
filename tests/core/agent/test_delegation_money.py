"""Money of delegation through the whole program against the vendor's own bill: the child's calls, the parent's task, the day."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.discussion import DiscussionMeta
from core.services.spending.limits import reached_limits
from core.talk.discussion import discussion_store
from core.talk.discussion.discussion_messages import ReadDiscussion
from core.talk.discussion.reply_journal import ReplyJournal
from core.talk.turn.turn_messages import SendPrompt
from tests.core.agent.test_tool_money_whole import begun, booked, calling
from tests.core.agent.test_whole_tools import is_over
from tests.core.app.programs import Programs, until
from tests.core.records import NOW, user
from tests.core.talk.caching.test_money_whole import LONG, World, spent, world
from tests.core.talk.discussion.test_reply_journal import CALLED
from tests.vendors.anthropic_server import Said

__all__ = ["world"]


@pytest.mark.slow
def test_what_a_child_spends_is_billed_once_and_stands_in_the_day_and_in_its_parents_task(
    world: World,
) -> None:
    controller, chosen = begun(world)
    before = world.server.billed_usd
    done = Said(({"type": "text", "text": LONG},))
    task = calling(1, "delegate", task="Find the hours.", files=["tides.py"])
    world.server.replies.extend([task, calling(2), done, done])
    controller.send(SendPrompt(chosen, "When?"))
    state = until(
        controller,
        lambda s: (
            len(world.server.bills) == 5
            and is_over(s, chosen)
            and not s.spending.reserved
            and spent(s) == pytest.approx(world.server.billed_usd, rel=1e-9)
        ),
    )
    (child,) = set(state.discussions.summaries) - {chosen}

    assert booked(state, chosen) + booked(state, child) == pytest.approx(world.server.billed_usd, rel=1e-9)
    assert state.agent.pages[chosen].usd == pytest.approx(world.server.billed_usd - before, rel=1e-9)
    assert 0 < booked(state, child) < world.server.billed_usd - before


def test_what_a_killed_child_was_receiving_counts_to_its_parents_limit_though_nobody_opens_the_child(
    tmp_path: Path,
) -> None:
    programs = Programs(tmp_path)
    parent, child = "20261120-120000-aaaaaa", "20261120-120001-bbbbbb"
    discussion_store.create(
        programs.home, DiscussionMeta(parent, "Parent", NOW, "embedded", "m", spend_limit_usd=0.0001)
    )
    discussion_store.create(
        programs.home,
        DiscussionMeta(
            child, "Task", NOW, "anthropic", "claude-opus-5-5", parent_id=parent, delegated_by="call"
        ),
        (user("a"),),
    )
    journal = ReplyJournal(programs.home, child, lambda: CALLED)
    journal.begin()
    journal.add_text("tide " * 40)
    journal.close()
    controller = programs.start()
    until(controller, lambda s: {parent, child} <= set(s.discussions.summaries))
    controller.send(ReadDiscussion(parent))

    state = until(controller, lambda s: parent in s.discussions.open)

    assert child not in state.discussions.open
    assert (state.discussions.summaries[child].usage.cost_usd or 0) > 0
    assert reached_limits(state, parent)
    programs.stop()
