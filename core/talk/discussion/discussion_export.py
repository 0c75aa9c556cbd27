"""A discussion as one file: Markdown to read, JSON to keep and read back."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, assert_never

import msgspec

from core.kernel.codecs import read_json
from core.kernel.errors import StorageError
from core.kernel.figures import count, dollars, span
from core.kernel.language import spliced, tr
from core.kernel.patterns import late
from core.kernel.values.discussion import DiscussionMeta, OpenDiscussion, ReplyVersions
from core.kernel.values.messages import (
    AttachmentPart,
    CallEnd,
    Entry,
    Mark,
    Message,
    Part,
    ReasoningPart,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.usage import Usage
from core.talk.discussion.log_codec import from_json_value, to_json_value

FORMAT = "manual-slop discussion"
VERSION = 1

ENDINGS = {"markdown": ".md", "page": ".html", "json": ".json"}
"""Endings of file names, by the form of an export."""

T = TypeVar("T")

_NO_NAME = late(r'[\x00-\x1f/\\:*?"<>|]+')
_SURROGATES = late("[\ud800-\udfff]")
_FENCE = late(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_SPEAKERS = {Role.USER: "You", Role.ASSISTANT: "Reply", Role.TOOL: "Tool"}
_RESULT_NOUNS = {
    CallEnd.DONE: "Tool result",
    CallEnd.FAILED: "Tool error",
    CallEnd.REFUSED: "Tool call refused",
    CallEnd.INTERRUPTED: "Tool call interrupted",
}
_STATUS_NOTES = {
    Status.COMPLETE: "",
    Status.PARTIAL: "not whole",
    Status.INTERRUPTED: "interrupted",
}


def file_name(name: str) -> str:
    """The name of a discussion as that of a file on any system, without an ending."""
    return " ".join(_NO_NAME.sub(" ", name).split())[:80].strip(" .") or "discussion"


def export_markdown(meta: DiscussionMeta, discussion: OpenDiscussion) -> str:
    """Write a discussion for reading: what the person sees, deleted messages left out.

    Messages stand as they are; a code fence that a message leaves open is closed, so that it swallows nothing of
    what follows. Reasoning is quoted, attachments are listed, each reply names its model, tokens and cost, and which
    of its versions it is.
    """
    blocks = [f"# {_inline(meta.name) or meta.id}", "\n".join(_head_lines(meta, discussion))]
    for entry in discussion.entries:
        match entry:
            case Message():
                blocks += (
                    [] if entry.is_deleted else _message_blocks(meta, entry, discussion.versions_of(entry))
                )
            case Mark():
                blocks.append(f"*{_inline(entry.kind)}: {_inline(entry.text)}* ({_time(entry)})")
            case _:
                assert_never(entry)
    return _storable("\n\n".join(blocks) + "\n")


def export_json(meta: DiscussionMeta, discussion: OpenDiscussion) -> str:
    """Write a discussion to keep: meta and every entry, deleted ones too. `parse_export` reads it back.

    Versions of replies that were not chosen stand apart, for a reader who looks for them.
    """
    versions = {"versions": [_versions_data(one) for _, one in sorted(discussion.versions.items())]}
    data = {
        "format": FORMAT,
        "v": VERSION,
        "meta": to_json_value(meta),
        "entries": _entries_data(discussion.entries),
        **(versions if discussion.versions else {}),
        "usage": to_json_value(discussion.usage),
        "upkeep": to_json_value(discussion.upkeep),
    }
    return _storable(json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _entries_data(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [{"type": _entry_type(entry), **to_json_value(entry)} for entry in entries]


def _versions_data(versions: ReplyVersions) -> dict[str, Any]:
    aside = {name: _entries_data(run) for name, run in versions.aside.items()}
    return {"ids": list(versions.ids), "chosen_id": versions.chosen_id, "aside": aside}


def parse_export(text: str) -> tuple[DiscussionMeta, tuple[Entry, ...]]:
    """Read what `export_json` wrote.

    Raises:
        StorageError: it is something else, of a newer version, or damaged; the message says where.
    """
    try:
        data = read_json(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(tr("the file is not JSON: {error}", error=error)) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _unreadable(tr("the file is not an export of Manual Slop"))
    if data.get("v") != VERSION:
        raise _unreadable(
            tr(
                "the file has version {data!r}; this program reads {VERSION}",
                data=data.get("v"),
                VERSION=VERSION,
            )
        )
    listed = data.get("entries")
    if not isinstance(listed, list):
        raise _unreadable(tr("the file has no list of entries"))
    return _parsed("meta", DiscussionMeta, data.get("meta")), tuple(map(_entry, range(len(listed)), listed))


def close_fence(text: str) -> str:
    """The text with its last code fence closed where it was left open (CommonMark 0.31, "Fenced code blocks")."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        marker, info = match[1], match[2]
        if not fence:
            is_opening = marker[0] == "~" or "`" not in info
            fence = marker if is_opening else ""
        elif marker[0] == fence[0] and len(marker) >= len(fence) and not info.strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _head_lines(meta: DiscussionMeta, discussion: OpenDiscussion) -> Iterator[str]:
    yield f"- Started: {meta.created_at:%Y-%m-%d %H:%M} UTC"
    if meta.model:
        yield f"- Model: {_code(f'{meta.provider}/{meta.model}')}"
    if meta.preset:
        yield f"- Context preset: {_code(meta.preset)}"
    if meta.persona:
        yield f"- Persona: {_code(meta.persona)}"
    if meta.parent_id:
        yield f"- {'Task of' if meta.delegated_by else 'Branch of'}: {_code(meta.parent_id)}"
    if discussion.usage != Usage():
        yield f"- Total: {_usage_text(discussion.usage)}"
    upkeep = discussion.upkeep
    if upkeep.pings or upkeep.prewarms:
        calls = f"{count(upkeep.pings, 'keepalive ping')}, {count(upkeep.prewarms, 'prewarm')}"
        yield f"- Of it, to keep the cache warm: {calls}, {_usage_text(upkeep.usage)}"


def _message_blocks(meta: DiscussionMeta, message: Message, versions: ReplyVersions | None) -> list[str]:
    which = "" if versions is None else f"version {versions.number} of {len(versions.ids)}"
    edited = "edited" if message.is_edited else ""
    notes = [_time(message), _STATUS_NOTES[message.status], edited, which]
    blocks = [f"## {_speaker(meta, message)}", f"*{', '.join(note for note in notes if note)}*"]
    blocks += [block for part in message.parts if (block := _part_block(part, message.status))]
    if message.usage is not None:
        blocks.append(f"*{_usage_text(message.usage)}*")
    return blocks


def _speaker(meta: DiscussionMeta, message: Message) -> str:
    ours = "Task" if meta.delegated_by else "Autonomous turn"
    name = ours if message.is_autonomous else "Program" if message.asks_rest else _SPEAKERS[message.role]
    return f"{name} from {_code(f'{message.provider}/{message.model}')}" if message.model else name


def _part_block(part: Part, status: Status) -> str:
    match part:
        case TextPart():
            return close_fence(part.text.strip("\n"))
        case ReasoningPart():
            return (
                _quoted("**Reasoning**\n\n" + close_fence(part.text.strip("\n"))) if part.text.strip() else ""
            )
        case ToolCallPart():
            return f"Tool call {_code(part.name)} ({_code(part.call_id)}):\n\n{_fenced(part.arguments_json)}"
        case ToolResultPart():
            answer = f"{_RESULT_NOUNS[part.end(status)]} ({_code(part.call_id)}):\n\n{_fenced(part.text)}"
            return "\n\n".join((answer, *map(_file_line, part.attachments)))
        case AttachmentPart():
            return _file_line(part)
        case _:
            assert_never(part)


def _file_line(part: AttachmentPart) -> str:
    facts = f"{part.media_type}, {count(part.size_bytes, 'byte')}, sha256 {part.sha256}"
    return f"- Attachment: {_code(part.name)} ({_inline(facts)})"


def _usage_text(usage: Usage) -> str:
    mark = "≈" if usage.is_estimate else ""
    facts = [
        _count(usage.input_tokens, "tokens in"),
        _count(usage.cache_read_tokens, "of them read from cache"),
        _count(usage.cache_write_tokens, "of them written to cache"),
        _count(usage.output_tokens, "tokens out"),
        _count(usage.reasoning_tokens, "of them reasoning"),
        "" if usage.cost_usd is None else mark + dollars(usage.cost_usd, 4),
        "" if usage.duration_s is None else span(usage.duration_s, "terminal"),
        "estimated in part" if usage.is_estimate else "",
    ]
    return ", ".join(fact for fact in facts if fact) or "usage not reported"


def _count(number: int | None, noun: str) -> str:
    return "" if number is None else f"{number:,} {noun}"


def _time(entry: Entry) -> str:
    return f"{entry.at:%Y-%m-%d %H:%M:%S} UTC"


def _inline(text: str) -> str:
    """On one line, with what Markdown would take for markup escaped."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """A code span that holds any text: its fence is longer than every run of backticks inside."""
    flat = " ".join(text.split())
    fence = "`" * (_longest_run("`", flat) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") or not flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest_run("`", text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _longest_run(char: str, text: str) -> int:
    return max((len(run) for run in re.findall(re.escape(char) + "+", text)), default=0)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _entry_type(entry: Entry) -> str:
    return "message" if isinstance(entry, Message) else "mark"


def _entry(position: int, data: Any) -> Entry:
    kind = data.get("type") if isinstance(data, dict) else None
    match kind:
        case "message":
            return _parsed(f"entry {position + 1}", Message, data)
        case "mark":
            return _parsed(f"entry {position + 1}", Mark, data)
        case _:
            raise _unreadable(
                tr(
                    "entry {position} has an unknown type, {kind!r}",
                    position=position + 1,
                    kind=str(kind)[:40],
                )
            )


def _parsed(where: str, cls: type[T], data: Any) -> T:
    try:
        return from_json_value(cls, data)
    except ValueError as error:
        raise _unreadable(spliced("{}: {}", where, error)) from error


def _unreadable(why: str) -> StorageError:
    return StorageError(
        tr("The program cannot read the export: {why}", why=why),
        remedy=tr("Export the discussion again, as JSON"),
    )


def _storable(text: str) -> str:
    return _SURROGATES.sub("\ufffd", text)


# Places for an export: nothing of ours is written over, nor a file that stands there, unless that was said.


class ExportPlace(msgspec.Struct, frozen=True):
    """A place as it was found.

    Args:
        target: where the bytes would go, links followed; kept: what of ours it is or lies in, empty for nothing.
        is_there: something has this name, be it a link that leads nowhere; is_file: it is a file, or a link to one.
    """

    target: Path
    kept: str = ""
    is_there: bool = False
    is_folder: bool = False
    is_file: bool = False


def check_place(place: ExportPlace, *, replaces: bool) -> None:
    """Raise where an export may not go.

    Args:
        replaces: the person said that a file that stands there may go.

    Raises:
        StorageError: it lies in what is ours, is no file, or stands there and nobody said that it may go.
    """
    if place.kept:
        raise _refused(
            place,
            tr("this place belongs to Manual Slop ({reason})", reason=place.kept),
            tr("Choose a place outside the folders of Manual Slop"),
        )
    if place.is_folder:
        raise _refused(place, tr("this is a folder"), tr("Name a file in that folder"))
    if place.is_there and not place.is_file:
        raise _refused(place, tr("this is not a file"), tr("Choose another name"))
    if place.is_there and not replaces:
        raise _refused(
            place,
            tr("the file exists already"),
            tr("Choose another name, or allow the program to replace the file"),
        )


def look_at(path: str, kept: Iterable[Path]) -> ExportPlace:
    """Look at a place, by what the file system says: links, and names that differ in case alone, are seen through.

    Args:
        path: as the person gave it, `~` for their own folder.
        kept: folders and files of ours; they need not be there.

    Raises:
        StorageError: it is not an absolute path, or leads in a circle.
    """
    try:
        given = Path(path).expanduser()
    except RuntimeError as error:
        raise _refused(ExportPlace(target=Path(path)), str(error), tr("Choose another place")) from error
    if not given.is_absolute():
        raise _refused(
            ExportPlace(target=given), tr("this is not a full path"), tr("Begin the path with / or ~")
        )
    try:
        target = given.parent.resolve() / given.name
        real = target.resolve()
        found = real.stat() if real.exists() else None
    except (OSError, RuntimeError, ValueError) as error:
        raise _refused(ExportPlace(target=Path(path)), str(error), tr("Choose another place")) from error
    ours = next((str(one) for one in kept for place in (target, real) if _is_within(place, one)), "")
    return ExportPlace(
        target=real if found is not None else target,
        kept=ours,
        is_there=os.path.lexists(target),
        is_folder=found is not None and stat.S_ISDIR(found.st_mode),
        is_file=found is not None and stat.S_ISREG(found.st_mode),
    )


def _is_within(place: Path, kept: Path) -> bool:
    """True if a place is something of ours or lies in it."""
    try:
        ours = kept.stat()
    except OSError:
        return _spelt(place).is_relative_to(_spelt(kept.absolute()))  # not there: its name alone can tell
    for folder in (place, *place.parents):
        try:
            found = folder.stat()
        except OSError:
            continue
        if os.path.samestat(found, ours):
            return True
    return False


def _spelt(path: Path) -> Path:
    return Path(str(path).casefold())


def _refused(place: ExportPlace, why: str, remedy: str) -> StorageError:
    return StorageError(
        tr("The program exports nothing to {name!r}: {why}", name=place.target.name, why=why),
        remedy=remedy,
        where=str(place.target),
    )
