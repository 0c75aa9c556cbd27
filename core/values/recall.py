"""Ambient recall as values: what may be recalled for a message, what was, and why."""

from __future__ import annotations

from datetime import datetime

import msgspec

from core.values.retrieval import AskedPlaces, Corpus


class RecallSpec(msgspec.Struct, frozen=True):
    """Limits of what is recalled for a message.

    Args:
        asked: the places that are searched; tokens: most of the block.
        kept_out: names of sources (`RecalledPassage.source`) that the person keeps out, once or for good.
    """

    asked: AskedPlaces
    tokens: int = 800
    kept_out: tuple[str, ...] = ()


class RecallQuestion(msgspec.Struct, frozen=True):
    """A question that recall answers.

    Args:
        text: the person's message; discussion_id: the one that asks, never an answer itself.
        told: what the model is told anyway (the digest, and what was said: a branch's beginning is its parent's, too), not
            told twice.
    """

    text: str
    discussion_id: str
    spec: RecallSpec
    told: str = ""


class RecalledPassage(msgspec.Struct, frozen=True, gc=False):
    """A passage that goes with a message.

    Args:
        source: name by which it is kept out; place: file and lines; why: in words; date: ISO 8601 day or empty.
        is_whole: its whole text goes along, else a line.
    """

    source: str
    corpus: Corpus
    place: str
    title: str
    why: str
    date: str = ""
    score: float = 0.0
    is_whole: bool = True


class Recalled(msgspec.Struct, frozen=True):
    """Recall for a message.

    Args:
        text: inside of the block `{rag-context}`, empty where nothing fits; tokens_est: of it.
        problem: why less was asked than is configured, in a sentence, empty where all was.
    """

    text: str = ""
    passages: tuple[RecalledPassage, ...] = ()
    tokens_est: int = 0
    problem: str = ""


class SentRecall(msgspec.Struct, frozen=True):
    """Recall that went out with a message. `words`: the message's beginning, one line."""

    discussion_id: str
    message_id: str
    at: datetime
    words: str
    passages: tuple[RecalledPassage, ...]
    tokens_est: int = 0
