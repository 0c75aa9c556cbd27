"""A playbook: drives the pure step with data, and stands in for a disk and a provider that always answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from core.step.base import Input
from core.step.dispatch import step
from core.values import effects as f
from core.values import events as e
from core.values.commands import Command, CreateDiscussion, SendPrompt
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.effects import Effect
from core.values.events import Event
from core.values.messages import Part, TextPart
from core.values.provider import KeySource, ModelProfile, ProviderKind, ProviderStatus, StopKind, Stopped
from core.values.settings import Project, Settings
from core.values.state import AppState
from core.values.usage import Usage

E = TypeVar("E")
START = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


class Playbook:
    """State and a clock. `play` feeds one message and returns its effects; nothing is carried out."""

    def __init__(self, state: AppState | None = None) -> None:
        self.state = state or AppState()
        self.at = START
        self.count = 0

    def play(self, body: Command | Event) -> tuple[Effect, ...]:
        """Step once."""
        self.count += 1
        self.state, effects = step(self.state, Input(self.at, f"seed-{self.count}", body))
        return effects

    def later(self, seconds: float) -> Playbook:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)
        return self

    def append(self, effect: f.AppendRecords) -> tuple[Effect, ...]:
        """The disk kept the records."""
        return self.play(e.RecordsAppended(effect.discussion_id, effect.records, effect.token))

    def ready(self) -> Playbook:
        """A home that is open, settings loaded, an empty list."""
        self.play(e.HomeOpened("/home/person/.manual_slop"))
        self.play(settings_loaded())
        self.play(e.SummariesLoaded((), True))
        return self

    def discussion(self, name: str = "") -> str:
        """Create a discussion on a disk that works; its id."""
        (create,) = of(self.play(CreateDiscussion(name)), f.CreateOnDisk)
        summary = DiscussionSummary(create.meta, self.at)
        self.play(e.DiscussionCreated(summary, OpenDiscussion(create.meta.id)))
        return create.meta.id

    def ask(self, discussion_id: str, text: str) -> f.CallProvider:
        """Send a prompt on a disk that works; the call that follows."""
        (write,) = of(self.play(SendPrompt(discussion_id, text)), f.AppendRecords)
        (call,) = of(self.append(write), f.CallProvider)
        return call

    def answer(self, call: f.CallProvider, text: str, usage: Usage | None = None) -> None:
        """The provider answers and the disk keeps the reply."""
        self.play(e.ReplyArrived(call.call_id, text))
        parts: tuple[Part, ...] = (TextPart(text),)
        ended = e.CallEnded(call.call_id, Stopped(StopKind.COMPLETED), parts, usage or Usage(input_tokens=10))
        (write,) = of(self.play(ended), f.AppendRecords)
        self.append(write)


def of(effects: tuple[Effect, ...], kind: type[E]) -> tuple[E, ...]:
    """The effects of one kind."""
    return tuple(effect for effect in effects if isinstance(effect, kind))


def settings_loaded(project: Project | None = None, settings: Settings | None = None) -> e.SettingsLoaded:
    """Settings with the embedded model ready and one vendor without a key."""
    return e.SettingsLoaded(
        settings=settings or Settings(),
        faults=(),
        project=project or Project(root="/project", name="project"),
        providers={
            "embedded": ProviderStatus("embedded", ProviderKind.EMBEDDED, "Embedded", KeySource.NOT_NEEDED),
            "anthropic": ProviderStatus(
                "anthropic", ProviderKind.ANTHROPIC, "Anthropic", KeySource.MISSING, is_ready=False
            ),
        },
        models={
            "embedded": (ModelProfile("embedded", "smollm2-135m", context_tokens=8192),),
            "anthropic": (ModelProfile("anthropic", "claude-opus-5-5", family="claude"),),
        },
        prompts={"role.md": "You help.", "role-claude.md": "You are Claude, and help."},
    )


def with_ai(settings: Settings, **fields: object) -> Settings:
    """Settings with other defaults for new discussions."""
    return replace(settings, ai=replace(settings.ai, **fields))  # type: ignore[arg-type]
