"""The rows of a conversation for its virtual list, and what is derived from them. Pure, remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping

import msgspec

from core.values.agent import AgentTurn
from core.values.discussion import LiveCall, OpenDiscussion
from core.values.messages import Entry, Mark
from core.values.stack import ContextReport, LayerId, SegmentReport
from panels.base.memo import Memo, Same
from panels.base.ui import Ui
from panels.discussion.tool_parts import parts_px
from panels.discussion.turn_row import has_calls
from panels.discussion.view import DiscussionView

LINE_PX = 22.0
CHARS_PER_PX = 0.14
CARD_PX = 70.0
MARK_PX = 30.0
GAP_PX = 8.0
LIVE = "live"
TURN = "turn"
FAILURE = "failure"


def shown_entries(opened: OpenDiscussion, call: LiveCall | None) -> tuple[Entry, ...]:
    """The entries that are seen: the reply of which another version is on its way is left out with what follows it."""
    if call is None or not call.version_of:
        return opened.entries
    for place in range(len(opened.entries) - 1, -1, -1):
        if opened.entries[place].id == call.user_message_id:
            return opened.entries[: place + 1]
    return opened.entries


class MessageRows(msgspec.Struct, frozen=True):
    """The messages and marks of a discussion, then the calls of a running turn, the reply under way, what failed.

    Args:
        entries: those that are seen; draw_row: draws an entry, the turn, the live call or (None) the failure.
        branched: messages below which branches are named; turn: that runs, its calls are a row while one has no result.
    """

    opened: OpenDiscussion
    entries: tuple[Entry, ...]
    call: LiveCall | None
    own: DiscussionView
    draw_row: Callable[[Entry | AgentTurn | LiveCall | None, Ui], None]
    branched: Collection[str] = ()
    turn: AgentTurn | None = None

    @property
    def revision(self) -> Hashable:
        """Changes when a row comes, goes or is another; a reply that streams is one row all along."""
        modes = frozenset(self.own.editing), frozenset(self.own.unfolded)
        return (
            Same(self.opened.entries),
            *(key for key, _ in self._tail),
            modes,
            Same(self.branched),
            self.opened.cut.id if self.opened.cut is not None else "",
        )

    @property
    def _has_failure(self) -> bool:
        """A send failed, or the program ended (or branched) before there was an answer."""
        is_open = self.opened.failure is not None or bool(self.opened.failed_message_id)
        return is_open and self.call is None and self.turn is None

    @property
    def _tail(self) -> tuple[tuple[Hashable, AgentTurn | LiveCall | None], ...]:
        """Rows behind the entries, each with its key."""
        rows: list[tuple[Hashable, AgentTurn | LiveCall | None]] = []
        if self.turn is not None and has_calls(self.turn):
            rows.append(((TURN, self.turn.turn_id), self.turn))
        if self.call is not None:
            rows.append(((LIVE, self.call.id), self.call))
        if self._has_failure:
            rows.append(((FAILURE, self.opened.failed_message_id), None))
        return tuple(rows)

    def __len__(self) -> int:
        return len(self.entries) + len(self._tail)

    def key(self, index: int) -> Hashable:
        """The entry and the mode it is shown in: either changes its height."""
        if index >= len(self.entries):
            return self._tail[index - len(self.entries)][0]
        entry = self.entries[index]
        return entry.id, id(entry), self._mode(entry.id), entry.id in self.branched, self._has_mark(entry.id)

    def _has_mark(self, message_id: str) -> bool:
        """True of the message with which the model's view begins."""
        return self.opened.cut is not None and message_id == self.opened.cut.begins_at

    def _mode(self, message_id: str) -> str:
        key = (self.opened.id, message_id)
        if key in self.own.editing:
            return "edit"
        return "open" if key in self.own.unfolded else ""

    def estimate_px(self, index: int, width: float) -> float:
        """From the number of characters and lines."""
        if index >= len(self.entries):
            return 120.0
        entry = self.entries[index]
        if isinstance(entry, Mark) or entry.is_deleted:
            return MARK_PX
        text = entry.text
        lines = text.count("\n") + 1 + len(text) * 1.0 / max(20.0, width * CHARS_PER_PX)
        return (
            CARD_PX
            + LINE_PX * lines
            + (parts_px(entry, LINE_PX) if len(entry.parts) > 1 or not text else 0.0)
        )

    def text(self, index: int) -> str:
        """Markdown of a message, empty for what is none."""
        if index >= len(self.entries):
            row = self._tail[index - len(self.entries)][1]
            return row.text if isinstance(row, LiveCall) else ""
        entry = self.entries[index]
        return "" if isinstance(entry, Mark) or entry.is_deleted else entry.text

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one row."""
        if index < len(self.entries):
            self.draw_row(self.entries[index], ui)
        else:
            self.draw_row(self._tail[index - len(self.entries)][1], ui)
        ui.gap(GAP_PX)


def tokens_by_message(memo: Memo, report: ContextReport | None) -> Mapping[str, int]:
    """Estimated tokens of each earlier message, by its id, from the assembled stack."""
    layer = next((known for known in report.layers if known.layer is LayerId.TURNS), None) if report else None
    if layer is None:
        return {}
    segments = layer.segments
    return memo.get("tokens by message", (segments,), lambda: _by_message(segments))


def _by_message(segments: tuple[SegmentReport, ...]) -> dict[str, int]:
    """Keys are `11/<message id>`, and `11/<message id>/<n>` for the further parts of a message."""
    counted: dict[str, int] = {}
    for segment in segments:
        message_id = segment.key.split("/", 2)[1] if "/" in segment.key else segment.key
        counted[message_id] = counted.get(message_id, 0) + segment.tokens_est
    return counted
