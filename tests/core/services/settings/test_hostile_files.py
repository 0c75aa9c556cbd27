"""A stranger's settings file: named in a sentence, in bounded time, and the rest of the program goes on."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel.codecs import MAX_MARKS
from core.services.settings.project import MAX_CONTEXT_FILE_BYTES, MAX_TEXTS, MAX_TEXTS_CHARS
from core.services.settings.settings_loader import MAX_FAULTS, ConfigRequest, LoadedSettings, load
from core.services.settings.toml_document import line_of, lines_of
from core.services.settings.trust import trust
from tests.core.kernel.nodes import NO_FILES, put
from tests.operations import LINEAR, TIMES, growth
from tests.patience import ends


@pytest.fixture
def asked(tmp_path: Path) -> ConfigRequest:
    root = tmp_path / "project"
    root.mkdir()
    config = tmp_path / "config"
    config.mkdir()
    (config / "config.toml").write_text('[ai_settings]\nmodel = "mine"\n')
    request = ConfigRequest(config / "config.toml", config / "trusted.toml", tmp_path / "home", root, root)
    trust(root, request.trust_file, ())
    return request


@pytest.mark.parametrize("kind", [*NO_FILES, "a huge file of holes", "a file of noise"])
@pytest.mark.parametrize("name", ["manual_slop.toml", "CLAUDE.md"])
def test_what_stands_in_place_of_a_project_s_file_is_named(
    asked: ConfigRequest, name: str, kind: str
) -> None:
    put(asked.root / name, kind)
    if (asked.root / name).is_dir():
        (
            asked.root / name / "kept"
        ).touch()  # an empty folder holds the name of an identity file for the sandbox

    loaded = ends(lambda: load(asked))

    assert [Path(fault.path).name for fault in loaded.faults] == [name]
    assert loaded.faults[0].reason
    assert loaded.settings.ai.model == "mine"


@pytest.mark.parametrize("kind", [*NO_FILES, "a huge file of holes"])
@pytest.mark.parametrize("file", ["config_file", "trust_file"])
def test_what_stands_in_place_of_the_person_s_own_file_stops_nothing(
    asked: ConfigRequest, file: str, kind: str
) -> None:
    (asked.root / "manual_slop.toml").write_text('[project]\nname = "theirs"\n')
    put(getattr(asked, file), kind)

    loaded = load(asked)

    assert loaded.project.is_trusted is (file == "config_file")
    assert [Path(fault.path).name for fault in loaded.faults] == (
        ["config.toml"] if file == "config_file" else []
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[project]\nname = " + "1" * 5_000 + "\n", 2, "digits"),
        ("[project]\nname = " + "[" * 500 + "]" * 500 + "\n", None, "nested"),
        ("[project]\n[" + ".".join(["deep"] * 500) + "]\n", 2, "parts"),
    ],
)
def test_toml_that_nobody_writes_is_a_sentence(
    asked: ConfigRequest, text: str, line: int | None, said: str
) -> None:
    (asked.root / "manual_slop.toml").write_text(text)

    loaded = load(asked)

    assert [(fault.line, said in fault.reason) for fault in loaded.faults] == [(line, True)]
    assert loaded.settings.ai.model == "mine"


def test_thousands_of_unknown_tables_are_judged_in_one_pass(asked: ConfigRequest) -> None:
    def judged(tables: int) -> LoadedSettings:
        (asked.root / "manual_slop.toml").write_text(
            "".join(f"[unknown_{n}]\nkey = 1\n" for n in range(tables)) + '[project]\nname = "theirs"\n'
        )
        return load(asked)

    assert growth(judged, 250) <= LINEAR
    loaded = judged(4_000)

    assert len(loaded.faults) == MAX_FAULTS + 1
    assert [fault.line for fault in loaded.faults[:3]] == [2, 4, 6]
    assert loaded.faults[-1].reason == "3,900 more faults are in this file"
    assert loaded.project.name == "theirs"


HOSTILE: dict[str, Callable[[int], str]] = {
    "servers that might share a key": lambda n: f'[providers.s{n:b}-x]\nbase_url = "http://h{n}/v1"\n',
    "keys of a preset": lambda n: "[presets.a]\n" * (n == 0) + f"k{n} = 1\n",
    "keys of the project": lambda n: "[project]\n" * (n == 0) + f"k{n} = 1\n",
    "deep tables": lambda n: f"[t{n}" + ".b" * 60 + "]\n",
    "presets": lambda n: f"[presets.p{n}]\nx = 1\n",
    "folders": lambda n: "[project]\nallowed_roots = [" * (n == 0) + f'"/f{n}", ',
    "context": lambda n: "[project]\ncontext = [" * (n == 0) + f'"f{n}", ',
    "personas": lambda n: f'[personas.p{n}]\nfile = "f{n}"\n',
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_as_much_of_anything_as_is_read_takes_work_in_proportion(asked: ConfigRequest, kind: str) -> None:
    """The bound on marks is for all that stands behind the parser, too: servers took minutes, keys of a preset 20 s."""
    first, another = HOSTILE[kind](0), HOSTILE[kind](1)
    most = MAX_MARKS // sum(map(another.count, "\n,.[{=")) - 20

    def judged(count: int) -> LoadedSettings:
        text = first + "".join(map(HOSTILE[kind], range(1, count)))
        (asked.root / "manual_slop.toml").write_text(text + "]\n" * text.endswith(", "))
        return load(asked)

    assert growth(judged, min(200, most // TIMES)) <= LINEAR
    loaded = judged(most)
    assert loaded.faults
    assert "more than the" not in loaded.faults[0].reason
    assert loaded.settings.ai.model == "mine"


def test_a_file_with_more_marks_than_anybody_writes_is_a_sentence_with_its_remedy(
    asked: ConfigRequest,
) -> None:
    (asked.root / "manual_slop.toml").write_text("[[a]]\n" * 600_000)

    (fault,) = load(asked).faults

    assert (
        "1,800,000 lines, dots, commas, brackets and equals signs; the program reads at most 100,000"
        in fault.reason
    )
    assert "Shorten the file, and nest fewer tables" in fault.reason


def test_texts_that_a_file_names_are_read_once_and_up_to_a_bound_before_anybody_trusts_it(
    asked: ConfigRequest,
) -> None:
    """68 KB that named a file of 256 KB 3,000 times took 777 MB."""
    big = "x" * (MAX_CONTEXT_FILE_BYTES - 1)
    (asked.root / "big.txt").write_text(big)
    again = "".join(f'[personas.p{n}]\nfile = "big.txt"\n' for n in range(MAX_TEXTS))
    (asked.root / "manual_slop.toml").write_text(again)

    tracemalloc.start()
    try:
        loaded = load(asked)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000
    assert len(loaded.project.asked) == MAX_TEXTS

    for number in range(70):
        (asked.root / f"big{number}.txt").write_text(big)
    many = "".join(f'[personas.p{n}]\nfile = "big{n}.txt"\n' for n in range(70))
    (asked.root / "manual_slop.toml").write_text(many)
    texts = [one.text for one in load(asked).project.asked]
    assert MAX_TEXTS_CHARS < sum(map(len, texts)) <= MAX_TEXTS_CHARS + len(big)


def test_a_grave_fault_is_never_among_those_that_are_only_counted(asked: ConfigRequest) -> None:
    unknown = "".join(f"[unknown_{n}]\nkey = 1\n" for n in range(MAX_FAULTS + 50))
    (asked.root / "manual_slop.toml").write_text(f"{unknown}[project]\nname = 5\n")

    assert any("project.name" in fault.reason for fault in load(asked).faults)


def test_lines_of_many_places_are_those_of_each() -> None:
    text = 'a = 1\n[b]\nc = [1,\n 2]\n[b.d]\ne = "x"\n[[f]]\ng = 1\n[[f]]\ng = { h = 2 }\n'
    places = [("a",), ("b", "c", 1), ("b", "d", "e"), ("f", 1, "g", "h"), ("b", "none"), ("none",), ()]

    assert lines_of(text, places) == tuple(line_of(text, place) for place in places)
    assert lines_of(text, places) == (1, 4, 6, 10, 2, None, None)
