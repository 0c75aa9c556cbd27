"""A day of a person who changes everything, through the whole program: nothing that they asked for is held, at any vendor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core.agent.agent_messages import SetTools
from core.app.app_messages import Command
from core.app.execution import act
from core.app.warm_loss import warm_loss
from core.kernel.values.curation import FileItem, TextTable
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import AttachmentPart, Message, Role
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import TrustProject
from core.talk.context.context_messages import CreatePreset, SaveNamedText
from core.talk.discussion.discussion_messages import (
    AttachText,
    ChangeDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteMessage,
    EditMessage,
    RestoreMessage,
    SelectDiscussion,
)
from core.talk.turn.turn_messages import RegenerateReply, ResendMessage, RetrySend, SendPrompt
from tests.core.app.programs import Programs, until
from tests.vendors import anthropic_server, compatible_server, gemini_server, openai_server
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.tokens import Texts, o200k
from tests.vendors.loopback import DropAfter
from tests.wire_guard import as_request

THOUGHT = "The tide is a wave, and its height follows the moon. " * 20


class Vendor(NamedTuple):
    """A vendor: its server, what names it, and a reply with thinking that asks for a call or ends the turn."""

    name: str
    models: tuple[str, str]
    server: Callable[[Callable[[], float]], Any]
    environ: Callable[[str], Mapping[str, str]]
    said: Callable[[int, bool], object]


def _anthropic(number: int, asks: bool) -> object:
    thought = {"type": "thinking", "thinking": f"{number}. {THOUGHT}"}
    if not asks:
        return anthropic_server.Said((thought, {"type": "text", "text": f"Answer {number}."}))
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_file", "input": {"path": "tides.py"}}
    return anthropic_server.Said((thought, call), stop_reason="tool_use")


def _openai(number: int, asks: bool) -> object:
    thought = {"type": "reasoning", "summary": [f"{number}. {THOUGHT}"]}
    call = {"type": "function_call", "name": "read_file", "arguments": '{"path": "tides.py"}'}
    return openai_server.Said((thought, call if asks else {"type": "message", "text": f"Answer {number}."}))


def _gemini(number: int, asks: bool) -> object:
    thought = {"text": f"{number}. {THOUGHT}", "thought": True}
    call = {"functionCall": {"name": "read_file", "args": {"path": "tides.py"}}}
    return gemini_server.Said((thought, call if asks else {"text": f"Answer {number}."}))


def _compatible(number: int, asks: bool) -> object:
    if not asks:
        return compatible_server.Said(f"Answer {number}.")
    return compatible_server.Said("", calls=(("read_file", '{"path": "tides.py"}'),), finish="tool_calls")


VENDORS = (
    Vendor(
        name="anthropic",
        models=("claude-opus-5-5", "claude-sonnet-5-5"),
        server=lambda clock: anthropic_server.AnthropicServer(clock=clock),
        environ=lambda url: {"ANTHROPIC_API_KEY": anthropic_server.KEY, "ANTHROPIC_BASE_URL": url},
        said=_anthropic,
    ),
    Vendor(
        name="openai",
        models=("gpt-6.1-sol", "gpt-5.5"),
        server=lambda clock: openai_server.OpenAiServer(clock=clock),
        environ=lambda url: {"OPENAI_API_KEY": openai_server.KEY, "OPENAI_BASE_URL": f"{url}/v1"},
        said=_openai,
    ),
    Vendor(
        name="gemini",
        models=("gemini-4-argon", "gemini-3.8-flash"),
        server=lambda clock: gemini_server.GeminiServer(clock=clock),
        environ=lambda url: {"GEMINI_API_KEY": gemini_server.KEY, "GOOGLE_GEMINI_BASE_URL": url},
        said=_gemini,
    ),
    Vendor(
        name="local",
        models=(compatible_server.MODEL, compatible_server.MODEL),
        server=lambda _clock: compatible_server.CompatibleServer(compatible_server.VLLM),
        environ=lambda _url: {},
        said=_compatible,
    ),
)


class Day(Programs):
    """A discussion with tools and files. What could not be sent is kept in `failures`, by what was done before."""

    def __init__(self, base: Path, vendor: Vendor) -> None:
        super().__init__(base)
        self.vendor, self.count, self.doing, self.deleted = vendor, 0, "", ""
        self.now = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0)
        self.clock = lambda: self.now
        self.server = vendor.server(self.seconds)
        self.failures: list[str] = []
        self.write("tides.py", "height = 1\n" * 2_000)
        self.write("moon.py", "phase = 1\n" * 200)

    def seconds(self) -> float:
        return self.now.timestamp()

    def write(self, name: str, text: str) -> None:
        (self.project / name).write_text(text, encoding="utf-8")

    def begin(self) -> None:
        self.program = self.start()
        act(self.program, TrustProject(is_trusted=True))
        act(self.program, CreateDiscussion("Tides", self.vendor.name, self.vendor.models[0]))
        state = until(self.program, lambda s: bool(s.discussions.selected_id))
        self.chosen = state.discussions.selected_id
        act(self.program, CreatePreset("core", (FileItem("tides.py"),)))
        act(self.program, CreatePreset("other", (FileItem("moon.py"),)))
        self.change(preset="core")
        act(self.program, SetTools(self.chosen, has_tools=True))

    def change(self, **changes: str) -> None:
        act(self.program, ChangeDiscussion(discussion_id=self.chosen, changes=changes))

    @property
    def opened(self) -> OpenDiscussion:
        return self.program.snapshot().discussions.open[self.chosen]

    def said(self, role: Role, number: int = -1) -> Message:
        return [one for one in self.opened.messages if one.role is role and not one.is_of_tools][number]

    def _is_over(self, before: OpenDiscussion, state: AppState) -> bool:
        opened = state.discussions.open[self.chosen]
        if self.chosen in state.turns.calls or self.chosen in state.agent.turns:
            return False
        if opened.failure is not None:
            return opened.failure is not before.failure
        return opened.messages != before.messages and opened.messages[-1].role is Role.ASSISTANT

    def run(self, command: Command, *, rounds: int = 0, breaks_off: bool = False) -> None:
        """Send, and wait for the end of the turn."""
        self.now += timedelta(seconds=50)
        self.count += 10
        numbers = range(self.count, self.count + rounds + 1)
        self.server.replies.extend(self.vendor.said(one, one != numbers[-1]) for one in numbers)
        before = self.opened
        self.program.send(command)
        until(self.program, lambda s: self._is_over(before, s))
        failure = self.opened.failure
        if failure is not None and not breaks_off:
            self.failures.append(f"{self.doing}: {failure.what}")
        self.server.replies.clear()

    def ask(self, *, rounds: int = 0, breaks_off: bool = False) -> None:
        self.run(SendPrompt(self.chosen, f"{self.doing}?"), rounds=rounds, breaks_off=breaks_off)

    def tell(self, command: Command, text: str) -> None:
        """Change a message, and wait until it stands there."""
        self.program.send(command)
        until(self.program, lambda s: text in [m.text for m in s.discussions.open[self.chosen].messages])


def edit(day: Day, number: int) -> None:
    words = f"Otherwise, {day.doing}"
    day.tell(EditMessage(day.chosen, day.said(Role.USER, number).id, words), words)


def attach(day: Day) -> None:
    day.program.send(AttachText(day.chosen, "The table of tides. " * 200))
    until(day.program, lambda s: bool(s.discussions.open[day.chosen].draft.attachments))
    day.ask()


def attached(day: Day) -> tuple[Message, tuple[str, ...]]:
    one = day.said(Role.USER)
    return one, tuple(part.sha256 for part in one.parts if isinstance(part, AttachmentPart))


def detach(day: Day) -> None:
    attach(day)
    one, keys = attached(day)
    day.tell(EditMessage(day.chosen, one.id, "Without it", detached=keys), "Without it")


def resend_detached(day: Day) -> None:
    attach(day)
    one, keys = attached(day)
    day.run(ResendMessage(day.chosen, one.id, one.text, detached=keys))


def version(day: Day) -> None:
    day.run(ResendMessage(day.chosen, day.said(Role.USER).id, "In other words?"), rounds=1)


def delete(day: Day) -> None:
    day.deleted = day.said(Role.USER, 0).id
    day.program.send(DeleteMessage(day.chosen, day.deleted))


def other_model(day: Day) -> None:
    name, (_, model) = day.vendor.name, day.vendor.models
    day.run(RegenerateReply(day.chosen, provider=name, model=model))


def persona(day: Day) -> None:
    act(day.program, SaveNamedText(TextTable.PERSONAS, "sage", "You are old.", used_by=(day.chosen,)))


def dropped(day: Day) -> None:
    day.server.faults.append(DropAfter(24))
    day.ask(breaks_off=True)
    if day.opened.failure is not None:
        day.run(RetrySend(day.chosen))


ACTS: Mapping[str, Callable[[Day], object]] = {
    "detached": detach,
    "sent again without what was attached": resend_detached,
    "edited": lambda day: edit(day, 0),
    "edited the last": lambda day: edit(day, -1),
    "deleted": delete,
    "restored": lambda day: day.program.send(RestoreMessage(day.chosen, day.deleted)),
    "a version of the words": version,
    "the older version": lambda day: day.program.send(
        ChooseVersion(day.chosen, day.said(Role.USER).id, step=-1)
    ),
    "asked again": lambda day: day.run(RegenerateReply(day.chosen), rounds=1),
    "asked the first again": lambda day: day.run(
        RegenerateReply(day.chosen, message_id=day.said(Role.ASSISTANT, 0).id)
    ),
    "asked another model": other_model,
    "asked the model before": lambda day: day.change(model=day.vendor.models[0]),
    "took the tools": lambda day: act(day.program, SetTools(day.chosen, has_tools=False)),
    "gave the tools": lambda day: act(day.program, SetTools(day.chosen, has_tools=True)),
    "rounds": lambda day: day.ask(rounds=2),
    "a persona": persona,
    "another preset": lambda day: day.change(preset="other"),
    "a file edited": lambda day: day.write("moon.py", "phase = 2\n" * 200),
    "dropped": dropped,
}


@pytest.fixture(params=VENDORS, ids=[one.name for one in VENDORS])
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Day]:
    vendor: Vendor = request.param
    found, config = Day(tmp_path, vendor), tmp_path / "config.toml"
    with found.server as server:
        local = f'[providers.local]\nkind = "compatible"\nbase_url = "{server.url}/v1"\n'
        config.write_text(local if vendor.name == "local" else "", encoding="utf-8")
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
        for name, value in vendor.environ(server.url).items():
            monkeypatch.setenv(name, value)
        yield found
        found.stop()


def test_nothing_that_a_person_asked_for_is_held(day: Day) -> None:
    day.begin()
    day.ask(rounds=1)
    for day.doing, play in ACTS.items():
        play(day)
        day.ask()

    assert day.failures == []


@pytest.mark.parametrize("day", VENDORS[:1], ids=["anthropic"], indirect=True)
def test_the_price_of_a_change_is_what_its_request_pays(day: Day) -> None:
    """An edited message behind results of tools, and a model that is chosen again while it still holds all."""
    day.server.cache = AnthropicCache(day.seconds, Texts(o200k(1.35)))
    day.write("tides.py", "height = 1\n" * 600)
    day.begin()
    for day.doing, rounds in (("One", 2), ("Two", 2), ("Three", 0)):
        day.ask(rounds=rounds)

    edited = EditMessage(day.chosen, day.said(Role.USER, 1).id, "Two, otherwise")
    said = lost(day, edited)
    day.tell(edited, "Two, otherwise")
    day.ask()
    assert said == pytest.approx(paid(day)[1] / 1_000, rel=0.15)

    here, there = day.vendor.models
    for model, is_lost in ((there, True), (here, False)):
        change = ChangeDiscussion(discussion_id=day.chosen, changes={"model": model})
        assert (lost(day, change) > 0) is is_lost
        act(day.program, change)
        day.ask()
        read, anew = paid(day)
        assert (anew > read) is is_lost


def lost(day: Day, command: Command) -> float:
    """Thousands of tokens that a command is said to leave unused, 0 where it is not asked about."""
    last = day.said(Role.ASSISTANT)
    assert last.usage is not None
    held = (last.usage.cache_read_tokens or 0) + (last.usage.cache_write_tokens or 0)
    until(day.program, lambda s: s.caching.caches[day.chosen].tokens_cached == held)
    until(day.program, lambda s: last.id in str(s.context.reports[day.chosen].layers))
    loss = warm_loss(day.program.snapshot(), command)
    if loss is None:
        return 0.0
    part = re.search(r"leaves ([\d.]+)k of them", loss.sentence) or re.search(
        r"caches ([\d.]+)k", loss.sentence
    )
    assert part is not None
    return float(part[1])


def paid(day: Day) -> tuple[int, int]:
    """Tokens of the last request: read from the cache, and paid anew."""
    usage = day.said(Role.ASSISTANT).usage
    assert usage is not None
    read = usage.cache_read_tokens or 0
    return read, (usage.input_tokens or 0) - read


def extensions(day: Day) -> list[bool]:
    """For each request but the first, whether it extends all that the one before it sent and a later one repeats."""
    requests = [as_request(one) for one in day.server.heard]
    return [one.rows[: one.last.stop] == two.rows[: one.last.stop] for one, two in pairwise(requests)]


@pytest.mark.parametrize("day", VENDORS[-1:], ids=["local"], indirect=True)
def test_a_server_that_holds_its_replies_gets_each_request_with_all_of_the_one_before_until_it_is_cold(
    day: Day,
) -> None:
    """Layer 8 stays behind the words that it came with, also over a restart: the reply behind it need not be read in anew."""
    day.write("tides.py", "height = 1\n" * 300)
    day.begin()
    for day.doing, rounds in (("One", 0), ("Two", 0), ("Three", 1), ("Four", 0)):
        day.ask(rounds=rounds)
    day.stop()
    day.program = day.start()
    act(day.program, SelectDiscussion(day.chosen))
    for day.doing in ("Five", "Six"):
        day.ask()
    requests = [as_request(one).rows for one in day.server.heard]
    assert [two[: len(one)] == one for one, two in pairwise(requests)] == [True] * 6
    assert str(requests[-1]).count("<discussion>") == 6

    day.now += timedelta(hours=3)
    day.doing = "Later"
    day.ask()
    assert str(as_request(day.server.heard[-1]).rows).count("<discussion>") == 1


def test_each_request_of_a_tool_day_extends_the_one_before_it_and_a_cold_one_says_why_not(day: Day) -> None:
    day.write("tides.py", "height = 1\n" * 300)
    day.begin()
    for day.doing in ("One", "Two"):
        day.ask(rounds=2)
    day.doing = "A file changes"
    day.write("tides.py", "height = 2\n" + "height = 1\n" * 299)
    day.ask(rounds=2)
    day.doing = "Another program"
    day.stop()
    day.program = day.start()
    act(day.program, SelectDiscussion(day.chosen))
    day.ask(rounds=2)
    day.doing, day.now = "Later", day.now + timedelta(hours=3)
    day.ask(rounds=2)

    (log,) = day.home.rglob(f"*{day.chosen}*/log.jsonl")
    rows = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    told = [bool(row.get("broken")) for row in rows if row.get("type") == "request"][1:]
    assert extensions(day) == [not one for one in told]
    assert told == [False] * 11 + [True, False, False]
