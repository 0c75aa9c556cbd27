"""A program with old conversations in its home and a model that proposes what a test says."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.core.front.hooks.conftest import World
from tests.core.knowledge.harvest.harvests import add_discussion
from tests.vendors.compatible_server import Said

OLD = datetime.now(UTC).replace(microsecond=0) - timedelta(days=30)

Json = dict[str, Any]


def proposing(*facts: str, tasks: tuple[str, ...] = ()) -> Said:
    """A reply that proposes these."""
    rows = [{"statement": fact, "detail": ""} for fact in facts]
    found = {"facts": rows, "tasks_open": [{"statement": task, "detail": ""} for task in tasks]}
    return Said(json.dumps(found), piece_chars=400)


def old_discussion(world: World, name: str, *, minute: int = 0) -> str:
    """A conversation that nobody touched for a month. `minute`: which it is, of several. Returns its id."""
    at = OLD + timedelta(minutes=minute)
    return add_discussion(world.home, name, f"Of {name}?", f"All of {name}.", at=at)


def knowledge(world: World, **files: str) -> None:
    """Write category files."""
    folder = world.home / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def asked(world: World, action: str, body: Json | None = None, status: int = 200, **headers: str) -> Json:
    """A run of the harvest, waited for."""
    answer = world.client.post(f"/api/harvest/{action}", {"wait": True, **(body or {})}, **headers)
    assert answer.status_code == status, answer.text
    found: Json = answer.json()
    return found


def text_of(world: World, name: str) -> str:
    """A knowledge file as it is on disk, empty where there is none."""
    path = world.home / "knowledge" / name
    return path.read_text(encoding="utf-8") if path.exists() else ""
