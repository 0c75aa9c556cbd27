"""Places of a query's words in a text: where they stand together, the best place of all. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

_MOST = 20_000
"""Occurrences that are looked at in one text."""


def together(text: str, words: Sequence[str]) -> tuple[int, int] | None:
    """The run of text in which the words stand closest together, in whatever order and case.

    Args:
        text: searched as it is; words: each is found as the start of a word. Those that are not there do not count.

    Returns:
        Start and end of the run in characters: of the shortest, of those the one with most whole words, of those the
        first. Words that begin no word are looked for anywhere. None where none of them is there.
    """
    known = sorted({word.casefold() for word in words if word}, key=len, reverse=True)
    if not known:
        return None
    anywhere = "|".join(map(re.escape, known))
    for pattern in (rf"(?<!\w)(?:{anywhere})", anywhere):
        found = list(islice(re.finditer(pattern, text, re.IGNORECASE), _MOST))
        if found:
            return _closest(text, found)
    return None


def _closest(text: str, found: Sequence[re.Match[str]]) -> tuple[int, int]:
    names = [one.group().casefold() for one in found]
    missing, counts = len(set(names)), dict.fromkeys(names, 0)
    best, low = (len(text) + 1, 0, 0, 0), 0
    for high, one in enumerate(found):
        missing -= not counts[names[high]]
        counts[names[high]] += 1
        while not missing and counts[names[low]] > 1:
            counts[names[low]] -= 1
            low += 1
        if not missing:
            start, end = found[low].start(), one.end()
            parts = sum(not _is_whole(text, match) for match in found[low : high + 1][:_WHOLE])
            best = min(best, (end - start, parts, start, end))
    return best[2], best[3]


_WHOLE = 50
"""Words of a run that are asked whether they are whole."""


def _is_whole(text: str, match: re.Match[str]) -> bool:
    return not text[match.end() : match.end() + 1].isalnum()
