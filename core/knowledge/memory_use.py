"""Cost and use of memory: tokens that it added to requests, items that replies quoted, items that none ever used. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from core.kernel.patterns import late
from core.kernel.values.facts import DiscussionMemory, ItemEvent, ItemEventKind, MemoryUse
from core.kernel.words import SENTENCE_ENDS

RUN = 5
"""Words in a row that a reply shares with an item where it quotes it; an item of fewer words is quoted whole."""
LEAST_WORDS = 3
"""Shorter items say nothing that could be told from chance."""
UNUSED_AFTER = 50
"""Requests that held an item which no reply quoted, from which on it is proposed for the archive."""
_WORD = late(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_FIGURE = late(r"\d+")
_LONG = 4
"""Letters of a word that tells something: a run holds two such words, or signs of a script without blanks."""

Run = tuple[str, ...]

Likeness = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
"""Likeness in meaning, to 1: a row for each of the second texts, with one figure for each of the first; empty where it is unknown."""

LEAST_LIKENESS = 0.75
"""Nearness from which a sentence says what an item says. Measured on 24 own items in five languages with both models: .83 to .88
of the sentences that say them in other words reach it, .08 to .17 of those of the like about another thing, and of any others
none. A test measures it anew."""
MOST_SENTENCES, _SENTENCE_CHARS = 80, 400


def quoted(reply: str, asked: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Items that a reply quotes, by their names, sorted. O(words of the reply and of the items).

    What the person said in the message counts for no item: a reply repeats that by itself.

    Args:
        texts: of the items that went with the request, by name.
    """
    said, known = _words(reply), _words(asked)
    told = {length: _runs(said, length) - _runs(known, length) for length in range(LEAST_WORDS, RUN + 1)}
    found = []
    for name, text in texts.items():
        words = _words(text)
        length = min(RUN, len(words))
        if length >= LEAST_WORDS and any(run in told[length] for run in _runs(words, length)):
            found.append(name)
    return tuple(sorted(found))


def sentences(text: str) -> tuple[str, ...]:
    """Sentences and lines of a text that say something, the first ones of a long one. O(n)."""
    pieces = (piece.strip(" \t>*-#|`") for piece in SENTENCE_ENDS.split(text))
    return tuple(
        islice(
            (piece[:_SENTENCE_CHARS] for piece in pieces if len(_words(piece)) >= LEAST_WORDS), MOST_SENTENCES
        )
    )


def meant(reply: str, asked: str, texts: Mapping[str, str], like: Likeness) -> tuple[str, ...]:
    """Items that a sentence of a reply says in other words, by their names, sorted.

    What the person said in the message counts for no item, as with `quoted`.

    Args:
        texts: of the items that went with the request, by name.
    """
    said = sentences(reply)
    names = [name for name, text in texts.items() if len(_words(text)) >= LEAST_WORDS]
    if not said or not names:
        return ()
    found = _said_in(said, {name: texts[name] for name in names}, like)
    own = sentences(asked)
    theirs = _said_in(own, found, like) if found and own else {}
    return tuple(sorted(found.keys() - theirs.keys()))


def _said_in(said: Sequence[str], texts: Mapping[str, str], like: Likeness) -> Mapping[str, str]:
    """Texts that one of the sentences says, by their names: it is near, and has no other figures."""
    near = zip(texts.items(), like(said, [*texts.values()]), strict=False)
    return {
        name: text
        for (name, text), shares in near
        if any(
            share >= LEAST_LIKENESS and not _has_other_figures(one, text)
            for one, share in zip(said, shares, strict=True)
        )
    }


def _has_other_figures(one: str, two: str) -> bool:
    """True where both texts hold figures, and none in common: the one says another number or day."""
    ones, twos = frozenset(_FIGURE.findall(one)), frozenset(_FIGURE.findall(two))
    return bool(ones and twos) and ones.isdisjoint(twos)


def memory_use(events: Iterable[ItemEvent]) -> MemoryUse:
    """Sum of the logs: for each discussion what memory added and what was used of it; items that were never used.

    Args:
        events: of the log, oldest first: `injected` tells what each request of its discussion held from then on, `used`
            stands for one request that was answered.
    """
    held: dict[str, tuple[str, ...]] = {}
    seen, used = Counter[str](), Counter[str]()
    sums: dict[str, DiscussionMemory] = {}
    for event in events:
        where = event.discussion
        if event.kind is ItemEventKind.INJECTED:
            held[where] = (*event.items, *event.facts)
        elif event.kind is ItemEventKind.USED:
            names = (*event.items, *event.facts)
            seen.update(held.get(where, ()))
            used.update(names)
            before = sums.get(where, DiscussionMemory(discussion=where))
            sums[where] = DiscussionMemory(
                discussion=where,
                requests=before.requests + 1,
                tokens_est=before.tokens_est + event.tokens,
                quoted=before.quoted + len(names),
            )
    unused = tuple(sorted(name for name, count in seen.items() if count >= UNUSED_AFTER and not used[name]))
    return MemoryUse(discussions=tuple(sums.values()), unused=unused)


def _words(text: str) -> Run:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _runs(words: Run, length: int) -> frozenset[Run]:
    runs = (words[at : at + length] for at in range(len(words) - length + 1))
    return frozenset(run for run in runs if _tells(run))


def _tells(run: Run) -> bool:
    return sum(len(word) >= _LONG or not word.isascii() for word in run) >= 2
