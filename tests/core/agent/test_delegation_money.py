"""Money of delegation through the whole program against the vendor's own bill: the child's calls, the parent's task, the day."""

from __future__ import annotations

import pytest

from core.turn.messages import SendPrompt
from tests.core.agent.test_tool_money_whole import begun, booked, calling
from tests.core.agent.test_whole_tools import is_over
from tests.core.app.programs import until
from tests.core.caching.test_money_whole import LONG, World, spent, world
from tests.vendors.anthropic_server import Said

__all__ = ["world"]


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
