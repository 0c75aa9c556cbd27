"""View of the Caching panel and its questions: the part in front, the filter, answers given before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from core.app.messages import Command
from core.values.discussion import OpenDiscussion
from core.values.spending import SpendRefusal
from panels.base.window_field import Kept, one_of


class CachingView(msgspec.Struct):
    """The room's own state.

    Args:
        query: filter of the discussions; is_rest_open: those that hold nothing are unfolded; error: key of a setting and why what was typed is not taken.
        unasked: discussions whose warm cache may be left without a question.
        confirmed: the command that the person has just said yes to.
        refusals: of sends, by discussion id, that the person was asked about; refusals_of: the open discussions that
            were looked through for them.
    """

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept("caching_tab", "tab", one_of("overview", "discussions", "settings")),
    )

    tab: str = "overview"
    query: str = ""
    is_rest_open: bool = False
    error: tuple[str, str] = ("", "")
    unasked: set[str] = msgspec.field(default_factory=set)
    confirmed: Command | None = None
    refusals: dict[str, SpendRefusal] = msgspec.field(default_factory=dict)
    refusals_of: Mapping[str, OpenDiscussion] | None = None
