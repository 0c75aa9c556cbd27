"""The prefix guard of every test: what goes out to a vendor on loopback extends what a cache of it still holds, or says why not.

Bodies are read as the vendor reads them: a run of rows (model, tools, system, parts of messages), marks left out. What a
request leaves warm are its rows up to its last mark, or, where the vendor caches by itself, up to the last words. A later
request belongs to the conversation whose last words it repeats. Reasons are those that the program writes into the log of
a discussion beside a request, or the test gives by `breaks_prefix`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.vendors.loopback import Heard, Json, LoopbackServer

_MARKS = ("cache_control", "prompt_cache_breakpoint")
_SETTINGS = ("tool_choice", "thinking", "output_config")
"""Fields of Anthropic's that stand before its messages in what it caches."""
_PASSING = ("<discussion", "{rag-context}")
"""Texts at the end of a request that stand there for one turn alone, as our stack frames them."""
_JOINED = re.compile(r"\n\n(?=<discussion|\{rag-context\})")
"""Where they begin in the one string that a message is to a server that takes no list of parts."""
_OWN_S = 300.0
"""Time for which a vendor that caches by itself is taken to hold a prefix, as the program takes it."""
_TTL_S = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0, "12h": 43_200.0, "24h": 86_400.0}


@dataclass(frozen=True, slots=True)
class Request:
    """A body as its rows.

    Args:
        warm: rows, counted, that a cache holds of it; lives_s: for so long.
        last: the rows of its last words, or of the last results of tools.
    """

    rows: tuple[str, ...]
    warm: int
    lives_s: float
    last: range
    at_s: float


@dataclass(frozen=True, slots=True)
class Break:
    """A request that does not extend a warm one: the number of the request, and where it leaves the one before."""

    number: int
    row: int
    before: str
    after: str
    rows: tuple[str, ...]

    def __str__(self) -> str:
        place = next(
            (i for i, pair in enumerate(zip(self.before, self.after, strict=False)) if pair[0] != pair[1]), 0
        )
        start = max(0, place - 40)
        return (
            f"request {self.number} leaves the warm prefix at part {self.row}, character {place}: "
            f"{self.before[start : place + 80]!r} became {self.after[start : place + 80]!r}"
        )


def heard_by_servers() -> list[list[Heard]]:
    """What each vendor's server heard since the last call, and forget it."""
    found = [server.heard[:] for server in LoopbackServer.started]
    for server in LoopbackServer.started:
        server.heard.clear()
    LoopbackServer.started[:] = [server for server in LoopbackServer.started if server.is_running]
    return found


def breaks(heard: Sequence[Heard]) -> list[Break]:
    """Requests that extend none of the warm ones of their conversation, in order."""
    found: list[Break] = []
    requests: list[Request] = []
    for number, one in enumerate(heard):
        request = as_request(one)
        before = _before(request, requests)
        if (
            before
            and not one.is_second
            and not any(request.rows[: old.warm] == old.rows[: old.warm] for old in before)
        ):
            found.append(_break(number, before[-1], request))
        requests.append(request)
    return found


def unexplained(found: Sequence[Break], reasons: Iterable[str]) -> list[Break]:
    """Breaks without a recorded reason. `reasons`: texts of messages whose request says in the log why it breaks."""
    texts = [json.dumps(text)[1:-1] for text in reasons]
    return [one for one in found if not any(text in row for text in texts for row in one.rows)]


def recorded_reasons(folder: Path) -> Iterator[str]:
    """Texts of the messages, in the logs below a folder, with a request that says why it left what was warm."""
    for log in folder.rglob("*.jsonl"):
        rows = [_row(line) for line in log.read_bytes().splitlines()]
        broken = {row.get("message_id") for row in rows if row.get("type") == "request" and row.get("broken")}
        for row in rows:
            if row.get("type") == "message" and row.get("id") in broken:
                yield from (part["text"] for part in row.get("parts", ()) if part.get("text"))


def as_request(heard: Heard) -> Request:
    """The rows of a body of Anthropic, OpenAI, Gemini or a compatible server."""
    body = heard.body
    rows = [str(body.get("model", ""))]
    marks: dict[int, float] = {}
    last = range(0)

    def add(role: str, part: object) -> None:
        part, mark = _unmarked(part)
        if mark is not None:
            marks[len(rows)] = _TTL_S.get(mark.get("ttl", ""), 0.0) or _default_s(body)
        rows.append(role + json.dumps(part, sort_keys=True, ensure_ascii=False))

    for tool in body.get("tools") or ():
        add("tool", tool)
    system = body.get("system") or body.get("systemInstruction") or body.get("instructions") or ()
    for part in _listed(system):
        add("system", part)
    if "max_tokens" in body and "messages" in body:
        add("settings", {name: body[name] for name in _SETTINGS if name in body})
    for message in body.get("messages") or body.get("input") or body.get("contents") or ():
        role = str(message.get("role") or message.get("type"))
        inner = message.get("content") or message.get("parts")
        if role == "user" and isinstance(inner, str):
            inner = _JOINED.split(inner)
        before = len(rows)
        for part in inner if isinstance(inner, list) else (message,):
            add(role, part)
        if role in {"user", "tool", "function_call_output"}:
            end = next((n for n in range(len(rows), before, -1) if not _is_passing(rows[n - 1])), before)
            last = range(before, end) if end > before else last
    if marks:
        return Request(tuple(rows), min(max(marks) + 1, last.stop), marks[max(marks)], last, heard.at_s)
    return Request(tuple(rows), 0 if _is_marked_only(body) else last.stop, _OWN_S, last, heard.at_s)


def _unmarked(part: object) -> tuple[object, Json | None]:
    """A part, or the output of a tool, without its mark, and that mark: the vendor reads it as no content."""
    if not isinstance(part, dict):
        return part, None
    mark = next((part[name] for name in _MARKS if isinstance(part.get(name), dict)), None)
    bare = {name: value for name, value in part.items() if name not in _MARKS}
    if isinstance(output := bare.get("output"), list):
        inner = [_unmarked(one) for one in output]
        bare["output"] = [one for one, _ in inner]
        mark = next((one for _, one in reversed(inner) if one is not None), mark)
    return bare, mark


def _before(request: Request, requests: Sequence[Request]) -> list[Request]:
    """The warm requests whose last words stand deepest in a request."""
    places: dict[str, int] = {row: place for place, row in enumerate(request.rows)}
    deepest, found = -1, list[Request]()
    for old in requests:
        if old.rows[0] != request.rows[0] or request.at_s - old.at_s >= old.lives_s:
            continue
        said = [places.get(old.rows[row], -1) for row in old.last]
        place = max(said, default=-1)
        if -1 in said or place < max(deepest, 0):
            continue
        if place > deepest:
            deepest, found = place, []
        found.append(old)
    return found


def _break(number: int, old: Request, new: Request) -> Break:
    pairs = zip(old.rows, (*new.rows, *[""] * len(old.rows)), strict=False)
    row = next(n for n, (one, two) in enumerate(pairs) if one != two)
    after = new.rows[row] if row < len(new.rows) else ""
    return Break(number, row, old.rows[row], after, new.rows)


def _is_passing(row: str) -> bool:
    return any(f'"{tag}' in row for tag in _PASSING)


def _is_marked_only(body: Mapping[str, Any]) -> bool:
    """True if nothing is held of a body without a mark."""
    mode = (body.get("prompt_cache_options") or {}).get("mode")
    return mode == "explicit" or (
        "max_tokens" in body and "messages" in body and "stream_options" not in body
    )


def _default_s(body: Mapping[str, Any]) -> float:
    options = body.get("prompt_cache_options") or {}
    return _TTL_S.get(options.get("ttl", ""), 1800.0 if "input" in body else 300.0)


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, dict):
        return value.get("parts", ()) if isinstance(value.get("parts"), list) else (value,)
    return (value,) if isinstance(value, str) else value if isinstance(value, list) else ()


def _row(line: bytes) -> Json:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
