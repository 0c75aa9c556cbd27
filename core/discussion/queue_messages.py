"""Messages of a discussion's queue between the step and the disk's thread."""

from __future__ import annotations

import msgspec

from core.values.discussion import Draft, QueuedPrompt


class AddToQueue(msgspec.Struct, frozen=True):
    """Keep a prompt that waits for its turn, behind those that wait, and report `QueueWritten`."""

    discussion_id: str
    prompt: QueuedPrompt
    command_id: str = ""


class RemoveFromQueue(msgspec.Struct, frozen=True):
    """Write the draft that holds a queued prompt's words, then take it out of the queue and report `QueueWritten`."""

    discussion_id: str
    prompt_id: str
    draft: Draft


class QueueWritten(msgspec.Struct, frozen=True):
    """A queue stands on disk like this. `added`: the prompt that is new in it; `command_id` is the effect's."""

    discussion_id: str
    queue: tuple[QueuedPrompt, ...]
    added: QueuedPrompt | None = None
    command_id: str = ""


class PromptGone(msgspec.Struct, frozen=True):
    """Another program has sent or taken back a queued prompt: it was not written again.

    `call_id`: the call that waited for it; `queue`: as it is now.
    """

    discussion_id: str
    call_id: str
    queue: tuple[QueuedPrompt, ...]
