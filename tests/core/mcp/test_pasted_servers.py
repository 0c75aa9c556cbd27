"""The JSON of READMEs as servers of our settings."""

from __future__ import annotations

import json

import pytest

from core.kernel.errors import SlopError
from core.mcp.pasted_servers import fetcher_of, is_paste, pasted_servers

FILES = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/you/notes"]}
COMMAND = ("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/you/notes")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"mcpServers": {"files": FILES}}, indent=2),
        json.dumps({"servers": {"files": {**FILES, "type": "stdio"}}}),
        json.dumps({"files": FILES}),
        json.dumps({"files": FILES})[1:-1],
        json.dumps({"files": FILES})[1:-1] + ",",
    ],
)
def test_a_readmes_json_is_a_server(text: str) -> None:
    found = pasted_servers(text)

    assert is_paste(text)
    assert [(one.name, one.command, one.url, one.environment) for one in found.servers] == [
        ("files", COMMAND, "", ())
    ]
    assert found.notes == ("files may use the network, because npx downloads the server's program.",)


@pytest.mark.parametrize(
    ("command", "fetcher"),
    [
        ("npx -y @some/server", "npx"),
        ("uvx mcp-server-time", "uvx"),
        ("uv tool run mcp-server-time", "uv"),
        ("npm exec -- @some/server", "npm"),
        ("npm start", ""),
        ("node server.js", ""),
        ("/usr/bin/python3 -m server", ""),
    ],
)
def test_a_server_that_its_command_fetches_may_open_the_network(command: str, fetcher: str) -> None:
    program, *words = command.split()
    (server,) = pasted_servers(json.dumps({"a": {"command": program, "args": words}})).servers

    assert fetcher_of(server.command) == fetcher
    assert server.network is bool(fetcher)


def test_values_of_variables_stay_out_of_the_settings_and_are_told_by_name() -> None:
    found = pasted_servers(
        json.dumps({"mcpServers": {"git hub": {**FILES, "env": {"TOKEN": "value-of-it"}}}})
    )

    assert found.servers[0].name == "git-hub"
    assert found.servers[0].environment == ("TOKEN",)
    assert "value-of-it" not in repr(found)
    assert any("TOKEN" in note and "in your environment" in note for note in found.notes)


def test_an_address_is_a_server_over_http_and_a_switched_off_one_stays_off() -> None:
    table = {
        "a": {"type": "http", "url": "https://a.example/mcp"},
        "b": {**FILES, "disabled": True},
        "c": {"x": 1},
    }
    found = pasted_servers(json.dumps({"mcpServers": table}))

    assert [(one.name, one.url, one.is_enabled) for one in found.servers] == [
        ("a", "https://a.example/mcp", True),
        ("b", "", False),
    ]
    assert any(note.startswith("c was left out") for note in found.notes)


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"mcpServers": {}}', '{"mcpServers": {"x": {"args": []}}}', "[1]"]
)
def test_what_names_no_server_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(SlopError):
        pasted_servers(text)
