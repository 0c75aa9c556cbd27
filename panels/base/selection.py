"""Selection that the window is about just now: the selected discussion, its model, its report."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from datetime import date
from typing import TypeVar, cast

from core.kernel.values.agent import AgentPage, AgentTurn
from core.kernel.values.curation import Preset
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.kernel.values.messages import Message
from core.kernel.values.provider import ModelProfile
from core.kernel.values.stack import ContextReport
from core.kernel.values.state import AppState
from core.services.settings import starting_model as models


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


# Derived data kept for as long as the parts of state that it was made from are the same objects.

T = TypeVar("T")
_SCALARS = (str, int, float, date)


class Same:
    """Equal to another while all parts are the same objects; keeps them, so that an id is never reused."""

    __slots__ = ("parts",)

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and _are_same(self.parts, other.parts)

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.parts)))


class Memo:
    """One remembered value for each name, made again when a part changes. Not thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[tuple[object, ...], object]] = {}

    def get(self, name: Hashable, parts: tuple[object, ...], make: Callable[[], T]) -> T:
        """The value of `make` for these parts.

        Args:
            name: what is remembered; a name keeps only its newest value.
            parts: what `make` reads. Objects are compared by identity, short values (str, int, date) by value.
        """
        kept = self._kept.get(name)
        if kept is not None and _are_alike(kept[0], parts):
            return cast("T", kept[1])
        value = make()
        self._kept[name] = (parts, value)
        return value


def _are_same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


def _are_alike(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return len(first) == len(second) and all(
        a is b or (isinstance(a, _SCALARS) and a == b) for a, b in zip(first, second, strict=True)
    )
