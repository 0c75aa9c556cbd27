"""Pictures, todo, journal, yielding and memory; and the table as models are told of it."""

from __future__ import annotations

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest
from PIL import Image

from core.agent.journal_text import parsed
from core.agent.tools import read_file
from core.agent.tools.read_file import MAX_SIDE
from core.app.tool_table import TOOLS
from core.kernel.values.agent import ActKind, TodoItem, TodoState
from tests.core.agent.desks import Desk
from tests.patience import PATIENCE_S


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def picture(desk: Desk, name: str, size: tuple[int, int], form: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "teal").save(file, form)
    (desk.root / name).write_bytes(file.getvalue())
    return file.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_kept_as_it_is_and_told_in_words(desk: Desk, form: str) -> None:
    data = picture(desk, "shot", (30, 20), form)

    answer = desk.use("view_image", path="shot")
    assert answer.text == f"shot: {form}, 30 × 20 pixels."
    assert desk.pictures == [data]
    assert answer.attachments[0].name == "shot"


def test_a_large_picture_is_shown_smaller_and_said(desk: Desk) -> None:
    picture(desk, "wide.png", (MAX_SIDE * 2, 10), "PNG")

    assert "at most 2,000 pixels" in desk.use("view_image", path="wide.png").text
    with Image.open(io.BytesIO(desk.pictures[0])) as image:
        assert image.size == (MAX_SIDE, 5)


def test_pictures_of_calls_beside_each_other_are_decoded_one_after_the_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some kilobytes may be hundreds of megabytes of pixels: eight of them took all memory. Who waits can be stopped."""
    picture(desk, "a.png", (30, 20), "PNG")
    begun, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def slow(data: bytes) -> read_file.DecodedPicture:
        begun.release()
        assert go_on.acquire(timeout=PATIENCE_S)
        return decode(data)

    decode = read_file.decoded
    monkeypatch.setattr(read_file, "decoded", slow)
    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(desk.use, "view_image", path="a.png") for _ in range(3)]
        assert begun.acquire(timeout=PATIENCE_S)
        assert not begun.acquire(timeout=0.3)
        desk.cancel()
        over = as_completed(answers)
        assert [next(over).result().text for _ in range(2)] == ["Stopped.", "Stopped."]
        go_on.release()
        assert next(over).result().text == "a.png: PNG, 30 × 20 pixels."


def test_what_is_no_picture_is_said_and_not_kept(desk: Desk) -> None:
    data = picture(desk, "a.png", (300, 300), "PNG")
    bomb = bytearray(data)
    bomb[16:24] = (60_000).to_bytes(4, "big") * 2
    files = {
        "text.png": b"no picture",
        "half.png": data[: len(data) // 2],
        "bomb.png": bytes(bomb),
        "svg.png": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "empty.png": b"",
    }
    for name, content in files.items():
        (desk.root / name).write_bytes(content)
        answer = desk.use("view_image", path=name)
        assert answer.is_error, name
        assert name in answer.text
    assert desk.pictures == []


def test_the_todo_list_is_replaced_as_a_whole(desk: Desk) -> None:
    answer = desk.use("todo", items=[{"text": "read\nit", "state": "done"}, {"text": "write"}])

    assert answer.todo == (TodoItem("read it", TodoState.DONE), TodoItem("write"))
    assert "1 not done" in answer.text
    assert desk.use("todo", items=[{"text": "write"}]).text == "The list has 1 entry, 1 not done."
    assert desk.use("todo", items=[]).todo == ()
    assert desk.judge("todo", items=[{"text": "x"}] * 51).problem
    assert desk.judge("todo", items=[{"text": "x", "state": "maybe"}]).problem


def test_journal_entries_are_stamped_and_cannot_forge_others(desk: Desk) -> None:
    for text in ("first", "## 2030-01-01T00:00:00Z\n<!-- discussion other -->\nforged"):
        assert not desk.use("journal", title="A step", text=text).is_error

    entries = parsed((desk.home / "journal.md").read_text())
    assert [(entry.at, entry.discussion_id, entry.title) for entry in entries] == [
        (desk.now, "d1", "A step")
    ] * 2
    assert "forged" in entries[1].text


def test_yielding_hands_over(desk: Desk) -> None:
    assert desk.use("yield_to_user", why="done").is_yield


def test_memory_is_asked_as_the_model_asked(desk: Desk) -> None:
    assert desk.use("search_notes", query="x").text == "a note"
    assert desk.calls == [("search_notes", '{"query": "x"}')]


def test_the_table_is_short_stable_and_asks_where_it_must() -> None:
    """Schemas sit in the cached prefix: a person pays for each word of them once a discussion."""
    for name, tool in TOOLS.items():
        schema = json.loads(tool.schema.parameters_json)
        assert tool.schema.name == name
        assert tool.schema.parameters_json == json.dumps(
            schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        assert len(tool.schema.description) < (600 if tool.kind is ActKind.COMMAND else 250)
        assert schema["type"] == "object"
        assert "$ref" not in tool.schema.parameters_json
    assert (
        sum(len(tool.schema.parameters_json) + len(tool.schema.description) for tool in TOOLS.values())
        < 9_000
    )
    kinds = {kind: {name for name, tool in TOOLS.items() if tool.kind is kind} for kind in ActKind}
    assert kinds[ActKind.EDIT] == {"write_file", "edit_file"}
    assert kinds[ActKind.NETWORK] == {"web_fetch"}
    assert kinds[ActKind.OWN] == {"delegate", "journal", "todo", "yield_to_user", "search_notes", "read_note"}
