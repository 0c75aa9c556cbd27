"""Choices of a discussion: its name, its place in the list, its preset, persona and model, and how it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.values.discussion import CHOICES, MAX_OUTPUT_TOKENS, MAX_TEMPERATURE, DiscussionMeta
from core.kernel.values.provider import Effort
from core.kernel.values.records import MarkRecord
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result, decline, with_summary
from core.services.settings.starting_model import closed_models, default_model, model_label, profile_of
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    ChangeDiscussion,
    DiscussionEffect,
    WriteMeta,
)


def change(state: AppState, given: Stamp, command: ChangeDiscussion) -> Result:
    """Take all that a person chose for a discussion, or nothing where one of the values is refused."""
    summary = state.discussions.summaries.get(command.discussion_id)
    meta = None if summary is None else summary.meta
    try:
        wanted = _checked(state, meta, command.changes)
    except SlopError as error:
        return decline(state, command.command_id, "choice", error.what, error.remedy), ()
    if meta is None:
        return state, ()
    state, effects = change_meta(state, meta.id, **wanted)
    return state, (*effects, *_switch_mark(state, given, meta))


def _checked(state: AppState, meta: DiscussionMeta | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as they are kept.

    Raises:
        SlopError: one of them is no choice of a discussion, or cannot be taken.
    """
    unknown = ", ".join(sorted({*changes} - {*CHOICES}))
    if unknown:
        raise SlopError(f"A discussion has no choice {unknown}.", remedy=f"There are: {', '.join(CHOICES)}.")
    wanted = {name: _CHECKS.get(name, _as_it_is)(state, meta, value) for name, value in changes.items()}
    if meta is not None and ("provider" in wanted or "model" in wanted):
        provider, model = wanted.get("provider", meta.provider), wanted.get("model", "")
        wanted["model"] = _sound(model, unknown_model(state, provider, model)) or default_model(
            state, provider
        )
    return wanted


def _as_it_is(_state: AppState, _meta: DiscussionMeta | None, value: Any) -> Any:
    return value


def _name(_state: AppState, meta: DiscussionMeta | None, value: str) -> str:
    """An empty name is ignored."""
    name = " ".join(clean(value).split())
    return name if name or meta is None else meta.name


def _effort(_state: AppState, meta: DiscussionMeta | None, value: str) -> str:
    """An unknown level is ignored."""
    return value if value in set(Effort) or meta is None else meta.effort


def _temperature(state: AppState, meta: DiscussionMeta | None, value: float | None) -> float | None:
    """Refuse what no model takes, and any temperature where the discussion's model takes none."""
    if meta is not None and value is not None:
        model = profile_of(state, meta.provider, meta.model)
        if model.max_temperature is None:
            text = f"{model.label or meta.model} takes no temperature: it has its own."
            raise SlopError(text, remedy="Choose another model, or none.")
    if value is not None and not 0 <= value <= MAX_TEMPERATURE:
        raise SlopError(f"A temperature lies between 0 and {MAX_TEMPERATURE:g}, not at {value:g}.")
    return value


def _max_output(_state: AppState, _meta: DiscussionMeta | None, value: int | None) -> int | None:
    if value is not None and not 1 <= value <= MAX_OUTPUT_TOKENS:
        raise SlopError(f"A reply has between 1 and {MAX_OUTPUT_TOKENS:,} tokens, not {value:,}.")
    return value


_CHECKS: Mapping[str, Callable[[AppState, DiscussionMeta | None, Any], Any]] = {
    "name": _name,
    "effort": _effort,
    "temperature": _temperature,
    "max_output_tokens": _max_output,
    # A preset that there is not is refused: without its files a call would be paid for nothing.
    "preset": lambda state, _meta, name: _sound(name, unknown_preset(state, name)),
    "persona": lambda state, _meta, name: _sound(
        name, _unknown("persona", name, state.config.project.personas)
    ),
    "system_preset": lambda state, _meta, name: _sound(
        name, _unknown("system prompt", name, state.config.project.system_prompts)
    ),
}
"""Checks of choices: each gives the value that is kept, or raises SlopError. The others are kept as they are."""


def _sound(name: str, problem: tuple[str, str] | None) -> str:
    """The name, where nothing is wrong with it. Raises SlopError."""
    if problem:
        raise SlopError(problem[0], remedy=problem[1])
    return name


def _switch_mark(state: AppState, given: Stamp, before: DiscussionMeta) -> tuple[DiscussionEffect, ...]:
    """A mark stands where a model was switched in the middle of the talk."""
    summary = state.discussions.summaries[before.id]
    now = summary.meta
    if not summary.turns or (now.provider, now.model) == (before.provider, before.model):
        return ()
    old, new = (model_label(state, meta.provider, meta.model) for meta in (before, now))
    mark = MarkRecord(id=given.make_id(), at=given.at, kind="model", text=f"{old} → {new}")
    return (AppendRecords(discussion_id=before.id, records=(mark,)),)


def take_model(state: AppState, discussion_id: str) -> Result:
    """Give a discussion that has no model yet its provider's usual one, once that is known: a server's first."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None or summary.meta.model:
        return state, ()
    return change_meta(state, discussion_id, model=default_model(state, summary.meta.provider))


def take_models(state: AppState, provider: str) -> Result:
    """Give its open discussions without a model the first that a server has listed."""
    effects: tuple[DiscussionEffect, ...] = ()
    for discussion_id in state.discussions.open:
        summary = state.discussions.summaries.get(discussion_id)
        if summary is not None and summary.meta.provider == provider:
            state, more = take_model(state, discussion_id)
            effects = (*effects, *more)
    return state, effects


def _unknown(what: str, name: str, known: Iterable[str]) -> tuple[str, str] | None:
    """Fault of a name, with what to do; None where the name is known or empty."""
    known = tuple(known)
    if not name or name in known:
        return None
    listed = (
        f"There are: {', '.join(known)}" if known else "There is none yet: leave it out, or make it first"
    )
    return f"There is no {what} {name!r}.", f"{listed}."


def unknown_preset(state: AppState, name: str) -> tuple[str, str] | None:
    """Fault of a preset's name, with what to do; None where the project has it or none is named."""
    return _unknown("preset", name, state.config.project.presets)


def unknown_model(state: AppState, provider: str, model: str) -> tuple[str, str] | None:
    """Fault of a model's name, with what to do, at a provider that has these models and no others; else None."""
    known = closed_models(state, provider)
    return _unknown(f"model of {provider}", model, known) if known else None


def change_meta(state: AppState, discussion_id: str, **fields: object) -> Result:
    """Replace fields of a discussion's meta and write it, when anything differs."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None:
        return state, ()
    meta = replace(summary.meta, **fields)  # type: ignore[arg-type]
    if meta == summary.meta:
        return state, ()
    return with_summary(state, replace(summary, meta=meta)), (WriteMeta(meta),)
