"""Claude Code as it is installed from npm, against a vendor on loopback that bills: what it marks is read again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import ai_client
from core.ai_client import LlmResult
from core.front.cli import main as command
from tests.vendors.anthropic_server import KEY, AnthropicServer

FIRST_TOKENS = 50_000
MOST = 0.12
"""Of what the same input costs without any cache; a read alone costs 0.05."""


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    assert shutil.which("claude"), "Claude Code is not on PATH; `make optional` installs it"
    with AnthropicServer() as server:
        config = tmp_path / "config.toml"
        config.write_text(
            '[ai_settings]\nprovider = "claude_code"\nmodel = "claude-opus-5-5"\n\n'
            f'[providers.claude_code]\nkind = "claude_code"\nbase_url = "{server.url}"\n',
            encoding="utf-8",
        )
        for name, value in (
            ("MANUAL_SLOP_CONFIG", str(config)),
            ("ANTHROPIC_API_KEY", KEY),
            ("HOME", str(tmp_path)),
        ):
            monkeypatch.setenv(name, value)
        project = tmp_path / "project"
        project.mkdir()
        (project / "CLAUDE.md").write_text("Answer in metres.\n", encoding="utf-8")
        monkeypatch.chdir(project)
        yield server


def test_the_second_and_third_turn_read_what_the_first_wrote(tmp_path: Path, vendor: AnthropicServer) -> None:
    home = tmp_path / "home"
    assert command(["trust", "--yes", "--home", str(home)]) == 0, (
        "its CLAUDE.md counts once the folder is trusted"
    )
    table = " ".join(f"w{number}" for number in range(FIRST_TOKENS))
    turns = [ai_client.send(f"When is it high? {table}", home=home)]
    for words in ("And low?", "And in March?"):
        turns.append(ai_client.send(words, discussion_id=turns[0].discussion_id, home=home))

    assert (turns[0].input_tokens or 0) > FIRST_TOKENS
    assert "Answer in metres." in str(vendor.bodies[-1]), "the project's context is sent"
    for turn in turns[1:]:
        assert _cost(turn) <= MOST * (turn.input_tokens or 0)


def _cost(turn: LlmResult) -> float:
    """Of the input, in tokens of fresh input. Source: Anthropic's prices of Opus 5.5."""
    read, written = turn.cache_read_tokens or 0, turn.cache_write_tokens or 0
    return (turn.input_tokens or 0) - read - written + 0.05 * read + 1.25 * written
