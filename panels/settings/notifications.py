"""The settings page: notices of the desktop, and channels of messages."""

from __future__ import annotations

from core.settings.messages import ChangeSetting
from core.values.settings import ChannelSettings
from panels.base.desk import Desk

EXAMPLE = """\
[channels.builds]
host = "irc.example.org"
room = "#builds"
senders = ["ci-bot"]"""
SAYS = (
    "Lines of an IRC channel become signals for an autonomous discussion: data, never orders. It is spoken to over TLS "
    "alone, and only lines of the senders on its list count. A channel is added in config.toml:"
)


def notifications_section(desk: Desk) -> None:
    """Draw the section. Sends ChangeSetting."""
    ui, settings, signals = desk.ui, desk.state.config.settings, desk.state.signals
    ui.text("title", "Notifications and channels", style="h2")
    label = "Notices on the desktop while I am away"
    ticked = ui.checkbox("desktop", label, settings.notifications.desktop)
    if ticked is not None:
        desk.send(ChangeSetting("notifications.desktop", ticked))
    what = "For a reply that is there, a question, an approval, and when autonomy stops; in fixed words."
    ui.text("what", what, tone="muted", style="small", wraps=True)
    if signals.desktop_problem:
        ui.text(
            "problem",
            f"The last one was not shown. {signals.desktop_problem}.",
            tone="warn",
            style="small",
            wraps=True,
        )
    ui.text("channels title", "Channels", style="strong")
    for channel in settings.channels.values():
        _channel(desk, channel)
    ui.text("says", SAYS, tone="muted", style="small", wraps=True)
    ui.code("example", EXAMPLE, language="toml")
    ui.text(
        "not", "Other messengers, Telegram among them, are left out.", tone="muted", style="small", wraps=True
    )


def _channel(desk: Desk, channel: ChannelSettings) -> None:
    ui, key = desk.ui, f"channels.{channel.name}"
    status = desk.state.signals.channels.get(channel.name)
    with ui.surface(("channel", channel.name), "card", padding=(16, 12)), ui.group("lines", gap=6):
        with ui.row("head"):
            is_connected = status is not None and status.is_connected
            ui.icon("icon", "hashtag", tone="ok" if is_connected else "muted")
            ui.text("name", channel.name, style="strong")
            where = f"{channel.room} at {channel.host}:{channel.port}"
            ui.text("where", where, tone="muted", style="small", width=0, tip=where)
        if status is not None and status.problem:
            ui.text("problem", status.problem, tone="warn", style="small", wraps=True)
        said = ", ".join(channel.senders) or "nobody: no line counts until senders are named"
        ui.text("senders", f"Listened to: {said}", style="small", wraps=True)
        is_on = ui.checkbox("enabled", "Connected while the program runs", channel.is_enabled)
        if is_on is not None:
            desk.send(ChangeSetting(f"{key}.enabled", is_on))
        announces = ui.checkbox(
            "announces", "All notifications go out to it, not only for what it asked", channel.announces
        )
        if announces is not None:
            desk.send(ChangeSetting(f"{key}.announces", announces))
        answers = ui.checkbox(
            "answers", "The beginning of the model's reply goes out to it for what it asked", channel.answers
        )
        if answers is not None:
            desk.send(ChangeSetting(f"{key}.answers", answers))
