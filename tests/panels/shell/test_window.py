"""The window as a whole: it never fails, whatever the state, and what it keeps comes back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.app.app_messages import SaveWindow
from core.kernel.errors import FailureKind
from core.kernel.values.curation import FileItem, FileMode, Preset
from core.kernel.values.discussion import (
    CallPhase,
    DiscussionMeta,
    DiscussionSummary,
    Draft,
    LiveCall,
    OpenDiscussion,
)
from core.kernel.values.messages import (
    AttachmentPart,
    Mark,
    Message,
    ReasoningPart,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import Failure, KeySource, ProviderKind, ProviderStatus
from core.kernel.values.settings import AskedValue, Project, SettingsFault
from core.kernel.values.stack import (
    ContextChange,
    ContextReport,
    LayerId,
    LayerReport,
    LayerText,
    SegmentReport,
)
from core.kernel.values.state import (
    AppState,
    ConfigState,
    ContextState,
    DiscussionsState,
    Level,
    Notice,
    ProgramState,
    SearchHits,
    TurnsState,
    WorkerStatus,
)
from core.kernel.values.usage import Usage
from core.talk.turn.turn_messages import CancelReply
from panels.base.view import Dialog, WindowView
from panels.context.context_room import ContextPanelView
from panels.discussion.view import DiscussionView
from panels.settings.settings_room import PAGES
from panels.shell.palette import DIALOGS
from tests.panels import states
from tests.panels.screen import Screen
from tests.recording_nodes import ProtocolError, icon_names
from tests.state_fields import with_fields

ids = st.sampled_from(["d1", "d2", "d3", "../x", ""])
words = st.text(max_size=12) | st.sampled_from(
    ["\x00\x1b[0m", "\u202eevil", "日本語" * 20, "x" * 300, "\n\n# h\n"]
)
times = st.integers(-10_000, 10_000).map(lambda hours: states.NOW + timedelta(hours=hours))
counts = st.none() | st.integers(0, 10**9)
money = st.none() | st.floats(0, 1e6)
usages = st.builds(Usage, input_tokens=counts, output_tokens=counts, cache_read_tokens=counts, cost_usd=money)
attachments = st.builds(
    AttachmentPart, words, st.sampled_from(["image/png", "text/plain", ""]), words, st.integers(0, 10**9)
)
parts = st.one_of(
    st.builds(TextPart, words), st.builds(ReasoningPart, words), st.builds(ToolCallPart, words, words, words),
    st.builds(ToolResultPart, words, words, st.booleans()), attachments,
)  # fmt: skip
messages = st.builds(
    Message, words, times, st.sampled_from(Role), st.lists(parts, max_size=3).map(tuple), st.sampled_from(Status),
    words, words, st.none() | usages, st.booleans(), st.booleans(),
)  # fmt: skip
entries = st.lists(
    messages | st.builds(Mark, words, times, words, words), max_size=5, unique_by=lambda e: e.id
)
failures = st.builds(Failure, st.sampled_from(FailureKind), words, words, words, st.none() | st.integers(100, 599), words,
                     st.none() | st.floats(0, 1e4))  # fmt: skip
metas = st.builds(
    DiscussionMeta, ids, words, times, st.sampled_from(["embedded", "openai", "gone", ""]), words,
    preset=st.sampled_from(["", "p", "gone"]), pinned=st.booleans(), archived=st.booleans(), parent_id=ids,
)  # fmt: skip
summaries = st.lists(
    st.builds(DiscussionSummary, metas, times, st.integers(0, 10**5), usages, words, words),
    max_size=4, unique_by=lambda s: s.meta.id,
).map(lambda rows: {row.meta.id: row for row in rows})  # fmt: skip
drafts = st.builds(Draft, words, st.lists(attachments, max_size=2, unique_by=lambda a: a.sha256).map(tuple))


@st.composite
def reports(draw: st.DrawFn) -> ContextReport:
    sizes = draw(st.lists(st.integers(0, 10**6), min_size=12, max_size=12))
    layers = tuple(
        LayerReport(layer, 0, size * 4, size * 5, size, "ab", (SegmentReport(f"{layer}/x", "a", 1, size),))
        for layer, size in zip(LayerId, sizes, strict=True)
    )
    change = draw(st.none() | st.builds(ContextChange, st.none() | st.sampled_from(LayerId), counts, st.integers(0, 9),
                                        st.integers(0, 9), words))  # fmt: skip
    limit = draw(st.none() | st.integers(1, 10**6))
    fits = limit is None or sum(sizes) <= limit
    return ContextReport(
        layers,
        (LayerText(("t",)),) * 12,
        0,
        sum(sizes),
        limit,
        draw(money),
        change,
        ("p",),
        draw(st.booleans()),
        fits,
    )


@st.composite
def app_states(draw: st.DrawFn) -> AppState:
    rows = draw(summaries)
    opened = {
        i: OpenDiscussion(i, tuple(draw(entries)), draw(drafts), None, draw(st.sampled_from(["", "m"])),
                          draw(st.none() | failures), draw(st.lists(words, max_size=5).map(tuple)))
        for i in draw(st.lists(ids, max_size=2, unique=True))
    }  # fmt: skip
    calls = {
        i: LiveCall("c", i, "u", "r", "openai", draw(words), draw(times), draw(st.sampled_from(CallPhase)),
                    draw(words), draw(words), None, None, draw(st.none() | times), draw(words))
        for i in draw(st.lists(ids, max_size=2, unique=True))
    }  # fmt: skip
    items = draw(st.lists(st.builds(FileItem, words, st.sampled_from(FileMode), notes=words), max_size=3,
                          unique_by=lambda item: item.path))  # fmt: skip
    project = Project(
        draw(words), draw(words), draw(st.booleans()), draw(st.booleans()),
        tuple(AskedValue(("personas", name), name, name, name) for name in draw(st.lists(words, max_size=3))),
        held_back=tuple(draw(st.lists(words, max_size=3))),
        presets={"p": Preset("p", tuple(items))}, unsaved_presets=draw(st.sampled_from([frozenset(), frozenset({"p"})])),
    )  # fmt: skip
    notices = draw(st.lists(st.builds(Notice, words, st.sampled_from(Level), words, words), max_size=5,
                            unique_by=lambda n: n.id))  # fmt: skip
    status = ProviderStatus("openai", ProviderKind.OPENAI, draw(words), draw(st.sampled_from(KeySource)),
                            is_ready=draw(st.booleans()), problem=draw(words))  # fmt: skip
    return AppState(
        program=ProgramState(
            home=draw(st.sampled_from(["", "/h"])),
            is_home_read_only=draw(st.booleans()),
            notices=tuple(notices),
            workers={
                "w": draw(
                    st.builds(
                        WorkerStatus,
                        words,
                        st.sampled_from(["idle", "busy", "failed"]),
                        words,
                        st.none() | st.floats(-1, 2),
                    )
                )
            },
            window_toml=draw(words),
            is_loading=draw(st.booleans()),
        ),
        now=draw(st.none() | times),
        config=ConfigState(
            settings_faults=tuple(
                draw(
                    st.lists(
                        st.builds(SettingsFault, words, st.none() | st.integers(1, 9), words), max_size=2
                    )
                )
            ),
            project=project,
            providers={"openai": status},
            models=states.models(),
        ),
        discussions=DiscussionsState(
            summaries=rows,
            selected_id=draw(ids),
            open=opened,
            search=draw(st.builds(SearchHits, words, st.lists(ids, max_size=3, unique=True).map(tuple))),
            prompt_history=tuple(draw(st.lists(words, max_size=2))),
        ),
        turns=TurnsState(calls=calls),
        context=ContextState(reports=draw(st.dictionaries(ids, reports(), max_size=2))),
    )


views = st.builds(
    WindowView, page=st.sampled_from(["chat", "settings"]), panel=st.sampled_from(["presets", "context"]),
    settings_section=st.sampled_from([page.id for page in PAGES]),
    dialog=st.none() | st.builds(Dialog, st.sampled_from([*DIALOGS, "gone"]), ids, words),
    rooms=st.fixed_dictionaries({
        DiscussionView: st.builds(DiscussionView, search_text=words, renaming_id=ids, is_archive_open=st.booleans(),
                                  scroll=st.dictionaries(ids, st.integers(0, 9), max_size=2)),
        ContextPanelView: st.builds(ContextPanelView, is_preview_open=st.booleans(), open_layers=st.sets(st.integers(1, 12))),
    }),
)  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(app_states(), views, st.sampled_from([500.0, 1_000.0, 1_600.0]))
def test_the_window_draws_whatever_the_state_is(state: AppState, view: WindowView, width: float) -> None:
    screen = Screen(state, view, width_px=width)

    assert screen.ui.root.children


@pytest.mark.parametrize(
    "state",
    [states.working, states.streaming, states.failed, states.first_run, states.busy, AppState],
    ids=["working", "streaming", "failed", "first run", "busy", "nothing"],
)
@pytest.mark.parametrize("width", [700.0, 1_280.0, 1_600.0])
def test_what_has_no_words_says_on_hover_what_it_is(state: type[AppState], width: float) -> None:
    """The recording Ui refuses buttons without label and tip; this says that there are such buttons to refuse."""
    screen = Screen(state(), width_px=width)
    wordless = [n for n in screen.ui.root.walk() if n.kind in {"button", "menu"} and not n.label]

    assert wordless
    assert all(node.tip for node in wordless)
    assert {n.props["icon"] for n in wordless} <= icon_names()


def test_nothing_is_drawn_in_the_window_that_an_open_dialog_covers_up_for_the_keys() -> None:
    """Chords of the window rest while a dialog is open: Ctrl+N must not start a discussion behind the palette."""
    screen = Screen(states.working(), WindowView(dialog=Dialog("shortcuts")))

    with pytest.raises(AssertionError, match="Nothing answers"):
        screen.ui.press("Ctrl+N")

    assert screen.asked == []


def test_escape_closes_one_thing_at_a_time_and_stops_the_reply_last() -> None:
    screen = Screen(states.streaming())
    screen.ui.press("Ctrl+F")
    screen.ui.press("Ctrl+,")
    steps = []
    for _ in range(3):
        screen.ui.press("Escape")
        steps.append((screen.view.of(DiscussionView).find.is_open, screen.view.page, list(screen.asked)))

    assert steps == [
        (False, "settings", []),
        (False, "chat", []),
        (False, "chat", [CancelReply("d1")]),
    ]


def test_panes_keep_the_width_they_were_dragged_to() -> None:
    screen = Screen(states.working())

    screen.ui.drag_edge(340, 800, 410)

    assert (screen.view.list_px, screen.view.hub_px) == (340, 410)
    again = Screen(with_fields(states.working(), window_toml=screen.only(SaveWindow).data_toml))
    assert (again.view.list_px, again.view.hub_px) == (340, 410)


def test_a_window_that_nobody_touches_writes_nothing() -> None:
    screen = Screen(states.working())

    screen.ui.settle()

    assert screen.sent == []


def test_nothing_is_written_before_what_was_kept_is_known() -> None:
    """The first frames come before the home is open: they must not overwrite the last window's layout."""
    screen = Screen(AppState())
    screen.view.list_px = 333
    screen.ui.settle()
    assert screen.sent == []

    screen.show(with_fields(AppState(), home="/h", window_toml="list_px = 410.0"))

    assert screen.view.list_px == 410


def test_a_read_only_home_is_not_written_to() -> None:
    screen = Screen(with_fields(states.working(), is_home_read_only=True))

    screen.ui.press("Ctrl+2")

    assert screen.sent == []


def test_the_rail_goes_to_the_list_the_panels_and_the_settings() -> None:
    screen = Screen(states.working())
    screen.ui.click("Discussions")
    assert not screen.ui.has("Search discussions")
    screen.ui.click("Discussions")
    assert screen.ui.has("Search discussions")

    screen.ui.click("Settings")
    assert screen.ui.shows("Providers and keys")
    screen.ui.click("Discussions")

    assert screen.ui.has("Write a message")


def test_what_later_issues_bring_is_absent_not_empty() -> None:
    labels = {node.label for node in Screen(states.working()).ui.root.walk() if node.label}

    assert "Presets" in labels
    assert "Agent" in labels
    assert not labels & {"Autonomy", "Channels", "MCP"}


def test_panels_hold_the_protocol_that_the_recording_ui_checks() -> None:
    screen = Screen(states.working())

    with pytest.raises(ProtocolError):
        screen.ui.as_ui().menu_item("stray", "Stray")
