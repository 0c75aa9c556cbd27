"""Two programs on one home, each a process: what the other renewed or booked during a turn of ours stands, and counts once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import CallToBuild
from core.kernel.values.usage import Usage
from core.talk.caching.cache_file import HomeCacheStore
from core.talk.caching.caching_messages import ReadCaches, RentPaid
from core.talk.context.stack import build_stack
from tests.command_forks import FORKS, Forked
from tests.core.talk.caching import contents_kit
from tests.core.talk.caching.contents_kit import ID
from tests.core.talk.caching.test_keeper import META, PROFILE, World
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.prices import Prices
from tests.vendors.gemini_server import GeminiServer

ANOTHER = """
import json, sys
from tests.core.talk.caching import test_two_programs
job = getattr(test_two_programs, sys.argv[1])(*sys.argv[2:])
for line in sys.stdin:
    print(json.dumps(job.send(json.loads(line)) if line.strip() != "null" else next(job)), flush=True)
"""


class Another:
    """A job of this module in a process of its own. It answers each message by a value."""

    def __init__(self, job: str, *arguments: object) -> None:
        self._program: Forked = FORKS.program(ANOTHER, job, *arguments, has_input=True)
        self.tell(None)

    def tell(self, message: object) -> Any:
        """Say something and wait for the answer."""
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(message).encode() + b"\n")
        answer = self._program.line()
        assert answer, self._program.communicate()[1].decode()
        return json.loads(answer)

    def close(self) -> None:
        self._program.kill()
        self._program.communicate()


def command(home: str, now: str, turns: str) -> Iterator[Any]:
    """A turn of a command: plans and begins at the first message, ends at the second."""
    world = World(Path(home), is_new=False)
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    world.now = datetime.fromisoformat(now)
    world.turns = world.said(int(turns))
    yield None
    spec = world.spec("And by the command?")
    planned = world.keeper.plan_call(CallToBuild("c", "q", "u", spec), build_stack(spec.inputs), PROFILE, 1.0)
    world.keeper.begun("c")
    yield planned.plan.read_tokens
    sent = planned.plan.read_tokens + planned.plan.write_tokens + planned.plan.fresh_tokens
    world.keeper.ended("c", Usage(input_tokens=sent, cache_read_tokens=planned.plan.read_tokens))
    yield None


def command_at_gemini(home: str, url: str, now_s: str, count: str) -> Iterator[Any]:
    """As `command`, where a prefix is stored for rent. A command beside a window books none. Yields what it told of rent."""
    world = contents_kit.World.beside(Path(home), url, Clock(float(now_s)), count=int(count))
    yield None
    turn = world.turn_in_parts("And now?")
    next(turn)
    yield told(world)
    next(turn, None)
    yield told(world)


def told(world: contents_kit.World) -> dict[str, float]:
    """Rent by the record that tells it: the log takes each once."""
    return {one.record_id: one.cost_usd or 0.0 for one in world.told(RentPaid)}


def test_a_lifetime_that_the_window_renewed_while_a_command_was_on_its_turn_is_taken_up(
    tmp_path: Path,
) -> None:
    world = World(tmp_path / "home")
    world.settings = CachingSettings(keepalive=True, anthropic_ttl="5m")
    for _ in range(6):
        world.call()
    begun = world.now + timedelta(minutes=3)
    world.now = begun + timedelta(seconds=50)
    (ping,) = world.keeper.due_pings(world.settings)
    other = Another("command", world.home, begun.isoformat(), len(world.turns) // 2)
    try:
        assert other.tell("begin") > 0, "it counts on what the window holds"
        world.keeper.pinged(ping, Usage(input_tokens=ping.idle.tokens, cache_read_tokens=ping.idle.tokens))
        other.tell("end")
    finally:
        other.close()

    (entries,) = HomeCacheStore(world.home).load(META.id).ledger.entries.values()
    assert entries[ping.idle.prefix_hash].expires_at == ping.started_at + timedelta(minutes=5)


@pytest.mark.parametrize("looks_s", [(400,), (900,), (400, 900, 1500)])
def test_rent_that_the_window_books_while_a_command_is_on_its_turn_counts_once(
    tmp_path: Path, looks_s: tuple[int, ...]
) -> None:
    clock = Clock()
    with GeminiServer(clock=clock) as server:
        world = contents_kit.World(tmp_path / "home", server, clock)
        _, report, _ = world.turn()
        assert report is not None
        assert report.stored is not None
        other, begun_s = (
            Another("command_at_gemini", world.home, server.url, clock.now_s, world.count),
            clock.now_s,
        )
        try:
            rents = other.tell("begin")
            for after_s in looks_s:
                clock.now_s = begun_s + after_s
                world.handler.handle(ReadCaches((ID,)))
                world.tend()
            rents |= other.tell("end")
        finally:
            other.close()
        world.later(9000)
        world.tend()
        world.clients.close()
        (hours,) = server.cache.stored.token_hours(clock.now_s).values()
    assert rents == {}, "a command leaves them to the window"
    billed = float(Prices().storage(contents_kit.FLASH, hours, clock.now_s))
    assert sum(told(world).values()) == pytest.approx(billed, rel=0.01)
