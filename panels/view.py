"""What the window alone knows: half-typed text, open tabs and dialogs, pane widths. The only mutable state here."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

from core.values.commands import Command
from panels.harvest_view import HARVEST_TABS, HarvestView
from panels.knowledge_view import KNOWLEDGE_TABS, KnowledgeView
from panels.memo import Memo, Same

Page = Literal["chat", "settings"]
HubTab = Literal["presets", "context", "knowledge", "caching", "harvest"]
PAGES: tuple[Page, ...] = ("chat", "settings")
HUB_TABS: tuple[HubTab, ...] = ("presets", "context", "knowledge", "caching", "harvest")
CACHING_TABS = ("overview", "discussions", "settings")
SCROLLS_KEPT = 200

MessageKey = tuple[str, str]
"""Discussion id and message id: a branch has the same message ids as its parent."""


@dataclass(slots=True)
class Dialog:
    """The dialog that is open: what it is about, what was typed so far, the command that waits for its answer."""

    kind: str
    subject: str = ""
    text: str = ""
    at: int = 0
    command: Command | None = None


@dataclass(slots=True)
class Typing:
    """A text that the person types and the state keeps, without either overwriting the other.

    Args:
        text: what the editor holds now; revision: counts the times that the program replaced it.
        seen: the text of the last snapshot; pending: texts sent that no snapshot has shown yet.
    """

    text: str = ""
    revision: int = 0
    seen: str | None = None
    pending: deque[str] = field(default_factory=deque)

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
        """Put `text` into the editor, whatever stands there."""
        self.text = text
        self.revision += 1

    def typed(self, text: str) -> None:
        """The person changed the text."""
        self.text = text
        self.pending.append(text)


@dataclass(slots=True)
class ComposerView(Typing):
    """The composer of one discussion.

    Args:
        history_at: steps back into the prompt history, 0 while the person writes their own text.
        sent_from: the state that a send was clicked in, so that one state is never sent twice.
    """

    history_at: int = 0
    sent_from: Same | None = None


@dataclass(slots=True)
class FindView:
    """The find bar of the conversation: `at` counts matches from 0."""

    is_open: bool = False
    query: str = ""
    at: int = 0


@dataclass(slots=True)
class StructureView:
    """The file that the structure view shows, and the item of a preset that it belongs to."""

    preset: str
    item_path: str
    path: str
    tab: str = "outline"
    lines_error: str = ""


@dataclass(slots=True)
class ServerForm:
    """A compatible server being added or changed."""

    id: str = ""
    label: str = ""
    base_url: str = ""
    error: str = ""


@dataclass(slots=True)
class WindowView:
    """The window's own state. `to_toml` and `from_toml` carry what persists: pages, tabs, widths, scroll.

    `hub_px` 0: nobody dragged its edge, `panels.panes` gives it its width.
    """

    page: Page = "chat"
    hub_tab: HubTab = "presets"
    settings_section: str = "providers"
    list_px: float = 288.0
    hub_px: float = 0.0
    is_list_shown: bool = True
    is_hub_shown: bool = True
    is_archive_open: bool = False
    context_order: str = "canonical"
    caching_tab: str = "overview"
    knowledge_tab: str = "items"
    scroll: dict[str, int] = field(default_factory=dict)

    search_text: str = ""
    side: Literal["list", "hub"] = "list"
    room_px: float = 0.0
    focus: str = ""
    focus_not: str = ""
    dialog: Dialog | None = None
    renaming_id: str = ""
    composers: dict[str, ComposerView] = field(default_factory=dict)
    find: FindView = field(default_factory=FindView)
    editing: dict[MessageKey, str] = field(default_factory=dict)
    selecting: set[MessageKey] = field(default_factory=set)
    open_reasoning: set[MessageKey] = field(default_factory=set)
    scroll_to: int | None = None
    shown_id: str = ""
    is_at_end: bool = True
    add_text: str = ""
    open_items: set[tuple[str, str]] = field(default_factory=set)
    notes: dict[tuple[str, str], Typing] = field(default_factory=dict)
    structure: StructureView | None = None
    is_preview_open: bool = False
    open_layers: set[int] = field(default_factory=set)
    are_all_notices_shown: bool = False
    key_texts: dict[str, str] = field(default_factory=dict, repr=False)
    server_form: ServerForm | None = None
    was_trust_put_off: set[str] = field(default_factory=set)
    caching_query: str = ""
    caching_error: tuple[str, str] = ("", "")
    harvest: HarvestView = field(default_factory=HarvestView)
    knowledge: KnowledgeView = field(default_factory=KnowledgeView, repr=False)
    unasked: set[str] = field(default_factory=set)
    confirmed: Command | None = None
    memo: Memo = field(default_factory=Memo, repr=False)
    restored: str | None = None
    saved: tuple[object, ...] = ()

    def composer(self, discussion_id: str) -> ComposerView:
        """The composer of a discussion, made when it is first asked for."""
        return self.composers.setdefault(discussion_id, ComposerView())

    def note(self, preset: str, path: str, kept: str) -> Typing:
        """What is being typed as the notes of a file item."""
        typing = self.notes.setdefault((preset, path), Typing())
        typing.sync(kept)
        return typing

    def kept(self) -> tuple[object, ...]:
        """What persists, for noticing a change without writing anything."""
        return (
            self.page,
            self.hub_tab,
            self.settings_section,
            self.list_px,
            self.hub_px,
            self.is_list_shown,
            self.is_hub_shown,
            self.is_archive_open,
            self.context_order,
            self.caching_tab,
            self.knowledge_tab,
            self.harvest.tab,
            tuple(self.scroll.items()),
        )

    def to_toml(self) -> str:
        """What persists, as a TOML document."""
        import tomli_w

        document: dict[str, Any] = {
            "page": self.page,
            "hub_tab": self.hub_tab,
            "settings_section": self.settings_section,
            "list_px": self.list_px,
            "hub_px": self.hub_px,
            "is_list_shown": self.is_list_shown,
            "is_hub_shown": self.is_hub_shown,
            "is_archive_open": self.is_archive_open,
            "context_order": self.context_order,
            "caching_tab": self.caching_tab,
            "knowledge_tab": self.knowledge_tab,
            "harvest_tab": self.harvest.tab,
            "scroll": dict(list(self.scroll.items())[-SCROLLS_KEPT:]),
        }
        return tomli_w.dumps(document)

    @classmethod
    def from_toml(cls, text: str) -> WindowView:
        """A window as `to_toml` left it. Whatever is missing, broken or out of range keeps its default."""
        view = cls()
        view.restore(text)
        return view

    def restore(self, text: str) -> None:
        """Take over what an earlier window left, in place."""
        import tomllib

        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return
        self.page = _one_of(found.get("page"), PAGES, self.page)
        self.hub_tab = _one_of(found.get("hub_tab"), HUB_TABS, self.hub_tab)
        self.context_order = _one_of(found.get("context_order"), ("canonical", "wire"), self.context_order)
        self.caching_tab = _one_of(found.get("caching_tab"), CACHING_TABS, self.caching_tab)
        self.knowledge_tab = _one_of(found.get("knowledge_tab"), KNOWLEDGE_TABS, self.knowledge_tab)
        self.harvest.tab = _one_of(found.get("harvest_tab"), HARVEST_TABS, self.harvest.tab)
        self.settings_section = _text(found.get("settings_section"), self.settings_section)
        self.list_px = _within(found.get("list_px"), 160, 800, self.list_px)
        self.hub_px = _within(found.get("hub_px") or None, 160, 1200, self.hub_px)
        self.is_list_shown = found.get("is_list_shown", self.is_list_shown) is True
        self.is_hub_shown = found.get("is_hub_shown", self.is_hub_shown) is True
        self.is_archive_open = found.get("is_archive_open", self.is_archive_open) is True
        self.scroll |= _scrolls(found.get("scroll"))
        self.saved = self.kept()


def _one_of(value: object, allowed: tuple[Any, ...], default: Any) -> Any:
    return value if isinstance(value, str) and value in allowed else default


def _text(value: object, default: str) -> str:
    return value if isinstance(value, str) else default


def _within(value: object, low: float, high: float, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return min(max(float(value), low), high) if value == value else default  # noqa: PLR0124 (NaN)


def _scrolls(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {k: v for k, v in value.items() if isinstance(v, int) and not isinstance(v, bool) and v >= 0}
