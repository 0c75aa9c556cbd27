"""`tokens.json` of a home: the scale of tokens as it was learned from bills, so that a restart estimates no worse."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from core.base import paths
from core.base.decoders import from_json
from core.base.disk import write_passing
from core.base.errors import SlopError
from core.base.opener import read_file
from core.base.tokens import within_range
from core.context.token_scale import TokenScale

FORMAT = 1
MOST_TALKS = 1_000
"""Discussions whose own factor is kept, those that were billed last."""

_MAX_BYTES = 1_000_000

log = logging.getLogger(__name__)

Key = TypeVar("Key")


class _ScaleFile(msgspec.Struct, frozen=True):
    """Content of the file: rows of provider, model and factor; of talks with the discussion's id before them."""

    format: int
    models: tuple[tuple[str, str, float], ...] = ()
    talks: tuple[tuple[str, str, str, float], ...] = ()
    replies: tuple[tuple[str, str, float], ...] = ()


class HomeScaleStore:
    """The file of one home. One thread at a time.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._file = home / paths.TOKENS_FILE

    def load(self) -> TokenScale:
        """The scale as it was kept. Never fails: what cannot be read is learned anew, and that is logged."""
        try:
            kept = from_json(read_file(self._file, _MAX_BYTES), _ScaleFile)
        except FileNotFoundError:
            return TokenScale()
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            log.warning("what was learned of tokens is learned anew: %s", error)
            return TokenScale()
        if kept.format != FORMAT:
            log.warning("what was learned of tokens is learned anew: format %s", kept.format)
            return TokenScale()
        return TokenScale(
            {(provider, model): within_range(factor) for provider, model, factor in kept.models},
            {(talk, provider, model): within_range(f) for talk, provider, model, f in kept.talks},
            {(provider, model): within_range(factor) for provider, model, factor in kept.replies},
        )

    def save(self, scale: TokenScale) -> None:
        """Replace the file; what another program learned of other models meanwhile stays. A failure is logged."""
        there = self.load()
        talks = list(_over(there.talks, scale.talks).items())[-MOST_TALKS:]
        file = _ScaleFile(
            FORMAT,
            tuple((*key, factor) for key, factor in _over(there.models, scale.models).items()),
            tuple((*key, factor) for key, factor in talks),
            tuple((*key, factor) for key, factor in _over(there.replies, scale.replies).items()),
        )
        try:
            write_passing(self._file, msgspec.json.encode(file))
        except SlopError as error:
            log.warning("what was learned of tokens was not kept: %s", error)


def _over(there: Mapping[Key, float], ours: Mapping[Key, float]) -> dict[Key, float]:
    """Both, ours last and on top."""
    return {**{key: factor for key, factor in there.items() if key not in ours}, **ours}
