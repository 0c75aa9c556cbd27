"""Losses of a warm prefix by an action, in tokens and money: one rule from a command to its price. Pure.

What rewrites a warm prefix at once, and what stands against it here:

- what a person takes out of knowledge (an item, the digest, its switch, the undo of a harvest): the discussions that hold
  it, as `core.talk.caching.rewrites` prices them; an item has a dialog of its own, which says the same sentence;
- another model, persona, system prompt, and another preset where changes are not appended: what stands behind it;
- effort, and tools that are given or taken, where the model does not take them as additions in the conversation, or has them
  described still: all of it.
  Tools of servers stay as they were sent while that is warm, but for such additions, until a person wants them at once;
- a message that is edited, deleted or put back: what stands behind it;
- caching that is invalidated or turned off, for a discussion or for a provider, and changes that are no longer appended.

What is changed or deleted in an editor, or by another program, is seen when it has happened: a notice then tells the price
before the next turn (`core.talk.caching.rewrites`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial

import msgspec

from core.agent.agent_messages import SetTools
from core.app.app_messages import Command
from core.kernel import figures as fmt
from core.kernel.language import as_sentences, tr
from core.kernel.values.cache import CachePrices
from core.kernel.values.discussion import DiscussionMeta, OpenDiscussion, ReplyVersions
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import Effort, ProviderKind, Switching
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import UndoHarvest
from core.knowledge.knowledge_messages import (
    ArchiveItem,
    DeleteDigest,
    DeleteKnowledgeItem,
    EditKnowledgeItem,
)
from core.mcp.mcp_messages import OfferServerTools
from core.services.providers.switches import takes_effort
from core.services.settings.settings_messages import ChangeSetting
from core.services.spending.estimates import fresh_token_usd, sent_again_usd
from core.services.spending.pricing import TokenPrices
from core.talk.caching.caching_messages import DisableCaching, InvalidateCache
from core.talk.caching.offers import offer
from core.talk.caching.rewrites import withdrawal_text
from core.talk.caching.warmth import CacheStanding, CacheStatus, is_of_model, standing_of
from core.talk.context.context_spec import added_switches, can_take_memory, can_take_tools
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    ChooseVersion,
    DeleteMessage,
    EditMessage,
    RestoreMessage,
)

WORTH_SAYING_USD = 0.01
AgainUsd = Callable[[AppState, str, int, int], float | None]
"""Price in US dollars of sending tokens of a discussion again: behind so many that are read still, so many."""
_PREFIX: Mapping[str, tuple[str, LayerId | None]] = {
    "provider": (tr("Changing the model"), None),
    "model": (tr("Changing the model"), None),
    "effort": (tr("Changing the effort level"), None),
    "persona": (tr("Changing the persona"), LayerId.PERSONA),
    "system_preset": (tr("Changing the system prompt"), LayerId.SYSTEM_PRESET),
    "preset": (tr("Changing the context preset"), LayerId.FILE_SET),
}
"""Choices of what stands in front of the turns: what a change does in words, and the first layer that it loses (None: all)."""
MessageCommand = EditMessage | DeleteMessage | RestoreMessage
"""Commands that change a turn that was sent."""
WIRE_ORDER = (2, 3, 1, 4, 5, 6, 7, 9, 10, 11, 12, 8)
_CACHING = "ai_settings.caching."
_OFF = {
    f"{_CACHING}anthropic_enabled": ProviderKind.ANTHROPIC,
    f"{_CACHING}gemini_enabled": ProviderKind.GEMINI,
}


class WarmLoss(msgspec.Struct, frozen=True):
    """Loss by a change while a prefix is warm.

    Args:
        discussion_id: the one that loses, empty where it is not one alone.
        sentence: all of it in words; verb: what the button says that does it anyway; title: the question.
    """

    discussion_id: str
    sentence: str
    verb: str = tr("Change anyway")
    title: str = tr("Give up the warm cache?")


def warm_loss(state: AppState, command: Command) -> WarmLoss | None:
    """Loss of a warm cache by a command; None where nothing is lost.

    Returns:
        None where the prefix is not known to be warm, the cost is not known or at most a cent, nothing changes, or the
        change is appended behind the prefix. What is taken out of knowledge is said at any price.
    """
    match command:
        case DeleteDigest() | ChangeSetting(key="ai_settings.knowledge.digest_enabled", value=False):
            return _withdrawal(state, tr("Turn off anyway"), is_all=True)
        case ArchiveItem():
            return _withdrawal(state, tr("Archive anyway"))
        case DeleteKnowledgeItem():
            return _withdrawal(state, tr("Delete anyway"))
        case EditKnowledgeItem(text=text) if not text.strip():
            return _withdrawal(state, tr("Delete anyway"))
        case UndoHarvest():
            return _withdrawal(state, tr("Undo anyway"))
        case InvalidateCache(discussion_id):
            return _given_up(
                state, discussion_id, tr("Invalidating the cache"), tr("Invalidate anyway"), is_written=True
            )
        case DisableCaching(discussion_id):
            return _given_up(
                state, discussion_id, tr("Turning caching off"), tr("Turn off anyway"), is_written=False
            )
        case ChangeSetting(key=key, value=False) if key in _OFF:
            kinds = {name: status.kind for name, status in state.config.providers.items()}
            caches = state.caching.caches.items()
            names = (n for n, one in caches if kinds.get(one.provider) is _OFF[key])
            return _all_given_up(state, names, is_written=False)
        case ChangeSetting(key=key, value=False) if key == f"{_CACHING}appends_changes":
            plans = state.caching.plans.items()
            return _all_given_up(state, (n for n, plan in plans if plan.superseded_tokens), is_written=True)
        case EditMessage() | DeleteMessage() | RestoreMessage():
            return _message(state, command)
        case ChooseVersion(discussion_id):
            kept = tokens_before_version(state, command)
            return (
                None
                if kept is None
                else _said(state, discussion_id, tr("Choosing another version"), tr("Choose it"), kept)
            )
        case ChangeDiscussion():
            return _prefix(state, command)
        case SetTools():
            return _tools(state, command)
        case OfferServerTools(discussion_id):
            return _server_tools(state, discussion_id)
        case _:
            return None


def _withdrawal(state: AppState, verb: str, *, is_all: bool = False) -> WarmLoss | None:
    sentence = withdrawal_text(state, is_all=is_all)
    return (
        WarmLoss(discussion_id="", sentence=sentence, verb=verb, title=tr("Remove this from knowledge?"))
        if sentence
        else None
    )


def _given_up(
    state: AppState, discussion_id: str, what: str, verb: str, *, is_written: bool
) -> WarmLoss | None:
    found = state.discussions.summaries.get(discussion_id)
    if found is None or not found.meta.caching_enabled:
        return None
    return _said(state, discussion_id, what, verb, 0, _again_usd(is_written=is_written))


def _again_usd(*, is_written: bool) -> AgainUsd:
    """Price of sending tokens again: where caching ends nothing is written, and all of it is fresh."""
    return sent_again_usd if is_written else _sent_fresh_usd


def _sent_fresh_usd(state: AppState, discussion_id: str, _kept: int, tokens: int) -> float | None:
    price = fresh_token_usd(state, discussion_id)
    return None if price is None else tokens * price


def _all_given_up(state: AppState, discussion_ids: Iterable[str], *, is_written: bool) -> WarmLoss | None:
    """Loss of all that is held for some discussions."""
    tokens, usd, count, again_usd = 0, 0.0, 0, _again_usd(is_written=is_written)
    for name in discussion_ids:
        held = standing_of(state, name)
        if held.status is CacheStatus.HELD and name in state.discussions.summaries:
            tokens, count = tokens + held.tokens, count + 1
            usd += again_usd(state, name, 0, held.tokens) or 0.0
    if usd <= WORTH_SAYING_USD:
        return None
    who = fmt.count(count, tr("warm discussion"), tr("warm discussions"))
    text = tr(
        "{tokens} tokens of {who} are cached. This change leaves them unused. Sending them again costs {usd} or more.",
        tokens=fmt.tokens(tokens),
        who=who,
        usd=fmt.money(usd),
    )
    return WarmLoss(discussion_id="", sentence=text, verb=tr("Turn off anyway"))


def _message(state: AppState, command: MessageCommand) -> WarmLoss | None:
    """Loss of all behind a message; none where the next request holds nothing of it or behind it."""
    opened = state.discussions.open.get(command.discussion_id)
    found = state.discussions.summaries.get(command.discussion_id)
    if opened is None or found is None or not found.meta.caching_enabled:
        return None
    messages = [one for one in opened.entries if isinstance(one, Message)]
    place = next((n for n, one in enumerate(messages) if one.id == command.message_id), -1)
    if place < 0 or (isinstance(command, EditMessage) and messages[place].text == command.text):
        return None
    behind = {one.id for one in messages[place:]}
    kept = _tokens_before(state, command.discussion_id, LayerId.TURNS, behind)
    if kept is None:
        return None
    what, verb = _OF_MESSAGES[type(command)]
    return _said(state, command.discussion_id, what, verb, max(1, kept))


_OF_MESSAGES = {
    EditMessage: (tr("Editing this message"), tr("Save anyway")),
    DeleteMessage: (tr("Deleting this message"), tr("Delete anyway")),
    RestoreMessage: (tr("Restoring this message"), tr("Restore anyway")),
}
"""By a command on a message, what loses the warm cache, and the button that does it all the same."""


def _prefix(state: AppState, command: ChangeDiscussion) -> WarmLoss | None:
    """Loss by a choice of what stands in front of the turns."""
    found = state.discussions.summaries.get(command.discussion_id)
    changed = next((name for name in _PREFIX if name in command.changes), "")
    if found is None or not found.meta.caching_enabled or not changed:
        return None
    is_same = all(getattr(found.meta, name) == value for name, value in command.changes.items())
    if is_same or (changed == "preset" and state.config.settings.caching.appends_changes):
        return None
    if set(command.changes) == {"effort"} and _is_added(
        state, found.meta, Effort(str(command.changes["effort"]))
    ):
        return None
    if set(command.changes) <= {"persona", "system_preset"} and _is_added(state, found.meta):
        return None
    what, first_lost = _PREFIX[changed]
    kept = _tokens_before(state, found.meta.id, first_lost) or 0
    is_switch = changed in {"provider", "model"}
    prices = _switched_prices(state, found.meta, command.changes) if is_switch else None
    if prices is not None:
        kept = _tokens_at(state, found.meta.id, prices)
    verb = tr("Switch anyway") if is_switch else tr("Change anyway")
    return _said(state, found.meta.id, what, verb, kept, partial(sent_again_usd, prices=prices))


def _tools(state: AppState, command: SetTools) -> WarmLoss | None:
    """Loss by tools that are given or taken: they stand before all else. Another mode sends the same."""
    found = state.discussions.summaries.get(command.discussion_id)
    if found is None or not found.meta.caching_enabled or found.meta.has_tools == command.has_tools:
        return None
    if not (can_take_tools(state, found.meta.provider) or can_take_memory(state, found.meta.provider)):
        return None
    if _is_added(state, found.meta) or _stays_declared(state, found.meta, command):
        return None
    verb = tr("Give the model tools anyway") if command.has_tools else tr("Remove tools anyway")
    return _said(state, command.discussion_id, tr("Changing the tools of this discussion"), verb, 0)


def _server_tools(state: AppState, discussion_id: str) -> WarmLoss | None:
    """Loss by tools of servers that are offered at once, where they are not added in the conversation."""
    found = state.discussions.summaries.get(discussion_id)
    if found is None or not found.meta.caching_enabled or _is_added(state, found.meta):
        return None
    return _said(
        state,
        discussion_id,
        tr("Changing the tools of MCP servers while the cache is warm"),
        tr("Add tools anyway"),
        0,
    )


def _is_added(state: AppState, meta: DiscussionMeta, effort: Effort | None = None) -> bool:
    """True if a change of tools, of what the model goes by, or of effort, is added in the conversation: what was sent stays as it is."""
    if added_switches(state, meta) is not Switching.ALL:
        return False
    return effort is None or takes_effort(Effort(meta.effort), effort)


def _stays_declared(state: AppState, meta: DiscussionMeta, command: SetTools) -> bool:
    """True if words take tools away that stay declared at the head of the requests, or give such back."""
    report = state.context.reports.get(meta.id)
    is_declared = report is not None and bool(report.declared)
    return added_switches(state, meta) is Switching.DECLARED and (not command.has_tools or is_declared)


def _switched_prices(
    state: AppState, meta: DiscussionMeta, changes: Mapping[str, object]
) -> CachePrices | None:
    """Prices of the model that is switched to; None where they are not known: then as with the model now."""
    provider = str(changes.get("provider", meta.provider))
    model = str(changes.get("model", ""))
    status = state.config.providers.get(provider)
    price = state.config.prices.get((provider, model))
    if status is None or state.now is None or (price is None and status.kind is not ProviderKind.EMBEDDED):
        return None
    usd = None if price is None else TokenPrices(input_usd=price.input_usd / 1e6, read_usd=None)
    return offer(provider, status.kind, model, usd, state.now)


def _tokens_at(state: AppState, discussion_id: str, prices: CachePrices) -> int:
    """Tokens that another model holds of a discussion since its last reply, for as long as the shortest lifetime that it offers."""
    opened = state.discussions.open.get(discussion_id)
    if opened is None or state.now is None or not prices.writes:
        return 0
    for one in reversed(opened.messages):
        if (one.provider, one.model) == (prices.provider, prices.model) and one.usage is not None:
            is_live = (state.now - one.at).total_seconds() < prices.writes[0].ttl_s
            return (one.usage.cache_read_tokens or 0) + (one.usage.cache_write_tokens or 0) if is_live else 0
    return 0


def _said(
    state: AppState, discussion_id: str, what: str, verb: str, kept: int, again_usd: AgainUsd = sent_again_usd
) -> WarmLoss | None:
    """Loss of what is cached behind so many tokens. `again_usd`: price of sending them again."""
    held = standing_of(state, discussion_id)
    tokens = held.tokens - kept
    if held.status is not CacheStatus.HELD or not is_of_model(state, discussion_id) or tokens <= 0:
        return None
    usd = again_usd(state, discussion_id, kept, tokens)
    if usd is None or usd <= WORTH_SAYING_USD:
        return None
    unused = tr("them") if not kept else tr("{tokens} of them", tokens=fmt.tokens(tokens))
    loss = tr(
        "{change} leaves {unused} unused: sending them again costs about {usd}.",
        change=what,
        unused=unused,
        usd=fmt.money(usd),
    )
    return WarmLoss(discussion_id=discussion_id, sentence=as_sentences(_cached(state, held), loss), verb=verb)


def _cached(state: AppState, held: CacheStanding) -> str:
    """Sentence on what a provider holds, and for how long most of it, where that is known."""
    status = state.config.providers.get(held.provider)
    provider, tokens = (status.label if status else "") or held.provider, fmt.tokens(held.tokens)
    if not held.ends or state.now is None:
        return tr("{provider} caches {tokens} tokens of this discussion.", provider=provider, tokens=tokens)
    return tr(
        "{provider} caches {tokens} tokens of this discussion for another {time}.",
        provider=provider,
        tokens=tokens,
        time=fmt.countdown((held.ends[0].at - state.now).total_seconds()),
    )


def _tokens_before(
    state: AppState, discussion_id: str, layer: LayerId | None, message_ids: Container[str] | None = None
) -> int | None:
    """Tokens that stand before a layer on the wire and therefore stay cached.

    The thinking that goes back with earlier turns is in no report, but in the plan: it is spread over them.

    Args:
        message_ids: of earlier turns: what stands before the first of these in the layer is counted, too.

    Returns:
        None where none of these messages is sent.
    """
    report = state.context.reports.get(discussion_id)
    if layer is None or report is None:
        return 0 if message_ids is None else None
    kept = WIRE_ORDER[: WIRE_ORDER.index(int(layer))]
    before = sum(one.tokens_est for one in report.layers if int(one.layer) in kept)
    if message_ids is None:
        return before
    turns = next((one.segments for one in report.layers if one.layer is layer), ())
    places = (n for n, one in enumerate(turns) if one.key.split("/")[1] in message_ids)
    place = next(places, None)
    if place is None:
        return None
    plan, own = state.caching.plans.get(discussion_id), sum(one.tokens_est for one in turns)
    planned = 0 if plan is None else plan.read_tokens + plan.write_tokens + plan.fresh_tokens
    thinking = max(0, planned - sum(one.tokens_est for one in report.layers))
    return before + round(sum(one.tokens_est for one in turns[:place]) * (own + thinking) / max(1, own))


def tokens_before_version(state: AppState, command: ChooseVersion) -> int | None:
    """Tokens that stand before a reply on the wire: another version of it leaves them as they are.

    Returns:
        None where that is not known, there is no such version, it says the same as the chosen one, or it is the last
        reply, which was never sent back.
    """
    opened = state.discussions.open.get(command.discussion_id)
    report = state.context.reports.get(command.discussion_id)
    if opened is None or report is None:
        return None
    wanted = opened.version_from(command.message_id, command.step)
    known = next((one for one in opened.versions.values() if wanted in one.aside), None)
    if known is None or not _is_sent_back(opened, known.chosen_id):
        return None
    if _says_the_same(opened, known, wanted):
        return None
    return _tokens_before(state, command.discussion_id, LayerId.TURNS, {known.chosen_id})


def _says_the_same(opened: OpenDiscussion, known: ReplyVersions, wanted: str) -> bool:
    """True if a request with another version in the place of the chosen one is the same, byte for byte."""
    chosen = next((one for one in opened.messages if one.id == known.chosen_id), None)
    others = [one for one in known.aside[wanted] if isinstance(one, Message)]
    return chosen is not None and len(others) == 1 and others[0].parts == chosen.parts


def _is_sent_back(opened: OpenDiscussion, message_id: str) -> bool:
    """True if the person has written on behind a message."""
    for message in reversed(opened.messages):
        if message.id == message_id or message.role is Role.USER:
            return message.id != message_id
    return False
