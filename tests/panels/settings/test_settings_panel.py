"""The settings page as a person meets it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command
from core.kernel.values.settings import (
    AiSettings,
    Appearance,
    AskedValue,
    Policies,
    PolicyAnswer,
    Project,
    ToolSettings,
)
from core.kernel.values.state import AppState
from core.services.settings.asked_values import question_id
from core.services.settings.settings_messages import (
    ChangeSetting,
    FindLocalServers,
    RefreshModels,
    RemoveServer,
    SaveServer,
    StoreKey,
    TrustProject,
)
from panels.base.view import WindowView
from panels.settings.settings_room import PAGES, SettingsView
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _page(section: str, state: AppState | None = None) -> Screen:
    return Screen(state or states.working(), WindowView(page="settings", settings_section=section))


def test_every_section_opens_from_the_list() -> None:
    screen = _page("about")

    for section, label in [(page.id, page.label) for page in PAGES]:
        screen.ui.click(label)
        assert screen.view.settings_section == section
        assert [n for n in screen.ui.nodes("text") if n.value == label or n.props["style"] == "h2"]


def test_up_and_down_walk_the_sections_and_stop_at_the_ends() -> None:
    screen = _page("providers")

    screen.ui.press("Up")
    assert screen.view.settings_section == "providers"
    for section in [page.id for page in PAGES[1:]]:
        screen.ui.press("Down")
        assert screen.view.settings_section == section
    screen.ui.press("Down")
    screen.ui.press("Up")
    assert screen.view.settings_section == PAGES[-2].id


def test_a_section_of_another_version_shows_the_first_one() -> None:
    assert _page("moon").ui.shows("Keys go to the system keyring")


def test_each_provider_says_where_its_key_is_and_what_is_wrong() -> None:
    screen = _page("providers")

    for words in (
        "needs no key",
        "key in the system keyring",
        "no key",
        "key in a file only you can read",
    ):
        assert screen.ui.shows(words)
    assert not screen.ui.shows("Enter a key in Settings"), "this is the page, and the field is here"


def test_a_provider_that_is_switched_off_says_so() -> None:
    off = replace(
        states.working().config.providers["gemini"], is_ready=False, problem="Turned off in your settings."
    )

    assert _page("providers", with_fields(states.working(), providers={"gemini": off})).ui.shows(
        "Turned off in your settings."
    )


def test_enter_in_the_field_of_a_key_saves_it() -> None:
    screen = _page("providers")
    screen.ui.type("OpenAI API key", "sk-secret")
    screen.ui.focus_on("OpenAI API key")

    screen.ui.press("Enter")

    assert screen.asked == [StoreKey("openai", "sk-secret")]


def test_a_key_is_stored_and_forgotten_by_the_window_and_never_shown() -> None:
    screen = _page("providers")
    screen.ui.type("OpenAI API key", " sk-secret ")
    assert not screen.ui.shows("sk-secret")

    screen.ui.click("Save the key of OpenAI")

    assert screen.asked == [StoreKey("openai", "sk-secret")]
    assert "sk-secret" not in repr(screen.asked)
    assert "sk-secret" not in repr(screen.view)
    assert screen.view.of(SettingsView).key_texts == {}


def test_an_empty_key_cannot_be_stored() -> None:
    assert not _page("providers").ui.find("Save the key of OpenAI").is_enabled


def test_a_stored_key_is_removed_and_one_from_the_environment_cannot_be() -> None:
    screen = _page("providers")
    screen.ui.click("Remove the stored key of Anthropic")
    assert screen.asked == [StoreKey("anthropic", "")]

    assert not screen.ui.find("Remove the stored key of OpenAI").is_enabled


def test_a_provider_is_tested_by_asking_for_its_models() -> None:
    screen = _page("providers")

    screen.ui.click("Ask Gemini for its models")

    assert screen.asked == [RefreshModels("gemini")]


def test_the_address_of_a_vendor_is_set_and_taken_back() -> None:
    screen = _page("providers")
    screen.ui.type("https://api.anthropic.com", "http://127.0.0.1:9")
    screen.ui.type("https://api.anthropic.com", "")

    assert screen.asked == [ChangeSetting("providers.anthropic.base_url", "http://127.0.0.1:9")]


def test_a_server_is_added_under_an_id_made_of_its_name() -> None:
    screen = _page("servers")
    screen.ui.click("Add server")
    screen.ui.type("Name, for example My Ollama", "My vLLM!")
    screen.ui.type("Address, for example http://127.0.0.1:11434/v1", "http://127.0.0.1:8000/v1")
    screen.ui.click("Save server")

    assert screen.asked == [SaveServer("my-vllm", "My vLLM!", "http://127.0.0.1:8000/v1")]
    assert not screen.ui.has("Save server")


@pytest.mark.parametrize(
    ("label", "address", "reason"),
    [("", "http://h/v1", "Use a name with letters or digits"), ("Box", "http://h/v1", "A provider named 'box' already exists"),
     ("OpenAI", "http://h/v1", "A provider named 'openai' already exists"),
     ("New", "h/v1", "'h/v1' is not an address"), ("New", "file:///etc", "'file:///etc' is not an address")],
)  # fmt: skip
def test_a_server_that_cannot_work_is_refused_with_the_reason(label: str, address: str, reason: str) -> None:
    screen = _page("servers")
    screen.ui.click("Add server")
    screen.ui.type("Name, for example My Ollama", label)
    screen.ui.type("Address, for example http://127.0.0.1:11434/v1", address)

    screen.ui.click("Save server")

    assert screen.asked == []
    assert screen.ui.shows(reason)


def test_a_server_is_changed_under_its_id_and_removed() -> None:
    screen = _page("servers")
    screen.ui.click("Change Box")
    screen.ui.type("Name, for example My Ollama", "Big Box")
    screen.ui.click("Save server")
    screen.ui.click("Remove Box")
    screen.ui.click("Keep")
    screen.ui.click("Remove Box")
    assert screen.ui.shows("This removes the provider at http://127.0.0.1:8080/v1 from your settings.")
    screen.ui.click("Remove")

    assert screen.asked == [SaveServer("box", "Big Box", "http://127.0.0.1:8080/v1"), RemoveServer("box")]


def test_servers_of_this_machine_are_looked_for() -> None:
    screen = _page("servers")

    screen.ui.click("Find local servers")

    assert screen.asked == [FindLocalServers()]


def test_the_model_of_new_discussions_is_chosen() -> None:
    screen = _page("models")

    screen.ui.choose("Model of new discussions", "Gemini 4 Pro")

    assert screen.asked == [
        ChangeSetting("ai_settings.provider", "gemini"),
        ChangeSetting("ai_settings.model", "gemini-4-pro"),
    ]


def test_models_are_listed_with_their_window_and_refreshed() -> None:
    screen = _page("models")
    assert screen.ui.shows("200k window · images")

    screen.ui.click("Refresh the models of OpenAI")

    assert screen.asked == [RefreshModels("openai")]


@pytest.mark.parametrize(
    ("label", "option", "key", "value"),
    [("Theme", "Light", "appearance.theme", "light"),
     ("Interface size", "150%", "appearance.ui_scale", 1.5),
     ("Key that sends", "Enter", "appearance.send_key", "enter")],
)  # fmt: skip
def test_looks_and_the_send_key_are_settings(label: str, option: str, key: str, value: str | float) -> None:
    screen = _page("appearance")

    screen.ui.choose(label, option)

    assert screen.asked == [ChangeSetting(key, value)]


def test_a_scale_from_a_settings_file_is_among_the_choices() -> None:
    settings = replace(states.working().config.settings, appearance=Appearance(ui_scale=1.37))

    assert (
        _page("appearance", with_fields(states.working(), settings=settings))
        .ui.find("Interface size", kind="combo")
        .value
        == "137%"
    )


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("5_000_000", [ChangeSetting("files.max_file_bytes", 5_000_000)]), ("2000000", []), ("-1", []), ("0", []),
     ("much", []), ("9" * 30, [])],
)  # fmt: skip
def test_a_limit_is_a_whole_number_above_zero(typed: str, asked: list[Command]) -> None:
    screen = _page("files")

    screen.ui.type("Largest file in a preset", typed)

    assert screen.asked == asked


def test_trust_is_given_and_taken_on_the_project_page() -> None:
    screen = _page("project")
    screen.ui.click("Open in editor")
    assert screen.ui.files == [f"{screen.state.config.project.root}/manual_slop.toml"]
    screen.ui.click("Stop trusting")
    assert screen.asked == [TrustProject(is_trusted=False)]

    project = replace(
        states.working().config.project,
        is_trusted=False,
        asked=(AskedValue(("settings", "k"), "1", "k = 1"),),
    )
    screen = _page("project", with_fields(states.working(), project=project))
    assert screen.ui.shows("•  Setting: k = 1.")
    screen.ui.click("Review requests", within="You do not trust this folder yet.")
    screen.ui.click("Trust these requests")

    assert screen.asked == [TrustProject(is_trusted=True, shown=question_id(project.asked))]


def test_without_a_project_the_page_says_what_still_works() -> None:
    assert _page("project", with_fields(states.working(), project=Project())).ui.shows(
        "No project folder is open."
    )
    bare = replace(states.working().config.project, has_file=False)
    assert _page("project", with_fields(states.working(), project=bare)).ui.shows(
        "This folder has no manual_slop.toml yet"
    )


def test_persona_and_system_prompt_of_new_discussions_are_chosen_and_shown() -> None:
    screen = _page("prompts")
    screen.ui.choose("Persona of new discussions", "terse reviewer")
    screen.ui.choose("System prompt of new discussions", "strict")
    assert screen.asked == [
        ChangeSetting("ai_settings.persona", "terse reviewer"),
        ChangeSetting("ai_settings.system_prompt_preset", "strict"),
    ]

    chosen = replace(
        screen.state.config.settings, ai=AiSettings(system_prompt_preset="strict", persona="gone")
    )
    screen = _page("prompts", replace(screen.state, config=replace(screen.state.config, settings=chosen)))

    assert screen.ui.shows("Follow the house style.")
    assert screen.ui.find("Persona of new discussions", kind="combo").value == "gone (missing)"
    screen.ui.choose("Persona of new discussions", "None")
    assert screen.asked == [ChangeSetting("ai_settings.persona", None)]


def test_the_about_page_names_the_home_the_versions_and_the_licences() -> None:
    screen = _page("about")

    for words in ("/home/person/.manual_slop", "Dear PyGui", "2.3.1", "OFL 1.1", "Apache-2.0"):
        assert screen.ui.shows(words)


def _with_tools(tools: ToolSettings, policies: Policies | None = None) -> AppState:
    state = states.working()
    project = replace(state.config.project, policies=policies or Policies())
    settings = replace(state.config.settings, tools=tools)
    return replace(state, config=replace(state.config, settings=settings, project=project))


def test_policies_of_tools_are_set_for_every_folder_and_for_one() -> None:
    root = states.working().config.project.root
    tools = ToolSettings(prefixes=("git log", "git status"), folders={"~/work": {"edits": "refuse"}})
    screen = _page("tools", _with_tools(tools, Policies(commands=PolicyAnswer.REFUSE)))

    assert screen.ui.shows("Commands: refuse, without asking you")
    screen.ui.choose("Writes and edits", "Allow")
    screen.ui.click("Remove: git log")
    screen.ui.type("Hosts whose pages the program fetches without a question", " docs.python.org ")
    assert screen.sent == [
        ChangeSetting("tools.edits", "allow"),
        ChangeSetting("tools.prefixes", ("git status",)),
    ], "a host that is typed counts when it is added, not before"
    screen.ui.click("Add: docs.python.org")
    assert screen.sent[2:] == [ChangeSetting("tools.hosts", ("docs.python.org",))]

    screen.ui.choose("Folder with everything below it", root)
    screen.ui.choose("Commands", "Ask")
    screen.ui.choose("Folder with everything below it", "~/work")
    screen.ui.click("Use the rules for all folders")
    assert screen.sent[3:] == [
        ChangeSetting(f"tools.folders.{root}.commands", "ask"),
        ChangeSetting("tools.folders.~/work.edits", None),
    ]
