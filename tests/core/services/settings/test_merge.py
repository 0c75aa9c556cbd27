"""Which source wins, and where each value came from."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.kernel.values.settings import Settings
from core.services.settings.settings_merge import SettingSource, environment_source, from_text, merge
from core.services.settings.settings_schema import BY_KEY, VENDORS, Value


def _sources(*layers: Mapping[str, Value]) -> tuple[SettingSource, ...]:
    names = ("user", "project", "environment", "command line")
    return tuple(SettingSource(name, layer, {}) for name, layer in zip(names, layers, strict=False))


def test_with_no_source_everything_is_a_default_and_the_vendors_are_there() -> None:
    settings, faults = merge(())

    assert faults == ()
    assert settings.ai == Settings().ai
    assert settings.sources == {}
    assert set(settings.servers) == set(VENDORS)
    assert settings.servers["anthropic"].kind == "anthropic"
    assert settings.servers["anthropic"].label == "Anthropic"


def test_the_strongest_source_wins_for_each_key_by_itself() -> None:
    settings, _ = merge(
        _sources(
            {"ai_settings.effort": "low", "trash_days": 1, "ai_settings.persona": "u"},
            {"ai_settings.effort": "medium", "ai_settings.persona": "p"},
            {"ai_settings.effort": "high"},
            {"ai_settings.effort": "max"},
        )
    )

    assert (settings.ai.effort, settings.ai.persona, settings.trash_days) == ("max", "p", 1)
    assert settings.sources == {
        "ai_settings.effort": "command line",
        "ai_settings.persona": "project",
        "trash_days": "user",
    }


def test_a_whole_number_for_a_fraction_becomes_one() -> None:
    settings, _ = merge(_sources({"appearance.ui_scale": 2, "providers.openai.timeout_s": 7}))

    assert isinstance(settings.appearance.ui_scale, float)
    assert isinstance(settings.servers["openai"].timeout_s, float)


def test_a_server_of_the_persons_joins_the_vendors() -> None:
    settings, faults = merge(_sources({"providers.box.base_url": "http://b", "providers.box.enabled": False}))

    server = settings.servers["box"]
    assert faults == ()
    assert (server.id, server.kind, server.label, server.base_url, server.is_enabled) == (
        "box",
        "compatible",
        "box",
        "http://b",
        False,
    )


@pytest.mark.parametrize(
    ("address", "written", "kind"),
    [
        ("https://api.anthropic.com", None, "anthropic"),
        ("https://eu.api.Anthropic.com:443/v1", None, "anthropic"),
        ("https://api.anthropic.com/v1", "compatible", "compatible"),
        ("https://api.anthropic.com./v1", None, "anthropic"),
        ("https://anthropic.com.example.org", None, "compatible"),
        ("https://anthropic.com.example.org.", None, "compatible"),
        ("https://notanthropic.com", None, "compatible"),
        ("https://api.deepseek.com/anthropic", None, "compatible"),
        ("https://api.deepseek.com/anthropic", "anthropic", "anthropic"),
    ],
)
def test_the_kind_of_a_server_is_what_is_written_else_what_its_address_says(
    address: str, written: str | None, kind: str
) -> None:
    given: dict[str, Value] = {"providers.box.base_url": address}
    settings, faults = merge(_sources(given | ({} if written is None else {"providers.box.kind": written})))

    assert (settings.servers["box"].kind, faults) == (kind, ())


def test_a_server_without_an_address_is_left_out_and_said() -> None:
    settings, faults = merge(_sources({"providers.box.label": "Box"}))

    assert "box" not in settings.servers
    assert [(fault.path, "base_url" in fault.reason) for fault in faults] == [("user", True)]


def test_an_embedder_that_nobody_defines_is_said_and_stays() -> None:
    settings, faults = merge(_sources({"retrieval.embedder": "opnai"}))

    assert settings.retrieval.embedder == "opnai"
    assert [(fault.path, "did you mean openai?" in fault.reason) for fault in faults] == [("user", True)]
    assert not merge(_sources({"retrieval.embedder": "openai"}))[1]
    assert not merge(
        _sources({"retrieval.embedder": "box", "providers.box.base_url": "http://localhost:1/v1"})
    )[1]


def test_a_provider_that_nobody_defines_gives_way_to_the_next_source() -> None:
    settings, faults = merge(
        _sources({"ai_settings.provider": "openai"}, {"ai_settings.provider": "antropic"})
    )

    assert settings.ai.provider == "openai"
    assert settings.sources["ai_settings.provider"] == "user"
    assert "did you mean anthropic?" in faults[0].reason


@pytest.mark.parametrize(
    ("layers", "model"),
    [
        (({"ai_settings.provider": "openai", "ai_settings.model": "m"}, {}), "m"),
        (
            (
                {"ai_settings.provider": "openai", "ai_settings.model": "m"},
                {"ai_settings.provider": "gemini"},
            ),
            "",
        ),
        (
            (
                {"ai_settings.provider": "openai", "ai_settings.model": "m"},
                {"ai_settings.provider": "openai"},
            ),
            "m",
        ),
        (({"ai_settings.model": "m"}, {"ai_settings.provider": "gemini"}), ""),
        (({"ai_settings.provider": "openai"}, {"ai_settings.model": "m"}), "m"),
        (
            (
                {"ai_settings.provider": "openai", "ai_settings.model": "m"},
                {"ai_settings.provider": "gemini", "ai_settings.model": "g"},
            ),
            "g",
        ),
    ],
)
def test_a_model_never_goes_to_a_provider_that_its_source_did_not_mean(
    layers: tuple[Mapping[str, Value], ...], model: str
) -> None:
    settings, _ = merge(_sources(*layers))

    assert settings.ai.model == model


def test_each_vendors_own_variable_sets_its_address() -> None:
    source, faults = environment_source(
        {
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
            "OPENAI_BASE_URL": "http://127.0.0.1:2/v1",
            "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:3",
            "MANUAL_SLOP_UI_SCALE": "1.5",
        }
    )
    settings, _ = merge((source,))

    assert faults == ()
    assert [settings.servers[name].base_url for name in ("anthropic", "openai", "gemini")] == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:2/v1",
        "http://127.0.0.1:3",
    ]
    assert settings.appearance.ui_scale == 1.5
    assert settings.sources["providers.anthropic.base_url"] == "environment ANTHROPIC_BASE_URL"


def test_a_wrong_variable_is_named_and_ignored_and_an_empty_one_is_nothing() -> None:
    source, faults = environment_source({"MANUAL_SLOP_THEME": "blue", "MANUAL_SLOP_MODEL": ""})

    assert source.values == {}
    assert [fault.path for fault in faults] == ["MANUAL_SLOP_THEME"]
    assert "must be one of dark, light" in faults[0].reason


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("trash_days", "7", 7),
        ("trash_days", "x", "x"),
        ("appearance.ui_scale", "1.25", 1.25),
        ("ai_settings.knowledge.digest_enabled", "TRUE", True),
        ("ai_settings.knowledge.digest_enabled", "0", False),
        ("ai_settings.knowledge.digest_enabled", "maybe", "maybe"),
        ("ai_settings.model", "7", "7"),
        ("retrieval.roots", "notes", ("notes",)),
        ("retrieval.roots", '["notes", "[diary]"]', ("notes", "[diary]")),
        ("retrieval.roots", "[diary]", ("[diary]",)),
        ("retrieval.roots", "[1]", ("[1]",)),
        ("retrieval.roots", "", ()),
    ],
)
def test_a_text_becomes_a_value_of_its_settings_kind(key: str, text: str, value: Value) -> None:
    found = from_text(BY_KEY[key], text)

    assert found == value
    assert type(found) is type(value)
