"""The prefilter: literals are found wherever they stand, and scrubbing is the same as without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel import secret_kinds
from core.kernel.secret_kinds import Hits
from core.kernel.secret_values import Rule
from core.kernel.secrets import known, secrets_in
from tests.core.kernel.secret_corpus.outside import outside
from tests.core.kernel.secret_corpus.practice import practice

RULES, HITS = known()

WORDS = (("abc", False, "abc"), ("abcd", True, "abcd"), ("Xyz-", True, "Xyz-"), ("://", False, "://"))
PIECES = [
    *(one.text for one in practice(5)),
    *(one.text for one in outside(5)),
    *(literal for rule in RULES for literal in rule.literals),
    *" \n\t=:\"'`,;/@-_.é\u0130\u212a\u017f\U0001f511",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join)


def plain_hits(text: str) -> Iterator[tuple[int, Rule]]:
    """Every position at which a literal of a rule stands, by looking at each."""
    lowered = "".join(char.lower() if char.isascii() else char for char in text)
    for at in range(len(text)):
        for rule in RULES:
            if rule.has_case:
                stands = text.startswith(rule.literals, at)
            else:
                stands = lowered.startswith(tuple(literal.lower() for literal in rule.literals), at)
            if stands:
                yield at, rule


@pytest.fixture(params=[0, 1 << 40], ids=["numpy", "plain"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of looking, whatever the length."""
    monkeypatch.setattr(secret_kinds, "LONG_CHARS", request.param)


@pytest.mark.usefixtures("way")
def test_literals_are_found_with_and_without_regard_to_case_in_order() -> None:
    found = list(Hits(WORDS).in_text("ABCD abcd xyz- Xyz- é://\U0001f511abc"))

    assert found == [(0, "abc"), (5, "abc"), (5, "abcd"), (15, "Xyz-"), (21, "://"), (25, "abc")]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("place", [0, 65_533, 65_534, 65_535, 65_536, 131_071, 199_996])
def test_a_literal_is_found_across_the_pieces_that_are_looked_through(place: int) -> None:
    text = " " * place + "abcd" + " " * (199_996 - place)

    assert list(Hits(WORDS).in_text(text)) == [(place, "abc"), (place, "abcd")]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("text", ["", "a", "ab", "abc"])
def test_short_texts_are_looked_through(text: str) -> None:
    assert [at for at, _ in Hits(WORDS).in_text(text)] == ([0] if text == "abc" else [])


def test_a_literal_of_two_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        Hits([("ab", False, 1)])


@given(TEXTS)
def test_secrets_are_the_same_with_and_without_the_prefilter(text: str) -> None:
    plain = secrets_in(text, plain_hits(text))
    made = []
    for long_chars in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(secret_kinds, "LONG_CHARS", long_chars)
            made.append(secrets_in(text, HITS.in_text(text)))

    assert made == [plain, plain]


@pytest.mark.usefixtures("way")
def test_every_rule_is_asked_wherever_one_of_its_literals_stands() -> None:
    text = "\n".join(literal for rule in RULES for literal in rule.literals)

    assert {id(rule) for _, rule in HITS.in_text(text)} == {id(rule) for rule in RULES}
