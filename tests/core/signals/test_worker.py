"""The signals worker: what it carries out, what one order does for many, and that only the home's owner does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.kernel.errors import StorageError
from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus, NotificationKind
from core.signals.signals_messages import (
    ChannelChanged,
    DesktopTried,
    InboxRead,
    PutInboxAway,
    ReadInbox,
    SayInChannel,
    SetChannels,
    ShowNotification,
    SignalEvent,
    TellInboxAgain,
)
from core.signals.signals_worker import NOT_OURS, SignalHandler, supersedes

NOW = datetime(2026, 11, 23, tzinfo=UTC)
SAY = SayInChannel("ops", NotificationKind.QUESTION)
AWAY = PutInboxAway(("a",))
AGAIN = TellInboxAgain(("a",))
ORDERS = (ReadInbox(), AWAY, AGAIN, ShowNotification("a", "b"), SetChannels(()), SAY)


def test_each_order_is_carried_out_and_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told: list[SignalEvent] = []
    handler = SignalHandler(tmp_path, lambda: NOW, told.append, lambda: True)
    for order in ORDERS:
        handler.handle(order)
    handler.close()

    assert told[0] == InboxRead()
    assert isinstance(told[1], DesktopTried)
    assert len(told) == 2


def test_a_command_beside_the_program_takes_nothing_out_of_the_inbox(tmp_path: Path) -> None:
    told: list[SignalEvent] = []
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.txt").write_text("x")
    handler = SignalHandler(tmp_path, lambda: NOW, told.append, lambda: False)
    for order in ORDERS:
        handler.handle(order)

    assert told == []
    assert (tmp_path / "inbox" / "a.txt").exists()


def test_a_channel_that_is_left_to_the_owner_says_why(tmp_path: Path) -> None:
    told: list[SignalEvent] = []
    handler = SignalHandler(tmp_path, lambda: NOW, told.append, lambda: False)
    handler.handle(SetChannels((ChannelSettings("ops", "irc.example", "#ops"),)))

    assert told == [ChannelChanged(ChannelStatus("ops", problem=NOT_OURS))]


def test_an_inbox_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    (tmp_path / "inbox").write_text("a file")

    with pytest.raises(StorageError, match="inbox"):
        SignalHandler(tmp_path, lambda: NOW, lambda _event: None, lambda: True).handle(ReadInbox())


def test_the_newest_order_does_for_all_of_its_kind_but_words_are_all_said() -> None:
    for newer in ORDERS:
        for older in ORDERS:
            assert supersedes(newer, older) is (newer is older and newer not in {SAY, AWAY, AGAIN})
