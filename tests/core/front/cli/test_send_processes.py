"""Two real processes that send on one home at once: the day's limit holds for both together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.front.cli.conftest import WAIT_S, World
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.loopback import Gate, HoldAfter


@pytest.fixture
def vendor() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def paid(world: World, vendor: AnthropicServer, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home whose model costs something, with a day's limit that one call reaches."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", vendor.url)
    world.config.write_text(
        '[ai_settings]\nprovider = "anthropic"\nmodel = "claude-opus-5-5"\n'
        "[ai_settings.caching]\nday_limit_usd = 0.01\n",
        encoding="utf-8",
    )
    return world


@pytest.mark.slow
def test_of_two_commands_that_send_at_once_the_second_is_judged_with_the_first(
    paid: World, vendor: AnthropicServer
) -> None:
    gate = Gate()
    vendor.faults.append(HoldAfter(3, gate))
    first = paid.fork("send", "one")
    try:
        assert gate.reached.wait(WAIT_S)
        second = paid.fork("send", "two")
        out, err = second.communicate(timeout=WAIT_S)
        gate.open()
        assert first.wait(WAIT_S) == 0
    finally:
        gate.open()
        first.kill()
        first.communicate()

    assert second.returncode == 1, (out, err)
    assert b"You have reached the limit of $0.01 for today" in err
    assert b"Running requests may add" in err
    assert len(vendor.requests) == 1
