"""Batches over OpenAI's SDK: uploads, two files of answers, and nothing left at the vendor."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.kernel.values.settings import ServerSettings
from core.services.providers.openai.client import OpenAiProvider
from core.services.spending.harvest_costs import harvest_payments
from tests.core.knowledge.harvest.batch_kit import Backlog, Crash
from tests.core.knowledge.harvest.harvests import NOW, add_discussion, item_lines, reply
from tests.vendors.openai_server import KEY, OpenAiServer, Said

MOON = "Tides follow the moon."


@pytest.fixture
def vendor() -> Iterator[OpenAiServer]:
    with OpenAiServer(clock=NOW.timestamp) as server:
        yield server


@pytest.fixture
def backlog(tmp_path: Path, vendor: OpenAiServer) -> Iterator[Backlog]:
    client = OpenAiProvider(ServerSettings("openai", "openai", "OpenAI", f"{vendor.url}/v1"), KEY)
    yield Backlog(tmp_path, client.batches(), "openai", "gpt-6.1-sol")
    client.close()


def says(*texts: str) -> list[Said]:
    return [Said(({"type": "message", "text": text},)) for text in texts]


def states(backlog: Backlog) -> list[str]:
    return [one.state.value for one in backlog.batches]


def test_a_batch_is_uploaded_collected_applied_and_its_files_are_deleted(
    backlog: Backlog, vendor: OpenAiServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    (asked,) = vendor.batches.requests()
    assert asked["body"]["text"]["format"]["type"] == "json_schema"
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(is_twice=True)

    report = backlog.run()

    assert (report.problems, states(backlog), vendor.batches.files) == ((), ["collected"], {})
    assert [one.usd for one in harvest_payments(backlog.home, NOW - timedelta(days=1)).values()] == [0.25]
    backlog.apply()
    assert len(item_lines(backlog.home)) == 1


def test_errors_come_from_their_own_file_and_are_submitted_again(
    backlog: Backlog, vendor: OpenAiServer
) -> None:
    for name in ("A", "B", "C", "D"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(fates=("errored", "batch_expired", "batch_cancelled"), status="expired")

    report = backlog.run()

    assert [len(one.items) for one in backlog.batches] == [4, 3]
    told = " ".join(report.problems)
    assert "1 request expired" in told
    assert "1 request cancelled" in told
    assert "The server had an error" in told


def test_a_crash_after_the_submission_is_adopted_at_once_while_it_works(
    backlog: Backlog, vendor: OpenAiServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    with pytest.raises(Crash):
        backlog.run(dies="after")

    backlog.run()

    assert (states(backlog), len(vendor.batches.batches)) == (["submitted"], 1)


def test_a_batch_that_fails_its_check_says_why_and_leaves_no_upload(
    backlog: Backlog, vendor: OpenAiServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.batches.fail("Enqueued token limit reached")

    report = backlog.run()

    assert states(backlog) == ["cancelled"]
    assert "Enqueued token limit reached" in report.problems[0]
    assert (vendor.batches.files, backlog.open_usd) == ({}, {})
    backlog.run()
    assert states(backlog) == ["cancelled", "submitted"]


def test_a_torn_file_of_answers_is_read_again_and_nothing_is_deleted(
    backlog: Backlog, vendor: OpenAiServer
) -> None:
    for name in ("A", "B"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON), reply(MOON)))
    vendor.batches.finish()
    vendor.batches.bytes_lost = 40
    backlog.run()
    assert (states(backlog), len(vendor.batches.batches)) == (["ended"], 1)
    assert len(vendor.batches.files) == 2
    vendor.batches.bytes_lost = 0

    backlog.run()

    assert (states(backlog), len(vendor.batches.batches), vendor.batches.files) == (["collected"], 1, {})
    paid = harvest_payments(backlog.home, NOW - timedelta(days=1)).values()
    assert [one.usd for one in paid] == [0.25, 0.25]


def test_a_batch_that_is_never_said_to_have_ended_is_given_up_and_its_upload_deleted(
    backlog: Backlog, vendor: OpenAiServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    backlog.now += timedelta(hours=49)

    report = backlog.run()

    assert (states(backlog), vendor.batches.files) == (["expired"], {})
    assert "the provider's limit of 24 hours is over, but the batch has not ended" in report.problems[0]
