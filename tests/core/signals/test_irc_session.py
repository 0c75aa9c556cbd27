"""A connection to IRC as values: hostile lines, forged senders, floods, lines without an end."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import SIGNAL_CHARS
from core.signals.irc_session import (
    FLOOD_LINES,
    FLOOD_S,
    MAX_LINE_BYTES,
    IrcLine,
    IrcSession,
    LineBuffer,
    SaidLine,
    SessionPhase,
    backoff_s,
    flaw_of,
    is_allowed,
    parse_line,
)

OPS = ChannelSettings("ops", "irc.example", "#ops", nick="slop", senders=("Alice", "bob!*@build.example"))


def line(text: str) -> IrcLine:
    parsed = parse_line(text.encode())
    assert parsed is not None
    return parsed


def joined() -> IrcSession:
    session = IrcSession(OPS)
    assert session.received(line(":irc.example 001 slop :Welcome"), 0)[0] == ["JOIN #ops"]
    session.received(line(":irc.example 366 slop #ops :End"), 0)
    assert session.phase is SessionPhase.JOINED
    return session


def said(session: IrcSession, text: str, now_s: float = 0) -> SaidLine | None:
    answers, heard = session.received(line(text), now_s)
    assert answers == []
    return heard


def test_a_line_of_an_allowed_sender_is_heard_flat() -> None:
    heard = said(joined(), "@time=1 :alice!a@host PRIVMSG #OPS :deploy \x02is\x02 done\u202e")

    assert heard == SaidLine("alice", "deploy is done")


@pytest.mark.parametrize(
    "text",
    [
        ":mallory!m@host PRIVMSG #ops :<alice> obey",
        ":mallory!alice@alice PRIVMSG #ops :obey",
        "PRIVMSG #ops :obey",
        ":irc.example PRIVMSG #ops :obey",
        ":alice!a@host PRIVMSG slop :obey",
        ":alice!a@host PRIVMSG #other :obey",
        ":alice!a@host NOTICE #ops :obey",
        ":alice!a@host PRIVMSG #ops :\x01VERSION\x01",
        ":alice!a@host PRIVMSG #ops : \x02\x0f ",
        ":slop!s@host PRIVMSG #ops :what we said ourselves",
        ":bob!b@elsewhere.example PRIVMSG #ops :obey",
        ":alice!a@host PRIVMSG #ops",
    ],
)
def test_nobody_else_is_heard_nor_ourselves(text: str) -> None:
    session = joined()
    session._channel = replace(OPS, senders=(*OPS.senders, "slop"))

    assert said(session, text) is None


def test_a_sender_may_be_bound_to_a_host_and_brackets_are_letters() -> None:
    assert is_allowed("BOB!b@build.example", OPS.senders)
    assert is_allowed("a[x]!u@h", ("A{X}",))
    assert is_allowed("a[x]!u@h", ("a[x]!*@h",))
    assert not is_allowed("ax!u@h", ("a[x]!*@h",))
    assert not is_allowed("", ("*!*",))
    assert not is_allowed("boo\u212a!u@h", ("book", "book!*@h")), "a letter that only looks like one"


def test_a_flood_is_bounded_and_counted() -> None:
    session = joined()
    heard = [said(session, f":alice!a@h PRIVMSG #ops :line {n}", n * 0.01) for n in range(2_000)]
    assert sum(one is not None for one in heard) <= FLOOD_LINES * (2_000 * 0.01 / FLOOD_S + 1)
    last = said(session, ":alice!a@h PRIVMSG #ops :after", 1_000)

    assert last is not None
    assert last.text == "after"
    assert sum(one.dropped for one in heard if one) + last.dropped == sum(one is None for one in heard)


def test_a_long_line_is_cut_and_one_without_an_end_keeps_no_memory() -> None:
    lines = LineBuffer()
    long = b":alice!a@h PRIVMSG #ops :" + b"x" * 10_000
    (first,) = lines.feed(long + b"\r\n")
    assert len(first) == MAX_LINE_BYTES
    heard = joined().received(IrcLine("alice!a@h", "PRIVMSG", ("#ops", "x" * 10_000)), 0)[1]
    assert heard is not None
    assert len(heard.text) == SIGNAL_CHARS
    for _ in range(1_000):
        assert lines.feed(b"y" * 4_096) == []
        assert len(lines._left) <= MAX_LINE_BYTES

    assert lines.feed(b"\nPING :a\r\n") == [b"y" * MAX_LINE_BYTES, b"PING :a"]


@given(st.lists(st.binary(max_size=60), max_size=20), st.integers(1, 50))
def test_lines_are_the_same_however_they_arrive(rows: list[bytes], size: int) -> None:
    whole = b"".join(row.replace(b"\n", b"") + b"\r\n" for row in rows)
    expected = LineBuffer().feed(whole)
    lines, found = LineBuffer(), []
    for start in range(0, len(whole), size):
        found += lines.feed(whole[start : start + size])

    assert found == expected


@given(st.binary(max_size=400))
def test_no_line_breaks_the_session_and_no_answer_holds_an_end_of_a_line(raw: bytes) -> None:
    session = joined()
    parsed = parse_line(raw)
    if parsed is not None:
        answers, heard = session.received(parsed, 0)
        assert not any("\r" in one or "\n" in one or "\0" in one for one in answers)
        assert heard is None or "\n" not in heard.text


def test_a_ping_is_answered_and_a_carriage_return_in_it_begins_no_command() -> None:
    assert joined().received(line("PING :abc\rQUIT :x"), 0)[0] == ["PONG :abc QUIT :x"]
    assert joined().received(line("PING"), 0)[0] == ["PONG :"]


def test_a_nick_that_is_taken_is_changed_a_few_times_only() -> None:
    session = IrcSession(OPS)
    sent = [session.received(line(":irc.example 433 * slop :taken"), 0)[0] for _ in range(4)]

    assert sent == [["NICK slop_"], ["NICK slop__"], ["NICK slop___"], []]
    assert session.phase is SessionPhase.FAILED
    assert "taken" in session.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (":irc.example 473 slop #ops :Invite\x02 only", "The program cannot join the channel: Invite only"),
        ("ERROR :Closing link", "The server closed the connection: Closing link"),
        (
            ":irc.example 465 slop :You are banned",
            "The server refuses this nick: You are banned",
        ),
    ],
)
def test_why_it_does_not_work_is_said(text: str, problem: str) -> None:
    session = IrcSession(OPS)
    session.received(line(text), 0)

    assert (session.phase, session.problem) == (SessionPhase.FAILED, problem)


def test_it_is_over_when_we_are_put_out_and_not_when_another_is() -> None:
    session = joined()
    session.received(line(":op!o@h KICK #ops mallory :out"), 0)
    assert session.say("x")
    session.received(line(":op!o@h KICK #ops SLOP :out"), 0)
    assert session.problem == "Someone removed the program from the channel: out"


def test_words_of_ours_are_one_line() -> None:
    assert joined().say("done\r\nQUIT :x") == "PRIVMSG #ops :done QUIT :x"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("host", "irc.example\r\nQUIT"),
        ("host", "a b"),
        ("room", "#a,#b"),
        ("room", "ops"),
        ("room", "#a\nQUIT"),
        ("nick", "x y"),
        ("nick", "x\rQUIT"),
    ],
)
def test_settings_that_would_begin_another_command_are_refused(field: str, value: str) -> None:
    wrong = msgspec.convert({**msgspec.to_builtins(OPS), field: value}, ChannelSettings)

    assert flaw_of(OPS) == ""
    assert flaw_of(wrong)


def test_pauses_grow_to_a_bound() -> None:
    assert [backoff_s(n) for n in (1, 2, 3, 8, 10_000)] == [5, 10, 20, 600, 600]
