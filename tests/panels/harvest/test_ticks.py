"""Ticks of the harvest's list: a screen of them by itself, never more than a person sees."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.harvest import Artifact, ArtifactClass, HarvestLook
from panels.harvest.conversations import ONE_SCREEN
from panels.harvest.harvest_room import HarvestView
from tests.panels.harvest import harvest_states as hs
from tests.panels.harvest.harvest_screen import open_at
from tests.panels.screen import Screen


def looked(count: int) -> HarvestLook:
    listed = tuple(
        Artifact(
            facts=hs.facts(number, path=f"/c/{number}", sha256=f"{number:064}"), kind=ArtifactClass.HARVEST
        )
        for number in range(count)
    )
    return replace(HarvestLook(), artifacts=listed)


def paths(screen: Screen) -> int:
    own = screen.view.of(HarvestView)
    listed = screen.state.harvest.look.artifacts
    return sum(one.facts.path not in own.left_out for one in listed)


def test_a_screen_of_conversations_is_ticked_and_the_rest_is_not() -> None:
    screen = open_at("conversations", hs.state(hs.seen(look=looked(ONE_SCREEN + 30))))
    assert paths(screen) == ONE_SCREEN


def test_all_of_a_few_are_ticked_and_what_a_person_unticked_stays_so() -> None:
    screen = open_at("conversations", hs.state(hs.seen(look=looked(3))))
    assert paths(screen) == 3
    screen.view.of(HarvestView).left_out = frozenset({"/c/1"})
    screen.show(hs.state(hs.seen(look=looked(5))))
    assert paths(screen) == 4
    assert "/c/1" in screen.view.of(HarvestView).left_out
    screen.show(hs.state(hs.seen(look=looked(100))))
    assert paths(screen) == ONE_SCREEN
