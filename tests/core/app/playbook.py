"""A playbook: drives the pure step with data, and stands in for a disk and a provider that always answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeVar

from msgspec.structs import replace

from core.app.app_messages import Command, Effect, Event, HomeOpened, Input
from core.app.dispatch import step
from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion
from core.kernel.values.messages import Part, TextPart
from core.kernel.values.provider import (
    KeySource,
    ModelProfile,
    ProviderKind,
    ProviderStatus,
    StopKind,
    Stopped,
)
from core.kernel.values.settings import Project, Settings
from core.kernel.values.state import AppState
from core.kernel.values.usage import SpentElsewhere, Usage
from core.services.settings.settings_messages import SettingsLoaded, SettingsSettled, TellSettled
from core.services.spending.spending_messages import (
    ClaimReserve,
    ReserveClaimed,
    SpendingEffect,
    TakeCutUpkeep,
)
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    CreateDiscussion,
    CreateOnDisk,
    DiscussionCreated,
    RecordsAppended,
    SummariesLoaded,
)
from core.talk.turn.turn_messages import CallEnded, CallProvider, ReplyArrived, SendPrompt

E = TypeVar("E")
START = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


class Playbook:
    """State and a clock. `play` feeds one message and returns its effects; nothing is carried out.

    Nothing was cut off by a kill. Three things alone are done at once: the disk comes to an append of nothing; reserves are shared, in a home where
    other programs have `elsewhere` under way (None: nobody answers); changes of settings hold, where it `settles`.
    """

    def __init__(self, state: AppState | None = None) -> None:
        self.state = state or AppState()
        self.at = START
        self.count = 0
        self.elsewhere: SpentElsewhere | None = SpentElsewhere()
        self.shared: list[SpendingEffect] = []
        self.takes_over: list[TakeCutUpkeep] = []
        self.settles = True

    def play(self, body: Command | Event) -> tuple[Effect, ...]:
        """Step once, and once more for each effect that is done at once. Returns all others."""
        self.count += 1
        self.state, effects = step(self.state, Input(self.at, f"seed-{self.count}", body))
        others: list[Effect] = []
        for effect in effects:
            if isinstance(effect, AppendRecords) and not effect.records:
                others += self.append(effect)
                continue
            if isinstance(effect, TellSettled):
                if self.settles:
                    others += self.play(SettingsSettled(effect.number))
                continue
            if isinstance(effect, TakeCutUpkeep):
                self.takes_over.append(effect)
                continue
            if not isinstance(effect, SpendingEffect):
                others.append(effect)
                continue
            self.shared.append(effect)
            if isinstance(effect, ClaimReserve) and self.elsewhere is not None:
                others += self.play(ReserveClaimed(effect.key, effect.reservation, self.elsewhere))
        return tuple(others)

    def later(self, seconds: float) -> Playbook:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)
        return self

    def append(self, effect: AppendRecords) -> tuple[Effect, ...]:
        """The disk kept the records."""
        return self.play(RecordsAppended(effect.discussion_id, effect.records, effect.token))

    def ready(self) -> Playbook:
        """A home that is open, settings loaded, an empty list."""
        self.play(HomeOpened("/home/person/.manual_slop"))
        self.play(settings_loaded())
        self.play(SummariesLoaded((), True))
        return self

    def discussion(self, name: str = "") -> str:
        """Create a discussion on a disk that works; its id."""
        (create,) = of(self.play(CreateDiscussion(name)), CreateOnDisk)
        summary = DiscussionSummary(create.meta, self.at)
        self.play(DiscussionCreated(summary, OpenDiscussion(create.meta.id)))
        return create.meta.id

    def ask(self, discussion_id: str, text: str) -> CallProvider:
        """Send a prompt on a disk that works; the call that follows."""
        (write,) = of(self.play(SendPrompt(discussion_id, text)), AppendRecords)
        (call,) = of(self.append(write), CallProvider)
        return call

    def answer(self, call: CallProvider, text: str, usage: Usage | None = None) -> None:
        """The provider answers and the disk keeps the reply."""
        self.play(ReplyArrived(call.call_id, text))
        parts: tuple[Part, ...] = (TextPart(text),)
        ended = CallEnded(call.call_id, Stopped(StopKind.COMPLETED), parts, usage or Usage(input_tokens=10))
        (write,) = of(self.play(ended), AppendRecords)
        self.append(write)


def of(effects: tuple[Effect, ...], kind: type[E]) -> tuple[E, ...]:
    """The effects of one kind."""
    return tuple(effect for effect in effects if isinstance(effect, kind))


def settings_loaded(project: Project | None = None, settings: Settings | None = None) -> SettingsLoaded:
    """Settings with the embedded model ready and one vendor without a key."""
    return SettingsLoaded(
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
        prompts={
            "role.md": "You help.",
            "role-claude.md": "You are Claude, and help.",
            "continue.md": "Go on.\n",
        },
    )


def with_ai(settings: Settings, **fields: object) -> Settings:
    """Settings with other defaults for new discussions."""
    return replace(settings, ai=replace(settings.ai, **fields))  # type: ignore[arg-type]
