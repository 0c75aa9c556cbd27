"""Renewal of a reply: asked for again as another version, with other words in a branch, or to go on where it broke off."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from core.base.stamp import Stamp
from core.base.text import clean
from core.discussion.durability import with_text
from core.discussion.lifecycle import branch_meta
from core.discussion.messages import BranchOnDisk, BranchToken, DiscussionCreated
from core.spending.limits import reached_limits
from core.turn.messages import ContinueReply, PaidCommand, RegenerateReply, ResendMessage, RetrySend
from core.turn.sending import ignore, keep_out_of, kept_out_of, refusal_of, refuse, save_then_call
from core.values.discussion import OpenDiscussion
from core.values.messages import Entry, Message, Role, Status, TextPart
from core.values.records import EditRecord, MessageRecord, Record
from core.values.state import AppState
from core.values.updates import Result, decline, with_open

CONTINUE_PROMPT = "continue.md"


class _AskedTurn(msgspec.Struct, frozen=True):
    """One message of the person and what followed it up to their next one.

    Args:
        before_id: the message before it, empty for none; is_last: the person has written nothing behind it.
    """

    prompt: Message
    run: tuple[Message, ...]
    before_id: str
    is_last: bool

    @property
    def reply(self) -> Message | None:
        """The reply that stands there, a deleted one where there is no other."""
        replies = [message for message in self.run if message.role is not Role.USER]
        return next((one for one in replies if not one.is_deleted), replies[-1] if replies else None)


def retry(state: AppState, given: Stamp, command: RetrySend) -> Result:
    """Send again what failed. A part of a reply that came before the failure is the first version of it."""
    opened = state.discussions.open.get(command.discussion_id)
    prompt_id = retried_prompt_id(opened) if opened is not None else ""
    if not prompt_id:
        return ignore(state, command, "No send has failed in this discussion.")
    return _ask_again(state, given, command, prompt_id)


def retried_prompt_id(opened: OpenDiscussion) -> str:
    """Id of the message whose send failed, or whose reply is not whole: the log tells it after a restart too. Empty for none."""
    if opened.failed_message_id:
        return opened.failed_message_id
    last = next(reversed(opened.messages), None)
    is_short = last is not None and last.role is Role.ASSISTANT and last.status is not Status.COMPLETE
    return _prompt_of(opened.entries, "") if is_short else ""


def regenerate(state: AppState, given: Stamp, command: RegenerateReply) -> Result:
    """Ask again for a reply, the last one where none is named."""
    opened = state.discussions.open.get(command.discussion_id)
    prompt_id = _prompt_of(opened.entries, command.message_id) if opened is not None else ""
    if not prompt_id:
        return ignore(state, command, "There is no message whose reply could be asked for again.")
    return _ask_again(state, given, command, prompt_id)


def resend(state: AppState, given: Stamp, command: ResendMessage) -> Result:
    """Send a message with other words. What was answered stays: the words go into a branch that ends before them."""
    opened = state.discussions.open.get(command.discussion_id)
    turn = _turn(opened, command.message_id) if opened is not None else None
    if opened is None or turn is None:
        return ignore(state, command, "The message was deleted meanwhile.")
    parts = with_text(turn.prompt, clean(command.text), command.detached)
    if not parts:
        return ignore(state, command, "There is nothing to send.")
    if turn.is_last and turn.reply is None:
        edit = EditRecord(given.make_id(0), given.at, turn.prompt.id, parts)
        return save_then_call(state, given, command, turn.prompt.id, (edit,))
    record = MessageRecord(given.make_id(1), given.at, Role.USER, parts)
    state = keep_out_of(state, record.id, kept_out_of(state, turn.prompt.id))
    point = turn.before_id
    return _in_branch(state, given, command, point, held_id=point, prompt_id=record.id, records=(record,))


def go_on(state: AppState, given: Stamp, command: ContinueReply) -> Result:
    """Ask for the rest of a reply that was cut off, as a message of the person."""
    opened = state.discussions.open.get(command.discussion_id)
    last = next(reversed(opened.messages), None) if opened is not None else None
    if last is None or last.role is not Role.ASSISTANT or last.status is Status.COMPLETE:
        return ignore(state, command, "The last reply was not cut off.")
    text = state.config.prompts.get(CONTINUE_PROMPT, "").strip()
    if not text:
        problem = f"The prompt {CONTINUE_PROMPT} is empty, so there is nothing to ask a model to go on with."
        remedy = "Write words into it, or delete the file to have those of the program."
        return decline(state, command.command_id, "continue", problem, remedy), ()
    record = MessageRecord(given.make_id(0), given.at, Role.USER, (TextPart(text),))
    return save_then_call(state, given, command, record.id, (record,))


def branched(state: AppState, given: Stamp, event: DiscussionCreated) -> Result:
    """A branch stands on disk: ask in it what it was made for."""
    token = event.token
    if token is None:
        return state, ()
    command = RegenerateReply(event.discussion.id, token.user_message_id, token.over_limit, token.command_id)
    return regenerate(state, given, command)


def _ask_again(state: AppState, given: Stamp, command: RetrySend | RegenerateReply, prompt_id: str) -> Result:
    """Call anew for the reply to a message: another version of the last one, in a branch before it."""
    turn = _turn(state.discussions.open[command.discussion_id], prompt_id)
    if turn is None:
        return ignore(state, command, "The message was deleted meanwhile.")
    if not turn.is_last:
        held = turn.run[-1] if turn.run else turn.prompt
        return _in_branch(state, given, command, prompt_id, held_id=held.id, prompt_id=prompt_id)
    if isinstance(command, RetrySend) and (place := _unfinished(turn)) is not None:
        return save_then_call(state, given, command, prompt_id, (), version_of=place, is_round=True)
    reply = turn.reply
    version_of = "" if reply is None else reply.version_of or reply.id
    return save_then_call(state, given, command, prompt_id, (), version_of=version_of)


def _unfinished(turn: _AskedTurn) -> str | None:
    """Place at which a turn with tools goes on: the part of a reply that came after the last results, empty for none.

    None where no tool was called.
    """
    said = [message for message in turn.run if not message.is_deleted]
    if not any(message.role is Role.TOOL for message in said):
        return None
    last = said[-1]
    if last.role is Role.TOOL:
        return ""
    return last.version_of or last.id


def _in_branch(
    state: AppState,
    given: Stamp,
    command: PaidCommand,
    point_id: str,
    *,
    held_id: str,
    prompt_id: str,
    records: tuple[Record, ...] = (),
) -> Result:
    """Make a branch, and ask in it once it stands on disk; nothing at a spend limit without the person's yes.

    Args:
        point_id: the branch point; held_id: the last message that is copied; records: what follows in the branch.
        prompt_id: the message that is answered in it.
    """
    parent = command.discussion_id
    reached = () if command.over_limit else reached_limits(state, parent)
    if reached:
        return refuse(state, command, refusal_of(command, reached))
    opened = state.discussions.open[parent]
    if opened.refusal is not None or opened.awaits_limit is not None:
        state = with_open(state, replace(opened, refusal=None, awaits_limit=None))
    meta = branch_meta(state.discussions.summaries[parent].meta, given, point_id)
    token = BranchToken(prompt_id, command.over_limit, command.command_id)
    return state, (BranchOnDisk(parent, held_id, meta, records, token, command.command_id),)


def _turn(opened: OpenDiscussion, prompt_id: str) -> _AskedTurn | None:
    """The turn of a message of the person; None where it is not there, or deleted."""
    messages = [entry for entry in opened.entries if isinstance(entry, Message)]
    at = next((i for i, m in enumerate(messages) if m.id == prompt_id and _is_prompt(m)), None)
    if at is None:
        return None
    end = next((i for i in range(at + 1, len(messages)) if _is_prompt(messages[i])), len(messages))
    before_id = messages[at - 1].id if at else ""
    return _AskedTurn(messages[at], tuple(messages[at + 1 : end]), before_id, end == len(messages))


def _prompt_of(entries: Sequence[Entry], message_id: str) -> str:
    """Id of the message that a message belongs to the reply of, or is; of the last one where none is named."""
    prompt_id = ""
    for entry in entries:
        if not isinstance(entry, Message):
            continue
        if _is_prompt(entry):
            prompt_id = entry.id
        if message_id and entry.id == message_id:
            return prompt_id
    return "" if message_id else prompt_id


def _is_prompt(message: Message) -> bool:
    return message.role is Role.USER and not message.is_deleted
