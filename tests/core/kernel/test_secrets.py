"""Keys and passwords do not reach the index or a preview; ordinary words do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel import secret_shapes
from core.kernel.secret_shapes import DETECTORS
from core.kernel.secret_values import Rule
from core.kernel.secrets import MASK, scrub
from tests.operations import LINEAR, growth

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
    "unit",
    [
        "a",
        "a.",
        "password",
        "token=",
        "eyJaaaaaaaa.",
        "://a:",
        "-----BEGIN ",
        "sk-",
        "_",
        "-",
        "curl -",
        "token_token",
    ],
)
def test_any_text_is_looked_at_in_proportion_to_its_length(unit: str) -> None:
    """No rule may go over the same text again and again. What one pattern does is a row of `tests.bench.sound_growth`."""
    assert growth(lambda size: scrub(unit * size), 2_000) <= LINEAR


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
        "MTIz" + "f" * 22 + ".abcdef." + "g" * 27,
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
        "ATATT3x" + "o" * 60,
        "dapi" + "0a" * 16,
        "figd_" + "p" * 40,
        "lin_api_" + "q" * 40,
        "ntn_" + "r" * 46,
        "PMAK-" + "0b" * 12 + "-" + "0c" * 17,
        "glsa_" + "s" * 32 + "_0123abcd",
        "sntrys_" + "t" * 60,
        "dp.pt." + "u" * 43,
        "hvs." + "v" * 90,
        "w" * 14 + ".atlasv1." + "x" * 67,
        "pul-" + "0d" * 20,
        "rubygems_" + "0e" * 24,
        "dckr_pat_" + "y" * 27,
        "sbp_" + "0f" * 20,
        "pscale_tkn_" + "z" * 43,
        "key-" + "1a" * 16,
        "NRAK-" + "A" * 27,
        "xapp-1-" + "B" * 11 + "-1234567890123-" + "c" * 64,
        "LTAI" + "D" * 20,
        "glrt-" + "e" * 20,
        "HRKU-" + "01234567-89ab-cdef-0123-456789abcdef",
        "EAA" + "F" * 120,
        "1//0" + "g" * 80,
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
        "a uuid 123e4567-e89b-12d3-a456-426614174000 of a row",
        "integrity sha512-" + "Ab1/" * 21 + "Ab==",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf",
        "md5 0123456789abcdef0123456789abcdef",
        "docker pull python@sha256:" + "0a" * 32,
        "https://github.com/owner/repo/commit/0123456789abcdef0123456789abcdef01234567",
        "https://example.org/search?q=token&page=2",
        "git@github.com:owner/repo.git",
        "ssh-ed25519 is the kind of key that I use",
        "BEGIN RSA PRIVATE KEY is the head of a key",
        "the sk- prefix, the ghp_ prefix and the xoxb- prefix",
        "skip-this-long-flag --sk-n 12 sk-learn",
        "from sklearn.model_selection import train_test_split",
        "pk_id, rk-test and whsec are names",
        "AKIA is how their ids start",
        "const tokenCount = tokens.length",
        "max_tokens: 4096, top_p: 0.9",
        "tokenizer = AutoTokenizer.from_pretrained(name)",
        "password reset, password policy, passwordless",
        "the secret of a good test is its name",
        "the api_key is read from os.environ",
        "eyJ is base64 of an open brace",
        "slot_id=20261120-120000-abcdef",
        "discussions/20261120-120000-abcdef/log.jsonl",
        "claude-sonnet-4-5-20250929 and gpt-5.2-2026-01-15",
        "hf_hub_download and npm_config_registry",
        "SG.1 and AC.2, room SK12",
        "dapi is an API, hvs a shopping channel",
        "keys-and-values, key-value, key-0",
        "version 1.2.3-beta.4+build.5",
        "a1b2c3d4 is short",
    ],
)
def test_words_and_hashes_are_no_secrets(words: str) -> None:
    assert scrub(words) == words


DETECTED = {
    "Artifactory": "artifactory: AK" + "C"
    "p5bueTFpfypEqQbGJPp7eHFi28fBivfWczrjbPb9erDff9LbXZbj6UsRExVXA8asWGc9fM",
    "AWS": "AKIA" + "IOSFODNN7EXAMPL2",
    "Cloudant": "cloudant_password = " + "ab12" * 16,
    "Discord": "MTIz" + "f" * 20 + ".abcdef." + "g" * 27,
    "GitHub": "ghp_" + "aB3d" * 9,
    "IBM Cloud": "ibm_cloud_iam_api_key: " + "aB1-" * 11,
    "IBM storage": "cos_hmac_secret_access_key = " + "ab12" * 12,
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "Mailchimp": "0123456789abcdef" * 2 + "-us12",
    "npm": "//npm.example.org/:_authToken=npm_" + "xMn1" * 9,
    "SendGrid": "SG." + "c" * 22 + "." + "d" * 43,
    "Slack": "xoxb-" + "23984754863-2348975623103",
    "SoftLayer": "softlayer_api_key = " + "ab12" * 16,
    "Square": "sq0csp-" + "ABCDEFGHIJK_LMNOPQRSTUVWXYZ-0123456789_abcd",
    "Stripe": "rk_" + "live_" + "ReTllpYQYfIZu2Jnf2lAPFjD",
    "Twilio": "SK" + "0a1b" * 8,
}


@pytest.mark.parametrize("kind", DETECTED)
def test_a_secret_of_a_kind_that_scanners_know_is_gone(kind: str) -> None:
    secret = re.split(r"[ =/]", DETECTED[kind])[-1]

    cleaned = scrub(f"it is {DETECTED[kind]} here")

    assert secret not in cleaned
    assert MASK in cleaned
    assert cleaned.endswith(" here")


@pytest.mark.parametrize("name", DETECTORS)
def test_the_rule_of_each_service_finds_its_sample_by_itself_where_one_of_its_words_stands(
    name: str,
) -> None:
    text = f"it is {DETECTED[name]} here"
    rule = dict(zip(DETECTORS, secret_shapes.rules(), strict=True))[name]
    finds = [rule.look(text, at) for at in range(len(text)) if text[at:].lower().startswith(_lowered(rule))]

    assert any(find is not None and find.is_secret for find in finds)


def _lowered(rule: Rule) -> tuple[str, ...]:
    return tuple(literal.lower() for literal in rule.literals)


@pytest.mark.parametrize(
    "secret",
    [
        "aws_secret_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "jfrog: AP6aBcDeFgHiJkLmNoPq ",
        "A3TX" + "0Z" * 8,
    ],
)
def test_what_only_the_library_knows_is_gone_too(secret: str) -> None:
    words = secret.rsplit(maxsplit=1)[-1]

    assert words not in scrub(f"{secret} is it")


def test_twenty_thousand_keys_are_gone_in_linear_time() -> None:
    def cleaned(count: int) -> str:
        return scrub("\n".join(f"AKIA{number:016}" for number in range(count)))

    assert cleaned(20_000) == "\n".join([MASK] * 20_000)
    assert growth(cleaned, 300) <= LINEAR


@pytest.mark.parametrize("unit", ["a", "ibm_", "softlayer_api_key ", "cloudant ", "xox", "0", " = ", "://a:"])
def test_beginnings_of_what_only_the_library_knows_are_looked_at_in_proportion(unit: str) -> None:
    assert growth(lambda size: scrub(unit * size), 2_000) <= LINEAR
