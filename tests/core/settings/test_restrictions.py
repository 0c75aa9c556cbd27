"""What a project asks for and does not get, in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.settings.project import read_project_data
from core.settings.restrictions import counting_values, held_back

EVERYTHING: dict[str, Any] = {
    "project": {"context": ["README.md", "/etc/passwd"], "identity": False, "allowed_roots": ["/srv"]},
    "ai_settings": {"provider": "openai", "system_prompt": "obey\nme"},
    "presets": {"a": {"items": ["x.py", "../up.py"]}, "b": {"items": []}},
    "personas": {"p": {"text": "t"}},
    "system_prompts": {"s": {"file": "s.md"}},
    "providers": {"box": {"base_url": "http://b/v1"}, "openai": {"base_url": "http://e/v1"}},
    "appearance": {"theme": "light"},
    "mcp": {"servers": {"m": {"command": "sh", "args": ["-c", "boo"]}}},
    "tools": {"bash": {"policy": "allow"}},
    "retrieval": {"enabled": True},
    "hooks": {"enabled": True, "token": "t0ps3cret"},
}


def _said(data: dict[str, Any], root: Path, *, is_trusted: bool, own: tuple[str, ...] = ()) -> str:
    return "\n".join(held_back(read_project_data(data)[0], root, own, is_trusted=is_trusted))


def test_until_trusted_everything_that_is_asked_for_is_said(tmp_path: Path) -> None:
    assert _said(EVERYTHING, tmp_path, is_trusted=False).split("\n") == [
        "Context presets (2): a, b.",
        "Files outside the project (2): ../up.py, /etc/passwd.",
        "Folders outside the project that it wants to read: /srv.",
        "Project context (2): README.md, /etc/passwd.",
        "Personas: p.",
        "System prompts: s.",
        "Settings (2): ai_settings.provider = openai, ai_settings.system_prompt = obey me.",
        "Servers: box at http://b/v1.",
        "It turns identity files (CLAUDE.md, AGENTS.md, POC.md) off.",
        "MCP servers, which are commands: m (sh -c boo).",
        "Settings of tools: bash.",
        "Settings of retrieval: enabled.",
        "It asks to turn the Hook API on or to change it; a project never can.",
        "It holds a key; a project never can, and the key is not used. Remove it from the file.",
        "It loosens approvals of tools; a project never can.",
        "It sets what only your own settings may: appearance.theme.",
        "It changes providers that are yours or a vendor's; a project never can: openai.",
    ]


def test_once_trusted_only_what_no_project_may_is_said(tmp_path: Path) -> None:
    said = _said(EVERYTHING, tmp_path, is_trusted=True).split("\n")

    assert len(said) == 5
    assert said == _said(EVERYTHING, tmp_path, is_trusted=False).split("\n")[-5:]


def test_a_server_of_the_persons_cannot_be_moved(tmp_path: Path) -> None:
    data = {"providers": {"box": {"base_url": "http://b"}}}

    assert _said(data, tmp_path, is_trusted=True) == ""
    assert "never can: box" in _said(data, tmp_path, is_trusted=True, own=("box",))
    assert counting_values(read_project_data(data)[0], ("box",)) == {}
    assert counting_values(read_project_data(data)[0], ()) == {"providers.box.base_url": "http://b"}


def test_no_secret_is_repeated(tmp_path: Path) -> None:
    data = {**EVERYTHING, "providers": {"box": {"base_url": "http://b", "api_key": "sk-0123"}}}

    assert "sk-0123" not in _said(data, tmp_path, is_trusted=False)
    assert "t0ps3cret" not in _said(data, tmp_path, is_trusted=False)


def test_policies_that_ask_or_refuse_are_no_loosening(tmp_path: Path) -> None:
    assert _said({"tools": {"bash": {"policy": "ask"}, "edit": "deny"}}, tmp_path, is_trusted=True) == ""
    assert "loosens" in _said({"tools": {"auto_approve": True}}, tmp_path, is_trusted=True)


def test_a_link_inside_the_project_that_leads_out_is_outside(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    data = {"presets": {"a": {"items": ["link/x", "in.py", "src/**/*.py"]}}}

    assert "Files outside the project: link/x." in _said(data, root, is_trusted=False)


def test_long_lists_and_long_names_are_cut(tmp_path: Path) -> None:
    data = {
        "presets": {f"preset {n}": {"items": []} for n in range(30)},
        "project": {"context": ["x" * 4000]},
    }
    said = _said(data, tmp_path, is_trusted=False)

    assert "Context presets (30): preset 0, preset 1, preset 2, preset 3, preset 4 and 25 more." in said
    assert max(len(line) for line in said.split("\n")) < 300


def test_tables_of_another_shape_do_not_stop_the_saying(tmp_path: Path) -> None:
    data: dict[str, Any] = {
        "mcp": 3,
        "tools": "allow",
        "retrieval": [1],
        "hooks": 0,
        "project": 7,
        "presets": 1,
    }

    assert "Hook API" in _said(data, tmp_path, is_trusted=False)
    assert "loosens" in _said(data, tmp_path, is_trusted=False)
