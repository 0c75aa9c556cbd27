"""Losses of a warm prefix by an action, in tokens and money. Pure."""

from __future__ import annotations

from typing import assert_never

import msgspec

from core.app.messages import Command
from core.base import figures as fmt
from core.discussion.messages import (
    ChooseVersion,
    SetDiscussionPreset,
    SetEffort,
    SetModel,
    SetPersona,
    SetSystemPreset,
)
from core.values.discussion import DiscussionMeta, OpenDiscussion
from core.values.messages import Role
from core.values.stack import LayerId
from core.values.state import AppState
from panels.caching.facts import look_of

WORTH_SAYING_USD = 0.01
PrefixCommand = SetModel | SetEffort | SetPersona | SetSystemPreset | SetDiscussionPreset
"""Commands that change what stands in front of the turns."""
WIRE_ORDER = (2, 3, 1, 4, 5, 6, 7, 9, 10, 11, 12, 8)


class WarmLoss(msgspec.Struct, frozen=True):
    """Loss by a change while a prefix is warm.

    Args:
        tokens: cached now and to be sent again; cost_usd: what that costs as fresh input of the model in use.
        sentence: all of it in words; verb: what the button says that does it anyway.
    """

    discussion_id: str
    tokens: int
    cost_usd: float
    sentence: str
    verb: str


def warm_loss(state: AppState, command: Command) -> WarmLoss | None:
    """Loss by a command.

    Returns:
        None where the prefix is not known to be warm, the cost is not known or at most a cent, nothing changes, or the
        change is appended behind the prefix.
    """
    about = _change(state, command)
    if about is None:
        return None
    discussion_id, what, kept_tokens, verb = about
    look = look_of(state, discussion_id)
    tokens = look.tokens - kept_tokens
    price = fresh_token_usd(state, discussion_id)
    if not look.is_warm or tokens <= 0 or price is None or tokens * price <= WORTH_SAYING_USD:
        return None
    until = "" if look.ttl_s is None else f" for another {fmt.countdown(look.ttl_s)}"
    unused = f"{fmt.tokens(tokens)} of them" if kept_tokens else "them"
    sentence = (
        f"{look.provider} holds {fmt.tokens(look.tokens)} tokens of this discussion{until}. {what} leaves"
        f" {unused} unused: sending them again costs about {fmt.money(tokens * price)}."
    )
    return WarmLoss(discussion_id, tokens, tokens * price, sentence, verb)


def _change(state: AppState, command: Command) -> tuple[str, str, int, str] | None:
    """Discussion, what is done in words, tokens that stay cached, and the verb of the button."""
    if isinstance(command, ChooseVersion):
        kept = tokens_before_version(state, command)
        return (
            None if kept is None else (command.discussion_id, "Choosing another version", kept, "Choose it")
        )
    if not isinstance(command, PrefixCommand):
        return None
    meta = _meta(state, command)
    if meta is None:
        return None
    is_same, what, first_lost = _prefix_change(command, meta)
    is_appended = isinstance(command, SetDiscussionPreset) and state.config.settings.caching.appends_changes
    if is_same or is_appended:
        return None
    kept = _tokens_before(state, meta.id, first_lost)
    return meta.id, what, kept, "Switch anyway" if isinstance(command, SetModel) else "Change anyway"


def _prefix_change(command: PrefixCommand, meta: DiscussionMeta) -> tuple[bool, str, LayerId | None]:
    """Change of the prefix: is there none, what it does in words, the first layer that is lost (None:
    all).
    """
    match command:
        case SetModel():
            is_same = (command.provider, command.model) == (meta.provider, meta.model)
            return is_same, "Switching the model", None
        case SetEffort():
            return command.effort == meta.effort, "Changing the effort", None
        case SetPersona():
            return command.persona == meta.persona, "Changing the persona", LayerId.PERSONA
        case SetSystemPreset():
            is_same = command.system_preset == meta.system_preset
            return is_same, "Changing the system prompt", LayerId.SYSTEM_PRESET
        case SetDiscussionPreset():
            return command.preset == meta.preset, "Changing the context preset", LayerId.FILE_SET
        case _:
            assert_never(command)


def _meta(state: AppState, command: PrefixCommand) -> DiscussionMeta | None:
    found = state.discussions.summaries.get(command.discussion_id)
    return found.meta if found is not None and found.meta.caching_enabled else None


def _tokens_before(state: AppState, discussion_id: str, layer: LayerId | None) -> int:
    """Tokens that stand before a layer on the wire and therefore stay cached."""
    report = state.context.reports.get(discussion_id)
    if layer is None or report is None:
        return 0
    kept = WIRE_ORDER[: WIRE_ORDER.index(int(layer))]
    return sum(one.tokens_est for one in report.layers if int(one.layer) in kept)


def tokens_before_version(state: AppState, command: ChooseVersion) -> int | None:
    """Tokens that stand before a reply on the wire: another version of it leaves them as they are.

    Returns:
        None where that is not known, there is no such version, or it is the last reply, which was never sent back.
    """
    opened = state.discussions.open.get(command.discussion_id)
    report = state.context.reports.get(command.discussion_id)
    if opened is None or report is None:
        return None
    known = next((one for one in opened.versions.values() if command.message_id in one.aside), None)
    if known is None or not _is_sent_back(opened, known.chosen_id):
        return None
    turns = next((layer.segments for layer in report.layers if layer.layer is LayerId.TURNS), ())
    before = 0
    for segment in turns:
        if segment.key.split("/")[1:2] == [known.chosen_id]:
            return _tokens_before(state, command.discussion_id, LayerId.TURNS) + before
        before += segment.tokens_est
    return None


def _is_sent_back(opened: OpenDiscussion, message_id: str) -> bool:
    """True if the person has written on behind a message."""
    for message in reversed(opened.messages):
        if message.id == message_id or message.role is Role.USER:
            return message.id != message_id
    return False


def fresh_token_usd(state: AppState, discussion_id: str) -> float | None:
    """Cost of a token of the next request without a cache, None where that is not known."""
    plan = state.caching.plans.get(discussion_id)
    if plan is not None and plan.cost_without_usd is not None:
        total = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
        if total > 0:
            return plan.cost_without_usd / total
    report = state.context.reports.get(discussion_id)
    if report is None or report.cost_usd is None or report.total_tokens_est <= 0:
        return None
    return report.cost_usd / report.total_tokens_est
