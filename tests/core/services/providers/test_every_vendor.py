"""What is the same with every vendor, through its real SDK: how calls fail, end early or are cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.messages import ToolCallPart, ToolResultPart
from core.kernel.values.provider import StopKind, Stopped
from core.services.providers.protocol import CancelToken
from tests.core.services.providers.outcomes import (
    NO_BLOBS,
    Outcome,
    ask,
    assistant,
    run,
    run_beside,
    tool,
    user,
)
from tests.core.services.providers.vendors import VENDORS, Vendor
from tests.patience import PATIENCE_S
from tests.vendors.loopback import (
    DropAfter,
    EndAfter,
    Fault,
    Gate,
    HangUp,
    HoldAfter,
    LoopbackServer,
    Silent,
)

pytestmark = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)


@pytest.fixture
def server(vendor: Vendor) -> Iterator[LoopbackServer]:
    with vendor.make_server() as running:
        yield running


def asked(vendor: Vendor, server: LoopbackServer, **settings: Any) -> Outcome:
    return run(vendor.client(server, **settings), ask(vendor.model))


def test_an_unknown_model_is_named_with_where_to_choose_another(
    vendor: Vendor, server: LoopbackServer
) -> None:
    error = run(vendor.client(server), ask("nobody-9")).failure

    assert error.kind is FailureKind.UNKNOWN_MODEL
    assert "'nobody-9'" in error.what
    assert "Choose another model" in error.remedy


def test_a_wrong_key_is_refused_and_not_shown(vendor: Vendor, server: LoopbackServer) -> None:
    error = run(vendor.client(server, vendor.wrong_key), ask(vendor.model)).failure

    assert error.kind is FailureKind.BAD_KEY
    assert vendor.wrong_key not in str(error)


def test_a_server_that_is_not_there_is_no_network(vendor: Vendor) -> None:
    with vendor.make_server() as gone:
        url = gone.url
    error = run(vendor.at(f"{url}{vendor.path}"), ask(vendor.model)).failure

    assert error.kind is FailureKind.NO_NETWORK
    assert error.where.startswith(url)


def test_a_server_that_hangs_up_without_a_word_is_no_network(vendor: Vendor, server: LoopbackServer) -> None:
    server.faults.append(HangUp())

    assert asked(vendor, server).failure.kind is FailureKind.NO_NETWORK


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/x", "http://[::1"])
def test_an_address_that_is_none_is_a_bad_request_that_names_the_setting(vendor: Vendor, url: str) -> None:
    error = run(vendor.at(url), ask(vendor.model)).failure

    assert error.kind is FailureKind.BAD_REQUEST
    assert "base_url" in error.remedy


@pytest.mark.parametrize("make_fault", [DropAfter, EndAfter])
def test_a_stream_that_breaks_off_says_so_and_keeps_the_part(
    vendor: Vendor, server: LoopbackServer, make_fault: Callable[[int], Fault]
) -> None:
    server.faults.append(make_fault(vendor.parts))
    result = asked(vendor, server)

    assert result.failure.kind is FailureKind.STREAM_DROPPED
    assert result.text == vendor.said


@pytest.mark.parametrize("is_in_reply", [False, True])
def test_silence_ends_in_a_time_out_that_names_its_length(
    vendor: Vendor, server: LoopbackServer, *, is_in_reply: bool
) -> None:
    gate = Gate()
    server.faults.append(HoldAfter(vendor.parts if is_in_reply else 0, gate))
    result = asked(vendor, server, timeout_s=0.05)

    assert result.failure.kind is FailureKind.TIMED_OUT
    assert "0.05 s" in result.failure.what
    assert gate.client_left.wait(PATIENCE_S)


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_call_that_is_cancelled_before_its_first_byte_ends_at_once_and_hangs_up(
    vendor: Vendor, server: LoopbackServer, *, is_silent: bool
) -> None:
    gate, cancel = Gate(), CancelToken()
    server.faults.append(Silent(gate) if is_silent else HoldAfter(0, gate))
    wait = run_beside(lambda: run(vendor.client(server), ask(vendor.model), cancel=cancel))
    assert gate.reached.wait(PATIENCE_S)
    cancel.cancel()
    result = wait()

    assert result.error is None
    assert result.items == [Stopped(StopKind.CANCELLED)]
    assert gate.client_left.wait(PATIENCE_S), "the server was not told"


def test_a_call_that_is_cancelled_in_its_reply_keeps_what_came_and_hangs_up(
    vendor: Vendor, server: LoopbackServer
) -> None:
    gate, cancel = Gate(), CancelToken()
    server.faults.append(HoldAfter(vendor.parts, gate))
    result = Outcome()
    for item in vendor.client(server).stream(ask(vendor.model), NO_BLOBS, cancel):
        result.items.append(item)
        if result.text == vendor.said:
            threading.Thread(target=cancel.cancel).start()

    assert result.text == vendor.said
    assert (result.stopped.kind, result.stopped.is_sent) == (StopKind.CANCELLED, True)
    assert gate.client_left.wait(PATIENCE_S), "the server was not told"


def test_a_call_that_was_cancelled_before_it_began_sends_nothing(
    vendor: Vendor, server: LoopbackServer
) -> None:
    cancel = CancelToken()
    cancel.cancel()

    assert run(vendor.client(server), ask(vendor.model), cancel=cancel).items == [
        Stopped(StopKind.CANCELLED, is_sent=False)
    ]
    assert server.requests == []


def test_a_listener_that_leaves_early_hangs_up(vendor: Vendor, server: LoopbackServer) -> None:
    gate = Gate()
    server.faults.append(HoldAfter(vendor.parts, gate))
    stream = vendor.client(server).stream(ask(vendor.model), NO_BLOBS, CancelToken())
    next(stream)
    assert gate.reached.wait(PATIENCE_S)
    stream.close()  # type: ignore[attr-defined]

    assert gate.client_left.wait(PATIENCE_S)


def test_two_calls_run_at_once_and_cancelling_one_leaves_the_other(
    vendor: Vendor, server: LoopbackServer
) -> None:
    held, other = Gate(), Gate()
    server.faults.extend([HoldAfter(vendor.parts, held), HoldAfter(vendor.parts, other)])
    provider, cancel = vendor.client(server), CancelToken()
    stream = provider.stream(ask(vendor.model), NO_BLOBS, cancel)
    next(stream)
    beside = provider.stream(ask(vendor.model), NO_BLOBS, CancelToken())
    next(beside)
    cancel.cancel()
    other.open()

    assert [*stream][-1] == Stopped(StopKind.CANCELLED)
    assert [*beside][-1].kind is StopKind.COMPLETED  # type: ignore[union-attr]
    assert held.client_left.wait(PATIENCE_S)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"])
def test_a_proxy_in_the_environment_does_not_capture_loopback(
    vendor: Vendor, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")

    assert asked(vendor, server).text == "Hello there."


def test_half_a_character_in_the_arguments_of_a_past_call_stops_no_request(
    vendor: Vendor, server: LoopbackServer
) -> None:
    """Spelled by an escape it passes every look at the text, and no body that holds it can be encoded."""
    call = ToolCallPart("call_1", "read_file", '{"path": "a\\ud800"}')
    talk = (user("Read it."), assistant(call), tool(ToolResultPart("call_1", "none")))

    run(vendor.client(server), ask(vendor.model, *talk))

    (request,) = [one for one in server.requests if one.method == "POST"]
    assert "a\ufffd" in str(request.json) or "a\\\\ud800" in str(request.json)
