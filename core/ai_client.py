"""A thin face over the providers for scripts: one call, its result, and the tokens used so far."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path

from core import paths
from core.aggregate import build_stack
from core.config.load import config_request, load
from core.controller.app import AppController, wall_clock
from core.errors import SlopError
from core.knowledge.harvest_distil import run_subagent_summarization
from core.pricing import cost
from core.profiles import offered_models, usual_model
from core.providers.base import CancelToken
from core.providers.profiles import load_models
from core.providers.whole import WholeReply, whole_reply
from core.values.commands import InvalidateCache
from core.values.curation import NamedText
from core.values.options import OutsideOptions
from core.values.provider import Effort, StopKind
from core.values.stack import StackInputs
from core.values.state import AppState, Level, Notice
from core.values.usage import Usage, add_usage
from core.workers.clients import clients_for

__all__ = ["LlmResult", "get_token_stats", "invalidate_cache", "run_subagent_summarization", "send"]

READY_S = 60.0


@dataclass(frozen=True, slots=True)
class LlmResult:
    """What a call gave. Tokens None: not reported; cost None: price unknown."""

    text: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    stop: StopKind
    provider: str
    model: str


class _Total:
    """Usage of every call of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.usage = Usage()
        self.calls = 0


_total = _Total()


def send(
    text: str,
    *,
    provider: str = "",
    model: str = "",
    system: str = "",
    effort: Effort = Effort.AUTO,
    max_output_tokens: int | None = None,
    home: Path | None = None,
    cancel: CancelToken | None = None,
) -> LlmResult:
    """Send one message, without a discussion and without a trace in the home, and wait for the reply.

    Args:
        text: the user's message.
        provider, model: empty for what the settings name.
        system: text of layer 4, empty for none.
        max_output_tokens: > 0, None for the model's own limit.
        home: where keys may stand, by default `$MANUAL_SLOP_HOME` or `~/.manual_slop`.

    Raises:
        ProviderError: no key, no network, or whatever the vendor answered.
    """
    home = home or paths.home_dir()
    settings = load(config_request(home=home)).settings
    provider = provider or settings.ai.provider
    models = load_models(paths.models_file())
    model = model or usual_model(settings.ai, provider, offered_models(models, provider))
    clients = clients_for(home, provider, settings.servers, models)
    named = NamedText("send", system) if system else None
    stack = build_stack(StackInputs(provider=provider, model=model, system_text=named, user_text=text))
    try:
        request = stack.request(effort, max_output_tokens)
        reply = whole_reply(clients.get(provider), request, cancel or CancelToken())
        return _counted(provider, model, reply)
    finally:
        clients.close()


def get_token_stats() -> dict[str, float | int | None]:
    """Tokens and cost of every `send` of this process. None: no call reported it."""
    with _total.lock:
        usage, calls = _total.usage, _total.calls
    return {
        "calls": calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": usage.cost_usd,
    }


def invalidate_cache(discussion_id: str, *, home: Path | None = None) -> None:
    """Let a discussion's next request share no prefix with what was sent before; delete what its provider stores.

    Args:
        home: by default `$MANUAL_SLOP_HOME` or `~/.manual_slop`. May be used by a window at the same time.

    Raises:
        SlopError: there is no such discussion, or it could not be written.
    """
    from core.controller.outside import LocalOutside

    controller = AppController(LocalOutside(OutsideOptions(home, owns_home=False, watches=False)))
    controller.start()
    try:
        state = controller.wait_for(lambda s: bool(s.settings_paths) and not s.is_loading, READY_S)
        before = state.summaries.get(discussion_id) if state is not None else None
        if state is None or before is None:
            raise SlopError(f"There is no discussion {discussion_id!r}", where=str(home or paths.home_dir()))
        controller.send(InvalidateCache(discussion_id))
        controller.wait_for(lambda s: s.summaries.get(discussion_id) != before, READY_S)
    finally:
        controller.stop()
    _raise_error(controller.snapshot(), state.notices)


def _raise_error(state: AppState, before: tuple[Notice, ...]) -> None:
    """Raise what went wrong since."""
    for notice in state.notices:
        if notice.level is Level.ERROR and notice not in before:
            raise SlopError(notice.text.removesuffix("."), remedy=notice.detail)


def _counted(provider: str, model: str, reply: WholeReply) -> LlmResult:
    usage = reply.usage
    if usage.cost_usd is None:
        usage = replace(usage, cost_usd=cost(provider, model, usage, wall_clock()))
    with _total.lock:
        _total.usage = add_usage(_total.usage, usage)
        _total.calls += 1
    return LlmResult(
        reply.text,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cost_usd,
        reply.stop,
        provider,
        model,
    )
