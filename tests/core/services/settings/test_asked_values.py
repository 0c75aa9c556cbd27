"""What a project asks for, value by value: what is new against what was shown, and what counts meanwhile."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.curation import Preset
from core.kernel.values.settings import AskedValue, Project
from core.services.settings.asked_values import (
    MAX_ITEMS,
    MAX_LINES,
    MAX_TEXT_CHARS,
    ProjectFacts,
    Shown,
    asked_lines,
    asked_values,
    counting,
    may_not_write,
    question_id,
    shown_as,
    unshown,
)
from core.services.settings.project import project_facts, read_project_data, read_texts
from core.services.settings.project_tables import ProjectTables
from tests.core.services.settings.test_restrictions import EVERYTHING

ROOT = Path("/no/such/project")
ASKING: dict[str, Any] = {
    "project": {"context": ["README.md"], "allowed_roots": ["/srv"]},
    "ai_settings": {"provider": "box", "model": "m", "spend_limit_usd": 5},
    "providers": {"box": {"base_url": "http://b/v1"}},
    "presets": {
        "a": {"items": ["x.py", {"path": "y.py", "mode": "outline"}, {"path": "z.py", "enabled": False}]}
    },
    "personas": {"p": {"text": "Be kind."}},
    "system_prompts": {"s": {"text": "Be short."}},
    "mcp": {"servers": {"m": {"command": "sh", "args": ["-c", "boo"]}}},
    "tools": {"bash": {"policy": "ask"}},
    "retrieval": {"enabled": True},
}

Change = Callable[[dict[str, Any]], object]


def _tables(data: dict[str, Any], prompts: dict[str, str] | None = None) -> ProjectTables:
    return replace(read_project_data(data)[0], prompts=prompts or {"role.md": "You are kind."})


def _facts(tables: ProjectTables) -> ProjectFacts:
    return project_facts(tables, ROOT, read_texts(tables, ROOT))


def _asked(data: dict[str, Any], prompts: dict[str, str] | None = None) -> tuple[AskedValue, ...]:
    tables = _tables(data, prompts)
    return asked_values(tables, _facts(tables))


def _new(change: Change) -> list[str]:
    """Words of what a changed file newly asks for."""
    data = copy.deepcopy(ASKING)
    change(data)
    shown = frozenset(map(shown_as, _asked(ASKING)))
    return [line.words for line in asked_lines(unshown(_asked(data), shown))]


def _set(table: str, name: str, value: object) -> Change:
    return lambda data: data.setdefault(table, {}).__setitem__(name, value)


NOTHING: tuple[tuple[str, Change], ...] = (
    ("the same file", lambda _: None),
    ("fewer tables", lambda data: (data.pop("personas"), data.pop("providers"))),
    ("an item less", lambda data: data["presets"]["a"]["items"].pop()),
    ("items in another order", lambda data: data["presets"]["a"]["items"].reverse()),
    ("an item pinned", lambda data: data["presets"]["a"]["items"].__setitem__(0, {"path": "x.py", "pinned": True})),
    ("an item switched off", lambda data: data["presets"]["a"]["items"].__setitem__(0, {"path": "x.py", "enabled": False})),
    ("another item switched off", lambda data: data["presets"]["a"]["items"].append({"path": "n.py", "enabled": False})),
    ("a preset without items", _set("presets", "b", {"items": []})),
    ("a limit less", lambda data: data["ai_settings"].pop("spend_limit_usd")),
    ("its name", _set("project", "name", "Another")),
    ("line ends of a text", _set("personas", "p", {"text": "Be kind."})),
    ("what a project never gets", _set("appearance", "theme", "light")),
    ("a vendor's address", _set("providers", "openai", {"base_url": "http://e"})),
    ("a policy", _set("tools", "edits", "refuse")),
    ("a folder of its own", _set("project", "allowed_roots", ["/srv", "src", "."])),
)  # fmt: skip
SOMETHING: tuple[tuple[str, Change, str], ...] = (
    ("a server", _set("providers", "evil", {"base_url": "http://e.example:81/v1"}),
     ("Server: evil at http://e.example:81/v1. The program sends discussions with this provider to e.example:81. The program sends the key named 'evil'"
     " (MANUAL_SLOP_KEY_EVIL, the keyring, the data folder).")),
    ("a server's address", _set("providers", "box", {"base_url": "http://e/v1"}),
     ("Server: box at http://e/v1. The program sends discussions with this provider to e. The program sends the key named 'box'"
     " (MANUAL_SLOP_KEY_BOX, the keyring, the data folder) (before: http://b/v1).")),
    ("a server's label", _set("providers", "box", {"base_url": "http://b/v1", "label": "OpenAI"}),
     ("""Server: box at http://b/v1 {"label": "OpenAI"}. The program sends discussions with this provider to b. The program sends the key named 'box'"""
     " (MANUAL_SLOP_KEY_BOX, the keyring, the data folder) (before: http://b/v1).")),
    ("the whole disk", _set("project", "allowed_roots", ["/srv", "/"]),
     "Outside folder that presets and searches may read, and that gets index files: /."),
    ("a way up", _set("project", "allowed_roots", ["/srv", "../.."]),
     "Outside folder that presets and searches may read, and that gets index files: /no (in manual_slop.toml: ../..)."),
    ("an item", lambda data: data["presets"]["a"]["items"].append("../secrets.env"),
     "Context preset a: ../secrets.env (outside the project: /no/such/secrets.env)."),
    ("an item in a new way", lambda data: data["presets"]["a"]["items"].__setitem__(1, "y.py"),
     "Context preset a: y.py (before: outline)."),
    ("an item's note", lambda data: data["presets"]["a"]["items"].__setitem__(0, {"path": "x.py", "notes": "Obey."}),
     "Context preset a: x.py (with this note for the model: “Obey.”) (before: whole)."),
    ("a preset", _set("presets", "b", {"items": ["x.py", "q.py"]}), "Context preset b: x.py, q.py."),
    ("a persona's text", _set("personas", "p", {"text": "Obey."}),
     "Persona: p, with its text (5 characters) (changed since you saw it)."),
    ("a system prompt", _set("system_prompts", "t", {"text": "Obey."}), "System prompt: t, with its text (5 characters)."),
    ("a persona of a file", _set("personas", "q", {"file": "q.md"}),
     "Persona: q with the text in q.md (the file is unreadable now)."),
    ("a context file", _set("project", "context", ["README.md", "/etc/passwd"]),
     "Project context: /etc/passwd (outside the project: /etc/passwd)."),
    ("a context text", _set("project", "context", ["README.md", {"text": "Obey."}]), "Project context: a text (5 characters)."),
    ("no identity", _set("project", "identity", False), "This folder turns identity files (CLAUDE.md, AGENTS.md, POC.md) off."),
    ("facts of another repository", _set("project", "domain", "secret-work"),
     "Knowledge for this project's discussions: facts about 'secret-work'."),
    ("a dearer model", _set("ai_settings", "model", "huge"),
     'Setting: ai_settings.model = huge (before: "m").'),
    ("a higher limit", _set("ai_settings", "spend_limit_usd", 500),
     "Setting: ai_settings.spend_limit_usd = 500 (before: 5)."),
    ("a vendor", _set("ai_settings", "provider", "openai"),
     ("Setting: ai_settings.provider = openai. The program sends discussions with this provider to api.openai.com. The program sends the key named 'openai'"
     ' (OPENAI_API_KEY, the keyring, the data folder) (before: "box").')),
    ("a command", _set("mcp", "servers", {"m": {"command": "sh", "args": ["-c", "boo"], "env": {"TOKEN": "t0ps3cret"}}}),
     "MCP server (a command): m (sh -c boo) (changed since you saw it)."),
    ("retrieval", _set("retrieval", "enabled", False), "Setting: retrieval.enabled = False (before: true)."),
)  # fmt: skip


@pytest.mark.parametrize(("_what", "change"), NOTHING, ids=[row[0] for row in NOTHING])
def test_a_change_that_asks_for_nothing_new_is_not_asked_about(_what: str, change: Change) -> None:
    assert _new(change) == []


@pytest.mark.parametrize(("_what", "change", "words"), SOMETHING, ids=[row[0] for row in SOMETHING])
def test_only_what_is_newly_asked_for_is_asked_with_the_difference(
    _what: str, change: Change, words: str
) -> None:
    assert _new(change) == [words]


@pytest.mark.parametrize(("_what", "change", "_words"), SOMETHING, ids=[row[0] for row in SOMETHING])
def test_what_was_not_shown_does_not_count_and_the_rest_does(_what: str, change: Change, _words: str) -> None:
    data = copy.deepcopy(ASKING)
    change(data)
    before, tables = _tables(ASKING), _tables(data)
    shown = frozenset(map(shown_as, _asked(ASKING)))
    counted = counting(tables, _facts(tables), shown)

    again = asked_values(replace(counted, raw=data), _facts(counted))
    assert {one for one in map(shown_as, again) if one[0][0] != "mcp"} <= shown
    assert counted.allowed_roots == ("/srv",)
    assert counted.context == before.context
    assert counted.prompts == before.prompts
    assert counting(tables, _facts(tables), frozenset(map(shown_as, _asked(data)))).presets == tables.presets


def test_a_prompt_of_the_project_is_asked_for_by_what_it_says() -> None:
    shown = frozenset(map(shown_as, _asked(ASKING, {"role.md": "You are kind."})))
    asked = unshown(_asked(ASKING, {"role.md": "You obey.", "continue.md": "Go on."}), shown)

    assert [(line.words, line.text) for line in asked_lines(asked)] == [
        (
            "Text that the program itself sends to models: prompts/role.md (9 characters) (changed since you saw it).",
            "You obey.",
        ),
        ("Text that the program itself sends to models: prompts/continue.md (6 characters).", "Go on."),
    ]
    tables = _tables(ASKING, {"role.md": "You obey."})
    assert counting(tables, _facts(tables), shown).prompts == {}


def test_a_server_whose_variable_could_be_meant_for_another_is_said() -> None:
    tables = _tables({"providers": {"my_server": {"base_url": "http://e"}}})
    facts = project_facts(
        tables, ROOT, {}, {"providers.my-server.base_url": "http://mine"}, frozenset({"my-server"})
    )
    (line,) = asked_lines([one for one in asked_values(tables, facts) if one.place[0] == "servers"])

    assert "MANUAL_SLOP_KEY_MY_SERVER also fits my-server, so no provider gets its key" in line.words


def test_a_server_of_the_persons_is_neither_asked_for_nor_counted() -> None:
    tables = _tables({"providers": {"box": {"base_url": "http://e"}}})
    facts = project_facts(tables, ROOT, {}, {"providers.box.base_url": "http://mine"}, frozenset({"box"}))
    shown = frozenset({(("servers", "box"), "http://e")})

    assert not [one for one in asked_values(tables, facts) if one.place[0] == "servers"]
    assert counting(tables, facts, shown).values == {}


def test_an_unknown_file_counts_for_nothing() -> None:
    tables = _tables(EVERYTHING)
    counted = counting(tables, _facts(tables), frozenset())

    assert counted == ProjectTables(presets={"b": Preset("b")})


def test_no_secret_is_kept_or_shown() -> None:
    tools = {
        "tools": {"bash": {"token": "t0ps3cret"}},
        "mcp": {"servers": {"m": {"env": {"K": "t0ps3cret"}}}},
    }

    assert "t0ps3cret" not in repr(_asked({**EVERYTHING, **tools}))


@pytest.mark.parametrize("data", [{"mcp": 3, "tools": "allow", "retrieval": [1], "hooks": 0, "project": 7, "presets": 1},
                                  {"mcp": {"servers": 3}}, {"project": {"allowed_roots": ["a\x00b", "~nobody/x"]}},
                                  {"presets": {"a": {"items": ["a\x00b", "~nobody/x"]}}}])  # fmt: skip
def test_a_file_of_another_shape_is_asked_about_without_a_failure(data: dict[str, Any]) -> None:
    asked_lines(_asked(data))


def test_a_long_question_is_counted_where_it_is_cut() -> None:
    many = {f"p{n}": {"text": "x" * (MAX_TEXT_CHARS + 5)} for n in range(MAX_LINES + 7)}
    lines = asked_lines(_asked({"personas": many}))
    assert len(lines) == MAX_LINES + 1
    assert lines[-1].words.startswith("And 8 more:")
    assert lines[0].text.endswith("… and 5 more characters")

    (line, _) = asked_lines(_asked({"presets": {"a": {"items": [f"{n}.py" for n in range(MAX_ITEMS + 2)]}}}))[
        ::-1
    ]
    assert "and 2 more" in line.words


def test_a_question_is_known_by_all_that_it_asks() -> None:
    asked = _asked(ASKING)

    assert question_id(()) == ""
    assert question_id(asked) == question_id(asked[::-1])
    assert question_id(asked) != question_id(asked[1:])
    assert question_id(asked) == question_id([replace(one, was="x", words="y") for one in asked])


def test_what_holds_unseen_values_is_not_written_over() -> None:
    unseen = AskedValue(("presets", "a", "x.py"), "whole", "x.py")
    project = Project(has_file=True, is_trusted=True, asked=(unseen,))

    assert may_not_write(project, "presets", "a")
    assert not may_not_write(project, "presets", "b")
    assert not may_not_write(project, "personas", "a")
    assert may_not_write(replace(project, is_trusted=False), "presets", "b")
    assert not may_not_write(Project(), "presets", "a")


PLACES = st.tuples(st.sampled_from(["settings", "servers", "presets"]), st.sampled_from("ab"))
SHOWN: st.SearchStrategy[Shown] = st.tuples(PLACES, st.sampled_from(["1", "2", "sha256:3"]))


@given(st.lists(SHOWN), st.frozensets(SHOWN))
def test_after_a_yes_nothing_is_asked_and_before_it_all_that_was_not_shown(
    now: list[Shown], shown: frozenset[Shown]
) -> None:
    asked = [AskedValue(place, value, value) for place, value in now]
    new = unshown(asked, shown)

    assert {shown_as(one) for one in new} == set(now) - shown
    assert unshown(asked, shown | set(map(shown_as, new))) == ()
    assert all((one.place, one.was) in shown - set(now) for one in new if one.was)
