"""Sources of items: the conversation behind a source's name, while there is one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from core.base.ids import time_of_id
from core.knowledge.provenance import source_name
from core.values.discussion import DiscussionMeta, DiscussionSummary
from core.values.state import AppState, TrashItem
from panels.base.memo import Memo


class SourcePlace(Enum):
    """Place of a conversation."""

    LIST = "list"
    ARCHIVE = "archive"
    TRASH = "trash"
    GONE = "gone"


class ItemSource(msgspec.Struct, frozen=True):
    """A conversation that items came from. `id` is empty where it is gone."""

    place: SourcePlace
    name: str
    id: str = ""


def source_of(state: AppState, memo: Memo, name: str) -> ItemSource:
    """The conversation that provenance calls `name`. O(1) while nobody renames or deletes."""
    found = state.harvest.look.sources.get(name)
    trash = memo.get(
        "source trash",
        (state.discussions.trash,),
        lambda: {item.discussion_id: item for item in state.discussions.trash},
    )
    for discussion_id in (found, _by_source(state, memo).get(name)):
        if discussion_id is None:
            continue
        if (summary := state.discussions.summaries.get(discussion_id)) is not None:
            place = SourcePlace.ARCHIVE if summary.meta.archived else SourcePlace.LIST
            return ItemSource(place, summary.meta.name, discussion_id)
        if (item := trash.get(discussion_id)) is not None:
            return ItemSource(SourcePlace.TRASH, item.name or name, discussion_id)
    return ItemSource(SourcePlace.GONE, name)


def _by_source(state: AppState, memo: Memo) -> Mapping[str, str]:
    """Ids by the name that a harvest would give now; conversations in the list win over those in the trash."""
    metas = memo.get("source metas", (), dict[str, tuple[DiscussionMeta, str]])
    return memo.get(
        "source ids",
        (state.discussions.summaries, state.discussions.trash),
        lambda: {**_trash_names(state.discussions.trash), **_names(state.discussions.summaries, metas)},
    )


def _names(
    summaries: Mapping[str, DiscussionSummary], known: dict[str, tuple[DiscussionMeta, str]]
) -> dict[str, str]:
    """Ids by source; names that did not change since the last time are not made again."""
    for discussion_id, summary in summaries.items():
        kept = known.get(discussion_id)
        if kept is None or kept[0] is not summary.meta:
            name = source_name(summary.meta.created_at, summary.meta.name)
            known[discussion_id] = (summary.meta, name)
    return {known[discussion_id][1]: discussion_id for discussion_id in summaries}


def _trash_names(trash: tuple[TrashItem, ...]) -> dict[str, str]:
    made = ((item, time_of_id(item.discussion_id)) for item in trash)
    return {source_name(at, item.name): item.discussion_id for item, at in made if at is not None}
