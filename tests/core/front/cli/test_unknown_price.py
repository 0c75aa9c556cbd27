"""A day's limit and a model whose price nobody knows, from a shell: asked, priced by hand, and by newer prices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.kernel import paths
from core.services.spending.price_files import URL_VARIABLE
from tests.core.front.cli.conftest import World
from tests.core.services.spending.test_own_prices import PriceServer
from tests.vendors.compatible_server import MODEL, Said
from tests.vendors.loopback import json_reply

SENTENCE = f"The price of {MODEL!r} is unknown, so the program cannot enforce the limit of $0.001 for today"


@pytest.fixture(autouse=True)
def _limit(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setattr(paths, "config_dir", lambda: folder)
    text = world.config.read_text("utf-8")
    world.config.write_text(f"{text}[ai_settings.caching]\nday_limit_usd = 0.001\n", encoding="utf-8")


def test_without_a_terminal_it_is_refused_each_time_and_a_flag_sends_it(world: World) -> None:
    for _ in range(2):
        ended = world.run("send", "x")
        assert ended.code == 1
        assert SENTENCE in ended.err
        assert "Send the message with --over-limit. Give the price in your models.toml" in ended.err
        assert "manual-slop models --update-prices" in ended.err
    assert world.server.bodies == []
    assert not list((world.home / "discussions").glob("*/log.jsonl")), "nothing is left of it"

    assert world.run("send", "x", "--over-limit").code == 0
    assert len(world.server.bodies) == 1
    assert world.run("send", "again", "--discussion", "last").code == 1, "one yes holds for one call"
    assert len(world.server.bodies) == 1


@pytest.mark.parametrize(("typed", "calls"), [(b"y\n", 1), (b"n\n", 0), (b"\n", 0)])
def test_on_a_terminal_it_asks(world: World, typed: bytes, calls: int) -> None:
    ended = world.run("send", "x", given=typed, types=True)

    assert f"{SENTENCE}. Send anyway? [y/N]" in ended.err
    assert (len(world.server.bodies), ended.code == 0) == (calls, bool(calls)), ended.err


def _calls_a_tool(world: World) -> None:
    (world.project / "a.md").write_text("It turns at nine.", encoding="utf-8")
    asks = Said("I look.", calls=(("read_file", '{"path":"a.md"}'),), finish="tool_calls")
    world.server.replies += [asks, Said("At nine.")]


def test_a_flag_is_a_yes_to_every_request_of_the_turn(world: World) -> None:
    _calls_a_tool(world)
    ended = world.run("send", "--trust", "--tools", "--over-limit", "When?")

    assert (ended.code, ended.out, len(world.server.bodies)) == (0, "I look.\n\nAt nine.\n", 2), ended.err


@pytest.mark.parametrize("as_json", [False, True])
def test_a_turn_that_ends_at_the_limit_between_two_requests_is_not_whole(world: World, as_json: bool) -> None:
    """It ended without a word and with 0, as if the model had answered."""
    _calls_a_tool(world)
    options = ("--json",) if as_json else ()
    ended = world.run("send", "--trust", "--tools", *options, "When?", given=b"y\nn\n", types=True)

    assert (ended.code, len(world.server.bodies)) == (1, 1)
    if as_json:
        assert (ended.json["failure"]["kind"], "is unknown" in ended.json["failure"]["what"]) == (
            "spend_limit",
            True,
        )
    command = ended.err.rpartition("Go on with `manual-slop ")[2].partition("`")[0].split()
    assert world.run(*command).code == 0
    assert world.server.bodies[1]["messages"][-1]["role"] == "tool"


def _gives_a_task_away(world: World) -> None:
    asks = Said("I give it away.", calls=(("delegate", '{"task":"Find the hour."}'),), finish="tool_calls")
    world.server.replies += [asks, Said("At nine."), Said("It turns at nine.")]


def test_each_request_of_a_task_is_asked_about_on_a_terminal(world: World) -> None:
    _gives_a_task_away(world)
    ended = world.run("send", "--trust", "--tools", "When?", given=b"y\ny\ny\n", types=True)

    assert (ended.code, len(world.server.bodies)) == (0, 3), ended.err
    assert "A yes covers the next request of this task only" in ended.err
    assert "Find the hour." in str(world.server.bodies[1]["messages"])

    _gives_a_task_away(world)
    ended = world.run("send", "--trust", "--tools", "When?", given=b"y\nn\ny\n", types=True)
    assert (ended.code, len(world.server.bodies)) == (0, 5), ended.err
    assert "It was not let go on: The price of" in str(world.server.bodies[-1]["messages"][-1])


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_flag_is_a_yes_to_every_request_of_a_task_too(world: World, is_terminal: bool) -> None:
    """Without a terminal the task was refused although the person had said yes before."""
    _gives_a_task_away(world)
    ended = world.run("send", "--trust", "--tools", "--over-limit", "When?", types=is_terminal)

    assert (ended.code, len(world.server.bodies)) == (0, 3), ended.err
    assert "At nine." in str(world.server.bodies[-1]["messages"][-1])
    assert "Allow this?" not in ended.err


def test_a_price_by_hand_makes_the_limit_hold(world: World) -> None:
    lines = "input_usd = 1\noutput_usd = 1\nprices_as_of = 2026-11-28"
    paths.models_file().write_text(
        f'[[model]]\nprovider = "local"\nid = "{MODEL}"\n{lines}\n', encoding="utf-8"
    )
    assert world.run("send", "x" * 3_000).code == 0
    listed = world.run("models", "local").out
    assert "$1 input, $1 output, your models.toml, 2026-11-28" in listed
    codes = [world.run("send", "x" * 3_000).code for _ in range(4)]

    assert codes[-1] == 1
    assert "You have reached the limit of $0.001 for today" in world.run("send", "x" * 3_000).err
    assert len(world.server.bodies) == 1 + codes.count(0)


def test_a_wrong_price_is_said_with_its_place(world: World) -> None:
    paths.models_file().write_text(
        f'[[model]]\nprovider = "local"\nid = "{MODEL}"\ninput_usd = "dear"\n', encoding="utf-8"
    )
    ended = world.run("send", "x")

    assert "input_usd of model 'qwen3:8b' has the invalid value 'dear' (at line 4)" in ended.err
    assert str(paths.models_file()) in ended.err
    assert world.server.bodies == []


@pytest.fixture
def prices(monkeypatch: pytest.MonkeyPatch) -> Iterator[PriceServer]:
    with PriceServer() as made:
        monkeypatch.setenv(URL_VARIABLE, f"{made.url}/data.json")
        yield made


def test_newer_prices_are_taken_on_the_flag_alone_and_listed_with_their_date(
    world: World, prices: PriceServer
) -> None:
    rows = [
        {
            "id": name,
            "name": name,
            "api_pattern": "x",
            "models": [
                {"id": MODEL, "match": {"equals": MODEL}, "prices": {"input_mtok": 2, "output_mtok": 3}}
            ],
        }
        for name in ("anthropic", "google", "openai", "local")
    ]
    prices.given = json_reply(200, rows)
    assert "price unknown" in world.run("models", "local", "--refresh").out
    assert prices.bodies == [], "nobody has asked for it"

    ended = world.run("models", "local", "--refresh", "--update-prices", "--json")
    assert ended.code == 0
    assert "The program downloaded prices of 4 models of 4 providers" in ended.err
    (model,) = ended.json["local"]["models"]
    assert model["price"]["source"] == "updated prices"
    assert world.run("send", "x").code == 0, "its price is known, and stays within the limit"

    prices.given = json_reply(500, {})
    failed = world.run("models", "local", "--update-prices")
    assert failed.code == 1
    assert "The program could not download newer prices" in failed.err
