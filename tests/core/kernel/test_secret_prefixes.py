"""Keys that are told by the beginning that their maker gave them, and addresses that carry theirs, in plain sentences."""

from __future__ import annotations

import pytest

from core.kernel.secrets import scrub
from tests.core.kernel.secret_corpus.judge import survives
from tests.core.kernel.secret_corpus.keys_2026 import ADDRESSES, KEYS, LOOK_ALIKES, SENTENCES
from tests.core.kernel.secret_corpus.values import Make, Values

SEEDS = range(3)


def left(make: Make, place: str = "{s}") -> list[str]:
    """Sentences that a key of this kind survives in."""
    texts = []
    for seed in SEEDS:
        values = Values(seed)
        for sentence in SENTENCES:
            key = make(values)
            said = scrub(sentence.format(s=place.format(s=key)))
            texts += [said] if survives(key, said) else []
    return texts


@pytest.mark.parametrize("maker", KEYS)
def test_a_key_is_taken_out_of_a_sentence_that_names_no_key(maker: str) -> None:
    assert left(KEYS[maker]) == []


@pytest.mark.parametrize("whose", ADDRESSES)
def test_the_key_is_taken_out_of_an_address_that_carries_it(whose: str) -> None:
    place, make = ADDRESSES[whose]
    assert left(make, place) == []


@pytest.mark.parametrize("place", ["https://hook.eu1.make.com/{s}", "https://mainnet.infura.io/v3/{s}"])
def test_an_address_without_its_key_stays_readable(place: str) -> None:
    said = scrub(place.format(s=Values(1).hex(32)))
    assert said == place.format(s="[secret]")


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_begins_in_the_same_way_and_is_none_stays(text: str) -> None:
    said = [sentence.format(s=text) for sentence in SENTENCES]
    assert [scrub(each) for each in said] == said
