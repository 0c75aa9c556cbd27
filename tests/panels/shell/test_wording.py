"""What the window says is said to a person: no machine text in any panel, in any state."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from panels.agent.agent_room import TABS as AGENT_TABS
from panels.agent.agent_room import AgentView
from panels.base.view import RoomView, WindowView
from panels.caching.caching_room import CachingView
from panels.discussion.view import DiscussionView
from panels.harvest.harvest_room import HarvestView
from panels.knowledge.knowledge_room import KnowledgeView
from panels.retrieval.retrieval_room import TABS, RetrievalView
from panels.settings.settings_room import PAGES
from panels.shell.rooms import PANELS
from tests.panels import states
from tests.panels.agent import agent_states
from tests.panels.caching import cache_states
from tests.panels.harvest import harvest_states
from tests.panels.knowledge import knowledge_states
from tests.panels.mcp import mcp_states
from tests.panels.retrieval import retrieval_states
from tests.panels.screen import Screen
from tests.panels.signals import signal_states

MACHINE = {
    "a key and its value": re.compile(r"(?<![\w/.:\\])[a-z][a-z_-]*:(?![/\\\s]|$)\S"),
    "a time stamp": re.compile(r"\d{4}-\d\d-\d\dT|\d{4}-\d\d-\d\d \d\d:\d\d"),
    "seconds past a minute": re.compile(r"(?<![\w.$])(\d{3,}|[6-9]\d)(\.\d+)?\s?(s|sec|secs|seconds)\b"),
    "a clock that runs down": re.compile(r"\(in \d+:\d\d"),
    "n/a": re.compile(r"\bn/a\b", re.IGNORECASE),
    "an id": re.compile(r"\b\d{8}-\d{6}-[a-z]{6}\b"),
    "a value of code": re.compile(r"\b(True|False|null|NaN|inf)\b"),
    "a name of code": re.compile(r"(?<![\w/.`'\"<])[a-z]+_[a-z_]+(?![\w/.`'\">])"),
}
MODULES = {
    "caching": cache_states,
    "knowledge": knowledge_states,
    "harvest": harvest_states,
    "retrieval": retrieval_states,
    "agent": agent_states,
    "mcp": mcp_states,
    "signals": signal_states,
}
SAMPLES = {
    "presets": "working",
    "context": "working streaming failed busy",
    "caching": "caching fresh due",
    "knowledge": "some empty off_by_deletion off_by_configuration",
    "harvest": "unseen looked previewing previewed applied undone failed",
    "retrieval": "off indexed running answered degraded faulty",
    "agent": "off fresh running rested asking_edit asking_command asking_hostile alone alone_stopped",
    "usage": "working",
    "mcp": "none asking listed changed retold running untrusted",
    "signals": "none busy",
}
"""States in which a panel is looked at, by panel; of a panel's own module where it has one."""
PARTS: dict[str, tuple[type[RoomView] | None, tuple[str, ...]]] = {
    "caching": (CachingView, ("overview", "discussions", "settings")),
    "knowledge": (KnowledgeView, ("items", "digest")),
    "harvest": (HarvestView, ("conversations", "preview", "applied", "ledger")),
    "retrieval": (RetrievalView, TABS),
    "agent": (AgentView, AGENT_TABS),
}


PROVIDER_LINE = re.compile(r"\[.+\] in:.+ cache:.+ hit:.+ ttl:.+")
"""The one line that the specification wants word for word; a sentence stands under it."""


def _screens(panel: str) -> Iterator[Screen]:
    room, parts = PARTS.get(panel, (None, ("",)))
    for name in SAMPLES[panel].split():
        for part in parts:
            view = WindowView(panel=panel)
            view.of(DiscussionView).is_archive_open = view.of(DiscussionView).is_trash_open = True
            if room is not None:
                setattr(view.of(room), "tab", part)  # noqa: B010  each of these rooms has one
            yield Screen(getattr(MODULES.get(panel, states), name)(), view)


def _said(screen: Screen) -> Iterator[str]:
    """What the program says by itself: not what the person or a model wrote, nor code, paths and addresses."""
    own = {"text", "badge", "button", "tab", "menu", "checkbox"}
    for node in screen.ui.root.walk():
        if node.kind in own and not (node.kind == "text" and PROVIDER_LINE.fullmatch(node.value)):
            yield from filter(None, (node.label, node.value if isinstance(node.value, str) else ""))


def machine_text(text: str) -> list[str]:
    """Names of the kinds of machine text in a text."""
    return [name for name, pattern in MACHINE.items() if pattern.search(text)]


@pytest.mark.parametrize("panel", [panel.id for panel in PANELS])
def test_no_panel_speaks_like_a_machine(panel: str) -> None:
    assert {text for screen in _screens(panel) for text in _said(screen) if machine_text(text)} == set()


def test_no_page_of_the_settings_speaks_like_a_machine() -> None:
    views = [WindowView(page="settings", settings_section=section) for section in [page.id for page in PAGES]]

    assert {t for view in views for t in _said(Screen(states.working(), view)) if machine_text(t)} == set()


@pytest.mark.parametrize(
    "text",
    ["[Anthropic] in:340 cache:80 hit:23% ttl:4:32", "expires: 2026-06-12T15:32 (in 4:32)", "272.4 s left", "ttl n/a",
     "harvest:4, keep:1", "of 20261118-091204-tidesx", "user_kept 3"],
)  # fmt: skip
def test_machine_text_is_found(text: str) -> None:
    assert machine_text(text)


@pytest.mark.parametrize(
    "text",
    ["Anthropic: 836 of 82,100 tokens from the cache", "Expires in 4 minutes, at 14:09", "yesterday 14:05", "≈12.4k / 200k",
     "src/cachelab/slots.py", "http://127.0.0.1:8080/v1", "docs/**/*.md", "Why: AGENTS.md was edited"],
)  # fmt: skip
def test_what_a_person_would_say_is_not(text: str) -> None:
    assert not machine_text(text)
