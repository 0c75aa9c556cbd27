"""The rows of the discussion list: sections, branches under their parent, search hits. Pure, remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time

import msgspec

from core.values.discussion import DiscussionSummary
from core.values.state import AppState
from panels.base.memo import Memo
from panels.discussion.view import DiscussionView

MAX_DEPTH = 6


class ListHeading(msgspec.Struct, frozen=True):
    """The title of a section, and how many discussions are in it."""

    title: str
    count: int


class DiscussionCard(msgspec.Struct, frozen=True):
    """A discussion. `depth` is how deep a branch it is; `line` a line of context for a search hit."""

    id: str
    depth: int = 0
    line: str = ""


Row = ListHeading | DiscussionCard


def rows(state: AppState, own: DiscussionView, memo: Memo) -> tuple[Row, ...]:
    """Rows of the list, top to bottom. The same tuple while nothing that it depends on changed."""
    if own.search_text.strip():
        parts = (state.discussions.summaries, state.discussions.search, own.search_text)
        return memo.get("discussion rows", parts, lambda: _found(state, own.search_text.strip()))
    today = state.now.astimezone().date() if state.now else date.min
    parts_all = (state.discussions.summaries, today, own.is_archive_open)
    return memo.get(
        "discussion rows",
        parts_all,
        lambda: _sections(state.discussions.summaries, today, with_archive=own.is_archive_open),
    )


def shown_ids(state: AppState, own: DiscussionView, memo: Memo) -> tuple[str, ...]:
    """The ids of the list's cards, top to bottom."""
    shown = rows(state, own, memo)
    return memo.get(
        "shown ids", (shown,), lambda: tuple(r.id for r in shown if isinstance(r, DiscussionCard))
    )


def _found(state: AppState, query: str) -> tuple[Row, ...]:
    """Search hits, best first; until they are there, the discussions whose name has the words."""
    if state.discussions.search.query.strip() == query:
        lines = state.discussions.search.lines
        return tuple(
            DiscussionCard(i, 0, lines.get(i, ""))
            for i in state.discussions.search.ids
            if i in state.discussions.summaries
        )
    words = query.casefold().split()
    named = [
        s for s in state.discussions.summaries.values() if all(w in s.meta.name.casefold() for w in words)
    ]
    return tuple(DiscussionCard(s.meta.id) for s in sorted(named, key=_newest_first))


def _newest_first(summary: DiscussionSummary) -> tuple[float, str]:
    return (-summary.updated_at.timestamp(), summary.meta.id)


def _sections(
    summaries: Mapping[str, DiscussionSummary], today: date, *, with_archive: bool
) -> tuple[Row, ...]:
    """All discussions by section, newest first. One pass and one sort: ten thousand of them within a frame."""
    roots, children = _families(summaries)
    midnight = datetime.combine(today, time.min).astimezone(UTC) if today > date.min else None
    sections: dict[str, list[Row]] = {"Pinned": [], "Today": [], "Earlier": [], "Archived": []}
    counts = dict.fromkeys(sections, 0)
    for root in roots:
        tree = _tree(root, children) if root.meta.id in children else [DiscussionCard(root.meta.id)]
        newest = root.updated_at if len(tree) == 1 else max(summaries[card.id].updated_at for card in tree)
        name = _section(root, newest, midnight)
        counts[name] += len(tree)
        if name != "Archived" or with_archive:
            sections[name].extend(tree)
    out: list[Row] = []
    for name, cards in sections.items():
        if counts[name]:
            out += [ListHeading(name, counts[name]), *cards]
    return tuple(out)


def _section(root: DiscussionSummary, newest: datetime, midnight: datetime | None) -> str:
    if root.meta.archived:
        return "Archived"
    if root.meta.pinned:
        return "Pinned"
    return "Today" if midnight is None or newest >= midnight else "Earlier"


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
    reached = {root.meta.id for root in roots} | {card.id for tree in trees for card in tree}
    cut: list[DiscussionSummary] = []
    for summary in summaries.values():
        if summary.meta.id not in reached:
            top = _in_ring(summary, summaries)
            cut.append(top)
            reached.update(card.id for card in _tree(top, children))
    return cut


def _in_ring(summary: DiscussionSummary, summaries: Mapping[str, DiscussionSummary]) -> DiscussionSummary:
    """Follow the parents until one comes again."""
    seen: set[str] = set()
    while summary.meta.id not in seen:
        seen.add(summary.meta.id)
        summary = summaries[summary.meta.parent_id]
    return summary


def _tree(root: DiscussionSummary, children: Mapping[str, list[DiscussionSummary]]) -> list[DiscussionCard]:
    out: list[DiscussionCard] = []
    seen: set[str] = set()
    stack = [(root, 0)]
    while stack:
        summary, depth = stack.pop()
        if summary.meta.id in seen:
            continue
        seen.add(summary.meta.id)
        out.append(DiscussionCard(summary.meta.id, min(depth, MAX_DEPTH)))
        stack += [(child, depth + 1) for child in reversed(children.get(summary.meta.id, ()))]
    return out
