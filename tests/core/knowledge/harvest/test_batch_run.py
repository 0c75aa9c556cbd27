"""Batches over the vendor's SDK: partial failures, expiry, crashes at every point, and never paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.harvest import BatchState
from core.kernel.values.knowledge import Category, NewItem
from core.kernel.values.settings import ServerSettings
from core.knowledge.edits import add_item
from core.knowledge.evidence_rows import short_name
from core.knowledge.harvest.replies import kept_conversations
from core.knowledge.knowledge_reader import regenerate_digest
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.spending.harvest_costs import harvest_payments
from tests.core.knowledge.harvest.batch_kit import Backlog, Crash
from tests.core.knowledge.harvest.harvests import NOW, add_discussion, go_on, item_lines, reply
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said

MOON, SUN = "Tides follow the moon.", "The sun helps."
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.fixture
def vendor() -> Iterator[AnthropicServer]:
    with AnthropicServer(clock=NOW.timestamp) as server:
        yield server


@pytest.fixture
def backlog(tmp_path: Path, vendor: AnthropicServer) -> Iterator[Backlog]:
    client = AnthropicProvider(ServerSettings("anthropic", "anthropic", "Anthropic", vendor.url), KEY)
    yield Backlog(tmp_path, client.batches(), "anthropic", "claude-haiku-4-5")
    client.close()


def says(*texts: str) -> list[Said]:
    return [Said(({"type": "text", "text": text},)) for text in texts]


def paid(backlog: Backlog) -> list[float]:
    return [one.usd for one in harvest_payments(backlog.home, NOW - DAY).values()]


def states(backlog: Backlog) -> list[str]:
    return [one.state.value for one in backlog.batches]


def test_results_out_of_order_and_twice_find_their_conversations_and_are_paid_once(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    for name in ("Tides", "Sun"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    asked = [one["params"]["messages"][0]["content"][0]["text"] for one in vendor.batches.last.requests]
    vendor.replies.extend(says(*(reply(MOON if "Why Tides?" in text else SUN) for text in asked), "x", "x"))
    vendor.batches.finish(is_twice=True)

    report = backlog.run()

    assert (report.problems, states(backlog)) == ((), ["collected"])
    assert paid(backlog) == [0.25, 0.25], "half the price, once each"
    assert backlog.apply().failures == ()
    lines = item_lines(backlog.home)
    assert any(MOON in line and "tides" in line for line in lines)
    assert any(SUN in line and "10-01-sun" in line for line in lines)
    assert len(lines) == 2


def test_a_reply_counts_before_an_error_row_of_the_same_request(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(fates=["errored"], is_twice=True)

    report = backlog.run()

    assert (report.problems, states(backlog)) == ((), ["collected"])
    assert (paid(backlog), vendor.batches.made) == ([0.25], 1)
    assert backlog.apply().failures == ()
    assert any(MOON in line for line in item_lines(backlog.home))


@pytest.mark.parametrize("loss", ["rows_lost", "bytes_lost"])
def test_results_that_come_short_are_read_again_and_nothing_is_deleted_or_paid_twice(
    backlog: Backlog, vendor: AnthropicServer, loss: str
) -> None:
    for name in ("Tides", "Sun", "Moon"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(*[reply(MOON)] * 3))
    vendor.batches.finish()
    setattr(vendor.batches, loss, 1 if loss == "rows_lost" else 40)

    for _ in range(3):
        backlog.run()
        backlog.apply()
    report = backlog.run()

    assert (states(backlog), vendor.batches.made, vendor.batches.deleted) == (["ended"], 1, [])
    assert (len(paid(backlog)), backlog.batches[0].answered) == (2, 2)
    assert "the provider counts 1 answer that the program could not read" in report.problems[0]
    assert "cancel the batch and give up the rest" in report.problems[0]
    setattr(vendor.batches, loss, 0)
    report = backlog.run()

    assert (states(backlog), paid(backlog), vendor.batches.made) == (["collected"], [0.25] * 3, 1)
    assert (report.problems, backlog.batches[0].paid_usd) == ((), 0.75)
    assert vendor.batches.deleted == ["msgbatch_00000001"]


def test_a_short_batch_that_the_person_gives_up_closes_with_what_was_read(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    for name in ("Tides", "Sun"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(*[reply(MOON)] * 2))
    vendor.batches.finish()
    vendor.batches.rows_lost = 1
    for _ in range(3):
        backlog.run()

    report = backlog.withdraw()

    assert (states(backlog), vendor.batches.deleted) == (["collected"], ["msgbatch_00000001"])
    assert report.problems == ()
    assert "was cancelled: 1 request was not answered" in " ".join(report.said)


def test_what_failed_expired_or_was_cancelled_is_submitted_again_alone(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    for name in ("A", "B", "C", "D"):
        add_discussion(backlog.home, name, f"Why {name}?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish(fates=("errored", "expired", "canceled", "succeeded"))

    report = backlog.run()

    assert [len(one.items) for one in backlog.batches] == [4, 3]
    assert "1 request expired" in " ".join(report.problems)
    assert "Internal server error" in " ".join(report.problems)
    assert len(paid(backlog)) == 1
    backlog.apply()
    assert len(item_lines(backlog.home)) == 1


def test_a_batch_that_expired_whole_is_called_so_and_another_follows(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.batches.finish(fates=("expired",))

    backlog.run()

    assert (states(backlog), vendor.batches.made, paid(backlog)) == (["expired", "submitted"], 2, [])


def test_a_batch_that_is_never_said_to_have_ended_is_given_up_by_the_providers_own_rule(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.batches.last.status = "a_state_of_tomorrow"
    backlog.now += 2 * DAY - HOUR
    assert backlog.run().problems == (), "its time is not over"

    backlog.now += 2 * HOUR
    report = backlog.run()

    assert (states(backlog), paid(backlog), backlog.open_usd) == (["expired"], [], {})
    assert "the provider's limit of 24 hours is over, but the batch has not ended" in report.problems[0]
    assert vendor.batches.made == 1, "nothing is sent again in this run"
    backlog.run()
    assert states(backlog) == ["expired", "submitted"]


def test_a_request_that_fails_twice_is_not_asked_a_third_time(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    for _ in range(2):
        backlog.run()
        vendor.batches.finish(fates=("errored",))

    report = backlog.run()

    assert vendor.batches.made == 2
    assert any("harvest it without a batch" in one for one in report.problems)


def test_pieces_go_out_together_and_a_malformed_reply_is_shown_in_a_follow_up(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    backlog.piece_bytes = 2_000
    add_discussion(backlog.home, "Tides", "Why? " * 300, "The moon. " * 150, "And? " * 300, "The sun. " * 150)
    backlog.run()
    first = len(vendor.batches.last.requests)
    assert first > 1
    vendor.replies.extend(says("no JSON", *[reply(MOON)] * (first - 1)))
    vendor.batches.finish()

    backlog.run()

    assert vendor.batches.made == 2
    (again,) = vendor.batches.last.requests
    assert "no JSON" in again["params"]["messages"][0]["content"][0]["text"]
    backlog.apply()
    assert item_lines(backlog.home) == [], "a part of it is missing"
    vendor.replies.extend(says(reply(SUN)))
    vendor.batches.finish()
    backlog.run()
    backlog.apply()
    assert len(item_lines(backlog.home)) == 2


def test_a_batch_is_told_what_is_known_and_its_reply_replaces_it(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    wind, sun = "Tides follow the wind", "Tides follow the sun"
    add_item(backlog.home, NewItem(Category.FACTS, wind))
    regenerate_digest(backlog.home, may_create=True)
    add_discussion(backlog.home, "Tides", "Do tides follow the wind or the sun?", "The moon.")
    backlog.run()
    (one,) = vendor.batches.last.requests
    name = short_name(Category.FACTS, wind)
    assert f"\n{name}: {wind}\n" in one["params"]["messages"][0]["content"][0]["text"]
    assert backlog.batches[0].items[0].told == (name,)
    new = {"statement": MOON, "detail": "", "reason": "The moon does it.", "replaces": name}
    vendor.replies.extend(says(reply(facts=[new])))
    vendor.batches.finish()
    add_item(backlog.home, NewItem(Category.FACTS, sun))  # what is known now changes no request

    assert (backlog.run().problems, backlog.apply().failures) == ((), ())
    struck, *rest = item_lines(backlog.home)
    assert struck.startswith(f"- ~~{wind}~~ (replaced")
    assert [sun in rest[0], MOON in rest[1], vendor.batches.made] == [True, True, 1]


def test_a_crash_before_the_submission_pays_nothing_and_waits_until_it_is_sure(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    with pytest.raises(Crash):
        backlog.run(dies="before")
    assert states(backlog) == ["intended"]
    assert backlog.open_usd == {backlog.batches[0].tag: 0.25}

    report = backlog.run()

    assert (vendor.batches.made, states(backlog)) == (0, ["intended"])
    assert any("has not confirmed yet that the batch arrived" in one for one in report.problems)
    backlog.now += timedelta(minutes=11)
    backlog.run()
    assert (vendor.batches.made, states(backlog)) == (1, ["cancelled", "submitted"])


def test_a_crash_after_the_submission_is_adopted_by_its_tag_and_not_paid_again(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    with pytest.raises(Crash):
        backlog.run(dies="after")

    backlog.now += timedelta(hours=1)
    backlog.run()
    assert (vendor.batches.made, states(backlog)) == (1, ["intended"]), "one of its size works still"
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish()
    backlog.run()

    assert (vendor.batches.made, states(backlog)) == (1, ["collected"])
    assert paid(backlog) == [0.25]
    backlog.apply()
    assert len(item_lines(backlog.home)) == 1


def test_a_strangers_batch_of_the_same_size_is_left_alone(backlog: Backlog, vendor: AnthropicServer) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    with pytest.raises(Crash):
        backlog.run(dies="after")
    stranger = vendor.batches.last
    stranger.requests[0]["custom_id"] = "somebody-else-0"
    vendor.batches.finish()
    backlog.now += timedelta(hours=1)

    backlog.run()

    assert states(backlog) == ["cancelled", "submitted"]
    assert stranger.id in vendor.batches.batches


def test_a_crash_while_collecting_books_and_keeps_everything_once(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish()
    with pytest.raises(Crash):
        backlog.run(dies="answers")
    assert states(backlog) == ["ended"]

    backlog.run()

    assert (states(backlog), paid(backlog)) == (["collected"], [0.25])
    backlog.apply()
    assert len(item_lines(backlog.home)) == 1


def test_a_crash_between_collecting_and_applying_leaves_the_replies_for_the_next_apply(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish()
    backlog.run()
    asked = len(vendor.requests)

    backlog.apply()

    assert (len(item_lines(backlog.home)), len(vendor.requests)) == (1, asked)


def test_a_conversation_that_went_on_is_forgotten_its_reply_is_paid_and_dropped(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    chosen = add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    go_on(backlog.home, chosen, "And the sun?", "It helps.")
    vendor.replies.extend(says(reply(MOON)))
    vendor.batches.finish()

    backlog.run()

    assert (backlog.batches[0].forgotten, len(paid(backlog))) == (1, 1)
    assert kept_conversations(paths.knowledge_dir(backlog.home)) == ()
    assert states(backlog) == ["collected", "submitted"], "as it is now it is submitted anew"


def test_a_batch_whose_conversations_are_all_gone_is_cancelled(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    chosen = add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    paths.log_file(backlog.home, chosen).unlink()

    backlog.run()
    assert vendor.batches.last.status == "canceling"
    vendor.batches.finish()
    backlog.run()

    assert (states(backlog), paid(backlog), backlog.open_usd) == (["cancelled"], [], {})


def test_a_batch_that_vanished_is_said_and_submitted_again_by_the_next_run_only(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    vendor.batches.batches.clear()

    report = backlog.run()

    assert states(backlog) == ["vanished"]
    assert any("no longer knows the batch" in one for one in report.problems)
    backlog.run()
    assert states(backlog) == ["vanished", "submitted"]


def test_a_refused_submission_holds_nothing_back(backlog: Backlog, vendor: AnthropicServer) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    vendor.batches.refuses = (429, "rate_limit_error", "slow down")

    report = backlog.run()

    assert (states(backlog), backlog.open_usd) == (["cancelled"], {})
    assert report.stopped
    vendor.batches.refuses = None
    backlog.run()
    assert states(backlog)[-1] == "submitted"


def test_a_limit_stops_the_submission_before_anything_is_intended(backlog: Backlog) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.refuses = "The day's money is spent."

    report = backlog.run()

    assert (report.stopped, backlog.batches, backlog.estimates) == (backlog.refuses, (), [0.25])


def test_a_torn_last_row_leaves_the_batch_as_it_was(backlog: Backlog) -> None:
    add_discussion(backlog.home, "Tides", "Why?", "So.")
    backlog.run()
    (path,) = (paths.knowledge_dir(backlog.home) / "batches").glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b'{"state":"coll')

    assert backlog.batches[0].state is BatchState.SUBMITTED
