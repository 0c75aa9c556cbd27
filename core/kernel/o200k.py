"""Counts the o200k tokens of a text offline, by OpenAI's library and a vocabulary that comes with the program."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.tokens import slices

if TYPE_CHECKING:
    from tiktoken import Encoding

VOCABULARY = Path(__file__).parents[2] / "assets" / "tokens" / "o200k_base.bin"
"""`HEAD`, a byte for the length of each piece, then the pieces; scripts/build_tokens.py makes it."""

HEAD = b"o200k\0"
_VOCABULARY_SHA256 = "1fd13dea8ccdf0f054f7fecfa21708bea43b974de86f14cd74dad9c3070f364a"
_PIECES = 199_998
_WORDS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
)
"""Words before they are cut into pieces. Source: tiktoken 0.14.0, `o200k_base` (read 2026-11-29)."""


def count_tokens(text: str) -> int:
    """Count o200k tokens. Holds the interpreter lock: for the worker process, not for the frame loop.

    The text is counted in slices that end at line ends, so a long text may come out a few tokens higher.

    Raises:
        StorageError: the vocabulary that comes with the program is missing or damaged.
    """
    encoding = _o200k()
    return sum(len(encoding.encode_ordinary(part)) for part in slices(text))


@cache
def _o200k() -> Encoding:
    """The encoding, its pieces numbered from 0. What stands for an end of a text is text here.

    Raises:
        StorageError: the vocabulary that comes with the program is missing or damaged.
    """
    from tiktoken import Encoding

    data = read_file(VOCABULARY)
    if hashlib.sha256(data).hexdigest() != _VOCABULARY_SHA256:
        raise StorageError(
            tr("The file with which the program counts tokens is damaged"),
            where=str(VOCABULARY),
            remedy=tr("Install Manual Slop again"),
        )
    begin = len(HEAD) + _PIECES
    ends = list(accumulate(data[len(HEAD) : begin], initial=begin))
    ranks = {data[start:end]: number for number, (start, end) in enumerate(pairwise(ends))}
    return Encoding("o200k_base", pat_str="|".join(_WORDS), mergeable_ranks=ranks, special_tokens={})
