"""Memos of plans: what a call laid out is there for the previews behind it, once."""

from __future__ import annotations

from pathlib import Path

from core.kernel.values.spec import CallToBuild
from core.talk.context.stack import build_stack
from tests.core.talk.caching.test_keeper import PROFILE, World


def test_a_preview_holds_what_the_last_call_laid_out_not_a_copy(tmp_path: Path) -> None:
    """Each held its own: a long discussion had every message and block twice."""
    world = World(tmp_path / "home")
    for _ in range(3):
        world.call()
    spec = world.spec("When?")
    stack = build_stack(spec.inputs)
    sent = world.keeper.plan_call(CallToBuild("c9", "q9", "u9", spec), stack, PROFILE, world.factor)
    shown = world.keeper.preview(spec, stack, PROFILE, world.factor)
    pairs = [*zip(sent.request.messages, shown.request.messages, strict=True)]
    assert len(pairs) > 4
    assert all(one is two for one, two in pairs[:-2])  # the last turn before it is laid out anew
