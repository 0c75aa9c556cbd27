"""A warm cache on the command line: a change says its price first, and `why` tells what was and will be paid again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.core.front.cli.conftest import Ended, World
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.compatible_server import CompatibleServer
from tests.vendors.loopback import Answer
from tests.vendors.openai_server import KEY as OPENAI_KEY
from tests.vendors.openai_server import OpenAiServer

WORDS = "Some of what was said, in order, at length. " * 1300


class PaidWorld(World):
    """The same, with a vendor that bills and caches."""

    def __init__(self, base: Path, vendor: AnthropicServer | OpenAiServer, server: CompatibleServer) -> None:
        super().__init__(base, server)
        self.vendor = vendor
        self.config.write_text(
            f'[providers.anthropic]\nbase_url = "{vendor.url}"\n'
            '[ai_settings]\nprovider = "anthropic"\nmodel = "claude-opus-5-5"\n',
            encoding="utf-8",
        )

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "ANTHROPIC_API_KEY": KEY}


@pytest.fixture
def paid(tmp_path: Path) -> Iterator[PaidWorld]:
    with CompatibleServer() as server, AnthropicServer() as vendor:
        yield PaidWorld(tmp_path, vendor, server)


@pytest.fixture
def warm(paid: PaidWorld) -> PaidWorld:
    """A discussion of some 17,000 tokens that the vendor holds."""
    assert paid.run("send", given=WORDS.encode()).code == 0
    return paid


def again(world: PaidWorld, *options: str, answer: str = "") -> Ended:
    words = ("send", "--discussion", "last", *options, "And now?")
    return world.run(*words, types=True, given=answer.encode()) if answer else world.run(*words)


def efforts(world: PaidWorld) -> list[str]:
    return [body.get("output_config", {}).get("effort", "") for body in world.vendor.bodies]


@pytest.mark.parametrize(
    "option", [("--model", "claude-sonnet-5-5"), ("--provider", "openai", "--model", "gpt-6.1-sol")]
)
def test_a_change_of_a_warm_discussion_asks_with_its_price_and_a_no_changes_and_sends_nothing(
    warm: PaidWorld, option: tuple[str, ...]
) -> None:
    before = warm.run("discussions", "--json").json
    ended = again(warm, *option, answer="n\n")

    assert ended.code == 1
    assert "leaves them unused: sending them again costs about $0." in ended.err
    assert "The program changed nothing and sent nothing" in ended.err
    assert len(warm.vendor.bodies) == 1
    assert warm.run("discussions", "--json").json == before


def test_a_yes_changes_it_and_sends(warm: PaidWorld) -> None:
    ended = again(warm, "--model", "claude-sonnet-5-5", answer="y\n")

    assert ended.code == 0, ended.err
    assert len(warm.vendor.bodies) == 2


def test_a_script_is_told_the_price_and_not_asked(warm: PaidWorld) -> None:
    ended = again(warm, "--model", "claude-sonnet-5-5")

    assert ended.code == 0, ended.err
    assert "manual-slop: Anthropic caches" in ended.err
    assert "Changing the model leaves them unused" in ended.err


def test_what_costs_nothing_is_not_asked_about(paid: PaidWorld) -> None:
    assert paid.run("send", "Hello.").code == 0
    ended = again(paid, "--effort", "low", answer="n\n")
    assert ended.code == 0, ended.err


def test_why_tells_the_break_with_its_layer_byte_tokens_and_price_and_what_comes(warm: PaidWorld) -> None:
    assert "Every request in this log began with the whole request before it." in warm.run("why", "last").out
    assert again(warm, "--effort", "low").code == 0
    warm.run("send", "--discussion", "last", "--model", "claude-sonnet-5-5", "Once more")

    told = warm.run("why", "last")
    assert told.code == 0, told.err
    assert "The next message sends" in told.out
    data = warm.run("why", "--json").json
    assert set(data) == {"discussion", "breaks", "missed", "coming", "next", "reasons"}
    assert data["next"]["read_tokens_est"] > 10_000
    (broken,) = data["breaks"]
    assert broken["model"] == "claude-sonnet-5-5"
    assert (
        "Layer 1 (Role instructions) differs at byte 0: the model changed. You pay again for"
        in broken["text"]
    )
    assert " tokens, est. $0." in broken["text"]
    assert broken["text"] in told.out


def test_why_asks_for_a_discussion_that_is_there(paid: PaidWorld) -> None:
    assert paid.run("why").code == 2


class GptWorld(PaidWorld):
    """The same at OpenAI."""

    def __init__(self, base: Path, vendor: OpenAiServer, server: CompatibleServer) -> None:
        World.__init__(self, base, server)
        self.vendor = vendor
        self.config.write_text(
            f'[providers.openai]\nbase_url = "{vendor.url}/v1"\n'
            '[ai_settings]\nprovider = "openai"\nmodel = "gpt-6.1-sol"\n',
            encoding="utf-8",
        )

    @property
    def environ(self) -> dict[str, str]:
        return {**World.environ.fget(self), "OPENAI_API_KEY": OPENAI_KEY}  # type: ignore[attr-defined]


def makes_claude(base: Path, server: CompatibleServer) -> PaidWorld:
    return PaidWorld(base, AnthropicServer(), server)


def makes_gpt(base: Path, server: CompatibleServer) -> PaidWorld:
    return GptWorld(base, OpenAiServer(), server)


@pytest.fixture(params=[makes_claude, makes_gpt])
def switching(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PaidWorld]:
    with CompatibleServer() as server:
        made = request.param(tmp_path, server)
        rows = (f'[personas.{name}]\ntext = "You are {name}."\n' for name in ("pat", "kim"))
        (made.project / "manual_slop.toml").write_text("".join(rows), encoding="utf-8")
        with made.vendor:
            assert made.run("send", "--trust", given=WORDS.encode()).code == 0
            yield made


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        (("--effort", "low"),),
        (("--tools",),),
        (("--tools",), ("--no-tools",)),
        (("--persona", "pat"), ("--persona", "kim", "--effort", "low"), ("--persona", "")),
        (("--tools",), (), ("--effort", "low", "--no-tools"), ("--tools", "--effort", "max")),
    ],
)
def test_tools_effort_and_persona_of_a_warm_discussion_are_added_to_it_and_all_that_was_sent_is_read(
    switching: PaidWorld, changes: tuple[tuple[str, ...], ...]
) -> None:
    for options in (*changes, ()):
        ended = again(switching, *options, answer="n\n")  # nothing is asked, for nothing is lost
        assert ended.code == 0, ended.err
        assert "cached" in ended.err
    sent = [told(body) for body in switching.vendor.bodies]
    for before, after in pairwise(sent):
        shared = next(
            (n for n, (one, two) in enumerate(zip(before, after, strict=False)) if one != two), len(before)
        )
        assert shared >= len(before) - 2  # layer 8 goes, with the message that it stands in
    assert why_is_clean(switching)


def why_is_clean(world: PaidWorld) -> bool:
    return "Every request in this log began with the whole request before it." in world.run("why").out


def told(body: dict[str, Any]) -> list[str]:
    """What a body says, tools first, in the order of the wire."""
    said = body.get("messages") or body["input"]
    parts = [body.get("tools"), body.get("system"), body.get("output_config"), body.get("reasoning")]
    return [json.dumps(_unmarked(part), sort_keys=True) for part in (*parts, *said)]


def _unmarked(part: Any) -> Any:
    if isinstance(part, list):
        return [_unmarked(one) for one in part]
    if isinstance(part, dict):
        return {
            k: _unmarked(v) for k, v in part.items() if k not in {"cache_control", "prompt_cache_breakpoint"}
        }
    return part


def test_a_vendor_that_refuses_such_an_addition_gets_the_canonical_form_and_is_not_asked_again(
    warm: PaidWorld,
) -> None:
    refusal = warm.vendor.error(
        400, "invalid_request_error", "messages.3.output_config: Extra inputs are not permitted"
    )
    warm.vendor.faults.append(Answer(refusal))
    ended = again(warm, "--effort", "low")

    assert ended.code == 0, ended.err
    assert efforts(warm)[-1] == "low"
    assert all(message["role"] != "system" for message in warm.vendor.bodies[-1]["messages"])


def test_an_effort_that_no_addition_can_say_says_its_price(warm: PaidWorld) -> None:
    assert again(warm, "--effort", "low").code == 0
    ended = again(warm, "--effort", "auto")
    assert "Changing the effort level leaves them unused: sending them again costs about $0." in ended.err
