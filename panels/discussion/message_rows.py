"""The rows of a conversation for its virtual list, and what is derived from them. Pure, remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping

import msgspec

from core.kernel.patterns import late
from core.kernel.values.agent import AgentTurn
from core.kernel.values.discussion import LiveCall, OpenDiscussion
from core.kernel.values.messages import Entry, Mark
from core.kernel.values.stack import ContextReport, LayerId, SegmentReport
from core.kernel.values.state import AppState, Level, Notice
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.base.view import Memo, Same
from panels.discussion.tool_parts import has_calls, parts_px
from panels.discussion.tool_rounds import FoldedRows, Lead, Rounds, Row
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
        folded: the entries that are seen, runs of tools folded; draw_row: draws an entry or a run, the turn, the live call or (None) the failure.
        branched: messages below which branches are named; turn: that runs, its calls are a row while one has no result.
    """

    opened: OpenDiscussion
    folded: FoldedRows
    call: LiveCall | None
    own: DiscussionView
    draw_row: Callable[[Row | AgentTurn | LiveCall | None, Ui], None]
    branched: Collection[str] = ()
    turn: AgentTurn | None = None

    @property
    def revision(self) -> Hashable:
        """Changes when a row comes, goes or is another; a reply that streams is one row all along."""
        modes = frozenset(self.own.editing), frozenset(self.own.unfolded)
        return (
            Same(self.opened.entries, self.folded),
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
        return len(self.folded.rows) + len(self._tail)

    def key(self, index: int) -> Hashable:
        """The entry and the mode it is shown in: either changes its height."""
        if index >= len(self.folded.rows):
            return self._tail[index - len(self.folded.rows)][0]
        entry = self.folded.rows[index]
        if isinstance(entry, Rounds):
            return "rounds", entry.id, len(entry.entries), entry.is_open
        if isinstance(entry, Lead):
            return "lead", entry.message.id, id(entry.message)
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
        if index >= len(self.folded.rows):
            return 120.0
        entry = self.folded.rows[index]
        if isinstance(entry, Rounds | Mark):
            return MARK_PX
        if isinstance(entry, Lead):
            entry = entry.message
        if entry.is_deleted:
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
        if index >= len(self.folded.rows):
            row = self._tail[index - len(self.folded.rows)][1]
            return row.text if isinstance(row, LiveCall) else ""
        entry = self.folded.rows[index]
        entry = entry.message if isinstance(entry, Lead) else entry
        return "" if isinstance(entry, Rounds | Mark) or entry.is_deleted else entry.text

    def draw(self, index: int, ui: Ui) -> None:
        """Draw one row."""
        if index < len(self.folded.rows):
            self.draw_row(self.folded.rows[index], ui)
        else:
            self.draw_row(self._tail[index - len(self.folded.rows)][1], ui)
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


# Notices of discussions that were not read: a discussion's own are shown with it alone, so its row carries
# a sign.

Own = Mapping[str, tuple[Notice, ...]]
"""Notices by the discussion that they are about."""


def unread(state: AppState, own: DiscussionView, memo: Memo, discussion_id: str) -> tuple[Notice, ...]:
    """The notices of a discussion, a failed send among them, that were not in front of the person; gravest first."""
    known = _own(state, memo).get(discussion_id, ())
    read = own.read.get(discussion_id, frozenset())
    return tuple(notice for notice in known if _cause(notice) not in read)


def read_in_front(desk: Desk) -> None:
    """The selected discussion is in front of the person, with what is said of it: it counts as read."""
    own, shown_id = desk.view.of(DiscussionView), desk.state.discussions.selected_id
    causes = frozenset(_cause(notice) for notice in _own(desk.state, desk.view.memo).get(shown_id, ()))
    if own.read.get(shown_id, frozenset()) != causes:
        own.read[shown_id] = causes


def _own(state: AppState, memo: Memo) -> Own:
    notices = state.program.notices
    return memo.get("notices of discussions", (notices,), lambda: _by_discussion(notices))


def _by_discussion(notices: tuple[Notice, ...]) -> Own:
    found: dict[str, tuple[Notice, ...]] = {}
    for notice in sorted(notices, key=lambda one: list(Level).index(one.level), reverse=True):
        if notice.discussion_id:
            found[notice.discussion_id] = (*found.get(notice.discussion_id, ()), notice)
    return found


def _cause(notice: Notice) -> Hashable:
    """Cause that is read once: a failure that comes again is another, a standing notice the same."""
    return notice.id, notice.text, notice.detail, None if notice.is_standing else notice.at


# Words of a reply as they are seen: its Markdown without the marks, near enough to count what is searched.
# Pure.

_FENCE = late(r"^ {0,3}(`{3,}+|~{3,}+)[^`\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SIGNS = late(r"[`*_~\\\[\n]")
_MARKS = late(
    r"[`*_~\\\[\n](?:"
    r"(?<=(?<!`)`)(?P<ticks>`*+)(?P<code>[^`\n]+)`(?P=ticks)(?!`)"
    r"|(?<=\\)(?P<sign>[!-/:-@\[-`{-~])"
    r"|(?<=(?<!!)\[)(?P<words>[^\[\]\n]+)\]\([^()\s]*(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|(?<=\*)\**+(?=\S)|(?<=\S\*)\**+"
    r"|(?<=(?<!\w)_)_*+(?=\w)|(?<=[^\W_]_)_*+(?!\w)"
    r"|(?<=~)~"
    r"|(?P<soft>(?<=[^\s|]\n)[ \t]*+(?=[^\s>#|*+\-\d]))"
    r")"
)
"""It begins with one set of signs, by which the search leaps over all else."""


def shown_words(text: str) -> str:
    """The text without marks of emphasis, code and links, its soft line breaks as spaces. Code in fences stays as it is.

    O(text), no parser: a rare construct leaves a mark or takes one too many.
    """
    if _SIGNS.search(text) is None:
        return text
    parts, at = [], 0
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        parts += [_MARKS.sub(_kept, text[at : fence.start()]), fence[2]]
        at = fence.end()
    return "\n".join([*parts, _MARKS.sub(_kept, text[at:])])


def may_differ(text: str, terms: list[str]) -> bool:
    """True where words may be counted otherwise in what is seen than in the text as it is written.

    One plain word differs only where a link's address or the name of a fence's language holds it.
    """
    if all(map(str.isalnum, terms)):
        return "](" in text or "```" in text or "~~~" in text
    return True


def _kept(found: re.Match[str]) -> str:
    if found["soft"] is not None:
        return " "
    return found["code"] or found["sign"] or found["words"] or ""
