"""`knowledge merge` and `knowledge graduate` as people use them: over a real server on loopback, in pipes."""

from __future__ import annotations

import json

from core.kernel import paths
from core.knowledge.part_writer import versions
from tests.core.front.cli.conftest import World
from tests.vendors.compatible_server import Said

FACTS = "# Facts\n\n- The tide turns twice a day. [from: a, 2026-01-01]\n- Each day the tide turns twice. [from: b, 2026-01-02]\n"
MERGED = "- The tide turns twice daily. [from: a, 2026-01-01] [from: b, 2026-01-02]\n"
REPLY = json.dumps(
    {"merges": [{"reason": "The same.", "items": ["m1", "m2"], "text": "The tide turns twice daily."}]}
)


def write(world: World, name: str, text: str) -> None:
    folder = paths.knowledge_dir(world.home)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def read(world: World, name: str) -> str:
    return (paths.knowledge_dir(world.home) / name).read_text("utf-8")


def test_a_merge_is_shown_with_both_texts_and_written_by_another_run_that_pays_nothing(world: World) -> None:
    write(world, "facts.md", FACTS)
    world.server.replies.append(Said(REPLY))

    shown = world.run("knowledge", "merge", "facts")

    assert shown.code == 0, shown.err
    assert shown.out.startswith(
        "facts.md: merge 2 items into one item, because: The same.\n- The tide turns twice a day. [from: a, 2026-01-01]\n"
    )
    assert f"+{MERGED[1:]}" in shown.out
    assert shown.out.endswith("nothing was written; add --apply to write\n")
    assert read(world, "facts.md") == FACTS

    written = world.run("knowledge", "merge", "facts", "--apply", "--yes")

    assert written.code == 0, written.err
    assert "merged: 2 items into 1\n" in written.out
    assert len(world.server.bodies) == 1
    assert read(world, "facts.md") == f"# Facts\n\n{MERGED}"
    assert versions(world.home, "facts.md")[0].read_text("utf-8") == FACTS
    assert not (paths.knowledge_dir(world.home) / "digest.md").exists()
    apply_id = written.out.rpartition("undo ")[2].strip()
    assert world.run("harvest", "undo", apply_id).code == 0
    assert read(world, "facts.md") == FACTS


def test_without_a_terminal_nothing_is_written_and_nobody_is_asked(world: World) -> None:
    write(world, "facts.md", FACTS)

    ended = world.run("knowledge", "merge", "facts", "--apply")

    assert ended.code == 2
    assert "Add --yes" in ended.err
    assert world.server.bodies == []
    assert read(world, "facts.md") == FACTS


def test_on_a_terminal_a_merge_is_shown_where_it_is_asked_about_also_for_a_program(world: World) -> None:
    write(world, "facts.md", FACTS)
    world.server.replies.append(Said(REPLY))

    no = world.run("knowledge", "merge", "facts", "--apply", "--json", given=b"n\n", types=True)
    assert (no.code, "The tide turns twice daily." in no.err, read(world, "facts.md")) == (1, True, FACTS)
    yes = world.run("knowledge", "merge", "facts", "--apply", given=b"y\n", types=True)
    assert (yes.code, read(world, "facts.md")) == (0, f"# Facts\n\n{MERGED}")


def test_as_json_a_merge_tells_groups_result_and_use(world: World) -> None:
    write(world, "facts.md", FACTS)
    world.server.replies.append(Said(REPLY))

    found = json.loads(world.run("knowledge", "merge", "facts", "--json").out)

    (group,) = found["groups"]
    assert [item["source"] for item in group["items"]] == ["a", "b"]
    assert group["merged"]["also"] == [{"source": "a", "date": "2026-01-01"}]
    assert (found["written"], found["used"]["calls"]) == (None, 1)


def test_one_item_is_nothing_to_merge_and_that_is_said(world: World) -> None:
    write(world, "facts.md", "# Facts\n\n- One.\n")

    ended = world.run("knowledge", "merge", "facts")

    assert ended.code == 1
    assert "There is nothing to merge" in ended.err


def test_a_playbook_becomes_a_draft(world: World) -> None:
    write(world, "playbooks.md", "# Playbooks\n\n- **Ship**: 1. Push. 2. Tell.\n")

    ended = world.run("knowledge", "graduate", "playbooks.md:3", "--as", "tool")

    assert ended.code == 0, ended.err
    assert "nothing uses the draft until you rename it to ship.sh" in ended.out
    assert "# 1. Push." in read(world, "drafts/ship.sh.draft")


def test_a_merge_that_a_limit_holds_back_failed_and_says_why_in_json_too(world: World) -> None:
    write(world, "facts.md", FACTS)
    with world.config.open("a", encoding="utf-8") as config:
        config.write("[ai_settings.caching]\nday_limit_usd = 0.001\n")

    ended = world.run("knowledge", "merge", "facts", "--json")

    assert ended.code == 1
    assert "so the program cannot enforce the limit of $0.001 for today" in ended.json["error"]["message"]
    assert "--over-limit" in ended.err
    assert world.server.bodies == []
