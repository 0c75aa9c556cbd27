"""Messages of attention: commands. It has no worker: its turns are the turn's, its dreams the harvest's."""

from __future__ import annotations

import msgspec


class StartAutonomy(msgspec.Struct, frozen=True):
    """Let a discussion go on by itself. What was allowed for it counts no more. One discussion at a time."""

    discussion_id: str
    command_id: str = ""


class StopAutonomy(msgspec.Struct, frozen=True):
    """End autonomy, and the turn that it began."""

    command_id: str = ""


class NoteActivity(msgspec.Struct, frozen=True):
    """The person used a key or the pointer. Sent once a second at most. `is_elsewhere`: on the desktop, not in the window."""

    is_elsewhere: bool = False


AttentionCommand = StartAutonomy | StopAutonomy | NoteActivity
"""Commands that a front end may give this room."""
