"""Tools that are taken and given while a discussion at Gemini is warm: they stay declared, words tell it, all that was sent stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.agent.agent_messages import SetTools
from core.app.execution import act
from core.app.warm_loss import warm_loss
from core.kernel.values.messages import Message, Role, ToolResultPart
from core.talk.discussion.discussion_messages import SelectDiscussion
from tests.core.app.programs import until
from tests.core.talk.caching.test_asked_breaks_whole import VENDORS, Day, extensions, paid
from tests.vendors.billing.values import Json

GEMINI = next(one for one in VENDORS if one.name == "gemini")
STORED = GEMINI._replace(models=("gemini-3.8-flash", "gemini-4-argon"))
OFF, ON = "do not call these tools", "you may call these tools again"


@pytest.fixture(params=[GEMINI], ids=["inline"])
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Day]:
    found = Day(tmp_path, request.param)
    with found.server as server:
        for name, value in GEMINI.environ(server.url).items():
            monkeypatch.setenv(name, value)
        yield found
        found.stop()


def tools(day: Day, *, has_tools: bool) -> None:
    """Give or take the tools, for which no price is asked."""
    until(day.program, lambda s: day.said(Role.ASSISTANT).id in str(s.context.reports[day.chosen].layers))
    command = SetTools(day.chosen, has_tools=has_tools)
    assert warm_loss(day.program.snapshot(), command) is None
    act(day.program, command)


def begin(day: Day) -> None:
    """Two turns: before the second the vendor has stored nothing."""
    day.begin()
    for day.doing in ("One", "Two"):
        day.ask()


def last(day: Day) -> Json:
    body = day.server.heard[-1].body
    assert isinstance(body, dict)
    return body


def words(day: Day) -> str:
    return str(last(day)["contents"][-1]["parts"])


def test_taken_tools_stay_declared_and_every_request_extends_the_one_before(day: Day) -> None:
    begin(day)
    for number, (has_tools, told) in enumerate(((False, OFF), (True, ON), (False, OFF))):
        tools(day, has_tools=has_tools)
        day.doing = f"Switch {number}"
        day.ask()
        assert told in words(day)
        day.doing = f"More {number}"
        day.ask()
        assert told not in words(day)
    day.stop()
    day.program = day.start()
    act(day.program, SelectDiscussion(day.chosen))
    day.doing = "Another program"
    day.ask()
    assert extensions(day) == [True] * 8

    day.now += timedelta(hours=5)
    day.doing = "Later"
    day.ask()
    assert OFF not in str(last(day))
    assert not last(day).get("tools"), "a cold request does not describe what is off"
    assert day.failures == []


def test_a_call_of_a_tool_that_was_taken_is_refused(day: Day) -> None:
    begin(day)
    tools(day, has_tools=False)
    day.doing = "Call all the same"
    day.ask(rounds=1)

    parts = [part for one in day.opened.entries if isinstance(one, Message) for part in one.parts]
    (result,) = [part for part in parts if isinstance(part, ToolResultPart)]
    assert "tools are switched off" in result.text
    assert extensions(day) == [True] * 3


@pytest.mark.parametrize("day", [STORED], ids=["stored"], indirect=True)
def test_what_the_vendor_stores_is_read_however_often_the_tools_are_taken_and_given(day: Day) -> None:
    begin(day)
    for number, (has_tools, told) in enumerate(((False, OFF), (True, ON), (False, OFF))):
        tools(day, has_tools=has_tools)
        day.doing = f"Switch {number}"
        day.ask()
        assert told in words(day)
        assert last(day)["tools"]
        day.doing = f"More {number}"
        day.ask()
        read, anew = paid(day)
        assert read > 10 * anew
    assert extensions(day)[1:] == [True] * 6
