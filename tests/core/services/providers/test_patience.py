"""A server that sends without end, and nothing that belongs to a reply, is waited for as long as a silent one."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.figures import time_limit
from core.services.providers import door, event_stream, http
from core.services.providers.door import (
    EndlessError,
    SenselessError,
    bounded_body,
    bounded_error,
)
from core.services.providers.event_stream import CHAT, _JsonLines, sound_events
from core.services.providers.http import sensible
from tests.core.services.providers.outcomes import ask, run, server_settings
from tests.core.services.providers.vendors import VENDORS, Vendor
from tests.patience import PATIENCE_S
from tests.vendors.loopback import LoopbackServer, StreamReply


def heard(events: Iterable[str], *times: float) -> Iterator[str]:
    clock = iter(times)
    return sensible(events, "known".__eq__, server_settings("p", timeout_s=60), clock=lambda: next(clock))


def test_events_pass_and_time_runs_only_while_none_is_known() -> None:
    assert list(heard(["junk", "known", "junk"], 0.0, 40.0, 50.0, 109.0)) == ["junk", "known", "junk"]


def test_nothing_known_for_the_time_out_is_a_time_out() -> None:
    events = heard(itertools.repeat("junk"), 0.0, 30.0, 61.0)

    assert next(events) == "junk"
    with pytest.raises(ProviderError, match="no part of a reply for 60 s") as failed:
        next(events)
    assert failed.value.kind is FailureKind.TIMED_OUT


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock finds a second gone: patience ends after as many pieces, however slow this machine is."""
    seconds = itertools.count()
    monkeypatch.setattr(http, "passed_s", lambda: float(next(seconds)))


class Babble(LoopbackServer):
    """Answers with events that mean nothing, until nobody listens."""

    def answer(self, captured: object) -> StreamReply:
        return StreamReply(self._parts())

    def _parts(self) -> Iterator[bytes]:
        while True:
            yield b'event: x\ndata: {"type": "x"}\n\n'


@pytest.mark.usefixtures("looks")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_endless_events_that_mean_nothing_end_at_the_time_out(vendor: Vendor) -> None:
    with Babble() as server:
        result = run(vendor.client(server, timeout_s=PATIENCE_S), ask(vendor.model))

    assert result.failure.kind in {FailureKind.TIMED_OUT, FailureKind.BAD_REPLY}
    assert result.failure.what.count("did not answer in time") <= 1
    assert result.text == ""


class Drip(LoopbackServer):
    """Answers without end; `piece` is what it says again and again."""

    def __init__(self, piece: bytes, start: bytes = b"", status: int = 200, kind: str = "") -> None:
        super().__init__()
        self.piece, self.begin, self.status = piece, start, status
        self.headers = {"content-type": kind} if kind else {}

    def answer(self, captured: object) -> StreamReply:
        return StreamReply(self._parts(), self.headers, status=self.status)

    def _parts(self) -> Iterator[bytes]:
        yield self.begin
        while True:
            yield self.piece


ENDLESS = {
    "comments": (b": ping\n\n", b""),
    "blank lines": (b"\n", b""),
    "a line of blanks": (b"  ", b"data:"),
    "a line without end": (b"x", b"data: "),
    "an event without end": (b"data: x\n", b""),
}


@pytest.mark.usefixtures("looks")
@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_bytes_of_which_no_event_comes_end_at_the_time_out(vendor: Vendor, kind: str) -> None:
    """The SDKs keep them to themselves: nobody behind one sees that anything came, and no time-out runs."""
    with Drip(*ENDLESS[kind]) as server:
        result = run(vendor.client(server, timeout_s=PATIENCE_S), ask(vendor.model))

    assert result.text == ""
    assert result.failure.kind is FailureKind.TIMED_OUT
    assert f"no part of a reply for {time_limit(PATIENCE_S)}" in result.failure.what


@pytest.mark.usefixtures("looks")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_an_error_without_end_is_told_by_its_status(vendor: Vendor) -> None:
    with Drip(b"e" * 500, status=400) as server:
        result = run(vendor.client(server, timeout_s=PATIENCE_S), ask(vendor.model))

    assert result.failure.status == 400


def sent(bounded: Callable[..., Iterator[bytes]], pieces: Iterable[bytes], *times: float) -> list[bytes]:
    clock = itertools.chain(times, itertools.repeat(times[-1]))
    return list(bounded(pieces, 60.0, lambda: next(clock)))


def chat_events(pieces: Iterable[bytes], patience_s: float, clock: Callable[[], float]) -> Iterator[bytes]:
    return sound_events(pieces, CHAT, patience_s, clock)


def test_an_event_may_come_in_any_pieces_and_comments_in_between() -> None:
    pieces = [
        b": a\nda", b'ta: {"choices": [{"delta": {}}]}', b"\r\n", b"\r", b"\n: still here\n\n", b'data: {"id": "y"}\n\n'
    ]  # fmt: skip

    frames = sent(chat_events, pieces, 0.0, 10, 50, 55, 59, 100, 110, 119)

    assert frames == [b'data: {"choices": [{"delta": {}}]}\n\n', b'data: {"id": "y"}\n\n']


def test_what_is_larger_than_any_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BODY_BYTES", "ERROR_BYTES"):
        monkeypatch.setattr(door, name, 1_000)
    monkeypatch.setattr(event_stream, "EVENT_BYTES", 1_000)
    line = [b"data: "] + [b"x" * 100] * 20

    with pytest.raises(EndlessError, match="one event of the stream has over 1,000 bytes"):
        sent(chat_events, line, 0.0)
    with pytest.raises(EndlessError, match="the answer has over 1,000 bytes"):
        sent(bounded_body, line, 0.0)
    assert len(b"".join(sent(bounded_error, line, 0.0))) == 1_006
    assert sent(chat_events, [b"data: " + b"x" * 900 + b"\n\n"] * 5, 0.0)


def test_an_answer_that_is_no_stream_may_be_slow_and_not_drip() -> None:
    with pytest.raises(SenselessError):
        sent(bounded_body, itertools.repeat(b"x"), 0.0, 30.0, 61.0)
    assert sent(bounded_body, [b'{"a": 1}\n'] * 3, 0.0, 40.0, 90.0, 140.0)
    assert sent(bounded_body, [b"x" * 65_536] * 3, 0.0, 40.0, 90.0, 140.0)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json", "text/plain"])
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_an_answer_that_is_waited_for_whole_ends_whatever_it_says_it_is(
    vendor: Vendor, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of models, a count, a ping: nobody sees a part of it, and nothing would stop it."""
    monkeypatch.setattr(door, "BODY_BYTES", 100_000)
    with Drip(b'data: {"a": 1}\n\n' * 100, kind=kind) as server, pytest.raises(ProviderError) as failed:
        vendor.client(server).list_models()

    assert "the answer has over 100,000 bytes" in str(failed.value)


def test_lines_of_an_answer_that_is_waited_for_whole_are_no_progress() -> None:
    whole = partial(bounded_body, has_lines=False)

    with pytest.raises(SenselessError):
        sent(whole, [b'{"a": 1}\n'] * 3, 0.0, 40.0, 90.0)
    assert sent(whole, [b"x" * 65_536] * 3, 0.0, 40.0, 90.0, 140.0)


NESTED = {"id": "x", "choices": [{"delta": {"content": '}]"\\'}, "list": [[], {}]}], "usage": {"tokens": 1}}


@pytest.mark.parametrize("indent", [0, 1, None])
def test_json_over_lines_behind_one_prefix_is_one_event_whatever_its_texts_hold(indent: int | None) -> None:
    text = json.dumps(NESTED, indent=indent).encode()

    frames = sent(chat_events, [b"data: ", text, b"\n \n", b'{"id": "y"}\n'], 0.0)

    assert [json.loads(frame.removeprefix(b"data: ")) for frame in frames] == [NESTED, {"id": "y"}]


def test_json_that_is_cut_anywhere_over_lines_ends_where_its_first_bracket_closes() -> None:
    """Between any two bytes, also of an escape: a further line belongs to it, and what comes behind its last does not."""
    text = json.dumps(NESTED).encode()
    for place in range(1, len(text)):
        lines = _JsonLines()
        assert lines.lack_more([text[:place]])
        assert not lines.lack_more([text[:place], text[place:]])
        assert not lines.lack_more([text[:place], text[place:], b" "])
        assert lines.lack_more([text[:place], text[place:], b" ", b"{}"])


@pytest.mark.parametrize("last", ["}", "]}"])
def test_json_over_lines_is_read_once_and_not_anew_at_each_of_them(last: str) -> None:
    """At two sizes: the lines end with brackets, as those of JSON that is written for people do."""
    command = [sys.executable, "-P", "-c", GROWN, str(Path(__file__).parents[4]), last]

    ended = subprocess.run(command, capture_output=True, text=True, check=True)

    small, large = json.loads(ended.stdout)
    assert large < TIMES * 1.3 * small


TIMES = 4
GROWN = """
import json
import sys
sys.path.insert(0, sys.argv[1])
from tests.text_work import count_from, work
count_from("core")
from core.services.providers.event_stream import CHAT, sound_events
def done(size):
    lines = [b'data: {"choices": [', *[b"{}", b","] * size, b"{}", sys.argv[2].encode()]
    return work(lambda: list(sound_events([b"\\n".join(lines)], CHAT, 60.0, lambda: 0.0)))
done(10)
print(json.dumps([done(500), done(2_000)]))
"""
