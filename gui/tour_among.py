"""The tour's agent among others: an MCP server approved and called, a task given away, autonomy with its countdown, a signal."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from core.base.disk import make_dirs, write_file
from core.base.figures import money
from core.base.paths import INBOX_DIR
from core.values.attention import Attention
from core.values.mcp import McpPhase
from core.values.state import AppState
from gui.elements.popups import PopupItem
from gui.tour_model import Line, scripted_model
from gui.tour_turns import allow, is_over, scripted_discussion, send_words, until_asked
from gui.tour_walk import Tour

SERVER, MODEL = "among", "scripted-among"
ALMANAC, FILE = "almanac", "almanac.py"
DAY = "2026-11-23"
CODE = f'''\
from mcp.server import MCPServer

server = MCPServer("{ALMANAC}")


@server.tool()
def moon(day: str) -> str:
    """Phase of the moon on a day (ISO 8601)."""
    return f"On {{day}} the moon is at its first quarter: a neap tide."


server.run("stdio")
'''
"""A server over the official SDK, as a person might have one in their project."""
LETTER = "harbour office.txt"
TASK = "Find where heights are computed. Answer with the file and the function."
ASKED = "Spring or neap tide today? And where are heights computed?"
DAY_LIMIT_USD = 2.0


def among(tour: Tour, home: Path, project: Path) -> None:
    """Walk through it in a new discussion on a scripted model. The server is a real one, in the sandbox of commands."""
    write_file(project / FILE, CODE.encode())
    with scripted_model(_script(), MODEL) as address:
        _approve(tour, project)
        chosen = scripted_discussion(tour, SERVER, address, MODEL)
        tour.driver.click(tour.driver.find("Ask first: writes", kind=PopupItem))
        tour.wait(lambda s: s.discussions.summaries[chosen].meta.has_tools, "tools")
        _ask(tour, chosen)
        _let_go_on(tour, home)


def _script() -> tuple[Line, ...]:
    def rests(text: str, why: str) -> Line:
        return Line(text, (("yield_to_user", {"why": why}),))

    return (
        Line(
            "The almanac knows the moon; the search I give away.",
            ((f"{ALMANAC}__moon", {"day": DAY}), ("delegate", {"task": TASK, "files": ["tides.py"]})),
        ),
        Line(calls=(("read_file", {"path": "tides.py"}),)),
        Line("In tides.py, by TideTable.height_m."),
        Line("Neap tide today, says the almanac. Heights are computed in tides.py, by TideTable.height_m."),
        rests("Nothing is left to do.", "Nothing is left."),
        rests(
            "The harbour office writes that the old pier is closed. You decide if it leaves the table.",
            "Shall the old pier leave the table?",
        ),
    )  # fmt: skip


def _approve(tour: Tour, project: Path) -> None:
    """In the manager: a server is entered, what would start is approved, then what it offers."""
    driver = tour.driver
    driver.key("Ctrl+8")
    driver.until(lambda: driver.has("Add a server"), "the manager of servers")
    driver.click("Add a server")
    driver.step(4)
    driver.type(ALMANAC)
    driver.click("Command, or https:// address")
    driver.paste(shlex.join((sys.executable, "-P", str(project / FILE))))
    driver.click("Add it")
    tour.wait(lambda s: _phase(s) is McpPhase.ASKING, "the question whether it may start")
    driver.step(4)
    tour.shot("among-server")
    allow(tour, "Approve and start", lambda s: _phase(s) is not McpPhase.ASKING)
    took = tour.wait(lambda s: bool(s.mcp.servers[ALMANAC].tools), "what it offers")
    driver.until(lambda: driver.has("Approve 1 tool"), "the question about its tool")
    allow(tour, "Approve 1 tool", lambda s: _phase(s) is McpPhase.READY)
    tour.say(f"{took:7.2f} s  an MCP server entered, approved and started; its tool approved by itself")
    tour.shot("among-approved")


def _phase(state: AppState) -> McpPhase | None:
    server = state.mcp.servers.get(ALMANAC)
    return None if server is None else server.phase


def _ask(tour: Tour, chosen: str) -> None:
    """Its tool is called after a yes, and a task runs beside it in a discussion of its own."""
    send_words(tour, ASKED)
    until_asked(tour, DAY)
    tour.shot("among-call")
    allow(tour, "Allow once")
    took = tour.wait(is_over, "the answer")
    child = next(
        row.meta for row in tour.state.discussions.summaries.values() if row.meta.parent_id == chosen
    )
    tour.say(f"{took:7.2f} s  the server's tool called after a yes; a task was given to {child.name!r}")
    tour.driver.step(4)
    tour.shot("among-task")


def _let_go_on(tour: Tour, home: Path) -> None:
    """It goes on alone beside a limit, rests, is woken by a file in the inbox, and is stopped."""
    driver = tour.driver
    driver.key("Ctrl+7")
    driver.until(lambda: driver.has("Alone"), "the agent's panel")
    driver.click("Alone")
    driver.click("Limit per day ($)")
    driver.key("Ctrl+a")
    driver.type(f"{DAY_LIMIT_USD:g}")
    driver.key("Enter")
    tour.wait(lambda s: s.config.settings.caching.day_limit_usd == DAY_LIMIT_USD, "the day's limit")
    driver.click("Let it go on alone")
    tour.wait(lambda s: s.attention.autonomy is not None, "autonomy")
    tour.shot("among-countdown")
    took = tour.wait(_rests, "its turn and its rest")
    tour.say(f"{took:7.2f} s  alone: a turn of its own after the countdown, then it rests")
    inbox = home / INBOX_DIR
    make_dirs(inbox)
    write_file(inbox / LETTER, b"The old pier is closed from Monday.\n")
    took = tour.wait(lambda s: _rests(s) and LETTER in _woken_by(s), "the letter to wake it")
    tour.say(f"{took:7.2f} s  woken by a file in the inbox, which it read as data; then it rests again")
    tour.shot("among-woken")
    spent = tour.state.attention.autonomy
    driver.click("Stop")
    tour.wait(lambda s: s.attention.autonomy is None, "the stop")
    tour.say(f"          stopped; by itself it spent {money(0.0 if spent is None else spent.usd)}")


def _rests(state: AppState) -> bool:
    """True once a turn of its own is over and it waits at rest."""
    loop = state.attention.autonomy
    return (
        loop is not None
        and loop.state is Attention.RESTING
        and not loop.message_id
        and loop.next_at is not None
    )


def _woken_by(state: AppState) -> str:
    loop = state.attention.autonomy
    return "" if loop is None else loop.woken_by
