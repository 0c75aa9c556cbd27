"""Sessions of Claude Code: a JSON object a line, each message naming the one that it follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from core.kernel.decoders import from_json
from core.kernel.frame import clean
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.talk.transcripts.claude import parts_of
from core.talk.transcripts.text import Buffer, content_id, lines, moment


class _Session:
    """A session that is being read."""

    def __init__(self, key: str) -> None:
        self.id, self.title, self.folder, self.last = key, "", "", ""
        self.messages: list[TranscriptMessage] = []
        self.skipped: Counter[str] = Counter()
        self.seen: set[str] = set()
        self.above: dict[str, str] = {}

    def transcript(self) -> Transcript:
        """Session as it was read."""
        said = [one for one in self.messages if not one.is_aside]
        return Transcript(
            id=self.id or content_id(self.messages),
            messages=tuple(self.messages),
            title=self.title,
            at=next((one.at for one in self.messages if one.at is not None), None),
            current=said[-1].id if said else "",
            folder=self.folder,
            skipped=dict(self.skipped),
        )


def read(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Sessions of a file, whole ones: most files hold one. Lines that cannot be read are named, and passed over."""
    sessions: dict[str, _Session] = {}
    broken: list[Unread] = []
    number, is_torn = 0, False
    for number, line in enumerate(lines(buffer), 1):
        if not line.strip(b" \t\0"):
            continue
        row: Any = None
        try:
            row = from_json(line, Any)
        except (msgspec.DecodeError, RecursionError, ValueError):
            is_torn = True
            broken.append(Unread(place=f"line {number}", why="it is no JSON; the lines around it were read"))
        if isinstance(row, dict):
            _take(row, number, sessions)
    for session in sessions.values():
        if session.messages:
            yield session.transcript()
    if is_torn and broken[-1].place == f"line {number}":
        broken[-1] = Unread(
            place=f"line {number}, the last", why="it ends in the middle; the lines before it were read"
        )
    yield from broken


def _take(row: dict[str, Any], number: int, sessions: dict[str, _Session]) -> None:
    kind, key = str(row.get("type")), row.get("sessionId")
    if kind == "summary" and isinstance(row.get("summary"), str):
        newest = next(reversed(sessions.values()), None)
        if newest is not None and not newest.title:
            newest.title = clean(row["summary"])
        return
    message = row.get("message")
    if kind not in {"user", "assistant"} or not isinstance(message, dict):
        return
    name = key if isinstance(key, str) else ""
    session = sessions.setdefault(name, _Session(name))
    folder = row.get("cwd")
    if (
        not session.folder and isinstance(folder, str) and clean(folder) == folder
    ):  # else no path: looked for, it raises
        session.folder = folder
    parts = parts_of(message.get("content"), session.skipped)
    own, above = row.get("uuid"), row.get("parentUuid")
    parent = above if isinstance(above, str) else session.last
    parent = parent if parent in session.seen else session.above.get(parent, session.last)
    if not parts or row.get("isMeta") is True:
        session.skipped["notes of the program" if parts else "empty messages"] += 1
        if isinstance(own, str):
            session.above[own] = parent
        return
    own = own if isinstance(own, str) and own and own not in session.seen else f"#{number}"
    session.seen.add(own)
    session.last = own if row.get("isSidechain") is not True else session.last
    model = message.get("model")
    session.messages.append(
        TranscriptMessage(
            id=own,
            role=kind,
            parts=parts,
            parent=parent,
            at=moment(row.get("timestamp")),
            model=model if isinstance(model, str) else "",
            is_aside=row.get("isSidechain") is True,
        )
    )
