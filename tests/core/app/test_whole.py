"""The whole program without a window: real home, real files, a real SDK over loopback, real processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.errors import FailureKind, LockedError
from core.kernel.values.curation import FileItem
from core.kernel.values.messages import Mark, Status
from core.kernel.values.state import AppState
from core.services.settings.settings_rules import profile_of
from core.talk.context.context_messages import CreatePreset, SavePreset
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChangeDiscussion,
    CreateDiscussion,
    DeleteDiscussion,
    SearchDiscussions,
    SelectDiscussion,
    SetDraft,
    UndoDelete,
)
from core.talk.turn.turn_messages import CancelReply, RetrySend, SendPrompt
from tests.command_forks import FORKS
from tests.core.app.programs import WAIT_S, Programs, until
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said
from tests.vendors.loopback import DropAfter, Gate, HangUp, HoldAfter


class World(Programs):
    """A home, a project and a server; programs are started on them, one after the other."""

    def __init__(self, base: Path, server: CompatibleServer) -> None:
        super().__init__(base)
        (self.project / "tides.py").write_text("def turn() -> int:\n    return 6\n", encoding="utf-8")
        self.server = server
        config = base / "config.toml"
        config.write_text(
            f'[providers.local]\nkind = "compatible"\nbase_url = "{server.url}/v1"\n'
            f'[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n',
            encoding="utf-8",
        )
        os.environ["MANUAL_SLOP_CONFIG"] = str(config)

    def discussion(self, controller: AppController) -> str:
        before = set(controller.snapshot().discussions.summaries)
        controller.send(CreateDiscussion())
        state = until(controller, lambda s: bool(set(s.discussions.summaries) - before))
        return next(iter(set(state.discussions.summaries) - before))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        yield world
        world.stop()


def ask(controller: AppController, chosen: str, text: str) -> AppState:
    """Send and wait until the call is over."""
    count = len(controller.snapshot().discussions.open[chosen].entries)
    controller.send(SendPrompt(chosen, text))
    return until(
        controller,
        lambda s: chosen not in s.turns.calls and len(s.discussions.open[chosen].entries) > count + 1,
    )


def texts(state: AppState, chosen: str) -> list[str]:
    return [message.text for message in state.discussions.open[chosen].messages]


def assembled(state: AppState, chosen: str) -> str:
    """The stack as the Context view reads it."""
    report = state.context.reports.get(chosen)
    return "" if report is None else "".join(layer.text for layer in report.texts)


def test_a_turn_and_all_of_it_found_again_after_a_restart(world: World) -> None:
    first = world.start()
    chosen = world.discussion(first)
    world.server.replies.append(Said("It turns every six hours."))
    state = ask(first, chosen, "When does the tide turn?")
    assert texts(state, chosen) == ["When does the tide turn?", "It turns every six hours."]
    first.send(SetDraft(chosen, "And at ni"))
    until(first, lambda s: s.discussions.open[chosen].draft.text == "And at ni")
    first.stop()

    second = world.start()
    state = until(second, lambda s: chosen in s.discussions.open)

    assert state.discussions.selected_id == chosen
    assert texts(state, chosen) == ["When does the tide turn?", "It turns every six hours."]
    assert state.discussions.open[chosen].draft.text == "And at ni"
    row = state.discussions.summaries[chosen]
    assert (row.turns, row.meta.name) == (1, "When does the tide turn?")
    assert row.usage.input_tokens == state.discussions.open[chosen].messages[-1].usage.input_tokens  # type: ignore[union-attr]


def test_curated_files_go_out_as_they_are_at_the_moment_of_sending(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(CreatePreset("core", (FileItem("tides.py"),)))
    until(controller, lambda s: s.discussions.summaries[chosen].meta.preset == "core")
    (world.project / "tides.py").write_text("def turn() -> int:\n    return 12\n", encoding="utf-8")

    ask(controller, chosen, "When?")

    sent = json.dumps(world.server.bodies[-1])
    assert "return 12" in sent
    assert "return 6" not in sent


def test_an_edit_while_the_window_is_open_shows_in_the_context_by_itself(world: World) -> None:
    controller = world.start(watches=True)
    chosen = world.discussion(controller)
    controller.send(CreatePreset("core", (FileItem("tides.py"),)))
    until(controller, lambda s: "return 6" in assembled(s, chosen))

    (world.project / "tides.py").write_text("def turn() -> int:\n    return 12\n", encoding="utf-8")

    until(controller, lambda s: "return 12" in assembled(s, chosen))


def test_every_turn_sends_the_last_request_again_byte_for_byte_before_what_is_new(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(CreatePreset("core", (FileItem("tides.py"),)))
    until(controller, lambda s: s.discussions.summaries[chosen].meta.preset == "core")
    for question in ("one", "two", "three"):
        ask(controller, chosen, question)

    bodies = world.server.bodies
    for before, after in pairwise(bodies):
        *kept, last = before["messages"]
        assert after["messages"][: len(kept)] == kept
        again = after["messages"][len(kept)]["content"]
        assert again
        assert last["content"].startswith(again)


def test_a_stream_dropped_in_the_middle_keeps_its_part_and_is_retried_with_one_command(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    world.server.replies.extend([Said("It turns every six hours."), Said("Every six hours.")])
    world.server.faults.append(DropAfter(4))

    state = ask(controller, chosen, "When?")
    partial = state.discussions.open[chosen].messages[-1]
    assert partial.status is Status.PARTIAL
    assert "It turns every six hours.".startswith(partial.text)
    failure = state.discussions.open[chosen].failure
    assert failure is not None
    assert failure.kind is FailureKind.STREAM_DROPPED

    controller.send(RetrySend(chosen))
    state = until(controller, lambda s: texts(s, chosen)[-1:] == ["Every six hours."])
    assert texts(state, chosen) == ["When?", "Every six hours."]
    assert state.discussions.open[chosen].failure is None


def test_a_server_that_is_gone_loses_no_word(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    world.server.faults.extend([HangUp()] * 4)

    state = ask(controller, chosen, "When?")

    assert texts(state, chosen) == ["When?"]
    assert state.discussions.open[chosen].failed_message_id == state.discussions.open[chosen].messages[0].id
    assert any(notice.id == f"call/{chosen}" for notice in state.program.notices)
    assert any(
        isinstance(entry, Mark) and entry.kind == "failed" for entry in state.discussions.open[chosen].entries
    )


def test_stop_keeps_what_arrived(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    world.server.replies.append(Said("It turns every six hours."))
    gate = Gate()
    world.server.faults.append(HoldAfter(4, gate))
    controller.send(SendPrompt(chosen, "When?"))
    until(controller, lambda s: chosen in s.turns.calls and s.turns.calls[chosen].text != "")

    controller.send(CancelReply(chosen))
    state = until(controller, lambda s: chosen not in s.turns.calls)

    assert state.discussions.open[chosen].messages[-1].status is Status.INTERRUPTED
    assert state.discussions.open[chosen].messages[-1].text
    gate.open()


def test_switching_the_model_in_the_middle_keeps_the_conversation(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    controller.send(ChangeDiscussion(discussion_id=chosen, changes={"provider": "local", "model": "another"}))
    until(controller, lambda s: s.discussions.summaries[chosen].meta.model == "another")
    state = ask(controller, chosen, "two")

    failure = state.discussions.open[chosen].failure
    assert failure is not None
    assert "another" in failure.what
    assert [body["model"] for body in world.server.bodies][-1] == "another"
    assert "one" in json.dumps(world.server.bodies[-1]["messages"])


def test_a_branch_goes_its_own_way(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    state = ask(controller, chosen, "two")
    point = state.discussions.open[chosen].messages[1].id

    controller.send(BranchDiscussion(chosen, point))
    state = until(
        controller,
        lambda s: s.discussions.selected_id != chosen and s.discussions.selected_id in s.discussions.open,
    )
    branch = state.discussions.selected_id
    ask(controller, branch, "three")
    state = controller.snapshot()

    assert texts(state, branch)[0] == "one"
    assert "two" not in texts(state, branch)
    assert len(texts(state, chosen)) == 4
    assert state.discussions.summaries[branch].meta.parent_id == chosen


def test_a_second_program_on_the_home_is_refused_and_the_first_comes_forward(world: World) -> None:
    first = world.start()

    with pytest.raises(LockedError, match="already has this data folder open"):
        AppController(LocalOutside(OutsideOptions(home=world.home, start=world.project))).start()

    until(first, lambda s: s.program.raise_count == 1)


CHILD = """
import sys
from pathlib import Path
from core.app.controller import AppController
from core.app.outside import LocalOutside
from core.app.options import OutsideOptions
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.talk.turn.turn_messages import SendPrompt
controller = AppController(LocalOutside(OutsideOptions(home=Path(sys.argv[1]), start=Path(sys.argv[2]), watches=False)))
controller.start()
controller.wait_for(lambda s: bool(s.config.providers) and not s.program.is_loading, 30)
controller.send(CreateDiscussion())
state = controller.wait_for(lambda s: bool(s.discussions.selected_id), 30)
controller.send(SendPrompt(state.discussions.selected_id, "When?"))
chosen = state.discussions.selected_id
controller.wait_for(lambda s: len(s.turns.calls[chosen].text) >= 10 if chosen in s.turns.calls else False, 30)
print(chosen, flush=True)
controller.wait_for(lambda s: False, 60)
"""


@pytest.mark.slow
def test_what_arrived_survives_a_kill(world: World) -> None:
    world.server.replies.append(Said("It turns every six hours, " * 40))
    gate = Gate()
    world.server.faults.append(HoldAfter(27, gate))
    child = FORKS.program(CHILD, world.home, world.project)
    chosen = child.line()
    assert chosen
    assert gate.reached.wait(WAIT_S)
    child.kill()
    child.communicate()
    gate.open()

    controller = world.start()
    state = until(controller, lambda s: chosen in s.discussions.open)

    prompt, reply = state.discussions.open[chosen].messages
    assert prompt.text == "When?"
    assert reply.status is Status.INTERRUPTED
    assert len(reply.text) >= 10
    assert ("It turns every six hours, " * 40).startswith(reply.text)
    assert any("kept" in sentence for sentence in state.discussions.open[chosen].repaired)


def test_words_that_cannot_be_written_are_said_and_kept_in_the_composer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.kernel.errors import StorageError
    from core.talk.discussion import log

    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(SetDraft(chosen, "When?"))

    def full(*_args: object, **_kwargs: object) -> None:
        raise StorageError("No space is left on the disk", remedy="Free some space", errno=28)

    monkeypatch.setattr(log, "append", full)
    controller.send(SendPrompt(chosen, "When?"))
    state = until(controller, lambda s: any(n.id == "disk" for n in s.program.notices))

    assert state.discussions.open[chosen].draft.text == "When?"
    assert world.server.bodies == []
    monkeypatch.undo()
    os.environ["MANUAL_SLOP_CONFIG"] = ""


def test_a_discussion_that_is_gone_when_it_is_opened_is_no_fault_of_the_disk(world: World) -> None:
    controller = world.start()
    gone, shown = world.discussion(controller), world.discussion(controller)
    world.stop()
    again = world.start()
    assert gone in again.snapshot().discussions.summaries
    (world.home / "discussions" / gone).rename(world.home / "elsewhere")  # as a forgetting beside it does

    again.send(SelectDiscussion(gone))
    state = until(again, lambda s: bool(s.program.notices))

    assert [(n.id, n.discussion_id) for n in state.program.notices] == [(f"disk/{gone}", gone)]
    again.send(SelectDiscussion(shown))
    until(again, lambda s: shown in s.discussions.open)


def test_settings_edited_by_hand_count_at_once_and_a_broken_file_leaves_the_last_good(world: World) -> None:
    controller = world.start(watches=True)
    config = Path(os.environ["MANUAL_SLOP_CONFIG"])
    good = config.read_text(encoding="utf-8")

    config.write_text(good + '\n[appearance]\ntheme = "light"\n', encoding="utf-8")
    until(controller, lambda s: s.config.settings.appearance.theme == "light")
    config.write_text(good + "\n[appearance\n", encoding="utf-8")
    state = until(controller, lambda s: bool(s.config.settings_faults))

    assert state.config.settings.appearance.theme == "light"
    assert state.config.settings_faults[0].line is not None
    assert any(notice.id.startswith("settings/") for notice in state.program.notices)
    config.write_text(good, encoding="utf-8")
    until(controller, lambda s: not s.config.settings_faults and s.config.settings.appearance.theme == "dark")


def test_a_prompt_file_edited_by_hand_counts_at_once(world: World) -> None:
    controller = world.start(watches=True)
    chosen = world.discussion(controller)
    until(controller, lambda s: chosen in s.context.reports)
    prompts = world.home / "knowledge" / "prompts"
    prompts.mkdir(parents=True)

    (prompts / "role-open.md").write_text("You know the sea.\n", encoding="utf-8")

    until(controller, lambda s: "You know the sea." in s.context.reports[chosen].texts[0].text)


def test_a_model_is_known_before_its_server_has_listed_it_and_versions_are_told(world: World) -> None:
    state = world.start().snapshot()

    assert profile_of(state, "local", "a-model-nobody-listed").family == "open"
    assert {"Python", "dearpygui"} <= set(state.program.versions)


def test_a_preset_is_saved_into_the_projects_file_and_found_by_the_next_start(world: World) -> None:
    first = world.start()
    chosen = world.discussion(first)
    first.send(CreatePreset("core", (FileItem("tides.py"),)))
    until(first, lambda s: "core" in s.config.project.unsaved_presets)
    first.send(SavePreset("core"))
    until(first, lambda s: not s.config.project.unsaved_presets and s.config.project.has_file)
    assert "[presets.core]" in (world.project / "manual_slop.toml").read_text(encoding="utf-8")
    first.stop()

    state = until(world.start(), lambda s: chosen in s.discussions.open)
    assert [item.path for item in state.config.project.presets["core"].items] == ["tides.py"]
    assert state.discussions.summaries[chosen].meta.preset == "core"


def test_unsaved_work_on_a_preset_survives_a_restart(world: World) -> None:
    first = world.start()
    world.discussion(first)
    first.send(CreatePreset("core", (FileItem("tides.py"),)))
    until(first, lambda s: "core" in s.config.project.unsaved_presets)
    first.stop()

    state = world.start().snapshot()
    assert state.config.project.unsaved_presets == {"core"}
    assert [item.path for item in state.config.project.presets["core"].items] == ["tides.py"]


def test_a_deleted_discussion_comes_back_whole(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    before = controller.snapshot().discussions.open[chosen].entries

    controller.send(DeleteDiscussion(chosen))
    until(controller, lambda s: chosen not in s.discussions.summaries)
    controller.send(UndoDelete())
    state = until(controller, lambda s: chosen in s.discussions.open)

    assert state.discussions.open[chosen].entries == before
    assert replace(state.discussions.summaries[chosen].meta) == state.discussions.summaries[chosen].meta


def test_the_window_shows_at_once_what_a_command_beside_it_says_and_receives(world: World) -> None:
    window = world.start(watches=True)
    chosen = world.discussion(window)
    ask(window, chosen, "one")
    window.send(SetDraft(chosen, "half a sen"))
    until(window, lambda s: s.discussions.open[chosen].draft.text == "half a sen")
    world.server.replies.append(Said("Beside."))

    command = world.start(owns_home=False)
    command.send(SelectDiscussion(chosen))
    until(command, lambda s: chosen in s.discussions.open)
    ask(command, chosen, "two")
    command.stop()

    state = until(
        window,
        lambda s: (
            len(s.discussions.open[chosen].messages) == 4 and s.discussions.summaries[chosen].turns == 2
        ),
    )
    assert texts(state, chosen)[2:] == ["two", "Beside."]
    assert state.discussions.open[chosen].draft.text == "half a sen"
    world.server.replies.append(Said("And here."))
    state = ask(window, chosen, "three")
    assert texts(state, chosen)[2:] == ["two", "Beside.", "three", "And here."]


def test_what_a_command_said_before_is_not_overlooked_when_the_window_writes_next(world: World) -> None:
    """Nobody watches here: the next append finds the log longer than it was left."""
    window = world.start()
    chosen = world.discussion(window)
    command = world.start(owns_home=False)
    command.send(SelectDiscussion(chosen))
    until(command, lambda s: chosen in s.discussions.open)
    ask(
        command,
        chosen,
        "from the command",
    )
    command.stop()

    window.send(SendPrompt(chosen, "from the window"))
    state = until(
        window, lambda s: len(s.discussions.open[chosen].messages) == 4 and chosen not in s.turns.calls
    )

    assert texts(state, chosen)[::2] == [
        "from the command",
        "from the window",
    ]


def test_a_discussion_that_a_command_makes_or_deletes_comes_and_goes_in_the_windows_list(
    world: World,
) -> None:
    window = world.start(watches=True)
    own = world.discussion(window)
    command = world.start(owns_home=False)
    made = world.discussion(command)

    until(window, lambda s: made in s.discussions.summaries)
    command.send(DeleteDiscussion(own))
    until(command, lambda s: own not in s.discussions.summaries)

    state = until(window, lambda s: own not in s.discussions.summaries and bool(s.discussions.trash))
    assert state.discussions.selected_id == made
    assert [item.discussion_id for item in state.discussions.trash] == [own]


def test_a_new_name_is_found_at_once(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(ChangeDiscussion(discussion_id=chosen, changes={"name": "Spring tides"}))
    until(controller, lambda s: s.discussions.summaries[chosen].meta.name == "Spring tides")

    def is_found(state: AppState) -> bool:
        return state.discussions.search.is_complete and state.discussions.search.ids == (chosen,)

    for _ in range(50):
        controller.send(SearchDiscussions("spring"))
        if controller.wait_for(is_found, 0.5):
            break
    assert is_found(controller.snapshot())
