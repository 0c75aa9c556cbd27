"""A server that sends nonsense: its call ends and is told, every route still answers, and the next send works."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.front.hooks.table import OPERATIONS
from core.kernel import paths
from tests.core.front.hooks.conftest import WAIT_S, World
from tests.vendors.loopback import Rewrite

Change = Callable[[dict[str, Any]], None]


def rewritten(change: Change) -> Rewrite:
    """Changes each chunk of a stream."""

    def part(data: bytes) -> bytes:
        if not data.startswith(b"data: {"):
            return data
        chunk = json.loads(data.removeprefix(b"data: "))
        change(chunk)
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    return Rewrite(part)


def figures(value: Any) -> Change:
    def change(chunk: dict[str, Any]) -> None:
        if chunk.get("usage"):
            inner = {"cached_tokens": value, "reasoning_tokens": value}
            chunk["usage"] = {"prompt_tokens": value, "completion_tokens": value, "total_tokens": value,
                              "prompt_tokens_details": inner, "completion_tokens_details": inner}  # fmt: skip

    return change


def content(value: Any) -> Change:
    def change(chunk: dict[str, Any]) -> None:
        for choice in chunk.get("choices") or ():
            if choice["delta"].get("content"):
                choice["delta"]["content"] = value

    return change


def every_path_answers(world: World, chosen: str) -> None:
    """Each GET answers with a document's answer that is no failure, in JSON that any reader takes."""
    for operation in OPERATIONS:
        if operation.method != "GET" or operation.id in {"screenshot", "hello"}:
            continue
        path = operation.path.replace("{discussion_id}", chosen)
        answer = world.client.get(path if "{" not in path else path.partition("{")[0] + "none")
        assert answer.status_code < 500, (operation.id, answer.text)
        json.loads(answer.content, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "value",
    [{"a": 1}, "many", float("nan"), float("inf"), -7, 10**30, [5], None, True, 1.5],
    ids=lambda value: str(value)[:6],
)
def test_figures_that_are_none_end_nothing(running: World, value: Any) -> None:
    chosen = running.discussion()
    running.server.faults.append(rewritten(figures(value)))

    sent = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?", "wait": True})

    assert (sent.status_code, sent.json()["reply"]["text"]) == (200, "Hello there.")
    every_path_answers(running, chosen)
    again = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "And then?", "wait": True})
    assert again.status_code == 200


@pytest.mark.parametrize("value", [{"a": 1}, [1], True], ids=str)
def test_content_that_is_no_text_is_a_failed_reply(running: World, value: Any) -> None:
    chosen = running.discussion()
    running.server.faults.append(rewritten(content(value)))

    sent = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?", "wait": True})

    assert sent.status_code == 502, sent.text
    assert "sent an invalid answer" in sent.json()["error"]["message"]
    every_path_answers(running, chosen)
    again = running.client.post(f"/api/discussions/{chosen}/messages", {"text": "And then?", "wait": True})
    assert again.status_code == 200


def test_a_list_of_models_that_is_nonsense_is_not_taken_over(running: World) -> None:
    running.server.habits.listing.clear()
    running.server.habits.listing.update(
        {"id": "odd", "max_model_len": {"a": 1}, "name": 5, "owned_by": ["x"], "supported_parameters": 7}
    )
    try:
        answer = running.client.post(
            "/api/ui", {"panel": "settings", "action": "refresh_models", "provider": "local"}
        )
        assert answer.status_code == 202, answer.text
        state = running.until(lambda s: any(m.id == "odd" for m in s.config.models.get("local", ())))
        (odd,) = [model for model in state.config.models["local"] if model.id == "odd"]
        assert (odd.context_tokens, odd.label) == (None, "")
    finally:
        running.server.habits.listing.clear()
        running.server.habits.listing.update({"owned_by": "vllm", "max_model_len": 32768})


def modes(folder: Path) -> dict[str, int]:
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            found[str(path)] = stat.S_IMODE(path.stat().st_mode)
    return found


def test_all_that_a_session_leaves_is_the_persons_alone(world: World) -> None:
    """Also where the umask would let everybody read, and where an index of an earlier version could be read."""
    before = os.umask(0)
    try:
        catalog = paths.catalog_file(world.home)
        catalog.parent.mkdir(parents=True, mode=0o700)
        catalog.touch(0o644)
        world.start()
        chosen = world.discussion()
        world.client.put("/api/presets/core", {"items": [{"path": "tides.py"}]})
        sent = world.client.post(f"/api/discussions/{chosen}/messages", {"text": "When?", "wait": True})
        assert sent.status_code == 200
        world.client.get("/api/discussions?search=when")
        world.controller.wait_for(lambda _: catalog.stat().st_size > 0, WAIT_S)
        world.stop()
    finally:
        os.umask(before)

    left = {**modes(world.home), **modes(paths.cache_dir())}
    assert any(name.endswith(".sqlite") for name in left)
    assert {name: oct(mode) for name, mode in left.items() if mode & 0o077} == {}
