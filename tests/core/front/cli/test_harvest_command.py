"""`harvest` and `knowledge` as people use them: over a real server on loopback, in pipes, stopped and undone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.records import UsageRecord
from core.kernel.values.usage import Usage
from core.knowledge.file_writer import harvest_lock
from core.knowledge.harvest.harvest_reply import reply_schema
from core.services.spending.shared_reserves import SharedReserves
from core.talk.discussion import log
from tests.core.front.cli.conftest import WAIT_S, World
from tests.core.knowledge.harvest.harvests import OLD, add_discussion, age, item_lines, reply, tree
from tests.vendors.compatible_server import MODEL, Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite

MOON = "Tides follow the moon."
COUNTS = "facts:{}, decisions:0, tasks_done:0, tasks_open:0, questions:0, playbooks:0, files:0"


def test_without_apply_it_reports_and_changes_nothing(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    before = tree(world.home)

    ended = world.run("harvest")

    assert (ended.code, ended.err) == (0, "")
    assert re.fullmatch(
        r"artifacts: live:0, user-kept:0, prune:0, harvest:1, keep:0\n"
        r"harvest candidates: \d+B \(~\d+ input tokens, price unknown\), prune candidates: 0B\n"
        r"dry run; pass --apply to harvest and reclaim\n",
        ended.out,
    )
    assert tree(world.home) == before
    assert world.server.bodies == []


def test_a_dry_run_makes_no_home(world: World) -> None:
    assert world.run("harvest").code == 0
    assert not world.home.exists()


def test_apply_asks_the_model_in_the_schema_and_reports_in_the_form_of_the_contract(world: World) -> None:
    chosen = add_discussion(world.home, "Tides", "Why?", "The moon.")
    size = paths.log_file(world.home, chosen).stat().st_size
    world.server.replies.append(Said(reply(MOON)))

    ended = world.run("harvest", "--apply")

    knowledge = paths.knowledge_dir(world.home)
    assert ended.code == 0, ended.err
    assert ended.out.split("\n")[2:] == [
        "",
        f"reclaimed: {size}B",
        "harvested items: " + COUNTS.format(1),
        f"digest: {knowledge / 'digest.md'}",
        f"ledger: {knowledge / 'ledger.json'}",
        "",
    ]
    body = world.server.bodies[0]
    assert body["response_format"]["json_schema"]["schema"] == json.loads(reply_schema())
    assert body["response_format"]["json_schema"]["strict"] is True
    assert "Why?" in body["messages"][-1]["content"]
    assert len(item_lines(world.home)) == 1


def test_apply_says_what_it_is_about_to_write_and_by_which_model(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    world.server.replies.append(Said(reply(MOON)))

    ended = world.run("harvest", "--apply")

    assert f"manual-slop: local {MODEL} proposes 1 item from 2026-10-01-tides\n  facts: {MOON}\n" in ended.err


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test's server stand for the built-in model, which is too slow for a test of words."""
    monkeypatch.setattr("core.front.cli.harvest.is_small_model", lambda _provider: True)


@pytest.mark.usefixtures("small")
def test_what_the_built_in_model_says_is_written_after_a_yes_to_all_of_it(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    world.server.replies.append(Said(reply(MOON)))

    no = world.run("harvest", "--apply", given=b"n\n", types=True)
    assert (no.code, item_lines(world.home)) == (1, [])
    assert f"  facts: {MOON}\nWrite this item to your knowledge? [y/N] " in no.err
    assert len(list(paths.discussions_dir(world.home).iterdir())) == 1

    yes = world.run("harvest", "--apply", given=b"y\n", types=True)
    assert (yes.code, len(item_lines(world.home))) == (0, 1)
    assert len(world.server.bodies) == 1, "what it said was kept"


@pytest.mark.usefixtures("small")
def test_without_a_terminal_the_built_in_model_writes_nothing_and_is_not_even_asked(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")

    ended = world.run("harvest", "--apply")

    assert (ended.code, item_lines(world.home), world.server.bodies) == (2, [], [])
    assert "Add --yes" in ended.err
    world.server.replies.append(Said(reply(MOON)))
    said = world.run("harvest", "--apply", "--yes")
    assert (said.code, len(item_lines(world.home))) == (0, 1)
    assert f"  facts: {MOON}\n" in said.err


def test_apply_without_harvest_asks_nobody(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")

    ended = world.run("harvest", "--apply", "--no-harvest")

    assert ended.code == 0
    assert "harvested items: " + COUNTS.format(0) in ended.out
    assert world.server.bodies == []
    assert list(paths.discussions_dir(world.home).iterdir()) == []


def test_a_failure_is_told_with_its_reason_and_exit_code_1(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.extend([Said("no"), Said("no JSON")])

    ended = world.run("harvest", "--apply")

    assert ended.code == 1
    assert "kept (harvest output invalid after 2 attempts: not valid JSON" in ended.out
    assert "): 2026-10-01-tides\n" in ended.out
    assert "no" in world.server.bodies[1]["messages"][-1]["content"].split("<previous-reply>")[1]


def test_what_is_too_large_is_named(world: World) -> None:
    add_discussion(world.home, "Tides", "x" * 2_000)

    assert "kept (too large): 2026-10-01-tides\n" in world.run("harvest", "--max-bytes", "1000").out


def test_json_holds_the_report_and_what_was_used(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON)))

    data = world.run("harvest", "--apply", "--json").json

    assert data["items"]["facts"] == 1
    assert data["used"]["calls"] == 1
    assert data["used"]["input_tokens"] > 0
    assert data["conversations"][0]["class"] == "harvest"


def test_other_conversations_are_read_and_stay(world: World) -> None:
    source = world.project / "chat.md"
    source.write_text("# aider chat started at 2025-10-20 21:49:17\n\n#### Why?\n\nThe moon.\n")
    (world.project / "LICENSE").write_text("MIT")
    age(world.project, OLD)
    world.server.replies.append(Said(reply(MOON)))

    dry = world.run("harvest", "--source", ".")
    ended = world.run("harvest", "--apply", "--source", "chat.md")

    assert "harvest:1, keep:1" in dry.out
    assert f"kept (not recognised): {world.project.name}/LICENSE\n" in dry.out
    assert ended.code == 0
    assert source.exists()
    assert len(item_lines(world.home)) == 1


def test_what_was_touched_lately_is_left_alone_unless_asked_otherwise(world: World) -> None:
    world.run("send", "Just now")

    without, asked = world.run("harvest"), world.run("harvest", "--live-days", "0")

    assert "live:1" in without.out
    assert "nothing to harvest: 1 changed recently; `--live-days 0`" in without.err
    assert "harvest:1" in asked.out
    assert asked.err == ""


def test_settings_say_what_is_read_by_whom_and_the_command_line_says_otherwise(world: World) -> None:
    add_discussion(world.home, "Tides", "x" * 900)
    talks = world.project / "talks"
    talks.mkdir()
    (talks / "chat.md").write_text("# aider chat started at 2025-10-20 21:49:17\n\n#### Why?\n\nThe moon.\n")
    age(world.project, OLD)
    config = world.config.read_text()
    world.config.write_text(
        f'{config}[ai_settings.knowledge]\nharvest_sources = ["{talks}"]\nmax_source_bytes = 500\n'
        f'harvest_provider = "other"\nharvest_model = "qwen3:8b"\nlive_days = 3\n'
        f'[providers.other]\nbase_url = "{world.server.url}/v1"\n'
    )
    world.server.replies.append(Said(reply(MOON)))

    dry = world.run("harvest").out
    assert "harvest:1, keep:1" in dry
    assert "kept (too large): 2026-10-01-tides\n" in dry
    assert "harvest:2, keep:0" in world.run("harvest", "--max-bytes", "5000").out
    assert "live:2" in world.run("harvest", "--live-days", "3000").out
    (world.project / "empty").mkdir()
    assert "harvest:0, keep:1" in world.run("harvest", "--source", "empty").out

    used = world.run("harvest", "--apply", "--json").json["used"]
    assert (used["provider"], used["model"], used["calls"]) == ("other", "qwen3:8b", 1)
    assert (
        world.run("harvest", "--apply", "--json", "--provider", "local").json["used"]["provider"] == "local"
    )


def test_undo_takes_the_last_apply_back(world: World) -> None:
    chosen = add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON)))
    world.run("harvest", "--apply")

    ended = world.run("harvest", "undo")
    again = world.run("harvest", "undo")

    assert (ended.code, again.code) == (0, 1)
    assert "items removed: 1\n" in ended.out
    assert f"back: {chosen}\n" in ended.out
    assert "There is no harvest to undo" in again.err
    assert paths.log_file(world.home, chosen).exists()


def test_undo_shows_and_leaves_what_a_person_edited_since(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON, "The sun helps.")))
    world.run("harvest", "--apply")
    facts = paths.knowledge_dir(world.home) / "facts.md"
    facts.write_text(facts.read_text().replace(MOON, "Tides mostly follow the moon."))

    data = world.run("harvest", "undo", "--json").json

    assert data["removed"] == 1
    assert len(data["left"]) == 1
    assert "mostly" in facts.read_text()


def test_a_harvest_that_runs_elsewhere_is_named(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")

    with harvest_lock(world.home, "the window"):
        ended = world.run("harvest", "--apply")

    assert ended.code == 1
    assert "the window" in ended.err


def test_a_broken_ledger_is_named_with_its_line_and_left_as_it_is(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    ledger = paths.knowledge_dir(world.home) / "ledger.json"
    ledger.parent.mkdir()
    ledger.write_text('{"entries": {\n  oops\n}}')

    for command in (("harvest",), ("harvest", "--apply"), ("knowledge", "ledger")):
        ended = world.run(*command)
        assert ended.code == 1
        assert "ledger.json" in ended.err
        assert "line 2" in ended.err
    assert ledger.read_text() == '{"entries": {\n  oops\n}}'


@pytest.mark.parametrize(
    "wrong",
    [
        ("--provider", "nobody"),
        ("--source", "not there"),
        ("--live-days", "-1"),
        ("--live-days", "nan"),
        ("--max-bytes", "0"),
        ("redo",),
    ],
)
def test_wrong_usage_is_said_with_exit_code_2(world: World, wrong: tuple[str, ...]) -> None:
    ended = world.run("harvest", *wrong)

    assert ended.code == 2
    assert wrong[-1] in ended.err


@pytest.mark.slow
def test_the_module_is_the_same_program(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    command = [sys.executable, "-m", "core.knowledge_harvest", "--max-bytes", "10"]

    ended = subprocess.run(
        command,
        cwd=world.project,
        env=world.environ,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (0, world.run("harvest", "--max-bytes", "10").out)
    assert "kept (too large): 2026-10-01-tides" in ended.stdout


@pytest.mark.slow
def test_ctrl_c_stops_the_call_and_reports_what_was_done(world: World) -> None:
    """The first conversation is done, the second one's reply is held back when the person loses patience."""
    ids = [
        add_discussion(world.home, name, f"{name} question", at=OLD + timedelta(days=day))
        for day, name in enumerate(("one", "two"))
    ]
    gate = Gate()
    world.server.replies.extend([Said(reply(MOON)), Said(reply("The sun helps."))])
    world.server.faults.extend([Rewrite(lambda part: part), HoldAfter(0, gate)])
    child = world.start("harvest", "--apply")
    assert gate.reached.wait(WAIT_S)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=WAIT_S)

    gate.open()

    assert child.returncode == 130, err
    assert b"stopped: You stopped the harvest" in out
    assert len(item_lines(world.home)) == 1
    assert [path.name for path in paths.discussions_dir(world.home).iterdir()] == ids[1:]


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_quietly(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    read, write = os.pipe()
    os.close(read)

    ended = world.fork("harvest", ends={1: write})

    os.close(write)
    assert ended.communicate(WAIT_S)[1] == b""
    assert ended.returncode == 141


def harvested(world: World) -> Path:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(
        Said(
            reply(MOON, tasks_open=[{"statement": "Plot the curve."}], decisions=[{"statement": "Use UTC."}])
        )
    )
    assert world.run("harvest", "--apply").code == 0
    return paths.knowledge_dir(world.home)


def test_the_context_that_is_printed_holds_what_is_known(world: World) -> None:
    knowledge = harvested(world)
    block = f"{{knowledge}}\n{(knowledge / 'digest.md').read_text(encoding='utf-8')}\n{{/knowledge}}\n"

    shown = world.run("context", "--text", "--message", "Hello").out
    (knowledge / "digest.md").unlink()

    assert block in shown
    assert "{knowledge}" not in world.run("context", "--text", "--message", "Hello").out


def test_a_turn_without_a_window_knows_what_an_editor_saved_since(world: World) -> None:
    knowledge = harvested(world)
    with (knowledge / "facts.md").open("a", encoding="utf-8") as file:
        file.write("- Spring tides are higher.\n")
    os.utime(knowledge / "digest.md", (1_000_000_000, 1_000_000_000))
    world.server.replies.append(Said("So they are."))

    assert world.run("send", "Which tides are higher?").code == 0

    assert "Spring tides are higher." in str(world.server.bodies[-1]["messages"])
    (knowledge / "digest.md").unlink()
    world.server.replies.append(Said("I do not know."))
    assert world.run("send", "And now?").code == 0
    assert not (knowledge / "digest.md").exists()
    assert "Spring tides" not in str(world.server.bodies[-1]["messages"])


def test_knowledge_shows_every_item_with_its_place_and_origin(world: World) -> None:
    harvested(world)

    shown = world.run("knowledge")

    assert shown.code == 0
    assert f"  facts.md:3: {MOON}  [2026-10-01-tides, " in shown.out
    assert "tasks open\n  tasks.md:5: Plot the curve." in shown.out
    assert world.run("knowledge", "show", "decisions").out.startswith("decisions\n  decisions.md:3: Use UTC.")
    assert [item["category"] for item in world.run("knowledge", "show", "--json").json] == [
        "tasks_open",
        "decisions",
        "facts",
    ]


def test_notes_on_a_file_name_it(world: World) -> None:
    notes = paths.knowledge_dir(world.home) / "files" / "1:2.md"
    notes.parent.mkdir(parents=True)
    notes.write_text("# /gone/slot.py\n\n- Locks first.\n", "utf-8")

    assert "  files/1:2.md:3: /gone/slot.py: Locks first.\n" in world.run("knowledge").out


def test_knowledge_digest_is_what_a_model_sees_and_says_whether_memory_is_on(world: World) -> None:
    digest = harvested(world) / "digest.md"
    on = world.run("knowledge", "digest")
    text = digest.read_text()
    digest.unlink()
    off = world.run("knowledge", "digest")
    again = world.run("knowledge", "digest", "--regenerate")

    assert (on.out, "memory is on" in on.err) == (text, True)
    assert (off.out, "memory is off by deletion" in off.err) == ("", True)
    assert (again.out, digest.read_text()) == (text, text)


def test_knowledge_search_finds_all_words_without_case(world: World) -> None:
    harvested(world)

    found = world.run("knowledge", "search", "MOON tides")
    none = world.run("knowledge", "search", "moon sun")

    assert found.out.count("\n") == 2
    assert MOON in found.out
    assert (found.code, none.code, none.out) == (0, 1, "Nothing found.\n")


def test_knowledge_ledger_tells_what_became_of_each_conversation(world: World) -> None:
    assert world.run("knowledge", "ledger").out == "You have not harvested anything yet.\n"
    harvested(world)
    world.run("harvest", "undo")

    shown = world.run("knowledge", "ledger")

    assert "harvested, undone" in shown.out
    assert world.run("knowledge", "ledger", "--json").json[0]["items"]["facts"] == 1


def test_knowledge_of_an_empty_home_says_where_it_would_be(world: World) -> None:
    ended = world.run("knowledge")

    assert ended.out == f"You have no knowledge in {world.home / 'knowledge'}.\n"
    assert not world.home.exists()


def test_at_the_days_limit_apply_asks_nobody_until_the_person_says_yes(world: World) -> None:
    """What a window has logged today counts: the command reads it at its start."""
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    today = add_discussion(world.home, "Today", "Dear?", "Yes.")
    paid = UsageRecord("u1", datetime.now(UTC), "m", Usage(10, 5, cost_usd=2.0))
    log.append(world.home, today, (paid,))
    with world.config.open("a") as config:
        config.write("\n[ai_settings.caching]\nday_limit_usd = 1.0\n")
    world.server.replies.append(Said(reply(MOON)))

    refused = world.run("harvest", "--apply")
    assert refused.code == 1
    assert "stopped: You have reached the limit of $1.00 for today: $2.00 spent." in refused.out
    assert "--over-limit" in refused.err
    assert world.server.bodies == []

    allowed = world.run("harvest", "--apply", "--over-limit")
    assert allowed.code == 0, allowed.err
    assert world.server.bodies


def test_what_another_program_has_under_way_counts_before_each_call_and_it_sees_this_one(
    world: World,
) -> None:
    """The other program, a window, is another process that reserves in the home, as its turns and pings do."""
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    with world.config.open("a") as config:
        config.write("\n[ai_settings.caching]\nday_limit_usd = 1.0\n")
    world.server.replies.append(Said(reply(MOON)))
    window = SharedReserves(world.home, lambda: datetime.now(UTC))
    window.claim("turn", 1.0)

    refused = world.run("harvest", "--apply")
    assert (
        "You have reached the limit of $1.00 for today: $0 spent. Running requests may add about $1.00."
        in refused.out
    )
    assert world.server.bodies == []

    window.settle("turn", {})
    unpriced = world.run("harvest", "--apply")
    assert "is unknown, so the program cannot enforce the limit of $1.00 for today" in unpriced.out
    asked = world.run("harvest", "--apply", given=b"y\n", types=True)
    assert "Read anyway? [y/N]" in asked.err
    assert len(world.server.bodies) == 1
    assert window.claim("turn", 0.0).reserved_usd == 0.0, "what it held back ended with its call"
    window.close()
