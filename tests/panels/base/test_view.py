"""What the person types while the state keeps it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from panels.base.view import Typing


def test_typing_is_not_overwritten_by_its_own_echo() -> None:
    """Snapshots lag behind the keys: an older text must not come back into the editor."""
    typing = Typing()
    for text in ("a", "ab", "abc"):
        typing.typed(text)

    for echo in ("a", "ab"):
        typing.sync(echo)

    assert (typing.text, typing.revision) == ("abc", 0)


def test_a_text_that_the_program_changed_replaces_what_was_typed() -> None:
    typing = Typing()
    typing.sync("")
    typing.typed("sent words")
    typing.sync("sent words")

    typing.sync("")

    assert (typing.text, typing.revision) == ("", 1)


def test_typing_that_lost_an_echo_still_takes_the_next_change() -> None:
    typing = Typing()
    typing.typed("a")
    typing.typed("ab")
    typing.sync("ab")

    typing.sync("from outside")

    assert typing.text == "from outside"


@given(st.lists(st.text(max_size=3), max_size=12), st.data())
def test_whatever_snapshots_are_missed_the_editor_ends_with_the_last_typed_text(
    texts: list[str], data: st.DataObject
) -> None:
    typing = Typing()
    typing.sync("")
    for text in texts:
        typing.typed(text)
    seen = [text for text in texts if data.draw(st.booleans())]

    for text in [*seen, *texts[-1:]]:
        typing.sync(text)

    assert typing.text == (texts[-1] if texts else "")
