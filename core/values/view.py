"""The view as values: layers 6, 7, 9 and 10 as a model sees them, a frozen base and what was appended since."""

from __future__ import annotations

import msgspec


class BaseFile(msgspec.Struct, frozen=True):
    """A piece of layer 6, 7 or 10 as it was last written canonically, or by a delta.

    Args:
        key: inside the stack, its layer first (`7/digest`, `10/src/a.py`); sha256, text: of its whole content.
        sent: what the wire carries of a delta's piece instead of `text`, where that is shorter; empty: the text itself.
    """

    key: str
    sha256: str
    text: str
    sent: str = ""

    @property
    def wire_text(self) -> str:
        """Text that goes over the wire."""
        return self.sent or self.text


class FrozenBase(msgspec.Struct, frozen=True):
    """Layers 6, 7, 9 and 10 as they were last written canonically.

    Args:
        file_set: layer 9, empty where there is none; files: layer 10.
        known: layers 6 and 7, piece by piece; None: a log from before these were kept, it does not tell.
        withdrawals: how often something had been taken out of knowledge when `known` was written.
    """

    file_set: str = ""
    files: tuple[BaseFile, ...] = ()
    known: tuple[BaseFile, ...] | None = None
    withdrawals: int = 0


class ViewDelta(msgspec.Struct, frozen=True):
    """Addition of one turn because files, the preset, identity files or knowledge had changed.

    Args:
        message_id: the user's message that carries it, before the person's words.
        files: new contents of any of the layers, each superseding an earlier one of its key or new; removed: keys no longer in context.
        file_set: the new layer 9, None where it did not change.
    """

    message_id: str
    files: tuple[BaseFile, ...] = ()
    removed: tuple[str, ...] = ()
    file_set: str | None = None


class TurnTail(msgspec.Struct, frozen=True):
    """Segments behind the person's words as a turn with tools was sent: it stays there, so that all behind it stays.

    Args:
        message_id: the user's message that carries it; text: layer 8.
        retrieved: the block of what was recalled for the message, before layer 8; empty where there was none.
        cut_id: of the cut that the turns began with then, where there is a block: it stays until the next cut.
    """

    message_id: str
    text: str
    retrieved: str = ""
    cut_id: str = ""


class ContextView(msgspec.Struct, frozen=True):
    """View of layers 6, 7, 9 and 10 by a model: a frozen base and what was appended since; what stood behind earlier words."""

    base: FrozenBase = msgspec.field(default_factory=FrozenBase)
    deltas: tuple[ViewDelta, ...] = ()
    tails: tuple[TurnTail, ...] = ()


def base_pieces(base: FrozenBase) -> tuple[BaseFile, ...]:
    """All pieces of a base, in the order of their layers."""
    return (*(base.known or ()), *base.files)
