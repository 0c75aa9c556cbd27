"""The face for scripts: names that people look for, over the same program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import ai_client
from core.kernel.errors import FailureKind, ProviderError, SlopError
from core.knowledge.harvest import distillation, face
from core.talk.discussion.discussion_meta import read_meta
from tests.core.knowledge.harvest.harvests import add_discussion
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")


def test_a_large_conversation_is_read_under_the_name_that_scripts_know() -> None:
    assert ai_client.run_subagent_summarization is distillation.run_subagent_summarization
    assert ai_client.run_subagent_summarization is face.run_subagent_summarization


def test_what_leaves_a_view_is_summarised_piece_by_piece_and_goes_on_with_what_was_told_before() -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return f" summary {len(prompts)}\r\n"

    text = ai_client.run_discussion_compression(
        ["the first part </conversation>", "the second part"], "Tides", "Summarise.", ask, earlier="long ago"
    )

    assert text == "summary 2"
    assert all(prompt.startswith("Summarise.") for prompt in prompts)
    assert "long ago" in prompts[0]
    assert '<conversation-2 name="Tides (part 1 of 2)">' in prompts[0]  # nothing in the text can end it
    assert "summary 1" in prompts[1]
    assert ai_client.run_discussion_compression([], "Tides", "Summarise.", ask, earlier="kept") == "kept"
    with pytest.raises(ProviderError, match="empty summary"):
        ai_client.run_discussion_compression(["words"], "Tides", "Summarise.", lambda _prompt: " ")


def test_an_invalidated_cache_salts_the_next_request(tmp_path: Path) -> None:
    chosen = add_discussion(tmp_path, "Tides", "Why?")
    before = read_meta(tmp_path, chosen).meta

    ai_client.invalidate_cache(chosen, home=tmp_path)

    after = read_meta(tmp_path, chosen).meta
    assert after.cache_epoch == before.cache_epoch + 1
    assert after.name == before.name


def test_what_is_not_there_cannot_be_invalidated(tmp_path: Path) -> None:
    with pytest.raises(SlopError, match="There is no discussion 'nowhere'"):
        ai_client.invalidate_cache("nowhere", home=tmp_path)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CompatibleServer]:
    """A server on loopback that is the settings' provider, and a project to stand in."""
    with CompatibleServer(VLLM) as server:
        config = tmp_path / "config.toml"
        config.write_text(
            f'[ai_settings]\nprovider = "lab"\nmodel = "{MODEL}"\n\n'
            f'[providers.lab]\nkind = "compatible"\nbase_url = "{server.url}/v1"\n'
        )
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "CLAUDE.md").write_text("Answer in metres.\n")
        monkeypatch.chdir(tmp_path)
        yield server


def test_a_script_s_turn_has_the_whole_context_and_stands_in_the_books(
    tmp_path: Path, server: CompatibleServer
) -> None:
    server.replies.append(Said("At noon."))
    server.replies.append(Said("At six."))
    knowledge = tmp_path / "home" / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "digest.md").write_text("# Knowledge digest\n\n## Facts\n- The tide turns.\n")

    first = ai_client.send("When is it high?", home=tmp_path / "home")
    second = ai_client.send("And low?", discussion_id=first.discussion_id, home=tmp_path / "home")

    assert (first.text, second.text) == ("At noon.", "At six.")
    body = str(server.bodies[-1])
    for part in ("Answer in metres.", "The tide turns.", "When is it high?", "At noon.", "And low?"):
        assert part in body
    assert read_meta(tmp_path / "home", first.discussion_id).meta.provider == "lab"
    stats = ai_client.get_token_stats(tmp_path / "home")
    assert stats["discussions"] == 1
    assert stats["input_tokens"] == (first.input_tokens or 0) + (second.input_tokens or 0)


def test_a_script_hears_why_a_turn_failed_and_its_words_are_kept(
    tmp_path: Path, server: CompatibleServer
) -> None:
    server.key = "another"

    with pytest.raises(ProviderError) as failed:
        ai_client.send("When?", home=tmp_path / "home")
    assert failed.value.kind is FailureKind.BAD_KEY

    with pytest.raises(SlopError, match="There is no discussion 'nowhere'"):
        ai_client.send("When?", discussion_id="nowhere", home=tmp_path / "home")


def test_a_preset_that_there_is_not_is_refused_and_nothing_is_paid(
    tmp_path: Path, server: CompatibleServer
) -> None:
    with pytest.raises(SlopError, match="There is no preset 'nope'"):
        ai_client.send("When is it high?", preset="nope", home=tmp_path / "home")

    assert server.bodies == []
