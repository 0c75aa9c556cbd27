"""What a turn with tools began with: a program that was started in its midst sends the same bytes before it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from core.kernel.values.cache import DiscussionCache
from core.kernel.values.curation import FileItem, NamedText, Preset
from core.kernel.values.messages import Message, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderKind
from core.kernel.values.records import Record, ViewRecord
from core.kernel.values.retrieval import AskedPlaces, Recalled, RecallSpec
from core.kernel.values.spec import CallToBuild, StackSpec, ToolOffer
from core.kernel.values.stack import DiscussionMetadata, Segment, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.talk.caching.cache_file import HomeCacheStore, Learned
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.offers import CacheSetup, cache_prices
from core.talk.context.assembly import Assembler, BuiltCall
from core.talk.discussion.cuts import IN_LOG, IN_VIEW, RECALLED, TOLD, read_turn, told_turn, turn_record
from core.talk.discussion.log_codec import ForeignLine, decode, encode
from core.talk.discussion.log_content import fold
from tests.core.stacks import said
from tests.core.talk.context.test_assembly import FakeCounter

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODEL = "claude-opus-5"
PROFILE = ModelProfile("anthropic", MODEL, context_tokens=200_000, family="claude")
META = "20261120-120000-abcdef"
OLD = NamedText("rules", "Answer in one sentence. " * 400)
NEW = NamedText("others", "Answer in verse.")
WORDS = said("m0", Role.USER, "look")
THOUGHT = said("m0a", Role.ASSISTANT, ReasoningPart("hm", "{}"), ToolCallPart("c", "bash", "{}"))
CALL = said("m0a", Role.ASSISTANT, ToolCallPart("c", "bash", "{}"))
RESULT = said("m0b", Role.TOOL, ToolResultPart("c", "found"))
AGAIN = said("m0c", Role.ASSISTANT, ToolCallPart("d", "bash", "{}"))
MORE = said(
    "m0d", Role.TOOL, ToolResultPart("d", "interrupted: the program ended while this ran", is_error=True)
)

LAST = said("m0e", Role.ASSISTANT, ToolCallPart("e", "bash", "{}"))
DONE = said("m0f", Role.TOOL, ToolResultPart("e", "done"))
NUMBERS = count()
BEGAN: dict[str, object] = {
    "epoch": 1,
    "role_text": "You help. " * 30,
    "tool_format_text": "Calls are JSON. " * 30,
    "tools": (ToolSchema("bash", "Runs a command.", '{"type":"object"}'),),
    "system_text": OLD,
    "persona": NamedText("pilot", "You know the tides. " * 20, "pilot.md"),
    "project": (NamedText("AGENTS.md", "Be brief."),),
    "digest": "the moon",
    "domain_facts": "two tides a day",
    "notes": (NamedText("a.py", "It is old."),),
    "withdrawals": 1,
    "metadata": DiscussionMetadata("Sky", ("assistant", "user"), 3),
    "preset_name": "core",
    "takes_long_system": True,
    RECALLED: "A note on tides.",
    "a.py": "x = 1\n",
}
CHANGES: dict[str, dict[str, object]] = {
    "named otherwise": {"metadata": DiscussionMetadata("Sea", ("user",), 7)},
    "another role": {"role_text": "You judge."},
    "another form": {"tool_format_text": "Call by name."},
    "another prompt": {"system_text": NEW},
    "no prompt": {"system_text": None},
    "a persona": {"persona": NEW},
    "other documents": {"project": (NEW,)},
    "another window": {"takes_long_system": False},
    "no preset": {"preset_name": ""},
    "knowledge": {"digest": "tides", "notes": (NEW,), "domain_facts": "a fact"},
    "something withdrawn": {"withdrawals": 3, "digest": ""},
    "other tools": {"tools": (ToolSchema("other", "Another.", "{}"),)},
    "recalled otherwise": {"retrieved": "Another note."},
    "an edited file": {"a.py": "x = 2\n"},
    "a file that is gone": {"a.py": None},
}
"""By name what a program that is started in mid-turn finds; `a.py` is a file on disk, all others are inputs."""


class Disk(HomeCacheStore):
    """What outlives a program: a folder with a file, the lines of a log; no cache that anybody knows of."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.root = root
        self.lines: list[bytes] = []
        root.mkdir(parents=True, exist_ok=True)

    @property
    def records(self) -> list[Record]:
        read = (decode(line, number) for number, line in enumerate(self.lines))
        return [one for one in read if not isinstance(one, ForeignLine)]

    def views(self, discussion_id: str) -> tuple[ViewRecord, ...]:
        return tuple(one for one in self.records if isinstance(one, ViewRecord))

    def load(self, discussion_id: str) -> DiscussionCache:
        return DiscussionCache()

    def mark(self, discussion_id: str) -> None:
        return None

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Nothing is known of a cache."""

    def is_booked(self, _discussion_id: str, _record_id: str) -> bool:
        return False

    def load_learned(self) -> Learned:
        return Learned()

    def save_learned(self, learned: Learned) -> None:
        """Nothing is learned."""


class Program:
    """A program: it knows what is on disk, and makes requests of the discussion."""

    def __init__(self, disk: Disk, found: dict[str, object]) -> None:
        self.disk, self.root, self.found = disk, disk.root, found
        setup = CacheSetup(
            prices=lambda kind, provider, model, at: cache_prices(provider, kind, model, at),
            kind=lambda _provider: ProviderKind.ANTHROPIC,
            key_id=lambda _provider: "key",
            cost=lambda _provider, _model, _usage: 0.0,
            counted=dict,
        )
        self.keeper = CacheKeeper(disk, setup, lambda: START)
        self.assembler = Assembler(
            FakeCounter(),
            lambda _path, _text: (),
            lambda *_: ModelPrice(input_usd=1_000.0, output_usd=0.0),
            lambda: START,
            self.keeper,
            recall=lambda _question: Recalled(text=str(found["retrieved"])),
            tools=lambda _offer: found["tools"],  # type: ignore[arg-type,return-value]
            knowledge=lambda _spec, _items: tuple(  # type: ignore[arg-type,return-value]
                found[name] for name in ("digest", "domain_facts", "notes", "withdrawals")
            ),
        )
        if found["a.py"] is None:
            (self.root / "a.py").unlink(missing_ok=True)
        else:
            (self.root / "a.py").write_text(str(found["a.py"]), encoding="utf-8")

    def send(self, message_id: str, words: str, *turns: Message) -> BuiltCall:
        """The request of a turn, or of its round where there are no words; what the log needs of it is in the log."""
        number = next(NUMBERS)
        opened = fold(META, self.disk.records)
        given = {name: value for name, value in self.found.items() if name not in {"a.py", "tools", RECALLED}}
        inputs = replace(
            StackInputs(provider="anthropic", model=MODEL),
            turns=turns,
            user_text=words,
            **given,  # type: ignore[arg-type]
        )
        spec = StackSpec(
            META,
            inputs,
            Preset("core", (FileItem("a.py"),)),
            str(self.root),
            profile=PROFILE,
            recall=RecallSpec(AskedPlaces()) if words else None,
            tools=ToolOffer(),
            told=opened.told_turn,
        )
        call = CallToBuild(f"c{number}", f"q{number}", message_id, spec)
        built = self.assembler.build(call)
        self.keeper.ended(call.call_id, Usage())
        self.disk.lines.extend(map(encode, built.views))
        return built


def blocks(built: BuiltCall) -> list[object]:
    """All that a vendor reads before the next word, in its order."""
    request = built.request
    parts = ((m.role, p.text if isinstance(p, Segment) else p) for m in request.messages for p in m.parts)
    return [*request.tools, *(one.text for one in request.system), *parts]


@pytest.fixture
def home(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def told(home: Disk) -> list[ViewRecord]:
    return [one for one in home.views("") if one.kind == "turn"]


def test_whatever_is_otherwise_a_program_that_goes_on_with_a_turn_sends_every_byte_before_it(
    tmp_path: Path,
) -> None:
    seen = set()

    @settings(max_examples=12, deadline=None, database=None, phases=(Phase.generate,))
    @given(
        st.sets(st.sampled_from(sorted(CHANGES)), min_size=1), st.sampled_from([CALL, THOUGHT]), st.booleans()
    )
    def check(names: set[str], call: Message, has_gone_on: bool) -> None:
        seen.update(names)
        home = Disk(tmp_path / f"{next(NUMBERS)}")
        one = Program(home, BEGAN)
        first = one.send("m0", "look")
        turns: tuple[Message, ...] = (WORDS, call, RESULT)
        if has_gone_on:
            one.send("m0", "", *turns)
            turns = (*turns, AGAIN, MORE)
        found = BEGAN
        for name in sorted(names):
            found = {**found, **CHANGES[name]}
        other = Program(home, found)
        after = blocks(other.send("m0", "", *turns))
        before = blocks(one.send("m0", "", *turns))

        assert after == before
        assert after[: len(blocks(first))] == blocks(first)
        assert "A note on tides." in str(after)
        again = blocks(Program(home, found).send("m0", "", *turns, LAST, DONE))
        assert again[: len(after)] == after

    check()
    assert seen


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_what_is_otherwise_holds_from_the_next_message_on(home: Disk, name: str) -> None:
    """So none of the changes is one that no request shows, but a window's and a count's alone."""
    begun = Program(home, BEGAN)
    begun.send("m0", "look")
    found = {**BEGAN, **CHANGES[name]}
    turns = (WORDS, CALL, RESULT, said("m0c", Role.ASSISTANT, "so"))
    same = blocks(Program(home, BEGAN).send("m1", "and now?", *turns))
    other = blocks(Program(home, found).send("m1", "and now?", *turns))

    assert (other != same) or name == "another form"
    assert len(told(home)) == (2 if found_elsewhere(name) else 3)


def found_elsewhere(name: str) -> bool:
    return not set(CHANGES[name]) & set(TOLD)


def test_a_turn_is_told_once_and_what_it_shares_with_the_one_before_is_named(home: Disk) -> None:
    program = Program(home, BEGAN)
    program.send("m0", "look")
    program.send("m0", "", WORDS, CALL, RESULT)
    Program(home, BEGAN).send("m0", "", WORDS, CALL, RESULT)
    assert len(told(home)) == 1
    program.send("m1", "more", WORDS, CALL, RESULT, said("m0c", Role.ASSISTANT, "so"))
    one, two = told(home)

    assert (len(one.data_json) > 10_000, len(two.data_json) < 1000) == (True, True)
    assert "You know the tides" not in two.data_json


def test_a_turn_without_tools_is_not_told(home: Disk) -> None:
    Program(home, {**BEGAN, "tools": ()}).send("m0", "look")
    assert told(home) == []


def test_a_record_that_names_what_the_log_does_not_hold_tells_nothing() -> None:
    inputs = StackInputs(provider="p", role_text="You help. " * 50)
    one, two = (told_turn(name, replace(inputs, retrieved=name)) for name in ("m0", "m1"))
    record = turn_record("r", two, one, START)

    assert read_turn(record, one) == two
    assert read_turn(record, None) is None
    assert read_turn(record, told_turn("m0", StackInputs(role_text="Other. " * 50))) is None
    for data in ("", "[]", "{}", '{"message_id":"m","same":[],"told":{}}', '{"told":{"epoch":1},"same":{}}'):
        assert read_turn(replace(record, data_json=data), one) is None


def test_every_input_of_a_request_is_told_or_held_by_the_log() -> None:
    names = {field.name for field in fields(StackInputs)}
    assert set(TOLD) | IN_LOG | IN_VIEW == names
    assert set(TOLD) | IN_VIEW <= set(BEGAN) | {"provider", "model", "items", "keeps_retrieved"}
