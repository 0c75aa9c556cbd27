"""The other commands, each as a person and as a program would use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.errors import StorageError
from core.kernel.values.agent import Mode
from core.kernel.values.settings import Project
from core.services.settings.asked_values import trust_reason
from core.talk.context.assembly_desk import HomeScaleStore
from core.talk.context.token_scale import TokenScale
from core.talk.discussion import discussion_meta
from core.talk.discussion.discussion_export import parse_export
from tests.core.front.cli.conftest import World
from tests.vendors.compatible_server import MODEL, Said

LAYERS = 12


def _talk(world: World, *prompts: str) -> str:
    """One discussion with a turn for each prompt; its id."""
    chosen = str(world.run("send", "--json", prompts[0]).json["discussion"])
    for prompt in prompts[1:]:
        world.run("send", prompt, "--discussion", chosen)
    return chosen


@pytest.mark.slow
def test_the_list_tells_the_mode_that_counts_and_not_the_one_that_ended_with_a_program(world: World) -> None:
    """Accepting edits ends with the program: the stored mode is what the person chose then."""
    chosen = _talk(world, "edits")
    known = discussion_meta.read_meta(world.home, chosen).meta
    for stored, counts in ((Mode.ACCEPT_EDITS, "ask"), (Mode.PLAN, "plan")):
        discussion_meta.write_meta(world.home, replace(known, has_tools=True, mode=stored))
        assert [row["mode"] for row in world.run("discussions", "--json").json] == [counts]
        assert ("accept edits" in world.run("discussions").out) is False


@pytest.mark.slow
def test_the_list_is_newest_first_with_pinned_ones_at_its_head(world: World) -> None:
    old, new = _talk(world, "first talk"), _talk(world, "second talk")

    assert [row["id"] for row in world.run("discussions", "--json").json] == [new, old]
    assert world.run("discussions", "pin", old).code == 0
    assert [row["id"] for row in world.run("discussions", "--json").json] == [old, new]
    text = world.run("discussions").out
    assert text.splitlines()[0].split() == ["id", "age", "turns", "model", "name"]
    assert "* first talk" in text
    assert world.run("discussions", "unpin", old).code == 0
    assert [row["id"] for row in world.run("discussions", "--json").json] == [new, old]


@pytest.mark.slow
def test_search_finds_what_was_said(world: World) -> None:
    world.server.replies.append(Said("The moon pulls the sea."))
    tides, _ = _talk(world, "Why are there tides?"), _talk(world, "What is a fox?")
    ended = world.run("discussions", "--search", "moon", "--json")

    assert [row["id"] for row in ended.json] == [tides]
    assert "moon" in ended.json[0]["found"]
    assert tides in world.run("discussions", "list", "--search", "moon").out
    assert world.run("discussions", "--search", "zebra").out == "You have no discussions.\n"


def test_archived_ones_are_listed_only_when_asked_for(world: World) -> None:
    chosen = _talk(world, "one")
    world.run("discussions", "archive", chosen)

    assert world.run("discussions", "--json").json == []
    assert [row["archived"] for row in world.run("discussions", "--all", "--json").json] == [True]
    world.run("discussions", "unarchive", chosen)
    assert len(world.run("discussions", "--json").json) == 1


def test_a_new_name_is_kept(world: World) -> None:
    chosen = _talk(world, "one")
    assert world.run("discussions", "rename", "last", "Über Füchse").code == 0

    assert world.run("discussions", "--json").json[0]["name"] == "Über Füchse"
    assert world.run("discussions", "show", "Über Füchse", "--json").code == 0
    assert world.run("discussions", "rename", chosen, " ").code == 2


def test_show_prints_markdown_and_json_that_reads_back(world: World) -> None:
    world.server.replies.append(Said("It is **blue**."))
    _talk(world, "Why?")

    assert "It is **blue**." in world.run("discussions", "show", "last").out
    meta, entries = parse_export(world.run("discussions", "show", "last", "--json").out)
    assert meta.name == "Why?"
    assert len(entries) == 2


def test_export_writes_a_file_or_to_a_pipe(world: World) -> None:
    _talk(world, "Why?")
    ended = world.run("discussions", "export", "last", "--format", "json", "--out", "talk.json")

    assert (ended.code, ended.out) == (0, "")
    parse_export((world.project / "talk.json").read_text())
    assert "# Why?" in world.run("discussions", "export", "last").out
    assert world.run("discussions", "export", "last", "--out", ".").code == 2
    assert world.run("discussions", "export", "last", "--out", "no/such/folder/x").code == 1


def test_a_deleted_one_is_in_the_trash_and_comes_back(world: World) -> None:
    chosen = _talk(world, "one")
    deleted = world.run("discussions", "delete", chosen)
    assert deleted.out == f"'one' is in the trash; to undo: manual-slop discussions restore {chosen}\n"
    assert world.run("discussions", "--json").json == []
    assert world.run("discussions", "restore", "nothing").code == 2

    assert world.run("discussions", "restore", chosen).code == 0
    assert [row["id"] for row in world.run("discussions", "--json").json] == [chosen]


def test_a_start_that_fits_two_names_both(world: World) -> None:
    first, second = _talk(world, "one"), _talk(world, "two")
    ended = world.run("discussions", "show", first[:6])

    assert ended.code == 2
    assert first in ended.err
    assert second in ended.err


@pytest.mark.slow
def test_context_prints_layers_that_add_up_and_the_prefix(world: World) -> None:
    (world.project / "CLAUDE.md").write_text("Be kind.")
    assert world.run("trust", "--yes").code == 0
    ended = world.run("context", "--json", "--message", "Hello")
    data = ended.json
    text = world.run("context", "--text", "--message", "Hello").out

    assert ended.code == 0
    assert len(data["layers"]) == LAYERS
    assert data["length_chars"] == len(text)
    assert data["stable_prefix_length"] == sum(
        row["length_chars"] for row in data["layers"] if row["is_stable"]
    )
    assert data["stable_prefix_length"] == data["layers"][7]["offset_chars"]
    assert "Be kind." in text[: data["stable_prefix_length"]]
    assert "Hello" in text[data["stable_prefix_length"] :]
    assert (data["provider"], data["model"]) == ("local", MODEL)
    assert f"stable prefix: {data['stable_prefix_length']:,} characters" in world.run("context").out


def test_context_counts_by_what_bills_taught(world: World) -> None:
    (world.project / "CLAUDE.md").write_text("Be kind. " * 200)
    world.home.mkdir()
    said = []
    for factor in (1.0, 2.0):
        HomeScaleStore(world.home).save(TokenScale({("local", MODEL): factor}))
        said.append(world.run("context", "--json").json["tokens_est"])

    assert said[1] == pytest.approx(2 * said[0], rel=0.02)


def test_context_sends_nothing_and_starts_no_discussion(world: World) -> None:
    world.run("context")

    assert world.server.bodies == []
    assert world.run("discussions", "--json").json == []


def test_context_of_a_discussion_holds_its_turns_and_the_last_ones_prefix_is_its_own(world: World) -> None:
    world.server.replies.append(Said("Because of the moon."))
    chosen = _talk(world, "Why tides?")
    with_turns = world.run("context", "--text", "--discussion", chosen).out
    data = world.run("context", "--json", "--discussion", "last", "--message", "next").json

    assert "Because of the moon." in with_turns
    fresh = world.run("context", "--json").json
    assert data["stable_prefix_length"] == fresh["stable_prefix_length"]
    assert [row["sha256"] for row in data["layers"][:7]] == [row["sha256"] for row in fresh["layers"][:7]]


def test_context_names_files_that_cannot_be_sent(world: World) -> None:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["gone.py", "here.py"]\n')
    (world.project / "here.py").write_text("x = 1\n")
    data = world.run("context", "--trust", "--json", "--preset", "a").json

    assert any("gone.py" in problem for problem in data["problems"])
    assert "x = 1" in world.run("context", "--text", "--preset", "a").out


def test_context_says_when_it_does_not_fit(world: World) -> None:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["big.txt"]\n')
    (world.project / "big.txt").write_text("word and word\n" * 20_000)
    ended = world.run("context", "--trust", "--preset", "a", "--provider", "embedded")

    assert "problem:" in ended.out
    assert "do not fit the 8,192" in ended.out


def test_an_untrusted_project_is_said_and_does_not_count(world: World) -> None:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["x"]\n')
    ended = world.run("presets", "--json")

    assert ended.json["presets"] == {}
    assert "is not trusted" in ended.err


def test_trust_says_what_counts_now_and_what_never_will(world: World) -> None:
    (world.project / "manual_slop.toml").write_text(
        '[presets.a]\nitems = ["x"]\n[personas.p]\ntext = "t"\n[hooks]\nenabled = true\n'
    )
    assert world.run("trust", "--yes").out.splitlines() == [
        "Do you trust the project “project”?",
        trust_reason(Project(has_file=True)),
        "the folder asks for:  Persona: p, with its text (1 character).",
        "            | t",
        "the folder asks for:  Context preset a: x.",
        "the program ignores a part of manual_slop.toml:  The project asks to change the Hook API; no project may do that.",
        f"{world.project} is trusted.",
    ]
    assert world.run("trust", "--list", "--json").json == [str(world.project)]
    listed = world.run("presets")
    assert [line.split()[:2] for line in listed.out.splitlines()] == [["preset", "a"], ["persona", "p"]]
    assert world.run("trust", "--remove").code == 0
    assert world.run("trust", "--list").out == "You trust no folder.\n"
    assert world.run("trust", "nowhere").code == 2


def test_without_a_terminal_and_without_yes_trust_shows_what_is_asked_and_changes_nothing(
    world: World,
) -> None:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["x"]\n')
    ended = world.run("trust")

    assert ended.code == 2
    assert "the folder asks for:  Context preset a: x." in ended.out
    assert "Add --yes" in ended.err
    assert world.run("trust", "--list").out == "You trust no folder.\n"


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_on_a_terminal_trust_takes_an_answer(world: World, answer: str, code: int) -> None:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["x"]\n')
    ended = world.run("trust", given=answer.encode(), types=True)

    assert (ended.code, "Trust this folder with these requests? [y/N]" in ended.err) == (code, True)
    assert (world.run("trust", "--list").out == "You trust no folder.\n") is bool(code)


def test_what_a_later_file_asks_for_is_said_again_and_only_that(world: World) -> None:
    file = world.project / "manual_slop.toml"
    file.write_text('[presets.a]\nitems = ["x"]\n')
    world.run("trust", "--yes")
    file.write_text('[presets.a]\nitems = ["x", "y"]\n')

    ended = world.run("presets", "--json")
    assert [item["path"] for item in ended.json["presets"]["a"]] == ["x"]
    assert "asks for settings that you have not agreed to" in ended.err
    assert "  Context preset a: y.\n" in ended.err

    lines = world.run("trust", "--yes").out.splitlines()
    assert [line for line in lines if line.startswith("the folder asks for")] == [
        "the folder asks for:  Context preset a: y."
    ]
    assert world.run("trust").out == f"{world.project} is trusted.\n"


def test_a_file_that_cannot_be_read_is_named_and_not_trusted(world: World) -> None:
    (world.project / "manual_slop.toml").write_text("[presets.a]\nitems = [\n[broken")
    ended = world.run("trust", "--yes")

    assert ended.code == 1
    assert "manual_slop.toml:3: " in ended.err
    assert ended.out == "The program can read nothing in manual_slop.toml. Nothing was changed.\n"
    assert world.run("trust", "--list").out == "You trust no folder.\n"


def test_trusting_a_folder_without_a_file_says_that_there_is_none(world: World) -> None:
    assert "The folder has no manual_slop.toml" in world.run("trust").out


def test_a_broken_project_file_is_a_warning_with_its_line_and_the_command_goes_on(world: World) -> None:
    (world.project / "manual_slop.toml").write_text("[presets.a]\nitems = [\n")
    ended = world.run("send", "x")

    assert ended.code == 0
    assert f"{world.project}/manual_slop.toml:2:" in ended.err


def test_models_are_listed_and_asked_for(world: World) -> None:
    data = world.run("models", "local", "--refresh", "--json").json

    assert [model["id"] for model in data["local"]["models"]] == [MODEL]
    assert data["local"]["is_ready"]
    every = world.run("models").out
    for provider in ("embedded: ", "anthropic: ", "openai: ", "gemini: ", "local: "):
        assert provider in every
    assert world.run("models", "nobody").code == 2


def test_a_server_that_does_not_answer_is_named_and_the_list_is_printed(world: World) -> None:
    world.config.write_text('[providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\n')
    ended = world.run("models", "gone", "--refresh")

    assert ended.code == 1
    assert "gone: gone, ready" in ended.out
    assert "127.0.0.1:9" in ended.err


def test_a_key_is_read_from_a_pipe_kept_and_removed_and_never_shown(world: World) -> None:
    stored = world.run("key", "openai", given=b"sk-test-0123456789\n")
    path = world.home / "keys" / "openai"

    assert stored.code == 0
    assert str(path) in stored.out
    assert path.read_text() == "sk-test-0123456789\n"
    listed = world.run("key", "--json")
    assert listed.json["openai"] == {"source": "file", "where": str(path)}
    assert world.run("key", "openai", "--remove").code == 0
    assert not path.exists()
    for ended in (stored, listed, world.run("key"), world.run("doctor", "--quick")):
        assert "sk-test" not in ended.out + ended.err


def test_a_key_that_cannot_be_is_refused_without_being_repeated(world: World) -> None:
    ended = world.run("key", "openai", given=b"two words\n")

    assert ended.code == 1
    assert "two words" not in ended.err
    assert world.run("key", "nobody", given=b"x").code == 2


def test_the_home_and_settings_of_the_command_line_win(world: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    world.run("--home", str(other), "send", "x", "--set", "ai_settings.system_prompt=BE BRIEF")

    assert len(list((other / "discussions").iterdir())) == 1
    assert not (world.home / "discussions").exists()
    assert "BE BRIEF" in str(world.server.bodies[0]["messages"])


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["send", "--help"], ["discussions", "list", "--help"]]
)
def test_help_and_version_are_fast_and_well(world: World, arguments: list[str]) -> None:
    ended = world.run(*arguments)

    assert ended.code == 0
    assert "manual-slop" in ended.out
    assert not world.home.exists()


@pytest.mark.parametrize("arguments", [[], ["tour"]])
def test_what_needs_the_window_says_so(world: World, arguments: list[str]) -> None:
    ended = world.run(*arguments)

    assert (ended.code, "needs the window" in ended.err) == (2, True)


def test_a_home_of_a_newer_version_is_refused_in_one_line(world: World) -> None:
    world.home.mkdir()
    (world.home / "home.toml").write_text("format = 999\n")
    ended = world.run("discussions")

    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "999" in ended.err
    assert json.loads(world.run("doctor", "--quick", "--json").out)


@pytest.mark.slow
def test_a_command_leaves_the_windows_state_alone(world: World) -> None:
    world.home.mkdir()
    state = world.home / "state.toml"
    state.write_text('selected = "x"\nwidth = 3\n')
    _talk(world, "one", "two")
    world.run("discussions", "show", "last")

    assert state.read_text() == 'selected = "x"\nwidth = 3\n'


@pytest.mark.slow
def test_a_home_that_can_only_be_read_is_enough_to_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.server.replies.append(Said("Six hours."))
    chosen = _talk(world, "When?")
    monkeypatch.setattr("core.app.home.is_writable", lambda *_args: False)

    for arguments in (["discussions"], ["discussions", "show", chosen], ["context", "--discussion", chosen]):
        ended = world.run(*arguments)
        assert ended.code == 0, arguments
        assert "warning: The data folder is read-only" in ended.err
    assert "Six hours." in world.run("discussions", "show", chosen).out
    for arguments in (
        ["send", "x"],
        ["discussions", "rename", chosen, "y"],
        ["discussions", "delete", chosen],
    ):
        ended = world.run(*arguments)
        assert (ended.code, ended.out) == (1, ""), arguments
        assert "The data folder is read-only" in ended.err
    assert len(world.server.bodies) == 1


def test_a_change_that_could_not_be_written_is_not_said_to_be_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = _talk(world, "one")

    def full(*_args: object, **_kwargs: object) -> None:
        raise StorageError("The disk is full", remedy="Free some space", errno=28)

    monkeypatch.setattr("core.talk.discussion.discussion_meta.write_meta", full)
    ended = world.run("discussions", "rename", chosen, "new name")

    assert (ended.code, ended.out) == (1, "")
    assert "The disk is full. Free some space" in ended.err


def test_the_command_line_asks_for_a_yes_and_keeps_the_home(world: World) -> None:
    world.run("send", "Why?")
    there = world.project / "talk.md"
    there.write_text("mine")

    refused = world.run("discussions", "export", "last", "--out", "talk.md")
    assert (refused.code, there.read_text()) == (1, "mine")
    assert "the file exists already" in refused.err

    assert world.run("discussions", "export", "last", "--out", "talk.md", "--replace").code == 0
    assert "Why?" in there.read_text()
    (log,) = world.home.glob("discussions/*/log.jsonl")
    before = log.read_bytes()
    assert world.run("discussions", "export", "last", "--out", str(log), "--replace").code == 1
    assert log.read_bytes() == before


def test_what_changes_something_says_so_in_json_to_a_program(world: World) -> None:
    chosen = str(world.run("send", "--json", "one").json["discussion"])
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["x"]\n')

    for action in (
        ("rename", "last", "two"),
        ("pin", "last"),
        ("archive", chosen),
        ("delete", chosen),
        ("restore", chosen),
    ):
        ended = world.run("discussions", *action, "--json")
        assert (ended.code, ended.json["discussion"]) == (0, chosen), ended
    exported = world.run("discussions", "export", chosen, "--out", "x.json", "--json").json
    assert exported == {"discussion": chosen, "path": str(world.project / "x.json")}
    refused = world.run("trust", "--json", given=b"n\n", types=True)
    assert (refused.code, refused.json["error"]["code"]) == (1, "failed")
    assert "Nothing was changed" in refused.json["error"]["message"]
    trusted = world.run("trust", "--yes", "--json").json
    assert (trusted["is_trusted"], trusted["asked"]) == (True, ["Context preset a: x."])
    assert world.run("trust", "--remove", "--json").json["is_trusted"] is False
    assert world.run("key", "local", "--json", given=b"sk-x\n").json["provider"] == "local"
    assert world.run("index", "new", "n", "--json").json == {"path": str(world.project / "n.md")}
    assert world.run("context", "--text", "--json").json["text"]
    for words in (("help", "send"), ("completion", "bash")):
        assert list(world.run("--json", *words).json) == [words[0]]


def test_an_import_leaves_out_what_the_dry_run_named_and_the_list_says_where_a_talk_came_from(
    world: World, tmp_path: Path
) -> None:
    for name in ("tides", "moon"):
        (tmp_path / f"{name}.md").write_text(
            f"# {name}\n\n## User\n\nWhat of {name}?\n\n## Assistant\n\nMuch.\n"
        )
    files = [str(tmp_path / f"{name}.md") for name in ("tides", "moon")]
    seen = world.run("import", "--dry-run", *files).out
    rows = world.run("import", "--dry-run", "--json", *files).json["rows"]
    assert len(rows) == 2
    assert all(f"({row['discussion_id']})" in seen for row in rows)

    ended = world.run("import", *files, "--without", rows[0]["discussion_id"], "--without", "nothing")
    assert ended.code == 0
    assert "no conversation here has the id nothing; `--dry-run` lists the ids" in ended.err
    (listed,) = world.run("discussions", "--json").json
    assert listed["id"] == rows[1]["discussion_id"]
    assert " from a text file: moon.md" in listed["origin"]


def test_usage_is_added_up_for_people_programs_and_spreadsheets(world: World) -> None:
    assert world.run("usage").out == "You have sent no request yet.\n"
    _talk(world, "Why are there tides?", "And waves?")
    data = world.run("usage", "--by", "discussion", "--json").json

    assert [(row["label"], row["calls"]) for row in data["rows"]] == [("Why are there tides?", 2)]
    assert (data["total"]["unpriced_calls"], data["total"]["cost_usd"]) == (2, None)
    assert "2 requests have no known price and add nothing to the cost." in world.run("usage").out
    head, row = world.run("usage", "--csv").out.splitlines()
    assert head.startswith("model,label,calls")
    assert row.startswith(f"local/{MODEL},{MODEL},2,")
    wrong = world.run("usage", "--since", "yesterday")
    assert wrong.code == 1
    assert "'yesterday' is not a day. Write the day as 2026-11-29" in wrong.err
