"""`send`: one turn from a shell, stopped, failed, tried again, at a limit and beside others."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.core.front.cli.conftest import ROOT, WAIT_S, World
from tests.vendors import anthropic_server
from tests.vendors.anthropic_server import AnthropicServer
from tests.vendors.compatible_server import Said
from tests.vendors.loopback import DropAfter, Gate, HangUp, HoldAfter

ID = re.compile(r"\d{8}-\d{6}-[a-z]{6}")


def test_a_turn_prints_the_reply_alone_on_standard_output(world: World) -> None:
    world.server.replies.append(Said("It turns every\nsix hours."))
    ended = world.run("send", "When", "does it turn?")

    assert (ended.code, ended.out) == (0, "It turns every\nsix hours.\n")
    assert re.search(r"^local/\S+ · \d+ in.* · \d+ out · .* · " + ID.pattern + "$", ended.err.strip())
    assert "When does it turn?" in str(world.server.bodies[0]["messages"])


def test_what_is_piped_in_follows_the_text(world: World) -> None:
    world.run("send", "Review this", given=b"+ a line\r\n")
    sent = world.server.bodies[0]["messages"][-1]["content"]

    assert "Review this\n\n+ a line\n" in sent


def test_a_pipe_alone_is_the_message_and_a_dash_says_so(world: World) -> None:
    world.run("send", given="só".encode())
    world.run("send", "-", given=b"two")

    assert "só" in world.server.bodies[0]["messages"][-1]["content"]
    assert "two" in world.server.bodies[1]["messages"][-1]["content"]


def test_quiet_says_nothing_beside_the_reply(world: World) -> None:
    assert world.run("send", "x", "--quiet").err == ""


def test_a_discussion_is_continued_by_its_id_its_start_its_name_and_last(world: World) -> None:
    first = world.run("send", "--json", "one").json["discussion"]
    for wanted in (first, first[:-3], "last", "one"):
        ended = world.run("send", "--json", "more", "--discussion", wanted)
        assert ended.json["discussion"] == first, wanted
    messages = world.server.bodies[-1]["messages"]

    assert "one" in str(messages)
    assert sum(message["role"] == "user" for message in messages) == 5


def test_json_holds_all_of_a_reply(world: World) -> None:
    world.server.replies.append(Said("Yes.", reasoning="Because."))
    ended = world.run("send", "--json", "Is it?")
    reply = ended.json["reply"]

    assert (reply["text"], reply["reasoning"], reply["status"]) == ("Yes.", "Because.", "complete")
    assert reply["usage"]["input_tokens"] > 0
    assert ended.json["failure"] is None
    assert ended.err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("finish", "kind", "words"),
    [
        ("length", "cut_off", "output limit"),
        ("max_tokens", "cut_off", "output limit"),
        ("model_length", "cut_off", "window was full"),
        ("error", "bad_reply", "an error of its own"),
        ("insufficient_system_resource", "bad_reply", "no capacity"),
        ("content_filter", "declined", "content filter"),
        ("a_word_of_tomorrow", "unknown_end", "ended for an unknown reason"),
    ],
)
def test_half_a_reply_is_printed_said_stored_as_half_and_can_be_sent_again(
    world: World, finish: str, kind: str, words: str
) -> None:
    world.server.replies.append(Said("Half of", finish=finish))
    ended = world.run("send", "--json", "x")
    again = world.run("send", "--retry", "--discussion", "last")

    assert (ended.code, ended.json["reply"]["text"], ended.json["reply"]["status"]) == (
        1,
        "Half of",
        "partial",
    )
    failure = ended.json["failure"]
    assert failure["kind"] == kind
    assert words in failure["what"]
    assert f"({finish})" in failure["what"]
    assert "Press" not in failure["remedy"]
    assert f"({finish})" in ended.err
    assert again.code == 0, again.err


def test_an_empty_end_is_said(world: World) -> None:
    world.server.replies += [Said("", finish="function_call"), Said("", finish="function_call")]
    ended = world.run("send", "x")

    assert (ended.code, ended.out) == (1, "")
    assert "called none (function_call)" in ended.err


def test_reasoning_goes_to_standard_error_when_it_is_asked_for(world: World) -> None:
    world.server.replies += [Said("Yes.", reasoning="Because."), Said("Yes.", reasoning="Because.")]

    shown = world.run("send", "Is it?", "--show-reasoning")
    assert (shown.out, "Because." in shown.err) == ("Yes.\n", True)
    assert "Because." not in world.run("send", "Is it?").err


def test_files_are_attached(world: World) -> None:
    (world.project / "notes.txt").write_text("low tide at noon")
    ended = world.run("send", "When?", "--attach", "notes.txt")

    assert ended.code == 0
    assert "low tide at noon" in str(world.server.bodies[0]["messages"])


def test_a_file_that_is_not_there_ends_it_before_anything_is_sent(world: World) -> None:
    ended = world.run("send", "When?", "--attach", "gone.txt")

    assert ended.code == 1
    assert "gone.txt" in ended.err
    assert world.server.bodies == []


def test_preset_persona_and_system_prompt_of_a_trusted_project_go_along(world: World) -> None:
    (world.project / "tides.py").write_text("HOURS = 6\n")
    (world.project / "manual_slop.toml").write_text(
        '[presets.core]\nitems = ["tides.py"]\n[personas.p]\ntext = "A PERSONA"\n[system_prompts.s]\ntext = "A PROMPT"\n'
    )
    ended = world.run("send", "x", "--trust", "--preset", "core", "--persona", "p", "--system", "s")
    sent = str(world.server.bodies[0]["messages"])

    assert ended.code == 0, ended.err
    assert "HOURS = 6" in sent
    assert "A PERSONA" in sent
    assert "A PROMPT" in sent
    assert "the folder asks for:  Context preset core: tides.py." in ended.err


def test_temperature_and_the_longest_reply_go_along(world: World) -> None:
    ended = world.run("send", "x", "--temperature", "0.3", "--max-output", "40")

    assert ended.code == 0, ended.err
    body = world.server.bodies[0]
    assert (body["temperature"], body.get("max_tokens", body.get("max_completion_tokens"))) == (0.3, 40)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--temperature", "9"], "A temperature lies between 0 and 2, not at 9"),
        (["--max-output", "0"], "A reply has between 1 and"),
    ],
)
def test_what_no_model_takes_is_refused_before_anything_is_sent(
    world: World, arguments: list[str], said: str
) -> None:
    ended = world.run("send", "x", *arguments)

    assert ended.code != 0
    assert said in ended.err
    assert world.server.bodies == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["send"], "There is nothing to send"),
        (["send", "  "], "There is nothing to send"),
        (
            ["send", "x", "--provider", "locl"],
            "There is no provider 'locl'; did you mean local?",
        ),
        (["send", "x", "--preset", "none"], "There is no preset 'none'"),
        (["send", "x", "--persona", "none"], "There is no persona 'none'"),
        (["send", "x", "--system", "none"], "There is no system prompt 'none'"),
        (["send", "x", "--discussion", "2026"], "There is no discussion '2026'"),
        (["send", "x", "--discussion", "last"], "There is no discussion yet"),
        (["send", "--retry"], "--retry needs --discussion"),
        (["send", "x", "--effort", "huge"], "invalid choice: 'huge'"),
        (["send", "x", "--set", "trash_days=x"], "trash_days must be a whole number"),
        (["send", "x", "--set", "nothing=1"], "'nothing' is not a setting"),
        (["send", "x", "--project", "nowhere"], "is not a folder"),
    ],
)
def test_wrong_usage_is_one_line_and_code_two(world: World, arguments: list[str], said: str) -> None:
    ended = world.run(*arguments)

    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert world.server.bodies == []


def test_a_provider_without_a_key_fails_by_name_and_nobody_else_answers(world: World) -> None:
    world.config.write_text('[ai_settings]\nprovider = "anthropic"\n')
    ended = world.run("send", "hello")

    assert ended.code == 1
    assert "Anthropic has no key" in ended.err
    assert ended.out == ""


def test_a_send_that_failed_is_tried_again_with_nothing_retyped(world: World) -> None:
    world.server.faults.extend([HangUp()] * 4)
    failed = world.run("send", "When?")
    assert failed.code == 1
    again = re.search(r"manual-slop (send --retry --discussion \S+)", failed.err)
    assert again is not None
    assert "Traceback" not in failed.err

    world.server.replies.append(Said("Now."))
    ended = world.run(*again[1].split())
    assert (ended.code, ended.out) == (0, "Now.\n")
    assert "When?" in str(world.server.bodies[-1]["messages"])
    nothing_left = world.run(*again[1].split())
    assert (nothing_left.code, "No message of this discussion has failed" in nothing_left.err) == (2, True)


def test_a_reply_that_breaks_off_is_printed_as_far_as_it_came(world: World) -> None:
    world.server.replies.append(Said("It turns every six hours."))
    world.server.faults.append(DropAfter(4))
    ended = world.run("send", "When?")

    assert ended.code == 1
    assert ended.out.strip()
    assert "It turns every six hours.".startswith(ended.out.strip())


@pytest.mark.slow
def test_ctrl_c_stops_the_reply_and_keeps_its_part(world: World) -> None:
    world.server.replies.append(Said("It turns every six hours."))
    gate = Gate()
    world.server.faults.append(HoldAfter(4, gate))
    child = world.start("send", "When?")
    assert child.stdout is not None
    first = child.stdout.read(1)
    child.send_signal(signal.SIGINT)
    rest, err = child.communicate(timeout=WAIT_S)
    gate.open()
    part = (first + rest).decode().strip()

    assert child.returncode == 130
    assert part
    assert b"The part of the reply that arrived is in " in err
    kept = world.run("discussions", "show", "last").out
    assert part in kept
    assert "Stopped." in kept


def test_a_polite_end_keeps_the_part_too(world: World) -> None:
    world.server.replies.append(Said("It turns every six hours."))
    gate = Gate()
    world.server.faults.append(HoldAfter(4, gate))
    child = world.fork("send", "When?")
    assert child.stdout is not None
    first = child.stdout.read(1)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=WAIT_S)
    gate.open()

    assert child.returncode == 130
    assert first
    assert world.run("discussions", "--json").json[0]["preview"].startswith(first.decode())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_stop_ends_it_where_nobody_reads_the_full_pipe_and_the_part_is_kept(
    world: World, number: int
) -> None:
    world.server.replies.append(Said("It turns every six hours. " * 40))
    gate = Gate()
    world.server.faults.append(HoldAfter(16, gate))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    child = world.fork("send", "When?", ends={1: writing})
    assert gate.reached.wait(WAIT_S)
    while not any(b"It tu" in part.read_bytes() for part in world.home.glob("discussions/*/reply.part")):
        with suppress(subprocess.TimeoutExpired):
            raise AssertionError(child.wait(0.05))
    child.send_signal(number)
    child.communicate(timeout=WAIT_S)
    gate.open()
    os.close(reading)
    os.close(writing)

    assert child.returncode == 130
    assert "It turns" in world.run("discussions", "show", "last").out


def test_a_reader_that_goes_away_stops_the_reply_without_a_word(world: World) -> None:
    world.server.replies.append(Said("word " * 4000))
    child = world.fork("send", "When?")
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.read(1)
    child.stdout.close()
    err = child.stderr.read()
    child.stderr.close()

    assert child.wait(WAIT_S) == 141
    assert err == b""


def test_a_full_disk_is_said_and_the_words_are_not_sent(world: World, tmp_path: Path) -> None:
    """The log of the discussion cannot be written: a folder stands in its place."""
    world.run("send", "one")
    chosen = world.run("discussions", "--json").json[0]["id"]
    log = world.home / "discussions" / chosen / "log.jsonl"
    log.rename(tmp_path / "aside")
    log.mkdir()
    ended = world.run("send", "two", "--discussion", chosen)

    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert len(world.server.bodies) == 1


@pytest.mark.slow
@pytest.mark.parametrize("is_json", [False, True])
def test_a_reply_that_cannot_be_written_is_printed_whole_and_nobody_is_told_that_it_is_kept(
    world: World, tmp_path: Path, *, is_json: bool
) -> None:
    """The command is the last that has all of it: in JSON it stood nowhere, and "nothing was lost" was said."""
    said = "It turns every six hours."
    world.server.replies.append(Said(said))
    gate = Gate()
    world.server.faults.append(HoldAfter(4, gate))
    child = world.fork("send", "When?", *(["--json"] if is_json else []))
    assert gate.reached.wait(WAIT_S)
    (log,) = world.home.glob("discussions/*/log.jsonl")
    log.rename(tmp_path / "aside")
    log.mkdir()
    gate.open()
    out, err = child.communicate(timeout=WAIT_S)

    assert child.returncode == 1
    assert said in out.decode()
    assert b"Copy the reply from this terminal" in err
    assert b"nothing was lost" not in err


@pytest.mark.slow
def test_a_command_runs_beside_a_program_that_owns_the_home(world: World) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-m", "core.front.cli", "--headless"],
        cwd=world.project,
        env=world.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    assert "Running without a window" in owner.stdout.readline()
    assert world.run("send", "x").code == 0
    second = world.run("--headless")
    assert (second.code, "already has this data folder open" in second.err) == (1, True)
    owner.send_signal(signal.SIGINT)
    owner.communicate(timeout=WAIT_S)
    assert owner.returncode == 0


def test_the_program_is_installed_under_its_name() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    assert scripts == {"manual-slop": "gui.main:start"}


@pytest.mark.parametrize("limit", ["ai_settings.spend_limit_usd=0", "ai_settings.caching.day_limit_usd=0"])
def test_at_a_spend_limit_nothing_is_sent_unless_it_is_said(world: World, limit: str) -> None:
    ended = world.run("send", "--set", limit, "When?")
    assert (ended.code, ended.out) == (1, "")
    assert "You have reached the limit of $0.00 for" in ended.err
    assert "--over-limit" in ended.err
    assert world.server.bodies == []

    assert world.run("send", "--set", limit, "--over-limit", "When?").code == 0
    assert len(world.server.bodies) == 1


@pytest.mark.parametrize(
    "broken",
    [
        "[ai_settings.x\n",
        '[ai_settings.caching]\nday_limit_usd = "1"\n',
        '[providers.loc]\nbase_url = "http://u:p@h/v1"\n',
    ],
)
def test_while_the_persons_settings_cannot_be_read_no_vendor_is_sent_anything(
    world: World, broken: str
) -> None:
    """The local server and the limits were dropped with the file, and the first provider with a key answered."""
    with AnthropicServer() as vendor:
        keys = {"ANTHROPIC_API_KEY": anthropic_server.KEY, "ANTHROPIC_BASE_URL": vendor.url}
        world.config.write_text(f'[ai_settings]\nmodel = "claude-opus-5-5"\n{broken}', encoding="utf-8")

        held = world.run("send", "private words", given=b"", types=False, **keys)
        assert (held.code, held.out) == (1, "")
        assert "so your providers and limits are unknown" in held.err
        assert "Correct the settings file, which holds your limits, or add --over-limit" in held.err
        assert vendor.requests == []

        meant = world.run(
            "send", "words", "--over-limit", "--provider", "anthropic", given=b"", types=False, **keys
        )
        assert meant.code == 0
        assert vendor.requests


def test_at_a_spend_limit_the_draft_of_the_discussion_stays_as_it_was(world: World, tmp_path: Path) -> None:
    world.run("send", "one")
    chosen = world.run("discussions", "--json").json[0]["id"]
    file = tmp_path / "a.txt"
    file.write_text("tides", encoding="utf-8")
    limit = ("--set", "ai_settings.caching.day_limit_usd=0")
    refused = world.run("send", *limit, "--discussion", chosen, "--attach", str(file), "two")

    assert refused.code == 1
    assert len(world.server.bodies) == 1
    assert world.run("send", *limit, "--discussion", chosen, "--over-limit", "two").code == 0
    assert "tides" not in str(world.server.bodies[-1])


def test_a_retry_past_a_spend_limit_is_refused_too(world: World) -> None:
    world.server.faults.extend([HangUp()] * 4)
    assert world.run("send", "one").code == 1
    limit = ("--set", "ai_settings.caching.day_limit_usd=0")

    refused = world.run("send", *limit, "--retry", "--discussion", "last")

    assert (refused.code, "You have reached the limit of $0.00 for today" in refused.err) == (1, True)
    assert world.run("send", *limit, "--over-limit", "--retry", "--discussion", "last").code == 0


def test_a_send_brings_a_digest_that_is_on_up_to_date_with_an_editors_save(world: World) -> None:
    knowledge = world.home / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "digest.md").write_text("")
    os.utime(knowledge / "digest.md", (0, 0))
    (knowledge / "facts.md").write_text("- High tide is late.\n")

    assert world.run("send", "When?").code == 0

    assert "High tide is late." in str(world.server.bodies[0]["messages"])


def test_a_preset_that_loses_files_to_gitignore_says_so_once(world: World) -> None:
    for name in ("a.py", "build/b.py"):
        (world.project / name).parent.mkdir(exist_ok=True)
        (world.project / name).write_text("x = 1\n")
    (world.project / ".gitignore").write_text("build/\n")
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["**/*.py"]\n')

    first = world.run("send", "x", "--trust", "--preset", "a")
    again = world.run("context", "--preset", "a")

    assert "preset 'a' sends fewer files" in first.err
    assert "1 file of '**/*.py'" in first.err
    assert again.code == 0
    assert ".gitignore" not in again.err


def test_context_too_says_what_a_preset_loses(world: World) -> None:
    (world.project / "out").mkdir()
    (world.project / "out" / "b.py").write_text("x = 1\n")
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["**/*.py"]\n')
    (world.project / ".gitignore").write_text("out/\n")

    assert "1 file of '**/*.py'" in world.run("context", "--trust", "--preset", "a").err


def test_a_window_that_the_server_lists_holds_for_a_command_too(world: World) -> None:
    """It was taken for 32,768 tokens: what did not fit was sent, and what did was cut away and summarised for money."""
    world.server.habits = replace(world.server.habits, listing={"owned_by": "vllm", "max_model_len": 1_800})

    ended = world.run("send", "--trust", "--tools", "word " * 1_500)

    assert ended.code == 1
    assert "takes 1,575 besides its reply" in ended.err
    assert not world.server.bodies


@pytest.mark.slow
def test_a_send_whose_cache_has_ended_says_first_what_it_writes_again(world: World) -> None:
    with AnthropicServer() as vendor:
        keys = {"ANTHROPIC_API_KEY": anthropic_server.KEY, "ANTHROPIC_BASE_URL": vendor.url}
        world.config.write_text(
            '[ai_settings]\nprovider = "anthropic"\nmodel = "claude-opus-5-5"\n'
            "[ai_settings.caching]\ncold_send_usd = 0.01\n",
            encoding="utf-8",
        )
        assert world.run("send", "The tides of the north. " * 4_000, given=b"", types=False, **keys).code == 0
        warm = world.run("send", "and then?", "--discussion", "last", given=b"", types=False, **keys)
        assert "The cache ended" not in warm.err
        _let_time_pass(world)

        cold = world.run("send", "and now?", "--discussion", "last", given=b"", types=False, **keys)

        assert cold.code == 0, cold.err
        assert re.search(
            "The cache went cold .* pays for ≈[\\d.]+k tokens again, for about \\$0\\.\\d+\\.", cold.err
        ), cold.err
        world.config.write_text(world.config.read_text("utf-8").replace("0.01", "0"), encoding="utf-8")
        _let_time_pass(world)
        assert (
            "The cache ended"
            not in world.run("send", "x", "--discussion", "last", given=b"", types=False, **keys).err
        )


def _let_time_pass(world: World) -> None:
    """A day goes by: every time that the cache's file holds lies a day further back."""
    (file,) = (world.home / "discussions").glob("*/cache.json")
    day = timedelta(days=1)
    text = re.sub(
        r"20\d\d-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)",
        lambda found: (datetime.fromisoformat(found[0]) - day).isoformat(),
        file.read_text("utf-8"),
    )
    file.write_text(text, encoding="utf-8")


def test_a_switch_that_a_vendor_refuses_is_told_once_and_later_commands_do_not_try_it(world: World) -> None:
    with AnthropicServer() as vendor:
        vendor.refuses = lambda body: (
            "role 'system' is not supported on this model"
            if any(one["role"] == "system" for one in body["messages"])
            else ""
        )
        keys = {"ANTHROPIC_API_KEY": anthropic_server.KEY, "ANTHROPIC_BASE_URL": vendor.url}
        world.config.write_text(
            '[ai_settings]\nprovider = "anthropic"\nmodel = "claude-opus-5-5"\n', encoding="utf-8"
        )
        long = "The tides of the north. " * 1_000
        assert world.run("send", long, "--effort", "high", given=b"", types=False, **keys).code == 0
        ended = [
            world.run(
                *("send", "And?", "--discussion", "last", "--effort", effort), given=b"", types=False, **keys
            )
            for effort in ("low", "medium")
        ]

        assert [one.code for one in ended] == [0, 0]
        assert ["refused your change" in one.err for one in ended] == [True, False]
        assert vendor.refused == 1
