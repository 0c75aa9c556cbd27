"""Imports as values: the conversations in files of other programs, the new ones, and the results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.values.messages import Part

# Conversations of other programs as values: who said what, when, after what, with tools and files by name.


class TranscriptKind(StrEnum):
    """Kind of a file that holds conversations, recognised by its shape."""

    DISCUSSION = "discussion"
    EXPORT = "manual-slop export"
    SPECSTORY = "specstory"
    CLAUDE_CODE = "claude-code"
    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    AIDER = "aider"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    OPENCODE = "opencode"
    CLINE = "cline"
    CURSOR = "cursor"
    LLM = "llm"
    OPEN_WEBUI = "open-webui"
    LIBRECHAT = "librechat"
    LM_STUDIO = "lm-studio"
    CHERRY_STUDIO = "cherry-studio"
    ZED = "zed"
    GROK = "grok"
    COPILOT = "copilot-chat"
    TYPINGMIND = "typingmind"
    BIG_AGI = "big-agi"
    AI_STUDIO = "ai-studio"
    CONTINUE = "continue"
    GOOSE = "goose"
    JAN = "jan"
    ANYTHINGLLM = "anythingllm"
    COPILOT_CLI = "copilot-cli"
    DROID = "droid"
    PI = "pi"
    AMP = "amp"
    CRUSH = "crush"
    SILLYTAVERN = "sillytavern"
    LLAMA_CPP = "llama.cpp"
    MESSAGES = "messages"
    SHAREGPT = "sharegpt"
    TAKEOUT = "google-takeout"
    PLAIN = "plain"
    TEMPORARY = "temporary"
    """Leftover of a crash: a harvest takes it away, and no reader gets it."""
    UNKNOWN = "unknown"


class TranscriptMessage(msgspec.Struct, frozen=True, gc=False):
    """One message of a conversation.

    Args:
        id: the source's own, or `#1`, `#2`, … by its place where the source gives none; unique in its conversation.
        role: `user`, `assistant`, `tool`, `system`, or another plain word of the source.
        parts: an attachment has no hash, for its bytes are not there; a tool call is history.
        parent: id of the message that it answers, empty for a first one.
        at: aware UTC; None where the source does not say, or says what is no date.
        is_aside: said by a helper of the model, or a note of the program: not of the conversation itself.
    """

    id: str
    role: str
    parts: tuple[Part, ...]
    parent: str = ""
    at: datetime | None = None
    model: str = ""
    is_aside: bool = False


class Offered(msgspec.Struct, frozen=True):
    """Something beside conversations that a person may want to be known. `source`: what it is, and of what."""

    text: str
    source: str


class Transcript(msgspec.Struct, frozen=True):
    """One conversation.

    Args:
        id: the source's own, else made of what it begins with; the same for a file that grew.
        messages: in the order of the source; a tree by their parents.
        current: id of the last message of the path that the person saw last, empty where the last one counts.
        folder: in which it worked, empty where it does not say. Never opened.
        skipped: what was left out, by a plain word for it, and how often.
        is_undated: nothing in it says when it was; `at` is the date of its file.
        former_id: under which earlier versions of ours took it, empty where that is `id`.
        offered: what the vendor knew of the person, which stands in it and is no message.
    """

    id: str
    messages: tuple[TranscriptMessage, ...]
    title: str = ""
    at: datetime | None = None
    current: str = ""
    folder: str = ""
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)
    is_undated: bool = False
    former_id: str = ""
    offered: tuple[Offered, ...] = ()


class Unread(msgspec.Struct, frozen=True):
    """Something of a source that could not be read. `place`: where, in the words of a person, empty for all of it; `why`: what is wrong;
    `remedy`: may be empty; `is_cut`: the source ends in the middle; `is_conversation`: it stands for a whole conversation.
    """

    place: str
    why: str
    remedy: str = ""
    is_cut: bool = False
    is_conversation: bool = False


class ImportRow(msgspec.Struct, frozen=True):
    """One conversation of a source, and what an import of it does, or did.

    Args:
        path: the file that it stands in; kind: the program that wrote it; title: as the person sees it.
        messages: that would be kept; new: of those, that are not here yet; branches: beside the one that was seen last.
        discussion_id: it becomes, or is already; empty where nothing of it can be kept.
        why: it adds nothing, empty where it does.
        skipped: what is left out, by a plain word, and how often.
    """

    path: str
    kind: TranscriptKind
    title: str
    at: datetime | None
    messages: int
    new: int
    branches: int = 0
    discussion_id: str = ""
    why: str = ""
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)


class ImportFault(msgspec.Struct, frozen=True):
    """Something that could not be read or written. `place`: file, and where in it; `remedy` may be empty; `is_cut`: the
    file ends in the middle; `file`: the file alone.
    """

    place: str
    why: str
    remedy: str = ""
    is_cut: bool = False
    file: str = ""


class KnownPlace(msgspec.Struct, frozen=True):
    """Place in which a program keeps its sessions: a folder, or one file. `name`: as on the command line; `label`: for a person."""

    name: str
    label: str
    path: str


class ImportReport(msgspec.Struct, frozen=True):
    """Everything that an import found, and did where it was no dry run.

    Args:
        rows: the first `MAX_ROWS` conversations; count: of all; files: that were looked at; other_files: that hold none;
            other_names: of the first `MAX_NAMES` of those; knowledge_names: of those that hold instructions, documents or
            memories; offered: pieces of those, and of memories in conversations, that became proposals, or would: an
            import takes none by itself; not_offered: that could not, since too many wait; unchanged: conversations of files that did not change since they were
            imported, which have no row.
        made, grown: discussions; added: messages; stopped: why it ended early, empty where it did not.
        places: of known programs, that what was read lies in, or that lie in it.
    """

    is_dry: bool
    rows: tuple[ImportRow, ...] = ()
    faults: tuple[ImportFault, ...] = ()
    count: int = 0
    new_count: int = 0
    files: int = 0
    other_files: int = 0
    made: int = 0
    grown: int = 0
    added: int = 0
    new_messages: int = 0
    unchanged: int = 0
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)
    stopped: str = ""
    other_names: tuple[str, ...] = ()
    knowledge_names: tuple[str, ...] = ()
    offered: int = 0
    not_offered: int = 0
    places: tuple[KnownPlace, ...] = ()


MAX_NAMES = 20
MAX_ROWS = 2_000
"""Conversations that a report lists; all of them are counted."""


class FollowState(msgspec.Struct, frozen=True):
    """Places of which what is new is taken by itself.

    Args:
        places: that were looked at last, as the settings name them; at: when the next look is due, None for at once.
        is_looking: a look is under way; told: what was wrong at the last look, so that it is said once.
    """

    places: tuple[str, ...] = ()
    at: datetime | None = None
    is_looking: bool = False
    told: str = ""


class ImportState(msgspec.Struct, frozen=True):
    """The import under way, and the last report.

    Args:
        paths: of the run under way, or of the report; is_running: one is under way; is_dry: it writes nothing.
        count: conversations that it looked at; doing: the one in work; command_id: who waits for its end.
        problem, remedy: why the last run could not begin or go on.
    """

    paths: tuple[str, ...] = ()
    is_running: bool = False
    is_dry: bool = True
    count: int = 0
    doing: str = ""
    report: ImportReport | None = None
    problem: str = ""
    remedy: str = ""
    command_id: str = ""
