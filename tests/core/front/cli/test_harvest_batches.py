"""`harvest --batch`: submitted, collected by a later run, applied as any harvest; over the vendor's SDK."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.harvest import BatchState
from core.knowledge.harvest.batch_prompts import BatchFiles
from core.services.spending.harvest_costs import harvest_payments
from core.services.spending.shared_reserves import SharedReserves
from tests.core.front.cli.conftest import World
from tests.core.knowledge.harvest.harvests import add_discussion, item_lines, reply
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.compatible_server import VLLM, CompatibleServer

MOON, SUN = "Tides follow the moon.", "The sun helps."
MODEL = "claude-haiku-4-5"


@pytest.fixture
def vendor() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def far(tmp_path: Path, vendor: AnthropicServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with CompatibleServer(VLLM) as local:
        world = World(tmp_path, local)
        world.config.write_text(
            f'[providers.anthropic]\nbase_url = "{vendor.url}"\n'
            f'[ai_settings]\nprovider = "anthropic"\nmodel = "{MODEL}"\n',
            encoding="utf-8",
        )
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        yield world


def says(*facts: str) -> Said:
    return Said(({"type": "text", "text": reply(*facts)},))


def test_a_batch_is_submitted_then_collected_by_another_run_and_applied(
    far: World, vendor: AnthropicServer
) -> None:
    chosen = add_discussion(far.home, "Tides", "Why?", "The moon.")

    sent = far.run("harvest", "--apply", "--batch")

    assert sent.code == 0, sent.err
    assert "in a batch: <$0.01, directly: <$0.01" in sent.out
    assert f"batch {vendor.batches.last.id}: submitted, 1 request, anthropic {MODEL}" in sent.out
    assert paths.discussion_dir(far.home, chosen).exists(), (
        "nothing is reclaimed before its reply has arrived"
    )
    again = far.run("harvest", "--apply", "--batch")
    assert (again.code, vendor.batches.made) == (0, 1), "what waits is not submitted twice"

    vendor.replies.append(says(MOON))
    vendor.batches.finish()
    ended = far.run("harvest", "--apply", "--batch")

    assert ended.code == 0, ended.err
    assert f"  facts: {MOON}\n" in ended.err
    assert len(item_lines(far.home)) == 1
    assert not paths.discussion_dir(far.home, chosen).exists()
    assert ": collected, 1 request, 1 reply kept, " in ended.out
    assert vendor.batches.deleted == ["msgbatch_00000001"]
    (one,) = BatchFiles(far.home).batches()
    assert (one.state, one.is_cleaned) == (BatchState.COLLECTED, True)
    (paid,) = harvest_payments(far.home, datetime.now(UTC) - timedelta(days=1)).values()
    assert 0 < paid.usd < 0.01


def test_what_waits_in_a_batch_is_not_read_besides_and_the_batch_can_be_stopped(
    far: World, vendor: AnthropicServer
) -> None:
    add_discussion(far.home, "Tides", "Why?", "The moon.")
    assert far.run("harvest", "cancel").out == "No batch is open.\n"
    far.run("harvest", "--apply", "--batch")
    asked = len([one for one in vendor.requests if one.path == "/v1/messages"])
    besides = far.run("harvest", "--apply")

    assert (besides.code, "1 conversation is in a batch" in besides.err) == (0, True)
    assert len([one for one in vendor.requests if one.path == "/v1/messages"]) == asked
    assert far.run("harvest", "cancel", "other").code == 2
    stopping = far.run("harvest", "cancel")
    assert (stopping.code, ": cancelling, 1 request" in stopping.out) == (1, True), stopping.err
    vendor.batches.finish()
    stopped = far.run("harvest", "cancel", "--json")

    assert (stopped.code, stopped.json["batch"]["batches"][0]["state"]) == (0, "cancelled")
    assert vendor.batches.batches == {}


def test_the_built_in_model_has_no_batches_and_that_is_said(world: World) -> None:
    ended = world.run("harvest", "--apply", "--batch", "--provider", "embedded")

    assert ended.code == 2
    assert "The built-in model offers no batches" in ended.err


def test_a_server_without_a_batch_service_submits_nothing(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")

    ended = world.run("harvest", "--apply", "--batch")

    assert (ended.code, world.server.bodies) == (1, [])
    assert "offers no batches" in ended.out


def test_a_batch_past_the_days_limit_asks_and_goes_after_a_yes(far: World, vendor: AnthropicServer) -> None:
    far.config.write_text(
        far.config.read_text(encoding="utf-8") + "[ai_settings.caching]\nday_limit_usd = 0.0001\n",
        encoding="utf-8",
    )
    add_discussion(far.home, "Tides", "Why?", "The moon.")

    silent = far.run("harvest", "--apply", "--batch")
    assert (silent.code, vendor.batches.made) == (1, 0)
    assert "not submitted: This batch may cost" in silent.out
    no = far.run("harvest", "--apply", "--batch", given=b"n\n", types=True)
    assert (no.code, vendor.batches.made) == (1, 0)
    assert "Send the batch anyway? [y/N]" in no.err

    yes = far.run("harvest", "--apply", "--batch", given=b"y\n", types=True)

    assert (yes.code, vendor.batches.made) == (0, 1), yes.err


def test_a_batch_of_a_price_that_nobody_knows_is_held_by_a_limit_alone(
    far: World, vendor: AnthropicServer
) -> None:
    add_discussion(far.home, "Tides", "Why?", "The moon.")
    far.config.write_text(
        far.config.read_text(encoding="utf-8").replace(MODEL, "claude-haiku-9-9")
        + "[ai_settings.caching]\nday_limit_usd = 5.0\n",
        encoding="utf-8",
    )

    held = far.run("harvest", "--apply", "--batch")
    sent = far.run("harvest", "--apply", "--batch", "--over-limit")

    assert (held.code, "not submitted: The price of 'claude-haiku-9-9' is unknown" in held.out) == (1, True)
    assert (sent.code, vendor.batches.made) == (0, 1)
    assert "reserved" not in sent.out


def test_a_reply_of_a_batch_that_was_cut_off_is_paid_and_asked_for_once_more(
    far: World, vendor: AnthropicServer
) -> None:
    chosen = add_discussion(far.home, "Tides", "Why?", "The moon.")
    far.run("harvest", "--apply", "--batch")
    whole = says(MOON).blocks[0]["text"]
    vendor.replies.append(Said(({"type": "text", "text": whole[:20]},), stop_reason="max_tokens"))
    vendor.batches.finish()
    cut = far.run("harvest", "--apply", "--batch")
    assert (cut.code, vendor.batches.made, item_lines(far.home)) == (0, 2, [])
    assert paths.discussion_dir(far.home, chosen).exists()

    vendor.replies.append(says(MOON))
    vendor.batches.finish()
    ended = far.run("harvest", "--apply", "--batch")

    assert (ended.code, len(item_lines(far.home))) == (0, 1)
    paid = harvest_payments(far.home, datetime.now(UTC) - timedelta(days=1))
    assert len(paid) == 2, "both replies are in the books"


def test_an_open_batch_counts_as_under_way_for_every_other_call(far: World, vendor: AnthropicServer) -> None:
    add_discussion(far.home, "Tides", "Why?", "The moon.")
    far.run("harvest", "--apply", "--batch")
    (open_one,) = BatchFiles(far.home).batches()
    reserves = SharedReserves(far.home, lambda: datetime.now(UTC))

    assert reserves.claim("a call", 0.0).reserved_usd == open_one.estimate_usd
    vendor.batches.finish()
    far.run("harvest", "--apply", "--batch")
    still = sum(one.estimate_usd or 0.0 for one in BatchFiles(far.home).batches() if one.is_open)
    assert reserves.claim("a call", 0.0).reserved_usd == still
    reserves.close()


def test_as_json_it_tells_both_prices_and_the_state_of_each_batch(far: World) -> None:
    add_discussion(far.home, "Tides", "Why?", "The moon.")
    far.run("harvest", "--apply", "--batch")

    told = far.run("harvest", "--batch", "--json").json["batch"]

    assert told["batch_cost_usd_est"] == pytest.approx(told["direct_cost_usd_est"] / 2)
    assert [one["state"] for one in told["batches"]] == ["submitted"]
