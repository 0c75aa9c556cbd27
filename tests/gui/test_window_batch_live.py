"""A batch at the real window: submitted with its price, seen while it waits, collected into a preview, cancelled."""

from __future__ import annotations

import pytest

from gui.elements.controls import Button, Checkbox
from tests.core.harvest.harvests import add_discussion, reply
from tests.core.harvest.test_whole import said
from tests.gui.conftest import Screen
from tests.gui.test_window_harvest_live import Sitting, sitting

__all__ = ["sitting"]

pytestmark = pytest.mark.gui


def shot(sitting: Sitting, name: str) -> None:
    import os
    from pathlib import Path

    from gui.screenshot import screenshot
    if folder := os.environ.get("SHOTS"):
        screenshot(Path(folder) / f"{name}.png", sitting.app.loop.frame, settle=8)


def test_a_batch_is_submitted_collected_into_a_preview_and_another_cancelled(
    sitting: Sitting, screen: Screen
) -> None:
    person, vendor = sitting.driver, sitting.server.batches
    add_discussion(sitting.home, "Sun", "Why does it shine?", "It burns.")
    sitting.sees("Tides")
    person.key("Ctrl+5")
    sitting.ends(lambda s: s.harvest.looked_at is not None)
    sitting.sees("2 to read, 1 in use")
    shot(sitting, "1-before")
    person.click("As a batch (")
    sitting.ends(lambda s: bool(s.harvest.look.batches))
    sitting.sees("2 conversations are at the provider, ")
    sitting.sees("2 in a batch")
    sitting.sees("reserved; directly ")
    screen.check()
    shot(sitting, "2-submitted")

    person.click("Collect")
    sitting.ends(lambda s: bool(s.harvest.look.batches[0].asked_at))
    sitting.sees(" · asked ")
    shot(sitting, "3-asked-early")
    sitting.server.replies.append(said(reply("Tides follow the moon.")))
    vendor.finish(fates=("errored",))
    person.click("Collect")
    sitting.ends(lambda s: s.harvest.preview is not None and bool(s.harvest.preview.items))
    sitting.sees("1 of 1 ticked")
    shot(sitting, "4-previewed")
    screen.check()
    person.click("Conversations")
    sitting.sees("answered: 1 of 2 · paid ")
    shot(sitting, "5-outcome")
    boxes = [one for one in person.visible() if isinstance(one, Checkbox)]
    assert sorted(one.value for one in boxes) == [False, True]
    screen.check()
