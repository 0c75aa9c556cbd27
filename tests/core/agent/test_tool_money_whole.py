"""Money of turns with tools through the whole program against the vendor's own bill: rounds, a summary, Esc, a limit."""

from __future__ import annotations

import pytest

from core.agent.agent_messages import CompactDiscussion, SetTools
from core.app.controller import AppController
from core.app.execution import act
from core.kernel.values.messages import Role
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import TrustProject
from core.talk.turn.turn_messages import CancelReply, SendPrompt
from tests.core.agent.test_whole_tools import asked, is_over, yes
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import LONG, World, ask, settled, spent, world
from tests.vendors.anthropic_server import Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite

__all__ = ["world"]


def calling(number: int, name: str = "read_file", **given: str | list[str]) -> Said:
    """A reply that asks for a tool."""
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given or {"path": "tides.py"}}
    return Said(({"type": "text", "text": "I look."}, call), stop_reason="tool_use")


def begun(world: World) -> tuple[AppController, str]:
    """A discussion with tools that has had a turn."""
    controller = world.program()
    act(controller, TrustProject(is_trusted=True))
    chosen = world.discussion(controller)
    act(controller, SetTools(chosen, has_tools=True))
    ask(world, controller, chosen, "First?")
    return controller, chosen


def booked(state: AppState, chosen: str) -> float:
    """US dollars of the discussion's log."""
    return state.discussions.summaries[chosen].usage.cost_usd or 0.0


def is_said(world: World, state: AppState, chosen: str) -> bool:
    """True once the day and the log say to the digit what was billed."""
    billed = pytest.approx(world.server.billed_usd, rel=1e-9)
    return not state.spending.reserved and spent(state) == billed and booked(state, chosen) == billed


@pytest.mark.slow
def test_rounds_and_a_summary_are_said_to_the_digit_as_they_are_billed(world: World) -> None:
    controller, chosen = begun(world)
    before = world.server.billed_usd
    world.server.replies.extend([calling(1), calling(2), Said(({"type": "text", "text": LONG},))])
    controller.send(SendPrompt(chosen, "Look twice."))
    state = until(
        controller,
        lambda s: len(world.server.bills) == 4 and is_over(s, chosen) and is_said(world, s, chosen),
    )

    assert state.agent.pages[chosen].usd == pytest.approx(world.server.billed_usd - before, rel=1e-9)
    assert not state.discussions.summaries[chosen].usage.is_estimate

    world.server.replies.append(Said(({"type": "text", "text": "They looked at the tides, twice."},)))
    act(controller, CompactDiscussion(chosen))
    state = until(controller, lambda s: len(world.server.bills) == 5 and is_said(world, s, chosen))
    assert state.discussions.open[chosen].cut is not None

    ask(world, controller, chosen, "And now?")
    until(controller, lambda s: is_said(world, s, chosen))


def test_escape_in_a_round_books_what_came_and_nothing_of_what_was_not_sent(world: World) -> None:
    controller, chosen = begun(world)
    gate = Gate()
    billed, said = world.server.billed_usd, spent(controller.snapshot())
    world.server.replies.extend([calling(1), Said(({"type": "text", "text": LONG},))])
    world.server.faults.extend([Rewrite(bytes), HoldAfter(40, gate)])

    def stopped() -> None:
        controller.send(SendPrompt(chosen, "Look, then speak at length."))
        until(
            controller,
            lambda s: (
                len(world.server.bills) == 3
                and chosen in s.turns.calls
                and len(s.turns.calls[chosen].text) > 300
            ),
        )
        controller.send(CancelReply(chosen))
        until(controller, lambda s: chosen not in s.agent.turns and chosen not in s.turns.calls)

    state = settled(controller, chosen, stopped)
    reply = state.discussions.open[chosen].messages[-1]
    assert reply.role is Role.ASSISTANT
    assert reply.usage is not None
    assert reply.usage.is_estimate
    unsent = world.server.output_usd * (1 - len(reply.text) / len(LONG))
    assert spent(state) - said == pytest.approx(world.server.billed_usd - billed - unsent, rel=0.15)
    assert len(world.server.bills) == 3


def test_a_limit_that_is_reached_in_a_turn_stops_it_before_its_next_round(world: World) -> None:
    controller, chosen = begun(world)
    asking = calling(1, "write_file", path="new.py", text="height = 2\n")
    world.server.replies.extend([asking, Said(({"type": "text", "text": "Done."},))])
    controller.send(SendPrompt(chosen, "Make it two."))
    until(controller, lambda s: asked(s, chosen) and not s.spending.reserved)
    world.change(controller, day_limit_usd=round(world.server.billed_usd - 1e-5, 6))
    yes(controller, chosen)
    state = until(
        controller, lambda s: chosen not in s.agent.turns and s.discussions.open[chosen].refusal is not None
    )

    assert len(world.server.bills) == 2
    assert (world.project / "new.py").read_text(encoding="utf-8") == "height = 2\n"
    assert is_said(world, state, chosen)
