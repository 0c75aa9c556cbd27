"""What an action would lose of a warm prefix, in tokens and money, and what stands at a spend limit. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.step.spending import discussion_limit_usd
from core.values import commands as c
from core.values.discussion import DiscussionMeta
from core.values.stack import LayerId
from core.values.state import AppState
from panels import format as fmt
from panels.caching_facts import countdown, look_of

WORTH_SAYING_USD = 0.01
WIRE_ORDER = (2, 3, 1, 4, 5, 6, 7, 9, 10, 11, 12, 8)
PaidCommand = c.SendPrompt | c.RetrySend | c.RegenerateReply


@dataclass(frozen=True, slots=True)
class WarmLoss:
    """What a change costs while a prefix is warm.

    Args:
        tokens: cached now and to be sent again; cost_usd: what that costs as fresh input of the model in use.
        sentence: all of it in words; verb: what the button says that does it anyway.
    """

    discussion_id: str
    tokens: int
    cost_usd: float
    sentence: str
    verb: str


def warm_loss(state: AppState, command: c.Command) -> WarmLoss | None:
    """What a command would lose.

    Returns:
        None where the prefix is not known to be warm, the cost is not known or at most a cent, nothing changes, or the
        change is appended behind the prefix.
    """
    about = _change(state, command)
    if about is None:
        return None
    discussion_id, what, first_lost, verb = about
    look = look_of(state, discussion_id)
    tokens = look.tokens - _tokens_before(state, discussion_id, first_lost)
    price = fresh_token_usd(state, discussion_id)
    if not look.is_warm or tokens <= 0 or price is None or tokens * price <= WORTH_SAYING_USD:
        return None
    until = "" if look.ttl_s is None else f" for another {countdown(look.ttl_s)}"
    unused = "them" if first_lost is None else f"{fmt.tokens(tokens)} of them"
    sentence = (
        f"{look.provider} holds {fmt.tokens(look.tokens)} tokens of this discussion{until}. {what} leaves"
        f" {unused} unused: sending them again costs about {fmt.cost(tokens * price)}."
    )
    return WarmLoss(discussion_id, tokens, tokens * price, sentence, verb)


def _change(state: AppState, command: c.Command) -> tuple[str, str, LayerId | None, str] | None:
    """Discussion, what is done in words, the first layer that is lost (None: all), and the verb of the button."""
    meta = _meta(state, command)
    if meta is None:
        return None
    match command:
        case c.SetModel() if (command.provider, command.model) != (meta.provider, meta.model):
            return meta.id, "Switching the model", None, "Switch anyway"
        case c.SetEffort() if command.effort != meta.effort:
            return meta.id, "Changing the effort", None, "Change anyway"
        case c.SetPersona() if command.persona != meta.persona:
            return meta.id, "Changing the persona", LayerId.PERSONA, "Change anyway"
        case c.SetSystemPreset() if command.system_preset != meta.system_preset:
            return meta.id, "Changing the system prompt", LayerId.SYSTEM_PRESET, "Change anyway"
        case c.SetDiscussionPreset() if command.preset != meta.preset:
            if state.settings.caching.appends_changes:
                return None
            return meta.id, "Changing the context preset", LayerId.FILE_SET, "Change anyway"
        case _:
            return None


def _meta(state: AppState, command: c.Command) -> DiscussionMeta | None:
    found = state.summaries.get(getattr(command, "discussion_id", ""))
    return found.meta if found is not None and found.meta.caching_enabled else None


def _tokens_before(state: AppState, discussion_id: str, layer: LayerId | None) -> int:
    """Tokens that stand before a layer on the wire and therefore stay cached."""
    report = state.reports.get(discussion_id)
    if layer is None or report is None:
        return 0
    kept = WIRE_ORDER[: WIRE_ORDER.index(int(layer))]
    return sum(one.tokens_est for one in report.layers if int(one.layer) in kept)


def fresh_token_usd(state: AppState, discussion_id: str) -> float | None:
    """What a token of the next request costs without a cache, None where that is not known."""
    plan = state.plans.get(discussion_id)
    if plan is not None and plan.cost_without_usd is not None:
        total = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
        if total > 0:
            return plan.cost_without_usd / total
    report = state.reports.get(discussion_id)
    if report is None or report.cost_usd is None or report.total_tokens_est <= 0:
        return None
    return report.cost_usd / report.total_tokens_est


@dataclass(frozen=True, slots=True)
class Spent:
    """A sum against its limit."""

    what: str
    spent_usd: float
    limit_usd: float

    @property
    def line(self) -> str:
        """`This discussion: $5.02 of $5.00`."""
        return f"{self.what}: {fmt.cost(self.spent_usd)} of {fmt.cost(self.limit_usd)}"


def limits_reached(state: AppState, command: c.Command) -> tuple[Spent, ...]:
    """The limits that a paid command would pass; empty where it costs nothing or no limit is reached."""
    if not isinstance(command, PaidCommand):
        return ()
    summary = state.summaries.get(command.discussion_id)
    if summary is None:
        return ()
    sums = (
        ("This discussion", summary.usage.cost_usd, discussion_limit_usd(state, summary.meta)),
        ("Today", state.spent_today_usd, state.settings.caching.day_limit_usd),
    )
    return tuple(
        Spent(what, spent, limit)
        for what, spent, limit in sums
        if spent is not None and limit is not None and spent >= limit
    )
