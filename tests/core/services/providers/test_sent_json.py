"""Long fields of a body, through the real SDKs: on the wire as ever, and read value by value by nobody."""

from __future__ import annotations

import json
import threading
from types import FrameType

import pytest

from core.services.providers.protocol import Provider
from tests.core.services.providers.outcomes import ask, assistant, run, user
from tests.core.services.providers.vendors import VENDORS, Vendor

MOST_CALLS = 5
"""Calls of functions in an SDK for each message more; reading all values takes it 60 and more."""


@pytest.mark.parametrize(
    "vendor", [one for one in VENDORS if one.kind != "gemini"], ids=lambda vendor: vendor.kind
)
def test_a_long_conversation_is_not_read_value_by_value_by_an_sdk(vendor: Vendor) -> None:
    """It would cost each request 0.14 ms a message, in which nothing else of the program moves."""
    with vendor.make_server() as server:
        client = vendor.client(server)
        run(client, ask(vendor.model))
        short, long = (calls_of_sdk(client, vendor, messages) for messages in (2, 202))
        sent = json.dumps(server.requests[-1].json)

    assert (long - short) / 200 < MOST_CALLS
    assert all(f"Line {n}." in sent for n in range(203))


def calls_of_sdk(client: Provider, vendor: Vendor, messages: int) -> int:
    """Functions of the SDK that are called while a request goes out and is answered."""
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and "site-packages" in frame.f_code.co_filename

    talk = [assistant(f"Line {n}.") if n % 2 else user(f"Line {n}.") for n in range(messages + 1)]
    threading.setprofile(count)
    try:
        run(client, ask(vendor.model, *talk))
    finally:
        threading.setprofile(None)
    return calls
