"""Personas and system prompts go into the project's file, or the file that it names; all else stays byte for byte."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import ConfigError
from core.kernel.values.curation import NamedText, TextTable
from core.services.settings.prompts import TextProject, delete_text, read_text_of, save_text
from core.services.settings.toml_document import text_value
from core.services.settings.trust import trust_record

PERSONAS, PROMPTS = TextTable.PERSONAS, TextTable.SYSTEM_PROMPTS

TEXT = """\
# Ours. Do not lose this line.
[ai_settings]
persona = "terse"  # the usual one

[personas.terse]  # short
# why: nobody reads long ones
text = "Be short."

[personas.file]
file = "notes/me.md"

[system_prompts]
strict = "Obey." # plain
"""


@pytest.fixture
def project(tmp_path: Path) -> TextProject:
    (tmp_path / "root" / "notes").mkdir(parents=True)
    (tmp_path / "root" / "notes" / "me.md").write_text("I am a file.\n")
    (tmp_path / "root" / "manual_slop.toml").write_text(TEXT)
    return TextProject(tmp_path / "root", (), tmp_path / "config" / "trusted.toml")


def now(project: TextProject) -> str:
    return (project.root / "manual_slop.toml").read_text()


def test_a_text_is_changed_in_its_place_and_comments_stay(project: TextProject) -> None:
    save_text(project, PERSONAS, NamedText("terse", "Be short.\nBe kind."), "terse", "Be short.")
    save_text(project, PROMPTS, NamedText("strict", "Obey me."), "strict", "Obey.")

    expected = TEXT.replace('"Be short."', '"""\nBe short.\nBe kind."""').replace('"Obey."', '"Obey me."')
    assert now(project) == expected


def test_a_new_name_is_followed_by_the_settings_that_named_it(project: TextProject) -> None:
    save_text(project, PERSONAS, NamedText("brief", "Be short."), "terse", "Be short.")

    assert now(project) == TEXT.replace('persona = "terse"', 'persona = "brief"').replace(
        "[personas.terse]", "[personas.brief]"
    )


def test_a_text_in_a_file_of_its_own_is_written_there(project: TextProject) -> None:
    save_text(project, PERSONAS, NamedText("file", "Other.\n"), "file", "I am a file.\n")

    assert (project.root / "notes" / "me.md").read_text() == "Other.\n"
    assert now(project) == TEXT


def test_what_an_editor_saved_meanwhile_is_not_written_over(project: TextProject) -> None:
    (project.root / "manual_slop.toml").write_text(TEXT.replace("Be short.", "Edited outside."))
    (project.root / "notes" / "me.md").write_text("Edited, too.")

    for name, base in (("terse", "Be short."), ("file", "I am a file.\n")):
        with pytest.raises(ConfigError, match="This text has changed in its file"):
            save_text(project, PERSONAS, NamedText(name, "Mine."), name, base)
        with pytest.raises(ConfigError, match="This text has changed in its file"):
            delete_text(project, PERSONAS, name, base)
    assert now(project) == TEXT.replace("Be short.", "Edited outside.")

    save_text(project, PERSONAS, NamedText("terse", "Mine."), "terse", "Edited outside.")
    found = read_text_of(project, PERSONAS, "terse")
    assert found is not None
    assert found.text == "Mine."


def test_a_name_that_is_taken_or_cannot_be_one_is_refused(project: TextProject) -> None:
    for name, old, why in (
        ("file", "", "already"),
        ("file", "terse", "already"),
        ("a\nb", "", "cannot be the name of"),
    ):
        with pytest.raises(ConfigError, match=why):
            save_text(project, PERSONAS, NamedText(name, "x"), old)
    with pytest.raises(ConfigError, match="no longer has a persona 'gone'"):
        save_text(project, PERSONAS, NamedText("x", "x"), "gone")
    assert now(project) == TEXT


def test_a_deleted_one_takes_its_default_along_and_leaves_the_rest(project: TextProject) -> None:
    delete_text(project, PERSONAS, "terse", "Be short.")
    delete_text(project, PERSONAS, "gone")

    data = tomllib.loads(now(project))
    assert data == {
        "ai_settings": {}, "personas": {"file": {"file": "notes/me.md"}}, "system_prompts": {"strict": "Obey."}
    }  # fmt: skip
    assert now(project).startswith("# Ours. Do not lose this line.\n[ai_settings]\n")


def test_the_first_one_makes_the_file_and_trusts_its_folder(tmp_path: Path) -> None:
    project = TextProject(tmp_path, (), tmp_path / "config" / "trusted.toml")

    save_text(project, PROMPTS, NamedText("ein Name", "Hello\n"))

    assert tomllib.loads(now(project)) == {"system_prompts": {"ein Name": {"text": "Hello\n"}}}
    assert trust_record(tmp_path, project.trust_file) is not None


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")))
def test_any_text_is_read_back_as_it_was_written(text: str) -> None:
    assert tomllib.loads(f"a = {text_value(text)}") == {"a": text}


@given(st.text('a"\\\n\x00\x7f'))
def test_quotes_and_backslashes_are_read_back_as_they_were_written(text: str) -> None:
    assert tomllib.loads(f"a = {text_value(text)}") == {"a": text}
