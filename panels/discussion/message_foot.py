"""Foot of a message: versions of a reply to page through, and the branches that begin there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.discussion.messages import ChooseVersion, SelectDiscussion
from core.values.discussion import DiscussionSummary, OpenDiscussion, ReplyVersions
from core.values.messages import Message
from core.values.state import AppState
from panels.base.action import action_tip
from panels.base.desk import Desk
from panels.base.memo import Memo

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
    """Draw which version of a reply is seen, with buttons to the others. Nothing where there is but one."""
    versions = opened.versions_of(message)
    if versions is None or message.id != versions.chosen_id:
        return
    with desk.ui.row("versions", gap=4):
        pager(desk, opened, versions)


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
            ui.text(name, shown, tone="muted", style="small", tip="Versions of this reply; this one is sent")
            continue
        to = versions.neighbour(step, opened.asked_version)
        if ui.button(name, "", icon=icon, kind="ghost", is_small=True, is_enabled=bool(to), tip=tip) and to:
            desk.send(ChooseVersion(opened.id, versions.chosen_id, step))


def branch_foot(desk: Desk, opened: OpenDiscussion, point_id: str) -> None:
    """Draw that this discussion was branched behind a message, and which others were.

    Args:
        point_id: of the message, `HEAD` for the place before the first one.
    """
    meta = desk.summary.meta if desk.summary is not None else None
    ui, rows = desk.ui, desk.state.discussions.summaries
    if meta is not None and meta.parent_id and meta.branch_message_id == point_id:
        icon, words = ("sitemap", "Task of") if meta.delegated_by else ("code-branch", "Branched here from")
        with ui.row(("branched", point_id), gap=6):
            ui.icon("icon", icon, tone="accent")
            ui.text("text", words, tone="muted", style="small")
            parent = rows.get(meta.parent_id)
            if parent is None:
                ui.text("gone", "a discussion that is not in the list", tone="faint", style="small")
            elif ui.button("parent", parent.meta.name, kind="link", is_small=True, tip="Open it"):
                desk.send(SelectDiscussion(meta.parent_id))
    made = branches_of(desk.state, desk.view.memo, opened.id).get(point_id, ())
    if not made:
        return
    with ui.row(("branches", point_id), gap=6):
        ui.icon("icon", "code-branch", tone="muted")
        ui.text(
            "text",
            "Branch from here" if len(made) == 1 else "Branches from here",
            tone="muted",
            style="small",
        )
        for row in made[-BRANCHES_SHOWN:]:
            if ui.button(("to", row.meta.id), row.meta.name, kind="link", is_small=True, tip="Open it"):
                desk.send(SelectDiscussion(row.meta.id))
        if len(made) > BRANCHES_SHOWN:
            ui.text("more", f"and {len(made) - BRANCHES_SHOWN} older", tone="faint", style="small")


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
    places = {point: point for point in points}
    for known in versions if points else ():
        for run in known.aside.values():
            places.update({entry.id: known.chosen_id for entry in run if entry.id in points})
    found: dict[str, tuple[str, ...]] = {}
    for point, place in places.items():
        found[place] = (*found.get(place, ()), point)
    return found
