"""Selection that the window is about just now: the selected discussion, its model, its report."""

from __future__ import annotations

from collections.abc import Iterator

from core.settings import models
from core.values.agent import AgentPage, AgentTurn
from core.values.curation import Preset
from core.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.values.messages import Message
from core.values.provider import ModelProfile
from core.values.stack import ContextReport
from core.values.state import AppState


def selected(state: AppState) -> DiscussionSummary | None:
    """The summary of the selected discussion, None when none is selected."""
    return state.discussions.summaries.get(state.discussions.selected_id)


def opened(state: AppState) -> OpenDiscussion | None:
    """The selected discussion, None while its log is not loaded."""
    return state.discussions.open.get(state.discussions.selected_id)


def call_of(state: AppState, discussion_id: str) -> LiveCall | None:
    """The call under way in a discussion."""
    return state.turns.calls.get(discussion_id)


def turn_of(state: AppState, discussion_id: str) -> AgentTurn | None:
    """The turn with tools that runs in a discussion."""
    return state.agent.turns.get(discussion_id)


def page_of(state: AppState) -> AgentPage | None:
    """Page of the agent in the selected discussion, None where it did nothing."""
    return state.agent.pages.get(state.discussions.selected_id)


def latest(opened: OpenDiscussion) -> Iterator[Message]:
    """The messages that are not deleted, newest first, without walking the rest."""
    return (e for e in reversed(opened.entries) if isinstance(e, Message) and not e.is_deleted)


def report_of(state: AppState) -> ContextReport | None:
    """The assembled stack of the selected discussion, None while it was never assembled."""
    return state.context.reports.get(state.discussions.selected_id)


def profile(state: AppState, provider: str, model: str) -> ModelProfile | None:
    """Profile of a model."""
    return next((known for known in state.config.models.get(provider, ()) if known.id == model), None)


def model_label(state: AppState, provider: str, model: str) -> str:
    """The name of a model as the person knows it."""
    return models.model_label(state, provider, model)


def provider_label(state: AppState, provider: str) -> str:
    """The name of a provider as the person knows it."""
    status = state.config.providers.get(provider)
    return (status.label if status else "") or provider


def active_preset(state: AppState) -> Preset | None:
    """The context preset of the selected discussion."""
    summary = selected(state)
    return state.config.project.presets.get(summary.meta.preset) if summary else None


def missing_preset(state: AppState) -> str:
    """The preset that the selected discussion asks for and the project does not have, empty when all is well."""
    summary = selected(state)
    name = summary.meta.preset if summary else ""
    return "" if name in state.config.project.presets else name
