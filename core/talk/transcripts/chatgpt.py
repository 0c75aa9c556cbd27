"""Conversations of a ChatGPT export: `conversations.json`, each a tree of messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

import msgspec

from core.kernel.codecs import from_builtins, from_json, read_json
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Offered, Transcript, TranscriptMessage
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.text import content_id, moment


class _Author(msgspec.Struct):
    role: Any = ""
    name: Any = None


class _Meta(msgspec.Struct):
    attachments: Any = None
    model_slug: Any = None
    content_references: Any = None
    citations: Any = None
    chatgpt_sdk: Any = None
    targeted_reply: Any = None
    is_visually_hidden_from_conversation: Any = None


class _Message(msgspec.Struct):
    author: _Author | None = None
    content: Any = None
    create_time: Any = None
    recipient: Any = None
    metadata: _Meta | None = None
    fragments: Any = None
    model: Any = None
    inserted_at: Any = None


class _Node(msgspec.Struct):
    message: _Message | None = None
    parent: Any = None
    children: Any = None


N = TypeVar("N")


class _Conversation(msgspec.Struct, Generic[N]):
    mapping: dict[str, N]
    title: Any = ""
    create_time: Any = None
    current_node: Any = None
    conversation_id: Any = None
    id: Any = None
    default_model_slug: Any = None
    inserted_at: Any = None


def read(element: msgspec.Raw | Any) -> Transcript:
    """One conversation of an export.

    Args:
        element: raw JSON, or what it decodes to.

    Raises:
        ValueError: it is no conversation of ChatGPT.
    """
    decode: Callable[[Any, Any], Any] = from_json if isinstance(element, msgspec.Raw) else from_builtins
    skipped: Counter[str] = Counter()
    found: _Conversation[Any]
    try:
        try:
            found = decode(element, _Conversation[_Node])
            nodes = found.mapping
        except msgspec.ValidationError:
            found = decode(element, _Conversation[Any])
            nodes = _sound_nodes(found.mapping, skipped)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(tr("the file is not a conversation of ChatGPT")) from error
    _join_by_children(nodes)
    _take_fragments(nodes.values())
    default = found.default_model_slug
    at = moment(found.create_time) or moment(found.inserted_at)
    messages = tuple(_messages(nodes, skipped, clean(default) if isinstance(default, str) else ""))
    current = _nearest(nodes, found.current_node, {one.id for one in messages})
    given = found.conversation_id or found.id
    return Transcript(
        id=given if isinstance(given, str) and given else content_id(messages, at),
        messages=messages if current else tuple(sorted(messages, key=_by_time)),
        title=clean(found.title) if isinstance(found.title, str) else "",
        at=at,
        current=current,
        skipped=dict(skipped),
        offered=tuple(dict.fromkeys(_offered(nodes.values()))),
    )


def _sound_nodes(mapping: Mapping[str, Any], skipped: Counter[str]) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    for key, value in mapping.items():
        try:
            nodes[key] = from_builtins(value, _Node)
        except msgspec.ValidationError:
            skipped["messages that cannot be read"] += 1
            nodes[key] = _Node(parent=value.get("parent") if isinstance(value, dict) else None)
    return nodes


def _join_by_children(nodes: Mapping[str, _Node]) -> None:
    """Give a node without a parent the one that names it as a child; else, where a part begins anew, the end before it."""
    lost = [key for key, node in nodes.items() if not (isinstance(node.parent, str) and node.parent in nodes)]
    if len(lost) < 2:
        return
    above: dict[str, str] = {}
    for key, node in nodes.items():
        for child in node.children if isinstance(node.children, list) else ():
            if isinstance(child, str) and child != key:
                above.setdefault(child, key)
    for key in lost:
        if (parent := above.get(key)) is not None and not _is_above(nodes, key, parent):
            nodes[key].parent = parent


def _take_fragments(nodes: Iterable[_Node]) -> None:
    """Give messages of DeepSeek's export, whose words stand in fragments, the shape of all others."""
    for node in nodes:
        message = node.message
        if message is None or message.content is not None or not isinstance(message.fragments, list):
            continue
        given = [one for one in message.fragments if isinstance(one, dict)]
        is_asked = bool(given) and given[0].get("type") == "REQUEST"
        message.author = message.author or _Author(role="user" if is_asked else "assistant")
        message.content = {"content_type": "fragments", "fragments": given}
        message.create_time = message.create_time or message.inserted_at
        if message.metadata is None:
            message.metadata = _Meta(model_slug=None if is_asked else message.model)


def _is_above(nodes: Mapping[str, _Node], key: str, at: Any) -> bool:
    """True if `key` is `at`, or above it: to hang it there closed a circle."""
    seen: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in seen:
        if at == key:
            return True
        seen.add(at)
        at = nodes[at].parent
    return False


def _messages(
    nodes: Mapping[str, _Node], skipped: Counter[str], default_model: str
) -> Iterable[TranscriptMessage]:
    said: dict[str, tuple[Part, ...]] = {}
    for key, node in nodes.items():
        message = node.message
        if message is None:
            continue
        if (
            _is_context(message) or _kind(message) == "reasoning_recap"
        ):  # which says how long the model thought
            skipped[NOTES] += 1
        elif message.author is not None and (parts := _parts_of(message, message.author, skipped)):
            said[key] = parts
        else:
            skipped["empty messages"] += 1
    for key, parts in said.items():
        node = nodes[key]
        message = cast("_Message", node.message)
        role = cast("_Author", message.author).role
        meta = message.metadata
        model = meta.model_slug if meta is not None else None
        is_hidden = meta is not None and meta.is_visually_hidden_from_conversation is True
        has_report = is_hidden and _report(meta) != ""
        model = model if isinstance(model, str) else default_model if role == "assistant" else ""
        yield TranscriptMessage(
            id=key,
            role="assistant" if has_report else clean(role) if isinstance(role, str) else "",
            parts=parts,
            parent=_nearest(nodes, node.parent, said),
            at=moment(message.create_time),
            model=model,
            is_aside=(is_hidden and not has_report) or role == "system",
        )


def _parts_of(message: _Message, author: _Author, skipped: Counter[str]) -> tuple[Part, ...]:
    """Parts of a message; most hold one text and nothing else."""
    content, meta = message.content, message.metadata
    if (
        isinstance(content, dict)
        and content.get("content_type") == "text"
        and (message.recipient is None or message.recipient == "all")
        and author.role != "tool"
        and (
            meta is None
            or (meta.attachments is None and meta.chatgpt_sdk is None and meta.targeted_reply is None)
        )
        and isinstance(texts := content.get("parts"), list)
        and len(texts) == 1
        and isinstance(text := texts[0], str)
    ):
        text = without_marks(text, meta)
        return (TextPart(clean(text)),) if text.strip() else ()
    return tuple(_parts(message, author, skipped))


def _passage(meta: _Meta | None) -> str:
    """The passage of a reply to which a person's message speaks, which stands beside the words."""
    told = meta.targeted_reply if meta is not None else None
    lines = clean(told).strip().split("\n") if isinstance(told, str) and told.strip() else []
    return "".join(f"> {line}\n" for line in lines) + ("\n" if lines else "")


def _nearest(nodes: Mapping[str, _Node], at: Any, given: Container[str]) -> str:
    """The nearest message at a node or above it, empty where there is none."""
    if isinstance(at, str) and at in given:
        return at
    seen: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in seen:
        if at in given:
            return at
        seen.add(at)
        at = nodes[at].parent
    return ""


def _parts(message: _Message, author: _Author, skipped: Counter[str]) -> Iterable[Part]:
    content = message.content if isinstance(message.content, dict) else {}
    recipient = message.recipient if isinstance(message.recipient, str) else "all"
    if (report := _report(message.metadata)) != "":
        yield TextPart(clean(without_marks(report, message.metadata)))
        return
    for one in content.get("fragments", ()):
        words = one.get("content")
        if isinstance(words, str) and words.strip():
            yield ReasoningPart(clean(words)) if one.get("type") == "THINK" else TextPart(clean(words))
    texts = [clean(without_marks(text, message.metadata)) for text in _texts(content) if text.strip()]
    whole = "\n\n".join(texts)
    kind = content.get("content_type")
    if whole and kind == "thoughts":
        yield ReasoningPart(whole)
    elif whole and author.role == "tool":
        yield ToolResultPart(call_id="", text=_quoted(content, whole))
    elif whole and recipient != "all":
        yield from _called(clean(recipient), whole)
    elif whole:
        yield TextPart(f"{_passage(message.metadata)}{_quoted(content, whole)}")
    named = tuple(_attachments(message))
    names = {one.id for one in named}
    for one in content.get("parts") or () if isinstance(content.get("parts"), list) else ():
        if isinstance(one, dict) and (pointer := _pointer(one)):
            if pointer.rpartition("/")[2].partition("#")[0] not in names:
                yield _pictured(one, pointer)
        elif isinstance(one, dict) and "text" not in one:
            skipped["parts of an unknown kind"] += 1
    yield from (one.part for one in named)


def _pointer(part: Mapping[str, Any]) -> str:
    """Address of a file in a message, also of a sound with its words."""
    inner = part.get("audio_asset_pointer")
    found = part.get("asset_pointer") or (inner.get("asset_pointer") if isinstance(inner, dict) else None)
    return found if isinstance(found, str) else ""


def _pictured(one: Mapping[str, Any], pointer: str) -> AttachmentPart:
    size = one.get("size_bytes")
    kind = "image/png" if "image" in str(one.get("content_type", "")) else "application/octet-stream"
    return AttachmentPart(
        sha256="",
        media_type=kind,
        name=clean(pointer).rpartition("/")[2] or clean(pointer),
        size_bytes=size if type(size) is int and size >= 0 else 0,
    )


def _called(recipient: str, text: str) -> Iterable[Part]:
    """A call of a tool. A document that it writes is text with line breaks of its own."""
    given = _loaded(text) if recipient.startswith("canmore.") else None
    if not isinstance(given, dict):
        yield ToolCallPart(call_id="", name=recipient, arguments_json=text)
        return
    name = given.get("name")
    yield TextPart(f"[{recipient}{f' {clean(name)}' if isinstance(name, str) else ''}]")
    if isinstance(given.get("content"), str):
        yield TextPart(clean(given["content"]))
        return
    for key in ("updates", "comments"):
        for one in given[key] if isinstance(given.get(key), list) else ():
            words = one.get("replacement", one.get("comment")) if isinstance(one, dict) else None
            if isinstance(words, str) and words.strip():
                yield TextPart(clean(words))


def _quoted(content: Mapping[str, Any], text: str) -> str:
    """A quote with the title and the address of what it quotes."""
    if content.get("content_type") not in ("tether_quote", "sonic_webpage"):
        return text
    given = (content.get("title"), content.get("domain"), content.get("url"))
    heads = dict.fromkeys(clean(one) for one in given if isinstance(one, str) and one.strip())
    return f"{', '.join(heads)}\n\n{text}" if heads else text


def _texts(content: Mapping[str, Any]) -> Iterable[str]:
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
    for key in ("text", "result", "content"):
        if isinstance(content.get(key), str):
            yield content[key]
    thoughts = content.get("thoughts")
    for thought in thoughts if isinstance(thoughts, list) else ():
        told = (thought.get(key) for key in ("summary", "content")) if isinstance(thought, dict) else ()
        if said := [one.strip() for one in dict.fromkeys(told) if isinstance(one, str) and one.strip()]:
            yield "\n\n".join(said)  # its heading, and itself


class _Named(msgspec.Struct, frozen=True):
    """A file of a message, and its id in the vendor's store."""

    id: str
    part: AttachmentPart


def _attachments(message: _Message) -> Iterable[_Named]:
    given = message.metadata.attachments if message.metadata is not None else None
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            kind, size = one.get("mime_type", one.get("mimeType")), one.get("size")
            media = clean(kind) if isinstance(kind, str) else "application/octet-stream"
            part = AttachmentPart(
                sha256="",
                media_type=media,
                name=clean(one["name"]),
                size_bytes=size if type(size) is int and size >= 0 else 0,
            )
            yield _Named(str(one.get("id")), part)


# Texts that stand somewhere else than in the message, and marks in texts that the vendor's page replaces.

NOTES = tr("notes of the other program")
_MARK = late("\ue200([^\ue200\ue201]*)\ue201")
_BLOCK = late(r"^:::writing\{([^\n]*)\}[ \t]*\n(.*?)^:::[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_SUBJECT = late(r'subject="([^"\n]*)"')


def without_marks(text: str, meta: _Meta | None) -> str:
    """A text as its reader saw it: links in the place of marks, the words of blocks without their fences."""
    if ":::writing" in text:
        text = _BLOCK.sub(_written, text)
    if "\u3010" in text:
        given = meta.citations if meta is not None else None
        text = _cited(text, given if isinstance(given, list) else [])
    given = meta.content_references if meta is not None else None
    references = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    for one in references:
        matched = one.get("matched_text")
        if isinstance(matched, str) and matched.strip() and ("\ue200" in matched or "\u3010" in matched):
            link = _link(one)
            text = (text.replace(f" {matched}", link) if link else text).replace(matched, link)
    if "\ue200" in text or references:
        text = _MARK.sub(_unmarked, text).translate(_UNSEEN)
    return _OLD_MARK.sub("", text)


_OLD_MARK = late(r"\u3010\d{1,4}(?::\d{1,4})?\u2020[^\u3011\n]{0,200}\u3011")
"""A mark whose source nobody tells."""
_UNSEEN = dict.fromkeys((0xE200, 0xE201, 0xE202, 0xE203, 0xE204))


def _written(match: re.Match[str]) -> str:
    subject = _SUBJECT.search(match[1])
    return f"{subject[1]}\n\n{match[2]}" if subject is not None and subject[1] else match[2]


def _cited(text: str, citations: list[Any]) -> str:
    """A text of old exports with links in the place of marks like \u30104\u2020source\u3011."""
    for one in sorted(filter(_is_placed, citations), key=lambda one: int(one["start_ix"]), reverse=True):
        start, end = one["start_ix"], one["end_ix"]
        mark, about = text[start:end], one.get("metadata")
        if mark.startswith("\u3010") and mark.endswith("\u3011") and isinstance(about, dict):
            text = f"{text[:start]}{_link(about)}{text[end:]}"
    return text


def _is_placed(one: Any) -> bool:
    return isinstance(one, dict) and type(one.get("start_ix")) is int and type(one.get("end_ix")) is int


def _link(reference: Mapping[str, Any]) -> str:
    """Text of a reference: its own words, else the titles and addresses of what it names."""
    alt = reference.get("alt")
    if isinstance(alt, str) and alt.strip() and "\ue200" not in alt:
        return f" {alt.strip()}"
    items = reference.get("items")
    told = [reference, *(items if isinstance(items, list) else ())]
    links = dict.fromkeys(filter(None, map(_titled, told)))
    if links:
        return f" ({', '.join(links)})"
    name = reference.get("name")
    return f" ({name})" if isinstance(name, str) and name.strip() else ""


def _titled(one: Any) -> str:
    if not isinstance(one, dict) or not isinstance(url := one.get("url"), str) or not url.strip():
        return ""
    title = one.get("title")
    return f"[{title.strip()}]({url})" if isinstance(title, str) and title.strip() else url


def _unmarked(match: re.Match[str]) -> str:
    """The words of a mark that no reference explains: a name counts as words, a number of a search does not."""
    kind, _, rest = match[1].partition("\ue202")
    if not rest and match[1].startswith("entity["):
        kind, rest = "entity", match[1].removeprefix("entity")
    if kind not in {"entity", "url", "link", "link_title"}:
        return ""
    given = _loaded(rest.split("\ue202")[0])
    words = (
        [one for one in given if isinstance(one, str)] if isinstance(given, list) else rest.split("\ue202")
    )
    return words[1] if kind == "entity" and len(words) > 1 else " ".join(words)


def _report(meta: _Meta | None) -> str:
    """The report of a deep research, which stands in the state of its widget alone."""
    sdk = meta.chatgpt_sdk if meta is not None else None
    state = sdk.get("widget_state") if isinstance(sdk, dict) else None
    told = _loaded(state) if isinstance(state, str) else state
    message = told.get("report_message") if isinstance(told, dict) else None
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return content.strip()
    return "\n\n".join(_texts(content)).strip() if isinstance(content, dict) else ""


def _is_context(message: _Message) -> bool:
    """True for what the person wrote about themselves, which the vendor puts before each conversation."""
    return _kind(message) in ("user_editable_context", "model_editable_context")


def _kind(message: _Message) -> Any:
    return message.content.get("content_type") if isinstance(message.content, dict) else None


_IN_FENCE = late(r"```\s*(.*?)\s*```", re.DOTALL)
_ABOUT = {
    "user_profile": tr("what you told ChatGPT of yourself"),
    "user_instructions": tr("your instructions for ChatGPT"),
    "model_set_context": tr("memory of ChatGPT"),
}
_MEMORY = late(r"^\d{1,5}\. (?:\[[^\]\n]{1,40}\]\.? ?)?", re.MULTILINE)


def _offered(nodes: Iterable[_Node]) -> Iterator[Offered]:
    """Instructions and memories that the vendor put before a conversation, each memory by itself."""
    for node in nodes:
        if node.message is None or not _is_context(node.message):
            continue
        for key, source in _ABOUT.items():
            text = node.message.content.get(key)
            if not isinstance(text, str):
                continue
            told = "\n".join(found for found in _IN_FENCE.findall(text)) or text
            for piece in _MEMORY.split(told) if key == "model_set_context" else (told,):
                if piece.strip():
                    yield Offered(text=clean(piece.strip()), source=source)


def _loaded(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None


def _by_time(message: TranscriptMessage) -> float:
    return message.at.timestamp() if message.at is not None else 0.0
