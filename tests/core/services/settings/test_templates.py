"""Prompt templates: found in the home and the project, their variables filled once, odd ones said."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.errors import ConfigError
from core.kernel.values.settings import PromptTemplate
from core.services.settings.prompts import read_templates, template_folders
from core.services.settings.settings_rules import filled, unnamed_of, variables_of


def template(text: str) -> PromptTemplate:
    return PromptTemplate(name="review", text=text, source="templates/review.md")


def test_variables_stand_in_their_order_each_once() -> None:
    assert variables_of("{{b}} {{ a }} {{b}} {{}} {{!x}} {not} {{two words}}") == ("b", "a", "two words")


def test_braces_inside_a_value_stay_as_they_are() -> None:
    assert filled(template("{{a}}-{{b}}"), {"a": "{{b}}", "b": "2"}) == "{{b}}-2"


def test_braces_that_name_no_variable_stay_and_are_told() -> None:
    odd = template("{{ }} and {{a}}")

    assert unnamed_of(odd.text) == "{{ }}"
    assert filled(odd, {"a": "1"}) == "{{ }} and 1"
    assert unnamed_of("{{a}}") == ""


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({}, "The template 'review' needs a value for 'name'"),
        ({"name": "x", "nmae": "y"}, "The template 'review' has no variable 'nmae'"),
    ],
)
def test_a_value_that_is_missing_or_unknown_is_named(values: dict[str, str], what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        filled(template("Dear {{name}}"), values)
    assert caught.value.what == what
    assert "name" in caught.value.remedy


def test_the_persons_own_counts_before_the_projects_and_odd_files_are_said(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    own, shared = template_folders(home, str(project))
    own.mkdir(parents=True)
    shared.mkdir(parents=True)
    (own / "review.md").write_text("Mine\n")
    (shared / "review.md").write_text("Theirs")
    (shared / "ask.txt").write_bytes(b"\xef\xbb\xbfWhy?\r\n")
    (shared / "odd.md").write_bytes(b"\xff\xfe\xff")
    (shared / "not.py").write_text("x")
    found, flaws = read_templates(home, str(project))

    assert {name: one.text for name, one in found.items()} == {"ask": "Why?", "review": "Mine"}
    assert len(flaws) == 1
    assert "'odd.md' is no template" in flaws[0]
    assert read_templates(tmp_path / "none", "") == ({}, ())
