"""Room of usage in the window, and the view of its panel."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.kernel.values.usage import UsageBy
from panels.base.desk import Desk, HubPanel, Room
from panels.base.view import Dialog
from panels.base.window_fields import Kept, one_of

# View of the Usage panel: the time that is looked at, and what its rows tell apart.

SPANS = ("7", "30", "month", "365", "all")


class UsageView(msgspec.Struct):
    """The panel's own state.

    Args:
        span: the time that is looked at; by: what the rows tell apart.
        asked: what the last question was asked for: the question, and what was known then; other: the answer that stood then.
    """

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept(key="usage_span", name="span", read=one_of(*SPANS)),
        Kept(key="usage_by", name="by", read=one_of(*UsageBy)),
    )

    span: str = "30"
    by: str = "model"
    asked: tuple[object, ...] = ()
    other: object = None


# Room of usage in the window.


def _panel(desk: Desk) -> None:
    from panels.usage.usage_panel import usage_panel

    usage_panel(desk)


def _save(desk: Desk, _dialog: Dialog) -> None:
    from panels.usage.usage_panel import save_dialog

    save_dialog(desk)


ROOM = Room(
    view=UsageView,
    dialogs={"usage_csv": _save},
    panels=(
        HubPanel(
            id="usage",
            words=tr("budget spend limit costs price billing dollars statistics"),
            title=tr("Usage"),
            guide="caching",
            about=tr(
                "See your tokens, costs and savings by day, model or discussion. Compare them with your limits."
            ),
            draw=_panel,
        ),
    ),
)
