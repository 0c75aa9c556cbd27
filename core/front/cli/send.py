"""`send`: one turn of a discussion, its reply printed as it comes."""

from __future__ import annotations

import os
import secrets
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from msgspec.structs import replace

from core.agent.agent_messages import SetTools
from core.agent.agent_pages import mode_of
from core.agent.delegation import questions_of
from core.agent.tool import FailedCall, escaped, failed_calls
from core.app.execution import act
from core.front.cli.arguments import Options, UsageError
from core.front.cli.cache_price import change, measured
from core.front.cli.format import message_data, say_losses, usage_line
from core.front.cli.output import Console
from core.front.cli.questions import agreed, ask_all, question_key, raise_unsent
from core.front.cli.send_beside import edited_text, program_beside, run_comparison, template_text
from core.front.cli.session import FrontEnd, check_name, find_discussion, session
from core.front.cli.stops import in_terminal, kept_words, past_limit_words
from core.front.cli.version import INTERRUPTED
from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.language import as_sentences, tr
from core.kernel.values.discussion import CallPhase, OpenDiscussion
from core.kernel.values.messages import CallEnd, Entry, Message, ReasoningPart, Role, TextPart, ToolResultPart
from core.kernel.values.provider import FAILURE_MARKS, ProviderKind
from core.kernel.values.records import MessageRecord
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import is_busy, outcome_of
from core.knowledge.knowledge_messages import FollowDigest
from core.services.settings.asked_values import trust_command
from core.services.settings.settings_messages import RefreshModels
from core.services.settings.settings_rules import named_provider
from core.talk.caching.warmth import cold_send, cold_words, standing_of
from core.talk.context.context_spec import missing_in_folder, missing_tools
from core.talk.context.token_scale import context_window
from core.talk.discussion.discussion_messages import (
    AttachFile,
    ChangeDiscussion,
    CreateDiscussion,
    Detach,
    DiscardDiscussion,
    SelectDiscussion,
)
from core.talk.discussion.log_content import message_of
from core.talk.turn.prompt_queue import retried_prompt_id
from core.talk.turn.turn_messages import CancelReply, PaidCommand, RetrySend, SendPrompt

MAX_INPUT_BYTES = 20_000_000
STOP_S = 15.0
NEVER_S = 1e9
PATIENCE_S = 2.0
"""Silence of standard input in seconds before the person is told that it is being read."""


def run_send(options: Options, front: FrontEnd, console: Console) -> int:
    """Send one message and print the reply.

    Returns:
        0 when the reply came whole, 1 when it failed (said on standard error), 130 when it was stopped.

    Raises:
        UsageError: nothing to send, or a name that is not there. SlopError: it could not be kept or sent.
    """
    given = options.given
    text = "" if given.retry else _message(options, console)
    if not given.retry and not text.strip() and not given.attach:
        raise UsageError(
            tr("There is nothing to send"), remedy=tr('Type a text (manual-slop send "…"), or pipe a text in')
        )
    if given.retry and given.discussion == "new":
        raise UsageError(tr("--retry needs --discussion"), remedy=tr("Use --discussion last"))
    if given.retry and (given.template or given.editor):
        raise UsageError(
            tr("--retry sends the failed message again"), remedy=tr("Leave --template and --editor out")
        )
    if given.retry and given.compare:
        raise UsageError(
            tr("--compare needs a new text, and --retry sends a failed message"),
            remedy=tr("Leave one of these options out"),
        )
    beside = None if given.compare else program_beside(options)
    if beside is not None and (not given.tools or beside.has_tools(given.discussion)):
        return beside.send(options, text, console)
    with session(front, console, writes=True) as state:
        _check_names(state, options)
        _follow_files(front, console)
        chosen = _open(front, state, options)
        with _taken_back(front, chosen, is_new=given.discussion == "new"):
            return _send(front, console, options, chosen, text)


def _message(options: Options, console: Console) -> str:
    """The words to send: the template, the command line, what is piped in, and what the editor makes of them."""
    given, source = options.given, sys.stdin.buffer if sys.stdin is not None else None
    template = template_text(options)
    text = read_text(given.text, source, console, is_needed=not (template or given.editor))
    text = "\n\n".join(part for part in (template, text) if part.strip())
    return edited_text(text, console) if given.editor else text


def _send(front: FrontEnd, console: Console, options: Options, chosen: str, text: str) -> int:
    """Send in a discussion, with what the command line asks for. Returns the exit code."""
    given = options.given
    _choose(front, chosen, options, console)
    _take_model(front, chosen, console)
    state = front.snapshot()
    if given.tools:
        _say_missing_tools(state, chosen, console)
    opened = front.snapshot().discussions.open[chosen]
    if given.retry and not retried_prompt_id(opened):
        raise UsageError(
            tr("No message of this discussion has failed"),
            remedy=tr("Leave --retry out, and give the text of a message"),
        )
    say_losses(front.stack_spec(chosen), console)
    _say_cold(front, chosen, console)
    if given.compare:
        for name in given.attach:
            act(front, AttachFile(discussion_id=chosen, path=str(Path(name).expanduser().absolute())))
        return run_comparison(front, console, options, chosen, text)
    before = frozenset(entry.id for entry in opened.entries)
    for name in given.attach:
        act(front, AttachFile(discussion_id=chosen, path=str(Path(name).expanduser().absolute())))
    turn = SentTurn(
        front=front,
        console=console,
        options=options,
        chosen=chosen,
        before=before,
        command_id=secrets.token_hex(8),
    )
    front.send(
        RetrySend(
            discussion_id=chosen,
            over_limit=given.over_limit,
            command_id=turn.command_id,
            without_tools=given.no_tools,
        )
        if given.retry
        else SendPrompt(
            discussion_id=chosen, text=text, over_limit=given.over_limit, command_id=turn.command_id
        )
    )
    return turn.run()


def _say_missing_tools(state: AppState, chosen: str, console: Console) -> None:
    """Say which tools the model does not get although they were asked for, and what mends it."""
    root = state.config.project.root
    if missing := missing_tools(state, state.discussions.summaries[chosen].meta.provider):
        console.note(tr("manual-slop: warning: {warning}", warning=missing))
    elif missing := missing_in_folder(state):
        way = tr("Run `{command}` to trust the project.", command=trust_command(root)) if root else ""
        console.note(tr("manual-slop: warning: {warning}", warning=as_sentences(missing, way)))


def _say_cold(front: FrontEnd, chosen: str, console: Console) -> None:
    """Say that the cache has ended and what this send pays again, where the settings ask for that."""
    state = front.snapshot()
    if state.config.settings.caching.cold_send_usd == 0 or standing_of(state, chosen).ended_at is None:
        return
    cold = cold_send(measured(front, chosen), chosen)
    if cold is None:
        return
    console.note(tr("manual-slop: {snapshot}", snapshot=cold_words(front.snapshot(), cold)))
    if cold.is_offer:
        console.note(
            tr(
                "Set ai_settings.caching.cold_send_usd to the lowest cost that you want to see; 0 means never."
            )
        )


@contextmanager
def _taken_back(front: FrontEnd, chosen: str, *, is_new: bool) -> Iterator[None]:
    """Leave nothing of a message that is refused before its first word is kept: no discussion made for it, no file
    attached for it. What is said stays: the controller declines to take that back.
    """
    drafted = front.snapshot().discussions.open[chosen].draft.attachments
    try:
        yield
    except (SlopError, KeyboardInterrupt):
        opened = front.snapshot().discussions.open[chosen]
        for part in opened.draft.attachments:
            if part not in drafted:
                front.send(Detach(discussion_id=chosen, sha256=part.sha256, name=part.name))
        if is_new and not opened.entries:
            with suppress(SlopError):
                act(front, DiscardDiscussion(chosen))
        raise


def _follow_files(front: FrontEnd, console: Console) -> None:
    """Bring a digest that is on up to date with what somebody saved while no window was open."""
    try:
        act(front, FollowDigest())
    except SlopError as error:
        console.note(tr("manual-slop: warning: the program could not renew the digest: {error}", error=error))


def read_text(words: list[str], source: BinaryIO | None, console: Console, *, is_needed: bool = True) -> str:
    """The message: the words of the command line, and what is piped in behind them.

    Args:
        words: joined by spaces; a lone `-` stands for standard input; source: standard input, None where closed.
        is_needed: a person at a terminal types the message where the command line has no words.

    Raises:
        UsageError: standard input is not text or too long.
    """
    text = "" if words == ["-"] else " ".join(words)
    is_asked = words == ["-"] or (is_needed and not words)
    piped = _read_pipe(source, console, is_asked=is_asked) if source is not None else ""
    return clean("\n\n".join(part for part in (text, piped) if part.strip()))


def _read_pipe(source: BinaryIO, console: Console, *, is_asked: bool) -> str:
    if source.isatty():
        if not is_asked:
            return ""
        console.note(tr("Type your message, and end with Ctrl+D on a new line."))
    else:
        _say_if_silent(source, console)
    data = source.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise UsageError(
            tr("Standard input has more than {MAX_INPUT_BYTES:,} bytes", MAX_INPUT_BYTES=MAX_INPUT_BYTES),
            remedy=tr("Send a smaller part"),
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            tr("Standard input is not UTF-8 text"), remedy=tr("Attach the input as a file with --attach")
        ) from error


def _say_if_silent(source: BinaryIO, console: Console) -> None:
    """A pipe that nobody writes to or closes would wait for ever without a word."""
    if os.name != "posix" or not stat.S_ISFIFO(os.fstat(source.fileno()).st_mode):
        return
    if not select.select([source], [], [], PATIENCE_S)[0]:
        console.note(tr("manual-slop: waiting for standard input (if there is none, add `< /dev/null`)"))


def _check_names(state: AppState, options: Options) -> None:
    given = options.given
    check_name("provider", given.provider, tuple(state.config.settings.servers))
    check_name("preset", given.preset or "", tuple(state.config.project.presets))
    check_name("persona", given.persona or "", tuple(state.config.project.personas))
    check_name(tr("system prompt"), given.system or "", tuple(state.config.project.system_prompts))


def _open(front: FrontEnd, state: AppState, options: Options) -> str:
    """Open the discussion, or make it. Returns its id."""
    given = options.given
    if given.discussion == "new":
        # Named, so that a provider that is not ready fails here instead of giving way to another.
        provider = given.provider or named_provider(state)
        made = CreateDiscussion(name="", provider=provider, model=given.model, preset=given.preset or "")
        return act(front, made).discussions.selected_id
    chosen = find_discussion(state, given.discussion)
    act(front, SelectDiscussion(chosen))
    return chosen


def _choose(front: FrontEnd, chosen: str, options: Options, console: Console) -> None:
    """Set what the command line asks for. What leaves a warm cache unused is said with its price first."""
    given, meta = options.given, front.snapshot().discussions.summaries[chosen].meta
    fields = {
        "preset": given.preset,
        "persona": given.persona,
        "system_preset": given.system,
        "effort": given.effort or None,
        "temperature": given.temperature,
        "top_p": given.top_p,
        "max_output_tokens": given.max_output,
    }
    changes: list[dict[str, Any]] = [{name: one} for name, one in fields.items() if one is not None]
    if given.discussion != "new" and (given.provider or given.model):
        changes.insert(0, {"provider": given.provider or meta.provider, "model": given.model})
    for one in changes:
        change(front, console, chosen, ChangeDiscussion(discussion_id=chosen, changes=one))
    if given.tools or (given.no_tools and not given.retry):
        tools = SetTools(discussion_id=chosen, has_tools=given.tools, mode=mode_of(front.snapshot(), chosen))
        change(front, console, chosen, tools)


def _take_model(front: FrontEnd, chosen: str, console: Console) -> None:
    """Ask a server that has no model named for its first, and one whose window nobody knows for that: a view is cut, and a
    message refused, by it. Where it does not answer, the send says so, words kept.
    """
    state = front.snapshot()
    meta, window = state.discussions.summaries[chosen].meta, context_window(state, chosen)
    server = state.config.settings.servers.get(meta.provider)
    is_compatible = server is not None and server.kind == ProviderKind.COMPATIBLE
    if meta.model and not (is_compatible and window is not None and window.is_assumed):
        return
    try:
        with console.waiting(tr("Asking {provider} for its models", provider=meta.provider)):
            act(front, RefreshModels(meta.provider))
    except SlopError as error:
        if not meta.model:
            console.note(tr("manual-slop: warning: {warning}", warning=error))


@dataclass(slots=True)
class SentTurn:
    """One call, from the prompt on disk to the reply on disk.

    Args:
        before: ids of the entries before the prompt; command_id: of the send; printed, thought: what was shown so far
            of the reply `reply_id`; shown: ids of replies that were shown whole, and of failed calls that were said; asked:
        approvals that were answered.
    """

    front: FrontEnd
    console: Console
    options: Options
    chosen: str
    before: frozenset[str]
    command_id: str
    printed: str = ""
    thought: str = ""
    told: set[str] = field(default_factory=set)
    outcome: CommandOutcome | None = None
    asked: set[str] = field(default_factory=set)
    reply_id: str = ""
    shown: set[str] = field(default_factory=set)

    def run(self) -> int:
        """Follow the call to its end; Ctrl+C stops it and keeps the part."""
        try:
            state, is_stopped = self._follow(), False
            while (asked := self._agreed(state)) is not None:
                self.outcome, self.command_id = None, secrets.token_hex(8)
                self.front.send(replace(asked, command_id=self.command_id))
                state = self._follow()
        except KeyboardInterrupt:
            self.front.send(CancelReply(self.chosen))
            state, is_stopped = self.front.wait_for(self._is_over, STOP_S), True
        return self._finish(state or self.front.snapshot(), is_stopped=is_stopped)

    def _agreed(self, state: AppState | None) -> PaidCommand | None:
        """The send that a limit stood against, with the person's yes; None where none did, or there is no yes.

        `--over-limit` is one to all requests of the turn and of its tasks, as it is to all of a harvest.
        """
        opened = None if state is None else state.discussions.open[self.chosen]
        refusal = (self.outcome.refusal if self.outcome else None) or (opened.refusal if opened else None)
        if refusal is None:
            return None
        if self.options.given.over_limit and isinstance(refusal.confirmed, PaidCommand):
            return refusal.confirmed
        self._end_line()
        return agreed(self.console, refusal)

    def _follow(self) -> AppState | None:
        with self.console.waiting(tr("Waiting for the reply")):
            state = self.front.wait_for(lambda s: self._is_over(s) or self._has_news(s), NEVER_S)
        while state is not None and not self._is_over(state):
            with self.console.stops.held_back():
                self._show(state)
            if self._has_question(state):
                self._end_line()
            over_limit = self.options.given.over_limit
            ask_all(self.front, self.console, self.chosen, self.asked, over_limit=over_limit)
            state = self.front.wait_for(lambda s: self._is_over(s) or self._has_news(s), NEVER_S)
        return state

    def _has_news(self, state: AppState) -> bool:
        if self._has_question(state) or self._has_whole(state.discussions.open[self.chosen]):
            return True
        call = state.turns.calls.get(self.chosen)
        if call is None:
            return False
        is_same = call.reply_id == self.reply_id
        thought, printed = (len(self.thought), len(self.printed)) if is_same else (0, 0)
        shows = self.options.given.show_reasoning and len(call.reasoning) > thought
        is_retry = call.phase is CallPhase.RETRYING and call.retry_reason not in self.told
        return len(call.text) > printed or shows or is_retry

    def _has_question(self, state: AppState) -> bool:
        return any(question_key(*one) not in self.asked for one in questions_of(state, self.chosen))

    def _is_over(self, state: AppState) -> bool:
        """The call has come and gone, it was not made, or its reply could not be written."""
        self.outcome = self.outcome or outcome_of(state, self.command_id)
        if self.outcome is None or not self.outcome.is_done:
            return self.outcome is not None
        call = state.turns.calls.get(self.chosen)
        is_unwritten = call is not None and call.id in state.discussions.pending
        return is_unwritten or not is_busy(state, self.chosen)

    def _show(self, state: AppState) -> None:
        self._show_whole(state.discussions.open[self.chosen])
        call = state.turns.calls.get(self.chosen)
        if call is None:
            return
        self._note_round(call.reply_id)
        if call.phase is CallPhase.RETRYING and call.retry_reason not in self.told:
            self.told.add(call.retry_reason)
            self.console.note(tr("manual-slop: {retry_reason}; trying again", retry_reason=call.retry_reason))
        self._print(call.text, call.reasoning)

    def _has_whole(self, opened: OpenDiscussion) -> bool:
        """True if a reply or result is on disk that was not shown: its call may have come and gone between two looks."""
        for entry in reversed(opened.entries):
            if entry.id in self.before or entry.id in self.shown:
                return False
            if isinstance(entry, Message):
                return entry.role is not Role.USER
        return False

    def _show_whole(self, opened: OpenDiscussion) -> None:
        """Print what was not shown yet of each reply that is on disk, and say which of its calls failed, in their order."""
        new = self._new(opened)
        failed = {one.call_id: one for one in failed_calls(new)}
        for entry in new:
            if not isinstance(entry, Message) or entry.id in self.shown:
                continue
            if entry.role is Role.ASSISTANT:
                self._show_reply(entry)
            elif entry.role is Role.TOOL:
                self.shown.add(entry.id)
                results = (part.call_id for part in entry.parts if isinstance(part, ToolResultPart))
                for call in (failed[one] for one in results if one in failed):
                    self._say_failed(call)

    def _say_failed(self, call: FailedCall) -> None:
        """Say what became of a call, unless the person's own no did."""
        was_asked = any(key.startswith(f"{self.chosen}/{call.call_id}/") for key in self.asked)
        if call.end is not CallEnd.REFUSED or not was_asked:
            self._end_line()
            self.console.note(tr("manual-slop: {sentence}", sentence=escaped(call.sentence)))

    def _end_line(self) -> None:
        """End the line of the model's words before something else is said on the terminal."""
        if self.printed and not self.printed.endswith("\n"):
            self.console.line()
            self.printed += "\n"

    def _show_reply(self, reply: Message) -> None:
        self.shown.add(reply.id)
        self._note_round(reply.id)
        self._print(joined(reply, TextPart), joined(reply, ReasoningPart))

    def _note_round(self, reply_id: str) -> None:
        """Begin a line for what the model says after its tools: every round is a reply of its own."""
        if self.reply_id not in {"", reply_id} and not self.options.is_json and self.printed:
            self.console.write("\n" * (2 - self.printed.endswith("\n")))
        if self.reply_id != reply_id:
            self.reply_id, self.printed, self.thought = reply_id, "", ""

    def _print(self, text: str, reasoning: str) -> None:
        if self.options.is_json:
            return
        if self.options.given.show_reasoning and len(reasoning) > len(self.thought):
            self.console.aside(reasoning[len(self.thought) :])
            self.thought = reasoning
        if len(text) > len(self.printed):
            if self.thought and not self.printed:
                self.console.aside("\n\n")
            self.console.write(text[len(self.printed) :])
            self.printed = text

    def _finish(self, state: AppState, *, is_stopped: bool) -> int:
        raise_unsent(self.outcome)
        opened = state.discussions.open[self.chosen]
        replies = self._replies(opened)
        reply = replies[-1] if replies else _unwritten(state)
        self._show_whole(opened)
        if reply is not None and reply.id not in self.shown:
            self._show_reply(reply)
        if self.options.is_json:
            self.console.json(self._data(state, reply, is_stopped=is_stopped))
        elif self.printed and not self.printed.endswith("\n"):
            self.console.line()
        self._say(state, opened, reply, is_stopped=is_stopped)
        for write in state.discussions.pending.values():
            remedy = tr(
                "Copy the reply from this terminal: the disk holds only a part. {remedy}", remedy=write.remedy
            )
            raise SlopError(write.problem.removesuffix("."), remedy=remedy)
        return INTERRUPTED if is_stopped else int(_unfinished(opened) is not None or reply is None)

    def _replies(self, opened: OpenDiscussion) -> list[Message]:
        return [m for m in self._new(opened) if isinstance(m, Message) and m.role is Role.ASSISTANT]

    def _new(self, opened: OpenDiscussion) -> list[Entry]:
        """New entries since the prompt; a reply that was tried again is another version of what there was."""
        return [entry for entry in opened.entries if entry.id not in self.before]

    def _say(
        self, state: AppState, opened: OpenDiscussion, reply: Message | None, *, is_stopped: bool
    ) -> None:
        """Usage and how it ended, on standard error."""
        unfinished = _unfinished(opened)
        if unfinished is not None:
            self.console.note(tr("manual-slop: {what}", what=unfinished))
        if opened.failure is not None:
            self.console.note(kept_words(self.chosen, opened.failure.kind))
        if said := state.retrieval.recall_problems.get(self.chosen, ""):
            self.console.note(tr("manual-slop: {said}", said=said))
        for mark in self._new(opened):
            if not isinstance(mark, Message) and mark.kind not in {*FAILURE_MARKS, "model"}:
                self.console.note(tr("manual-slop: {text}", text=mark.text))
        if is_stopped and reply is not None:
            self.console.note(tr("The part of the reply that arrived is in {chosen}.", chosen=self.chosen))
        if not self.options.given.quiet and not self.options.is_json and reply is not None:
            self.console.note(f"{usage_line(reply)} · {self.chosen}")

    def _data(self, state: AppState, reply: Message | None, *, is_stopped: bool) -> dict[str, Any]:
        opened = state.discussions.open[self.chosen]
        unfinished = _unfinished(opened)
        kind = "spend_limit" if opened.failure is None else opened.failure.kind.value
        return {
            "discussion": self.chosen,
            "reply": None if reply is None else message_data(reply),
            "is_stopped": is_stopped,
            "failure": None
            if unfinished is None
            else {
                "kind": kind,
                "what": unfinished.what,
                "remedy": in_terminal(unfinished.remedy),
                "where": unfinished.where,
            },
        }


def _unfinished(opened: OpenDiscussion) -> SlopError | None:
    """Obstacle to the rest of the turn: a call that failed, or a limit before its next request. None: it is over."""
    if (failure := opened.failure) is not None:
        return SlopError(failure.what, remedy=failure.remedy, where=failure.where)
    if opened.refusal is None:
        return None
    return SlopError(opened.refusal.sentence.removesuffix("."), remedy=past_limit_words(opened.id))


def _unwritten(state: AppState) -> Message | None:
    """The reply that could not be written: this command is the last that has all of it."""
    for write in state.discussions.pending.values():
        for record in write.records:
            if isinstance(record, MessageRecord) and record.role is Role.ASSISTANT:
                return message_of(record)
    return None


def joined(message: Message, kind: type[TextPart | ReasoningPart]) -> str:
    """The parts of one kind as they streamed, with nothing between them."""
    return "".join(part.text for part in message.parts if isinstance(part, kind))
