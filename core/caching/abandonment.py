"""Abandonment of a warm prefix: what a person took out, moved away or gave to another model is not kept warm any more."""

from __future__ import annotations

from itertools import chain, compress, repeat
from operator import is_not

from core.caching.messages import StopPings
from core.values.discussion import DiscussionMeta, OpenDiscussion
from core.values.messages import Role
from core.values.state import AppState


def stop_effects(before: AppState, after: AppState) -> tuple[StopPings, ...]:
    """End the pings of discussions whose last request would not be sent like that again, whoever changed them, and of
    those whose task is done.

    O(1) while no discussion has changed.
    """
    told = before.agent.delegations.keys() - after.agent.delegations.keys()
    left = {*_left(before, after), *_rewritten(before, after), *told}
    return (StopPings(tuple(sorted(left))),) if left else ()


def _left(before: AppState, after: AppState) -> tuple[str, ...]:
    """Discussions that are gone, archived, or answered by another model from now on."""
    then, now = before.discussions.summaries, after.discussions.summaries
    if then is now:
        return ()
    # Rows stand in one order as long as none comes or goes: of thousands, the few others are found without looking up each.
    moved = compress(then, map(is_not, then.values(), chain(now.values(), repeat(None))))
    return tuple(
        name
        for name in moved
        if then[name] is not now.get(name)
        and (name not in now or _asks_anew(then[name].meta, now[name].meta))
    )


def _asks_anew(then: DiscussionMeta, now: DiscussionMeta) -> bool:
    is_other = (then.provider, then.model, then.effort) != (now.provider, now.model, now.effort)
    return is_other or (now.archived and not then.archived)


def _rewritten(before: AppState, after: AppState) -> tuple[str, ...]:
    """Discussions of which a message that was sent is edited, deleted, or another one, or left the model's view."""
    then, now = before.discussions.open, after.discussions.open
    if then is now:
        return ()
    return tuple(
        name
        for name, opened in then.items()
        if name in now
        and (
            now[name].cut != opened.cut
            or (now[name].entries is not opened.entries and not _begins_with(now[name], opened))
        )
    )


def _begins_with(now: OpenDiscussion, then: OpenDiscussion) -> bool:
    """True if what was said up to the person's last message stands: the reply to it was in no request yet."""
    sent, said = then.messages, now.messages
    end = next((at for at in range(len(sent), 0, -1) if sent[at - 1].role is Role.USER), 0)
    if sent[:end] == said[:end]:
        return True
    return len(said) >= end and all(
        old is new or old.parts == new.parts for old, new in zip(sent[:end], said, strict=False)
    )
