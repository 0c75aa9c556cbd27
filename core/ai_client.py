"""The program for scripts, under the names that people know: one turn, what was used, a cache let go.

Everything goes the way of every other front end, through the controller: role, project, knowledge and files enter the
request, it is planned and marked, its words and its cost are on disk, and the spend limits hold.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.agent.cut_plan import run_discussion_compression
from core.app.controller import AppController
from core.app.execution import act
from core.app.options import OutsideOptions
from core.kernel import paths
from core.kernel.errors import ProviderError, SlopError
from core.kernel.figures import time_limit
from core.kernel.ids import make_id
from core.kernel.language import tr
from core.kernel.values.messages import Message, Role, Status
from core.kernel.values.provider import Effort
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.kernel.values.usage import Usage, add_usage
from core.knowledge.harvest.distillation import run_subagent_summarization
from core.talk.caching.caching_messages import InvalidateCache
from core.talk.discussion.discussion_messages import ChangeDiscussion, CreateDiscussion, ReadDiscussion
from core.talk.turn.turn_messages import SendPrompt

__all__ = [
    "LlmResult",
    "get_token_stats",
    "invalidate_cache",
    "run_discussion_compression",
    "run_subagent_summarization",
    "send",
]

READY_S = 60.0
REPLY_S = 86_400.0


class LlmResult(msgspec.Struct, frozen=True):
    """Result of a turn. Tokens None: not reported; cost None: price unknown. `status`: whether the reply is
    whole.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    status: Status
    provider: str
    model: str
    discussion_id: str


def send(
    text: str,
    *,
    discussion_id: str = "",
    provider: str = "",
    model: str = "",
    preset: str = "",
    effort: Effort | None = None,
    over_limit: bool = False,
    home: Path | None = None,
) -> LlmResult:
    """Send one message with the whole context of its discussion, and wait for the reply.

    Args:
        text: the user's message.
        discussion_id: which discussion goes on; empty begins a new one, by `provider`, `model` and `preset`, where
            empty ones take the settings'.
        effort: how hard the model thinks, None as the discussion has it; over_limit: the person's yes past a limit.
        home: by default `$MANUAL_SLOP_HOME` or `~/.manual_slop`. May be used by a window at the same time.

    Raises:
        ProviderError: no key, no network, or whatever the vendor answered; the words are kept.
        SlopError: there is no such discussion, a spend limit stands against it, or it could not be written.
    """
    with _program(home) as controller:
        chosen = discussion_id or _begun(
            controller, CreateDiscussion(name="", provider=provider, model=model, preset=preset)
        )
        state = act(controller, ReadDiscussion(discussion_id=chosen))
        if chosen not in state.discussions.open:
            raise _unknown(chosen, home)
        if effort is not None:
            act(controller, ChangeDiscussion(discussion_id=chosen, changes={"effort": effort.value}))
        act(controller, SendPrompt(discussion_id=chosen, text=text, over_limit=over_limit))
        ended = controller.wait_for(lambda now: not is_busy(now, chosen), REPLY_S)
        return _result(ended or controller.snapshot(), chosen)


def get_token_stats(home: Path | None = None) -> dict[str, float | int | None]:
    """Tokens and cost of every call that the home's discussions have logged. None: no call reported it."""
    with _program(home) as controller:
        rows = controller.snapshot().discussions.summaries.values()
    usage = Usage()
    for row in rows:
        usage = add_usage(usage, row.usage)
    return {
        "discussions": len(rows),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": usage.cost_usd,
        "is_estimate": usage.is_estimate,
    }


def invalidate_cache(discussion_id: str, *, home: Path | None = None) -> None:
    """Let a discussion's next request share no prefix with what was sent before; delete what its provider stores.

    Args:
        home: by default `$MANUAL_SLOP_HOME` or `~/.manual_slop`. May be used by a window at the same time.

    Raises:
        SlopError: there is no such discussion, or it could not be written.
    """
    with _program(home) as controller:
        if discussion_id not in controller.snapshot().discussions.summaries:
            raise _unknown(discussion_id, home)
        act(controller, InvalidateCache(discussion_id))


@contextmanager
def _program(home: Path | None) -> Iterator[AppController]:
    """A program beside any window, its settings and discussions read; stopped with everything written."""
    from core.app.outside import LocalOutside

    controller = AppController(LocalOutside(OutsideOptions(home=home, owns_home=False, watches=False)))
    controller.start()
    try:
        if controller.wait_for(_is_ready, READY_S) is None:
            raise SlopError(
                tr(
                    "The program could not read the data folder within {READY_S}", READY_S=time_limit(READY_S)
                ),
                where=str(home or paths.home_dir()),
            )
        yield controller
    finally:
        controller.stop()


def _is_ready(state: AppState) -> bool:
    return bool(state.config.settings_paths) and not state.program.is_loading


def _begun(controller: AppController, command: CreateDiscussion) -> str:
    """The id of a new discussion."""
    chosen = make_id(controller.clock(), secrets.token_hex(8))
    act(controller, replace(command, id=chosen))
    return chosen


def _result(state: AppState, chosen: str) -> LlmResult:
    opened = state.discussions.open[chosen]
    if (failure := opened.failure) is not None:
        raise ProviderError(failure.kind, failure.what, remedy=failure.remedy, where=failure.where)
    reply: Message = next(m for m in reversed(opened.messages) if m.role is Role.ASSISTANT)
    usage = reply.usage or Usage()
    return LlmResult(
        text=reply.text,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost_usd=usage.cost_usd,
        status=reply.status,
        provider=reply.provider,
        model=reply.model,
        discussion_id=chosen,
    )


def _unknown(discussion_id: str, home: Path | None) -> SlopError:
    return SlopError(
        tr("There is no discussion {discussion_id!r}", discussion_id=discussion_id),
        where=str(home or paths.home_dir()),
    )
