"""A page of the guide as a value."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class GuidePage(msgspec.Struct, frozen=True):
    """A page of the guide that a person looks at.

    Args:
        text: Markdown; problem: why there is none; titles: of all pages, by name.
    """

    name: str
    text: str = ""
    problem: str = ""
    titles: Mapping[str, str] = msgspec.field(default_factory=dict)
