"""One connection to an IRC channel as a value machine: lines in, lines out, no socket and no clock of its own."""

from __future__ import annotations

import re
from collections import deque
from enum import StrEnum
from fnmatch import fnmatchcase
from string import ascii_lowercase, ascii_uppercase

import msgspec

from core.kernel.frame import flat, one_line
from core.kernel.language import spliced, tr
from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import SENDER_CHARS, SIGNAL_CHARS

MAX_LINE_BYTES = 8_704
"""Most of a line: 8,191 bytes of tags and 512 of the rest. What is over it is thrown away as it comes.

Source: IRCv3 "Message Tags", size limit (read 2026-11-23).
"""
FLOOD_LINES, FLOOD_S = 20, 10.0
"""Lines of a channel that count within so many seconds; further ones are counted alone."""
PROBLEM_CHARS = 160
MOST_NICKS = 4

_NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][-0-9A-Za-z\[\]\\`_^{|}]{0,29}")
_ROOM = re.compile(r"[#&+!][^\s,:\x00-\x1f\x7f]{1,63}")
_HOST = re.compile(r"[0-9A-Za-z.:_-]{1,253}")
_JOIN_FAILS = frozenset({"403", "405", "437", "471", "473", "474", "475", "476", "477", "489"})
_NICK_TAKEN = frozenset({"433", "436", "437"})
_LOWER = str.maketrans(f"{ascii_uppercase}[]\\^", f"{ascii_lowercase}{{}}|~")


class IrcLine(msgspec.Struct, frozen=True):
    """A line of the protocol. `prefix`: who sent it, as the server says; `parameters`: the last may hold spaces."""

    prefix: str
    command: str
    parameters: tuple[str, ...]


class SessionPhase(StrEnum):
    """Phase of a connection."""

    OPENING = "opening"
    JOINED = "joined"
    FAILED = "failed"


class SaidLine(msgspec.Struct, frozen=True):
    """A line of an allowed sender, flat. `dropped`: lines before it that the flood took."""

    sender: str
    text: str
    dropped: int = 0


class LineBuffer:
    """Bytes of a connection cut into lines; one that never ends keeps no memory."""

    def __init__(self) -> None:
        self._left = b""
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Whole lines that these bytes end, each at most `MAX_LINE_BYTES`, without their ends."""
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            if not self._is_skipping:
                lines.append((self._left + piece)[:MAX_LINE_BYTES].rstrip(b"\r"))
            elif self._left:
                lines.append(self._left)
            self._left, self._is_skipping = b"", False
        if not self._is_skipping:
            self._left += rest
            if len(self._left) > MAX_LINE_BYTES:
                self._left, self._is_skipping = self._left[:MAX_LINE_BYTES], True
        return lines


def parse_line(data: bytes) -> IrcLine | None:
    """A line as its parts, None for text of another form. Tags are passed over; a carriage return or NUL inside is a space."""
    text = data.decode("utf-8", "replace").replace("\r", " ").replace("\n", " ").replace("\0", " ")
    if text.startswith("@"):
        text = text.partition(" ")[2].lstrip(" ")
    prefix = ""
    if text.startswith(":"):
        prefix, _, text = text[1:].partition(" ")
    head, colon, trailing = text.lstrip(" ").partition(" :")
    words = head.split()
    if not words:
        return None
    return IrcLine(
        prefix=prefix, command=words[0].upper(), parameters=(*words[1:16], *((trailing,) if colon else ()))
    )


def flaw_of(channel: ChannelSettings) -> str:
    """Reason why a channel cannot be connected as it is set, empty where it can."""
    if not _HOST.fullmatch(channel.host):
        return tr("{host!r} is not the name of a server", host=one_line(channel.host, 60))
    if not _ROOM.fullmatch(channel.room):
        return tr(
            "{room!r} is not the name of a channel; such a name begins with #",
            room=one_line(channel.room, 60),
        )
    if not _NICK.fullmatch(channel.nick):
        return tr("{nick!r} is not a nick", nick=one_line(channel.nick, 60))
    return ""


def backoff_s(failures: int, first_s: float = 5.0) -> float:
    """Seconds before the next try after so many failures in a row, 1 or more."""
    return min(600.0, first_s * 2.0 ** min(failures - 1, 20))


class IrcSession:
    """A connection from its first line on. Not for two threads.

    Args:
        channel: as the person set it, without a flaw.
    """

    def __init__(self, channel: ChannelSettings) -> None:
        self._channel = channel
        self._nick = channel.nick
        self._tries = 1
        self._recent: deque[float] = deque(maxlen=FLOOD_LINES)
        self._dropped = 0
        self.phase = SessionPhase.OPENING
        self.problem = ""

    def opening(self) -> list[str]:
        """The lines that a connection begins with."""
        return [f"NICK {self._nick}", f"USER {self._nick} 0 * :Manual Slop"]

    def received(self, line: IrcLine, now_s: float) -> tuple[list[str], SaidLine | None]:
        """Lines to be sent for a line, and what it says to us.

        Args:
            now_s: monotonic seconds.
        """
        match line.command:
            case "PING":
                return [f"PONG :{line.parameters[-1][:400] if line.parameters else ''}"], None
            case "001":
                self._nick = line.parameters[0] if line.parameters else self._nick
                return [f"JOIN {self._channel.room}"], None
            case "366" if self._names_room(line, 1):
                self.phase = SessionPhase.JOINED
            case "ERROR":
                self._fail(tr("The server closed the connection"), line)
            case "KICK" if self._names_room(line, 0) and _same(line.parameters[1:2], self._nick):
                self._fail(tr("Someone removed the program from the channel"), line)
            case "NICK" if _same((nick_of(line.prefix),), self._nick) and line.parameters:
                self._nick = line.parameters[0]
            case "PRIVMSG" if self.phase is SessionPhase.JOINED:
                return [], self._said(line, now_s)
            case command if command in _NICK_TAKEN and self.phase is SessionPhase.OPENING:
                return self._other_nick(line), None
            case command if command in _JOIN_FAILS and self.phase is SessionPhase.OPENING:
                self._fail(tr("The program cannot join the channel"), line)
            case command if command in {"464", "465", "432"} and self.phase is SessionPhase.OPENING:
                self._fail(tr("The server refuses this nick"), line)
            case _:
                pass
        return [], None

    def say(self, words: str) -> str:
        """The line that says words of ours in the channel."""
        return f"PRIVMSG {self._channel.room} :{one_line(flat(words), 300)}"

    @property
    def has_dropped(self) -> bool:
        """True while the flood took lines that nobody was told of yet."""
        return self._dropped > 0

    def take_dropped(self) -> int:
        """Lines that the flood took and nobody was told of yet."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def _said(self, line: IrcLine, now_s: float) -> SaidLine | None:
        """A line in the channel of somebody who is allowed. Our own, and what programs ask of programs, do not count."""
        nick, text = nick_of(line.prefix), line.parameters[-1] if len(line.parameters) > 1 else ""
        if not self._names_room(line, 0) or text.startswith("\1") or _same((nick,), self._nick):
            return None
        words = one_line(flat(text), SIGNAL_CHARS)
        if not words or not is_allowed(line.prefix, self._channel.senders):
            return None
        if len(self._recent) == FLOOD_LINES and now_s - self._recent[0] < FLOOD_S:
            self._dropped += 1
            return None
        self._recent.append(now_s)
        return SaidLine(sender=one_line(flat(nick), SENDER_CHARS), text=words, dropped=self.take_dropped())

    def _names_room(self, line: IrcLine, place: int) -> bool:
        return _same(line.parameters[place : place + 1], self._channel.room)

    def _other_nick(self, line: IrcLine) -> list[str]:
        if self._tries == MOST_NICKS:
            self._fail(tr("The nick is taken"), line)
            return []
        self._nick = f"{self._channel.nick[:28]}{'_' * self._tries}"[:30]
        self._tries += 1
        return [f"NICK {self._nick}"]

    def _fail(self, what: str, line: IrcLine) -> None:
        said = one_line(flat(line.parameters[-1]), PROBLEM_CHARS) if line.parameters else ""
        self.phase = SessionPhase.FAILED
        self.problem = spliced("{}: {}", what, said) if said else what


def nick_of(prefix: str) -> str:
    """Nick of a prefix (`nick!user@host`); empty for a server's."""
    nick, mark, _ = prefix.partition("!")
    return nick if mark or "." not in nick else ""


def is_allowed(prefix: str, senders: tuple[str, ...]) -> bool:
    """True if a sender is on the list: by nick, or by a pattern of nick, user and host where the entry holds `!`."""
    nick, whole = _lower(nick_of(prefix)), _lower(prefix)
    if not nick:
        return False
    return any(
        fnmatchcase(whole, _escaped(_lower(entry))) if "!" in entry else _lower(entry) == nick
        for entry in senders
    )


def _escaped(pattern: str) -> str:
    """The pattern with `*` and `?` alone as signs."""
    return pattern.replace("[", "[[]")


def _lower(text: str) -> str:
    """Text in lower case as IRC has it: no letter beyond ASCII becomes one of ASCII. Source: RFC 1459, 2.2."""
    return text.translate(_LOWER)


def _same(words: tuple[str, ...], word: str) -> bool:
    return bool(words) and _lower(words[0]) == _lower(word)
