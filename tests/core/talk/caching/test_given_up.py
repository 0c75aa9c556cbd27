"""What a call that was killed, or a prewarming that was given up, leaves in the book."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.spec import CallToBuild
from core.talk.context.stack import build_stack
from core.talk.discussion import log
from tests.core.talk.caching.test_keeper import META, PROFILE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


def killed_call(world: World, *, is_begun: bool) -> None:
    """A call whose program is killed under way, and the program that starts after it."""
    spec = world.spec("When?")
    planned = world.keeper.plan_call(
        CallToBuild("k", "q", "u", spec), build_stack(spec.inputs), PROFILE, world.factor
    )
    log.append(world.home, META.id, planned.records)
    if is_begun:
        world.keeper.begun("k")
    world.start()


def test_what_a_call_had_written_is_known_after_a_kill_once_its_answer_had_begun(world: World) -> None:
    """Providers write a prefix before they answer: the next plan reads it, and keeps the view that it holds."""
    killed_call(world, is_begun=True)
    known = world.keeper.known(META.id)
    assert known is not None, "the ledger tells of it, though no reply did"
    assert known.tokens_cached > 0
    assert world.call().read_tokens > 0


def test_what_a_call_may_have_written_is_not_counted_on_where_no_answer_had_begun(world: World) -> None:
    killed_call(world, is_begun=False)
    assert world.call().read_tokens == 0


def test_what_a_prewarming_that_was_given_up_would_have_written_is_not_counted_on(world: World) -> None:
    spec = world.spec("")
    world.keeper.prewarm_request(spec, build_stack(spec.inputs), PROFILE, 1.0)
    assert world.call().read_tokens == 0
