"""List of discussions: its rows by age or project, search, the trash, and what can be done with each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePath

import msgspec

from core.app.forgetting.forgetting_messages import ForgetDiscussion
from core.kernel import figures as fmt
from core.kernel.errors import SHORT_ENDS
from core.kernel.figures import MONTHS, day_start
from core.kernel.frame import one_line
from core.kernel.language import capital, tr
from core.kernel.search_terms import plain_terms
from core.kernel.values.discussion import (
    FLAGS,
    DiscussionSummary,
    Draft,
)
from core.kernel.values.state import AppState, TrashItem
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    DeleteDiscussion,
    SearchDiscussions,
    SelectDiscussion,
    UndoDelete,
)
from panels.base import view as selection
from panels.base.desk import Desk, ListRows, action_tip, run_action
from panels.base.gauge import LEVEL_ICONS
from panels.base.ui import Surface, Tone, Ui
from panels.base.view import Dialog, Memo, Same
from panels.discussion.approvals import asking, has_left_calls
from panels.discussion.find_bar import open_hit
from panels.discussion.message_rows import unread
from panels.discussion.queue_strip import held_words
from panels.discussion.view import ALL_PROJECTS, DiscussionView, Fold

MAX_DEPTH = 6
NO_PROJECT = tr("Without a project")


class ListHeading(msgspec.Struct, frozen=True):
    """The title of a section, and how many are in it. `fold`: the part that a click unfolds, empty for none."""

    title: str
    count: int
    fold: Fold | None = None


class ListedDiscussion(msgspec.Struct, frozen=True):
    """A discussion. `depth` is how deep a branch it is; `line` a line of context for a search hit."""

    id: str
    depth: int = 0
    line: str = ""


class ListedTrash(msgspec.Struct, frozen=True):
    """A discussion that waits in the trash."""

    item: TrashItem


Row = ListHeading | ListedDiscussion | ListedTrash
Place = tuple[int, int, str]
"""Place of a section: its rank, its order within the rank, its title."""
PINNED: Place = (0, 0, tr("Pinned"))


def rows(state: AppState, own: DiscussionView, memo: Memo) -> tuple[Row, ...]:
    """Rows of the list, top to bottom. The same tuple while nothing that it depends on changed."""
    shown = _of_project(state, own, memo)
    if own.search_text.strip():
        parts = (shown, state.discussions.search, own.search_text)
        return memo.get("discussion rows", parts, lambda: _found(state, shown, own.search_text.strip()))
    today = state.now.astimezone().date() if state.now else date.min
    trash = state.discussions.trash if own.project == ALL_PROJECTS else ()
    parts_all = (shown, trash, today, own.grouping, own.is_archive_open, own.is_trash_open)
    return memo.get("discussion rows", parts_all, lambda: _all(shown, trash, today, own))


def shown_ids(state: AppState, own: DiscussionView, memo: Memo) -> tuple[str, ...]:
    """The ids of the discussions in the list, top to bottom."""
    shown = rows(state, own, memo)
    return memo.get(
        "shown ids", (shown,), lambda: tuple(r.id for r in shown if isinstance(r, ListedDiscussion))
    )


def projects(state: AppState, memo: Memo) -> dict[str, int]:
    """Folders that discussions were started in with how many were, the newest first; empty for none."""
    summaries = state.discussions.summaries
    return memo.get("list projects", (summaries,), lambda: _projects(summaries))


def project_names(folders: Sequence[str]) -> dict[str, str]:
    """Names of folders: the last part of each, with what stands before it where two have the same."""
    last = [PurePath(folder).name or folder for folder in folders]
    return {
        folder: NO_PROJECT
        if not folder
        else name
        if last.count(name) == 1
        else f"{name} ({PurePath(folder).parent})"
        for folder, name in zip(folders, last, strict=True)
    }


def _projects(summaries: Mapping[str, DiscussionSummary]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for summary in sorted(summaries.values(), key=lambda one: one.updated_at, reverse=True):
        folder = summary.meta.folder
        counts[folder] = counts.get(folder, 0) + 1
    return counts


def _of_project(state: AppState, own: DiscussionView, memo: Memo) -> Mapping[str, DiscussionSummary]:
    summaries = state.discussions.summaries
    if own.project == ALL_PROJECTS:
        return summaries
    return memo.get(
        "list of project",
        (summaries, own.project),
        lambda: {key: one for key, one in summaries.items() if one.meta.folder == own.project},
    )


def _found(state: AppState, shown: Mapping[str, DiscussionSummary], query: str) -> tuple[Row, ...]:
    """Search hits, best first; until they are there, the discussions whose name has the words."""
    if state.discussions.search.query.strip() == query:
        lines = state.discussions.search.lines
        return tuple(
            ListedDiscussion(id=i, depth=0, line=lines.get(i, ""))
            for i in state.discussions.search.ids
            if i in shown
        )
    words = query.casefold().split()
    named = [one for one in shown.values() if all(word in one.meta.name.casefold() for word in words)]
    return tuple(ListedDiscussion(id=one.meta.id) for one in sorted(named, key=_newest_first))


def _newest_first(summary: DiscussionSummary) -> tuple[float, str]:
    return (-summary.updated_at.timestamp(), summary.meta.id)


def _all(
    summaries: Mapping[str, DiscussionSummary], trash: Sequence[TrashItem], today: date, own: DiscussionView
) -> tuple[Row, ...]:
    out = [*_sections(summaries, today, own.grouping, with_archive=own.is_archive_open)]
    if trash:
        out.append(ListHeading(title=tr("Trash"), count=len(trash), fold="trash"))
        if own.is_trash_open:
            newest = sorted(trash, key=lambda item: (item.deleted_at, item.path), reverse=True)
            out += map(ListedTrash, newest)
    return tuple(out)


def _sections(
    summaries: Mapping[str, DiscussionSummary], today: date, grouping: str, *, with_archive: bool
) -> list[Row]:
    """All discussions by section, newest first. One pass and one sort: ten thousand of them within a frame."""
    roots, children = _families(summaries)
    calendar = _Calendar(today)
    names = project_names(tuple(_projects(summaries))) if grouping == "project" else {}
    order = {folder: place for place, folder in enumerate(names)}
    sections: dict[Place, list[Row]] = {}
    archived: list[Row] = []
    for root in roots:
        meta = root.meta
        tree = _tree(root, children) if meta.id in children else [ListedDiscussion(id=meta.id)]
        if meta.archived:
            archived += tree
            continue
        if meta.pinned:
            place = PINNED
        elif names:
            place = (1, order[meta.folder], names[meta.folder])
        else:
            newest = root.updated_at if len(tree) == 1 else max(summaries[one.id].updated_at for one in tree)
            place = calendar.place(newest)
        sections.setdefault(place, []).extend(tree)
    out: list[Row] = []
    for place in sorted(sections):
        out += [ListHeading(title=place[2], count=len(sections[place])), *sections[place]]
    if archived:
        out.append(ListHeading(title=tr("Archived"), count=len(archived), fold="archive"))
        out += archived if with_archive else ()
    return out


class _Calendar:
    """Sections by age: days of the person, then months. Remembers the last month, so that few are worked out."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._recent = [
            (day_start(today - timedelta(days=days)), (1, days, title))
            for days, title in (
                (0, tr("Today")),
                (1, tr("Yesterday")),
                (7, tr("Last 7 days")),
                (30, tr("Last 30 days")),
            )
            if today > date.min
        ]
        self._month = (datetime.max.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), PINNED)

    def place(self, newest: datetime) -> Place:
        """The section of a discussion whose newest message is so old."""
        if not self._recent:
            return 1, 0, tr("Today")
        for start, place in self._recent:
            if newest >= start:
                return place
        first, end, place = self._month
        if not first <= newest < end:
            self._month = self._month_of(newest)
            place = self._month[2]
        return place

    def _month_of(self, newest: datetime) -> tuple[datetime, datetime, Place]:
        first = newest.astimezone().date().replace(day=1)
        following = (first + timedelta(days=31)).replace(day=1)
        name = MONTHS[first.month - 1][0]
        title = name if first.year == self._today.year else f"{name} {first.year}"
        return day_start(first), day_start(following), (2, -(first.year * 12 + first.month), title)


Families = tuple[list[DiscussionSummary], dict[str, list[DiscussionSummary]]]


def _families(summaries: Mapping[str, DiscussionSummary]) -> Families:
    """Discussions that stand by themselves, and the branches of each parent; both newest first."""
    roots: list[DiscussionSummary] = []
    children: dict[str, list[DiscussionSummary]] = {}
    newest_first = sorted(summaries.values(), key=lambda s: s.updated_at, reverse=True)
    for summary in newest_first:
        if summary.meta.parent_id and _is_branch(summary, summaries):
            children.setdefault(summary.meta.parent_id, []).append(summary)
        else:
            roots.append(summary)
    roots += _cut_rings(roots, children, summaries) if children else []
    return roots, children


def _is_branch(summary: DiscussionSummary, summaries: Mapping[str, DiscussionSummary]) -> bool:
    """True if it stands under its parent: pinned and archived branches stand by themselves."""
    meta = summary.meta
    parent = summaries.get(meta.parent_id)
    if parent is None or meta.parent_id == meta.id or meta.pinned:
        return False
    return meta.archived == parent.meta.archived


def _cut_rings(
    roots: Sequence[DiscussionSummary],
    children: Mapping[str, list[DiscussionSummary]],
    summaries: Mapping[str, DiscussionSummary],
) -> list[DiscussionSummary]:
    """A discussion of each ring of parents, which only broken files make: nothing may be hidden by one."""
    trees = [_tree(root, children) for root in roots if root.meta.id in children]
    alone = sum(root.meta.id not in children for root in roots)
    if alone + sum(map(len, trees)) == len(summaries):
        return []
    reached = {root.meta.id for root in roots} | {one.id for tree in trees for one in tree}
    cut: list[DiscussionSummary] = []
    for summary in summaries.values():
        if summary.meta.id not in reached:
            top = _in_ring(summary, summaries)
            cut.append(top)
            reached.update(one.id for one in _tree(top, children))
    return cut


def _in_ring(summary: DiscussionSummary, summaries: Mapping[str, DiscussionSummary]) -> DiscussionSummary:
    """Follow the parents until one comes again."""
    seen: set[str] = set()
    while summary.meta.id not in seen:
        seen.add(summary.meta.id)
        summary = summaries[summary.meta.parent_id]
    return summary


def _tree(root: DiscussionSummary, children: Mapping[str, list[DiscussionSummary]]) -> list[ListedDiscussion]:
    out: list[ListedDiscussion] = []
    seen: set[str] = set()
    stack = [(root, 0)]
    while stack:
        summary, depth = stack.pop()
        if summary.meta.id in seen:
            continue
        seen.add(summary.meta.id)
        out.append(ListedDiscussion(id=summary.meta.id, depth=min(depth, MAX_DEPTH)))
        stack += [(child, depth + 1) for child in reversed(children.get(summary.meta.id, ()))]
    return out


# The list of discussions: search, projects, sections, branches as a tree, the trash, and what can be done
# with each.

MINUTE = timedelta(minutes=1)
INDENT_PX = 14
NAME_PX = 25
"""Start of a row's name, behind its icon: what search found stands under the name."""
ROW_PX = 30.0
LINE_PX = 18
HEADING_PX = 30
GAP_PX = 2
WIDE_FROM_PX = 400.0
"""Width of the list from which model and cost stand in the row; below they are said on hover."""
MODEL_PX, COST_PX = 128.0, 56.0


def discussions_panel(desk: Desk) -> None:
    """Draw the list pane. O(visible) for any number of discussions. Sends what its rows and search ask for."""
    own = desk.view.of(DiscussionView)
    with desk.ui.surface("discussions", "clear", height=0, padding=(8, 12)):
        _search_row(desk, own)
        if own.project != ALL_PROJECTS:
            _filter_row(desk, own)
        shown = rows(desk.state, own, desk.view.memo)
        if own.opens_first:
            _open_first(desk, own, shown)
        if own.search_text.strip() and (instead := desk.state.discussions.search.instead) and shown:
            words = tr(
                "Nothing matches “{search_text}”. The list shows matches for “{instead}”.",
                search_text=one_line(own.search_text, 40),
                instead=one_line(instead, 40),
            )
            desk.ui.text("instead", words, tone="muted", style="small", wraps=True)
        if own.search_text.strip() and (most := desk.state.discussions.search.of_newest) and shown:
            words = tr("{most} messages or more match. The list shows the newest.", most=f"{most:,}")
            desk.ui.text("of-newest", words, tone="muted", style="small", wraps=True)
        if shown:
            is_wide = desk.ui.width() >= WIDE_FROM_PX
            today = None if desk.state.now is None else desk.state.now.astimezone().date()
            desk.ui.virtual_list(
                "rows", DiscussionRows(desk=desk, own=own, rows=shown, is_wide=is_wide, today=today)
            )
        else:
            _empty(desk, own)


def _open_first(desk: Desk, own: DiscussionView, shown: tuple[Row, ...]) -> None:
    """Open the first hit, once the search has answered."""
    search = desk.state.discussions.search
    if search.query.strip() != own.search_text.strip() or not search.is_complete:
        return
    own.opens_first = False
    first = next((row.id for row in shown if isinstance(row, ListedDiscussion)), "")
    if first:
        _open(desk, own, first)


def _open(desk: Desk, own: DiscussionView, discussion_id: str) -> None:
    """Show a discussion, where a search found something at that message."""
    desk.view.page, desk.view.focus, desk.view.focus_not = "chat", "composer", ""
    open_hit(desk.state, own, discussion_id)
    if discussion_id != desk.state.discussions.selected_id:
        desk.send(SelectDiscussion(discussion_id))


def _search_row(desk: Desk, own: DiscussionView) -> None:
    ui, view = desk.ui, desk.view
    with ui.row("search row", gap=4):
        typed = ui.text_input(
            "search", own.search_text, hint=tr("Search discussions"), icon="magnifying-glass", width=0,
            is_focused=view.focus == "search",
        )  # fmt: skip
        if view.focus == "search":
            view.focus = ""
        if typed is not None:
            own.search_text, own.opens_first = typed, False
            desk.send(SearchDiscussions(typed.strip()))
        had_keyboard, own.is_searching = own.is_searching, ui.is_focused("search")
        if had_keyboard and own.search_text.strip() and ui.shortcut("Enter", while_typing=True):
            own.opens_first = True
            ui.focus("search")  # until there is something to open: the keyboard would go home to the composer
        with ui.menu("projects", "", icon="filter", tip=tr("Projects")) as is_open:
            if is_open:
                _project_menu(desk, own)
        if ui.button("new", "", icon="plus", kind="primary", tip=action_tip(desk, "new")):
            run_action("new", desk)


def _project_menu(desk: Desk, own: DiscussionView) -> None:
    ui, found = desk.ui, projects(desk.state, desk.view.memo)
    names = project_names(tuple(found))
    if ui.menu_item("all", tr("All projects"), is_checked=own.project == ALL_PROJECTS):
        own.project = ALL_PROJECTS
    for folder, count in found.items():
        is_shown = own.project == folder
        if ui.menu_item(("project", folder), names[folder], shortcut=f"{count:,}", is_checked=is_shown):
            own.project = folder
    ui.divider("grouping")
    if ui.menu_item("by project", tr("Group by project"), is_checked=own.grouping == "project"):
        own.grouping = "date" if own.grouping == "project" else "project"


def _filter_row(desk: Desk, own: DiscussionView) -> None:
    """Say which project alone is listed, with the way back."""
    ui, folders = desk.ui, tuple(projects(desk.state, desk.view.memo))
    names = project_names(folders if own.project in folders else (*folders, own.project))
    with ui.row("filter row", gap=6):
        ui.icon("icon", "folder", tone="accent")
        ui.text("project", names[own.project], style="small", width=0, tip=own.project)
        if ui.button("all", "", icon="xmark", kind="ghost", is_small=True, tip=tr("Show all projects")):
            own.project = ALL_PROJECTS


def _empty(desk: Desk, own: DiscussionView) -> None:
    state, query = desk.state, own.search_text.strip()
    if query:
        text = (
            tr("Nothing found for “{query}”", query=one_line(query, 60))
            if state.discussions.search.is_complete
            else tr("Searching…")
        )
    elif state.program.is_loading:
        text = tr("Reading discussions…")
    else:
        text = (
            tr("No discussions yet")
            if own.project == ALL_PROJECTS
            else tr("This project has no discussions yet")
        )
    desk.ui.text("empty", text, tone="muted", style="small", wraps=True)


class DiscussionRows(ListRows[Row]):
    """The rows of the list, for a virtual list."""

    own: DiscussionView
    is_wide: bool = False
    today: date | None = None

    @property
    def revision(self) -> Hashable:
        """Differs when the rows do, or when another one is being renamed: only then are they laid out again."""
        return Same(self.rows), self.own.renaming_id

    def key(self, index: int) -> Hashable:
        """A discussion's id with what makes its row higher."""
        match self.rows[index]:
            case ListHeading(title=title):
                return "heading", title
            case ListedDiscussion(id=discussion_id, line=line):
                return discussion_id, bool(line), discussion_id == self.own.renaming_id
            case ListedTrash(item=item):
                return "trash", item.path, item.discussion_id

    def estimate_px(self, index: int, width: float) -> float:
        """A row's height."""
        match self.rows[index]:
            case ListHeading():
                return HEADING_PX
            case ListedDiscussion(line=line):
                return ROW_PX + GAP_PX + (LINE_PX if line else 0)
            case ListedTrash():
                return ROW_PX + GAP_PX

    def drawn_from(self, index: int) -> Hashable | None:
        """All that a discussion's row shows; the age in minutes, since that is what is read of it."""
        listed, state, own = self.rows[index], self.desk.state, self.own
        if not isinstance(listed, ListedDiscussion) or listed.id == own.renaming_id:
            return None
        summary = state.discussions.summaries.get(listed.id)
        if summary is None or state.now is None:
            return None
        own_state = (
            summary, state.discussions.summaries.get(summary.meta.parent_id), state.config, state.program.notices,
            state.discussions.open.get(listed.id), state.agent.turns.get(listed.id), own.read.get(listed.id),
        )  # fmt: skip
        return (
            Same(*own_state),
            (listed.id, listed.depth, listed.line, self.is_wide, own.search_text, own.menu_of == listed.id),
            (listed.id == state.discussions.selected_id, self.desk.view.page == "chat"),
            (listed.id in state.turns.calls, listed.id in state.discussions.drafted),
            ((state.now - summary.updated_at) // MINUTE, self.today),
        )

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a heading, a discussion or what is in the trash."""
        match self.rows[index]:
            case ListHeading() as heading:
                ui.gap(8 if index else 0)
                _heading(self.desk, self.own, ui, heading)
                ui.gap(4)
            case ListedDiscussion() as listed:
                summary = self.desk.state.discussions.summaries.get(listed.id)
                if summary is not None:
                    _row(self, ui, listed, summary)
                ui.gap(GAP_PX)
            case ListedTrash() as listed:
                _trash_row(self.desk, ui, listed)
                ui.gap(GAP_PX)


def _heading(desk: Desk, own: DiscussionView, ui: Ui, heading: ListHeading) -> None:
    fold = heading.fold
    if fold is None:
        with ui.row("title row", gap=6):
            ui.gap(2)
            ui.text("title", heading.title, tone="faint", style="small_strong", width=0)
            ui.text("count", f"{heading.count:,}", tone="faint", style="small")
            ui.gap(2)
        return
    is_open = own.is_archive_open if fold == "archive" else own.is_trash_open
    days = fmt.count(desk.state.config.settings.trash_days, tr("day"), tr("days"))
    tip = (
        tr("Deleted discussions stay here for {days}", days=days)
        if fold == "trash"
        else tr("Archived discussions; the search still finds them")
    )
    icon = "chevron-down" if is_open else "chevron-right"
    label = f"{heading.title} · {heading.count:,}"
    if ui.button(fold, label, icon=icon, kind="ghost", is_small=True, tip=tip):
        if fold == "archive":
            own.is_archive_open = not is_open
        else:
            own.is_trash_open = not is_open


def _row(shown: DiscussionRows, ui: Ui, listed: ListedDiscussion, summary: DiscussionSummary) -> None:
    state, own = shown.desk.state, shown.own
    is_selected = listed.id == state.discussions.selected_id
    is_renamed = own.renaming_id == listed.id
    kind: Surface = "row_selected" if is_selected else "clear"
    height = None if is_renamed or listed.line else ROW_PX
    tip = "" if is_renamed else row_tip(state, summary)
    with ui.clickable("row", kind, height=height, tip=tip, padding=(8, 3)) as clicks:
        with ui.row("line", gap=8, height=None if is_renamed else ROW_PX - 6):
            if listed.depth:
                ui.gap(INDENT_PX * listed.depth)
            icon, tone, meaning = _sign(shown, summary) or status_icon(state, summary)
            ui.icon("status", icon, tone=tone, tip=meaning)
            _name(shown, ui, summary, is_selected=is_selected)
            if shown.is_wide:
                _figures(state, ui, summary)
            _right(shown, ui, summary, has_menu=clicks.is_hovered or is_selected)
        if listed.line:
            with ui.row("hit line", gap=0):
                ui.gap(NAME_PX + INDENT_PX * listed.depth)
                ui.text(
                    "hit",
                    listed.line,
                    tone="muted",
                    style="small",
                    width=0,
                    terms=plain_terms(state.discussions.search.instead or own.search_text),
                )
        with ui.context_menu("context menu") as is_open:
            if is_open:
                _row_menu(shown, ui, summary)
    if clicks.clicked and not is_renamed:
        _open(shown.desk, own, listed.id)


def _right(shown: DiscussionRows, ui: Ui, summary: DiscussionSummary, *, has_menu: bool) -> None:
    """The age, or in its place the menu while the mouse is over the row."""
    own, meta = shown.own, summary.meta
    if not has_menu and own.menu_of != meta.id:
        age = fmt.age(summary.updated_at, shown.desk.state.now, "terminal")
        ui.text("age", age, tone="faint", style="small")
        return
    with ui.menu("menu", "", icon="ellipsis", tip=tr("More"), is_small=True) as is_open:
        if is_open:
            _row_menu(shown, ui, summary)
    if is_open:
        own.menu_of = meta.id
    elif own.menu_of == meta.id:
        own.menu_of = ""


def _name(shown: DiscussionRows, ui: Ui, summary: DiscussionSummary, *, is_selected: bool) -> None:
    own, meta = shown.own, summary.meta
    if own.renaming_id != meta.id:
        ui.text("name", meta.name, style="strong" if is_selected else "body", width=0)
        return
    name = ui.text_input("rename", meta.name, width=0, is_focused=True, submits=True, hint=tr("Name"))
    if name is None:
        return
    own.renaming_id = ""
    if name.strip() and name.strip() != meta.name:
        shown.desk.send(ChangeDiscussion(discussion_id=meta.id, changes={"name": name.strip()}))


def _figures(state: AppState, ui: Ui, summary: DiscussionSummary) -> None:
    model = selection.model_label(state, summary.meta.provider, summary.meta.model)
    ui.text("model", model, tone="muted", style="small", width=MODEL_PX)
    ui.text("cost", _cost(summary), tone="muted", style="small", width=COST_PX)


def _cost(summary: DiscussionSummary) -> str:
    used = summary.usage
    return "" if used.cost_usd is None else fmt.money(used.cost_usd, is_estimate=used.is_estimate)


def row_tip(state: AppState, summary: DiscussionSummary) -> str:
    """Tip of a row: the whole name, turns and model, what it cost, its project, its origin, when it was used last."""
    meta, used = summary.meta, summary.usage
    model = selection.model_label(state, meta.provider, meta.model)
    lines = [
        meta.name,
        f"{fmt.count(summary.turns, tr('turn'), tr('turns'))} · {model}" if summary.turns else model,
    ]
    if used != Usage():
        cost = fmt.money(used.cost_usd, is_estimate=used.is_estimate)
        tokens = fmt.tokens(used.input_tokens)
        lines.append(
            cost
            if used.input_tokens is None
            else tr("{tokens} tokens sent, {cost}", tokens=tokens, cost=cost)
        )
    lines += [line for line in (meta.folder, summary.origin) if line]
    lines.append(tr("Last used {updated_at}", updated_at=fmt.moment(summary.updated_at, state.now)))
    return "\n".join(lines)


def _trash_row(desk: Desk, ui: Ui, listed: ListedTrash) -> None:
    item = listed.item
    name = item.name or item.discussion_id
    with ui.surface("trash row", "clear", height=ROW_PX, padding=(8, 3)), ui.row("line", height=ROW_PX - 6):
        ui.icon("icon", "trash-can", tone="faint")
        when = fmt.moment(item.deleted_at, desk.state.now)
        ui.text("name", name, tone="muted", width=0, tip=f"{name}\n{capital(item.why)} {when}\n{item.path}")
        if ui.button(
            "restore", tr("Restore"), kind="ghost", is_small=True, tip=tr("Restore {name}", name=name)
        ):
            desk.send(UndoDelete(item.discussion_id))
        if ui.button(
            "forget", "", icon="eraser", kind="ghost", is_small=True, tip=tr("Forget {name}…", name=name)
        ):
            desk.view.dialog = Dialog(
                kind="forget", command=ForgetDiscussion(discussion_id=item.discussion_id)
            )


def _sign(shown: DiscussionRows, summary: DiscussionSummary) -> tuple[str, Tone, str] | None:
    """The icon of a row whose discussion has something to say that was not read, None where it has not."""
    state, view, discussion_id = shown.desk.state, shown.desk.view, summary.meta.id
    if view.page == "chat" and discussion_id == state.discussions.selected_id:
        return None
    waiting = unread(state, shown.own, view.memo, discussion_id)
    if not waiting:
        return None
    icon, tone = LEVEL_ICONS[waiting[0].level]
    return icon, tone, "\n".join(tr("Unread: {text}", text=notice.text) for notice in waiting)


def status_icon(state: AppState, summary: DiscussionSummary) -> tuple[str, Tone, str]:
    """The icon of a row, its tone, and what it means in words."""
    meta = summary.meta
    turn = selection.turn_of(state, meta.id)
    if turn is not None and asking(turn.calls):
        return "shield-halved", "warn", tr("A tool call waits for your approval")
    if meta.id in state.turns.calls or turn is not None:
        return "comments", "warn", tr("A reply is in progress")
    if summary.problem:
        return "triangle-exclamation", "warn", summary.problem
    opened = state.discussions.open.get(meta.id)
    if opened is None and has_left_calls(summary):
        calls = tr(
            "{left_calls} without an answer",
            left_calls=fmt.count(summary.left_calls, tr("tool call"), tr("tool calls")),
        )
        words = tr("{calls}: open the discussion to answer, unless another program asks you", calls=calls)
        return "shield-halved", "warn", words
    if opened is not None and opened.held_calls:
        return "terminal", "warn", held_words(opened)
    if opened is not None and opened.failure is not None:
        if opened.failure.kind in SHORT_ENDS:
            return "circle-exclamation", "warn", opened.failure.what
        return "circle-exclamation", "error", tr("The last message failed: {what}", what=opened.failure.what)
    if summary.is_unanswered:
        return (
            "circle-exclamation",
            "warn",
            tr("The last message has no reply: you can send the message again"),
        )
    if summary.is_partial:
        return (
            "circle-exclamation",
            "warn",
            tr("The last reply is incomplete: open the discussion and press Continue"),
        )
    is_drafted = opened.draft != Draft() if opened is not None else meta.id in state.discussions.drafted
    if is_drafted:
        return "pen", "muted", tr("You have an unsent draft")
    tone: Tone = "accent" if meta.id == state.discussions.selected_id else "muted"
    if meta.parent_id:
        parent = state.discussions.summaries.get(meta.parent_id)
        if meta.delegated_by:
            return "sitemap", tone, tr("Task of {name}", name=parent.meta.name) if parent else tr("Turn")
        return "code-branch", tone, tr("Branch of {name}", name=parent.meta.name) if parent else tr("Branch")
    if summary.origin:
        return "file-import", tone, summary.origin
    return "comments", tone, ""


def _row_menu(shown: DiscussionRows, ui: Ui, summary: DiscussionSummary) -> None:
    desk, meta = shown.desk, summary.meta
    if ui.menu_item("rename", tr("Rename"), icon="pen", shortcut="F2"):
        shown.own.renaming_id = meta.id
    for field, flag in FLAGS.items():
        is_set = bool(getattr(meta, field))
        if ui.menu_item(flag.verb, capital(flag.undo if is_set else flag.verb), icon=flag.icon):
            desk.send(ChangeDiscussion(discussion_id=meta.id, changes={field: not is_set}))
    ui.divider("export group")
    for form, label in (
        ("markdown", tr("Export as Markdown…")),
        ("json", tr("Export as JSON…")),
        ("page", tr("Export as a web page…")),
    ):
        if ui.menu_item(form, label, icon="file-export"):
            desk.view.dialog = Dialog(kind=f"export_{form}", subject=meta.id)
    ui.divider("delete group")
    if ui.menu_item("delete", tr("Delete"), icon="trash-can", tone="error"):
        desk.send(DeleteDiscussion(meta.id))
    if ui.menu_item("forget", tr("Forget…"), icon="eraser", tone="error"):
        desk.view.dialog = Dialog(kind="forget", command=ForgetDiscussion(discussion_id=meta.id))
