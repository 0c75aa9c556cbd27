"""Where a project's root is, and what its file says once checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.curation import FileItem, FileMode, LineRange, Preset
from core.services.settings.project import find_root, read_project_data
from core.services.settings.project_tables import TextSource, item_table, read_preset


def test_the_nearest_project_file_is_the_root(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "manual_slop.toml").touch()
    (tmp_path / "a" / "manual_slop.toml").touch()
    (tmp_path / "a" / "b" / ".git").mkdir()

    assert find_root(deep) == tmp_path / "a"


def test_without_a_project_file_the_repository_is_the_root(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "a" / ".git").mkdir()

    assert find_root(deep) == tmp_path / "a"


def test_without_either_the_folder_itself_is_the_root_with_links_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert find_root(tmp_path / "link") == tmp_path / "real"
    assert find_root(tmp_path / "link" / ".." / "real") == tmp_path / "real"


def test_a_folder_named_like_the_project_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "manual_slop.toml").mkdir()
    (tmp_path / "a").mkdir()

    assert find_root(tmp_path / "a") == tmp_path / "a"


@pytest.mark.parametrize(
    ("value", "sources"),
    [
        ("Be brief.", (TextSource("project context", text="Be brief."),)),
        ("", ()),
        (["README.md"], (TextSource("README.md", file="README.md"),)),
        ({"file": "a.md"}, (TextSource("a.md", file="a.md"),)),
        (
            [{"text": "one"}, "a.md", {"file": "a.md"}],
            (TextSource("project context 1", text="one"), TextSource("a.md", file="a.md")),
        ),
    ],
)
def test_project_context_is_a_text_or_files_or_both(value: Any, sources: tuple[TextSource, ...]) -> None:
    data, flaws = read_project_data({"project": {"context": value}})

    assert (data.context, flaws) == (sources, [])


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"project": 1}, ("project",)),
        ({"project": {"name": 1}}, ("project", "name")),
        ({"project": {"identity": "off"}}, ("project", "identity")),
        ({"project": {"context": 1}}, ("project", "context")),
        ({"project": {"context": ["a", 1]}}, ("project", "context", 1)),
        ({"project": {"context": [{"text": "a", "file": "b"}]}}, ("project", "context", 0)),
        ({"project": {"context": [""]}}, ("project", "context", 0)),
        ({"project": {"allowed_roots": "/"}}, ("project", "allowed_roots")),
        ({"personas": []}, ("personas",)),
        ({"personas": {"a": {}}}, ("personas", "a")),
        ({"personas": {"a": {"text": 1}}}, ("personas", "a")),
        ({"personas": {"a\nb": "text"}}, ("personas", "a\nb")),
        ({"system_prompts": {"": "text"}}, ("system_prompts", "")),
        ({"presets": 1}, ("presets",)),
        ({"presets": {"a": 1}}, ("presets", "a")),
        ({"presets": {"a": {"items": {}}}}, ("presets", "a", "items")),
        ({"presets": {"a": {"items": [1]}}}, ("presets", "a", "items", 0)),
        ({"presets": {"a": {"items": [{}]}}}, ("presets", "a", "items", 0)),
        ({"presets": {"a": {"items": ["x", {"path": ""}]}}}, ("presets", "a", "items", 1, "path")),
        ({"presets": {"a": {"items": [{"path": "x", "mode": "all"}]}}}, ("presets", "a", "items", 0, "mode")),
        (
            {"presets": {"a": {"items": [{"path": "x", "slices": [[2, 1]]}]}}},
            ("presets", "a", "items", 0, "slices"),
        ),
        (
            {"presets": {"a": {"items": [{"path": "x", "slices": [[0, 1]]}]}}},
            ("presets", "a", "items", 0, "slices"),
        ),
        (
            {"presets": {"a": {"items": [{"path": "x", "slices": "1-2"}]}}},
            ("presets", "a", "items", 0, "slices"),
        ),
        (
            {"presets": {"a": {"items": [{"path": "x", "slices": [[True, 2]]}]}}},
            ("presets", "a", "items", 0, "slices"),
        ),
        (
            {"presets": {"a": {"items": [{"path": "x", "symbols": [1]}]}}},
            ("presets", "a", "items", 0, "symbols"),
        ),
        ({"presets": {"a": {"items": [{"path": "x", "pinned": 1}]}}}, ("presets", "a", "items", 0, "pinned")),
        ({"presets": {"x" * 81: {"items": []}}}, ("presets", "x" * 81)),
    ],
)
def test_a_flaw_is_grave_and_names_its_place(data: dict[str, Any], place: tuple[str | int, ...]) -> None:
    _, flaws = read_project_data(data)

    assert [(flaw.place, flaw.is_grave) for flaw in flaws] == [(place, True)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            {"project": {"nam": "x"}},
            "project.nam is not a setting; did you mean name?; the program ignores this key",
        ),
        (
            {"presets": {"a": {"item": []}}},
            "presets.a.item is not a setting; did you mean items?; the program ignores this key",
        ),
        (
            {"presets": {"a": {"items": [{"path": "x", "note": "n"}]}}},
            "presets.a.items[0].note is not a setting; did you mean notes?; the program ignores this key",
        ),
    ],
)
def test_an_unknown_key_is_said_and_the_rest_counts(data: dict[str, Any], reason: str) -> None:
    found, flaws = read_project_data(data)

    assert [(flaw.reason, flaw.is_grave) for flaw in flaws] == [(reason, False)]
    assert set(found.presets) == set(data.get("presets", {}))


def test_a_preset_with_a_flawed_item_is_left_out_whole_so_that_saving_cannot_shorten_it() -> None:
    found, _ = read_project_data({"presets": {"bad": {"items": ["x", 1]}, "good": {"items": ["y"]}}})

    assert found.presets == {"good": Preset("good", (FileItem("y"),))}


def test_every_form_of_an_item_is_read() -> None:
    preset, flaws = read_preset(
        "p",
        {
            "items": [
                "a.py",
                {"path": "b.py", "slices": [[1, 2], "4-6", "9"], "mode": "slices", "symbols": ["C.m"]},
                {"path": "c.md", "notes": "n\r\n", "pinned": True, "enabled": False, "mode": "outline"},
            ]
        },
    )

    assert flaws == []
    assert preset == Preset(
        "p",
        (
            FileItem("a.py"),
            FileItem("b.py", FileMode.SLICES, (LineRange(1, 2), LineRange(4, 6), LineRange(9, 9)), ("C.m",)),
            FileItem("c.md", FileMode.OUTLINE, notes="n\n", pinned=True, enabled=False),
        ),
    )


_PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
ITEMS = st.builds(
    FileItem,
    path=_PLAIN.filter(bool),
    mode=st.sampled_from(FileMode),
    slices=st.lists(
        st.builds(lambda a, b: LineRange(min(a, b), max(a, b)), st.integers(1, 999), st.integers(1, 999)),
        max_size=3,
    ).map(tuple),
    symbols=st.lists(_PLAIN, max_size=3).map(tuple),
    notes=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=20),
    pinned=st.booleans(),
    include_ignored=st.booleans(),
    enabled=st.booleans(),
)


@given(st.lists(ITEMS, max_size=5))
def test_items_come_back_from_their_tables_as_they_were(items: list[FileItem]) -> None:
    preset, flaws = read_preset("p", {"items": [item_table(item) for item in items]})

    assert (preset, flaws) == (Preset("p", tuple(items)), [])


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.one_of(
                    st.sampled_from(
                        ["project", "presets", "personas", "items", "context", "path", "slices", "text"]
                    ),
                    st.text(max_size=5),
                ),
                inner,
                max_size=4,
            ),
        ),
        max_leaves=15,
    ).filter(lambda data: isinstance(data, dict))
)
def test_no_project_file_whatever_makes_the_reading_fail(data: Any) -> None:
    found, flaws = read_project_data(data)

    assert all(flaw.reason for flaw in flaws)
    assert all(isinstance(preset, Preset) for preset in found.presets.values())
