"""Personas and system prompts as commands: written first, then followed by the discussions that use them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.settings import Project
from core.services.settings.settings_messages import NamedTextStored, TrustProject, WriteNamedText
from core.talk.context.context_messages import DeleteNamedText, SaveNamedText
from core.talk.discussion.discussion_messages import ChangeDiscussion, WriteMeta
from tests.core.app.playbook import Playbook, of, settings_loaded

PERSONAS = TextTable.PERSONAS
PROJECT = Project(
    root="/project",
    has_file=True,
    is_trusted=True,
    personas={"terse": NamedText("terse", "Be short."), "kind": NamedText("kind", "Be kind.")},
)


@pytest.fixture
def book() -> Playbook:
    book = Playbook().ready()
    book.play(settings_loaded(PROJECT))
    return book


def test_a_saved_text_is_written_before_anything_changes(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"persona": "terse"}))

    effects = book.play(SaveNamedText(PERSONAS, " brief ", "Be brief.\r\n", "terse", "Be short."))

    written = WriteNamedText("/project", PERSONAS, "brief", "Be brief.\n", "terse", "Be short.")
    assert of(effects, WriteNamedText) == (written,)
    assert book.state.discussions.summaries[chosen].meta.persona == "terse"

    effects = book.play(NamedTextStored(PERSONAS, "brief", "Be brief.\n", "terse", "Be short."))

    assert list(book.state.config.project.personas) == ["brief", "kind"]
    assert book.state.discussions.summaries[chosen].meta.persona == "brief"
    assert [effect.meta.persona for effect in of(effects, WriteMeta)] == ["brief"]


def test_a_deleted_one_is_let_go_of_and_undo_gives_it_back_to_those_that_used_it(book: Playbook) -> None:
    chosen, other = book.discussion(), book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"persona": "terse"}))

    (effect,) = of(book.play(DeleteNamedText(PERSONAS, "terse", "Be short.")), WriteNamedText)
    assert (effect.text, effect.base) == (None, "Be short.")
    book.play(NamedTextStored(PERSONAS, "terse", None, old_text="Be short."))

    assert book.state.discussions.summaries[chosen].meta.persona == ""
    notice = book.state.program.notices[-1]
    assert notice.text == "The persona 'terse' is deleted. 1 discussion used it."
    undo = notice.action
    assert isinstance(undo, SaveNamedText)

    (again,) = of(book.play(undo), WriteNamedText)
    book.play(NamedTextStored(PERSONAS, "terse", again.text, used_by=again.used_by))

    assert book.state.discussions.summaries[chosen].meta.persona == "terse"
    assert book.state.discussions.summaries[other].meta.persona == ""
    assert book.state.config.project.personas["terse"].text == "Be short."


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (SaveNamedText(PERSONAS, "", "x"), "cannot be the name of a persona"),
        (SaveNamedText(PERSONAS, "x" * 500, "x"), "cannot be the name of a persona"),
        (SaveNamedText(PERSONAS, "kind", "x"), "There is a persona 'kind' already"),
        (SaveNamedText(PERSONAS, "kind", "x", "terse"), "There is a persona 'kind' already"),
        (SaveNamedText(PERSONAS, "new", "x", "gone"), "There is no persona 'gone' any more"),
        (SaveNamedText(PERSONAS, "new", " \n"), "has no text"),
        (SaveNamedText(TextTable.SYSTEM_PROMPTS, "", "x"), "cannot be the name of a system prompt"),
    ],
)
def test_what_cannot_be_saved_is_said(book: Playbook, command: SaveNamedText, why: str) -> None:
    assert not of(book.play(command), WriteNamedText)
    assert why in book.state.program.notices[-1].text


def test_a_file_that_is_not_trusted_is_not_written(book: Playbook) -> None:
    book.play(settings_loaded(replace(PROJECT, is_trusted=False)))

    for command in (SaveNamedText(PERSONAS, "new", "x"), DeleteNamedText(PERSONAS, "kind")):
        assert not of(book.play(command), WriteNamedText)
        assert isinstance(book.state.program.notices[-1].action, TrustProject)
