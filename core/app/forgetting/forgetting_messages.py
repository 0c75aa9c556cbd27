"""Messages of forgetting: one at a time, only when it was confirmed; its receipt is the event that ends it."""

from __future__ import annotations

import msgspec

from core.kernel.values.knowledge import ForgetPreview, ForgetReceipt, ForgetTarget, Item


class ForgetDiscussion(msgspec.Struct, frozen=True):
    """Forget a conversation, in the list or in the trash, with all that came of it. It cannot be undone.

    The outcome comes when it has ended, or was not begun.

    Args:
        with_branches: its branches too, which begin with its records.
        is_confirmed: the person was told that it cannot be undone, and said yes; without it nothing is done.
    """

    discussion_id: str
    with_branches: bool = False
    is_confirmed: bool = False
    command_id: str = ""


class ForgetItem(msgspec.Struct, frozen=True):
    """Forget an item of knowledge; a harvest does not propose it again. As `ForgetDiscussion`."""

    item: Item
    is_confirmed: bool = False
    command_id: str = ""


class LookAtForget(msgspec.Struct, frozen=True):
    """Look at what a forgetting would take; nothing is touched. `state.forgetting.preview` is the answer.

    Args:
        discussion_id: a conversation, empty for an item; with_branches: as in `ForgetDiscussion`.
    """

    discussion_id: str = ""
    item: Item | None = None
    with_branches: bool = False
    command_id: str = ""


class DismissReceipt(msgspec.Struct, frozen=True):
    """The person has read the receipt."""


# forgetting worker: one thread; each run ends with `ForgetEnded`
class RunForget(msgspec.Struct, frozen=True):
    """Carry out a forgetting; report `ForgetEnded`.

    Args:
        target: None to go on with each that a crash interrupted; where there is none, nothing is reported.
        providers: of conversations whose caches may be stored, by id; server: address of the index on a server.
    """

    target: ForgetTarget | None = None
    providers: tuple[tuple[str, str], ...] = ()
    server: str = ""


class RunForgetLook(msgspec.Struct, frozen=True):
    """Look at what a forgetting would take; report `ForgetLooked`."""

    target: ForgetTarget
    command_id: str = ""


class ForgetEnded(msgspec.Struct, frozen=True):
    """A forgetting ended.

    Args:
        receipt: None where it could not begin or go on: `problem` and `remedy` say why, and a start goes on with it.
        is_resumed: nobody asked for it now: a crash had cut it short.
    """

    receipt: ForgetReceipt | None
    problem: str = ""
    remedy: str = ""
    is_resumed: bool = False


class ForgetLooked(msgspec.Struct, frozen=True):
    """A look at what a forgetting would take is there."""

    preview: ForgetPreview
    command_id: str = ""


ForgettingCommand = ForgetDiscussion | ForgetItem | LookAtForget | DismissReceipt
"""Commands that a front end may give this room."""

ForgettingEvent = ForgetEnded | ForgetLooked
"""Events of this room."""

ForgettingEffect = RunForget | RunForgetLook
"""The forgetting worker's."""
