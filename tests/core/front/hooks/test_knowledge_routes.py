"""What is known, over HTTP: the files with their items, the digest, the switch, and a person's changes to them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.front.hooks.conftest import World
from tests.core.front.hooks.harvest_world import knowledge, text_of

FACTS = "# Facts\n\nA line of mine.\n- The moon pulls. [from: tides, 2026-11-01]\n- The sun too.\n  half as much\n"
TASKS = "# Tasks\n\n## Open\n- Measure.\n\n## Done\n- Read.\n"


def _act(world: World, action: str, **fields: Any) -> Any:
    answer = world.client.post("/api/ui", {"panel": "knowledge", "action": action, **fields})
    return answer.status_code, answer.json()


@pytest.fixture
def known(world: World) -> World:
    knowledge(world, facts=FACTS, tasks=TASKS)
    world.start()
    world.until(lambda s: len(s.knowledge.categories) == 5)
    return world


def test_files_and_their_items_are_told_with_where_they_come_from(known: World) -> None:
    found = known.client.get("/api/knowledge").json()

    by_file = {one["file"]: one for one in found["categories"]}
    assert list(by_file) == ["tasks.md", "questions.md", "decisions.md", "facts.md", "playbooks.md"]
    first, second = by_file["facts.md"]["items"]
    assert (first["text"], first["source"], first["date"], first["first_line"]) == (
        "The moon pulls.", "tides", "2026-11-01", 4,
    )  # fmt: skip
    assert (second["text"], second["source"], second["last_line"]) == (
        "The sun too.\n  half as much",
        None,
        6,
    )
    assert [(one["category"], one["section"]) for one in by_file["tasks.md"]["items"]] == [
        ("tasks_open", "Open"), ("tasks_done", "Done"),
    ]  # fmt: skip
    assert (found["switch"], found["is_on"], found["digest"]["text"]) == ("off by deletion", False, "")


def test_the_digest_is_made_and_told_as_it_is_injected(known: World) -> None:
    made = known.client.post("/api/knowledge/digest")

    assert made.status_code == 200
    assert (made.json()["switch"], made.json()["is_on"]) == ("on", True)
    on_disk = text_of(known, "digest.md")
    assert made.json()["text"] == on_disk
    assert made.json()["size_bytes"] == len(on_disk.encode())
    assert made.json()["path"] == str(known.home / "knowledge" / "digest.md")
    assert "The moon pulls." in on_disk
    assert known.client.get("/api/knowledge").json()["digest"] == made.json()
    assert known.client.post("/api/knowledge/digest").json() == made.json(), "the same again, at once"
    assert _act(known, "delete_digest")[0] == 202
    known.until(lambda s: not s.knowledge.is_on)
    assert not (known.home / "knowledge" / "digest.md").exists()


def test_a_digest_that_configuration_forbids_is_made_and_stays_off(world: World) -> None:
    knowledge(world, facts=FACTS)
    with world.config.open("a", encoding="utf-8") as config:
        config.write("[ai_settings.knowledge]\ndigest_enabled = false\n")
    world.start()

    made = world.client.post("/api/knowledge/digest").json()

    assert (made["switch"], made["is_on"]) == ("off by configuration", False)
    assert text_of(world, "digest.md")


def test_long_files_are_told_in_parts_with_how_many_there_are(world: World) -> None:
    knowledge(world, facts="# Facts\n\n" + "".join(f"- Fact {n}.\n" for n in range(1_000)))
    notes = world.home / "knowledge" / "files"
    notes.mkdir()
    for number in range(30):
        lines = "".join(f"- Note {n}.\n" for n in range(50))
        (notes / f"1:{number}.md").write_text(f"# /gone/{number}\n\n{lines}", encoding="utf-8")
    world.start()
    world.until(lambda s: len(s.knowledge.notes) == 30)
    client = world.client

    whole = client.get("/api/knowledge").json()
    part = client.get("/api/knowledge?file=facts.md&limit=3&offset=998").json()
    listed = client.get("/api/knowledge?limit=2&offset=29").json()["notes"]
    one = client.get("/api/knowledge?file=files/1:7.md&limit=5000").json()

    facts = whole["categories"][3]
    assert (facts["total"], len(facts["items"])) == (1_000, 200)
    (only,) = part["categories"]
    assert (only["total"], [item["text"] for item in only["items"]]) == (1_000, ["Fact 998.", "Fact 999."])
    assert part["notes"] == {"total": 0, "rows": []}
    assert (listed["total"], len(listed["rows"])) == (30, 1)
    assert (listed["rows"][0]["total"], len(listed["rows"][0]["items"])) == (50, 20)
    assert one["categories"] == []
    (row,) = one["notes"]["rows"]
    assert (row["heading"], row["status"], len(row["items"])) == ("/gone/7", "orphaned", 50)


WRONG_QUERIES = (
    "limit=0", "limit=5001", "limit=x", "limit=1.5", "limit=", "limit=١", "offset=-1",
    "offset=9999999999999999", "limit=1&limit=2", "page=1", "file=" + "x" * 201,
)  # fmt: skip
NO_FILES = ("no.md", "../../etc/passwd", "ledger.json", "/etc/passwd", "files/..%2f..%2fx", "digest.md")


def test_a_query_that_is_not_taken_is_refused(known: World) -> None:
    for query in WRONG_QUERIES:
        refused = known.client.get(f"/api/knowledge?{query}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "wrong_query"), query


def test_only_files_of_knowledge_can_be_named(known: World) -> None:
    for name in NO_FILES:
        assert known.client.get(f"/api/knowledge?file={name}").status_code == 404, name


def test_items_are_added_changed_done_and_taken_out_as_in_the_window(known: World) -> None:
    assert _act(known, "add_knowledge_item", category="decisions", text="Go by train.")[0] == 202
    known.until(lambda s: bool(s.knowledge.categories[2].items))
    moon = {"file": "facts.md", "first_line": 4, "text": "The moon pulls."}
    assert _act(known, "edit_knowledge_item", item=moon, text="The moon pulls twice.")[0] == 202
    known.until(lambda s: s.knowledge.categories[3].items[0].text == "The moon pulls twice.")
    task = {"file": "tasks.md", "first_line": 4, "text": "Measure."}
    assert _act(known, "set_task_done", item=task, is_done=True)[0] == 202
    known.until(lambda s: [i.section for i in s.knowledge.categories[0].items] == ["Done", "Done"])
    sun = {"file": "facts.md", "first_line": 5, "text": "The sun too.\n  half as much"}
    assert _act(known, "delete_knowledge_item", item=sun)[0] == 202
    known.until(lambda s: len(s.knowledge.categories[3].items) == 1)

    assert text_of(known, "facts.md") == (
        "# Facts\n\nA line of mine.\n- The moon pulls twice. [from: tides, 2026-11-01]\n"
    )
    assert "- Go by train." in text_of(known, "decisions.md")
    assert not (known.home / "knowledge" / "digest.md").exists(), "no edit turns memory on"


MOON = {"file": "facts.md", "first_line": 4, "text": "The moon pulls."}
WRONG: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("delete_knowledge_item", {"item": {**MOON, "text": "Other."}}, 404),
    ("delete_knowledge_item", {"item": {**MOON, "first_line": 3}}, 404),
    ("delete_knowledge_item", {"item": {**MOON, "file": "../../config.toml"}}, 404),
    ("delete_knowledge_item", {"item": {**MOON, "extra": 1}}, 422),
    ("delete_knowledge_item", {"item": "facts.md"}, 422),
    ("delete_knowledge_item", {}, 422),
    ("edit_knowledge_item", {"item": {**MOON, "file": "/etc/passwd"}, "text": "x"}, 404),
    ("edit_knowledge_item", {"item": MOON, "text": 1}, 422),
    ("set_task_done", {"item": MOON, "is_done": "yes"}, 422),
    ("add_knowledge_item", {"category": "files", "text": "x"}, 422),
    ("add_knowledge_item", {"category": "secrets", "text": "x"}, 422),
    ("add_knowledge_item", {"category": "facts"}, 422),
    ("attach_notes", {"file_id": "1:2", "path": "/tmp"}, 404),
    ("attach_notes", {"file_id": "../facts", "path": "/tmp"}, 404),
    ("delete_everything", {}, 404),
)


def test_what_is_not_there_or_not_right_changes_nothing(known: World) -> None:
    before = known.state.knowledge

    for action, fields, status in WRONG:
        assert _act(known, action, **fields)[0] == status, (action, fields)

    assert known.state.knowledge == before
    assert (text_of(known, "facts.md"), text_of(known, "tasks.md")) == (FACTS, TASKS)


def test_notes_are_attached_only_to_a_whole_absolute_path(world: World) -> None:
    knowledge(world, facts=FACTS)
    notes = world.home / "knowledge" / "files"
    notes.mkdir()
    (notes / "1:2.md").write_text("# /gone/a.py\n\n- A note.\n", encoding="utf-8")
    world.start()
    world.until(lambda s: len(s.knowledge.notes) == 1)

    for path in ("tides.py", "", f"{world.project}/../project/tides.py", "~/x", f"{world.project}/"):
        assert _act(world, "attach_notes", file_id="1:2", path=path)[0] == 422, path
    assert _act(world, "attach_notes", file_id="1:2", path=str(world.project / "tides.py"))[0] == 202

    state = world.until(lambda s: s.knowledge.notes[0].heading == str(world.project / "tides.py"))
    assert state.knowledge.notes[0].status == "attached"


def test_a_home_that_cannot_be_written_makes_no_digest(known: World) -> None:
    known.read_only()

    refused = known.client.post("/api/knowledge/digest")

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "read_only")
    assert not text_of(known, "digest.md")


def test_a_digest_that_cannot_be_written_is_said(known: World) -> None:
    (known.home / "knowledge" / "digest.md").mkdir()

    refused = known.client.post("/api/knowledge/digest")

    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "failed")
    assert refused.json()["error"]["message"]


def test_where_nothing_is_known_nothing_was_deleted(world: World) -> None:
    world.start()
    world.until(lambda s: len(s.knowledge.categories) == 5)

    made = world.client.post("/api/knowledge/digest")

    assert (made.status_code, made.json()["switch"], made.json()["is_on"]) == (
        200,
        "off, nothing is known yet",
        False,
    )
    assert (
        "Your knowledge is empty, so there is no digest"
        in world.controller.snapshot().program.notices[-1].text
    )
