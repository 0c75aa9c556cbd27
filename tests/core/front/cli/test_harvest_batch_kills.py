"""`harvest --apply --batch` killed at every request to the batch service: a later run pays nothing twice and loses nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.kernel.values.harvest import BatchState
from core.knowledge.harvest.batch_prompts import BatchFiles
from core.knowledge.harvest.batch_run import ARRIVES_WITHIN
from core.services.spending.harvest_costs import harvest_payments
from tests.core.front.cli.conftest import WAIT_S, World
from tests.core.knowledge.harvest.harvests import add_discussion, item_lines, reply
from tests.vendors import anthropic_server, gemini_server, openai_server
from tests.vendors.compatible_server import VLLM, CompatibleServer
from tests.vendors.loopback import Captured, Reply

MOON = "Tides follow the moon."
HARVEST = ("harvest", "--apply", "--batch")


@dataclass(frozen=True)
class Vendor:
    """A vendor of batches on loopback. `said`: a reply in its words; `root`: of its address."""

    name: str
    model: str
    server: Callable[[], Any]
    said: Callable[[str], Any]
    variable: str
    key: str
    root: str = ""


VENDORS = (
    Vendor(
        "anthropic",
        "claude-haiku-4-5",
        anthropic_server.AnthropicServer,
        lambda text: anthropic_server.Said(({"type": "text", "text": text},)),
        "ANTHROPIC_API_KEY",
        anthropic_server.KEY,
    ),
    Vendor(
        "openai",
        "gpt-6.1-sol",
        openai_server.OpenAiServer,
        lambda text: openai_server.Said(({"type": "message", "text": text},)),
        "OPENAI_API_KEY",
        openai_server.KEY,
        "/v1",
    ),
    Vendor(
        "gemini",
        "gemini-3.8-flash",
        gemini_server.GeminiServer,
        lambda text: gemini_server.Said(({"text": text},)),
        "GEMINI_API_KEY",
        gemini_server.KEY,
    ),
)


class Killing:
    """Answers of a batch desk, that end the program which asks: at its n-th request, before or after that is carried out."""

    def __init__(self, desk: Any, at: int, *, is_done: bool) -> None:
        self._answer, self._at, self._is_done = desk.answer, at, is_done
        self.pid, self.count = 0, 0

    @property
    def has_killed(self) -> bool:
        return self.count >= self._at

    def answer(self, captured: Captured) -> Reply:
        """Answer a request. Raises RefusedError."""
        if self.has_killed:  # what a killed program still had on the wire
            return Reply(503, b"")
        self.count += 1
        if not self.has_killed:
            reply: Reply = self._answer(captured)
            return reply
        if self._is_done:
            self._answer(captured)
        os.kill(self.pid, signal.SIGKILL)
        return Reply(503, b"")


class LenientWorld(World):
    """Runs children without errors for warnings: SDKs of vendors warn while Python compiles them."""

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "PYTHONWARNINGS": ""}


def killed(world: World, desk: Any, at: int, *, is_done: bool) -> bool:
    """Run a harvest by batch in a process of its own. Returns whether it was killed."""
    killing = Killing(desk, at, is_done=is_done)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(desk, "answer", killing.answer)
        child = world.fork(*HARVEST)
        killing.pid = child.pid
        out, err = child.communicate(timeout=WAIT_S)
    assert child.returncode == (-signal.SIGKILL if killing.has_killed else 0), (out, err)
    return killing.has_killed


def worlds(folder: Path, vendor: Vendor, patch: pytest.MonkeyPatch) -> Iterator[tuple[World, Any]]:
    """Homes with a conversation each, and a vendor of its own."""
    patch.setenv(vendor.variable, vendor.key)
    number = 0
    while True:
        number += 1
        base = folder / str(number)
        base.mkdir()
        with CompatibleServer(VLLM) as local, vendor.server() as server:
            world = LenientWorld(base, local)
            world.config.write_text(
                f'[providers.{vendor.name}]\nbase_url = "{server.url}{vendor.root}"\n'
                f'[ai_settings]\nprovider = "{vendor.name}"\nmodel = "{vendor.model}"\n',
                encoding="utf-8",
            )
            add_discussion(world.home, "Tides", "Why?", "The moon.")
            yield world, server


def waited(world: World) -> None:
    """Let as much time go by as a submission takes at most to be listed."""
    for batch in BatchFiles(world.home).batches():
        path = world.home / "knowledge" / "batches" / f"{batch.tag}.jsonl"
        ago = datetime.fromisoformat(batch.at) - ARRIVES_WITHIN - timedelta(minutes=1)
        path.write_text(path.read_text("utf-8").replace(batch.at, ago.isoformat(), 1), encoding="utf-8")


def is_worked_off(batch: Any) -> bool:
    """True for a batch that the vendor has answers for."""
    return any(getattr(batch, name, None) for name in ("results", "output_file_id", "responses"))


def made(desk: Any) -> int:
    """Number of batches that were ever made."""
    return int(getattr(desk, "made", len(desk.batches)))


def ends_well(world: World, vendor: Vendor, server: Any) -> None:
    """Harvest until all is read: made once, paid once, written once, and nothing of it left at the vendor."""
    desk = server.batches
    if not desk.batches:
        waited(world)
        world.run(*HARVEST)
    assert made(desk) == 1
    if desk.batches and not is_worked_off(desk.last):
        server.replies.append(vendor.said(reply(MOON)))
        desk.finish()
    ended = world.run(*HARVEST)
    again = world.run(*HARVEST)
    assert (ended.code, again.code, made(desk)) == (0, 0, 1), (ended, again)
    assert [MOON in line for line in item_lines(world.home)] == [True]
    assert len(harvest_payments(world.home, datetime.now(UTC) - timedelta(days=1))) == 1
    collected = [one for one in BatchFiles(world.home).batches() if one.state is BatchState.COLLECTED]
    assert [one.is_cleaned for one in collected] == [True]
    assert not getattr(desk, "files", desk.batches), "no upload and no answer is left"


@pytest.mark.slow
@pytest.mark.parametrize("is_done", [False, True], ids=["before it is carried out", "after"])
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda one: one.name)
def test_a_program_killed_at_any_request_of_a_submission_pays_once(
    vendor: Vendor, is_done: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at, (world, server) in enumerate(worlds(tmp_path, vendor, monkeypatch), 1):
        if not killed(world, server.batches, at, is_done=is_done):
            break
        (intent,) = BatchFiles(world.home).batches()
        assert intent.state is BatchState.INTENDED, "it stood on the disk before anything was asked"
        ends_well(world, vendor, server)
    assert at > 1


@pytest.mark.slow
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda one: one.name)
def test_a_program_killed_at_any_request_of_the_collecting_pays_and_writes_once(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at, (world, server) in enumerate(worlds(tmp_path, vendor, monkeypatch), 1):
        assert world.run(*HARVEST).code == 0
        server.replies.append(vendor.said(reply(MOON)))
        server.batches.finish()
        if not killed(world, server.batches, at, is_done=True):
            break
        ends_well(world, vendor, server)
    assert at > 2
