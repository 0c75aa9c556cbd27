"""The agent as values: running turns, tool calls, approvals, changed files, policies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.values.messages import AttachmentPart
from core.kernel.values.signals import Signal
from core.kernel.values.usage import SpendRefusal
from core.kernel.values.window import Compaction


class Mode(StrEnum):
    """Mode of a discussion with tools: what happens without a question. The schemas are the same in each."""

    ASK = "ask"
    ACCEPT_EDITS = "accept_edits"
    PLAN = "plan"


class ActKind(StrEnum):
    """Kind of a tool call, by which policies judge the call."""

    READ = "read"
    EDIT = "edit"
    COMMAND = "command"
    NETWORK = "network"
    SERVER = "server"
    """By a tool of an MCP server: nobody but the server knows what it does."""
    OWN = "own"
    """In our own files alone: journal, todo list, yield."""


class CallState(StrEnum):
    """State of a tool call."""

    PREPARING = "preparing"
    ASKING = "asking"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"

    @property
    def is_over(self) -> bool:
        """True if it has its result."""
        return self not in (CallState.PREPARING, CallState.ASKING, CallState.RUNNING)


class EditHunk(msgspec.Struct, frozen=True):
    """One place of an edit, taken or left by itself.

    Args:
        first_line: in the old text, from 1; text: lines of a unified difference, each with its sign, LF.
    """

    first_line: int
    text: str


class Act(msgspec.Struct, frozen=True):
    """Effect that a call would have, found without doing it.

    Args:
        kind: by which policies judge; title: one line in plain words; detail: the command, address or path, whole.
        reasons: why it must be asked in every mode and whatever was granted, a sentence each (writes a git hook, unconfined,
            a recovered call …).
        path: of an edit, absolute; base_sha256: of the file as it was judged, empty for a new one; hunks: of an edit.
        grant: what a yes for this discussion would allow from now on, as it is shown; empty: only once.
        commands: words of each simple command of a command line; empty where no rule may cover it.
        files: sha256 (hex) by path of the code that a command names, and that is imported by it in the project.
    """

    kind: ActKind
    title: str
    detail: str = ""
    reasons: tuple[str, ...] = ()
    path: str = ""
    base_sha256: str = ""
    hunks: tuple[EditHunk, ...] = ()
    grant: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    files: Mapping[str, str] = msgspec.field(default_factory=dict)


class Approval(Act, frozen=True, kw_only=True):
    """A question to a person, and what their yes is bound to.

    Args:
        id: sha256 (hex) over tool, arguments, folder and base: a yes counts for exactly this.
    """

    id: str
    asked_at: datetime | None = None


class FileChange(msgspec.Struct, frozen=True):
    """A file that a turn changed.

    Args:
        path: absolute; turn_id: the person's message that began the turn.
        before_sha256, after_sha256: of its bytes, empty where it was not there.
        added, removed: lines; difference: unified, cut at 64 KB; is_undone: its bytes are back.
    """

    path: str
    turn_id: str
    before_sha256: str
    after_sha256: str
    added: int = 0
    removed: int = 0
    difference: str = ""
    is_undone: bool = False


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call of a turn, as the panel shows it.

    Args:
        id: of the call, unique in the discussion; name, arguments_json: as the model gave them.
        kind: as it was judged, None before that; let_by: who or what let it run, empty while nothing did;
            taken: numbers of the hunks that the person took, None for all; left_words: for the model, of those left out;
            is_kept: its result is on disk.
        keeps_order: calls before it are over when it is judged, and those behind it wait for it.
        is_recovered: it was leaked as text; summary: one line of what it does; tail: the end of its output, live.
        result: start of its answer, at most 2,000 characters; is_background: a command that goes on behind its result.
    """

    id: str
    name: str
    arguments_json: str
    state: CallState = CallState.PREPARING
    kind: ActKind | None = None
    summary: str = ""
    approval: Approval | None = None
    is_recovered: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tail: str = ""
    result: str = ""
    attachments: tuple[AttachmentPart, ...] = ()
    is_background: bool = False
    let_by: str = ""
    taken: tuple[int, ...] | None = None
    left_words: str = ""
    is_kept: bool = False
    keeps_order: bool = False

    @property
    def question_id(self) -> str:
        """Id of what is asked about it: another call, or another thing that it would do, is another question."""
        return f"{self.id}/{self.approval.id}" if self.approval is not None else self.id


class AgentTurn(msgspec.Struct, frozen=True):
    """A turn that runs: from the person's message to the reply without calls.

    Args:
        turn_id: the person's message; rounds: model calls so far; calls: of the last reply, in its order.
        goes_on: the model is asked once more when all of these have their results.
        judging_id: the call that is being judged, empty for none; has_yielded: the model hands over after this round.
        is_left: a program that ended left it, everything asks; is_stopping: the person interrupted it.
        was_nudged: an empty reply, or calls of tools that are off, were asked about once more.
        delegated: tasks that it gave to discussions of their own.
    """

    discussion_id: str
    turn_id: str
    rounds: int = 1
    calls: tuple[ToolCall, ...] = ()
    goes_on: bool = False
    judging_id: str = ""
    has_yielded: bool = False
    is_left: bool = False
    is_stopping: bool = False
    was_nudged: bool = False
    delegated: int = 0


class Delegation(msgspec.Struct, frozen=True):
    """A task at work in a discussion of its own, for a call of its parent that waits for it.

    Args:
        words: its first message; has_begun: that was sent, or refused; is_stopping: the parent's turn was interrupted.
        unpriced: what stands against its next request, whose price nobody knows: the parent's call asks the person.
    """

    child_id: str
    parent_id: str
    call_id: str
    words: str
    has_begun: bool = False
    is_stopping: bool = False
    unpriced: SpendRefusal | None = None


class TodoState(StrEnum):
    """State of an entry of the todo list."""

    OPEN = "open"
    ACTIVE = "active"
    DONE = "done"


class TodoItem(msgspec.Struct, frozen=True):
    """An entry of the todo list."""

    text: str
    state: TodoState = TodoState.OPEN


class AgentPage(msgspec.Struct, frozen=True):
    """Page of what the agent did in one discussion, in programs that ended too.

    Args:
        activity: tool calls, oldest first, the newest 10,000; todo: the list as the model keeps it.
        changes: files that its turns changed, newest last; grants: what the person allowed for this discussion.
        commands: background commands that run, by call id; usd: cost of the running or last turn.
        accepts_edits: the person chose that mode since the program started, in the project that is open.
    """

    activity: tuple[ToolCall, ...] = ()
    todo: tuple[TodoItem, ...] = ()
    changes: tuple[FileChange, ...] = ()
    grants: tuple[str, ...] = ()
    commands: tuple[ToolCall, ...] = ()
    usd: float = 0.0
    accepts_edits: bool = False


class Sandbox(msgspec.Struct, frozen=True):
    """The confinement of commands on this machine.

    Args:
        name: `bubblewrap`, `sandbox-exec`, empty where there is none; problem: why not, a sentence with its remedy.
            Both are empty until it was looked for.
    """

    name: str = ""
    problem: str = ""

    @property
    def is_known(self) -> bool:
        """True after the program has looked for it."""
        return bool(self.name or self.problem)

    @property
    def is_confined(self) -> bool:
        """True if commands are confined."""
        return bool(self.name)


class AgentState(msgspec.Struct, frozen=True):
    """Turns with tools.

    Args:
        turns: that run, by discussion id; pages: by discussion id; sandbox: of this machine.
        is_headless: nobody sits in front of a window, a question waits only so long.
        compactions: of a model's view, under way, by discussion id; delegations: at work, by the child's id.
    """

    turns: Mapping[str, AgentTurn] = msgspec.field(default_factory=dict)
    pages: Mapping[str, AgentPage] = msgspec.field(default_factory=dict)
    sandbox: Sandbox = msgspec.field(default_factory=Sandbox)
    is_headless: bool = False
    compactions: Mapping[str, Compaction] = msgspec.field(default_factory=dict)
    delegations: Mapping[str, Delegation] = msgspec.field(default_factory=dict)


# Attention as values: the one autonomous discussion, its state and its clock.


class Attention(StrEnum):
    """State of an autonomous discussion."""

    ENGAGED = "engaged"
    WORKING = "working"
    FORAGING = "foraging"
    RESTING = "resting"
    STORED = "stored"
    """At rest by its own choice: only the person wakes it."""
    DREAMING = "dreaming"
    """A harvest preview runs while nothing else is to do; it applies nothing."""


STOP_NOTICE = "autonomy"
"""Id of the notice that says why it rests until the person acts."""
NOTES_KEPT = 10_000
"""Notes of the loop that are kept; the log has what was said."""


class LoopNote(msgspec.Struct, frozen=True):
    """A note of the autonomous loop: why it woke, its next state, or why it stopped."""

    at: datetime
    text: str


class Autonomy(msgspec.Struct, frozen=True):
    """State of the one autonomous discussion.

    Args:
        next_at: when the next turn begins, None while one runs or only the person wakes it.
        message_id: words of ours by which the turn that runs was begun, empty while none of ours runs.
        turns: without the person's words since; errors: one after another; used_tools: the last turn did.
        woken_by: what began the turn that runs or ran last; stopped: why it rests until the person acts, empty while it
            goes on; signal_at: when a signal woke it last; person_at: when the person was last heard.
        signals: that the turn which runs or ran last took; is_interrupted: the person stops the turn that runs; has_dreamt: since the person was last heard.
        usd: cost of its own turns, as far as prices are known; notes: newest last, at most `NOTES_KEPT`.
    """

    discussion_id: str
    state: Attention
    next_at: datetime | None = None
    message_id: str = ""
    turns: int = 0
    errors: int = 0
    used_tools: bool = False
    woken_by: str = ""
    stopped: str = ""
    signal_at: datetime | None = None
    person_at: datetime | None = None
    signals: tuple[Signal, ...] = ()
    is_interrupted: bool = False
    has_dreamt: bool = False
    usd: float = 0.0
    notes: tuple[LoopNote, ...] = ()


class AttentionState(msgspec.Struct, frozen=True):
    """Attention.

    Args:
        autonomy: of the one discussion that has it, None for none; ended: the one that had it last, for its notes.
        active_at: last key or pointer event in the window, UTC; None for a program without one.
        desktop_at: the same of the whole desktop, where it offers that and the person has set it.
    """

    autonomy: Autonomy | None = None
    ended: Autonomy | None = None
    active_at: datetime | None = None
    desktop_at: datetime | None = None
