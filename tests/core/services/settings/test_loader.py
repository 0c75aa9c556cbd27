"""Settings from all their sources, a broken file, and the last good in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.errors import ConfigError
from core.kernel.values.curation import FileItem, Preset
from core.kernel.values.settings import ChannelSettings, HookSettings, KnowledgeSettings
from core.services.settings.settings_loader import ConfigRequest, check_override, config_request, load
from core.services.settings.settings_writer import keep_working
from tests.core.services.settings.answers import trust_shown


@pytest.fixture
def request_(tmp_path: Path) -> ConfigRequest:
    """Give an empty project, an empty configuration and an empty home."""
    root = tmp_path / "project"
    root.mkdir()
    config = tmp_path / "config"
    return ConfigRequest(config / "config.toml", config / "trusted.toml", tmp_path / "home", root, root)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _project(request: ConfigRequest, text: str) -> Path:
    return _write(request.root / "manual_slop.toml", text)


def test_nothing_configured_is_no_fault(request_: ConfigRequest) -> None:
    loaded = load(request_)

    assert loaded.faults == ()
    assert loaded.settings.ai.provider == ""
    assert loaded.project.name == "project"
    assert not loaded.project.has_file


def test_command_line_goes_before_environment_before_project_before_user(request_: ConfigRequest) -> None:
    _write(
        request_.config_file,
        '[ai_settings]\neffort = "low"\nmodel = "u"\nprovider = "openai"\npersona = "u"\n',
    )
    _project(request_, '[ai_settings]\neffort = "medium"\nmodel = "p"\npersona = "p"\n')
    trust_shown(request_)
    request = replace(
        request_,
        environ={"MANUAL_SLOP_EFFORT": "high", "MANUAL_SLOP_MODEL": "e"},
        overrides={"ai_settings.effort": "max"},
    )
    settings = load(request).settings

    assert (settings.ai.effort, settings.ai.model, settings.ai.persona) == ("max", "e", "p")
    assert settings.sources["ai_settings.effort"] == "command line"
    assert settings.sources["ai_settings.model"] == "environment MANUAL_SLOP_MODEL"
    assert settings.sources["ai_settings.persona"] == str(request.root / "manual_slop.toml")
    assert settings.sources["ai_settings.provider"] == str(request.config_file)


def test_a_file_that_breaks_leaves_its_last_good_settings_and_names_the_line(request_: ConfigRequest) -> None:
    _write(request_.config_file, "trash_days = 3\n")
    good = load(request_)
    _write(request_.config_file, "trash_days = 4\n\ntrash = \n")
    broken = load(request_, good)

    assert broken.settings.trash_days == 3
    (fault,) = broken.faults
    assert (fault.path, fault.line) == (str(request_.config_file), 3)
    assert "The program keeps the earlier settings" in fault.reason


def test_a_wrong_value_keeps_the_whole_files_last_good(request_: ConfigRequest) -> None:
    _write(request_.config_file, 'trash_days = 3\n[appearance]\ntheme = "light"\n')
    good = load(request_)
    _write(request_.config_file, 'trash_days = 9\n[appearance]\ntheme = "blue"\n')
    broken = load(request_, good)

    assert (broken.settings.trash_days, broken.settings.appearance.theme) == (3, "light")
    assert [fault.line for fault in broken.faults] == [3]


def test_the_last_good_is_kept_over_several_bad_loads_and_left_after_a_good_one(
    request_: ConfigRequest,
) -> None:
    _write(request_.config_file, "trash_days = 3\n")
    loaded = load(request_)
    for _ in range(3):
        _write(request_.config_file, "nonsense")
        loaded = load(request_, loaded)
        assert loaded.settings.trash_days == 3
    _write(request_.config_file, "trash_days = 5\n")
    loaded = load(request_, loaded)

    assert loaded.settings.trash_days == 5
    assert loaded.faults == ()


def test_at_the_first_start_the_values_that_hold_count_beside_one_that_does_not(
    request_: ConfigRequest,
) -> None:
    _write(request_.config_file, 'trash_days = 9\n[appearance]\ntheme = "blue"\n')
    loaded = load(request_)

    assert (loaded.settings.trash_days, loaded.settings.appearance.theme) == (9, "dark")
    assert len(loaded.faults) == 1


def test_an_unknown_key_is_said_and_nothing_else_is_lost(request_: ConfigRequest) -> None:
    _write(request_.config_file, 'trash_days = 3\n[appearance]\nthem = "light"\n')
    loaded = load(request_, load(request_))

    assert loaded.settings.trash_days == 3
    assert [(f.line, "did you mean appearance.theme?" in f.reason) for f in loaded.faults] == [(3, True)]


def test_a_file_that_is_gone_gives_defaults_and_not_its_last_good(request_: ConfigRequest) -> None:
    _write(request_.config_file, "trash_days = 3\n")
    good = load(request_)
    request_.config_file.unlink()

    assert load(request_, good).settings.trash_days == 30


def test_a_broken_project_keeps_its_last_good_presets(request_: ConfigRequest) -> None:
    _project(request_, '[presets.a]\nitems = ["x.py"]\n')
    trust_shown(request_)
    good = load(request_)
    _project(request_, '[presets.a]\nitems = ["x.py", 3]\n')
    broken = load(request_, good)

    assert broken.project.presets == {"a": Preset("a", (FileItem("x.py"),))}
    assert [fault.line for fault in broken.faults] == [2]


def test_the_last_good_of_another_project_does_not_count_here(
    request_: ConfigRequest, tmp_path: Path
) -> None:
    _project(request_, '[presets.a]\nitems = ["x.py"]\n')
    trust_shown(request_)
    good = load(request_)
    other = tmp_path / "other"
    _write(other / "manual_slop.toml", "broken")
    trust_shown(replace(request_, root=other, start=other))

    assert load(replace(request_, root=other, start=other), good).project.presets == {}


def test_an_untrusted_project_counts_for_nothing_and_says_what_it_asks(request_: ConfigRequest) -> None:
    _write(request_.root / "notes.md", "notes")
    _project(
        request_,
        '[project]\nname = "evil"\ncontext = ["notes.md"]\nidentity = false\nallowed_roots = ["/"]\n'
        '[ai_settings]\nprovider = "openai"\nmodel = "m"\n'
        '[providers.box]\nbase_url = "http://b"\n'
        '[presets.a]\nitems = ["x"]\n[personas.p]\ntext = "t"\n[system_prompts.s]\ntext = "t"\n',
    )
    loaded = load(request_)
    project = loaded.project

    assert loaded.settings == load(replace(request_, root=request_.root.parent)).settings
    assert (project.name, project.has_file, project.is_trusted) == ("project", True, False)
    assert (project.context, project.presets, project.personas, project.system_prompts) == ((), {}, {}, {})
    assert project.allowed_roots == ()
    assert len(project.asked) >= 7
    trust_shown(request_)
    trusted = load(request_, loaded)
    assert (trusted.project.asked, trusted.project.held_back) == ((), ())
    assert trusted.settings.ai.model == "m"
    assert trusted.settings.servers["box"].base_url == "http://b"
    assert trusted.project.context[0].text == "notes"


def test_a_trusted_project_cannot_move_a_vendor_nor_a_server_of_the_persons(request_: ConfigRequest) -> None:
    _write(request_.config_file, '[providers.box]\nbase_url = "http://mine"\n')
    _project(
        request_,
        '[providers.box]\nbase_url = "http://theirs"\n[providers.openai]\nbase_url = "http://theirs"\n'
        '[appearance]\ntheme = "light"\n[providers.new]\nbase_url = "http://new"\n',
    )
    trust_shown(request_)
    loaded = load(request_)

    assert loaded.settings.servers["box"].base_url == "http://mine"
    assert loaded.settings.servers["openai"].base_url == ""
    assert loaded.settings.servers["new"].base_url == "http://new"
    assert loaded.settings.appearance.theme == "dark"
    assert any("box, openai" in sentence for sentence in loaded.project.held_back)


def test_personas_and_prompts_are_read_from_files_of_the_project(request_: ConfigRequest) -> None:
    _write(request_.root / "p.md", "from a file\r\n")
    _project(
        request_,
        '[personas.a]\ntext = "inline"\n[personas.b]\nfile = "p.md"\n[system_prompts.c]\nfile = "absent.md"\n',
    )
    trust_shown(request_)
    loaded = load(request_)

    assert [(p.name, p.text) for p in loaded.project.personas.values()] == [
        ("a", "inline"),
        ("b", "from a file\n"),
    ]
    assert loaded.project.system_prompts == {}
    assert ["absent.md" in fault.path for fault in loaded.faults] == [True]


def test_context_from_outside_needs_an_allowed_root(request_: ConfigRequest, tmp_path: Path) -> None:
    outside = _write(tmp_path / "shared" / "rules.md", "rules")
    _project(request_, f'[project]\ncontext = ["{outside.as_posix()}"]\n')
    trust_shown(request_)

    refused = load(request_)
    assert refused.project.context == ()
    assert "allowed_roots" in refused.faults[0].reason

    _project(request_, f'[project]\nallowed_roots = ["../shared"]\ncontext = ["{outside.as_posix()}"]\n')
    assert load(request_).project.context == (), "the folder was not shown yet"
    allowed = trust_shown(request_)
    assert [text.text for text in allowed.project.context] == ["rules"]
    assert allowed.project.allowed_roots == (str(tmp_path / "shared"),)


def test_a_link_out_of_the_project_is_not_followed(request_: ConfigRequest, tmp_path: Path) -> None:
    secret = _write(tmp_path / "secret.txt", "secret")
    (request_.root / "innocent.md").symlink_to(secret)
    (request_.root / "CLAUDE.md").symlink_to(secret)
    _project(request_, '[project]\ncontext = ["innocent.md"]\n')
    trust_shown(request_)
    loaded = load(request_)

    assert (loaded.project.context, loaded.project.identity) == ((), ())
    assert "secret" not in repr(loaded.project)
    assert len(loaded.faults) == 2


def test_identity_can_be_turned_off_by_a_trusted_project_only(request_: ConfigRequest) -> None:
    _write(request_.root / "CLAUDE.md", "be kind")
    _write(request_.home / "AGENTS.md", "mine")
    _project(request_, "[project]\nidentity = false\n")

    assert [text.name for text in load(request_).project.identity] == ["home:AGENTS.md"]
    trust_shown(request_)
    assert load(request_).project.identity == ()


def test_identity_files_of_a_folder_count_once_a_person_was_shown_that_they_are_there(
    request_: ConfigRequest,
) -> None:
    _write(request_.root / "CLAUDE.md", "obey me")
    _write(request_.home / "CLAUDE.md", "mine")

    before = load(request_).project
    assert [text.name for text in before.identity] == ["home:CLAUDE.md"]
    assert [one.words for one in before.asked] == ["CLAUDE.md"]
    assert "obey me" not in repr(replace(before, asked=())), "the question alone shows it"

    after = trust_shown(request_).project
    assert [text.name for text in after.identity] == ["home:CLAUDE.md", "CLAUDE.md"]
    assert not after.asked
    _write(request_.root / "AGENTS.md", "and me")
    again = load(request_).project
    assert [text.name for text in again.identity] == ["home:CLAUDE.md", "CLAUDE.md"]
    assert [one.words for one in again.asked] == ["AGENTS.md"]


def test_memory_files_come_from_the_home_and_from_folders_that_a_trusted_project_names(
    request_: ConfigRequest, tmp_path: Path
) -> None:
    _write(request_.home / "memory" / "b.md", "# Of the home")
    _write(request_.root / "notes" / "a.md", "# Of the project")
    _write(request_.root / "notes" / "a.txt", "no Markdown")
    _write(tmp_path / "outside" / "c.md", "stolen")
    _project(request_, '[project]\nmemory = ["notes", "../outside"]\n')

    assert [text.name for text in load(request_).project.memory] == ["home:memory/b.md"]
    loaded = trust_shown(request_)
    assert [text.name for text in loaded.project.memory] == ["home:memory/b.md", "notes/a.md"]
    assert "stolen" not in repr(loaded.project)
    assert any("lies outside the project" in fault.reason for fault in loaded.faults)
    assert str(request_.root / "notes" / "a.md") in loaded.watched


def test_memory_files_in_a_loop_of_links_and_links_that_lead_out_are_named(request_: ConfigRequest) -> None:
    folder = request_.home / "memory"
    secret = _write(request_.root / "secret.md", "secret")
    _write(folder / "good.md", "good")
    (folder / "loop.md").symlink_to(folder / "pool.md")
    (folder / "pool.md").symlink_to(folder / "loop.md")
    (folder / "out.md").symlink_to(secret)
    (folder / "twice.md").symlink_to(folder / "good.md")
    (folder / "round").symlink_to(folder)
    (folder / "noise.md").write_bytes(b"\xff\xfe\x00")

    loaded = load(request_)

    assert [text.name for text in loaded.project.memory] == ["home:memory/good.md"]
    said = " ".join(fault.reason for fault in loaded.faults)
    for name in ("loop.md", "pool.md", "out.md", "noise.md"):
        assert f"memory/{name}" in said


def test_a_file_of_the_context_is_not_given_twice_as_identity(request_: ConfigRequest) -> None:
    _write(request_.root / "AGENTS.md", "rules")
    _project(request_, '[project]\ncontext = ["AGENTS.md"]\n')
    trust_shown(request_)
    project = load(request_).project

    assert ([text.name for text in project.context], project.identity) == (["AGENTS.md"], ())


def test_unsaved_presets_lie_over_those_of_the_file(request_: ConfigRequest) -> None:
    _project(request_, '[presets.a]\nitems = ["x"]\n[presets.b]\nitems = ["y"]\n')
    trust_shown(request_)
    edited, same, new = Preset("a", (FileItem("z"),)), Preset("b", (FileItem("y"),)), Preset("c")
    keep_working(request_.home, request_.root, (edited, same, new))
    project = load(request_).project

    assert project.presets == {"a": edited, "b": same, "c": new}
    assert project.unsaved_presets == {"a", "c"}


def test_every_file_that_matters_is_watched_even_before_it_exists(request_: ConfigRequest) -> None:
    _project(request_, '[project]\ncontext = ["absent.md"]\n[personas.p]\nfile = "p.md"\n')
    trust_shown(request_)
    watched = load(request_).watched

    for path in (
        request_.config_file,
        request_.trust_file,
        request_.root / "manual_slop.toml",
        request_.root / "absent.md",
        request_.root / "p.md",
        request_.root / "AGENTS.md",
        request_.home / "CLAUDE.md",
    ):
        assert str(path) in watched


def test_a_key_in_the_users_settings_is_said_and_never_shown(request_: ConfigRequest) -> None:
    _write(request_.config_file, 'trash_days = 3\n[providers.openai]\napi_key = "sk-secret"\n')
    loaded = load(request_, load(request_))

    assert [fault.line for fault in loaded.faults] == [3]
    assert "sk-secret" not in repr(loaded)


def test_an_unreadable_list_of_trust_trusts_nothing(request_: ConfigRequest) -> None:
    _project(request_, '[project]\nname = "x"\n')
    _write(request_.trust_file, "broken")

    assert not load(request_).project.is_trusted


def test_the_usual_places_come_from_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    monkeypatch.setenv("MANUAL_SLOP_HOME", str(tmp_path / "h"))
    request = config_request()

    assert (request.root, request.start, request.home) == (tmp_path, tmp_path / "deep", tmp_path / "h")
    assert request.config_file.name == "config.toml"
    assert request.trust_file.parent == request.config_file.parent
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "c" / "mine.toml"))
    assert config_request().config_file == tmp_path / "c" / "mine.toml"
    assert config_request().trust_file == tmp_path / "c" / "trusted.toml"


def test_a_value_of_the_command_line_is_checked_by_the_same_rules() -> None:
    assert check_override("trash_days", "7") == 7
    with pytest.raises(ConfigError, match="must be a whole number"):
        check_override("trash_days", "many")
    with pytest.raises(ConfigError, match="did you mean appearance"):
        check_override("apearance.theme", "dark")
    with pytest.raises(ConfigError):
        check_override("presets.<name>.items", "x")


def test_the_hook_api_is_turned_on_by_user_settings_or_the_command_line_and_never_by_a_project(
    request_: ConfigRequest,
) -> None:
    _project(request_, "[hooks]\nenabled = true\nport = 80\n")
    trust_shown(request_)
    assert load(request_).settings.hooks == HookSettings()
    assert "Hook API" in " ".join(load(request_).project.held_back)

    _write(request_.config_file, "[hooks]\nport = 4711\n")
    assert load(request_).settings.hooks == HookSettings(port=4711)
    asked = replace(request_, overrides={"hooks.enabled": True})
    assert load(asked).settings.hooks == HookSettings(enabled=True, port=4711)


HARVEST = """
[ai_settings.knowledge]
live_days = 2
max_source_bytes = 500
harvest_sources = ["~/talks", "/logs"]
harvest_provider = "gemini"
harvest_model = "small"
"""


def test_the_harvests_settings_are_the_persons(request_: ConfigRequest) -> None:
    request_.config_file.parent.mkdir(parents=True, exist_ok=True)
    request_.config_file.write_text(HARVEST)

    found = load(request_)

    assert found.faults == ()
    assert found.settings.knowledge == KnowledgeSettings(
        live_days=2.0,
        max_source_bytes=500,
        harvest_sources=("~/talks", "/logs"),
        harvest_provider="gemini",
        harvest_model="small",
    )


def test_a_trusted_project_sends_no_conversations_elsewhere_and_reclaims_no_bolder(
    request_: ConfigRequest,
) -> None:
    (request_.root / "manual_slop.toml").write_text(HARVEST)
    trust_shown(request_)

    found = load(request_)

    assert found.settings.knowledge == KnowledgeSettings()
    assert {key for key in found.settings.sources if "knowledge" in key} == set()


@pytest.mark.parametrize(
    "wrong",
    [
        "live_days = -1",
        "live_days = 3651",
        "max_source_bytes = 0",
        'harvest_sources = "one"',
        "harvest_sources = [1]",
        "harvest_sources = {}",
        "harvest_provider = 5",
    ],
)
def test_a_harvests_setting_that_cannot_be_is_named_with_its_line(
    request_: ConfigRequest, wrong: str
) -> None:
    request_.config_file.parent.mkdir(parents=True, exist_ok=True)
    request_.config_file.write_text(f"[ai_settings.knowledge]\n{wrong}\n")

    (fault,) = load(request_).faults

    assert fault.line == 2
    assert wrong.split(" = ", maxsplit=1)[0] in fault.reason


def test_channels_are_the_persons_alone_and_one_without_a_server_is_left_out(request_: ConfigRequest) -> None:
    ops = '[channels.ops]\nhost = "irc.example"\nroom = "#ops"\nsenders = ["alice"]\nport = 7000\n'
    _write(request_.config_file, f'{ops}password = "t0ps3cret"\n[channels.half]\nroom = "#half"\n')
    _project(
        request_, '[channels.evil]\nhost = "evil.example"\nroom = "#x"\n[notifications]\ndesktop = false\n'
    )
    trust_shown(request_)
    loaded = load(request_)

    assert loaded.settings.channels == {
        "ops": ChannelSettings("ops", "irc.example", "#ops", port=7000, senders=("alice",))
    }
    assert loaded.settings.notifications.desktop
    assert "channels.evil.host" in "".join(loaded.project.held_back)
    said = [fault.reason for fault in loaded.faults]
    assert any("does not use the IRC channel 'half': set its host" in reason for reason in said)
    assert any("a settings file never holds keys" in reason for reason in said)
    assert "t0ps3cret" not in "".join(said)
