"""States of signals: none yet, and a busy day with all that can be shown."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus, Signal, SignalSource, SignalState
from core.kernel.values.state import AppState
from tests.panels import states

LONG = "The deploy of the night failed at step 7 of 12. " * 40


def busy() -> AppState:
    """Signals of every source, long names and texts, an odd inbox, channels up and down."""
    waiting = tuple(
        Signal(
            f"s{n}",
            source,
            f"{source.value} " + "name" * n * 6,
            f"Line one {n}\n{LONG}",
            states.NOW,
            "d1" if n else "",
        )
        for n, source in enumerate(SignalSource)
    )
    channels = {
        "builds": ChannelStatus("builds", is_connected=True, dropped=12_480),
        "operations": ChannelStatus(
            "operations",
            problem="Its certificate is not trusted: self-signed; the program tries again in 40 s",
        ),
    }
    odd = (
        "dump.bin: it is no text. Put only text files into the inbox, and move this away: /home/person/.manual_slop/inbox",
    )
    signals = SignalState(
        waiting, 12, waiting[:2], channels, is_quiet=True, missed=3, inbox_odd=odd, desktop_problem="None"
    )
    state = states.working()
    named = {
        name: ChannelSettings(name, "irc.example.org", f"#{name}", senders=("a" * 60, "b" * 60))
        for name in channels
    }
    settings = replace(state.config.settings, channels=named)
    return replace(state, signals=signals, config=replace(state.config, settings=settings))


def none() -> AppState:
    """Nothing came in."""
    return states.working()
