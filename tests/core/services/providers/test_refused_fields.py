"""Fields that servers refuse: paid for once, by whichever program, and asked again after a month."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.kernel import paths
from core.kernel.values.settings import ServerSettings
from core.services.providers.clients import make_provider
from core.services.providers.refused_fields import KEPT_DAYS, RefusedFields, read_refusals
from tests.core.services.providers.outcomes import Outcome, ask, run
from tests.patience import PATIENCE_S
from tests.vendors.loopback import Captured, LoopbackServer, Reply, json_reply
from tests.vendors.world.table import COMPATIBLE, PLAIN, SSE, error

START = datetime(2026, 11, 29, 12, tzinfo=UTC)


class Refuses(LoopbackServer):
    """Takes no `stream_options`; `is_down`: fails without them too."""

    def __init__(self, *, is_down: bool = False) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self._is_down = is_down

    def answer(self, captured: Captured) -> Reply:
        self.asked.append(captured.json)
        if "stream_options" in captured.json:
            return json_reply(400, {"error": {"message": "unknown field `stream_options`"}})
        if self._is_down:
            return Reply(401, error("no").encode(), {"content-type": "application/json"})
        return Reply(200, PLAIN[COMPATIBLE].encode(), {"content-type": SSE})


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def start(server: Refuses, cache: Path, clock: Clock, model: str = "m", key: str | None = None) -> Outcome:
    """Ask as a program that has just started."""
    settings = ServerSettings(id="lab", kind="compatible", base_url=f"{server.url}/v1")
    return run(make_provider(settings, key, clock=clock, cache_dir=cache), ask(model))


def test_a_restart_does_not_pay_for_a_refusal_again_and_another_model_or_month_asks(tmp_path: Path) -> None:
    clock = Clock()
    with Refuses() as server:
        first, second = start(server, tmp_path, clock), start(server, tmp_path, clock, key="sk-not-a-key")
        assert ["stream_options" in one for one in server.asked] == [True, False, False]
        assert "takes no 'stream_options'" in first.stopped.remarks[0]
        assert second.stopped.remarks == (), "it is said once, not at each start"

        start(server, tmp_path, clock, model="other")
        assert len(server.asked) == 5
        clock.now += timedelta(days=KEPT_DAYS, seconds=1)
        start(server, tmp_path, clock)
        assert len(server.asked) == 7


def test_a_request_that_fails_without_the_field_as_well_teaches_nothing(tmp_path: Path) -> None:
    with Refuses(is_down=True) as server:
        start(server, tmp_path, Clock())

    assert not (tmp_path / paths.REFUSED_FIELDS).exists()


def test_two_programs_that_learn_at_once_keep_what_both_learned(tmp_path: Path) -> None:
    file = tmp_path / "refused"
    one, other = (RefusedFields("http://a", file, Clock()) for _ in range(2))
    assert one.of("m") == other.of("m") == frozenset()
    one.keep("m", ["temperature"])
    other.keep("m", ["seed"])

    assert RefusedFields("http://a", file, Clock()).of("m") == {"temperature", "seed"}
    assert RefusedFields("http://b", file, Clock()).of("m") == frozenset()


def test_what_many_write_at_once_is_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "refused"
    begin = threading.Barrier(4)

    def write(one: int) -> None:
        book = RefusedFields("http://a", file, Clock())
        begin.wait(PATIENCE_S)
        for number in range(15):
            book.keep(f"m{one}/{number}", ["seed"])

    writers = [threading.Thread(target=write, args=(one,)) for one in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert len(read_refusals(file, Clock()())) == 60


@pytest.mark.parametrize("data", [b"", b"{", b'{"x": 1}', b"\xff\xfe"])
def test_a_file_that_is_none_of_ours_is_learned_anew(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "refused"
    file.write_bytes(data)
    book = RefusedFields("http://a", file, Clock())
    assert book.of("m") == frozenset()
    book.keep("m", ["seed"])

    assert RefusedFields("http://a", file, Clock()).of("m") == {"seed"}


def test_the_file_tells_neither_address_nor_model(tmp_path: Path) -> None:
    file = tmp_path / "refused"
    RefusedFields("http://secret-host", file, Clock()).keep("secret-model", ["seed"])

    assert b"secret" not in file.read_bytes()
