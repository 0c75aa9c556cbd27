"""View of the window: its page, tabs, panes, views of its rooms, and the selection that it is about. The only mutable state here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from datetime import date
from typing import Any, ClassVar, Protocol, TypeVar, cast

import msgspec

from core.app.app_messages import Command
from core.kernel.language import tr
from core.kernel.values.agent import AgentPage, AgentTurn
from core.kernel.values.curation import Preset
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.kernel.values.messages import Message
from core.kernel.values.provider import ModelProfile
from core.kernel.values.stack import ContextReport
from core.kernel.values.state import AppState
from core.services.settings import settings_rules as models
from panels.base.window_fields import Kept, Panes, Side

# Selection that the window is about just now: the selected discussion, its model, its report.


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


def without_provider(name: str) -> str:
    """Sentence that nobody stands behind a discussion's model. `name`: of the provider that is set; empty for none."""
    if not name:
        return tr("Choose a model for this discussion")
    return tr("There is no provider named {provider!r}", provider=name)


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


# View of the window alone: its page, tabs and panes, and the views of its rooms. The only mutable state
# here.


class RoomView(Protocol):
    """View of a room; no other room reads it. `kept`: the fields that persist."""

    kept: ClassVar[tuple[Kept, ...]]


V = TypeVar("V", bound=RoomView)


class Dialog(msgspec.Struct):
    """The open dialog: its subject, the typed text, and the command that waits for its answer.

    Args:
        at: the marked line; is_entered: Enter waits until it is sure which line is the first.
    """

    kind: str
    subject: str = ""
    text: str = ""
    at: int = 0
    command: Command | None = None
    is_entered: bool = False


class Typing(msgspec.Struct):
    """A text that the person types and the state keeps, without either overwriting the other.

    Args:
        text: what the editor holds now; revision: counts the times that the program replaced it.
        seen: the text of the last snapshot; pending: texts sent that no snapshot has shown yet.
    """

    text: str = ""
    revision: int = 0
    seen: str | None = None
    pending: deque[str] = msgspec.field(default_factory=deque)

    def sync(self, kept: str) -> None:
        """Take over a text that the program changed; what the person typed meanwhile comes back by itself."""
        if kept == self.seen:
            return
        self.seen = kept
        if kept in self.pending:
            while self.pending.popleft() != kept:
                pass
            return
        self.pending.clear()
        if kept != self.text:
            self.replace(kept)

    def replace(self, text: str) -> None:
        """Replace the editor's text by `text`."""
        self.text = text
        self.revision += 1

    def typed(self, text: str) -> None:
        """The person changed the text."""
        self.text = text
        self.pending.append(text)


class WindowView(Panes):
    """The window's own state. `panels.shell.rooms` carries what persists of it and of its rooms.

    Args:
        room_px: width of all panes in the last frame, 0 before.
        is_hub_low: the panel in the hub has less height than it needs, and scrolls as a whole.
        notices_px: height of the notices in the last frame, which the pane that they stand in leaves free at its foot.
        focus: what takes the keyboard when it is drawn next; focus_not: the discussion whose composer does not.
        said: why the chord that was pressed last did nothing, with the discussion in front then; None: nothing to say.
        rooms: what each room alone knows, by its class; restored: what the last window left, None while unknown.
        saved: what persists as it was sent to disk last; asked: counts the commands whose outcome is waited for.
    """

    room_px: float = 0.0
    is_hub_low: bool = False
    notices_px: float = 0.0
    focus: str = ""
    focus_not: str = ""
    dialog: Dialog | None = None
    said: tuple[str, str] | None = None
    rooms: dict[type[Any], Any] = msgspec.field(default_factory=dict)
    memo: Memo = msgspec.field(default_factory=Memo)
    restored: str | None = None
    saved: tuple[object, ...] = ()
    asked: int = 0

    def __repr__(self) -> str:
        return f"WindowView({self.page!r}, {self.panel!r})"

    def next_id(self) -> str:
        """An id for a command whose outcome a panel waits for. A controller has one window."""
        self.asked += 1
        return f"window/{self.asked}"

    def of(self, room: type[V]) -> V:
        """View of one room, made when it is first asked for."""
        own: V | None = self.rooms.get(room)
        if own is None:
            own = self.rooms[room] = room()
        return own

    def show_side(self, side: Side) -> None:
        """Switch a side pane on and bring it into view."""
        self.page, self.side = "chat", side
        if side == "list":
            self.is_list_shown = True
        else:
            self.is_hub_shown = True

    def show_hub(self, panel: str) -> None:
        """Show a panel in the Operations Hub."""
        self.show_side("hub")
        self.panel = panel

    def show_settings(self, section: str) -> None:
        """Go to a section of the settings page."""
        self.page, self.settings_section = "settings", section
