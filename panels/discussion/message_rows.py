"""Rows of a conversation for its virtual list, and the foot of a message: versions, branches. Pure but for the foot."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import as_sentences, tr
from core.kernel.patterns import late
from core.kernel.stored_texts import retold
from core.kernel.values.agent import AgentTurn
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion, ReplyVersions
from core.kernel.values.messages import Entry, Mark, Message, Role, ToolResultPart
from core.kernel.values.stack import ContextReport, LayerId, SegmentReport
from core.kernel.values.state import AppState, Level, Notice
from core.kernel.values.usage import Usage
from core.kernel.values.window import ViewCut
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChooseVersion,
    DeleteMessage,
    SelectDiscussion,
    SetDraft,
)
from core.talk.turn.turn_messages import RegenerateReply
from panels.base.desk import Desk, action_tip
from panels.base.ui import Ui
from panels.base.view import Memo, Same
from panels.discussion.model_picker import regenerate, regenerate_with
from panels.discussion.tool_rounds import FoldedRows, Lead, Rounds, Row, has_calls, parts_px
from panels.discussion.view import DiscussionView

BRANCHES_SHOWN = 3
HEAD = ""
"""Place of branches that hold nothing of the discussion: before its first message."""

Branches = Mapping[str, tuple[DiscussionSummary, ...]]
"""Branches of a discussion by the id of the last message that both have, `HEAD` where they have none."""


def branches_of(state: AppState, memo: Memo, discussion_id: str) -> Branches:
    """Branches of a discussion, oldest first. O(discussions) once for each list of them."""
    rows = state.discussions.summaries
    return memo.get("branches", (rows, discussion_id), lambda: _branches(rows, discussion_id))


def _branches(rows: Mapping[str, DiscussionSummary], discussion_id: str) -> Branches:
    found: dict[str, tuple[DiscussionSummary, ...]] = {}
    for row in sorted(rows.values(), key=lambda row: (row.meta.created_at, row.meta.id)):
        if row.meta.parent_id == discussion_id and not row.meta.delegated_by:
            point = row.meta.branch_message_id
            found[point] = (*found.get(point, ()), row)
    return found


def versions_foot(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Draw which version of a message is seen, with buttons to the others. Nothing where there is but one."""
    versions = opened.versions_of(message)
    if versions is None or message.id != versions.chosen_id:
        return
    with desk.ui.row("versions", gap=4):
        pager(desk, opened, versions)
        if message.role is Role.ASSISTANT and desk.ui.button(
            "side",
            "",
            icon="table-columns",
            kind="ghost",
            is_small=True,
            tip=tr("Show the versions side by side"),
        ):
            desk.view.of(DiscussionView).side_by_side[opened.id] = message.id


def pager(desk: Desk, opened: OpenDiscussion, versions: ReplyVersions) -> None:
    """Draw the buttons `‹ 2/3 ›`."""
    ui = desk.ui
    for name, icon, step, tip in (
        ("before", "chevron-left", -1, action_tip(desk, "version_before")),
        ("number", "", 0, ""),
        ("after", "chevron-right", 1, action_tip(desk, "version_after")),
    ):
        if not step:
            shown = f"{versions.number}/{len(versions.ids)}"
            ui.text(
                name,
                shown,
                tone="muted",
                style="small",
                tip=tr("Versions of this message; the program sends the version shown"),
            )
            continue
        to = versions.neighbour(step, opened.asked_version)
        if ui.button(name, "", icon=icon, kind="ghost", is_small=True, is_enabled=bool(to), tip=tip) and to:
            desk.send(ChooseVersion(discussion_id=opened.id, message_id=versions.chosen_id, step=step))


def branch_foot(desk: Desk, opened: OpenDiscussion, point_id: str) -> None:
    """Draw that this discussion was branched behind a message, and which others were.

    Args:
        point_id: of the message, `HEAD` for the place before the first one.
    """
    meta = desk.summary.meta if desk.summary is not None else None
    ui, rows = desk.ui, desk.state.discussions.summaries
    if meta is not None and meta.parent_id and meta.branch_message_id == point_id:
        icon, words = (
            ("sitemap", tr("Task of")) if meta.delegated_by else ("code-branch", tr("Branched here from"))
        )
        with ui.row(("branched", point_id), gap=6):
            ui.icon("icon", icon, tone="accent")
            ui.text("text", words, tone="muted", style="small")
            parent = rows.get(meta.parent_id)
            if parent is None:
                ui.text("gone", tr("a discussion that is not in the list"), tone="faint", style="small")
            elif ui.button(
                "parent", parent.meta.name, kind="link", is_small=True, tip=tr("Open the discussion")
            ):
                desk.send(SelectDiscussion(meta.parent_id))
    made = branches_of(desk.state, desk.view.memo, opened.id).get(point_id, ())
    if not made:
        return
    with ui.row(("branches", point_id), gap=6):
        ui.icon("icon", "code-branch", tone="muted")
        ui.text(
            "text",
            tr("Branch from here") if len(made) == 1 else tr("Branches from here"),
            tone="muted",
            style="small",
        )
        for row in made[-BRANCHES_SHOWN:]:
            if ui.button(
                ("to", row.meta.id), row.meta.name, kind="link", is_small=True, tip=tr("Open the discussion")
            ):
                desk.send(SelectDiscussion(row.meta.id))
        if len(made) > BRANCHES_SHOWN:
            ui.text(
                "more",
                tr("and {made} more of the branches, older", made=len(made) - BRANCHES_SHOWN),
                tone="faint",
                style="small",
            )


def branch_points(desk: Desk, opened: OpenDiscussion) -> Mapping[str, tuple[str, ...]]:
    """Branch points of a discussion by the message that they stand below; those in a version that was put aside stand
    below the one that is seen. O(branches and versions).
    """
    made = branches_of(desk.state, desk.view.memo, opened.id)
    meta = desk.summary.meta if desk.summary is not None else None
    own = meta.branch_message_id if meta is not None and meta.parent_id else None
    return desk.view.memo.get(
        "branch points", (made, opened.versions, own), lambda: _points(made, opened.versions.values(), own)
    )


def _points(
    made: Branches, versions: Iterable[ReplyVersions], own: str | None
) -> Mapping[str, tuple[str, ...]]:
    points = dict.fromkeys((*made, *((own,) if own is not None else ())))
    seen_instead: dict[str, str] = {}
    for known in versions if points else ():
        for run in known.aside.values():
            seen_instead.update({entry.id: known.chosen_id for entry in run})
    found: dict[str, tuple[str, ...]] = {}
    for point in points:
        place = point
        while place in seen_instead:  # a version may stand in another that was put aside
            place = seen_instead[place]
        found[place] = (*found.get(place, ()), point)
    return found


# Usage of a reply, in the words of its card: one line, and every figure for the tooltip. Pure.


def usage_line(usage: Usage) -> str:
    """Usage of a reply, in a line: `512 tok · $0.011 · cached 11.9k`."""
    is_exact = not usage.is_estimate
    parts = [
        tr("{output_tokens} tok", output_tokens=fmt.tokens_est(usage.output_tokens, is_exact=is_exact))
        if usage.output_tokens is not None
        else tr("tokens {NOT_REPORTED}", NOT_REPORTED=fmt.NOT_REPORTED)
    ]
    if (
        usage.output_tokens is not None or usage.cost_usd != 0
    ):  # a free model's "$0" beside what nobody knows misleads
        parts.append(fmt.money(usage.cost_usd, is_estimate=usage.is_estimate))
    if usage.cache_read_tokens:
        parts.append(tr("cached {cache_read_tokens}", cache_read_tokens=fmt.tokens(usage.cache_read_tokens)))
    return " · ".join(parts)


def usage_details(usage: Usage) -> str:
    """Every figure of a reply, one a line, for a tooltip."""
    rows = [
        (tr("sent"), fmt.tokens(usage.input_tokens)),
        (tr("read from cache"), fmt.tokens(usage.cache_read_tokens)),
        (tr("written to cache"), fmt.tokens(usage.cache_write_tokens)),
        (tr("reply"), fmt.tokens(usage.output_tokens)),
        (tr("reasoning in reply"), fmt.tokens(usage.reasoning_tokens)),
        (tr("cost"), fmt.money(usage.cost_usd, is_estimate=usage.is_estimate)),
    ]
    if usage.is_estimate:
        rows.append((tr("estimated"), tr("the provider did not report all tokens")))
    if usage.time_to_first_token_s is not None:
        rows.append((tr("first token after"), fmt.span(usage.time_to_first_token_s)))
    if usage.duration_s is not None:
        rows.append((tr("whole reply after"), fmt.span(usage.duration_s)))
    if usage.request_id:
        rows.append((tr("request"), usage.request_id))
    if usage.miss_reason:
        rows.append((tr("cache miss"), retold(usage.miss_reason)))
    return "\n".join(f"{name}: {value}" for name, value in rows)


# The mark where the model's view begins: how much stands above it, and what the model is told of that.

SHORTER = tr("The program shortened what the model reads")
"""Title where every message is in it."""


def view_mark(own: DiscussionView, ui: Ui, opened: OpenDiscussion, cut: ViewCut) -> None:
    """Draw a line above the first message that the model reads. Earlier messages stay visible above."""
    place = (opened.id, cut.id)
    is_open, has_words = place in own.open_views, bool(cut.summary.strip() or cut.journal.strip())
    with ui.surface("view", "inset", padding=(12, 6)), ui.group("parts", gap=6):
        with ui.row("line", gap=6):
            ui.icon("icon", "scissors", tone="accent")
            title = tr("The model reads from here on") if cut.left_messages else SHORTER
            ui.text("title", title, style="small_strong", width=0)
            label = tr("Hide") if is_open else tr("Show the text that the model reads instead")
            if has_words and ui.button("fold", label, kind="link", is_small=True):
                own.open_views ^= {place}
        ui.text("left", left_words(cut, " above"), tone="muted", style="small", wraps=True)
        if is_open:
            for key, title, text in (
                ("summary", "A summary", cut.summary),
                ("journal", tr("The model's journal"), cut.journal),
            ):
                if text.strip():
                    ui.text((key, "title"), title, tone="faint", style="small")
                    ui.markdown(key, text)


def left_words(cut: ViewCut, where: str = "") -> str:
    """Words of what left: `12 messages above, ≈3.4k tokens, left it; the log keeps them`. `where`: as ` above`."""
    left = fmt.count(cut.left_messages, tr("message"), tr("messages"))
    tokens = fmt.tokens_est(cut.left_tokens_est)
    said = (
        [
            tr(
                "The model no longer reads {messages}{where} ({tokens} tokens); the log keeps them",
                messages=left,
                where=where,
                tokens=tokens,
            )
        ]
        if cut.left_messages
        else []
    )
    said += (
        [
            tr(
                "the model no longer reads {calls}",
                calls=fmt.count(len(cut.calls), tr("tool call"), tr("tool calls")),
            )
        ]
        if cut.calls
        else []
    )
    said += (
        [
            tr(
                "{results} shortened to beginning and end",
                results=fmt.count(len(cut.shrunk), tr("long result"), tr("long results")),
            )
        ]
        if cut.shrunk
        else []
    )
    is_told = not cut.left_messages or cut.summary.strip() or cut.journal.strip()
    words = "; ".join(said) or tr("The model still reads every message")
    return as_sentences(
        words, "" if is_told else tr("The model reads no summary of the messages."), is_closed=True
    )


# The words of a message, and the menu at a right click on them.


def message_text(
    ui: Ui, message: Message, terms: tuple[str, ...] = (), found_at: int = -1, *, root: str = ""
) -> None:
    """Draw what a message says: a person's words as they wrote them, a reply as Markdown, its pictures below `root`."""
    if message.text:
        is_written = message.role is Role.USER
        ui.markdown("text", message.text, is_written=is_written, terms=terms, found_at=found_at, root=root)


def copied_text(message: Message) -> str:
    """Markdown of a message; of results of tools their text."""
    results = (part.text for part in message.parts if isinstance(part, ToolResultPart))
    return message.text or "\n\n".join(results)


def message_menu(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Menu of a message and of what is selected of it."""
    ui = desk.ui
    with ui.context_menu("context menu") as is_open:
        if not is_open:
            return
        _text_items(desk, opened.id, copied_text(message))
        ui.divider("message group")
        is_own = not message.is_of_tools
        if is_own and not message.is_of_program and ui.menu_item("edit", tr("Edit"), icon="pen"):
            desk.view.of(DiscussionView).editing[opened.id, message.id] = message.text
        if ui.menu_item("branch", tr("Branch here"), icon="code-branch"):
            desk.send(BranchDiscussion(opened.id, message.id))
        if message.role is Role.ASSISTANT:
            if ui.menu_item(
                "regenerate", tr("Regenerate"), icon="arrows-rotate", is_enabled=not desk.is_replying
            ):
                regenerate(desk, RegenerateReply(discussion_id=opened.id, message_id=message.id))
            regenerate_with(desk, opened, message)
        ui.divider("delete group")
        if is_own and ui.menu_item("delete", tr("Delete"), icon="trash-can", tone="error"):
            desk.send(DeleteMessage(opened.id, message.id))


def live_menu(desk: Desk, call: LiveCall) -> None:
    """Menu of the words of a reply that is on its way."""
    with desk.ui.context_menu("context menu") as is_open:
        if is_open:
            _text_items(desk, call.discussion_id, call.text)


def _text_items(desk: Desk, discussion_id: str, text: str) -> None:
    ui = desk.ui
    selected = ui.selected_text()
    if ui.menu_item("copy", tr("Copy"), icon="copy", shortcut="Ctrl+C", is_enabled=bool(selected)):
        ui.copy(selected)
    if ui.menu_item("copy all", tr("Copy message as Markdown"), icon="copy", is_enabled=bool(text)):
        ui.copy(text)
    label = tr("Quote selection") if selected else tr("Quote message")
    if ui.menu_item("quote", label, icon="quote-left", is_enabled=bool(selected or text)):
        quote(desk, discussion_id, selected or text)


def quote(desk: Desk, discussion_id: str, text: str) -> None:
    """Put a text into the composer as a quotation, behind what stands there."""
    composer = desk.view.of(DiscussionView).composer(discussion_id)
    quoted = "\n".join(f"> {line}".rstrip() for line in text.strip("\n").split("\n"))
    before = composer.text.rstrip()
    written = f"{before}\n\n{quoted}\n\n" if before else f"{quoted}\n\n"
    composer.put(written)
    desk.send(SetDraft(discussion_id, written))
    desk.view.focus, desk.view.focus_not = "composer", ""


# The rows of a conversation for its virtual list, and what is derived from them. Pure, remembered.

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
        """Markdown of a message, empty for other rows."""
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
