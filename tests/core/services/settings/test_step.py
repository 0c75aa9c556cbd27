"""Start-up, settings, trust, presets, notices, the end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import (
    DismissNotice,
    HomeOpened,
    Quit,
    SaveWindow,
    WatchFiles,
    WriteWindow,
)
from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles, Preset
from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion
from core.kernel.values.provider import KeySource, ModelProfile, ProviderKind, ProviderStatus, TokenRates
from core.kernel.values.settings import AskedValue, Project, ServerSettings, SettingsFault
from core.kernel.values.state import Level, Notice
from core.kernel.values.updates import (
    OperationDone,
    OperationFailed,
    PathsChanged,
    Tick,
    Watched,
    WritesCaughtUp,
    outcome_of,
)
from core.kernel.values.usage import Usage
from core.services.settings.asked_values import question_id
from core.services.settings.settings_messages import (
    KeepPresets,
    LoadSettings,
    ModelsListed,
    OpenProject,
    PresetStored,
    PromptReset,
    RefreshModels,
    ResetPrompt,
    SavePrompt,
    SaveServer,
    ServersFound,
    SettingsLoaded,
    StoreKey,
    TrustProject,
    WarmUp,
    WritePreset,
    WriteTrust,
)
from core.services.spending.spending_messages import SpentCounted
from core.talk.context.context_messages import (
    AssembleContext,
    ChangePreset,
    CreatePreset,
    DeletePreset,
    FilesRead,
    RenamePreset,
    RevertPreset,
    SavePreset,
)
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    CreateDiscussion,
    CreateOnDisk,
    DiscussionCreated,
    LoadSummaries,
    WriteMeta,
)
from tests.core.app.playbook import Playbook, of, settings_loaded

ITEM = FileItem("src/a.py")
PROJECT = Project(
    root="/project", name="project", has_file=True, is_trusted=True, presets={"core": Preset("core", (ITEM,))}
)


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def test_a_home_that_opens_leads_to_settings_and_the_list() -> None:
    effects = Playbook().play(HomeOpened("/home/x"))
    assert of(effects, LoadSettings)
    assert of(effects, LoadSummaries)


def test_a_read_only_home_is_said_at_once() -> None:
    book = Playbook()
    book.play(HomeOpened("/home/x", is_read_only=True))
    assert book.state.program.is_home_read_only
    assert book.state.program.notices[0].level is Level.ERROR
    assert "/home/x" in book.state.program.notices[0].detail


def test_a_broken_settings_file_is_named_with_its_line_until_it_is_whole(book: Playbook) -> None:
    loaded = settings_loaded()
    fault = SettingsFault("/project/manual_slop.toml", 7, "Expected '=' after a key")
    book.play(SettingsLoaded(loaded.settings, (fault,), loaded.project, loaded.providers, loaded.models, {}))

    notice = next(n for n in book.state.program.notices if n.id.startswith("settings/"))
    assert "line 7" in notice.detail
    assert (notice.text, notice.level) == ("Expected '=' after a key", Level.ERROR)

    book.play(loaded)
    assert not [n for n in book.state.program.notices if n.id.startswith("settings/")]


def test_all_faults_of_a_file_stand_in_one_notice_and_an_unknown_key_is_no_error(book: Playbook) -> None:
    loaded = settings_loaded()
    path = "/project/manual_slop.toml"
    unknown = SettingsFault(path, 3, "Unknown key 'theem'", is_grave=False)
    grave = SettingsFault(path, 9, "ui_scale must be a number")

    book.play(replace(loaded, faults=(unknown,)))
    assert [n.level for n in book.state.program.notices if n.id.startswith("settings/")] == [Level.WARNING]

    book.play(replace(loaded, faults=(unknown, grave)))
    (notice,) = [n for n in book.state.program.notices if n.id.startswith("settings/")]
    assert (notice.level, notice.text) == (Level.ERROR, "ui_scale must be a number")
    assert "line 3: Unknown key 'theem'" in notice.detail


def test_saving_into_a_strangers_file_asks_for_trust_first_and_keeps_the_work(book: Playbook) -> None:
    book.play(settings_loaded(project=replace(PROJECT, is_trusted=False)))
    book.play(ChangePreset("core", ()))

    assert book.play(SavePreset("core")) == ()
    assert isinstance(book.state.program.notices[-1].action, TrustProject)
    assert book.state.config.project.unsaved_presets == {"core"}


def test_a_preset_that_holds_what_was_not_shown_is_not_written_over(book: Playbook) -> None:
    unseen = AskedValue(("presets", "core", "new.py"), "whole", "new.py")
    book.play(settings_loaded(project=replace(PROJECT, asked=(unseen,))))
    book.play(ChangePreset("core", ()))

    assert book.play(SavePreset("core")) == ()
    notice = book.state.program.notices[-1]
    assert notice.action == TrustProject(True, question_id((unseen,)))
    assert "asks for settings that you have not seen" in notice.text

    book.play(settings_loaded(project=PROJECT))
    assert of(book.play(SavePreset("core")), WritePreset)


def _asking(*names: str) -> Project:
    asked = tuple(AskedValue(("personas", name), name, name) for name in names)
    return Project(
        root="/strange", name="strange", has_file=True, asked=asked, held_back=("It holds a key.",)
    )


def _question(book: Playbook) -> Notice | None:
    return next((n for n in book.state.program.notices if n.id == "trust"), None)


def test_an_untrusted_project_asks_and_a_yes_is_to_what_was_shown(book: Playbook) -> None:
    strange = _asking("p", "q")
    book.play(settings_loaded(project=strange))

    notice = _question(book)
    assert notice is not None
    assert notice.text == "Do you trust the project “strange”?"
    assert "Persona: q." in notice.detail
    assert "It holds a key." in notice.detail

    effects = book.play(TrustProject(True, question_id(strange.asked)))
    assert of(effects, WriteTrust) == (WriteTrust("/strange", True, strange.asked),)
    assert _question(book) is None


@pytest.mark.parametrize("shown", ["", question_id(_asking("p").asked), "sha256:0"])
def test_a_yes_to_another_question_is_none(book: Playbook, shown: str) -> None:
    book.play(settings_loaded(project=_asking("p", "q")))

    assert book.play(TrustProject(True, shown, command_id="c")) == ()

    outcome = outcome_of(book.state, "c")
    assert outcome is not None
    assert "have changed since you saw them" in outcome.problem
    assert _question(book) is not None


def test_a_trusted_project_is_asked_about_again_for_what_is_new_and_only_then(book: Playbook) -> None:
    trusted = replace(_asking(), is_trusted=True, asked=())
    book.play(settings_loaded(project=trusted))
    assert _question(book) is None

    changed = replace(trusted, asked=_asking("p").asked)
    book.play(settings_loaded(project=changed))
    notice = _question(book)
    assert notice is not None
    assert notice.text == "The project “strange” asks for something new. Review it before it applies."

    book.play(settings_loaded(project=trusted))
    assert _question(book) is None


def test_a_folder_trusted_by_an_earlier_version_is_asked_about_once_with_the_reason(book: Playbook) -> None:
    book.play(settings_loaded(project=replace(_asking("p"), was_trusted_unseen=True)))

    notice = _question(book)
    assert notice is not None
    assert "You trusted this folder before" in notice.detail


def test_to_stop_trusting_nothing_need_be_shown(book: Playbook) -> None:
    book.play(settings_loaded(project=_asking("p")))

    assert of(book.play(TrustProject(False)), WriteTrust) == (WriteTrust("/strange", False),)


def test_work_on_a_preset_counts_at_once_and_is_kept_before_it_is_saved(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    chosen = book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))
    more = (ITEM, FileItem("src/b.py"))

    effects = book.play(ChangePreset("core", more))

    assert of(effects, KeepPresets)[0].presets == (Preset("core", more),)
    assert of(effects, AssembleContext)[0].spec.preset.items == more
    assert book.state.config.project.unsaved_presets == {"core"}


def test_a_pinned_item_goes_to_the_head_and_stays_there(book: Playbook) -> None:
    one, two, three = FileItem("one.py"), FileItem("two.py"), FileItem("three.py")
    book.play(CreatePreset("core", (one, two, replace(three, pinned=True))))
    book.play(ChangePreset("core", (two, replace(three, pinned=True), one)))

    assert [item.path for item in book.state.config.project.presets["core"].items] == [
        "three.py",
        "two.py",
        "one.py",
    ]


def test_unsaved_work_survives_a_reload_of_the_file(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    book.play(ChangePreset("core", ()))

    book.play(settings_loaded(project=PROJECT))

    assert book.state.config.project.presets["core"].items == ()


def test_saving_writes_the_file_and_then_nothing_is_unsaved(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    book.play(ChangePreset("core", ()))

    (write,) = of(book.play(SavePreset("core")), WritePreset)
    assert write.preset == Preset("core", ())
    book.play(PresetStored("core"))
    assert book.state.config.project.unsaved_presets == frozenset()


def test_revert_brings_back_what_the_file_says(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    book.play(ChangePreset("core", ()))

    assert of(book.play(RevertPreset("core")), LoadSettings)
    book.play(settings_loaded(project=PROJECT))
    assert book.state.config.project.presets["core"].items == (ITEM,)


def test_renaming_a_preset_takes_its_discussions_along(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    chosen = book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))

    effects = book.play(RenamePreset("core", "heart"))

    assert of(effects, WritePreset)[0].old_name == "core"
    assert book.state.discussions.summaries[chosen].meta.preset == "heart"
    assert list(book.state.config.project.presets) == ["heart"]


@pytest.mark.parametrize("name", ["", "  ", "core"])
def test_a_preset_needs_a_free_name(book: Playbook, name: str) -> None:
    book.play(settings_loaded(project=PROJECT))
    assert not of(book.play(CreatePreset(name)), KeepPresets)
    assert book.state.program.notices[-1].level is Level.WARNING


def test_a_duplicate_has_the_items_and_is_used_at_once(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    chosen = book.discussion()

    book.play(CreatePreset("copy", copy_of="core"))

    assert book.state.config.project.presets["copy"].items == (ITEM,)
    assert book.state.discussions.summaries[chosen].meta.preset == "copy"


def test_a_file_whose_name_is_not_text_is_refused_by_name_and_the_others_stay(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))

    book.play(ChangePreset("core", (ITEM, FileItem("caf\udce9.py"))))

    assert book.state.config.project.presets["core"].items == (ITEM,)
    assert "caf\\udce9.py" in book.state.program.notices[-1].text
    assert "Rename the file" in book.state.program.notices[-1].detail


def test_a_deleted_preset_sends_no_files(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    chosen = book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))

    effects = book.play(DeletePreset("core"))

    assert of(effects, WritePreset)[0].preset is None
    assert of(effects, AssembleContext)[0].spec.preset.items == ()


def test_a_deleted_preset_leaves_its_discussions_without_one_and_can_be_taken_back(book: Playbook) -> None:
    book.play(settings_loaded(project=PROJECT))
    chosen = book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))

    effects = book.play(DeletePreset("core"))

    assert [meta.meta.preset for meta in of(effects, WriteMeta)] == [""]
    assert book.state.discussions.summaries[chosen].meta.preset == ""
    undo = book.state.program.notices[-1].action
    assert isinstance(undo, CreatePreset)
    book.play(undo)
    assert book.state.config.project.presets["core"].items == (ITEM,)
    assert book.state.discussions.summaries[chosen].meta.preset == "core"


def test_files_in_use_are_watched_and_no_others(book: Playbook) -> None:
    found = ItemFiles(ITEM, (FileSnapshot("src/a.py", "/project/src/a.py"),))

    effects = book.play(FilesRead("core", (found,)))

    assert of(effects, WatchFiles)[0].paths == ("/project/src/a.py",)
    assert not of(book.play(FilesRead("core", (found,))), WatchFiles)


def test_the_rules_that_a_glob_follows_are_watched_with_its_files(book: Playbook) -> None:
    found = ItemFiles(
        ITEM, (FileSnapshot("src/a.py", "/project/src/a.py"),), rule_files=("/project/.gitignore",)
    )

    effects = book.play(FilesRead("core", (found,)))

    assert of(effects, WatchFiles)[0].paths == ("/project/.gitignore", "/project/src/a.py")


def test_settings_files_are_watched_as_such_and_a_change_reads_them_again(book: Playbook) -> None:
    loaded = replace(settings_loaded(), settings_paths=("/project/manual_slop.toml",))
    effects = book.play(loaded)
    assert of(effects, WatchFiles)[0].settings_paths == ("/project/manual_slop.toml",)

    assert of(book.play(PathsChanged(Watched.SETTINGS, ("/project/manual_slop.toml",))), LoadSettings)


def test_a_settings_file_that_changes_while_a_folder_is_being_opened_does_not_lead_back(
    book: Playbook,
) -> None:
    opening = of(book.play(OpenProject("/other")), LoadSettings)
    meanwhile = of(book.play(PathsChanged(Watched.SETTINGS, ("/project/manual_slop.toml",))), LoadSettings)
    stored = of(book.play(PresetStored("core")), LoadSettings)

    assert [load.root for load in (*opening, *meanwhile, *stored)] == ["/other", "", ""]


def test_a_compatible_server_is_asked_for_its_models(book: Playbook) -> None:
    loaded = settings_loaded()
    ollama = ProviderStatus("ollama", ProviderKind.COMPATIBLE, "Ollama", KeySource.NOT_NEEDED)
    effects = book.play(replace(loaded, providers={**loaded.providers, "ollama": ollama}))
    assert of(effects, RefreshModels) == (RefreshModels("ollama"),)

    book.play(ModelsListed("ollama", (ModelProfile("ollama", "llama"),)))
    assert book.state.config.models["ollama"][0].id == "llama"


def test_a_server_of_which_the_persons_file_tells_one_model_is_asked_until_it_has_listed_its_own(
    book: Playbook,
) -> None:
    """A price written by hand takes no model and no window away."""
    loaded = settings_loaded()
    ollama = ProviderStatus("ollama", ProviderKind.COMPATIBLE, "Ollama", KeySource.NOT_NEEDED)
    told = ModelProfile("ollama", "llama", rates=TokenRates(1.0, 2.0, as_of="2026-11-29"))
    loaded = replace(
        loaded,
        providers={**loaded.providers, "ollama": ollama},
        models={**loaded.models, "ollama": (told,)},
    )

    assert of(book.play(loaded), RefreshModels) == (RefreshModels("ollama"),)

    listed = replace(told, context_tokens=65_536, from_server=True)
    assert of(book.play(replace(loaded, models={"ollama": (listed,)})), RefreshModels) == ()


def test_a_discussion_without_a_model_takes_the_first_that_its_server_lists(book: Playbook) -> None:
    loaded = settings_loaded()
    ollama = ProviderStatus("ollama", ProviderKind.COMPATIBLE, "Ollama", KeySource.NOT_NEEDED)
    book.play(replace(loaded, providers={**loaded.providers, "ollama": ollama}))
    (create,) = of(book.play(CreateDiscussion(provider="ollama")), CreateOnDisk)
    book.play(DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id)))
    assert create.meta.model == ""

    listed = (ModelProfile("ollama", "llama"), ModelProfile("ollama", "qwen"))
    effects = book.play(ModelsListed("ollama", listed))

    assert [write.meta.model for write in of(effects, WriteMeta)] == ["llama"]
    assert not of(book.play(ModelsListed("ollama", listed[1:])), WriteMeta)


def test_the_embedded_model_starts_when_a_discussion_of_it_is_shown(book: Playbook) -> None:
    (create,) = of(book.play(CreateDiscussion()), CreateOnDisk)
    summary = DiscussionSummary(create.meta, book.at)
    effects = book.play(DiscussionCreated(summary, OpenDiscussion(create.meta.id)))
    assert of(effects, WarmUp) == (WarmUp("embedded"),)
    assert not of(book.play(Tick()), WarmUp)

    book.play(
        ChangeDiscussion(
            discussion_id=create.meta.id, changes={"provider": "anthropic", "model": "claude-opus-5-5"}
        )
    )
    assert of(
        book.play(
            ChangeDiscussion(
                discussion_id=create.meta.id, changes={"provider": "embedded", "model": "smollm2-135m"}
            )
        ),
        WarmUp,
    )


@pytest.mark.parametrize(
    ("name", "address"), [("", "http://localhost:1"), ("x", "localhost:1"), ("x", "file:///etc")]
)
def test_a_server_needs_a_name_and_a_web_address(book: Playbook, name: str, address: str) -> None:
    assert book.play(SaveServer(name, "", address)) == ()
    assert book.state.program.notices[-1].level is Level.WARNING


def test_a_found_server_is_offered_until_it_is_configured(book: Playbook) -> None:
    ollama = ServerSettings("ollama", "compatible", "Ollama", "http://127.0.0.1:11434/v1")
    book.play(ServersFound((ollama,)))
    assert list(book.state.config.found_servers) == [ollama]

    book.play(SaveServer("ollama", "Ollama", ollama.base_url))
    assert list(book.state.config.found_servers) == []


def test_information_leaves_by_itself_and_errors_stay(book: Playbook) -> None:
    book.play(OperationDone(subject="export", text="Exported."))
    book.play(OperationFailed("model", "No answer."))

    book.later(30).play(Tick())

    assert [n.text for n in book.state.program.notices] == ["No answer."]
    book.play(DismissNotice("model"))
    assert book.state.program.notices == ()


def test_a_full_disk_is_no_longer_said_when_all_is_written(book: Playbook) -> None:
    book.play(OperationFailed("disk", "The disk is full"))
    book.play(WritesCaughtUp("disk"))

    assert not any(n.id == "disk" for n in book.state.program.notices)


def test_a_notice_on_the_same_subject_replaces_the_one_before(book: Playbook) -> None:
    book.play(OperationFailed("model", "first"))
    book.play(OperationFailed("model", "second"))
    assert [n.text for n in book.state.program.notices] == ["second"]


def test_a_clock_that_jumps_back_does_not_keep_information_for_ever(book: Playbook) -> None:
    book.play(OperationDone(subject="export", text="Exported."))
    book.later(-86_400).play(Tick())
    assert book.state.program.notices == ()


def test_a_key_never_shows_in_a_command_or_effect(book: Playbook) -> None:
    command = StoreKey("anthropic", " sk-secret ")
    (write,) = of(book.play(command), StoreKey)
    assert write.key == "sk-secret"
    assert "secret" not in repr(command) + repr(write) + repr(book.state)


def test_quit_keeps_the_window_and_stops_the_workers(book: Playbook) -> None:
    book.play(SaveWindow("[panes]\nleft = 280\n"))
    effects = book.play(Quit())
    assert of(effects, WriteWindow)[0].window_toml.startswith("[panes]")
    assert of(effects, Quit)
    assert book.state.program.is_closing


def test_the_days_sum_grows_with_each_call_and_begins_anew_at_midnight(book: Playbook) -> None:
    book.play(SpentCounted(book.at - timedelta(hours=12), 1.0))
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first", Usage(input_tokens=1, cost_usd=0.5))
    assert book.state.spending.spent_today_usd == 1.5

    book.later(13 * 3600).play(Tick())
    assert book.state.spending.spent_today_usd == 0.0
    assert book.state.spending.day_start == book.at - timedelta(hours=1)


def test_a_prompt_is_written_with_the_text_that_it_began_with(book: Playbook) -> None:
    effects = book.play(SavePrompt("role.md", "Mine.\r\n", "You help."))
    assert effects == (SavePrompt("role.md", "Mine.\n", "You help."),)

    assert book.play(ResetPrompt("role.md", "Mine.\n")) == (ResetPrompt("role.md", "Mine.\n"),)
    book.play(PromptReset("role.md", "Mine.\n"))
    assert book.state.program.notices[-1].action == SavePrompt("role.md", "Mine.\n")


@pytest.mark.parametrize(
    ("command", "why"),
    [(SavePrompt("moon.md", "x"), "no prompt 'moon.md'"), (SavePrompt("role.md", " "), "would be empty"),
     (ResetPrompt("moon.md"), "no prompt")],
)  # fmt: skip
def test_a_prompt_that_nothing_reads_is_refused(
    book: Playbook, command: SavePrompt | ResetPrompt, why: str
) -> None:
    assert not of(book.play(command), type(command))
    assert why in book.state.program.notices[-1].text
