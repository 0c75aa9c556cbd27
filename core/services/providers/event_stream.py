"""The one reader of event streams, between the wire and every SDK: what servers really send, as the frames that SDKs read.

Servers send frames without data, comments, one newline for two, plain JSON, a whole reply in place of a stream, and errors
in shapes of their own. An SDK that is strict ends a paid reply there. What leaves here is a frame of its vendor each.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from core.kernel.codecs import read_json
from core.kernel.language import tr
from core.kernel.patterns import late
from core.services.providers.door import (
    EndlessError,
    SenselessError,
)
from core.services.providers.server_words import is_failure, page_title, words_of

Json = dict[str, Any]
Frame = tuple[str, bytes]
"""The name of an event, empty for none, and its data, never empty."""

EVENT_BYTES = 256_000_000
"""Bytes of one event of a stream, at most: some vendors repeat the whole reply in the last."""

STRAY_BYTES = 64_000
"""Bytes that are kept of text outside a stream's events, for its words."""

WHOLE = "is_whole"
"""Mark on a choice whose delta was a message: it may repeat what came before."""

CHAT, RESPONSES, MESSAGES, GEMINI = "/chat/completions", "/responses", "/messages", ":streamGenerateContent"

_DONE = b"[DONE]"
_NOISE = frozenset({b"ping", b"keepalive", b"keep-alive", b"heartbeat", b"null", b'""', b"{}", b"[]", b"ok"})
"""Data that says nothing but that the server lives."""

_NOISE_EVENTS = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})

_IS_JSON = late(rb'\{|\[\s*(?:[\[{"\d\]-]|true\b|false\b|null\b|\Z)')
"""Begin of JSON; words in brackets, as `[ERROR] …`, are no JSON."""

_BEGIN = late(rb"\s*,?\s*\{")

_MARKS = late(rb'\\.?|["\[\]{}]', re.DOTALL)
"""Characters that decide where JSON ends: brackets, and the quotes and escapes of texts that may hold brackets."""

_ODD = late(rb"[^\x09\x20-\x7e]")
_BREAKS = {code: f"\\u{code:04x}" for code in (*range(9), 11, 12, *range(14, 32), 0x85, 0x2028, 0x2029)}
"""Characters at which a reader of lines may break a line, or that JSON takes only as an escape."""


def api_of(path: str) -> str:
    """The API whose stream is at a path, empty for none."""
    return next((api for api in (CHAT, RESPONSES, MESSAGES, GEMINI) if path.endswith(api)), "")


class _ByteLines:
    """Lines of bytes that come cut anywhere; they end as the standard says: LF, CR, or both."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._is_first = True
        self.size = 0
        """Bytes of the line that has not ended."""

    def feed(self, piece: bytes) -> list[bytes]:
        """Lines that have ended."""
        if self._rest and self._rest[-1].endswith(b"\r"):
            piece = self._rest.pop() + piece
        if b"\r" in piece:
            is_open = piece.endswith(b"\r")
            piece = piece.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + b"\r" * is_open
        if b"\n" not in piece:
            self._rest.append(piece)
            self.size += len(piece)
            return []
        first, *lines = piece.split(b"\n")
        self._rest.append(first)
        lines.insert(0, b"".join(self._rest))
        self._rest, self.size = [lines[-1]], len(lines[-1])
        del lines[-1]
        if self._is_first:
            self._is_first = False
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        return lines

    def end(self) -> bytes:
        """The line that was not ended."""
        line, self._rest = b"".join(self._rest).removesuffix(b"\r"), []
        return line.removeprefix(b"\xef\xbb\xbf") if self._is_first else line


class _JsonLines:
    """Lines of JSON as they come: each byte is passed over once, and parsed once, where the outermost bracket closes."""

    def __init__(self) -> None:
        self._seen = self._depth = 0
        self._is_json = self._in_text = self._is_escaped = self._has_closed = self._is_whole = False

    def lack_more(self, lines: list[bytes]) -> bool:
        """True of JSON that needs a further line. `lines`: those of the last time, and what came behind them."""
        for line in lines[self._seen :]:
            self._seen += 1
            if self._seen == 1:
                self._is_json = line.lstrip()[:1] in {b"{", b"["}
            if self._has_closed:  # blanks alone may follow
                self._is_whole = self._is_whole and not line.strip()
            elif self._is_json and self._closes(line):
                self._has_closed, self._is_whole = True, _is_whole(b"".join(lines[: self._seen]))
        return self._is_json and not self._is_whole

    def _closes(self, line: bytes) -> bool:
        start, self._is_escaped = int(self._is_escaped), False
        for found in _MARKS.finditer(line, start):
            mark = found[0]
            if mark == b"\\":  # it escapes what the next line begins with
                self._is_escaped = True
            elif mark == b'"':
                self._in_text = not self._in_text
            elif not self._in_text and mark in {b"{", b"[", b"}", b"]"}:
                self._depth += 1 if mark in {b"{", b"["} else -1
                if not self._depth:
                    return True
        return False


class _FrameReader:
    """Frames of lines. A line without its blank one, and JSON without its field, count too."""

    def __init__(self) -> None:
        self._event = ""
        self._data: list[bytes] = []
        self._json = _JsonLines()
        self._plain: list[bytes] = []
        self._stray: list[bytes] = []
        self.size = 0
        """Bytes of the frame that has not ended."""
        self.has_any = False

    @property
    def stray(self) -> str:
        """Text that is no part of a stream: where nothing else came, or a web page behind a reply that did not end."""
        text = b"\n".join(self._stray).decode("utf-8", "replace").strip()
        return "" if self.has_any and not text.startswith("<") else text

    def feed(self, line: bytes) -> Iterator[Frame]:
        """Frames that end with this line."""
        if line.startswith(b"data:"):
            yield from self._flush_plain()
            if len(self._data) == 1 and _is_whole(self._data[0]):
                yield from self._flush()
            data = line[6:] if line[5:6] == b" " else line[5:]
            while data.startswith(b"data:"):  # a gateway's prefix before the server's own
                data = data[5:].lstrip()
            if data and (self._data or not data.lstrip().startswith(b":")):
                self._data.append(data)  # of a comment that a gateway sends as data nothing is kept
                self.size += len(data)
        elif not line:
            yield from self._flush()
        elif line.startswith(b"event:"):
            yield from self._flush_plain()
            if self._event and self._data:
                yield from self._flush()
            self._event = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith((b"id:", b"retry:", b":")) and not self._plain:
            pass
        elif line.startswith(b"error:") and not self._plain:
            yield from self._flush()
            yield from self._made("error", line[6:].strip())
        else:
            yield from self._other(line)

    def end(self) -> Iterator[Frame]:
        """Frames of what had not ended."""
        yield from self._flush()
        yield from self._flush_plain()

    def _other(self, line: bytes) -> Iterator[Frame]:
        """A line without a field: JSON, of one line or of several, or text of something else."""
        if self._plain:
            self._plain.append(line)
            self.size += len(line)
            return
        if self._json.lack_more(self._data):
            self._data.append(line)  # JSON over lines behind one prefix
            self.size += len(line)
            return
        text = line.strip()
        if text.startswith((b"{", b"[")) and text != _DONE:
            yield from self._flush()
            if _is_whole(text):
                yield from self._made("", text)
            else:
                self._plain, self.size = [line], len(line)
        elif text == _DONE:
            yield from self._flush()
            yield from self._made("", text)
        elif sum(map(len, self._stray)) < STRAY_BYTES:
            self._stray.append(line[:STRAY_BYTES])

    def _flush(self) -> Iterator[Frame]:
        if self._plain:
            return
        event, data = self._event, self._data
        self._event, self._data, self._json, self.size = "", [], _JsonLines(), 0
        if data:
            yield from self._made(event, data[0] if len(data) == 1 else b"\n".join(data))

    def _flush_plain(self) -> Iterator[Frame]:
        plain, self._plain = self._plain, []
        if plain:
            self.size = 0
            yield from self._made("", b"\n".join(plain))

    def _made(self, event: str, data: bytes) -> Iterator[Frame]:
        data = data.strip()
        is_noise = data.lower() in _NOISE and (not event or event in _NOISE_EVENTS or data != b"{}")
        if data and (event == "error" or not is_noise):
            self.has_any = True
            yield event, data


def _is_whole(data: bytes) -> bool:
    """True for JSON that needs no further line, and for the last line of a stream."""
    if data.strip() == _DONE:
        return True
    if not data.rstrip().endswith((b"}", b"]")):
        return False
    try:
        read_json(data)
    except ValueError:
        return False
    return True


_FINISHED = late(
    rb'"(?:finish_?[rR]eason|stop_reason)":\s*"|"message_stop"|"response\.(?:completed|incomplete|failed)"'
)
"""A frame that ends a reply: what a proxy sends behind it takes nothing from it."""
_BEHIND_END = 4
"""Last frames of a stream among which its end is: usage comes behind it, some servers send it more than once."""


class NoReplyError(Exception):
    """Something else came in place of a reply. `str` says what, a web page by its title."""


def sound_events(
    pieces: Iterable[bytes], api: str, patience_s: float, clock: Callable[[], float]
) -> Iterator[bytes]:
    """Read a provider's stream, and pass on frames in the form that the API's SDK reads.

    Args:
        pieces: as they come, cut anywhere; api: one of `api_of`.
        patience_s: seconds until a frame with data must be whole, and the next.

    Raises:
        SenselessError: none was (comments, blanks, or a frame that never ends). EndlessError: one is too large.
        NoReplyError: nothing came but a web page, or words that are neither a reply nor a failure.
    """
    dress = _DRESSES[api]
    since, lines, frames = clock(), _ByteLines(), _FrameReader()
    has_passed, has_ended, end = False, False, b""
    told = deque((b"",), maxlen=_BEHIND_END)
    for piece in pieces:
        for line in lines.feed(piece):
            for frame in frames.feed(line):
                heard, since = since, clock()
                told.append(frame[1])
                for made in dress(*frame):
                    if made == _ANNOUNCED:
                        since = heard
                        continue
                    has_passed = True
                    if made == _END:  # what came with it belongs to the reply
                        end = made
                    else:
                        yield made
        if end:
            yield end
            end, has_ended = b"", True
        if lines.size + frames.size > EVENT_BYTES:
            raise EndlessError(
                tr("one event of the stream has over {EVENT_BYTES:,} bytes", EVENT_BYTES=EVENT_BYTES)
            )
        if clock() - since > patience_s:
            raise SenselessError
    for frame in (*frames.feed(lines.end()), *frames.end()):
        told.append(frame[1])
        for made in filter(None, dress(*frame)):
            has_passed = True
            yield made
    if stray := frames.stray:
        if has_passed:
            if not has_ended and not any(map(_FINISHED.search, told)):
                yield from dress("error", json.dumps({"message": page_title(stray)}).encode())
        elif stray.startswith("<"):
            raise NoReplyError(tr("a web page came instead of a reply: {stray}", stray=page_title(stray)))
        else:
            yield from dress("error", json.dumps({"message": stray}).encode())
    elif not has_passed and (words := words_of(told[-1]).message):
        raise NoReplyError(words)


def _frame(event: str, data: bytes) -> bytes:
    """A frame on the wire, in one line, whatever its reader breaks lines at."""
    if _ODD.search(data):
        text = data.decode("utf-8", "replace").replace("\r", " ").replace("\n", " ")
        data = text.translate(_BREAKS).encode("utf-8", "replace")
    return (
        (b"event: " + event.encode("utf-8", "replace") + b"\n" if event else b"") + b"data: " + data + b"\n\n"
    )


def _made(value: Json, event: str = "") -> bytes:
    return _frame(event, json.dumps(value).encode())


def _read(data: bytes) -> list[Json]:
    """The objects of a frame's data: a list is several, some stand one behind another, and what wraps a reply is taken off."""
    try:
        value = read_json(data)
        if isinstance(value, str):  # encoded twice, or words
            return _read(value.encode("utf-8", "replace"))
    except ValueError:
        if not _IS_JSON.match(data):
            return [{"error": {"message": data.decode("utf-8", "replace")}}]
        value = [read_json(one) for one in _values(data)]
    values = value if isinstance(value, list) else [value]
    return [_unwrapped(one) for one in values if isinstance(one, dict)]


def _values(data: bytes) -> Iterator[bytes]:
    """Objects that stand one behind another in one frame. What is behind the last of them belongs to it."""
    start = depth = 0
    in_text = False
    for found in _MARKS.finditer(data):
        mark = found[0]
        if mark == b'"':
            in_text = not in_text
        elif not in_text and mark in {b"{", b"[", b"}", b"]"}:
            depth += 1 if mark in {b"{", b"["} else -1
            if not depth and _BEGIN.match(data, found.end()):
                yield data[start : found.end()]
                start = found.end()
    yield data[start:]


_REPLY_KEYS = frozenset({"choices", "candidates", "output"})


def _unwrapped(value: Json) -> Json:
    """A reply that a gateway put under a key of its own."""
    output = value.get("output")
    if isinstance(output, dict):  # DashScope's own form
        return {**_chat_of(output), **{name: one for name, one in value.items() if name != "output"}}
    if _REPLY_KEYS.isdisjoint(value) and not value.get("error"):
        if isinstance(value.get("message"), dict) and isinstance(value.get("done"), bool):
            return _chat_of_ollama(value)
        if isinstance(inner := value.get("response"), dict) and {"choices", "candidates"} & inner.keys():
            return inner
        for name in ("data", "result", "body"):
            inner = value.get(name)
            inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
            if isinstance(inner, dict) and not _REPLY_KEYS.isdisjoint(inner):
                return inner
    return value


def _chat_of_ollama(value: Json) -> Json:
    """A line of Ollama's own API. Source: Ollama, docs/api.md, "Generate a chat completion" (read 2026-11)."""
    counts = {"prompt_tokens": value.get("prompt_eval_count"), "completion_tokens": value.get("eval_count")}
    end = (value.get("done_reason") or "stop") if value["done"] else None
    usage = {"usage": counts} if value["done"] and None not in counts.values() else {}
    return {
        "id": "ollama",
        "choices": [{"index": 0, "delta": value["message"], "finish_reason": end}],
        **usage,
    }


def _chat_of(output: Json) -> Json:
    if "choices" in output or not isinstance(output.get("text"), str):
        return output
    return {"choices": [{"delta": {"content": output["text"]}, "finish_reason": output.get("finish_reason")}]}


def _objects(event: str, data: bytes) -> list[Json] | None:
    """Objects of a frame; None for one that an SDK may see as it is: it says itself that it is broken."""
    try:
        return _read(data)
    except ValueError:
        if event == "error":
            return [{"error": {"message": data.decode("utf-8", "replace")}}]
        return _behind_torn(data)


def _behind_torn(data: bytes) -> list[Json] | None:
    """Objects that stand behind one that broke off; None where what broke off may have held a part of the reply.

    Source: anomalyco/opencode#8431, Wei-Shaw/sub2api#1471 (read 2026-11).
    """
    for found in islice(_ANEW.finditer(data), _MOST_ANEW):
        with suppress(ValueError):
            values = _read(data[found.end() :])
            may_hold = _MAY_HOLD.search(data, 0, found.start())
            if not may_hold or all(is_failure(one, _REPLY_KEYS) for one in values):
                return values
    return None


_ANEW = late(rb"(?:data:[ \t]*|\n[ \t]*)(?=\{)")
_MOST_ANEW = 20
_MAY_HOLD = late(rb'"(?:delta|parts|message|content|text|response)"')
"""Keys of all APIs under which words of a reply stand."""


def _error(value: Json) -> Json:
    """A failure in the shape that SDKs know, with the server's words and all that it said beside."""
    words = words_of(value)
    inner = value.get("error")
    beside = (
        inner if isinstance(inner, dict) else {k: v for k, v in value.items() if k not in {"error", "errors"}}
    )
    return {
        **beside,
        "message": words.message or tr("no reason given"),
        "code": words.code,
        "type": words.kind,
    }


_END = b"data: [DONE]\n\n"
_ANNOUNCED = b""
"""Words to a person: no part of a reply, and the wait for one goes on."""

_MAY_WRAP = late(rb'"(?:error|data|result|body|base_resp|output)"|"message":')
"""Keys of a frame that is looked at before it is passed on."""

# A dress for each API: frames of any server in, frames that the vendor's SDK reads out.


def _chat(event: str, data: bytes) -> Iterator[bytes]:
    is_plain = b'"choices"' in data and b'"delta"' in data and b"}{" not in data and b"data:" not in data
    if event != "error" and is_plain and data.startswith(b"{") and not _MAY_WRAP.search(data):
        yield _frame("", data)
        return
    if _is_done(data):
        yield _frame("", _DONE)
        return
    values = _objects(event, data)
    if values is None:
        yield _frame("", data)
        return
    for value in values:
        if event == "error" or is_failure(value, _REPLY_KEYS):
            yield _made({**value, "error": _error(value)})
        elif _is_announcement(value):
            yield _ANNOUNCED
        else:
            yield _made(_as_chunk(value))
            if failed := _choice_error(value):
                yield _made({"error": _error({"error": failed})})
            if b'"message"' in data and b'"delta"' not in data:
                yield _frame("", _DONE)


def _is_announcement(value: Json) -> bool:
    """True of a frame that says something to a person and is no part of a reply: a place in a queue."""
    return _REPLY_KEYS.isdisjoint(value) and not {"id", "usage", "x_groq", "timings"} & value.keys()


def _choice_error(value: Json) -> object:
    """A failure that stands in a choice. Source: OpenRouter API "Errors" (read 2026-11)."""
    choices = value.get("choices")
    several = choices if isinstance(choices, list) else ()
    return next((one["error"] for one in several if isinstance(one, dict) and one.get("error")), None)


def _is_done(data: bytes) -> bool:
    return len(data) < 20 and data.strip().strip(b"[]").upper() == b"DONE"


def _as_chunk(value: Json) -> Json:
    """A whole completion as a chunk of one."""
    choices = value.get("choices")
    if not isinstance(choices, list):
        return value
    return {**value, "choices": [_as_delta(one) if isinstance(one, dict) else one for one in choices]}


def _as_delta(choice: Json) -> Json:
    if choice.get("delta"):
        return choice
    if isinstance(choice.get("message"), dict):
        return {**choice, "delta": choice["message"], WHOLE: True}
    if isinstance(choice.get("text"), str):
        return {**choice, "delta": {"content": choice["text"]}}
    return choice


def _responses(event: str, data: bytes) -> Iterator[bytes]:
    if event != "error" and b'"type"' in data[:100] and b'"error"' not in data:
        yield _frame(event, data)
        return
    if _is_done(data):
        yield _frame("", _DONE)
        return
    values = _objects(event, data)
    if values is None:
        yield _frame(event, data)
        return
    for value in values:
        if value.get("object") == "response" and "type" not in value:
            yield from map(_made, _as_response_events(value))
        elif value.get("type") == "error" or (event == "error" or is_failure(value, {"type", "response"})):
            yield _made({"type": "error", "error": _error(value)})
        else:
            yield _made(value if value.get("type") else {**value, "type": event}, event)


def _as_response_events(response: Json) -> Iterator[Json]:
    """Events of a whole response: its texts, its other items, its end."""
    output = response.get("output")
    for item in output if isinstance(output, list) else ():
        if not isinstance(item, dict):
            continue
        yield {"type": "response.output_item.added", "item": item, "output_index": 0}
        for part in _parts(item.get("content")):
            for name in ("text", "refusal"):
                if isinstance(part.get(name), str) and item.get("type") == "message":
                    kind = "output_text" if name == "text" else "refusal"
                    yield {"type": f"response.{kind}.delta", "delta": part[name]}
        for part in _parts(item.get("summary")):
            if isinstance(part.get("text"), str):
                yield {"type": "response.reasoning_summary_text.delta", "delta": part["text"]}
        yield {"type": "response.output_item.done", "item": item, "output_index": 0}
    if response.get("error"):
        yield {"type": "error", "error": _error(response)}
        return
    yield {"type": "response.completed", "response": response}


def _messages(event: str, data: bytes) -> Iterator[bytes]:
    if event not in _NEVER_AS_IT_IS and b'"' + event.encode() + b'"' in data[:200]:
        yield _frame(event, data)
        return
    if event == "ping" or _is_done(data):
        return
    values = _objects(event, data)
    if values is None:
        yield _frame(event or "message_delta", data)
        return
    for value in values:
        kind = value.get("type")
        if kind == "message":
            for made in _as_message_events(value):
                yield _made(made, made["type"])
        elif (
            event == "error"
            or kind == "error"
            or is_failure(value, {"type", "message", "delta", "content_block"})
        ):
            error = _error(value)
            yield _made(
                {**value, "type": "error", "error": {**error, "type": error["type"] or error["code"]}},
                "error",
            )
        elif name := kind if isinstance(kind, str) and kind else event:
            yield _made(_with_usage({**value, "type": name}), name)


_NEVER_AS_IT_IS = frozenset({"", "error", "message", "message_delta"})


def _with_usage(event: Json) -> Json:
    """The event with its usage where the SDK reads it; some servers put it into the delta."""
    delta = event.get("delta")
    inner = delta.get("usage") if isinstance(delta, dict) else None
    return {**event, "usage": inner} if inner and not event.get("usage") else event


def _as_message_events(message: Json) -> Iterator[Json]:
    """Events of a whole message."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(_parts(message.get("content"))):
        given = block.get("input")
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {**block, "input": {}} if given else block,
        }
        if given:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(given, ensure_ascii=False)}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {name: message.get(name) for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": end, "usage": message.get("usage") or {}}
    yield {"type": "message_stop"}


_GEMINI_CHUNK = late(rb'\{(?!\s*"(?:response|data|result|body)")')
"""A chunk that no proxy put under a key of its own, as Code Assist does."""


def _gemini(event: str, data: bytes) -> Iterator[bytes]:
    if _is_done(data):
        return
    is_plain = b'"candidates"' in data and b'"error"' not in data and _GEMINI_CHUNK.match(data)
    if event != "error" and is_plain:
        yield _frame("", data)
        return
    values = _objects(event, data)
    if values is None:
        yield _frame("", data)
        return
    for value in values:
        if event == "error" or is_failure(value, {"candidates", "promptFeedback", "usageMetadata"}):
            error = _error(value)
            code = error["code"]
            error["code"] = int(code) if str(code).isdecimal() and 100 <= int(code) < 600 else 500
            yield _made({"error": error})
        else:
            yield _made(value)


def _parts(value: object) -> list[Json]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


_DRESSES: dict[str, Callable[[str, bytes], Iterator[bytes]]] = {
    CHAT: _chat,
    RESPONSES: _responses,
    MESSAGES: _messages,
    GEMINI: _gemini,
}
