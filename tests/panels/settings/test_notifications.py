"""The settings of notifications and channels, as a person meets them."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus, SignalState
from core.services.settings.settings_messages import ChangeSetting
from panels.base.view import WindowView
from tests.panels import states
from tests.panels.screen import Screen


def test_notices_and_channels_are_switched_and_say_how_they_stand() -> None:
    state = states.working()
    ops = ChannelSettings("ops", "irc.example", "#ops", senders=("alice", "bob"))
    settings = replace(state.config.settings, channels={"ops": ops})
    signals = SignalState(
        channels={"ops": ChannelStatus("ops", problem="The server does not answer")},
        desktop_problem="The command notify-send is missing: install libnotify",
    )
    state = replace(state, config=replace(state.config, settings=settings), signals=signals)
    screen = Screen(state, WindowView(page="settings", settings_section="notifications"))

    assert screen.ui.shows("#ops at irc.example:6697")
    assert screen.ui.shows("The server does not answer")
    assert screen.ui.shows("Accepted senders: alice, bob")
    assert screen.ui.shows("install libnotify")
    screen.ui.click("Desktop notices while you are away")
    screen.ui.click("Connect to this channel while the program runs")
    screen.ui.click("Write all notifications to the channel, not only those about its own signals")
    screen.ui.click("Answer signals from the channel with the beginning of the model's reply")

    assert screen.asked == [
        ChangeSetting("notifications.desktop", False),
        ChangeSetting("channels.ops.enabled", False),
        ChangeSetting("channels.ops.announces", True),
        ChangeSetting("channels.ops.answers", True),
    ]
