"""A forgetting that a crash cut short goes on where it stopped: nothing of it is left after the next start."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.forgetting import leftovers
from core.app.forgetting.forgetting_run import ForgetRequest, forget, resume
from core.kernel.values.knowledge import ForgetTarget
from tests.core.app.forgetting.day import OTHER, SHARED, a_day, items, traces
from tests.core.knowledge.harvest.harvests import NOW
from tests.core.knowledge.homes import FaultyDisk, KilledError

EVERY = 13
"""Calls between two kills: each costs a home."""


@pytest.mark.slow
def test_a_kill_at_any_point_leaves_nothing_once_it_was_gone_on_with(
    isolated_home: Path, tmp_path: Path
) -> None:
    isolated_home.mkdir()
    secret = a_day(isolated_home)
    kept = shutil.copytree(isolated_home, tmp_path / "kept")
    request = ForgetRequest(isolated_home, ForgetTarget((secret,)), NOW + timedelta(seconds=60), "seed")
    kills = 0

    for point in range(4, 1000, EVERY):
        shutil.rmtree(isolated_home)
        shutil.copytree(kept, isolated_home)
        try:
            forget(replace(request, disk=FaultyDisk(point, "kill")))
        except KilledError:
            kills += 1
        else:
            break
        if not leftovers.is_waiting(isolated_home):  # before it was noted: as if it had not been asked for
            assert traces() != []
            forget(request)
        else:
            (receipt,) = resume(isolated_home, NOW + timedelta(seconds=90))
            assert receipt.problems == ()
        assert traces() == [], point
        assert [item.text for item in items(isolated_home)] == [SHARED, OTHER], point
        assert len(leftovers.receipts(isolated_home)) == 1

    assert kills >= 6
