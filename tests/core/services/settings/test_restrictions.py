"""What a project asks for and never gets, in sentences."""

from __future__ import annotations

from typing import Any

from core.services.settings.project import read_project_data
from core.services.settings.project_tables import held_back

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


def _said(data: dict[str, Any], own: tuple[str, ...] = ()) -> str:
    return "\n".join(held_back(read_project_data(data)[0], own))


def test_what_no_project_may_have_is_said() -> None:
    assert _said(EVERYTHING).split("\n") == [
        "The project asks to change the Hook API; no project may do that.",
        "The project's file holds a key, which the program does not use. Remove the key from the file.",
        "The project loosens approvals of tools; no project may do that.",
        "The project changes settings that only you may change: appearance.theme.",
        "The project changes your providers or a vendor's; no project may do that: openai.",
    ]


def test_a_server_of_the_persons_cannot_be_moved() -> None:
    data = {"providers": {"box": {"base_url": "http://b"}}}

    assert _said(data) == ""
    assert "no project may do that: box" in _said(data, own=("box",))


def test_no_secret_is_repeated() -> None:
    data = {**EVERYTHING, "providers": {"box": {"base_url": "http://b", "api_key": "sk-0123"}}}

    assert "sk-0123" not in _said(data)
    assert "t0ps3cret" not in _said(data)


def test_policies_that_ask_or_refuse_are_no_loosening() -> None:
    assert _said({"tools": {"bash": {"policy": "ask"}, "edit": "deny"}}) == ""
    assert _said({"tools": {"edits": "refuse", "reads": "ask"}}) == ""
    assert "loosens" in _said({"tools": {"auto_approve": True}})
    assert (
        _said({"tools": {"edits": "allow"}})
        == "The project loosens approvals of tools; no project may do that."
    )
    own = "The project changes settings that only you may change (2): tools.prefixes, tools.folders./srv.a.commands."
    assert own in _said({"tools": {"prefixes": ["rm"], "folders": {"/srv.a": {"commands": "allow"}}}})


def test_long_lists_are_cut() -> None:
    said = _said(
        {"providers": {f"own{n}": {"base_url": "http://b"} for n in range(30)}},
        tuple(f"own{n}" for n in range(30)),
    )

    assert "no project may do that (30): own0, own1, own10, own11, own12 and 25 more." in said


def test_tables_of_another_shape_do_not_stop_the_saying() -> None:
    data: dict[str, Any] = {
        "mcp": 3,
        "tools": "allow",
        "retrieval": [1],
        "hooks": 0,
        "project": 7,
        "presets": 1,
    }

    assert "Hook API" in _said(data)
    assert "loosens" in _said(data)
