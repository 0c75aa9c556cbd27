"""Files that people bring, and what is right about the discussions that an import makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from core.imports.import_run import ImportRequest, run_import
from core.kernel import paths
from core.kernel.values.messages import ReasoningPart, TextPart
from core.kernel.values.records import MessageRecord
from core.talk.discussion import log
from core.talk.discussion.discussion_meta import read_meta

Row = dict[str, Any]
T = "2026-10-01T08:%02d:00.000Z"


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """Files, and what is right about the discussions that they become.

    Args:
        named: the file that the person names, else the only one, else the folder.
        said: each discussion's lines of who said what; person: the person's messages; roles: of all messages in a row.
        has, has_not: texts that must, and must not, stand in them.
    """

    id: str
    files: dict[str, str]
    named: str = ""
    talks: int = 1
    said: Sequence[Sequence[str]] | None = None
    person: Sequence[str] | None = None
    roles: str = ""
    has: Sequence[str] = ()
    has_not: Sequence[str] = ()
    title: str = ""
    models: Sequence[str] = ()


def lines(*rows: Row) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def cc(*rows: Row, sid: str = "s1") -> str:
    """A session of Claude Code, each row following the one before."""
    told: list[Row] = []
    for number, row in enumerate(rows, 1):
        above = told[-1]["uuid"] if told else None
        given = {"sessionId": sid, "timestamp": T % number, "uuid": f"u{number}", "parentUuid": above}
        told.append({**given, **row})
    return lines(*told)


def u(content: Any, **more: Any) -> Row:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def a(*blocks: Row | str, mid: str = "", **more: Any) -> Row:
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    message = {"role": "assistant", "model": "claude-opus-4-8", "content": content}
    return {"type": "assistant", "message": {**message, **({"id": mid} if mid else {})}, **more}


def cx(*rows: Row) -> str:
    """A rollout of Codex."""
    return lines(*({"timestamp": T % number, **row} for number, row in enumerate(rows, 1)))


def ev(**payload: Any) -> Row:
    return {"type": "event_msg", "payload": payload}


def ri(**payload: Any) -> Row:
    return {"type": "response_item", "payload": payload}


def gpt(*messages: Row, **more: Any) -> str:
    """An export of ChatGPT with one conversation."""
    mapping: Row = {"r": {"id": "r", "message": None, "parent": None, "children": ["n1"]}}
    for number, message in enumerate(messages, 1):
        key = f"n{number}"
        given = {"id": key, "create_time": 1793000000 + number, "recipient": "all", "metadata": {}}
        after = [f"n{number + 1}"] if number < len(messages) else []
        before = f"n{number - 1}" if number > 1 else "r"
        mapping[key] = {"id": key, "message": {**given, **message}, "parent": before, "children": after}
    whole = {"title": "Tides", "create_time": 1793000000, "mapping": mapping, "conversation_id": "k1"}
    return json.dumps([{**whole, "current_node": f"n{len(messages)}", **more}])


def msg(
    role: str,
    *parts: Any,
    kind: str = "text",
    author: Row | None = None,
    content: Row | None = None,
    **more: Any,
) -> Row:
    told = {"content_type": kind, **({"parts": list(parts)} if parts else {}), **(content or {})}
    return {"author": {"role": role, **(author or {})}, "content": told, **more}


USE = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}
PIC = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
META: Row = {
    "type": "session_meta",
    "payload": {"id": "c1", "timestamp": T % 0, "cwd": "/srv/x", "cli_version": "0.147.0"},
}


def brought(case: Brought, base: Path) -> list[tuple[str, list[MessageRecord]]]:
    """Name and messages of each discussion that an import of the case makes."""
    home, given = base / "home", base / "in"
    home.mkdir()
    for name, text in case.files.items():
        path = given / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    only = next(iter(case.files)) if len(case.files) == 1 else ""
    request = ImportRequest(
        home=home,
        paths=(str(given / (case.named or only)),),
        now=datetime(2026, 11, 29, tzinfo=UTC),
        provider="acme",
        model="m",
        is_dry=False,
    )
    report = run_import(request)
    assert report.faults == ()
    made = sorted(folder.name for folder in paths.discussions_dir(home).iterdir())
    return [(read_meta(home, one).meta.name, _messages(home, one)) for one in made]


def _messages(home: Path, discussion_id: str) -> list[MessageRecord]:
    return [one for one in log.read(home, discussion_id).records if isinstance(one, MessageRecord)]


def _words(record: MessageRecord) -> str:
    return "\n".join(part.text for part in record.parts if isinstance(part, TextPart | ReasoningPart))


def check(case: Brought, base: Path) -> None:
    """Hold what an import makes of the files against what is right."""
    found = brought(case, base)

    assert len(found) == case.talks
    told = [one for _, messages in found for one in messages]
    whole = "\n".join(map(_words, told))
    if case.said is not None:
        seen = [
            [f"{one.role[0]}: {' '.join(_words(one).split())}" for one in messages] for _, messages in found
        ]
        assert sorted(seen) == sorted(map(list, case.said))
    if case.person is not None:
        assert [" ".join(_words(one).split()) for one in told if one.role == "user"] == list(case.person)
    if case.roles:
        assert "".join(one.role[0] for one in told) == case.roles
    assert [one for one in case.has if one not in whole] == []
    assert [one for one in case.has_not if one in whole] == []
    if case.title:
        assert [name for name, _ in found].count(case.title) == 1, "branches have names of their own"
    if case.models:
        assert sorted({one.model for one in told if one.role != "user"}) == sorted(case.models)
