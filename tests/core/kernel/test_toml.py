"""TOML of strangers: in bounded time, every fault of one kind and with its line."""

from __future__ import annotations

import pytest

from core.kernel.codecs import MAX_DEPTH, MAX_MARKS, TomlError, read_toml
from tests.operations import operations

MOST_STEPS = 20_000
"""Lines of Python that a refusal may run: the longest of these texts has a million marks, and took minutes."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\nb = " + "1" * 5_000, "4,300 digits (at line 2, column 5)"),
        ("x = " + "[" * 500 + "]" * 500, "nested"),
        ("x = " + "{a = " * 500 + "1" + "}" * 500, "nested"),
        ("[" + ".".join("a" * 500) + "]\n", "parts (at line 1"),
        (".".join(["a"] * 100_000) + " = 1", "parts (at line 1"),
        (".".join(["a"] * 1_000_000) + " = 1", "1,000,000 lines, dots"),
        ("x = [" + "1," * 1_900_000 + "]", "1,900,002 lines, dots"),
        ("".join([f"[[a{n}.b.c]]\n" for n in range(300_000)]), "the program reads at most 100,000"),
        ("[" + ' . "b"' * 400 + "]\n", "parts"),
        (
            "\n".join("[" + ".".join("a" * n) + "]" for n in range(1, 64)) + "\n[" + "a." * 63 + "b.c]",
            "parts",
        ),
    ],
)
def test_what_nobody_writes_is_refused_at_once(text: str, said: str) -> None:
    caught: list[TomlError] = []

    def refused() -> None:
        try:
            read_toml(text)
        except TomlError as error:
            caught.append(error)

    assert operations(refused) < MOST_STEPS
    assert said in str(caught[0])


@pytest.mark.parametrize("written", [r"\u0000", r"\U00000000"])
@pytest.mark.parametrize(
    "place", ['"x{}"', '["a", "x{}"]', '{{ "x{}" = 1 }}', '[{{ b = [{{ c = "{}" }}] }}]']
)
def test_a_zero_character_is_refused_with_its_line_and_the_words_for_one_are_not(
    place: str, written: str
) -> None:
    """The system's names end at it: a path with one stopped whoever looked for it."""
    with pytest.raises(TomlError, match=r"zero character.*at line 2, "):
        read_toml("a = 1\nb = " + place.format(written), names_paths=True)
    assert read_toml("b = " + place.format("\\" + written), names_paths=True) != {}


def test_tables_as_deep_as_the_bound_are_read() -> None:
    text = "[" + ".".join(["a"] * (MAX_DEPTH - 1)) + "]\nb = 1\n"

    data = read_toml(text)

    for _ in range(MAX_DEPTH - 1):
        data = data["a"]
    assert data == {"b": 1}


def test_prose_with_many_points_is_no_key() -> None:
    text = "a.b.c " * 2_000

    assert read_toml(f'x = """{text}"""') == {"x": text}


def test_a_file_of_our_own_may_grow() -> None:
    text = "x = [" + "1," * MAX_MARKS + "]"

    assert len(read_toml(text, None)["x"]) == MAX_MARKS
