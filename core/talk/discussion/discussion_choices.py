"""Choices of a discussion: its name, its place in the list, its preset, persona and model, and how it answers."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.values.discussion import MAX_OUTPUT_TOKENS, MAX_TEMPERATURE
from core.kernel.values.provider import Effort
from core.kernel.values.records import MarkRecord
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result, decline, with_summary
from core.services.settings.starting_model import closed_models, default_model, model_label, profile_of
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    ArchiveDiscussion,
    DiscussionEffect,
    PinDiscussion,
    RenameDiscussion,
    SetDiscussionPreset,
    SetEffort,
    SetMaxOutput,
    SetModel,
    SetPersona,
    SetSystemPreset,
    SetTemperature,
    WriteMeta,
)


def rename(state: AppState, command: RenameDiscussion) -> Result:
    """Rename; an empty name is ignored."""
    name = " ".join(clean(command.name).split())
    return change_meta(state, command.discussion_id, name=name) if name else (state, ())


def pin(state: AppState, command: PinDiscussion) -> Result:
    """Pin or unpin."""
    return change_meta(state, command.discussion_id, pinned=command.is_pinned)


def archive(state: AppState, command: ArchiveDiscussion) -> Result:
    """Archive or take back."""
    return change_meta(state, command.discussion_id, archived=command.is_archived)


def set_preset(state: AppState, command: SetDiscussionPreset) -> Result:
    """Choose the context preset. One that there is not is refused: without its files a call would be paid for nothing."""
    if problem := unknown_preset(state, command.preset):
        return decline(state, command.command_id, "choice", *problem), ()
    return change_meta(state, command.discussion_id, preset=command.preset)


def set_persona(state: AppState, command: SetPersona) -> Result:
    """Choose the persona. One that there is not is refused."""
    if problem := _unknown("persona", command.persona, state.config.project.personas):
        return decline(state, command.command_id, "choice", *problem), ()
    return change_meta(state, command.discussion_id, persona=command.persona)


def set_system_preset(state: AppState, command: SetSystemPreset) -> Result:
    """Choose the system prompt preset. One that there is not is refused."""
    if problem := _unknown("system prompt", command.system_preset, state.config.project.system_prompts):
        return decline(state, command.command_id, "choice", *problem), ()
    return change_meta(state, command.discussion_id, system_preset=command.system_preset)


def set_effort(state: AppState, command: SetEffort) -> Result:
    """Choose how hard the model thinks. An unknown level is ignored."""
    if command.effort not in set(Effort):
        return state, ()
    return change_meta(state, command.discussion_id, effort=command.effort)


def set_temperature(state: AppState, command: SetTemperature) -> Result:
    """Choose the temperature; what no model takes is refused, and any where the discussion's takes none."""
    value = command.temperature
    summary = state.discussions.summaries.get(command.discussion_id)
    if summary is not None and value is not None:
        model = profile_of(state, summary.meta.provider, summary.meta.model)
        if model.max_temperature is None:
            text = f"{model.label or summary.meta.model} takes no temperature: it has its own."
            return decline(state, command.command_id, "choice", text, "Choose another model, or none."), ()
    if value is not None and not 0 <= value <= MAX_TEMPERATURE:
        text = f"A temperature lies between 0 and {MAX_TEMPERATURE:g}, not at {value:g}."
        return decline(state, command.command_id, "choice", text), ()
    return change_meta(state, command.discussion_id, temperature=value)


def set_max_output(state: AppState, command: SetMaxOutput) -> Result:
    """Choose how long a reply may be."""
    value = command.tokens
    if value is not None and not 1 <= value <= MAX_OUTPUT_TOKENS:
        text = f"A reply has between 1 and {MAX_OUTPUT_TOKENS:,} tokens, not {value:,}."
        return decline(state, command.command_id, "choice", text), ()
    return change_meta(state, command.discussion_id, max_output_tokens=value)


def set_model(state: AppState, given: Stamp, command: SetModel) -> Result:
    """Switch provider or model, in the middle too; a mark stands where it happened."""
    summary = state.discussions.summaries.get(command.discussion_id)
    if summary is None:
        return state, ()
    if problem := unknown_model(state, command.provider, command.model):
        return decline(state, command.command_id, "choice", *problem), ()
    model = command.model or default_model(state, command.provider)
    if (summary.meta.provider, summary.meta.model) == (command.provider, model):
        return state, ()
    state, effects = change_meta(state, command.discussion_id, provider=command.provider, model=model)
    if summary.turns:
        before = model_label(state, summary.meta.provider, summary.meta.model)
        words = f"{before} → {model_label(state, command.provider, model)}"
        mark = MarkRecord(id=given.make_id(), at=given.at, kind="model", text=words)
        effects = (*effects, AppendRecords(discussion_id=command.discussion_id, records=(mark,)))
    return state, effects


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
