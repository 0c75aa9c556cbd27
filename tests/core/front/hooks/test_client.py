"""`manual-slop send` beside a running program: its turn goes through the Hook API, else through files."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.agent.agent_messages import RefuseCall
from core.agent.agent_pages import asked_calls
from core.front.cli import main
from core.front.hooks import client as client_module
from core.front.hooks.client import Address, HookClient, HookError, connect, publish
from core.kernel.values.messages import Status
from core.services.settings.settings_messages import ChangeSetting
from tests.command_forks import FORKS
from tests.core.front.hooks.conftest import AS_PERSON, WAIT_S, World
from tests.core.knowledge.harvest.harvests import add_discussion, reply
from tests.vendors.compatible_server import Said
from tests.vendors.loopback import DropAfter, Gate, HoldAfter

ROOT = Path(__file__).parents[4]
Send = Callable[..., int]


def command(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of a person as a process of its own, in the program's project."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return FORKS.run("core.front.cli", *arguments, cwd=world.project, env=env, timeout=WAIT_S)


@pytest.fixture
def send(running: World, monkeypatch: pytest.MonkeyPatch) -> Send:
    """Runs `manual-slop send` in the program's project."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.chdir(running.project)
    return lambda *arguments: main(["send", "--home", str(running.home), *arguments])


def test_a_message_is_sent_in_the_running_program(
    running: World, send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    running.server.replies.append(Said("Every six hours.", reasoning="The moon."))

    code = send("When?", "--show-reasoning")

    out, err = capsys.readouterr()
    assert (code, out) == (0, "Every six hours.\n")
    assert "The moon." in err
    (chosen,) = running.state.discussions.summaries
    assert chosen in err
    assert [message.text for message in running.state.discussions.open[chosen].messages] == [
        "When?",
        "Every six hours.",
    ]


def test_a_message_to_a_discussion_that_is_there_with_what_it_asks_for(
    running: World, send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = running.discussion("tides")
    running.client.put("/api/presets/core", {"items": [{"path": "tides.py"}]})

    code = send("When?", "--discussion", "tides", "--preset", "core", "--effort", "low", "--json",
                "--temperature", "0.4", "--max-output", "50")  # fmt: skip

    found = json.loads(capsys.readouterr().out)
    assert (code, found["discussion"], found["failure"]) == (0, chosen, None)
    assert found["reply"]["text"] == "Hello there."
    assert found["reply"]["usage"]["input_tokens"] > 0
    meta = running.state.discussions.summaries[chosen].meta
    assert (meta.preset, meta.effort) == ("core", "low")
    assert (meta.temperature, meta.max_output_tokens) == (0.4, 50)
    assert "return 6" in json.dumps(running.server.bodies[-1])


def _asked(
    running: World, monkeypatch: pytest.MonkeyPatch, before: Callable[[], None] = lambda: None
) -> tuple[str, io.StringIO]:
    """A discussion with tools, whose next turn asks and gets a no as soon as it is told; and standard error.

    Args:
        before: done by the person before that no.
    """
    chosen = running.discussion("tides")
    running.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": True}, **AS_PERSON)
    ask = ("web_fetch", json.dumps({"url": "https://tides.example/now"}))
    running.server.replies.extend((Said("I look.", calls=(ask,), finish="tool_calls"), Said("Not now.")))

    class Read(io.StringIO):
        """Standard error, by a person who says no as soon as they are told of a question."""

        def write(self, text: str) -> int:
            if "the Manual Slop that already runs needs your approval" in text:
                before()
                running.controller.send(RefuseCall(chosen, asked_calls(running.state, chosen)[0].id))
            return super().write(text)

    monkeypatch.setattr(sys, "stderr", err := Read())
    return chosen, err


def test_a_discussion_with_tools_is_sent_to_in_the_running_program_which_asks(
    running: World, send: Send, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, err = _asked(running, monkeypatch)
    code = send("When?", "--tools", "--discussion", "tides")

    assert (code, capsys.readouterr().out) == (0, "I look.\n\nNot now.\n")
    assert "needs your approval: Fetch from tides.example\n" in err.getvalue()


def test_a_turn_that_a_limit_ends_in_the_running_program_names_the_command_that_goes_on(
    running: World, send: Send, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended with 0 after the first request's words."""

    def limited() -> None:
        running.controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.0))
        running.until(lambda s: s.config.settings.caching.day_limit_usd == 0.0)

    chosen, err = _asked(running, monkeypatch, limited)

    assert send("When?", "--tools", "--discussion", "tides") == 1
    assert capsys.readouterr().out == "I look.\n"
    assert f"Go on with `manual-slop send --retry --over-limit --discussion {chosen}`" in err.getvalue()
    assert send("--retry", "--over-limit", "--discussion", chosen) == 0
    assert capsys.readouterr().out == "Not now.\n"


def test_autonomy_of_the_running_program_is_told_and_stopped_on_the_command_line(
    running: World, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(["autonomy", "--home", str(running.home), *arguments])
        out, err = capsys.readouterr()
        return code, out or err

    assert run() == (0, "No discussion has been autonomous since the program started.\n")
    chosen = running.discussion("tides")
    running.client.put("/api/autonomy", {"discussion_id": chosen}, **AS_PERSON)
    running.until(lambda s: s.attention.autonomy is not None)
    code, told = run()
    assert (code, f"{chosen}: engaged, " in told) == (0, True)
    assert "turns:  0 of 20, spent $0, errors 0\n" in told
    assert json.loads(run("--json")[1])["is_on"]
    assert run("--stop") == (0, "You stopped autonomy.\n")
    running.until(lambda s: s.attention.autonomy is None)
    assert f"{chosen} is no longer autonomous." in run()[1]


def test_a_program_that_is_too_busy_for_a_quick_answer_is_waited_for_where_it_alone_knows(
    running: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client_module, "KNOCK_S", 0.0)
    assert main(["autonomy", "--home", str(running.home)]) == 0
    assert "No discussion has been autonomous since the program started" in capsys.readouterr().out


def test_where_no_program_runs_nobody_knows_of_autonomy(
    isolated_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["autonomy", "--home", str(isolated_home)]) == 1
    assert (
        "Autonomy needs a running program with the Hook API on; this data folder has none"
        in capsys.readouterr().err
    )


def test_a_person_sends_past_a_limit_through_files_and_the_running_program_shows_the_turn(
    world: World,
) -> None:
    """The token that the command finds beside a program gives no yes past a limit: any program could read it."""
    world.start(watches=True)
    chosen = world.discussion("tides")
    world.controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.0))
    world.until(lambda s: s.config.settings.caching.day_limit_usd == 0.0)

    asked = ("send", "--home", str(world.home), "--discussion", chosen, "When?")

    refused = command(world, *asked)
    assert refused.returncode == 1
    assert "send the message with --over-limit" in refused.stderr
    assert world.server.bodies == []

    sent = command(world, *asked, "--over-limit")
    assert (sent.returncode, sent.stdout) == (0, "Hello there.\n"), sent.stderr
    assert len(world.server.bodies) == 1
    world.until(lambda s: [m.text for m in s.discussions.open[chosen].messages] == ["When?", "Hello there."])
    assert world.state.config.settings.caching.day_limit_usd == 0.0


def test_a_harvest_past_the_day_s_limit_is_a_person_s_to_run_beside_a_program(world: World) -> None:
    add_discussion(world.home, "tides", "When is it high?", "Late.")
    world.start(watches=True)
    world.discussion("shown")
    world.controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.0))
    world.until(lambda s: s.config.settings.caching.day_limit_usd == 0.0)
    world.server.replies.append(Said(reply("High tide is late."), piece_chars=400))

    refused = command(world, "harvest", "--home", str(world.home), "--apply")
    assert (refused.returncode, world.server.bodies) == (1, []), refused.stdout
    assert "to go on, add --over-limit" in refused.stderr
    done = command(world, "harvest", "--home", str(world.home), "--apply", "--over-limit")
    assert done.returncode == 0, done.stderr
    world.until(
        lambda s: any("High tide" in item.text for file in s.knowledge.categories for item in file.items)
    )


def test_a_name_that_is_not_there_is_wrong_usage(
    running: World, send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in (["--discussion", "none"], ["--provider", "none"], ["--preset", "none"]):
        assert send("x", *wrong) == 2
        assert "There is no" in capsys.readouterr().err
    assert running.state.discussions.summaries == {}


def test_a_failure_is_said_and_the_words_are_kept(
    running: World, send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    running.server.faults.append(DropAfter(4))

    assert send("When?") == 1

    assert "The program keeps your message" in capsys.readouterr().err
    (chosen,) = running.state.discussions.summaries
    assert running.state.discussions.open[chosen].messages[0].text == "When?"


def test_a_message_that_is_refused_before_its_first_word_leaves_no_discussion(
    running: World, send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    running.controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.0))

    assert send("When?") == 1

    assert "You have reached the limit of $0.00 for today" in capsys.readouterr().err
    running.until(lambda s: s.discussions.summaries == {})
    assert not any(
        (running.home / name).is_dir() and any((running.home / name).iterdir())
        for name in ("discussions", "trash")
    )
    assert running.server.bodies == []


def test_another_project_or_more_than_the_api_can_goes_through_files(
    running: World, send: Send, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.front.cli.arguments import parse
    from core.front.cli.send_beside import program_beside

    def beside(*arguments: str) -> bool:
        return program_beside(parse(["send", "x", "--home", str(running.home), *arguments])) is not None

    assert beside()
    assert beside("--preset", "")
    for more in (["--attach", "a"], ["--persona", "p"], ["--persona", ""], ["--system", "s"], ["--set", "trash_days=3"],
                 ["--trust"], ["--retry"], ["--over-limit"]):  # fmt: skip
        assert not beside(*more), more
    assert not beside("--project", str(tmp_path))
    running.hooks.stop()
    assert not beside()


def test_ctrl_c_stops_the_reply_in_the_running_program_and_keeps_its_part(running: World) -> None:
    running.server.replies.append(Said("It turns every six hours."))
    gate = Gate()
    running.server.faults.append(HoldAfter(8, gate))
    child = subprocess.Popen(
        [sys.executable, "-m", "core.front.cli", "send", "When?", "--home", str(running.home)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=running.project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    running.until(lambda s: any(call.text for call in s.turns.calls.values()))
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=WAIT_S)
    gate.open()

    assert child.returncode == 130, err
    (chosen,) = running.state.discussions.summaries
    reply = running.state.discussions.open[chosen].messages[-1]
    assert reply.status is Status.INTERRUPTED
    assert out.strip() == reply.text.strip()
    assert f"The part of the reply that arrived is in {chosen}." in err


def test_what_a_killed_program_left_behind_is_no_program(tmp_path: Path) -> None:
    assert connect(tmp_path) is None
    publish(tmp_path, Address("http://127.0.0.1:9", 1, "t"))

    assert connect(tmp_path) is None


def test_a_wrong_token_and_a_program_that_is_gone_are_said(running: World) -> None:
    stranger = HookClient(Address(running.client.url, running.hooks.address.pid, "no"))
    with pytest.raises(HookError) as refused:
        stranger.get("/api/status")
    assert (refused.value.status, refused.value.code) == (0, "not_proven")

    known = connect(running.home)
    assert known is not None
    running.hooks.stop()
    with pytest.raises(HookError, match="does not answer"):
        known[0].get("/api/status")
