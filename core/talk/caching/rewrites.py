"""Warm discussions that pay for a change of knowledge or identity files: when to look, what is told, when it is over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, repeat
from operator import is_not

from msgspec.structs import replace

from core.kernel.figures import dollars
from core.kernel.language import capital, tr
from core.kernel.values.cache import Rewrite
from core.kernel.values.discussion import DiscussionMeta, OpenDiscussion
from core.kernel.values.messages import Role
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import dismiss, is_busy, notify
from core.talk.caching.accounts import is_warm
from core.talk.caching.caching_messages import CheckRewrites, DropWithdrawn, RewritesChecked, StopPings
from core.talk.context.context_spec import stack_spec

NOTICE = "rewrites"
MOST = 200
"""Discussions that are looked at, the newest caches: nobody keeps more warm."""
NAMED = 3
_CENT = 0.005


def rewrite_effects(before: AppState, after: AppState) -> tuple[CheckRewrites, ...]:
    """Look at layers 6 and 7 of warm discussions when these or what is cached have changed. O(1) while neither has."""
    if not after.config.settings_paths or not after.caching.caches:
        return ()
    changed = _changed(before, after)
    warm = [
        after.caching.caches[name]
        for name in changed
        if name in after.discussions.summaries
        and name in after.caching.caches
        and is_warm(after.caching.caches[name], after.now)
        and not is_busy(after, name)
    ]
    warm.sort(key=lambda cache: (cache.cached_at, cache.discussion_id), reverse=True)
    specs = tuple(stack_spec(after, cache.discussion_id) for cache in warm[:MOST])
    return (CheckRewrites(specs),) if specs else ()


def withdrawal_effects(before: AppState, after: AppState) -> tuple[DropWithdrawn, ...]:
    """Let go of what is stored, once something was taken out of knowledge or deleted, or may have been while nobody
    looked.
    """
    is_same = before.knowledge is after.knowledge and before.caching is after.caching
    if is_same and before.program is after.program and before.config is after.config:
        return ()
    key = _withdrawal_key(after)
    if not key or _withdrawal_key(before) == key:
        return ()
    known, deleted = after.knowledge, _deleted(after)
    if known.is_on and not known.withdrawals and not deleted:
        return ()
    stores = {ProviderKind.GEMINI, ProviderKind.EMBEDDED}
    kinds = {name: status.kind for name, status in after.config.providers.items()}
    rows = after.discussions.summaries.values()
    providers = {row.meta.id: row.meta.provider for row in rows if kinds.get(row.meta.provider) in stores}
    return (
        DropWithdrawn(withdrawals=known.withdrawals, is_on=known.is_on, providers=providers, deleted=deleted),
    )


def _withdrawal_key(state: AppState) -> tuple[object, ...]:
    """Key of all that decides what must go; empty while knowledge or the discussions are not read."""
    known = state.knowledge
    if state.program.is_loading or not known.watched or not state.config.settings_paths:
        return ()
    return (known.withdrawals, known.is_on, state.caching.adopted, _deleted(state))


def _deleted(state: AppState) -> frozenset[str]:
    """Discussions whose last request sent what a person deleted since: a digest, a document, or what one was emptied of."""
    return frozenset(name for name, one in state.caching.rewrites.items() if one.is_deletion)


def withdrawal_text(state: AppState, *, is_all: bool = False) -> str:
    """Cost of taking something out of knowledge, or all of it away, in a sentence; empty where it costs nothing."""
    found = _price_words(state, state.caching.switch_offs if is_all else state.caching.withdrawals)
    if found is None:
        return ""
    who, price = found
    return tr(
        "The removal counts at once: the next turn rewrites the cache of {who}, {price}.",
        who=who,
        price=price,
    )


def merge_price_text(state: AppState) -> str:
    """Sentence with the highest cost of new words in warm discussions; empty if they cost nothing.

    A digest that another wording is appended to costs less: what it comes to is told once it is written.
    """
    found = _price_words(state, state.caching.withdrawals)
    if found is None:
        return ""
    who, price = found
    return tr(
        "The digest changes: the next turn rewrites at most the cache of {who}, {price}.",
        who=who,
        price=price,
    )


def _price_words(state: AppState, prices: Mapping[str, Rewrite]) -> tuple[str, str] | None:
    """Number of warm discussions that pay, and the price, in words; None where it costs nothing."""
    warm = [one for one in prices.values() if (one.tokens or has_price(one)) and _is_due(state, one)]
    if not any(map(has_price, warm)):
        return None
    tokens, cost = sum(one.tokens for one in warm), cost_text(warm)
    who = tr("1 warm discussion") if len(warm) == 1 else tr("{warm} warm discussions", warm=len(warm))
    return who, tr("~{tokens:,} tokens, {cost}", tokens=tokens, cost=cost)


def has_price(rewrite: Rewrite) -> bool:
    """True if it may cost something: a model on this machine rewrites for nothing, which is no warning."""
    return rewrite.cost_usd is None or rewrite.cost_usd > 0 or rewrite.most_usd is not None


def _changed(before: AppState, after: AppState) -> set[str]:
    """Discussions of which something may be told that was not: what they depend on changed, or they were answered."""
    if _knowledge_key(before) != _knowledge_key(after):
        return set(after.caching.caches)
    answered = _answered(before, after)
    if (
        before.caching.caches is after.caching.caches
        and before.discussions.summaries is after.discussions.summaries
    ):
        return answered
    own = {name for name in after.caching.caches if _own_key(before, name) != _own_key(after, name)}
    return own | answered


def _answered(before: AppState, after: AppState) -> set[str]:
    """Discussions whose turn has ended: while one is at work nothing is told of it. O(1) while no turn begins or ends."""
    if before.turns.calls is after.turns.calls and before.agent.turns is after.agent.turns:
        return set()
    ended = before.turns.calls.keys() - after.turns.calls.keys()
    at_work = {name for name in before.agent.turns if is_busy(before, name)}
    return {name for name in ended | at_work if not is_busy(after, name)}


def checked(state: AppState, event: RewritesChecked) -> AppState:
    """Take in which discussions pay for changes, as they stand now."""
    asked = frozenset(event.discussion_ids)
    caching = replace(
        state.caching,
        withdrawals=_renewed(state.caching.withdrawals, asked, event.withdrawals),
        switch_offs=_renewed(state.caching.switch_offs, asked, event.switch_offs),
    )
    if caching != state.caching:
        state = replace(state, caching=caching)
    kept = {name: one for name, one in state.caching.rewrites.items() if name not in asked}
    return _told(state, {**kept, **{one.discussion_id: one for one in event.rewrites}})


def _renewed(
    known: Mapping[str, Rewrite], asked: Collection[str], found: Iterable[Rewrite]
) -> Mapping[str, Rewrite]:
    kept = {name: one for name, one in known.items() if name not in asked}
    return {**kept, **{one.discussion_id: one for one in found}}


def over(state: AppState) -> AppState:
    """Drop what has come true or no longer matters: the discussion was sent, is cold or is gone."""
    if not state.caching.rewrites:
        return state
    kept = {name: one for name, one in state.caching.rewrites.items() if _is_due(state, one)}
    return state if len(kept) == len(state.caching.rewrites) else _told(state, kept)


def _is_due(state: AppState, rewrite: Rewrite) -> bool:
    name, now = rewrite.discussion_id, state.now
    is_cold = rewrite.until is not None and now is not None and rewrite.until <= now
    cache = state.caching.caches.get(name)
    return (
        name in state.discussions.summaries
        and not is_busy(state, name)
        and cache is not None
        and is_warm(cache, now)
        and not is_cold
    )


def _told(state: AppState, rewrites: dict[str, Rewrite]) -> AppState:
    """Keep them and say so where it costs: once for what is new; a notice that was dismissed stays away while they grow
    fewer.
    """
    before = state.caching.rewrites
    if rewrites == before:
        return state
    state = replace(state, caching=replace(state.caching, rewrites=rewrites))
    priced = {name: one for name, one in rewrites.items() if has_price(one)}
    if not priced:
        return dismiss(state, NOTICE)
    told = {name: one.why for name, one in before.items() if has_price(one)}
    is_new = any(told.get(name) != one.why for name, one in priced.items())
    if not is_new and all(notice.id != NOTICE for notice in state.program.notices):
        return state
    text, detail = notice_text(state)
    is_whole = any(not one.is_appended for one in priced.values())
    return notify(state, NOTICE, Level.WARNING if is_whole else Level.INFO, text, detail)


def notice_text(state: AppState) -> tuple[str, str]:
    """Text of the notice on all that changes cost: names, tokens and cost, rewrites first; and why."""
    priced = filter(has_price, state.caching.rewrites.values())
    rows = sorted(priced, key=lambda one: (-one.tokens, one.discussion_id))
    whole = [one for one in rows if not one.is_appended]
    appended = [one for one in rows if one.is_appended]
    texts = [
        f"{what}: {_summed(state, some)}"
        for what, some in (
            (tr("Will be rewritten on the next turn"), whole),
            (tr("Goes with the next message"), appended),
        )
        if some
    ]
    reasons = list(dict.fromkeys(one.why for one in (*whole, *appended)))
    why = "; ".join(reasons) if len(reasons) <= NAMED else tr("knowledge changed")
    each = tr(" The Caching panel lists each discussion.") if len(rows) > 1 else ""
    return ". ".join(texts), f"{capital(why)}.{each}"


def _summed(state: AppState, rows: list[Rewrite]) -> str:
    names = [f"«{_name(state, one)}»" for one in rows]
    more = tr(" and {names} more", names=len(names) - NAMED) if len(names) > NAMED else ""
    tokens = sum(one.tokens for one in rows)
    return tr(
        "{names}{more}, ~{tokens:,} tokens, {rows}",
        names=", ".join(names[:NAMED]),
        more=more,
        tokens=tokens,
        rows=cost_text(rows),
    )


def _name(state: AppState, rewrite: Rewrite) -> str:
    summary = state.discussions.summaries.get(rewrite.discussion_id)
    return summary.meta.name if summary is not None else rewrite.discussion_id


def cost_text(rows: Sequence[Rewrite]) -> str:
    """Cost of rewrites together, in words: with the most that it may be where an entry was never read."""
    known = [one for one in rows if one.cost_usd is not None]
    if not known:
        return tr("cost unknown")
    total = sum(one.cost_usd or 0.0 for one in known)
    most = sum(one.cost_usd or 0.0 if one.most_usd is None else one.most_usd for one in known)
    shown = (
        tr("est. {total}", total=dollars(total))
        if total >= _CENT
        else tr("under 1 cent")
        if total
        else tr("free")
    )
    if most > total and most >= _CENT:
        shown += tr(", up to {most} if the provider kept less than asked", most=dollars(most))
    return shown if len(known) == len(rows) else tr("{shown} and more at an unknown price", shown=shown)


def _knowledge_key(state: AppState) -> tuple[object, ...]:
    """Key of all that layers 6 and 7 of every discussion depend on."""
    known = state.knowledge
    is_set_up = bool(state.config.settings_paths)
    return (
        is_set_up,
        known.digest,
        known.switch,
        known.notes,
        known.withdrawals,
        state.config.settings.knowledge,
        state.config.settings.retrieval,
        id(state.config.project.presets),
        id(state.config.project.context),
        id(state.config.project.identity),
    )


def _own_key(state: AppState, discussion_id: str) -> tuple[object, ...]:
    """Key of all in a discussion itself that decides whether it will be rewritten."""
    summary = state.discussions.summaries.get(discussion_id)
    return (state.caching.caches.get(discussion_id), summary.meta if summary is not None else None)


# Abandonment of a warm prefix: what a person took out, moved away or gave to another model is not kept warm
# any more.


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
