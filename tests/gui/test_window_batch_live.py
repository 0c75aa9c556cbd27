"""A batch at the real window: submitted with its price, seen while it waits, and what came previewed."""

from __future__ import annotations

import pytest

from tests.core.knowledge.harvest.harvests import add_discussion, reply
from tests.core.knowledge.harvest.test_whole import said
from tests.gui.conftest import Screen
from tests.gui.test_window_harvest_live import Sitting, sitting

__all__ = ["sitting"]

pytestmark = pytest.mark.gui


def test_a_batch_is_submitted_and_what_came_is_previewed_without_further_cost(
    sitting: Sitting, screen: Screen
) -> None:
    person, vendor = sitting.driver, sitting.server.batches
    add_discussion(sitting.home, "Sun", "Why does it shine?", "It burns.")
    sitting.sees("Tides")
    person.key("Ctrl+5")
    sitting.ends(lambda s: s.harvest.looked_at is not None)
    sitting.sees("2 to read, 1 in use")
    person.click("As a batch (")
    sitting.ends(lambda s: bool(s.harvest.look.batches))
    sitting.sees("2 conversations are at the provider, ")
    sitting.sees("2 in a batch")
    sitting.sees("reserved; ")
    sitting.sees(" without a batch")
    screen.check()

    sitting.server.replies.append(said(reply("Tides follow the moon.")))
    vendor.finish(fates=("errored",))
    person.click("Collect")
    sitting.ends(lambda s: s.harvest.preview is not None and bool(s.harvest.preview.items))
    sitting.sees("1 of 1 ticked")
    screen.check()
    person.click("Conversations")
    sitting.sees("answered: 1 of 2 · paid ")
    sitting.sees("Tides: the provider answered with an error")
    assert (vendor.made, len(sitting.server.bodies)) == (1, 0), "nothing was asked outside of the batch"
    screen.check()
