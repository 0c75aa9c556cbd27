"""Chats of further programs: Grok, Copilot Chat in VS Code, TypingMind, Jan, AnythingLLM, big-AGI, AI Studio, Continue, Goose,
SillyTavern, llama.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from core.kernel.codecs import from_json
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.agents import (
    NOTES,
    TalkBuilder,
    conversations,
    items,
    mapping,
    openai_calls,
    openai_thoughts,
    pictures,
    rows_of,
    spelled,
    texts,
    tool_call,
    whole_value,
    word,
)
from core.talk.transcripts.chats import files_named, tree_of
from core.talk.transcripts.text import Buffer, moment


def _given(element: msgspec.Raw | Any) -> dict[str, Any]:
    """An element as plain data, an empty object for any other data."""
    return mapping(from_json(element, Any) if isinstance(element, msgspec.Raw) else element)


# Grok: each conversation with its responses beside it, each of those in an object of its own. Times are MongoDB's.


def read_grok(element: msgspec.Raw | Any) -> Transcript:
    """A conversation of Grok's export: a tree, of which the last response was seen last."""
    found = _given(element)
    about = mapping(found.get("conversation"))
    given = [mapping(mapping(one).get("response")) for one in items(found.get("responses"))]
    talk = TalkBuilder()
    talk.id, talk.title, talk.at = word(about.get("id")), word(about.get("title")), about.get("create_time")
    for number, one in enumerate(given, 1):
        parts = tuple(_grok_parts(one))
        key = word(one.get("_id")) or f"#{number}"
        if not parts:
            talk.skipped[NOTES] += 1
            continue
        is_own = word(one.get("sender")).lower() in {"human", "user"}
        talk.messages[key] = TranscriptMessage(
            id=key,
            role="user" if is_own else "assistant",
            parts=parts,
            parent=word(one.get("parent_response_id")) or talk.last,
            at=moment(_mongo_time(one.get("create_time"))),
            model="" if is_own else word(one.get("model")),
        )
        talk.last = key
    if not about and not given:
        raise ValueError(tr("the conversation holds no messages"))
    return talk.transcript()


def _grok_parts(response: Mapping[str, Any]) -> Iterator[Part]:
    if thought := word(response.get("thinking_trace")).strip():
        yield ReasoningPart(thought)
    if said := (word(response.get("message")) or word(response.get("query"))).strip():
        yield TextPart(said)


def _mongo_time(value: Any) -> Any:
    """A time as MongoDB's export spells it, as a number or a text; any other as it is."""
    for name in ("$date", "$numberLong"):
        value = value[name] if isinstance(value, dict) and name in value else value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


# Copilot Chat: VS Code keeps a session as one object, or as a log of its changes: 0 the whole, 1 a value, 2 items behind a
# list that is cut first, 3 a value that is taken away.


def read_copilot(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file."""
    broken: list[Unread] = []
    state = mapping(whole_value(buffer))
    if "requests" not in state:
        state = _replayed(buffer, broken)
    talk = TalkBuilder()
    talk.id, talk.title = word(state.get("sessionId")), word(state.get("customTitle"))
    talk.at = state.get("creationDate")
    for request in map(mapping, items(state.get("requests"))):
        if request.get("shouldBeRemovedOnSend") or request.get("isHidden") is True:
            talk.skipped[NOTES] += 1
            continue
        _copilot_request(talk, request)
    yield from conversations([talk], broken)


def _replayed(buffer: Buffer, broken: list[Unread]) -> dict[str, Any]:
    """The session that a log of changes ends with. A change at a place that is not there is passed over."""
    state: dict[str, Any] = {}
    for row in rows_of(buffer, broken):
        kind, value, path = row.get("kind"), row.get("v"), items(row.get("k"))
        if kind == 0:
            state = mapping(value)
            continue
        if not path:
            continue
        holder = _holder(state, path[:-1])
        if kind == 2:
            _push(holder, path[-1], value, row.get("i"))
        elif kind in (1, 3):
            _put(holder, path[-1], value if kind == 1 else None)
    return state


def _holder(state: Any, path: list[Any]) -> Any:
    for name in path:
        state = _at(state, name)
    return state


def _at(holder: Any, name: Any) -> Any:
    if isinstance(holder, dict) and isinstance(name, str):
        return holder.get(name)
    is_place = isinstance(holder, list) and type(name) is int and 0 <= name < len(holder)
    return holder[name] if is_place else None


def _put(holder: Any, name: Any, value: Any) -> None:
    is_place = isinstance(holder, list) and type(name) is int and 0 <= name < len(holder)
    if is_place or (isinstance(holder, dict) and isinstance(name, str)):
        holder[name] = value


def _push(holder: Any, name: Any, value: Any, first: Any) -> None:
    if _at(holder, name) is None:
        _put(holder, name, [])
    found = _at(holder, name)
    if isinstance(found, list):
        if type(first) is int and first >= 0:
            del found[first:]
        found += items(value)


def _copilot_request(talk: TalkBuilder, request: Mapping[str, Any]) -> None:
    message, at = request.get("message"), request.get("timestamp")
    asked = word(message) or word(mapping(message).get("text"))
    key = word(request.get("requestId"))
    talk.say("user", (TextPart(asked),) if asked.strip() else (), key=key, at=at)
    model = word(request.get("modelId")).rpartition("/")[2]
    reply: list[Part] = []
    for one in items(request.get("response")):
        for part in _copilot_part(mapping(one)):
            last = reply[-1] if reply else None
            if isinstance(part, TextPart) and isinstance(last, TextPart):
                reply[-1] = TextPart(last.text + part.text)
            else:
                reply.append(part)
    failed = mapping(mapping(request.get("result")).get("errorDetails"))
    talk.skipped[NOTES] += bool(failed)
    kept = [part for part in reply if not isinstance(part, TextPart) or part.text.strip()]
    talk.say("assistant", kept, key=word(request.get("responseId")), at=at, model=model)


def _copilot_part(one: Mapping[str, Any]) -> Iterator[Part]:
    kind, value = one.get("kind"), one.get("value")
    words = "".join(map(word, value)) if isinstance(value, list) else word(value)
    if kind is None and words:
        yield TextPart(words)
    elif kind in ("markdownContent", "markdownVuln"):
        content = one.get("content", value)
        yield TextPart(word(content) or word(mapping(content).get("value")))
    elif kind == "thinking" and words.strip():
        yield ReasoningPart(words)
    elif kind == "inlineReference":
        yield TextPart(_referred(mapping(one.get("inlineReference")), word(one.get("name"))))
    elif kind in ("toolInvocationSerialized", "toolInvocation"):
        yield from _copilot_tool(one)


def _referred(place: Mapping[str, Any], name: str) -> str:
    """The name of what a reply points at: a file, or a place in one."""
    uri = mapping(place.get("uri")) or mapping(mapping(place.get("location")).get("uri")) or place
    path = word(uri.get("path")) or word(uri.get("fsPath"))
    return name or word(place.get("name")) or path.rpartition("/")[2]


def _copilot_tool(one: Mapping[str, Any]) -> Iterator[Part]:
    key, details = word(one.get("toolCallId")), mapping(one.get("resultDetails"))
    message = one.get("invocationMessage")
    given = mapping(one.get("toolSpecificData"))
    command = mapping(given.get("commandLine")).get("original", given.get("command"))
    asked = details.get("input", command) or word(message) or word(mapping(message).get("value"))
    yield ToolCallPart(call_id=key, name=word(one.get("toolId")), arguments_json=spelled(asked))
    output = details.get("output")
    pieces = [word(piece) or word(mapping(piece).get("value")) for piece in items(output)]
    if text := word(output) or "\n".join(filter(None, pieces)):
        yield ToolResultPart(call_id=key, text=text, is_error=details.get("isError") is True)


# TypingMind, big-AGI, Jan, AnythingLLM: lists of messages, each with its own names.


def read_typingmind(element: msgspec.Raw | Any) -> Transcript:
    """A chat of TypingMind's export."""
    found = _given(element)
    if not items(found.get("messages")):
        raise ValueError(tr("the conversation holds no messages"))
    talk = TalkBuilder()
    talk.id, talk.title = (
        word(found.get("chatID")) or word(found.get("id")),
        word(found.get("chatTitle")) or word(found.get("preview")),
    )
    talk.at = found.get("createdAt")
    for one in map(mapping, items(found["messages"])):
        content, role = one.get("content"), one.get("role")
        said = texts(content)
        parts: tuple[Part, ...] = (
            *openai_thoughts(one),
            *((TextPart(clean(said)),) if said.strip() else ()),
            *pictures(content),
            *openai_calls(one),
        )
        if role == "tool":
            parts = (ToolResultPart(call_id=word(one.get("tool_call_id")), text=clean(said)),)
        if role not in ("user", "assistant", "tool"):
            talk.skipped["system texts"] += 1
            continue
        model = one.get("model") or found.get("model")
        talk.say(
            "user" if role == "user" else "assistant",
            parts,
            key=one.get("uuid"),
            at=one.get("createdAt"),
            model=model,
        )
    return talk.transcript()


def read_big_agi(element: msgspec.Raw | Any) -> Transcript:
    """A conversation of big-AGI: each message in fragments, or as one text before version 2."""
    found = _given(element)
    if not items(found.get("messages")):
        raise ValueError(tr("the conversation holds no messages"))
    talk = TalkBuilder()
    talk.id = word(found.get("id"))
    talk.title = word(found.get("userTitle")) or word(found.get("autoTitle"))
    talk.at = found.get("created")
    for one in map(mapping, items(found["messages"])):
        role = one.get("role")
        if role not in ("user", "assistant"):
            talk.skipped["system texts"] += 1
            continue
        parts = [part for piece in items(one.get("fragments")) for part in _agi_part(mapping(piece))]
        if not parts and word(one.get("text")).strip():
            parts = [TextPart(word(one["text"]))]
        model = word(mapping(one.get("generator")).get("name")) or word(one.get("originLLM"))
        talk.say(role, parts, key=one.get("id"), at=one.get("created"), model=model)
    return talk.transcript()


def _agi_part(fragment: Mapping[str, Any]) -> Iterator[Part]:
    part = mapping(fragment.get("part"))
    kind, call = part.get("pt"), mapping(part.get("invocation"))
    if kind == "text" and (said := word(part.get("text"))).strip():
        yield TextPart(said)
    elif kind == "ma" and (thought := word(part.get("aText"))).strip():
        yield ReasoningPart(thought)
    elif kind == "tool_invocation":
        name, given = word(call.get("name")) or word(call.get("type")), call.get("args", call.get("code"))
        yield tool_call(part.get("id"), name, given)
    elif kind == "tool_response":
        answer = mapping(part.get("response")).get("result", part.get("error"))
        yield ToolResultPart(call_id=word(part.get("id")), text=spelled(answer))
    elif kind == "doc" and (text := word(mapping(part.get("data")).get("text"))).strip():
        yield TextPart(text)


def read_jan(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The thread of a file of messages, a row each. Its title stands in a file beside it."""
    talk, broken = TalkBuilder(), list[Unread]()
    for row in sorted(rows_of(buffer, broken), key=lambda one: _number(one.get("created_at"))):
        talk.id = talk.id or word(row.get("thread_id"))
        role = row.get("role")
        if role not in ("user", "assistant"):
            talk.skipped["system texts"] += 1
            continue
        parts: list[Part] = []
        for piece in map(mapping, items(row.get("content"))):
            text = piece.get("text")
            said = word(text) or word(mapping(text).get("value"))
            if said.strip():
                parts.append(ReasoningPart(said) if piece.get("type") == "reasoning" else TextPart(said))
        model = mapping(row.get("metadata")).get("modelId")
        talk.say(role, parts, key=row.get("id"), at=row.get("created_at"), model=model)
    yield from conversations([talk], broken)


def _number(value: Any) -> float:
    return float(value) if type(value) in (int, float) and abs(value) < 1e20 else 0.0


def read_anythingllm(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The talks of an export: a row has a question and its answer, and names the workspace that they belong to."""
    broken: list[Unread] = []
    found = whole_value(buffer)
    rows = found if isinstance(found, list) else rows_of(buffer, broken)
    talks: dict[tuple[str, str], TalkBuilder] = {}
    for row in map(mapping, rows):
        where = word(row.get("workspace")), word(row.get("username"))
        talk = talks.setdefault(where, TalkBuilder())
        talk.title, at = where[0], row.get("sent_at")
        asked, answer = word(row.get("prompt")), word(row.get("response"))
        talk.say("user", (TextPart(asked),) if asked.strip() else (), at=at)
        talk.say("assistant", (TextPart(answer),) if answer.strip() else (), at=at)
    yield from conversations(talks.values(), broken)


# Google AI Studio, Continue, Goose: a prompt in chunks, an editor's history, a row for each message.


def read_ai_studio(element: msgspec.Raw | Any) -> Transcript:
    """A prompt that AI Studio saved: a chunk for each text and thought."""
    found = _given(element)
    about = mapping(found.get("chunkedPrompt"))
    if not items(about.get("chunks")):
        raise ValueError(tr("the conversation holds no messages"))
    talk = TalkBuilder()
    model = word(mapping(found.get("runSettings")).get("model")).removeprefix("models/")
    for chunk in map(mapping, items(about["chunks"])):
        said = word(chunk.get("text")) or texts(chunk.get("parts"))
        parts: list[Part] = []
        if said.strip():
            parts.append(ReasoningPart(said) if chunk.get("isThought") is True else TextPart(said))
        parts += (
            AttachmentPart(sha256="", media_type="", name=name, size_bytes=0)
            for kind, name in _AI_STUDIO_FILES.items()
            if kind in chunk
        )
        role = "user" if chunk.get("role") == "user" else "assistant"
        talk.say(role, parts, at=chunk.get("createTime"), model=model)
    return talk.transcript()


_AI_STUDIO_FILES = {
    "driveImage": "image",
    "inlineImage": "image",
    "driveDocument": "document",
    "inlineFile": "file",
    "driveAudio": "audio",
    "driveVideo": "video",
}


def read_continue(element: msgspec.Raw | Any) -> Transcript:
    """A session of Continue: messages of OpenAI's form, each beside what the editor added to it."""
    found = _given(element)
    if not items(found.get("history")):
        raise ValueError(tr("the conversation holds no messages"))
    talk = TalkBuilder()
    talk.id, talk.title = word(found.get("sessionId")), word(found.get("title"))
    talk.at = found.get("dateCreated")
    talk.folder = word(found.get("workspaceDirectory")).removeprefix("file://")
    for one in map(mapping, items(found["history"])):
        message = mapping(one.get("message"))
        role, said = message.get("role"), texts(message.get("content"))
        parts: tuple[Part, ...] = (
            *((TextPart(clean(said)),) if said.strip() else ()),
            *pictures(message.get("content")),
            *openai_calls(message),
        )
        if role == "tool":
            key = word(message.get("toolCallId")) or word(message.get("tool_call_id"))
            parts = (ToolResultPart(call_id=key, text=clean(said)),)
        elif role == "thinking":
            parts = (ReasoningPart(clean(said)),) if said.strip() else ()
        elif role not in ("user", "assistant"):
            talk.skipped["system texts"] += 1
            continue
        model = word(mapping((items(one.get("promptLogs")) or [None])[0]).get("modelTitle"))
        talk.say("user" if role == "user" else "assistant", parts, key=message.get("id"), model=model)
    return talk.transcript()


def read_goose(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file: a row about it, then one for each message; or one object, as its export has it."""
    broken = list[Unread]()
    whole = mapping(whole_value(buffer))
    if isinstance(whole.get("conversation"), list):
        talk = goose_session(whole, map(mapping, whole["conversation"]))
    else:
        rows = list(rows_of(buffer, broken))
        about = [row for row in rows if "role" not in row]
        talk = goose_session(about[-1] if about else {}, (row for row in rows if "role" in row))
    yield from conversations([talk], broken)


def goose_session(about: Mapping[str, Any], messages: Iterable[Mapping[str, Any]]) -> TalkBuilder:
    """A session of Goose. What is for the model alone, as the summary of a compaction, is counted as left out."""
    talk = TalkBuilder()
    talk.id, talk.folder, talk.at = (
        word(about.get("id")),
        word(about.get("working_dir")),
        about.get("created_at"),
    )
    talk.title = word(about.get("name")) or word(about.get("description"))
    talk.is_helper = about.get("session_type") == "sub_agent"
    for row in messages:
        pieces = [mapping(piece) for piece in items(row.get("content"))]
        is_shown = mapping(row.get("metadata")).get("userVisible") is not False
        parts = [part for piece in pieces for part in _goose_part(piece)] if is_shown else []
        is_answer = bool(parts) and all(isinstance(part, ToolResultPart) for part in parts)
        if not parts:
            talk.skipped[NOTES] += 1
        role = "user" if row.get("role") == "user" and not is_answer else "assistant"
        talk.say(role, parts, key=row.get("id"), at=row.get("created"))
    return talk


def _goose_part(piece: Mapping[str, Any]) -> Iterator[Part]:
    kind, key = piece.get("type"), word(piece.get("id"))
    call = mapping(mapping(piece.get("toolCall")).get("value"))
    if kind == "text" and (said := word(piece.get("text"))).strip():
        yield TextPart(said)
    elif kind == "thinking" and (thought := word(piece.get("thinking"))).strip():
        yield ReasoningPart(thought)
    elif kind == "image":
        yield from pictures([piece])
    elif kind in ("toolRequest", "frontendToolRequest") and (name := word(call.get("name"))):
        yield tool_call(key, name, call.get("arguments", {}))
    elif kind == "toolResponse":
        result = mapping(piece.get("toolResult"))
        told = result.get("value")
        text = texts(mapping(told).get("content", told)) or word(result.get("error"))
        yield ToolResultPart(call_id=key, text=clean(text), is_error=result.get("status") == "error")


# SillyTavern: a row about the chat, then one for each message. llama.cpp: an object for each conversation of its web page.


def read_sillytavern(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The chat of a file. Of a reply with several texts the chosen one is read, and the others are counted."""
    talk, broken = TalkBuilder(), list[Unread]()
    for row in rows_of(buffer, broken):
        said, about = word(row.get("mes")), mapping(row.get("extra"))
        if "mes" not in row:
            talk.at = row.get("create_date")
            continue
        if row.get("is_system") is True:
            talk.skipped[NOTES] += 1
            continue
        role = "user" if row.get("is_user") is True else "assistant"
        if role == "assistant":
            talk.title = talk.title or word(row.get("name"))
            talk.skipped["other replies"] += max(0, len(items(row.get("swipes"))) - 1)
        thought = word(about.get("reasoning"))
        parts: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
        parts += [TextPart(said)] if said.strip() else []
        talk.say(role, parts, at=row.get("send_date"), model=about.get("model"))
    yield from conversations([talk], broken)


def read_llama_cpp(element: msgspec.Raw | Any) -> Transcript:
    """A conversation of the web page of llama.cpp: a tree of messages, the path that was seen last by its end."""
    found = _given(element)
    about = mapping(found.get("conv"))
    rows = [mapping(one) for one in items(found.get("messages"))]
    messages = [_llama_message(row) for row in rows]
    if not any(one.parts for one in messages):
        raise ValueError(tr("the conversation holds no messages"))
    named = {"id": about.get("id"), "title": about.get("name")}
    made = tree_of(named, named, messages, word(about.get("currNode")))
    notes = sum(row.get("role") == "system" and bool(word(row.get("content")).strip()) for row in rows)
    return msgspec.structs.replace(made, skipped={"system texts": notes}) if notes else made


def _llama_message(row: Mapping[str, Any]) -> TranscriptMessage:
    """A message, also one in which nothing is said: others follow it."""
    role, said = word(row.get("role")), word(row.get("content"))
    parts: list[Part] = []
    if role == "tool":
        parts.append(ToolResultPart(call_id=word(row.get("toolCallId")), text=said))
    elif role in ("user", "assistant"):
        thought = word(row.get("thinking")) or word(row.get("reasoningContent"))
        parts += (ReasoningPart(thought),) if thought.strip() else ()
        parts += (*((TextPart(said),) if said.strip() else ()), *files_named(row.get("extra")))
    return TranscriptMessage(
        id=word(row.get("id")),
        role="user" if role == "user" else "assistant",
        parts=tuple(parts),
        parent=word(row.get("parent")),
        at=moment(row.get("timestamp")),
        model=word(row.get("model")) if role == "assistant" else "",
    )
