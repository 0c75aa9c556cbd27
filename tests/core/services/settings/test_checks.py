"""Values that hold and values that do not, with the reason a person can act on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.settings.settings_checks import check_settings, did_you_mean


def _check(data: dict[str, Any], *, is_project: bool = False) -> tuple[dict[str, Any], list[str]]:
    values, flaws = check_settings(data, is_project=is_project)
    return values, [flaw.reason for flaw in flaws]


def test_values_that_hold_are_taken_under_their_dotted_key() -> None:
    values, flaws = _check(
        {
            "trash_days": 3,
            "appearance": {"theme": "light", "ui_scale": 2},
            "ai_settings": {"model": "m", "knowledge": {"digest_enabled": False}},
            "providers": {"my-box": {"base_url": "http://127.0.0.1:1/v1", "timeout_s": 5}},
        }
    )

    assert flaws == []
    assert values == {
        "trash_days": 3,
        "appearance.theme": "light",
        "appearance.ui_scale": 2,
        "ai_settings.model": "m",
        "ai_settings.knowledge.digest_enabled": False,
        "providers.my-box.base_url": "http://127.0.0.1:1/v1",
        "providers.my-box.timeout_s": 5,
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"trash_days": "3"}, "trash_days must be a whole number, not '3'"),
        ({"trash_days": True}, "trash_days must be a whole number, not True"),
        ({"trash_days": 2.5}, "trash_days must be a whole number, not 2.5"),
        ({"trash_days": -1}, "trash_days must be from 0 to 36,500, not -1"),
        ({"appearance": {"ui_scale": "big"}}, "appearance.ui_scale must be a number, not 'big'"),
        ({"appearance": {"ui_scale": float("nan")}}, "appearance.ui_scale must be from 0.5 to 3, not nan"),
        (
            {"appearance": {"theme": "drak"}},
            "appearance.theme must be one of dark, light, not 'drak'; did you mean dark?",
        ),
        (
            {"retrieval": {"corpora": ["notes", "nots"]}},
            "retrieval.corpora must be one of notes, knowledge, discussions, project, not 'nots'; did you mean notes?",
        ),
        ({"appearance": {"theme": ["dark"]}}, "appearance.theme must be a text in quotes, not ['dark']"),
        (
            {"ai_settings": {"knowledge": {"digest_enabled": 1}}},
            "ai_settings.knowledge.digest_enabled must be true or false, not 1",
        ),
        ({"ai_settings": {"knowledge": True}}, "ai_settings.knowledge must be a table"),
        ({"appearance": "dark"}, "appearance must be a table"),
        ({"providers": {"box": "http://x"}}, "providers.box must be a table"),
        (
            {"providers": {"a": {"base_url": "ftp://x"}}},
            "providers.a.base_url must be an address that starts with",
        ),
        ({"providers": {"a": {"base_url": "http://u:p@x"}}}, "providers.a.base_url must not hold a user"),
        ({"providers": {"a": {"base_url": "http://x:99999"}}}, "providers.a.base_url is not an address"),
        ({"providers": {"a": {"base_url": "http://x/a b"}}}, "providers.a.base_url must not hold spaces"),
        ({"providers": {"a": {"base_url": "http://[::1"}}}, "providers.a.base_url is not an address"),
        (
            {"providers": {"a": {"kind": "openai"}}},
            "providers.a.kind must be 'compatible' or 'anthropic' for the provider 'a'",
        ),
        ({"providers": {"openai": {"kind": "compatible"}}}, "providers.openai.kind must be 'openai'"),
        (
            {"providers": {"a": {"label": "x" * 81}}},
            "providers.a.label must have at most 80 characters, not 81",
        ),
    ],
)
def test_a_wrong_value_is_grave_and_says_what_it_must_be(data: dict[str, Any], reason: str) -> None:
    values, flaws = check_settings(data, is_project=False)

    assert values == {}
    assert [flaw.is_grave for flaw in flaws] == [True]
    assert flaws[0].reason.startswith(reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            {"appearance": {"them": "x"}},
            "appearance.them is not a setting; did you mean appearance.theme?; the program ignores this key",
        ),
        ({"aperance": {"theme": "dark"}}, "aperance.theme is not a setting; did you mean appearance.theme?"),
        ({"theme": "dark"}, "theme is not a setting; did you mean appearance.theme?"),
        ({"zzz": 1}, "zzz is not a setting; the program ignores this key"),
        ({"zzz": {}}, "zzz is not a setting; the program ignores this key"),
        ({"appearance.theme": "dark"}, "appearance.theme is not a setting"),
        (
            {"providers": {"a": {"url": "http://x"}}},
            "providers.a.url is not a setting; did you mean providers.a.base_url?",
        ),
        ({"providers": {"My Box": {"label": "x"}}}, "'My Box' is not a provider's id"),
        ({"presets": {"a": {"items": []}}}, "presets.a.items is not a setting"),
        ({"personas": {"a": {"text": "x"}}}, "personas.a.text is not a setting"),
    ],
)
def test_an_unknown_key_is_said_with_the_nearest_one_and_otherwise_ignored(
    data: dict[str, Any], reason: str
) -> None:
    values, flaws = check_settings(data, is_project=False)

    assert values == {}
    assert [flaw.is_grave for flaw in flaws] == [False]
    assert flaws[0].reason.startswith(reason)


def test_a_key_in_a_settings_file_is_refused_and_never_repeated() -> None:
    values, flaws = check_settings({"providers": {"openai": {"api_key": "sk-very-secret"}}}, is_project=False)

    assert values == {}
    assert "a settings file never holds keys" in flaws[0].reason
    assert "secret" not in repr(flaws)


def test_tables_that_others_read_are_passed_over() -> None:
    data = {"presets": {"a": 1}, "project": {"name": 3}, "mcp": {"servers": {}}, "hooks": {"enabled": True}}

    assert _check(data, is_project=True) == ({}, [])


def test_good_values_beside_a_bad_one_are_still_told_apart() -> None:
    values, flaws = _check({"trash_days": "x", "appearance": {"theme": "light"}})

    assert values == {"appearance.theme": "light"}
    assert len(flaws) == 1


def test_a_long_value_is_cut_in_the_message() -> None:
    _, flaws = _check({"trash_days": "x" * 500})

    assert len(flaws[0]) < 150


def test_nothing_is_suggested_for_a_word_like_no_other() -> None:
    assert did_you_mean("qqqqqq", ("theme", "scale")) == ""


_ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(["providers", "appearance", "ai_settings", "theme", "base_url", "x"]),
                st.text(),
            ),
            inner,
            max_size=3,
        ),
    ),
)


@given(
    st.dictionaries(st.one_of(st.sampled_from(["providers", "appearance", "ai_settings"]), st.text()), _ANY),
    st.booleans(),
)
def test_no_file_whatever_makes_the_check_fail(data: dict[str, Any], is_project: bool) -> None:
    values, flaws = check_settings(data, is_project=is_project)

    assert all(isinstance(value, str | int | float | bool) for value in values.values())
    assert all(flaw.reason for flaw in flaws)
