"""Messages of the agent, of compaction and of attention: commands, effects and events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.agent.tool import ToolAnswer, ToolPlaces
from core.kernel.values.agent import Approval, FileChange, Mode, Sandbox
from core.kernel.values.messages import Message
from core.kernel.values.retrieval import AskedPlaces
from core.kernel.values.spec import StackSpec, ToolOffer
from core.kernel.values.usage import OfferedCommand, Usage
from core.kernel.values.window import CutPlan, CutReason, ViewCut

# Messages of the agent: commands, effects and events.


class SetTools(msgspec.Struct, frozen=True):
    """Give a discussion tools, or take them away; and its mode. The set of tools is frozen while its prefix is warm."""

    discussion_id: str
    has_tools: bool
    mode: Mode = Mode.ASK
    command_id: str = ""


class ApproveCall(msgspec.Struct, frozen=True):
    """A person's yes to a call. Counts only where `approval_id` is what is asked now.

    Args:
        hunks: numbers of those that were taken, from 0; None for all.
        for_discussion: the approval's grant counts from now on.
        words: what the model shall be told of the hunks that were left out, may be empty.
    """

    discussion_id: str
    call_id: str
    approval_id: str
    hunks: tuple[int, ...] | None = None
    for_discussion: bool = False
    words: str = ""
    command_id: str = ""


class RefuseCall(msgspec.Struct, frozen=True):
    """A person's no to a call, with what the model shall be told, may be empty."""

    discussion_id: str
    call_id: str
    words: str = ""
    command_id: str = ""


class KillCommands(msgspec.Struct, frozen=True):
    """End the running commands of a discussion, in the background too; empty `call_id`: all of them."""

    discussion_id: str
    call_id: str = ""


class UndoTurn(msgspec.Struct, frozen=True):
    """Put back the files that a turn changed, where they still are as it left them."""

    discussion_id: str
    turn_id: str
    command_id: str = ""


# tool worker: a thread each
class JudgeCall(msgspec.Struct, frozen=True):
    """Find out what a call would do; answered by `CallJudged`, or by `CallPutOff` where others of its reply come first.

    `is_next`: all before it in its reply are over; `offer`: the tools that its request offered, None where that is unknown.
    """

    discussion_id: str
    turn_id: str
    call_id: str
    name: str
    arguments_json: str
    places: ToolPlaces
    searched: AskedPlaces | None = None
    is_next: bool = True
    offer: ToolOffer | None = None


class RunCall(msgspec.Struct, frozen=True):
    """Do a call as it was judged under `approval_id`; answered by `CallDone`. `hunks`: those taken, None for all.

    `searched`: places of notes and what else is searched, None while retrieval is off. `has_yes`: a person said yes to
    it, and no rule. `files`: as its `Approval` has them.
    """

    discussion_id: str
    turn_id: str
    call_id: str
    name: str
    arguments_json: str
    places: ToolPlaces
    approval_id: str
    hunks: tuple[int, ...] | None = None
    searched: AskedPlaces | None = None
    has_yes: bool = False
    files: Mapping[str, str] = msgspec.field(default_factory=dict)


class StopCalls(msgspec.Struct, frozen=True):
    """Stop calls of a discussion that are judged or run; empty `call_ids`: all, background commands only if `kills`."""

    discussion_id: str
    call_ids: tuple[str, ...] = ()
    kills: bool = False


class RestoreFiles(msgspec.Struct, frozen=True):
    """Put back what a turn changed; answered by `FilesRestored`."""

    discussion_id: str
    turn_id: str
    changes: tuple[FileChange, ...]
    places: ToolPlaces
    command_id: str = ""


class FindChanges(msgspec.Struct, frozen=True):
    """Find out what turns of a discussion did to files before it was opened; answered by `ChangesFound`."""

    discussion_id: str


class LookForSandbox(msgspec.Struct, frozen=True):
    """Find out how commands are confined here; answered by `SandboxFound`."""


class CallJudged(msgspec.Struct, frozen=True):
    """Finding of what a call would do. `problem`: it cannot be done; `must_ask`: whatever was granted.

    `keeps_order`: as its tool declares.
    """

    discussion_id: str
    call_id: str
    approval: Approval
    problem: str = ""
    must_ask: bool = False
    keeps_order: bool = False


class CallPutOff(msgspec.Struct, frozen=True):
    """A call was not judged yet: its tool runs calls in their order, and earlier calls are still running."""

    discussion_id: str
    call_id: str


class CallTail(msgspec.Struct, frozen=True):
    """More output of a running call."""

    discussion_id: str
    call_id: str
    tail: str


class CallDone(msgspec.Struct, frozen=True):
    """A call has its result. `is_interrupted`: it was told to stop."""

    discussion_id: str
    call_id: str
    answer: ToolAnswer
    is_interrupted: bool = False


class CommandEnded(msgspec.Struct, frozen=True):
    """A background command has ended.

    Args:
        exit_code: None where it is not known; notes: why it was ended and what else the person should know, sentences,
            empty for nothing; is_wanted: the person or the model ended it, which is no news to anybody.
    """

    discussion_id: str
    call_id: str
    exit_code: int | None
    tail: str = ""
    notes: str = ""
    is_wanted: bool = False


class FilesRestored(msgspec.Struct, frozen=True):
    """Files were put back. `restored`: paths; `left`: a sentence for each that was not."""

    discussion_id: str
    turn_id: str
    restored: tuple[str, ...]
    left: tuple[str, ...] = ()
    command_id: str = ""


class ChangesFound(msgspec.Struct, frozen=True):
    """Changes of files by turns of a discussion, as the disk tells them, one for each file of a turn."""

    discussion_id: str
    changes: tuple[FileChange, ...]


class SandboxFound(msgspec.Struct, frozen=True):
    """The confinement of commands here. Told before the first call is judged."""

    sandbox: Sandbox


AgentCommand = SetTools | ApproveCall | RefuseCall | KillCommands | UndoTurn
"""Commands that a front end may give this room."""

AgentEffect = JudgeCall | RunCall | StopCalls | RestoreFiles | FindChanges | LookForSandbox
"""The tool worker's: a thread a call."""

AgentEvent = (
    CallJudged | CallPutOff | CallTail | CallDone | CommandEnded | FilesRestored | ChangesFound | SandboxFound
)
"""Events of this room."""


# Messages of compaction: a command, effects for its worker, and events.


class CompactDiscussion(OfferedCommand, frozen=True):
    """Rebuild the model's view of a discussion: its beginning leaves it, and is told of. Waits for a turn that runs."""

    discussion_id: str
    command_id: str = ""


# compaction worker: a thread of its own
class PlanView(msgspec.Struct, frozen=True):
    """Measure a discussion, read the journal, and plan a cut; answered by `ViewPlanned`.

    Args:
        spec: of the next request; messages: before the message that is sent, all that are not deleted; at: now.
        sources: names of discussions of the same project, by id; template: the prompt of a summary. The rest as of
            `CutRequest`.
    """

    discussion_id: str
    job: str
    spec: StackSpec
    messages: tuple[Message, ...]
    previous: ViewCut | None
    why: CutReason
    at: datetime
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_running: bool = False
    attempt: int = 1
    gone: frozenset[str] = frozenset()
    keeps_seals: bool = False
    template: str = ""


class SummariseView(msgspec.Struct, frozen=True):
    """Ask a model for the summary of a plan; answered by `ViewSummarised`.

    `record_id`: of the record that will tell what it cost; `name`: of the discussion; `template`: the prompt.
    """

    discussion_id: str
    job: str
    record_id: str
    provider: str
    model: str
    name: str
    template: str
    plan: CutPlan


class StopSummary(msgspec.Struct, frozen=True):
    """Nobody waits for a compaction any more."""

    discussion_id: str
    job: str


class ViewPlanned(msgspec.Struct, frozen=True):
    """A cut was planned. `usd`: what its summary is expected to cost, None where no price is known."""

    discussion_id: str
    job: str
    plan: CutPlan
    usd: float | None = None


class ViewSummarised(msgspec.Struct, frozen=True):
    """A summary was written; or `problem` tells why not. `usage`: of all its calls, as it is booked under `record_id`."""

    discussion_id: str
    job: str
    record_id: str
    text: str = ""
    problem: str = ""
    usage: Usage = msgspec.field(default_factory=Usage)


CompactionCommand = CompactDiscussion
"""Command that a front end may give."""

CompactionEffect = PlanView | SummariseView | StopSummary
"""The compaction worker's."""

CompactionEvent = ViewPlanned | ViewSummarised
"""Events of compaction."""


# Messages of attention: commands. It has no worker: its turns are the turn's, its dreams the harvest's.


class StartAutonomy(msgspec.Struct, frozen=True):
    """Let a discussion go on by itself. What was allowed for it counts no more. One discussion at a time."""

    discussion_id: str
    command_id: str = ""


class StopAutonomy(msgspec.Struct, frozen=True):
    """End autonomy, and the turn that autonomy began."""

    command_id: str = ""


class NoteActivity(msgspec.Struct, frozen=True):
    """The person used a key or the pointer. Sent once a second at most. `is_elsewhere`: on the desktop, not in the window."""

    is_elsewhere: bool = False


AttentionCommand = StartAutonomy | StopAutonomy | NoteActivity
"""Commands that a front end may give this room."""
