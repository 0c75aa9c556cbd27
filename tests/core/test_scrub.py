"""Keys and passwords do not reach the index or a preview; ordinary words do."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.scrub import MASK, scrub

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK"


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-{LETTERS}",
        f"sk-ant-api03-{LETTERS}",
        f"AIza{LETTERS[:35]}",
        f"ghp_{LETTERS}",
        f"github_pat_{LETTERS}",
        f"glpat-{LETTERS[:20]}",
        f"xoxb-{LETTERS[:12]}-{LETTERS[:12]}",
        f"hf_{LETTERS[:34]}",
        "AKIAIOSFODNN7EXAMPLE",
        f"eyJ{LETTERS[:20]}.eyJ{LETTERS[:20]}.{LETTERS}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{LETTERS}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{LETTERS}",
    ],
)
def test_a_key_is_masked_wherever_it_stands(secret: str) -> None:
    assert scrub(f"my key is {secret}, keep it") in {f"my key is {MASK}, keep it", f"my key is {MASK}"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abcdefghijklmnop1234", f"Authorization: Bearer {MASK}"),
        ('"api_key": "hunter2hunter2"', f'"api_key": "{MASK}"'),
        ("OPENAI_API_KEY=abcdefgh12345678", f"OPENAI_API_KEY={MASK}"),
        ("db_password: correct-horse", f"db_password: {MASK}"),
        ("postgres://me:s3cr3t-word@host/db", f"postgres://me:{MASK}@host/db"),
    ],
)
def test_what_is_assigned_to_a_secret_name_is_masked_and_the_name_stays(text: str, clean: str) -> None:
    assert scrub(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "How do I rotate the API key of a server?",
        "the token count is 12",
        "tokens: 5",
        "https://example.org/a:b@c",
        "task-list and risk-averse",
        "a password is needed",
    ],
)
def test_talk_about_keys_is_left_alone(text: str) -> None:
    assert scrub(text) == text


@given(st.text())
def test_any_text_can_be_scrubbed_and_stays_scrubbed(text: str) -> None:
    assert MASK not in text or MASK in scrub(text)
    once = scrub(f"key sk-{LETTERS} {text}")
    assert LETTERS not in once


@pytest.mark.parametrize(
    "unit", ["a", "a.", "password", "token=", "eyJaaaaaaaa.", "://a:", "-----BEGIN ", "sk-", "_", "-"]
)
def test_a_megabyte_of_anything_takes_no_unreasonable_time(unit: str) -> None:
    """No pattern may go over the same text again and again."""
    text = unit * (1_000_000 // len(unit))
    began = time.perf_counter()
    scrub(text)

    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "secret",
    [
        "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "whsec_" + "a" * 32,
        "sq0atp-" + "b" * 22,
        "SG." + "c" * 22 + "." + "d" * 43,
        "AC" + "0123456789abcdef" * 2,
        "0123456789abcdef" * 2 + "-us12",
        "hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX",
        "discord.com/api/webhooks/123456789012/" + "e" * 68,
        "M" + "f" * 25 + ".abcdef." + "g" * 27,
        "ya29." + "h" * 40,
        "GOCSPX-" + "i" * 28,
        "123456789:AA" + "j" * 33,
        "AccountKey=" + "k" * 86 + "==",
        "dop_v1_" + "0" * 64,
        "shpat_" + "a1" * 16,
        "AGE-SECRET-KEY-1" + "Q" * 58,
        "gsk_" + "l" * 48,
        "xai-" + "m" * 48,
        "tskey-auth-" + "n" * 24,
    ],
)
def test_keys_of_more_vendors_are_removed_by_their_shape(secret: str) -> None:
    assert secret not in scrub(f"use {secret} there")
    assert scrub(f"use {secret} there").endswith(" there")


@pytest.mark.parametrize(
    "words",
    [
        "commit 0123456789abcdef0123456789abcdef01234567",
        "a skeleton key, xai is a name, r8 too",
        "ACcess to MNO.abc.def",
        "the sha256 is " + "0123456789abcdef" * 4,
        "id 123456789:AAaa",
    ],
)
def test_words_and_hashes_are_no_secrets(words: str) -> None:
    assert scrub(words) == words
