"""A translated text knows its English, whatever became of it on its way; a stored English text is told in the person's language."""

from __future__ import annotations

import msgspec
import pytest

from core.kernel.codecs import builtins_of, to_json, to_msgpack
from core.kernel.errors import SlopError
from core.kernel.language import (
    all_of,
    any_of,
    as_sentences,
    capital,
    english,
    in_english,
    joined,
    tr,
    words_of,
)
from core.kernel.stored_texts import retold

pytestmark = pytest.mark.usefixtures("german")


class Note(msgspec.Struct, frozen=True):
    """A value that leaves the program."""

    text: str


def test_a_text_is_written_in_the_persons_language_and_known_in_english() -> None:
    stopped = tr("The previous message failed: {what}.", what=tr("Cancel"))
    assert stopped != english(stopped) == "The previous message failed: Cancel."
    assert f"{stopped}" == stopped
    with in_english():
        assert f"{stopped}" == english(stopped)
        assert tr("Cancel") == "Cancel"


@pytest.mark.parametrize(
    ("made", "meant"),
    [
        (lambda: joined(": ", (tr("Cancel"), "x")), "Cancel: x"),
        (lambda: as_sentences(tr("Cancel"), "x"), "Cancel. x"),
        (lambda: all_of(("x", tr("Cancel"))), "x and Cancel"),
        (lambda: any_of(("x", tr("Cancel"), "y")), "x, Cancel or y"),
        (lambda: all_of([tr("Cancel")]), "Cancel"),
        (lambda: tr("Cancel") + all_of(()), "Cancel"),
        (lambda: tr("Cancel") + ": x", "Cancel: x"),
        (lambda: "x " + tr("Cancel"), "x Cancel"),
        (lambda: capital(tr("the price is unknown")), "The price is unknown"),
        (lambda: tr("Autonomy starts.").removesuffix("."), "Autonomy starts"),
        (
            lambda: tr("The import failed: {error}", error=SlopError(tr("Cancel"))),
            "The import failed: Cancel",
        ),
        (lambda: words_of(SlopError(tr("Cancel"), remedy=tr("Cancel"))), "Cancel. Cancel"),
    ],
)
def test_a_text_that_was_put_together_is_still_known_in_english(made: object, meant: str) -> None:
    assert callable(made)
    assert english(made()) == meant


def test_what_leaves_the_program_as_data_is_english() -> None:
    note = Note(tr("Cancel"))
    assert to_json(note) == b'{"text":"Cancel"}'
    assert builtins_of(note) == {"text": "Cancel"}
    assert msgspec.msgpack.decode(to_msgpack(note)) == {"text": "Cancel"}


def test_a_stored_text_is_told_in_the_persons_language() -> None:
    with in_english():
        kept = tr("The previous message failed: {what}.", what=tr("Cancel"))
        two = f"{kept} {tr('Autonomy starts.')}"
    assert retold(kept) == tr("The previous message failed: {what}.", what=tr("Cancel"))
    assert retold(two) == f"{retold(kept)} {tr('Autonomy starts.')}"
    assert retold("A sentence of a model.") == "A sentence of a model."
