"""Text of proposals: how one is made safe to keep and show, and the form of their file. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from core.base.decoders import from_json
from core.base.frame import without_blocks
from core.base.secrets import scrub, scrubbed_line
from core.base.text import clean, flat
from core.evidence.quotes import item_hash
from core.knowledge.wording import item_body
from core.values.knowledge import Category, NewItem
from core.values.proposals import Proposal

MOST_WAITING = 200
"""Proposals that wait at once; a client that goes on is told to wait for the person."""

MAX_TEXT_CHARS, MAX_DETAIL_CHARS, MAX_NAME_CHARS, MAX_SOURCE_CHARS = 2_000, 4_000, 200, 60

FORMAT = 1


class _Book(msgspec.Struct, frozen=True):
    """The file: its format, and who waits in it."""

    v: int = FORMAT
    waiting: tuple[Proposal, ...] = ()


def safe_words(text: str) -> str:
    """A client's words on one line, without control characters, secrets, or an end of a block of ours."""
    return flat(scrub(without_blocks(clean(text))))


def safe_source(name: str) -> str:
    """A client's name as it may stand in provenance; a plain one where it gave none."""
    return scrubbed_line(flat(name), MAX_SOURCE_CHARS) or "a program over MCP"


def new_item(proposal: Proposal) -> NewItem:
    """The item that a proposal would become, without where it came from."""
    return NewItem(proposal.category, proposal.text, proposal.detail, proposal.name)


def words_of(proposal: Proposal) -> str:
    """The item's text as it would stand in its file."""
    return item_body(new_item(proposal))


def key_of(proposal: Proposal) -> str:
    """Name of the item that it would become: the same for the same words, whoever proposes them."""
    return item_hash(proposal.category, words_of(proposal))


def book_text(waiting: Iterable[Proposal]) -> bytes:
    """The file of those that wait, JSON, the same bytes for the same proposals."""
    return msgspec.json.encode(_Book(waiting=tuple(waiting)), order="sorted") + b"\n"


def read_book(data: bytes) -> tuple[Proposal, ...]:
    """Those that wait. Whoever wrote the file: words are made safe again, and no more are read than may wait.

    Raises:
        ValueError: it is no such file.
    """
    book = from_json(data, _Book)
    return tuple(_safe(one) for one in book.waiting[:MOST_WAITING] if one.category is not Category.FILES)


def _safe(one: Proposal) -> Proposal:
    return Proposal(
        one.id[:64],
        one.category,
        safe_words(one.text)[:MAX_TEXT_CHARS],
        safe_words(one.detail)[:MAX_DETAIL_CHARS],
        safe_words(one.name)[:MAX_NAME_CHARS],
        safe_source(one.source),
        flat(one.at)[:32],
    )
