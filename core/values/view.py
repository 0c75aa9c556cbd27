"""The view as values: layers 9 and 10 as a model sees them, a frozen base and what was appended since."""

from __future__ import annotations

import msgspec


class BaseFile(msgspec.Struct, frozen=True):
    """A piece of layer 10 as it was last written canonically, or by a delta."""

    key: str
    sha256: str
    text: str


class FrozenBase(msgspec.Struct, frozen=True):
    """Layers 9 and 10 as they were last written canonically. `file_set` is layer 9, empty where there is none."""

    file_set: str = ""
    files: tuple[BaseFile, ...] = ()


class ViewDelta(msgspec.Struct, frozen=True):
    """What one turn appended because files or the preset had changed.

    Args:
        message_id: the user's message that carries it, before the person's words.
        files: new contents, each superseding an earlier one of its key or new; removed: keys no longer in context.
        file_set: the new layer 9, None where it did not change.
    """

    message_id: str
    files: tuple[BaseFile, ...] = ()
    removed: tuple[str, ...] = ()
    file_set: str | None = None


class ContextView(msgspec.Struct, frozen=True):
    """What a model sees of layers 9 and 10: a frozen base and what was appended since."""

    base: FrozenBase = msgspec.field(default_factory=FrozenBase)
    deltas: tuple[ViewDelta, ...] = ()
