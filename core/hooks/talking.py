"""The operations on messages: send, follow the reply as it comes, cancel."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from core.hooks.asked import Answer, Asked
from core.hooks.data import message_data
from core.hooks.refusals import RefusedError, unknown
from core.step.spending import limit_reached
from core.values.commands import CancelReply, SendPrompt
from core.values.discussion import CallPhase, OpenDiscussion
from core.values.messages import Message, ReasoningPart, Role, Status, TextPart
from core.values.state import AppState, Level, Notice

SAVE_S = 30.0
REPLY_S = 86_400.0
BEAT_S = 15.0
"""A comment line keeps a silent stream of events alive."""


async def send_message(asked: Asked) -> Answer:
    """Send a text; answer when the words are on disk, when the reply is, or with events as it comes."""
    chosen = asked.row().meta.id
    text: str = asked.body["text"]
    asked.check_writable()
    if not text.strip():
        raise RefusedError(422, "wrong_body", "body.text holds nothing but spaces", "Send some words")
    if not asked.body.get("over_limit", False):
        check_limit(asked.state, chosen, 'Raise it in Caching, Settings, or send it with "over_limit": true')
    async with asked.desk.lock(chosen):
        message_id = await _save(asked, chosen, text)
    turn = Turn(asked, chosen, message_id)
    if asked.wants_events:
        return Answer(events=turn.events())
    if asked.body.get("wait", False):
        state = await asked.desk.watch.until(turn.is_over, REPLY_S)
        return turn.answer(state or asked.state)
    return Answer(turn.sent, status=202)


def check_limit(state: AppState, chosen: str, remedy: str) -> None:
    """At a spend limit the window asks; here nobody can be asked. Raises RefusedError."""
    if reached := limit_reached(state, chosen):
        raise RefusedError(409, "spend_limit", reached, remedy)


async def _save(asked: Asked, chosen: str, text: str) -> str:
    """Send, and wait until the words are on disk. Returns their message's id."""
    opened = await asked.opened()
    if chosen in asked.state.calls:
        raise RefusedError(
            409, "busy", "A reply is under way in this discussion", "Cancel it, or wait for its end"
        )
    known = frozenset(entry.id for entry in opened.entries)
    before = frozenset(asked.state.notices)
    asked.desk.front.send(SendPrompt(chosen, text))
    state = await asked.desk.watch.until(
        lambda now: bool(_new_prompt(now, chosen, known, text) or _fault(now, chosen, before)), SAVE_S
    )
    if state is None:
        raise RefusedError(503, "slow", f"The message was not written within {SAVE_S:g} s", "Try again")
    if found := _new_prompt(state, chosen, known, text):
        return found
    if chosen not in state.summaries:
        raise unknown("discussion", chosen, "It was deleted meanwhile")
    notice = _fault(state, chosen, before)
    what = notice.text if notice is not None else "The message could not be written"
    raise RefusedError(500, "not_saved", what, notice.detail if notice is not None else "Try again")


def _new_prompt(state: AppState, chosen: str, known: frozenset[str], text: str) -> str:
    opened = state.open.get(chosen)
    for entry in reversed(opened.entries if opened is not None else ()):
        if entry.id in known:
            return ""
        if isinstance(entry, Message) and entry.role is Role.USER and entry.text == text:
            return entry.id
    return ""


def _fault(state: AppState, chosen: str, before: frozenset[Notice]) -> Notice | None:
    """What was reported instead: the words could not be written, or the discussion is gone."""
    if chosen not in state.summaries:
        return Notice("gone", Level.ERROR, "The discussion was deleted meanwhile.")
    new = [n for n in state.notices if n.id == "disk" and n.level is Level.ERROR and n not in before]
    return new[-1] if new and chosen not in state.calls else None


async def cancel_reply(asked: Asked) -> Answer:
    """Stop the reply under way; what has arrived is kept."""
    chosen = asked.row().meta.id
    call = asked.state.calls.get(chosen)
    if call is None:
        raise RefusedError(409, "nothing_runs", "No reply is under way in this discussion")
    asked.desk.front.send(CancelReply(chosen))
    state = await asked.desk.watch.until(
        lambda now: chosen not in now.calls or now.calls[chosen].id != call.id, SAVE_S
    )
    return Answer({"discussion_id": chosen, "is_stopped": state is not None}, status=200)


@dataclass(slots=True)
class Turn:
    """A message on disk and the reply to it.

    Args:
        told_text, told_reasoning: how much of the reply went out as events; told: reasons of waits that did.
    """

    asked: Asked
    chosen: str
    message_id: str
    told_text: int = 0
    told_reasoning: int = 0
    told: set[str] = field(default_factory=set)

    @property
    def sent(self) -> dict[str, Any]:
        """What is said at once."""
        return {"discussion_id": self.chosen, "message_id": self.message_id}

    def is_over(self, state: AppState) -> bool:
        """Whether the call has ended, and what came of it is written."""
        call = state.calls.get(self.chosen)
        return call is None or call.user_message_id != self.message_id

    def answer(self, state: AppState) -> Answer:
        """The reply. Raises RefusedError: 502 the provider failed, 404 the discussion is gone."""
        opened = self._opened(state)
        if opened.failure is not None and opened.failed_message_id == self.message_id:
            failure = opened.failure
            raise RefusedError(502, failure.kind.value, failure.what, failure.remedy)
        reply = self._reply(opened)
        is_stopped = reply is None or reply.status is not Status.COMPLETE
        data = None if reply is None else message_data(reply)
        return Answer({**self.sent, "reply": data, "is_stopped": is_stopped})

    def _opened(self, state: AppState) -> OpenDiscussion:
        opened = state.open.get(self.chosen)
        if opened is None:
            raise unknown("discussion", self.chosen, "It was deleted meanwhile")
        return opened

    def _reply(self, opened: OpenDiscussion) -> Message | None:
        ids = [message.id for message in opened.messages]
        if self.message_id not in ids:
            return None
        after = opened.messages[ids.index(self.message_id) + 1 :]
        own = []
        for message in after:
            if message.role is Role.USER:
                break
            own.append(message)
        replies = [message for message in own if message.role is Role.ASSISTANT]
        return replies[-1] if replies else None

    async def events(self) -> AsyncIterator[bytes]:
        """Server-sent events: accepted, reasoning, text, retrying, then done or error."""
        yield event("accepted", self.sent)
        try:
            while True:
                state = await self.asked.desk.watch.until(self._has_news, BEAT_S)
                if state is None:
                    yield b": waiting\n\n"
                    continue
                for line in self._news(state):
                    yield line
                if self.is_over(state):
                    break
            yield event("done", self.answer(state).data)
        except RefusedError as error:
            yield event("error", error.data["error"])

    def _has_news(self, state: AppState) -> bool:
        if self.is_over(state):
            return True
        call = state.calls[self.chosen]
        is_retry = call.phase is CallPhase.RETRYING and call.retry_reason not in self.told
        return is_retry or len(call.text) > self.told_text or len(call.reasoning) > self.told_reasoning

    def _news(self, state: AppState) -> list[bytes]:
        if not self.is_over(state):
            call = state.calls[self.chosen]
            if call.phase is CallPhase.RETRYING and call.retry_reason not in self.told:
                self.told.add(call.retry_reason)
                return [event("retrying", {"reason": call.retry_reason})]
            return self._more(call.text, call.reasoning)
        reply = self._reply(state.open[self.chosen]) if self.chosen in state.open else None
        return [] if reply is None else self._more(joined(reply, TextPart), joined(reply, ReasoningPart))

    def _more(self, text: str, reasoning: str) -> list[bytes]:
        lines = []
        if len(reasoning) > self.told_reasoning:
            lines.append(event("reasoning", {"text": reasoning[self.told_reasoning :]}))
            self.told_reasoning = len(reasoning)
        if len(text) > self.told_text:
            lines.append(event("text", {"text": text[self.told_text :]}))
            self.told_text = len(text)
        return lines


def joined(message: Message, kind: type[TextPart | ReasoningPart]) -> str:
    """The parts of one kind as they streamed, with nothing between them."""
    return "".join(part.text for part in message.parts if isinstance(part, kind))


def event(name: str, data: dict[str, Any]) -> bytes:
    """One server-sent event; its data is JSON on one line."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode("utf-8", "replace")
