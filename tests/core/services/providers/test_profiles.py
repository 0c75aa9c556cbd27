"""What is known of models: packaged, a person's, and a server's list."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import ConfigError
from core.kernel.values.provider import Effort, ModelProfile, ProviderKind
from core.services.providers.model_data import load_models, packaged_models
from core.services.providers.profiles import ANY, find_profile, merge_models, nearest_effort, offered_models
from tests.operations import operations

PACKAGED = packaged_models()


def test_the_packaged_models_are_whole_and_named_once() -> None:
    keys = [(model.provider, model.id) for model in PACKAGED]

    assert len(set(keys)) == len(keys)
    assert {model.provider for model in PACKAGED} == {kind.value for kind in ProviderKind}
    for model in PACKAGED:
        assert model.family in {"claude", "gpt", "gemini", "open"}, model.id
        assert 0.5 < model.token_factor < 2, model.id
        if not model.thinking.startswith("effort"):
            assert (Effort.NONE in model.efforts) == bool(model.thinking_off), model.id
        assert Effort.AUTO not in model.efforts


def test_every_model_that_is_offered_has_a_name_and_a_window() -> None:
    for kind in ProviderKind:
        for model in offered_models(PACKAGED, kind):
            assert model.label
            assert model.context_tokens, model.id
            assert model.id != ANY


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-5-20260922", "claude-opus-5-5"),
        ("claude-opus-5@20260724", "claude-opus-5"),
        ("claude-opus-5-20260724", "claude-opus-5"),
    ],
)
def test_a_dated_name_gets_the_longest_entry_that_it_begins_with(model: str, entry: str) -> None:
    found = find_profile(PACKAGED, "anthropic", model)
    known = next(one for one in PACKAGED if one.id == entry)

    assert (found.id, found.efforts, found.context_tokens) == (model, known.efforts, known.context_tokens)


def test_a_longer_version_number_is_another_model() -> None:
    models = (ModelProfile("openai", "gpt-5", context_tokens=1), ModelProfile("openai", ANY, family="gpt"))

    assert find_profile(models, "openai", "gpt-5.1").context_tokens is None
    assert find_profile(models, "openai", "gpt-5-mini").context_tokens == 1


def test_an_unknown_model_gets_what_holds_for_its_provider_and_claims_nothing_more() -> None:
    found = find_profile(PACKAGED, "anthropic", "claude-zeta")

    assert (found.family, found.context_tokens, found.thinking, found.efforts) == ("claude", None, "", ())
    assert find_profile((), "x", "y") == ModelProfile("x", "y")


def test_a_server_of_a_kind_gets_what_holds_for_the_kind_unless_it_has_an_entry() -> None:
    own = (*PACKAGED, ModelProfile("ollama", "qwen", context_tokens=4096))

    assert find_profile(own, "ollama", "llama", kind="compatible").takes_long_system is False
    assert find_profile(own, "ollama", "qwen:7b", kind="compatible").context_tokens == 4096
    assert find_profile(own, "ollama", "llama", kind="compatible").provider == "ollama"


def test_a_persons_file_changes_the_fields_it_names_and_adds_models(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(
        '[[model]]\nprovider = "anthropic"\nid = "claude-opus-5-5"\ncontext_tokens = 500_000\n'
        '[[model]]\nprovider = "ollama"\nid = "mine"\nefforts = ["low"]\ntoken_factor = 2\nimages = true\n',
        encoding="utf-8",
    )
    models = load_models(path)
    changed = find_profile(models, "anthropic", "claude-opus-5-5")
    added = find_profile(models, "ollama", "mine")

    assert (changed.context_tokens, changed.max_output_tokens, changed.label) == (
        500_000,
        128_000,
        "Claude Opus 5.5",
    )
    assert (added.efforts, added.token_factor, added.takes_images) == ((Effort.LOW,), 2.0, True)
    assert len(models) == len(PACKAGED) + 1


def test_the_packaged_models_are_read_once_a_process() -> None:
    assert packaged_models() is PACKAGED


def test_without_a_file_the_packaged_models_stand(tmp_path: Path) -> None:
    assert load_models(tmp_path / "models.toml") == PACKAGED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[model]\n", "TOML"),
        ("model = 1", "list of tables"),
        ('[[model]]\nid = "x"', "no provider"),
        ('[[model]]\nprovider = "a"\nid = "x"\nwindow = 3', "'window'"),
        ('[[model]]\nprovider = "a"\nid = "x"\ncontext_tokens = "big"', "'big'"),
        ('[[model]]\nprovider = "a"\nid = "x"\ncontext_tokens = true', "True"),
        ('[[model]]\nprovider = "a"\nid = "x"\ncontext_tokens = -1', "-1"),
        (f'[[model]]\nprovider = "a"\nid = "x"\ntoken_factor = 1{"0" * 400}', "token_factor"),
        ('[[model]]\nprovider = "a"\nid = "x"\nefforts = ["hard"]', "hard"),
        ('[[model]]\nprovider = "a"\nid = "x"\nefforts = [[1]]', "efforts"),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = 3', "no output_usd (at line 4)"),
        ('[[model]]\nprovider = "a"\nid = "x"\nprices_as_of = 2026-11-29', "no input_usd (at line 4)"),
        (
            '[[model]]\nprovider = "a"\nid = "x"\n\noutput_usd = -1',
            "output_usd of model 'x' has the invalid value -1 (at line 5)",
        ),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = nan', "nan (at line 4)"),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = inf', "inf"),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = true', "True"),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = "3"', "'3'"),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = 1e9', "1000000000.0"),
        (f'[[model]]\nprovider = "a"\nid = "x"\ninput_usd = 1{"0" * 400}', "input_usd"),
        ('[[model]]\nprovider = "a"\nid = "x"\ncache_write_1h_usd = [1]', "cache_write_1h_usd"),
        ('[[model]]\nprovider = "a"\nid = "x"\ninput_usd = 1\noutput_usd = 1\nprices_as_of = "May"', "'May'"),
    ],
)
def test_a_wrong_file_is_said_with_its_place_and_the_remedy(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_models(path)

    assert words in caught.value.what
    assert caught.value.remedy
    assert str(caught.value).endswith(str(path))


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="The program cannot read the file with the list of models"):
        load_models(tmp_path / "models.toml")
    with pytest.raises(ConfigError, match="The program cannot read the file with the list of models"):
        load_models(tmp_path)


def test_a_servers_list_fills_gaps_and_adds_models_behind_the_known() -> None:
    known = (
        ModelProfile("a", "old", label="Old", context_tokens=10),
        ModelProfile("a", ANY, family="claude", token_factor=1.35),
    )
    listed = (
        ModelProfile("a", "new", label="New", context_tokens=5, efforts=(Effort.LOW,), thinking="adaptive"),
        ModelProfile("a", "old", label="Other", context_tokens=99, max_output_tokens=7),
    )
    old, rest, new = merge_models(known, listed)

    assert (old.label, old.context_tokens, old.max_output_tokens, old.from_server) == ("Old", 10, 7, True)
    assert rest == known[1]
    assert (new.id, new.label, new.context_tokens, new.family, new.token_factor) == (
        "new",
        "New",
        5,
        "claude",
        1.35,
    )
    assert (new.efforts, new.thinking) == ((Effort.LOW,), "adaptive")


def test_merging_a_list_twice_changes_nothing() -> None:
    listed = (ModelProfile("anthropic", "claude-zeta", label="Zeta"),)
    once = merge_models(PACKAGED, listed)

    assert merge_models(once, listed) == once


LEVELS = st.lists(st.sampled_from([e for e in Effort if e is not Effort.AUTO]), unique=True)


@given(LEVELS, st.sampled_from(Effort))
def test_the_level_asked_for_is_one_that_the_model_takes(levels: list[Effort], wanted: Effort) -> None:
    found = nearest_effort(ModelProfile("a", "m", efforts=tuple(levels)), wanted)

    assert found in {*levels, Effort.AUTO}
    assert (found is Effort.AUTO) == (wanted is Effort.AUTO or not levels)
    if wanted in levels:
        assert found is wanted


def test_a_level_that_is_not_taken_falls_to_the_next_below() -> None:
    profile = ModelProfile("a", "m", efforts=(Effort.LOW, Effort.HIGH))

    assert nearest_effort(profile, Effort.MAX) is Effort.HIGH
    assert nearest_effort(profile, Effort.MEDIUM) is Effort.LOW
    assert nearest_effort(profile, Effort.NONE) is Effort.LOW


@pytest.mark.parametrize(
    "model", ["opus", "sonnet[1m]", "claude-opus-5-5", "claude-haiku-4-5-20251001", "next"]
)
def test_the_window_of_whatever_claude_code_is_asked_for_is_known(model: str) -> None:
    """Where it is not, a small one is assumed, and a conversation that fits is cut."""
    profile = find_profile(PACKAGED, "claude_code", model, kind="claude_code")
    assert (profile.context_tokens or 0) >= 200_000


def test_a_profile_is_looked_for_once_among_the_same_models() -> None:
    """A warm send asks for one a dozen times, of some hundred models each."""
    models = tuple(ModelProfile(provider="anthropic", id=f"model-{number}") for number in range(300))
    assert find_profile(models, "anthropic", "model-7-20260901").provider == "anthropic"

    assert operations(lambda: find_profile(models, "anthropic", "model-7-20260901")) < 20
    assert operations(lambda: find_profile(models, "anthropic", "model-8")) > 300
    assert find_profile(models, "openai", "model-7").context_tokens is None
