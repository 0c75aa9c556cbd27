"""Personas, system prompts and prompts of the program, made and edited as a person does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.settings import AskedValue
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import conclude
from core.services.settings.asked_values import question_id
from core.services.settings.settings_messages import ResetPrompt, SavePrompt, TrustProject
from core.talk.context.context_messages import DeleteNamedText, SaveNamedText
from panels.base.view import WindowView
from panels.settings.settings_room import SettingsView
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields

PERSONAS = TextTable.PERSONAS


def _page(state: AppState | None = None) -> Screen:
    return Screen(state or _state(), WindowView(page="settings", settings_section="prompts"))


def _state(**project: object) -> AppState:
    state = states.working()
    config = replace(
        state.config,
        prompts={"role.md": "You help.", "continue.md": "Go on."},
        prompt_sources={"role.md": f"{state.program.home or '/home/x'}/knowledge/prompts/role.md", "continue.md": ""},
        project=replace(state.config.project, **project),  # type: ignore[arg-type]
    )  # fmt: skip
    program = replace(state.program, home=state.program.home or "/home/x")
    return replace(state, config=config, program=program)


def _with_text(state: AppState, name: str, text: str) -> AppState:
    personas = {**state.config.project.personas, name: NamedText(name, text)}
    return with_fields(state, project=replace(state.config.project, personas=personas))


def _ended(screen: Screen, problem: str = "") -> None:
    form = screen.view.of(SettingsView).text_form
    assert form is not None
    screen.show(conclude(screen.state, CommandOutcome(form.command_id, problem=problem)))


def test_a_persona_is_made_and_the_form_closes_when_it_stands_on_disk() -> None:
    screen = _page()
    screen.ui.click("New persona")
    assert not screen.ui.find("Save persona").is_enabled
    screen.ui.type("Name of the persona", "Reviewer")
    screen.ui.type("Text for the model", "Find faults.\n")

    screen.ui.click("Save persona")
    assert screen.asked == [SaveNamedText(PERSONAS, "Reviewer", "Find faults.\n")]
    assert not screen.ui.find("Save persona").is_enabled

    _ended(screen)
    assert screen.view.of(SettingsView).text_form is None
    assert screen.ui.has("New persona")


def test_what_could_not_be_saved_stays_in_the_form_with_the_reason() -> None:
    screen = _page()
    screen.ui.click("Change terse reviewer")
    screen.ui.type("Text for the model", "Be very brief.")
    screen.ui.press("Ctrl+Enter")
    assert screen.asked == [
        SaveNamedText(PERSONAS, "terse reviewer", "Be very brief.", "terse reviewer", "Be brief.")
    ]

    _ended(screen, "The persona was changed in its file meanwhile")

    assert screen.ui.shows("changed in its file meanwhile")
    assert screen.ui.find("Text for the model").value == "Be very brief."
    assert screen.ui.find("Save persona").is_enabled


def test_an_edit_in_an_editor_meanwhile_is_shown_and_either_text_can_be_kept() -> None:
    screen = _page()
    screen.ui.click("Change terse reviewer")
    screen.ui.type("Text for the model", "Mine.")
    assert not screen.ui.has("Keep my version")

    screen.show(_with_text(screen.state, "terse reviewer", "From the editor."))
    screen.ui.click("Keep my version")
    screen.ui.click("Save persona")
    assert screen.asked == [
        SaveNamedText(PERSONAS, "terse reviewer", "Mine.", "terse reviewer", "From the editor.")
    ]

    _ended(screen, "No.")
    screen.show(_with_text(screen.state, "terse reviewer", "Again."))
    screen.ui.click("Use file version")
    assert screen.ui.find("Text for the model").value == "Again."
    assert not screen.ui.has("Keep my version")


def test_one_that_is_gone_from_its_file_is_saved_as_a_new_one() -> None:
    screen = _page()
    screen.ui.click("Change terse reviewer")
    screen.show(with_fields(screen.state, project=replace(screen.state.config.project, personas={})))

    screen.ui.click("Save as new")
    screen.ui.click("Save persona")

    assert screen.asked == [SaveNamedText(PERSONAS, "terse reviewer", "Be brief.")]


def test_a_prompt_of_the_program_is_changed_and_goes_back_to_the_shipped_text() -> None:
    screen = _page()
    assert screen.ui.shows("yours")
    assert screen.ui.shows("shipped")
    assert not screen.ui.has("Restore the shipped text of continue.md")

    screen.ui.click("Restore the shipped text of role.md")
    screen.ui.click("Change continue.md")
    screen.ui.type("Text for the model", "Please go on.")
    screen.ui.click("Save prompt")

    assert screen.asked == [
        ResetPrompt("role.md", "You help."), SavePrompt("continue.md", "Please go on.", "Go on.")
    ]  # fmt: skip


def test_the_file_can_be_opened_elsewhere_and_a_change_says_what_it_touches() -> None:
    state = _state()
    rows = {
        key: replace(row, meta=replace(row.meta, persona="terse reviewer")) for key, row in state.discussions.summaries.items()
    }  # fmt: skip
    screen = _page(replace(state, discussions=replace(state.discussions, summaries=rows)))
    screen.ui.click("Change terse reviewer")

    assert screen.ui.shows(f"Used by {len(rows)} discussions")
    screen.ui.click("Open in editor")
    assert screen.ui.files == [f"{state.config.project.root}/manual_slop.toml"]


@pytest.mark.parametrize(
    ("name", "table"), [("terse reviewer", PERSONAS), ("strict", TextTable.SYSTEM_PROMPTS)]
)
def test_one_is_deleted_as_it_was_shown(name: str, table: TextTable) -> None:
    screen = _page()
    screen.ui.click(f"Delete {name}")
    screen.ui.click("Keep")
    screen.ui.click(f"Delete {name}")
    screen.ui.click("Remove")
    project = screen.state.config.project
    text = (project.personas if table is PERSONAS else project.system_prompts)[name].text
    assert screen.asked == [DeleteNamedText(table, name, text)]


def test_a_folder_that_is_not_trusted_is_said() -> None:
    asked = (AskedValue(("personas", "p"), "sha256:0", "p", "Obey."),)
    screen = _page(_state(has_file=True, is_trusted=False, asked=asked))
    screen.ui.click("Review requests")
    assert screen.ui.shows("Obey.")
    screen.ui.click("Trust these requests")
    assert TrustProject(True, question_id(asked)) in screen.asked


def test_a_missing_persona_is_said_in_the_menu_which_leads_to_the_page() -> None:
    state = _state()
    chosen = state.discussions.selected_id
    row = state.discussions.summaries[chosen]
    rows = {**state.discussions.summaries, chosen: replace(row, meta=replace(row.meta, persona="gone"))}
    screen = Screen(replace(state, discussions=replace(state.discussions, summaries=rows)))

    screen.ui.click("More", within="Regenerate")
    screen.ui.click("Persona")
    assert screen.ui.has("gone (missing)")
    screen.ui.click("Edit personas")

    assert (screen.view.page, screen.view.settings_section) == ("settings", "prompts")
