"""Discussions that a conversation of another program becomes: its paths as logs, what is here already left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

import msgspec

from core.kernel.figures import count
from core.kernel.frame import one_line
from core.kernel.ids import make_id
from core.kernel.language import as_sentences, in_english, spliced, tr
from core.kernel.patterns import late
from core.kernel.secrets import scrubbed_line
from core.kernel.values.imports import (
    ImportFault,
    ImportReport,
    ImportRow,
    Transcript,
    TranscriptKind,
    TranscriptMessage,
)
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import IMPORTED, MarkRecord, MessageRecord, Record
from core.talk.transcripts.transcript_reader import paths

MAX_PATHS = 200
"""Branches of one conversation that are kept; one with more is odd, and the rest is counted."""

MAX_PATH_MESSAGES = 50_000
"""Messages in all branches of one conversation: each branch holds its whole path."""

MAX_TOOL_CHARS = 64_000
"""Characters of a tool's arguments or answer that are kept; the rest is counted."""

OTHER_WORDS = tr("messages whose words differ from those here (kept as a branch)")
NO_DATE = tr("conversations without a date (the program uses the file's date)")
NAME_CHARS = 120
UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)

_COMMAND = late(
    r"\s*(?:/[a-z][\w-]*(?=\s|$)|<(?:command|local-command|system|user-prompt|bash|ide)[\w-]*>|Caveat: The messages below)",
    re.IGNORECASE,
)
"""Beginning of what a person typed for the program, or the program wrote in their place."""

_TAGS = late(r"</?[a-z][\w-]{0,60}>", re.IGNORECASE)

LABELS = {
    TranscriptKind.CHATGPT: "ChatGPT",
    TranscriptKind.CLAUDE: "Claude",
    TranscriptKind.CLAUDE_CODE: "Claude Code",
    TranscriptKind.AIDER: "aider",
    TranscriptKind.SPECSTORY: "SpecStory",
    TranscriptKind.CODEX: "Codex CLI",
    TranscriptKind.GEMINI_CLI: "Gemini CLI",
    TranscriptKind.OPENCODE: "OpenCode",
    TranscriptKind.CLINE: "Cline",
    TranscriptKind.CURSOR: "Cursor",
    TranscriptKind.LLM: "llm",
    TranscriptKind.OPEN_WEBUI: "Open WebUI",
    TranscriptKind.LIBRECHAT: "LibreChat",
    TranscriptKind.LM_STUDIO: "LM Studio",
    TranscriptKind.CHERRY_STUDIO: "Cherry Studio",
    TranscriptKind.ZED: "Zed",
    TranscriptKind.GROK: "Grok",
    TranscriptKind.COPILOT: "Copilot Chat (VS Code)",
    TranscriptKind.TYPINGMIND: "TypingMind",
    TranscriptKind.BIG_AGI: "big-AGI",
    TranscriptKind.AI_STUDIO: "Google AI Studio",
    TranscriptKind.CONTINUE: "Continue",
    TranscriptKind.GOOSE: "Goose",
    TranscriptKind.JAN: "Jan",
    TranscriptKind.ANYTHINGLLM: "AnythingLLM",
    TranscriptKind.COPILOT_CLI: "GitHub Copilot CLI",
    TranscriptKind.DROID: "Droid",
    TranscriptKind.PI: "pi",
    TranscriptKind.AMP: "Amp",
    TranscriptKind.CRUSH: "Crush",
    TranscriptKind.SILLYTAVERN: "SillyTavern",
    TranscriptKind.LLAMA_CPP: "llama.cpp",
    TranscriptKind.MESSAGES: tr("a list of messages"),
    TranscriptKind.SHAREGPT: tr("a list of conversations (ShareGPT)"),
    TranscriptKind.TAKEOUT: "Gemini (Google Takeout)",
    TranscriptKind.PLAIN: tr("a text file"),
    TranscriptKind.EXPORT: tr("an export of Manual Slop"),
    TranscriptKind.DISCUSSION: tr("a log of Manual Slop"),
}
"""Names of what a conversation was written by, as a person knows it."""


class Held(msgspec.Struct, frozen=True):
    """A discussion that an earlier import made.

    Args:
        message_ids: of all messages in its log, in order; is_gone: it lies in the trash.
        words: of each of them, as `words_of`.
    """

    discussion_id: str
    message_ids: tuple[str, ...] = ()
    is_gone: bool = False
    words: tuple[int, ...] = ()


def words_of(record: MessageRecord) -> int:
    """Mark of a message's words, to tell whether two are the same; of use in this process alone. O(1) once known."""
    parts = record.parts
    if len(parts) == 1 and isinstance(first := parts[0], TextPart):
        return hash(first.text)
    texts = [part.text for part in parts if isinstance(part, (TextPart, ReasoningPart))]
    return hash(texts[0] if len(texts) == 1 else tuple(texts))


Lookup = Callable[[str], Held | None]
"""Finds a discussion by its id; None for an unknown id."""


class NewDiscussion(msgspec.Struct, frozen=True):
    """A discussion to be made.

    Args:
        new: how many of its messages are not in its parent; at: when it was begun, None where nothing says.
        parent_id, branch_message_id: as in its meta; empty for the path that was seen last.
    """

    discussion_id: str
    name: str
    records: tuple[Record, ...]
    new: int
    at: datetime | None = None
    parent_id: str = ""
    branch_message_id: str = ""


class Growth(msgspec.Struct, frozen=True):
    """Messages to be added to a discussion that an earlier import made."""

    discussion_id: str
    records: tuple[Record, ...]
    new: int


class ImportPlan(msgspec.Struct, frozen=True):
    """Everything that an import of one conversation does.

    Args:
        discussion_id: of the path that was seen last; messages: of all paths, each once; skipped: what is left out.
        why: nothing is to be done, empty where something is.
    """

    discussion_id: str
    title: str
    messages: int
    made: tuple[NewDiscussion, ...] = ()
    grown: tuple[Growth, ...] = ()
    branches: int = 0
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)
    why: str = ""


def plan_import(
    kind: TranscriptKind, transcript: Transcript, lookup: Lookup, now: datetime, source: str
) -> ImportPlan:
    """Decide what an import of a conversation does. What is here already adds nothing; what a person wrote stays.

    Args:
        lookup: discussions that are here; source: the file's name, for the person; now: of the marks.
    """
    transcript = _as_taken_before(kind, transcript, lookup)
    skipped = Counter(transcript.skipped)
    kept = {
        one.id: record for one in transcript.messages if (record := _record(kind, transcript, one, skipped))
    }
    found = paths(transcript, MAX_PATHS, MAX_PATH_MESSAGES)
    if found.left:
        skipped["branches over the bound"] += found.left
    ways = [[kept[one.id] for one in path if one.id in kept] for path in found.paths]
    ways = list({tuple(record.id for record in way): way for way in ways if way}.values())
    title = _title(transcript, ways)
    if not ways:
        return ImportPlan(
            discussion_id="",
            title=title,
            messages=0,
            skipped=dict(skipped),
            why=tr("no part of the conversation can be imported"),
        )
    # Without what is left out a path may be the mere beginning of another: no branch. The first was seen last, and stays.
    inner = {(record.id, at) for way in ways for at, record in enumerate(way[:-1], 1)}
    ways = [*ways[:1], *(way for way in ways[1:] if (way[-1].id, len(way)) not in inner)]
    maker = _Maker(kind, transcript, title, lookup, _mark(kind, transcript, source, now))
    for way in ways:
        maker.take(way)
    if transcript.is_undated:
        skipped[NO_DATE] += 1
    if maker.differing:
        skipped[OTHER_WORDS] += maker.differing
    return ImportPlan(
        discussion_id=maker.first_id,
        title=title,
        messages=len({record.id for way in ways for record in way}),
        made=tuple(maker.made),
        grown=tuple(maker.grown),
        branches=len(ways) - 1,
        skipped=dict(skipped),
        why="" if maker.made or maker.grown else maker.why,
    )


def _as_taken_before(kind: TranscriptKind, transcript: Transcript, lookup: Lookup) -> Transcript:
    """The conversation under the id that an earlier version gave it, if that version took it."""
    said = next((one for one in transcript.messages if not one.is_aside), None)
    if not transcript.former_id or said is None:
        return transcript
    former = msgspec.structs.replace(transcript, id=transcript.former_id)
    held = lookup(discussion_id_of(kind, former, record_id(kind, former.id, said.id)))
    return former if held is not None else transcript


def discussion_id_of(kind: TranscriptKind, transcript: Transcript, message_id: str) -> str:
    """Id of the discussion whose first own message this record is; the same at every import."""
    at = transcript.at or next((one.at for one in transcript.messages if one.at is not None), UNKNOWN_TIME)
    return make_id(at, f"{kind.value}\0{transcript.id}\0{message_id}")


def record_id(kind: TranscriptKind, transcript_id: str, message_id: str) -> str:
    """Id of a message's record: the same at every import, and of no use as a path."""
    given = f"{kind.value}\0{transcript_id}\0{message_id}".encode("utf-8", "surrogatepass")
    return f"{ID_START}{sha256(given).hexdigest()[: 2 * ID_BYTES]}"


ID_START, ID_BYTES = "imported-", 12


class _Maker:
    """Paths of one conversation as discussions, one after another."""

    def __init__(
        self, kind: TranscriptKind, transcript: Transcript, title: str, lookup: Lookup, mark: MarkRecord
    ) -> None:
        self._kind, self._transcript, self._title, self._lookup, self._mark = (
            kind,
            transcript,
            title,
            lookup,
            mark,
        )
        self.made: list[NewDiscussion] = []
        self.grown: list[Growth] = []
        self.first_id = ""
        self.why = tr("the whole conversation is already here")
        self._logs: list[tuple[str, tuple[str, ...]]] = []
        self._seen: dict[str, Held | None] = {}
        self._other: dict[str, MessageRecord] = {}

    @property
    def differing(self) -> int:
        """Number of messages that an earlier import has with other words."""
        return len(self._other)

    def take(self, way: Sequence[MessageRecord]) -> None:
        """Have a discussion that holds this path, if none does. Who has other words under an id has another message."""
        held = [found for record in way if (found := self._held(record.id)) is not None]
        if held:
            way = self._told_apart(way, held)
            held = [found for record in way if (found := self._held(record.id)) is not None]
        ids = tuple(record.id for record in way)
        if held and held[-1].is_gone:
            self.why = tr("the discussion of this conversation is in the trash")
            self.first_id = self.first_id or held[0].discussion_id
            return
        for found in held:
            self.first_id = self.first_id or found.discussion_id
            if set(ids) <= set(found.message_ids):
                return
        for found in held:
            if self._grow(found, way):
                return
        self._make(way, [(found.discussion_id, found.message_ids) for found in held])

    def _told_apart(self, way: Sequence[MessageRecord], held: Sequence[Held]) -> list[MessageRecord]:
        """The path with ids of their own for messages that are here with other words; the same at every import."""
        known = {key: words for one in held for key, words in zip(one.message_ids, one.words, strict=False)}
        made = []
        for record in way:
            if known.get(record.id, words_of(record)) != words_of(record):
                texts = "\0".join(
                    part.text for part in record.parts if isinstance(part, (TextPart, ReasoningPart))
                )
                key = record_id(self._kind, record.id, texts)
                self._other[record.id] = msgspec.structs.replace(record, id=key)
                made.append(self._other[record.id])
            else:
                made.append(record)
        return made

    def _held(self, message_id: str) -> Held | None:
        """The discussion that begins its own part with this message, if it is here."""
        discussion_id = discussion_id_of(self._kind, self._transcript, message_id)
        if discussion_id not in self._seen:
            self._seen[discussion_id] = self._lookup(discussion_id)
        found = self._seen[discussion_id]
        return found if found is not None and (found.is_gone or message_id in found.message_ids) else None

    def _grow(self, held: Held, way: Sequence[MessageRecord]) -> bool:
        """Add what is new, where the discussion ends as this path began and nobody went on in it."""
        count = len(held.message_ids)
        if not held.message_ids or tuple(record.id for record in way[:count]) != held.message_ids:
            return False
        if any(one.discussion_id == held.discussion_id for one in self.grown):
            return False
        more = way[count:]
        self.grown.append(
            Growth(discussion_id=held.discussion_id, records=(*more, self._mark), new=len(more))
        )
        self._logs.append((held.discussion_id, tuple(record.id for record in way)))
        return True

    def _make(self, way: Sequence[MessageRecord], held: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        ids = tuple(record.id for record in way)
        parent_id, common = "", 0
        for discussion_id, others in (*self._logs, *held):
            same = _common(ids, others)
            if same > common:
                parent_id, common = discussion_id, same
        first = way[min(common, len(way) - 1)]
        discussion_id = discussion_id_of(self._kind, self._transcript, first.id)
        self._logs.append((discussion_id, ids))
        is_branch = bool(parent_id)
        self.first_id = self.first_id or discussion_id
        self.made.append(
            NewDiscussion(
                discussion_id=discussion_id,
                name=_branch_name(way[common:], self._title) if is_branch else self._title,
                records=(*way, self._mark),
                new=len(way) - common,
                at=self._transcript.at or way[0].at,
                parent_id=parent_id,
                branch_message_id=ids[common - 1] if is_branch and common else "",
            )
        )


BRANCH_CHARS = 48


def _branch_name(own: Sequence[MessageRecord], title: str) -> str:
    """Name of a branch: its first own words of the person, else of the model, as a branch made here gets them."""
    asked = (one for one in own if one.role is Role.USER)
    words = (text for one in chain(asked, own) for text in _texts(one) if text.strip())
    return scrubbed_line(next(words, ""), BRANCH_CHARS) or title


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    while count < min(len(left), len(right)) and left[count] == right[count]:
        count += 1
    return count


def _record(
    kind: TranscriptKind, transcript: Transcript, one: TranscriptMessage, skipped: Counter[str]
) -> MessageRecord | None:
    """A message as it is kept. Calls, results and system texts are words of the past: nothing acts on them."""
    if one.is_aside:
        skipped["notes of the program and of helpers"] += 1
        return None
    if one.role not in {"user", "assistant", "tool"}:
        skipped["system texts" if one.role == "system" else "messages of unknown speakers"] += 1
        return None
    parts = tuple(_parts(one.parts, skipped))
    if not parts:
        skipped["empty messages"] += 1
        return None
    by_tools = one.role == "tool" or all(isinstance(part, ToolResultPart) for part in one.parts)
    role = Role.USER if one.role == "user" and not by_tools else Role.ASSISTANT
    return MessageRecord(
        id=record_id(kind, transcript.id, one.id),
        at=one.at or transcript.at or UNKNOWN_TIME,
        role=role,
        parts=parts,
        model=one_line(one.model, NAME_CHARS) or ("" if role is Role.USER else LABELS.get(kind, "")),
    )


def _parts(given: Sequence[Part], skipped: Counter[str]) -> Iterator[Part]:
    for part in given:
        match part:
            case TextPart():
                yield part
            case ReasoningPart():
                yield ReasoningPart(part.text)
            case ToolCallPart():
                yield TextPart(
                    _told(f"[called {one_line(part.name, NAME_CHARS)}]", part.arguments_json, skipped)
                )
            case ToolResultPart():
                head = "[tool error]" if part.is_error else "[tool result]"
                yield TextPart(_told(head, part.text, skipped))
                for file in part.attachments:
                    yield _by_name(file, skipped)
            case AttachmentPart():
                yield _by_name(part, skipped)


def _by_name(file: AttachmentPart, skipped: Counter[str]) -> TextPart:
    skipped["files, by name alone"] += 1
    return TextPart(f"[attached {one_line(file.name, NAME_CHARS)}]")


def _told(head: str, text: str, skipped: Counter[str]) -> str:
    if len(text) > MAX_TOOL_CHARS:
        skipped["characters of long tool texts"] += len(text) - MAX_TOOL_CHARS
        text = f"{text[:MAX_TOOL_CHARS]}\n[…]"
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{head}\n{fence}\n{text}\n{fence}"


def _mark(kind: TranscriptKind, transcript: Transcript, source: str, now: datetime) -> MarkRecord:
    with in_english():  # the log keeps it
        text = tr(
            "Imported on {now:%Y-%m-%d} from {LABELS}: {source}",
            now=now,
            LABELS=LABELS.get(kind, kind.value),
            source=one_line(source, NAME_CHARS),
        )
        if transcript.is_undated:
            text += " " + tr("The source gives no date: the date is that of the file.")
    seed = f"{kind.value}\0{transcript.id}\0{now.isoformat()}"
    last = max((one.at for one in transcript.messages if one.at is not None), default=transcript.at or now)
    return MarkRecord(id=make_id(now, seed), at=last, kind=IMPORTED, text=text)


def _title(transcript: Transcript, ways: Sequence[Sequence[MessageRecord]]) -> str:
    """Title that the source gives; without one the first words of a person that are no command of a program."""
    title = one_line(transcript.title, NAME_CHARS).strip()
    if title and not _COMMAND.match(title):
        return title
    said = ways[0] if ways else ()
    asked = (record for record in said if record.role is Role.USER)
    plain = (text for record in chain(asked, said) for text in _texts(record) if not _COMMAND.match(text))
    bare = (_TAGS.sub(" ", text) for record in said for text in _texts(record))
    lines = (one_line(text, 60).strip() for text in chain(plain, bare))
    return next(filter(None, lines), tr("Imported conversation"))


def _texts(record: MessageRecord) -> Iterator[str]:
    return (part.text for part in record.parts if isinstance(part, TextPart))


# The report of an import, for a person and for programs.

DRY = tr(" (dry run: nothing was written)")
SHOWN_NAMES = 5
MAX_LISTED = 40
"""Conversations that a person is shown; programs are given all that the report lists."""


def report_text(report: ImportReport) -> str:
    """Report in lines: the conversations that add something, what is left out and why, and the sum."""
    lines = [_row(row, is_dry=report.is_dry) for row in report.rows if not row.why][:MAX_LISTED]
    more = report.new_count - len(lines)
    lines += [tr("  … and {more:,} more", more=more)] if more > 0 else []
    lines += [f"  {line}" for line in left_out(report)]
    lines += [tr("  not read: {fault}", fault=fault_text(fault)) for fault in report.faults]
    lines.append(f"{sum_text(report)}{DRY if report.is_dry and report.new_count else ''}")
    if report.stopped:
        lines.append(tr("stopped: {stopped}", stopped=report.stopped))
    return "\n".join(lines) + "\n"


def left_out(report: ImportReport) -> tuple[str, ...]:
    """Lines on what an import does not take, each thing counted and named."""
    known = Counter(row.why for row in report.rows if row.why).most_common()
    others = report.other_files
    return (
        *(
            (
                tr(
                    "conversations that add nothing: {unchanged:,} (unchanged since the last import)",
                    unchanged=report.unchanged,
                ),
            )
            if report.unchanged
            else ()
        ),
        *(
            tr("conversations that add nothing: {number:,} ({why})", number=number, why=why)
            for why, number in known
        ),
        *(
            tr("left out: {what}: {number:,}", what=word, number=number)
            for word, number in report.skipped.items()
        ),
        *((_no_conversation(report),) if others else ()),
        *_knowledge(report),
    )


def _no_conversation(report: ImportReport) -> str:
    named = ", ".join(one_line(name, 60) for name in report.other_names[:SHOWN_NAMES])
    more = report.other_files - min(len(report.other_names), SHOWN_NAMES)
    return tr(
        "No conversation in {files}: {names}. To import a text file anyway, choose the file itself.",
        files=count(report.other_files, tr("file"), tr("files")),
        names=tr("{names} and {more:,} more", names=named, more=more) if more > 0 and named else named,
    )


def _knowledge(report: ImportReport) -> Iterator[str]:
    """Lines on instructions, documents and memories: how many pieces are offered, and where they wait."""
    named = ", ".join(one_line(name, 60) for name in report.knowledge_names)
    where = f" in {named}" if named else ""
    if report.offered and report.is_dry:
        yield tr(
            "Instructions, documents or memories{where}: the import offers {offered}. You add or refuse each.",
            where=where,
            offered=count(report.offered, tr("proposal"), tr("proposals")),
        )
    elif report.offered:
        yield tr(
            "{proposals} from instructions, documents or memories{where}. {remedy}",
            proposals=count(report.offered, tr("proposal"), tr("proposals")),
            where=where,
            remedy=WHERE,
        )
    elif named and not report.not_offered:
        yield tr("In {files}, the import found no new instructions, documents or memories.", files=named)
    if report.not_offered:
        yield tr(
            "Too many proposals wait, so the import left out {not_offered:,}. Decide on some proposals, then import again.",
            not_offered=report.not_offered,
        )


WHERE = tr("Add or refuse each proposal in Knowledge, Proposed.")


def sum_text(report: ImportReport) -> str:
    """Sum of an import in one line; first of all that a file is cut off, or that nothing could be read."""
    if report.faults and not report.count:
        return tr("The program could read nothing. {faults}", faults=fault_text(report.faults[0]))
    cut = next((one for one in report.faults if one.is_cut), None)
    return as_sentences(_cut_text(cut) if cut is not None else "", _sum(report))


def _cut_text(cut: ImportFault) -> str:
    return tr(
        "{name} is cut off in the middle; the import takes the complete conversations.",
        name=PurePath(cut.file).name,
    )


def _sum(report: ImportReport) -> str:
    found = tr(
        "{new} of {count:,} in {files}",
        new=count(report.new_count, tr("conversation"), tr("conversations")),
        count=report.count,
        files=count(report.files, tr("file"), tr("files")),
    )
    if not report.new_count:
        return tr(
            "{count} in {files}: nothing new",
            count=count(report.count, tr("conversation"), tr("conversations")),
            files=count(report.files, tr("file"), tr("files")),
        )
    grown = tr(", {discussions:,} continued", discussions=report.grown) if report.grown else ""
    made = spliced(
        "{}{}, {}",
        count(report.made, tr("new discussion"), tr("new discussions")),
        grown,
        count(report.new_messages, tr("message"), tr("messages")),
    )
    return (
        tr("{conversations} would become {discussions}", conversations=found, discussions=made)
        if report.is_dry
        else spliced("{}: {}", found, made)
    )


def fault_text(fault: ImportFault) -> str:
    """Fault in one line."""
    return spliced("{}: {}", fault.place, fault.why) + (spliced(". {}", fault.remedy) if fault.remedy else "")


def report_data(report: ImportReport) -> dict[str, Any]:
    """Report as plain data: for `--json` and the Hook API."""
    return {
        "dry_run": report.is_dry,
        "conversations": report.count,
        "new_conversations": report.new_count,
        "files": report.files,
        "other_files": report.other_files,
        "other_names": list(report.other_names),
        "knowledge_names": list(report.knowledge_names),
        "offered": report.offered,
        "not_offered": report.not_offered,
        "discussions_made": report.made,
        "discussions_grown": report.grown,
        "messages": report.new_messages,
        "unchanged": report.unchanged,
        "skipped": dict(report.skipped),
        "stopped": report.stopped,
        "rows": [_row_data(row) for row in report.rows],
        "faults": [{"place": one.place, "why": one.why, "remedy": one.remedy} for one in report.faults],
    }


def _row(row: ImportRow, *, is_dry: bool) -> str:
    """A conversation that adds something. Before it does, with the id by which it is left out."""
    day = f"{row.at:%Y-%m-%d}" if row.at is not None else tr("no date   ")
    what = "message" if row.new == 1 else "messages"
    branches = (
        tr(", {branches} branches", branches=row.branches)
        if row.branches > 1
        else tr(", 1 branch")
        if row.branches
        else ""
    )
    return f"  {day}  {row.kind.value}  {row.new:,} {what}{branches}  {row.title}{f'  ({row.discussion_id})' if is_dry else ''}"


def _row_data(row: ImportRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "kind": row.kind.value,
        "title": row.title,
        "at": row.at.isoformat() if row.at is not None else None,
        "messages": row.messages,
        "new": row.new,
        "branches": row.branches,
        "discussion_id": row.discussion_id,
        "why": row.why,
        "skipped": dict(row.skipped),
    }


# Places that are followed, as the setting names them.

KEY = "imports.follow"
"""The setting that holds a person's yes to each place: it binds the place, whatever its program is called."""


def with_place(followed: Iterable[str], path: str) -> tuple[str, ...]:
    """The list with this place at its end."""
    return (*without_place(followed, path), path)


def without_place(followed: Iterable[str], path: str) -> tuple[str, ...]:
    """The list without this place, however it is written there."""
    return tuple(one for one in followed if whole(one) != whole(path))


def whole(path: str) -> str:
    """A place as the program goes there: `~` spelled out."""
    return str(Path(path).expanduser().absolute())
