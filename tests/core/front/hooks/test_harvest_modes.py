"""Supersede and the modes of writing over HTTP, against the real program and a model that contradicts what is known."""

from __future__ import annotations

import json

import pytest

from core.kernel.values.knowledge import Category
from core.knowledge.evidence_rows import short_name
from core.services.settings.settings_messages import ChangeSetting
from tests.core.front.hooks.conftest import World
from tests.core.front.hooks.harvest_world import asked, knowledge, old_discussion, proposing, text_of
from tests.vendors.compatible_server import Said

KNOWN = "Of tides: they turn every seven hours."
WHY = "The harbour's table says six."


@pytest.fixture
def tides(world: World) -> World:
    """A program that knows an item, with an old conversation about it."""
    knowledge(world, facts=f"# Facts\n\n- {KNOWN} [from: a, 2026-01-02]\n")
    old_discussion(world, "tides")
    world.start()
    world.discussion("shown")
    return world


def contradicting() -> Said:
    """A reply whose item says that the known one does not hold."""
    row = {"statement": "Tides turn every six hours.", "detail": "", "reason": WHY}
    row["replaces"] = short_name(Category.FACTS, KNOWN)
    return Said(json.dumps({"facts": [row]}), piece_chars=400)


def mode(world: World, value: str, *categories: str) -> None:
    """Change the mode, as a person does in the window; no other program can."""
    place = "ai_settings.knowledge"
    choices: dict[str, str | tuple[str, ...]] = {"mode": value, "automatic_categories": categories}
    for key, chosen in choices.items():
        act = {"panel": "settings", "action": "change_setting", "key": f"{place}.{key}", "value": chosen}
        assert world.client.post("/api/ui", act).status_code == 403
        world.controller.send(ChangeSetting(f"{place}.{key}", chosen))
    world.until(lambda s: s.config.settings.knowledge.automatic_categories == categories)


def test_what_is_contradicted_is_shown_with_the_reason_struck_through_and_brought_back(tides: World) -> None:
    tides.server.replies.append(contradicting())
    (row,) = asked(tides, "preview")["preview"]["items"]["rows"]
    known = row["replaces"]
    assert (known["text"], known["reason"], known["is_replacing"]) == (KNOWN, WHY, True)

    asked(tides, "apply", {"items": "all"})

    facts = text_of(tides, "facts.md")
    assert f"- ~~{KNOWN}" in facts
    assert "Tides turn every six hours." in facts
    assert KNOWN not in text_of(tides, "digest.md")
    asked(tides, "undo")
    assert text_of(tides, "facts.md") == f"# Facts\n\n- {KNOWN} [from: a, 2026-01-02]\n"


def test_a_mode_that_only_recalls_refuses_and_the_automatic_one_asks_where_something_is_contradicted(
    tides: World,
) -> None:
    mode(tides, "recall")
    refused = asked(tides, "preview", status=409)
    assert "recall" in json.dumps(refused)
    assert tides.server.bodies == []

    mode(tides, "automatic", "facts")
    tides.server.replies.append(contradicting())
    kept = asked(tides, "preview")
    assert len(kept["preview"]["items"]["rows"]) == 1, "it waits for the person"
    assert "six" not in text_of(tides, "facts.md")


def test_the_automatic_mode_writes_ticked_categories_and_leaves_memory_off(tides: World) -> None:
    mode(tides, "automatic", "facts")
    tides.server.replies.append(proposing("Ebb begins at noon."))

    done = asked(tides, "preview")

    assert (done["preview"], done["report"]["items"]["facts"]) == (None, 1)
    assert "Ebb begins at noon." in text_of(tides, "facts.md")
    assert text_of(tides, "digest.md") == ""
