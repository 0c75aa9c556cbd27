"""The Agent panel: state, context and cost, what waits, activity, the todo list, changed files and their undo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import ApproveCall, KillCommands, SetTools, UndoTurn
from core.kernel.values.agent import AgentPage, AgentTurn, CallState, Mode, Sandbox
from core.kernel.values.discussion import CallPhase, OpenDiscussion
from core.kernel.values.messages import Message, ToolResultPart
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import Project
from core.kernel.values.state import AppState, CommandOutcome, WorkerStatus
from core.kernel.values.usage import Usage
from core.kernel.values.window import ViewCut
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.agent.agent_panel import turn_words
from panels.agent.agent_room import AgentView
from panels.discussion.tool_rounds import folded
from tests.panels import states
from tests.panels.agent import agent_states as ags
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields


def open_at(state: AppState, tab: str = "activity") -> Screen:
    return Screen(state, view_of(AgentView(tab=tab), panel="agent"))


def test_without_tools_it_says_what_they_would_be_and_gives_them() -> None:
    screen = open_at(replace(ags.off(), agent=replace(ags.off().agent, sandbox=ags.BARE)))
    assert screen.ui.shows("This discussion has no tools")
    assert screen.ui.shows("No sandbox limits commands here: bubblewrap is not installed.")

    screen.ui.click("Turn tools on")

    assert screen.asked == [SetTools("d1", has_tools=True)]


def test_an_untrusted_folder_is_said_to_get_no_file_and_command_tools() -> None:
    screen = open_at(with_fields(ags.off(), project=Project(root="/home/person/x", name="x", has_file=True)))

    assert screen.ui.shows("The model gets no file and command tools until you trust this project.")


def test_it_tells_how_the_turn_stands_how_full_the_context_is_and_what_it_cost() -> None:
    screen = open_at(ags.running())

    assert screen.ui.shows("1 call running · round 3")
    assert screen.ui.shows("≈12.4k / 200k")
    assert screen.ui.shows("This turn: $0.034")
    assert "1 command in the background" in screen.ui.tips()
    assert screen.ui.shows("Allowed for this discussion: edits inside the project")


def test_the_mode_is_chosen_in_the_panel_beside_the_composer_and_by_one_key() -> None:
    screen = open_at(ags.rested())
    screen.ui.choose("Next tool mode (Ctrl+M)", "Plan")
    screen.ui.press("Ctrl+M")
    (menu,) = [node for node in screen.ui.nodes("menu") if node.label == "Ask first"]
    screen.ui.open_menu(menu)
    screen.ui.click("Plan: the model only reads")

    assert screen.asked == [
        SetTools("d1", has_tools=True, mode=Mode.PLAN),
        SetTools("d1", has_tools=True, mode=Mode.ACCEPT_EDITS),
        SetTools("d1", has_tools=True, mode=Mode.PLAN),
    ]


def test_the_key_of_the_modes_says_no_yes_to_what_is_asked() -> None:
    """Two presses from asking to planning would have written the file that waits."""
    screen = open_at(ags.asking_edit())

    screen.ui.press("Ctrl+M")

    assert screen.asked == [SetTools("d1", has_tools=True, mode=Mode.PLAN)]


def test_what_waits_comes_to_the_front_once_and_is_answered_there() -> None:
    screen = open_at(ags.rested())
    screen.show(ags.asking_command())
    screen.ui.wait(0.5)
    assert screen.view.of(AgentView).tab == "waiting"
    (yes,) = [n for n in screen.ui.nodes("button") if n.label == "Allow once" and "agent" in n.path]
    screen.ui._record.events[yes.path, "click"] = True
    screen.ui.settle()
    assert screen.asked == [ApproveCall("d1", "t4", ags.COMMAND.id)]

    screen.ui.click("Activity")
    screen.ui.settle()
    assert screen.view.of(AgentView).tab == "activity"
    screen.show(ags.rested())
    assert screen.view.of(AgentView).tab == "activity"


def test_another_discussion_that_waits_is_one_click_away() -> None:
    state = ags.rested()
    turn = AgentTurn("d2", "m1", 1, (ags.ASKS_COMMAND,))
    screen = open_at(replace(state, agent=replace(state.agent, turns={"d2": turn})))
    assert screen.ui.shows("“Harvest worker design” waits for your answer")
    assert "A tool call waits for your approval" in screen.ui.tips()

    screen.ui.click("Open", within="waits for your answer")

    assert screen.asked == [SelectDiscussion("d2")]


def left(state: AppState, *ids: str, calls: int = 2, has_tools: bool = True) -> AppState:
    """Discussions that nobody opened since a program left calls in them."""
    rows = {**state.discussions.summaries}
    for one in ids:
        rows[one] = replace(rows["d2"], meta=replace(rows["d2"].meta, id=one, name=f"Left {one}", has_tools=has_tools),
                            left_calls=calls)  # fmt: skip
    return replace(state, discussions=replace(state.discussions, summaries=rows))


@pytest.mark.parametrize("state", [ags.rested(), ags.off(), with_fields(states.working(), selected_id="")])
def test_what_a_program_that_ended_left_is_told_before_it_is_opened(state: AppState) -> None:
    screen = open_at(left(state, "d2"))
    assert screen.ui.shows("“Left d2” has tool calls that wait for your answer")
    tip = "2 tool calls without an answer: open the discussion to answer, unless another program asks you"
    assert tip in screen.ui.tips()
    assert screen.ui.shows("2 tool calls need your approval")

    screen.ui.click("Open", within="that wait for your answer")

    assert screen.asked == [SelectDiscussion("d2")]


def test_what_was_left_is_told_by_its_turn_once_it_is_open_and_not_at_all_without_tools() -> None:
    state = left(ags.rested(), "d2")
    opened = replace(state.discussions, open={**state.discussions.open, "d2": OpenDiscussion("d2")})
    for shown in (replace(state, discussions=opened), left(ags.rested(), "d2", has_tools=False)):
        ui = open_at(shown).ui
        assert not ui.shows("waits for your answer")
        assert not ui.shows("that wait for your answer")


def test_calls_that_another_program_has_are_told_over_the_composer_in_the_panel_and_in_the_list() -> None:
    ui = open_at(states.with_opened(ags.rested(), held_calls=("c1", "c2"))).ui

    words = "Another window or terminal has 2 tool calls here: answer there."
    assert ui.shows(words)
    assert ui.shows("Another program works in this discussion")
    assert any(tip.startswith(words) for tip in ui.tips())
    assert not ui.shows("need your approval")


def test_of_many_that_wait_the_first_are_named_and_the_rest_counted() -> None:
    screen = open_at(left(ags.rested(), "x1", "x2", "x3", "x4", "x5", calls=1))

    assert screen.ui.shows("“Left x3” has tool calls that wait for your answer")
    assert screen.ui.shows("and 2 more of the discussions, each marked in the list")
    assert not screen.ui.shows("“Left x4” has tool calls that wait for your answer")


def test_activity_shows_each_call_with_its_time_and_unfolds_to_what_it_was_given_and_gave() -> None:
    screen = open_at(ags.running())
    assert screen.ui.shows("src/cachelab/slots.py")
    assert screen.ui.shows("failed · 2.0 s")
    assert screen.ui.shows("running · 9.0 s")
    assert screen.ui.shows("listening on 8080")

    screen.ui.click("Show input and result", within="src/cachelab/slots.py")
    assert screen.ui.shows('"path": "src/cachelab/slots.py"')
    assert screen.ui.shows("def touch(slot):")

    screen.ui.click("End", within="make serve")
    assert screen.asked == [KillCommands("d1", "t7")]


def test_a_thousand_calls_draw_only_those_in_view() -> None:
    screen = open_at(ags.long_past(1_000))

    screen.ui.scroll("activity")
    screen.ui.settle()
    rows = [node for node in screen.ui.nodes("list_row") if "agent" in node.path]
    assert 0 < len(rows) < 40
    assert screen.ui.shows("src/module_999.py")


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (CallPhase.WAITING, "Waiting for the model"),
        (CallPhase.STREAMING, "The model is writing"),
        (None, "Waiting for the model"),
    ],
)
@pytest.mark.parametrize("turn", [None, AgentTurn("d1", "m1", 2, (ags.READ,))])
def test_a_model_that_has_said_nothing_yet_is_not_said_to_write(
    turn: AgentTurn | None, phase: CallPhase | None, words: str
) -> None:
    assert turn_words(turn, phase, is_replying=True)[2] == words
    assert turn_words(None, None, is_replying=False)[2] == "Idle"


def test_hostile_names_and_arguments_are_shown_and_break_nothing() -> None:
    odd = (
        ags.call("o1", "no_such\u202etool", "{not json"),
        ags.call("o2", "x" * 4_000, '{"a": ' + "[" * 3_000),
        ags.call("o3", "bash", '{"command": "' + "y" * 50_000 + '"}'),
        ags.call("o4", "bash", "[1, 2]", CallState.INTERRUPTED),
        ags.call("o5", "", "", tail="\ud800"),
    )
    places = frozenset(("d1", one.id) for one in odd)
    screen = Screen(ags.with_agent(page=AgentPage(odd)), view_of(AgentView(open_calls=places), panel="agent"))

    assert screen.ui.nodes("list_row")
    screen.ui.scroll("activity", 0)
    screen.ui.settle()
    assert screen.ui.shows("no_such‹U+202E›tool")
    assert screen.ui.shows("{not json")


def test_the_todo_list_stands_as_the_model_keeps_it() -> None:
    screen = open_at(ags.rested(), "todo")

    assert screen.ui.has("Todo 1/3")
    assert [screen.ui.shows(item.text) for item in ags.TODO] == [True, True, True]


def test_changed_files_stand_by_turn_with_their_difference_and_open_by_a_click() -> None:
    screen = open_at(ags.rested(), "files")
    assert screen.ui.has("Files 2")
    assert screen.ui.shows("You undid the edits of this turn")

    screen.ui.click("Show the difference of src/cachelab/slots.py")
    assert screen.ui.shows("return replace(slot, ttl=slot.ttl + 300)")
    screen.ui.click(f"Copy the path {ags.CHANGES[1].path}")  # a desktop might run it
    assert screen.ui.copied == [ags.CHANGES[1].path]
    screen.ui.click("Open slots.md in editor")
    assert screen.ui.files == [ags.CHANGES[2].path]
    assert screen.ui.shows("return replace(slot, ttl=slot.ttl + 300)"), "a button in the line folds nothing"
    screen.ui.click("Hide the difference of src/cachelab/slots.py")
    assert not screen.ui.shows("return replace(slot, ttl=slot.ttl + 300)")


def test_a_new_file_whose_edits_were_undone_is_not_offered_to_be_opened() -> None:
    gone = replace(ags.CHANGES[2], is_undone=True)
    screen = open_at(ags.with_agent(page=AgentPage(changes=(gone,))), "files")

    assert screen.ui.shows("You undid the edits of this turn")
    assert screen.ui.has("Show the difference of docs/slots.md")
    assert not screen.ui.has("Open slots.md in editor")


def test_a_turn_s_edits_are_undone_after_a_question_that_names_them() -> None:
    screen = open_at(ags.rested(), "files")

    screen.ui.click("Undo this turn's edits")
    assert screen.ui.shows("docs/slots.md")
    assert screen.ui.shows("It does not undo commands.")
    screen.ui.click("Undo edits")
    assert screen.asked == [UndoTurn("d1", "m3")]

    (sent,) = [command for command in screen.sent if isinstance(command, UndoTurn)]
    left = CommandOutcome(sent.command_id, problem="docs/slots.md was changed since, and stays.")
    screen.show(with_fields(screen.state, outcomes=(left,)))
    assert screen.ui.shows("docs/slots.md was changed since, and stays.")


def test_edits_are_not_undone_while_the_turn_runs() -> None:
    screen = open_at(ags.running(), "files")

    assert not screen.ui.find("Undo this turn's edits", kind="button").is_enabled


def test_calls_and_results_stand_folded_in_the_conversation_and_results_name_their_call() -> None:
    screen = Screen(ags.spoken())
    assert screen.ui.shows("Read: answered")
    assert screen.ui.shows("Search files: failed")
    assert screen.ui.shows("Write: refused")
    assert not screen.ui.shows("line 39 of the file")
    assert screen.ui.shows("a plot.png")

    screen.ui.click("Show all 40 lines")
    assert screen.ui.shows("line 39 of the file")
    screen.ui.click("Show the arguments", within="src/cachelab/slots.py")
    assert screen.ui.shows('"path": "src/cachelab/slots.py"')


def test_of_a_long_answer_the_start_is_shown_and_of_a_command_the_end() -> None:
    text = "\n".join(f"line {n}" for n in range(40)) + "\n"

    assert folded(text).startswith("line 0\n")
    assert "line 39" not in folded(text)
    assert folded(text, at_end=True).endswith("line 39")
    assert len(folded("x" * 50_000)) < 2_000


def test_what_a_tool_answered_is_not_edited_nor_taken_out_from_between() -> None:
    screen = Screen(ags.spoken())
    screen.ui.right_click("Read: answered")

    assert not screen.ui.has("Edit", kind="menu_item")
    assert not screen.ui.has("Delete", kind="menu_item")
    screen.ui.click("Copy message as Markdown")
    assert screen.ui.copied[0].startswith("line 0 of the file")


def test_nothing_selected_says_so() -> None:
    screen = open_at(with_fields(states.working(), selected_id=""))

    assert screen.ui.shows("Choose a discussion to see the work of its tools.")


def with_window(profile: ModelProfile, used: int, cut: ViewCut | None = None) -> AppState:
    """The last reply's usage, and a model with that window."""
    state = ags.spoken()
    opened, meta = state.discussions.open["d1"], state.discussions.summaries["d1"].meta
    reply = replace(opened.messages[-1], usage=Usage(input_tokens=used, output_tokens=0))
    state = states.with_opened(state, entries=(*opened.entries[:-1], reply), cut=cut)
    profile = replace(profile, provider=meta.provider, id=meta.model)
    models = {**state.config.models, meta.provider: (profile,)}
    return replace(state, config=replace(state.config, models=models))


def test_the_meter_tells_of_the_window_what_is_assumed_how_full_it_is_and_what_left_the_view() -> None:
    known = open_at(with_window(ModelProfile("p", "m", context_tokens=100_000), 50_000), "todo").ui
    assert known.shows("50.0k / 100k · 50 %")
    assert known.find("50.0k / 100k · 50 %").props["tone"] == "muted"
    (bar,) = [node for node in known.nodes("progress") if node.props["marks"]]
    assert bar.props["marks"] == (0.6, 0.8, 0.9)
    assert not known.shows("assumed")

    cut = ViewCut(
        "c1", states.NOW - timedelta(days=1), begins_at="m4", left_messages=3, left_tokens_est=4_200
    )
    unknown = open_at(with_window(ModelProfile("p", "m"), 30_000, cut), "todo").ui
    assert unknown.shows("30.0k / 32.8k assumed · 92 %")
    assert unknown.find("30.0k / 32.8k assumed · 92 %").props["tone"] == "error"
    assert unknown.shows("the program assumes 32,768 tokens")
    assert unknown.shows("The model no longer reads 3 messages (≈4.2k tokens)")
    asking = with_fields(
        with_window(ModelProfile("p", "m"), 30_000), workers={"models": WorkerStatus("models", "busy")}
    )
    assert not open_at(asking, "todo").ui.shows("The context window of this model is unknown"), (
        "its server may just be telling"
    )

    context = Screen(with_window(ModelProfile("p", "m"), 30_000, cut), view_of(panel="context")).ui
    assert context.shows("The model no longer sees the first messages")
    assert context.shows("The model no longer reads 3 messages (≈4.2k tokens); the log keeps them.")


def test_the_tabs_stand_where_they_are_when_it_becomes_known_how_commands_are_confined() -> None:
    known = ags.rested()
    unknown = replace(known, agent=replace(known.agent, sandbox=Sandbox()))
    screen = open_at(unknown)
    lines = [node.path for node in screen.ui.nodes("text") if "state" in node.path]
    assert screen.ui.shows("Checking the sandbox for commands…")

    screen.show(known)

    assert screen.ui.shows("Commands run in the sandbox bubblewrap.")
    assert [node.path for node in screen.ui.nodes("text") if "state" in node.path] == lines


def test_an_answer_that_only_says_that_something_was_done_is_a_line_and_no_card() -> None:
    screen = open_at(ags.handed_over())

    assert screen.ui.shows("The model wrote to the journal · The model gave the turn back to you")
    assert screen.ui.shows("Which half comes next?"), "with the call"
    assert not screen.ui.shows("It is the person's turn."), "the model's words"
    assert "Tools" not in [node.value for node in screen.ui.nodes("text")]


def test_an_answer_of_another_kind_beside_them_keeps_its_card() -> None:
    state = ags.handed_over()
    *before, answered = state.discussions.open["d1"].entries
    assert isinstance(answered, Message)
    failed = replace(answered, parts=(answered.parts[0], ToolResultPart("t2", "No.", is_error=True)))
    screen = open_at(states.with_opened(state, entries=(*before, failed)))

    assert screen.ui.shows("Give the turn back to you: failed")
    assert screen.ui.shows("The model wrote to the journal")
    assert not screen.ui.shows("The model wrote to the journal."), "its words stand in a line"


@pytest.mark.parametrize(
    ("chord", "why"),
    [
        ("Ctrl+R", "This model has no effort levels."),
        ("Ctrl+M", "Turn tools on first: this discussion has no tool mode."),
        ("F5", "There is no failed message to send again."),
    ],
)
def test_a_key_that_can_do_nothing_says_why_until_the_next_one(chord: str, why: str) -> None:
    state = ags.off()
    row = state.discussions.summaries["d1"]
    plain = replace(row, meta=replace(row.meta, provider="anthropic", model="claude-haiku-4.8"))
    screen = Screen(with_fields(state, summaries={**state.discussions.summaries, "d1": plain}))
    screen.ui.press(chord)
    assert screen.ui.shows(why)
    assert not screen.asked

    screen.ui.press("Ctrl+7")
    assert not screen.ui.shows(why)
    screen.ui.press(chord)
    screen.ui.click("Dismiss")
    assert not screen.ui.shows(why)
    assert not screen.asked
