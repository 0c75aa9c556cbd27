"""Batches over Gemini's SDK, inline: named by their display name, deleted once they are collected."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.kernel.values.settings import ServerSettings
from core.services.providers.gemini.client import GeminiProvider
from core.services.spending.harvest_costs import harvest_payments
from tests.core.knowledge.harvest.batch_kit import Backlog, Crash
from tests.core.knowledge.harvest.harvests import NOW, add_discussion, item_lines, reply
from tests.vendors.gemini_server import KEY, GeminiServer, Said

MOON = "Tides follow the moon."


@pytest.fixture
def vendor() -> Iterator[GeminiServer]:
    with GeminiServer(clock=NOW.timestamp) as server:
        yield server


@pytest.fixture
def backlog(tmp_path: Path, vendor: GeminiServer) -> Iterator[Backlog]:
    client = GeminiProvider(ServerSettings("gemini", "gemini", "Gemini", vendor.url), KEY)
    yield Backlog(tmp_path, client.batches(), "gemini", "gemini-3.8-flash")
    client.close()


def says(*texts: str) -> list[Said]:
    return [Said(({"text": text},)) for text in texts]


def states(backlog: Backlog) -> list[str]:
    return [one.state.value for one in backlog.batches]


def test_a_batch_is_collected_applied_and_deleted(backlog: Backlog, vendor: GeminiServer) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    assert "generationConfig" in vendor.batches.last.requests[0]["request"]
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(is_twice=True)

    report = backlog.run()

    assert (report.problems, states(backlog), vendor.batches.batches) == ((), ["collected"], {})
    assert [one.usd for one in harvest_payments(backlog.home, NOW - timedelta(days=1)).values()] == [0.25]
    backlog.apply()
    assert len(item_lines(backlog.home)) == 1


def test_what_failed_is_submitted_again_alone(backlog: Backlog, vendor: GeminiServer) -> None:
    for name in ("A", "B"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(fates=("errored",))

    report = backlog.run()

    assert [len(one.items) for one in backlog.batches] == [2, 1]
    assert "An internal error has occurred" in " ".join(report.problems)


@pytest.mark.filterwarnings("ignore:BATCH_STATE_PARTIALLY_SUCCEEDED is not a valid JobState:UserWarning")
@pytest.mark.parametrize("prefix", ["BATCH_STATE_", "JOB_STATE_"])
def test_a_batch_that_succeeded_in_part_has_ended(
    backlog: Backlog, vendor: GeminiServer, prefix: str
) -> None:
    for name in ("A", "B"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(fates=("errored",))
    vendor.batches.last.state = f"{prefix}PARTIALLY_SUCCEEDED"

    backlog.run()

    assert (states(backlog), len(backlog.batches[0].taken)) == (["collected", "submitted"], 1)


def test_what_a_batch_has_answered_by_the_end_of_its_time_is_kept(
    backlog: Backlog, vendor: GeminiServer
) -> None:
    for name in ("A", "B"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(fates=("errored",))
    vendor.batches.last.state = "BATCH_STATE_RUNNING"
    backlog.now += timedelta(hours=73)

    report = backlog.run()

    assert "limit of 48 hours is over" in report.problems[0]
    assert (states(backlog), len(backlog.batches[0].taken)) == (["collected"], 1)
    assert vendor.batches.batches == {}, "nothing of it is left there"


def test_an_expired_batch_is_called_so_and_another_follows(backlog: Backlog, vendor: GeminiServer) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.batches.finish(state="EXPIRED")

    backlog.run()

    assert states(backlog) == ["expired", "submitted"]


def test_a_crash_after_the_submission_is_adopted_at_once(backlog: Backlog, vendor: GeminiServer) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    with pytest.raises(Crash):
        backlog.run(dies="after")

    backlog.run()

    assert (states(backlog), vendor.batches.made) == (["submitted"], 1)


def test_a_batch_that_vanished_is_said(backlog: Backlog, vendor: GeminiServer) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.batches.batches.clear()

    report = backlog.run()

    assert states(backlog) == ["vanished"]
    assert "no longer knows the batch" in report.problems[0]


def test_answers_that_are_missing_are_read_again_and_the_batch_stays(
    backlog: Backlog, vendor: GeminiServer
) -> None:
    for name in ("A", "B"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON), reply(MOON)))
    vendor.batches.finish()
    vendor.batches.rows_lost = 1
    backlog.run()
    assert (states(backlog), vendor.batches.made, len(vendor.batches.batches)) == (["ended"], 1, 1)
    vendor.batches.rows_lost = 0

    backlog.run()

    assert (states(backlog), vendor.batches.made, vendor.batches.batches) == (["collected"], 1, {})
