"""Wording of a plan's choices, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator

from core.base.figures import lifetime
from core.caching.economy import Outlook
from core.caching.ledger import CacheHit
from core.caching.view import DIGEST_KEY
from core.providers.blocks import MarkPlace, Wire, eve_of
from core.values.cache import CachePrices, CacheSettings, ExtensionEvidence, Mechanism

_NAMES = {
    MarkPlace.STABLE: "the stable layers",
    MarkPlace.BASE: "the files",
    MarkPlace.TALK: "your message",
    MarkPlace.TRANSIENT: "this turn's own text",
    MarkPlace.TAIL: "the discussion's metadata",
}


def sentences(
    wire: Wire,
    prices: CachePrices,
    settings: CacheSettings,
    marks: tuple[tuple[int, int], ...],
    hit: CacheHit,
    own: Outlook,
) -> tuple[str, ...]:
    """One sentence for each choice."""
    if not settings.is_enabled:
        return ("Caching is off for this discussion: nothing is marked.",)
    return tuple(_said(wire, prices, settings, marks, hit, own))


def extension_text(lost: ExtensionEvidence) -> str:
    """Reason why long lifetimes cost more with a model, and by what that is known."""
    text = f"{lost.model}: a mark with a long lifetime behind text held for less does not keep that text for longer"
    if lost.at is None:
        return f"{text}, as an earlier version of the program found out. Long lifetimes are written whole."
    return (
        f"{text}. Learned on {lost.at:%Y-%m-%d %H:%M} UTC in discussion {lost.discussion_id}: about"
        f" {lost.expected_tokens:,} tokens were expected from the cache, {lost.read_tokens:,} were read."
        " Long lifetimes are written whole."
    )


def _said(
    wire: Wire,
    prices: CachePrices,
    settings: CacheSettings,
    marks: tuple[tuple[int, int], ...],
    hit: CacheHit,
    own: Outlook,
) -> Iterator[str]:
    if hit.index >= 0:
        yield f"{hit.tokens:,} tokens are expected to be read from the cache."
    else:
        yield "Nothing of this request is known to be in the cache."
    if not marks:
        yield _why_none(wire, prices)
        return
    if prices.mechanism is Mechanism.IMPLICIT:
        yield "The provider caches on its own; nothing can be marked."
        return
    for place, ttl_s in marks:
        yield _mark(wire, place, ttl_s, hit)
    if settings.ttl_s is not None:
        yield f"The lifetime is fixed at {lifetime(settings.ttl_s)} in the settings."
    elif own.offers:
        yield _lifetime(own, marks[-1][1])
    if own.lifted is not None and marks[-1] == (eve_of(wire), min(own.offers)):
        yield f"The first ping writes your words behind it, and lets the whole live for {lifetime(max(own.offers))}."
    if wire.blocks and wire.blocks[-1].place is MarkPlace.TAIL:
        yield "The discussion's metadata stands behind the last mark, where it voids nothing."


def _why_none(wire: Wire, prices: CachePrices) -> str:
    if prices.minimum_tokens and wire.total_tokens < prices.minimum_tokens:
        return f"Nothing is marked: {prices.model} caches from {prices.minimum_tokens:,} tokens on."
    return "Nothing is marked: writing would cost more than the turns to come are expected to save."


def _mark(wire: Wire, place: int, ttl_s: int, hit: CacheHit) -> str:
    block = wire.blocks[place]
    name = _NAMES[block.place]
    if block.place is MarkPlace.STABLE and place < wire.last(MarkPlace.STABLE):
        name = "the digest" if block.key == DIGEST_KEY else "what stands before knowledge"
    tokens = f"{wire.ends[place]:,} tokens"
    if place == hit.index:
        return f"A mark behind {name} ({tokens}) reads and renews what is there."
    if place < hit.index:
        return (
            f"A mark behind {name} ({tokens}) costs nothing and keeps that prefix alive for other requests."
        )
    return f"A mark behind {name} ({tokens}) writes it for {lifetime(ttl_s)}."


def _lifetime(own: Outlook, ttl_s: int) -> str:
    offer = own.offers.get(ttl_s)
    if offer is None:
        return f"{lifetime(ttl_s)} is the lifetime that is on offer."
    share = round(100 * offer.alive)
    return f"{lifetime(ttl_s)} was chosen: {share} % of your turns are expected to find it alive."
