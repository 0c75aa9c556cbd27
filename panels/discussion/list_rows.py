"""The rows of the discussion list: by age or by project, branches under their parent, search hits. Pure, remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePath

import msgspec

from core.kernel.figures import MONTHS, day_start
from core.kernel.language import tr
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.state import AppState, TrashItem
from panels.base.view import Memo
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
