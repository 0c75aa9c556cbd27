"""`docs/openapi.json` and the program say the same: operations, methods, statuses, shapes; both ways."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from starlette.routing import Route

from core.app.controller import OffsetClock
from core.front.hooks.guard import Limits
from core.front.hooks.openapi import page
from core.front.hooks.operation import GUARDED, HookDesk, Watch
from core.front.hooks.server import make_app
from core.front.hooks.table import OPERATIONS
from core.kernel.values.state import AppState
from tests.core.front.hooks.conftest import AS_PERSON, QUICK, World, described, validator
from tests.core.front.hooks.document_tour import PNG, ToyWindow, body_of, reached

ROOT = Path(__file__).parents[4]


def test_the_file_is_what_the_table_says() -> None:
    kept = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")

    assert kept == page(), "run: python -P -m core.front.hooks.openapi > docs/openapi.json"


def test_the_command_in_the_table_writes_the_file() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "core.front.hooks.openapi"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    assert run.stdout == page()


def test_every_shape_is_one_and_is_used() -> None:
    shapes = described()["components"]["schemas"]
    text = json.dumps(described()["paths"]) + json.dumps(shapes)
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) == set(shapes)
    validator({"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in shapes]})


def test_the_programs_routes_are_those_of_the_document() -> None:
    class Still:
        def send(self, command: object) -> None: ...
        def snapshot(self) -> AppState:
            return AppState()

        def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
            return None

    front = Still()
    app: Any = make_app(HookDesk(front, Watch(front), clock=OffsetClock()), "t", ("h",))
    routes = {
        (method, route.path)
        for route in app._app.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    }
    assert len(app._app.routes) == len(routes) == len(OPERATIONS)
    assert routes == {
        (method.upper(), path) for path, found in described()["paths"].items() for method in found
    }


BY_HAND = {
    400: "the program cannot read the path or the body: test_hostile",
    408: "bodies and heads that do not come: test_hostile",
    500: "test_a_program_that_fails_says_so",
    503: "too many at once, the end of the program: test_hostile",
}
"""Statuses that any operation may answer with, reached by tests of their own on some."""


def test_every_status_of_the_document_is_answered_and_no_other(world: World) -> None:
    named = {
        (operation["operationId"], int(status))
        for path in described()["paths"].values()
        for operation in path.values()
        for status in operation["responses"]
    }
    seen = reached(world)
    assert {pair for pair in named - seen if pair[1] not in BY_HAND} == {
        ("advance_clock", 404),  # the program of this test has the clock
        *(("cancel_batches", status) for status in (200, 202)),  # a vendor with batches: test_harvest_batches
    }
    assert seen - named == set()
    assert set(BY_HAND) <= set(GUARDED)


def test_a_program_that_fails_says_so_on_every_path(
    running: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> AppState:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(running.hooks._desk.front, "snapshot", broken)
    for operation in OPERATIONS:
        if operation.id == "hello":
            continue  # it looks at nothing that could fail
        path = re.sub(r"\{\w+\}", "x", operation.path) + ("?q=x" if operation.id == "search" else "")
        body: dict[str, Any] = {
            "name": "x",
            "text": "x",
            "items": [],
            "panel": "x",
            "action": "y",
            "advance_s": 0,
            "paths": ["x"],
            "question_id": "x",
            "answer": "no",
            "has_tools": True,
            "discussion_id": "x",
        }
        body |= {"models": [{"provider": "x", "model": "x"}]}
        body |= {"file": "facts.md", "first_line": 1, "is_confirmed": True}
        body |= {
            "fact_id": "x:fact:001",
            "category": "facts",
            "item": {"file": "facts.md", "first_line": 1, "text": "x"},
        }
        known = body_of(operation).get("properties", {})
        sent = {k: v for k, v in body.items() if k in known} if operation.body is not None else None
        who = AS_PERSON if operation.needs_person else {}
        answer = running.client._checked(
            running.client.http.request(operation.method, path, json=sent, headers=who)
        )
        if operation.id != "screenshot":
            assert answer.status_code == 500, operation.id
            assert "a bug" not in answer.text
            assert answer.json()["error"]["code"] == "broken"
    assert "a bug" in caplog.text


def test_a_window_that_does_not_draw_is_said(world: World) -> None:
    window = ToyWindow(is_stuck=True)
    world.start(window=window, limits=replace(QUICK))

    assert world.client.get("/api/screenshot.png").status_code == 503
    window.is_stuck = False
    found = world.client.get("/api/screenshot.png")
    assert (found.content, found.headers["content-type"]) == (PNG, "image/png")


def test_limits_are_those_that_are_written_down() -> None:
    assert Limits().body_bytes == 20_000_000
    assert Limits().requests == 64
