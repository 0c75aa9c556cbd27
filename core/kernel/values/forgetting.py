"""Forgetting as values: what is to go, what went from which place, what holds it still, what cannot be reached."""

from __future__ import annotations

import msgspec

from core.kernel.values.knowledge import Category


class ForgetTarget(msgspec.Struct, frozen=True, omit_defaults=True):
    """Target of a forgetting: conversations, or one item of knowledge.

    Args:
        discussion_ids: the conversation first, then its branches that are to go as well.
        category, text, file: of an item as it stands, without provenance; empty for conversations.
    """

    discussion_ids: tuple[str, ...] = ()
    category: Category | None = None
    text: str = ""
    file: str = ""


class PlaceReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place of the receipt.

    Args:
        place: id of the place in the table; removed: copies that were taken out, of the place's own kind.
        checked: how it was seen afterwards that nothing is left; problem: why something may be, empty where nothing is.
    """

    place: str
    removed: int = 0
    checked: str = ""
    problem: str = ""


class ForgetReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Receipt of a forgetting. It names nothing by its words, so that it may be kept.

    Args:
        id: of the forgetting; at: ISO 8601 UTC, when it ended.
        discussion_ids: conversations that were forgotten; item: hash of the item that was, empty for conversations.
        items, facts: how many went from knowledge; kept_items: also said elsewhere, and stay without this origin.
        places: in the order of the table; holders: discussions that may still hold what was forgotten, by id, those in
            the trash too; recalls: discussions from whose logs it was taken, for it had been recalled there.
        blended: merged items that stay with words of it, for nobody knows any more what stood before them.
    """

    id: str
    at: str
    discussion_ids: tuple[str, ...] = ()
    item: str = ""
    items: int = 0
    facts: int = 0
    kept_items: int = 0
    places: tuple[PlaceReport, ...] = ()
    holders: tuple[str, ...] = ()
    recalls: tuple[str, ...] = ()
    blended: int = 0

    @property
    def problems(self) -> tuple[PlaceReport, ...]:
        """Places where something may be left."""
        return tuple(place for place in self.places if place.problem)


class ForgetPreview(msgspec.Struct, frozen=True):
    """A look at what a forgetting would take, before it is confirmed.

    Args:
        items, facts: how many go; kept_items: also said elsewhere; holders: discussions that keep words of it, by id.
        problem: why it cannot be told, empty where it can.
    """

    target: ForgetTarget
    items: int = 0
    facts: int = 0
    kept_items: int = 0
    holders: tuple[str, ...] = ()
    problem: str = ""


class ForgettingState(msgspec.Struct, frozen=True):
    """Forgetting as a front end sees it. One at a time.

    Args:
        target: of the one under way, None where none is; command_id: of who waits for it.
        receipt: of the last one, until it is dismissed; problem, remedy: why that did not come to its end.
        preview: of the one that was asked about last, None while it is looked at.
    """

    target: ForgetTarget | None = None
    command_id: str = ""
    receipt: ForgetReceipt | None = None
    problem: str = ""
    remedy: str = ""
    preview: ForgetPreview | None = None

    @property
    def is_running(self) -> bool:
        """True while something is being forgotten."""
        return self.target is not None
