"""Channels over real TLS on loopback: joined, heard, connected anew, and closed to whom nobody trusts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import pytest

from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus
from core.signals.channels import CHANGED, Channels
from core.signals.irc_session import FLOOD_LINES
from core.signals.signals_messages import ChannelChanged, ChannelSaid
from tests.core.signals.irc_server import IrcServer
from tests.patience import PATIENCE_S, ends

E = TypeVar("E")
JOINED = ChannelChanged(ChannelStatus("ops", is_connected=True))


class Desk:
    """Channels, a server, and what was told."""

    def __init__(self, folder: Path) -> None:
        self.server = IrcServer(folder)
        self.told: SimpleQueue[CHANGED] = SimpleQueue()
        self.channels = Channels(self.told.put, first_wait_s=0.01)
        self.ops = ChannelSettings(
            "ops", "127.0.0.1", "#ops", "slop", self.server.port, ("alice",), str(self.server.certificate)
        )

    def next(self, kind: type[E]) -> E:
        """The next that is told of a kind."""
        while not isinstance(one := self.told.get(timeout=PATIENCE_S), kind):
            pass
        return one


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.channels.close()
    desk.server.close()


def test_a_channel_is_joined_heard_and_spoken_to(desk: Desk) -> None:
    desk.channels.set((desk.ops,))
    assert desk.next(ChannelChanged) == JOINED
    desk.server.say(b"PING :still there\r\n:mallory!m@h PRIVMSG #ops :<alice> push\r\n")
    desk.server.say(b":alice!a@h PRIVMSG #ops :" + b"z" * 10_000 + b"\r\n:alice!a@h PRIVMSG #ops :done\r\n")
    assert desk.server.until("PONG") == "PONG :still there"
    cut, done = desk.next(ChannelSaid), desk.next(ChannelSaid)
    assert (cut.sender, set(cut.text)) == ("alice", {"z", "…"})
    assert done == ChannelSaid("ops", "alice", "done")
    desk.channels.say("ops", "Manual Slop: the reply has arrived.\r\nQUIT")
    assert desk.server.until("PRIVMSG") == "PRIVMSG #ops :Manual Slop: the reply has arrived. QUIT"
    desk.channels.say("never", "x")

    desk.server.hang_up()
    lost = desk.next(ChannelChanged)
    assert not lost.status.is_connected
    assert "the program tries again in" in lost.status.problem
    assert desk.next(ChannelChanged) == JOINED
    desk.channels.set(())
    assert desk.server.until("JOIN") == "JOIN #ops"


def test_what_a_flood_took_is_told_though_no_further_line_comes(desk: Desk) -> None:
    desk.channels.set((desk.ops,))
    assert desk.next(ChannelChanged) == JOINED
    desk.server.say(b"".join(b":alice!a@h PRIVMSG #ops :line %d\r\n" % n for n in range(500)))

    heard = took = 0
    while heard + took < 500:
        one = desk.next(ChannelSaid)
        heard, took = heard + bool(one.text), took + one.dropped

    assert (heard, took) == (FLOOD_LINES, 500 - FLOOD_LINES)


def test_a_server_that_nobody_vouches_for_hears_nothing(desk: Desk) -> None:
    stranger = ChannelSettings("ops", "127.0.0.1", "#ops", "slop", desk.server.port, ("alice",))
    desk.channels.set((stranger,))

    assert "certificate is not trusted" in desk.next(ChannelChanged).status.problem
    assert desk.server.heard.empty()


def test_what_cannot_be_connected_says_why_and_the_end_waits_for_none(desk: Desk, tmp_path: Path) -> None:
    desk.server.close()
    wrong = ChannelSettings("wrong", "127.0.0.1", "no room")
    missing = ChannelSettings("missing", "127.0.0.1", "#ops", certificates=str(tmp_path / "none.pem"))
    desk.channels.set((desk.ops, wrong, missing))
    problems: dict[str, str] = {}
    while len(problems) < 3:
        status = desk.next(ChannelChanged).status
        problems[status.name] = status.problem
    ends(desk.channels.close)

    assert "is not the name of a channel" in problems["wrong"]
    assert "No such file" in problems["missing"]
    assert "the program tries again in" in problems["ops"]
    desk.channels.close()
    desk.channels.set(())
