"""A conversation in an open batch is forgotten: the batch is stopped, and what was sent leaves the provider."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.forgetting.forgetting_places import receipt_text
from core.app.forgetting.forgetting_run import ForgetRequest, forget
from core.app.forgetting.leftovers import ForgetServices
from core.kernel import paths
from core.kernel.values.harvest import BatchState
from core.kernel.values.knowledge import Category, ForgetReceipt, ForgetTarget, NewItem
from core.kernel.values.settings import ServerSettings
from core.knowledge.edits import add_item
from core.knowledge.harvest.batch_run import BatchRun, BatchServices
from core.knowledge.knowledge_reader import regenerate_digest
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.gemini.client import GeminiProvider
from core.services.providers.openai.client import OpenAiProvider
from core.services.spending.harvest_costs import Payments
from tests.core.knowledge.harvest.batch_kit import Backlog
from tests.core.knowledge.harvest.harvests import NOW, add_discussion, reply
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.gemini_server import KEY as GEMINI_KEY
from tests.vendors.gemini_server import GeminiServer
from tests.vendors.openai_server import KEY as OPENAI_KEY
from tests.vendors.openai_server import OpenAiServer
from tests.vendors.openai_server import Said as OpenAiSaid

MODEL = "claude-haiku-4-5"


@pytest.fixture
def vendor() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def backlog(isolated_home: Path, vendor: AnthropicServer) -> Backlog:
    isolated_home.mkdir()
    client = AnthropicProvider(ServerSettings("anthropic", "anthropic", "Anthropic", vendor.url), KEY)
    return Backlog(isolated_home, client.batches(), "anthropic", MODEL)


def forgotten(backlog: Backlog, target: ForgetTarget | str, *, reaches: bool = True) -> ForgetReceipt:
    services = BatchServices(
        lambda _provider: backlog.service,
        Payments(backlog.home, lambda *_: 0.5, lambda: backlog.now),
        lambda: "",
        lambda _usd: "",
    )
    run = BatchRun(backlog.home, lambda: backlog.now, services)
    asked = ForgetServices(withdraw_batches=run.withdraw_unwanted) if reaches else ForgetServices()
    at = NOW + timedelta(seconds=60)
    wanted = ForgetTarget((target,)) if isinstance(target, str) else target
    return forget(ForgetRequest(backlog.home, wanted, at, "seed", services=asked))


def file_of(backlog: Backlog) -> str:
    (path,) = (paths.knowledge_dir(backlog.home) / "batches").iterdir()
    return path.read_text()


@pytest.mark.slow
def test_a_batch_that_works_is_stopped_and_its_requests_leave_the_provider(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    gone = add_discussion(backlog.home, "Gate", "When?", "At three.")
    add_discussion(backlog.home, "Keys", "Who?", "The master.")
    backlog.run()
    receipt = forgotten(backlog, gone)

    assert vendor.batches.last.status == "canceling"
    (batch,) = backlog.batches
    assert batch.is_unwanted
    assert gone not in file_of(backlog)
    (place,) = [row for row in receipt.places if row.place == "batches"]
    assert (place.removed, "The program is stopping" in place.problem) == (1, True)
    vendor.replies += [Said(({"type": "text", "text": reply(f"{n} tides.")},)) for n in range(2)]
    vendor.batches.finish(fates=("succeeded", "succeeded"))
    backlog.run()

    (closed,) = backlog.batches
    assert (closed.answered, closed.forgotten, closed.is_cleaned) == (1, 1, True)
    assert vendor.batches.batches == {}


def test_an_item_that_is_forgotten_leaves_a_batch_that_was_told_it(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    add_item(backlog.home, NewItem(Category.FACTS, "The gate opens at three"))
    add_item(backlog.home, NewItem(Category.FACTS, "Keys are brass"))
    regenerate_digest(backlog.home, may_create=True)
    add_discussion(backlog.home, "Gate", "When?", "The gate opens at four.")
    backlog.run()
    forgotten(backlog, ForgetTarget((), Category.FACTS, "Keys are brass", "facts.md"))
    assert vendor.batches.last.status == "in_progress", "nobody told it"
    receipt = forgotten(backlog, ForgetTarget((), Category.FACTS, "The gate opens at three", "facts.md"))

    assert vendor.batches.last.status == "canceling"
    assert [row.removed for row in receipt.places if row.place == "batches"] == [1]


def test_a_batch_that_has_ended_is_deleted_at_once_and_replies_of_others_are_kept(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    gone = add_discussion(backlog.home, "Gate", "When?", "At three.")
    add_discussion(backlog.home, "Keys", "Who?", "The master.")
    backlog.run()
    vendor.replies += [Said(({"type": "text", "text": reply("One."), },)), Said(({"type": "text", "text": reply("Two.")},))]  # fmt: skip
    vendor.batches.finish()
    receipt = forgotten(backlog, gone)

    assert receipt.problems == ()
    assert vendor.batches.batches == {}
    (batch,) = backlog.batches
    assert (batch.state, batch.answered, batch.forgotten) == (BatchState.COLLECTED, 1, 1)
    assert len(list((paths.knowledge_dir(backlog.home) / ".replies").iterdir())) == 1


def test_where_nobody_can_be_asked_the_receipt_says_so_and_the_next_look_stops_it(
    backlog: Backlog, vendor: AnthropicServer
) -> None:
    gone = add_discussion(backlog.home, "Gate", "When?", "At three.")
    backlog.run()
    receipt = forgotten(backlog, gone, reaches=False)

    assert "the next `harvest --batch --apply` stops the batch and deletes your data there" in receipt_text(
        receipt, {}
    )
    assert vendor.batches.last.status == "in_progress"
    backlog.run()
    assert vendor.batches.last.status == "canceling"


@pytest.mark.slow
def test_a_batch_at_openai_is_stopped_and_its_files_leave_the_provider(isolated_home: Path) -> None:
    isolated_home.mkdir()
    with OpenAiServer(clock=NOW.timestamp) as vendor:
        client = OpenAiProvider(ServerSettings("openai", "openai", "OpenAI", f"{vendor.url}/v1"), OPENAI_KEY)
        backlog = Backlog(isolated_home, client.batches(), "openai", "gpt-6.1-sol")
        gone = add_discussion(isolated_home, "Gate", "When?", "At three.")
        backlog.run()
        receipt = forgotten(backlog, gone)

        assert (vendor.batches.last.status, gone in file_of(backlog)) == ("cancelling", False)
        assert "The program is stopping" in receipt_text(receipt)
        vendor.replies.append(OpenAiSaid(({"type": "message", "text": reply("A tide.")},)))
        vendor.batches.finish(status="cancelled")
        backlog.run()
        client.close()

        assert vendor.batches.files == {}
        assert [(one.is_cleaned, one.forgotten, one.answered) for one in backlog.batches] == [(True, 1, 0)]


def test_a_batch_at_gemini_leaves_the_provider_at_once(isolated_home: Path) -> None:
    isolated_home.mkdir()
    with GeminiServer(clock=NOW.timestamp) as vendor:
        client = GeminiProvider(ServerSettings("gemini", "gemini", "Gemini", vendor.url), GEMINI_KEY)
        backlog = Backlog(isolated_home, client.batches(), "gemini", "gemini-3.8-flash")
        gone = add_discussion(isolated_home, "Gate", "When?", "At three.")
        backlog.run()
        receipt = forgotten(backlog, gone)
        client.close()

        assert (receipt.problems, vendor.batches.batches, gone in file_of(backlog)) == ((), {}, False)
        assert [one.is_cleaned for one in backlog.batches] == [True]
