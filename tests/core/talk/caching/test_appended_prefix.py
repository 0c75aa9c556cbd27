"""The byte contract where changes are appended: what goes out is compared, and every change of it has its reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app import home as store_home
from core.kernel.values.curation import FileItem, NamedText, Preset
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderKind
from core.kernel.values.records import RequestRecord
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import ContextChange, DiscussionMetadata, LayerId, StackInputs
from core.kernel.values.usage import Usage
from core.talk.caching.cache_file import HomeCacheStore
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.offers import CacheSetup, cache_prices
from core.talk.context.assembly import Assembler, BuiltCall
from core.talk.context.difference import FOLDED
from core.talk.discussion import discussion_store, log

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODEL = "claude-opus-5"
META = DiscussionMeta("20261120-120000-abcdef", "Sky", START, "anthropic", MODEL)


class NoCounter:
    """Counts nothing: sizes are estimated."""

    def known(self) -> Mapping[str, int]:
        return {}

    def count(self, texts: Mapping[str, str]) -> None:
        pass


class World:
    """A discussion whose calls an assembler builds through a keeper; knowledge, files and the clock are a test's."""

    def __init__(self, base: Path) -> None:
        self.now, self.home, self.root = START, base / "home", base / "project"
        self.root.mkdir()
        store_home.open_home(self.home, START)
        discussion_store.create(self.home, META)
        (self.root / "long.py").write_text("height = 1\n" * 4000, encoding="utf-8")
        (self.root / "a.py").write_text("x = 1\n", encoding="utf-8")
        self.known: tuple[str, str, tuple[NamedText, ...], int] = ("DIGEST-ONE\n", "", (), 0)
        self.project = (NamedText("AGENTS.md", "Check units.\n"),)
        self.role = "You help."
        self.turns: tuple[Message, ...] = ()
        self.record: RequestRecord | None = None
        self.count = 0
        self.start()

    def start(self) -> None:
        setup = CacheSetup(
            prices=lambda kind, provider, model, at: cache_prices(provider, kind, model, at),
            kind=lambda _provider: ProviderKind.ANTHROPIC,
            key_id=lambda _provider: "key",
            cost=lambda _provider, _model, _usage: None,
            counted=dict,
        )
        self.keeper = CacheKeeper(HomeCacheStore(self.home), setup, lambda: self.now)
        self.assembler = Assembler(
            NoCounter(),
            lambda _path, _text: (),
            lambda *_: ModelPrice(input_usd=1.0, output_usd=0.0),
            lambda: self.now,
            self.keeper,
            lambda _s, _i: self.known,
        )

    def spec(self) -> StackSpec:
        inputs = StackInputs(
            provider="anthropic",
            model=MODEL,
            role_text=self.role,
            project=self.project,
            preset_name="core",
            metadata=DiscussionMetadata("Sky", (), self.count),
            turns=self.turns,
            user_text=f"words {self.count}",
        )
        return StackSpec(
            META.id,
            inputs,
            Preset("core", (FileItem("long.py"), FileItem("a.py"))),
            str(self.root),
            previous=self.record,
            profile=ModelProfile("anthropic", MODEL, context_tokens=200_000, family="claude"),
        )

    def turn(self) -> BuiltCall:
        """Build a call, let it be answered as planned, and go on a minute."""
        self.count += 1
        message_id = f"u{self.count}"
        call = CallToBuild(f"c{self.count}", f"q{self.count}", message_id, self.spec())
        built = self.assembler.build(call)
        log.append(self.home, META.id, built.views)
        plan = built.request.cache
        assert plan is not None
        total = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
        usage = Usage(
            input_tokens=total, cache_read_tokens=plan.read_tokens, cache_write_tokens=plan.write_tokens
        )
        self.keeper.ended(call.call_id, usage)
        said = (TextPart(f"words {self.count}"),)
        self.turns = (
            *self.turns,
            Message(message_id, self.now, Role.USER, said),
            Message(f"r{self.count}", self.now, Role.ASSISTANT, (TextPart("Soon. " * 500),)),
        )
        self.record = built.record
        self.now += timedelta(minutes=1)
        return built

    def change(self) -> ContextChange:
        """What the Context view says of the next request."""
        self.count += 1
        assembly = self.assembler.assemble(self.spec())
        found = self.assembler.report(assembly, self.assembler.plan(assembly)).change
        self.count -= 1
        assert found is not None
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def prefix(built: BuiltCall) -> str:
    return "".join(segment.text for segment in built.request.system)


def test_an_appended_change_is_no_change_of_the_prefix(world: World) -> None:
    first = world.turn()
    world.known = ("DIGEST-TWO\n", "", (), 0)
    world.project = (NamedText("AGENTS.md", "Count twice.\n"),)
    built = world.turn()

    assert prefix(built) == prefix(first)
    assert (built.record.prefix_reason, built.warning) == ("", "")


def test_the_context_view_does_not_call_it_rewritten(world: World) -> None:
    world.turn()
    unchanged = world.change()
    world.known = ("DIGEST-TWO\n", "", (), 0)
    (world.root / "a.py").write_text("x = 2\n", encoding="utf-8")
    found = world.change()

    assert unchanged.layer is None
    assert found.layer is None
    assert found.same_tokens_est == unchanged.same_tokens_est
    more = found.rewritten_tokens_est - unchanged.rewritten_tokens_est
    assert 0 < more < 300


def test_folding_in_has_its_reason(world: World) -> None:
    world.turn()
    world.known = ("DIGEST-TWO\n", "", (), 0)
    world.turn()
    world.now += timedelta(days=3)
    found, built = world.change(), world.turn()

    assert "DIGEST-TWO" in prefix(built)
    assert (built.record.prefix_reason, built.warning) == (FOLDED, "")
    assert (found.layer, found.reason) == (LayerId.KNOWLEDGE, FOLDED)


def test_a_deletion_has_its_reason_and_is_shown_before(world: World) -> None:
    world.turn()
    world.known = ("DIGEST-TWO\n", "", (), 2)
    found, built = world.change(), world.turn()

    assert found.layer is LayerId.KNOWLEDGE
    assert (built.record.prefix_reason, built.warning) == ("digest regenerated", "")
    world.known = ("", "", (), 2)
    assert world.turn().record.prefix_reason == "knowledge switched off"


def test_after_a_restart_an_appended_change_is_none_and_a_rewrite_is_explained(world: World) -> None:
    world.turn()
    world.known = ("DIGEST-TWO\n", "", (), 0)
    world.start()
    built = world.turn()
    world.start()
    world.known = ("DIGEST-THREE\n", "", (), 2)
    rewritten = world.turn()

    assert (built.record.prefix_reason, built.warning) == ("", "")
    assert rewritten.record.prefix_reason
    assert rewritten.warning == ""


def test_a_change_before_layer_6_that_nothing_explains_is_still_warned_of(world: World) -> None:
    world.turn()
    assert world.record is not None
    layers = tuple(
        replace(layer, sha256="0" * 64) if layer.layer is LayerId.ROLE else layer
        for layer in world.record.layers
    )
    world.record = replace(world.record, layers=layers)
    assert "nothing explains it" in world.turn().warning


@pytest.mark.parametrize(
    "now", [b"", b"\xff\xfe\x00\x01" * 10, None], ids=["emptied", "became binary", "vanished"]
)
def test_a_file_that_is_emptied_becomes_binary_or_vanishes_is_told_and_the_rest_stays(
    world: World, now: bytes | None
) -> None:
    first = world.turn()
    path = world.root / "a.py"
    for number in range(3):
        path.write_text(f"x = {number + 2}\n", encoding="utf-8")
        world.assembler.assemble(world.spec())
    if now is None:
        path.unlink()
    else:
        path.write_bytes(now)
    built = world.turn()
    path.write_bytes(b"x = 9\n")
    again = world.turn()

    assert prefix(built) == prefix(again) == prefix(first)
    assert built.warning == again.warning == ""
    last = "".join(getattr(part, "text", "") for part in built.request.messages[-1].parts)
    assert "context-update" in last
    assert "x = 4" not in last
    assert "x = 9" in "".join(getattr(part, "text", "") for part in again.request.messages[-1].parts)
    for one in (built, again):
        assert one.request.cache is not None
        assert one.request.cache.read_tokens > 10_000
