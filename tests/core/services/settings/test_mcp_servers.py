"""MCP servers in settings files: names, forms, what a project may name, what is kept of a yes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.errors import ConfigError
from core.kernel.values.mcp import McpApproval, McpApproved, McpOrigin, McpServerSettings
from core.services.settings.asked_values import shown_as
from core.services.settings.settings_checks import MAX_MCP_SERVERS, check_settings
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, load
from core.services.settings.settings_writer import save_mcp_server
from core.services.settings.trust import approvals_file, keep_approval, trust


class Place:
    """User settings and a project on disk."""

    def __init__(self, base: Path) -> None:
        self.root, self.config = base / "project", base / "config" / "config.toml"
        self.root.mkdir()
        self.config.parent.mkdir()
        self.trust = self.config.with_name("trusted.toml")
        self.request = ConfigRequest(self.config, self.trust, base / "home", self.root, self.root)

    def own(self, text: str) -> None:
        self.config.write_text(text, encoding="utf-8")

    def project(self, text: str) -> None:
        (self.root / "manual_slop.toml").write_text(text, encoding="utf-8")

    def load(self) -> LoadedSettings:
        return load(self.request)

    def trusts(self) -> None:
        trust(self.root, self.trust, map(shown_as, self.load().project.asked))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def test_a_server_is_read_with_its_command_its_variables_and_its_limits(place: Place) -> None:
    place.own(
        '[mcp.servers.files]\ncommand = "npx"\nargs = ["-y", "server"]\nenvironment = ["TOKEN"]\nnetwork = true\n'
        'timeout_s = 5\n[mcp.servers.web]\nurl = "https://a.example/mcp"\nkey_name = "web"\nenabled = false\n'
    )
    assert place.load().settings.mcp == {
        "files": McpServerSettings("files", ("npx", "-y", "server"), ("TOKEN",), network=True, timeout_s=5.0),
        "web": McpServerSettings("web", url="https://a.example/mcp", key="web", is_enabled=False),
    }


@pytest.mark.parametrize("name", ["a__b", "a b", "a_", "_a", "", "ä", "a.b", "x" * 31, "a\n", "-a"])
def test_a_name_that_tools_could_not_carry_is_left_out_and_said(name: str) -> None:
    values, flaws = check_settings({"mcp": {"servers": {name: {"command": "x"}}}}, is_project=False)
    assert values == {}
    assert "is not an MCP server name" in flaws[0].reason or "is not a setting" in flaws[0].reason


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"command": "x", "url": "https://a.example"}, "keep its command or its url, not both"),
        ({"network": True}, "give it a command or a url"),
        ({"url": "ftp://a.example"}, "http://"),
        ({"url": "https://user:pw@a.example"}, "must not hold a user or a password"),
        ({"command": ["x"]}, "must be a text"),
        ({"command": "x", "env": {"TOKEN": "t0ps3cret"}}, "a settings file never holds keys"),
        ({"command": "x", "headers": "Bearer t0ps3cret"}, "a settings file never holds keys"),
        ({"url": "https://a.example", "key_name": "sk-T0psecret!"}, "must be a key's name"),
    ],
)
def test_what_cannot_be_is_said_and_a_secret_is_not_repeated(
    place: Place, row: dict[str, Any], words: str
) -> None:
    import tomli_w

    place.own(tomli_w.dumps({"mcp": {"servers": {"a": row}}}))
    faults = " ".join(fault.reason for fault in place.load().faults)
    assert words in faults
    assert "t0ps3cret" not in faults.lower()


def test_more_servers_than_anybody_has_count_for_none(place: Place) -> None:
    place.own("".join(f'[mcp.servers.a{n}]\ncommand = "x"\n' for n in range(MAX_MCP_SERVERS + 1)))
    assert place.load().settings.mcp == {}


def test_a_project_s_server_counts_after_trust_and_its_change_does_not(place: Place) -> None:
    place.project('[mcp.servers.files]\ncommand = "npx"\nargs = ["a"]\n')
    loaded = place.load()
    assert loaded.settings.mcp == {}
    (asked,) = loaded.project.asked
    assert (asked.place, asked.words) == (("mcp", "files"), "files (npx a)")
    place.trusts()
    server = McpServerSettings("files", ("npx", "a"), origin=McpOrigin.PROJECT)
    assert place.load().settings.mcp == {"files": server}

    place.project('[mcp.servers.files]\ncommand = "npx"\nargs = ["evil"]\n')
    assert place.load().settings.mcp == {}
    assert place.load().project.asked[0].was


def test_of_two_servers_by_one_name_the_person_s_counts_and_it_is_said(place: Place) -> None:
    place.own('[mcp.servers.files]\ncommand = "mine"\n')
    place.project('[mcp.servers.files]\ncommand = "theirs"\nnetwork = true\n')
    place.trusts()
    loaded = place.load()

    assert loaded.settings.mcp == {"files": McpServerSettings("files", ("mine",))}
    assert loaded.project.asked == ()
    assert (
        "The project has MCP servers with your servers' names; the program uses only yours: files."
        in loaded.project.held_back
    )


def test_a_project_names_no_key_of_the_person(place: Place) -> None:
    place.project('[mcp.servers.web]\nurl = "https://evil.example"\nkey_name = "github"\n')
    place.trusts()
    loaded = place.load()

    assert loaded.settings.mcp["web"].key == ""
    assert any("mcp.servers.web.key_name" in said for said in loaded.project.held_back)


def test_a_yes_is_kept_by_the_project_that_names_the_server(place: Place) -> None:
    place.own('[mcp.servers.mine]\ncommand = "x"\n')
    place.project('[mcp.servers.theirs]\ncommand = "x"\n')
    place.trusts()
    file, root = approvals_file(place.trust), str(place.root)
    mine = McpApproved(McpApproval("mine", "/usr/bin/x"), refused={"write": "ab"})
    theirs = McpApproved(McpApproval("theirs", "/usr/bin/x"), root)
    for one in (mine, theirs, replace(theirs, root="/elsewhere")):
        keep_approval(file, one.approval.name, one.root, one)
    assert place.load().approved == {"mine": mine, "theirs": theirs}
    assert file.stat().st_mode & 0o077 == 0

    keep_approval(file, "theirs", root, None)
    assert place.load().approved == {"mine": mine}
    assert str(file) in place.load().watched


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"servers": 3}', "\x00", "[" * 100_000])
def test_a_list_of_yeses_that_cannot_be_read_approves_nothing_and_is_not_written_over(
    place: Place, text: str
) -> None:
    place.own('[mcp.servers.mine]\ncommand = "x"\n')
    file = approvals_file(place.trust)
    file.write_text(text, encoding="utf-8")
    assert place.load().approved == {}
    with pytest.raises(ConfigError, match="approved MCP servers"):
        keep_approval(file, "mine", "", McpApproved(McpApproval("mine")))
    assert file.read_text(encoding="utf-8") == text


def test_a_server_is_written_as_it_is_read_and_taken_out_whole(place: Place) -> None:
    place.own("# mine\n[appearance]\ntheme = 'dark'\n")
    server = McpServerSettings("files", ("npx", "-y"), ("TOKEN",), network=True)
    save_mcp_server(place.config, "files", server)
    assert place.load().settings.mcp == {"files": server}
    save_mcp_server(place.config, "files", McpServerSettings("files", url="https://a.example"))
    assert place.load().settings.mcp == {"files": McpServerSettings("files", url="https://a.example")}
    save_mcp_server(place.config, "files", None)

    assert place.config.read_text(encoding="utf-8").rstrip() == "# mine\n[appearance]\ntheme = 'dark'"
    for name in ("a__b", "a b", ""):
        with pytest.raises(ConfigError, match="is not a name for an MCP server"):
            save_mcp_server(place.config, name, server)
