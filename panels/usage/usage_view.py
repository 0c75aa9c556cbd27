"""View of the Usage panel: the time that is looked at, and what its rows tell apart."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.values.usage_report import UsageBy
from panels.base.view import Kept, one_of

SPANS = ("7", "30", "month", "365", "all")


class UsageView(msgspec.Struct):
    """The panel's own state.

    Args:
        span: the time that is looked at; by: what the rows tell apart.
        asked: what the last question was asked for: the question, and what was known then.
    """

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept(key="usage_span", name="span", read=one_of(*SPANS)),
        Kept(key="usage_by", name="by", read=one_of(*UsageBy)),
    )

    span: str = "30"
    by: str = "model"
    asked: tuple[object, ...] = ()
