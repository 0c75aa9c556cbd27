"""An ordinary day at the window, over the whole program: a hit in the list, a reply that broke off, the trash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.talk.discussion.discussion_messages import CreateDiscussion
from gui.elements.lists import VirtualList
from gui.elements.prose import Markdown
from gui.markdown.document import load
from tests.core.app.programs import Programs
from tests.gui.conftest import Screen, field_named
from tests.gui.sitting import over, sees
from tests.gui.test_window_composer import Writer
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.loopback import DropAfter

pytestmark = pytest.mark.gui


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


@pytest.fixture
def writer(
    screen: Screen, server: AnthropicServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Writer]:
    load()
    programs = Programs(tmp_path)
    writer = Writer(programs.start(), screen.driver)
    with over(writer.app, screen, monkeypatch):
        writer.enter()
        yield writer
    programs.stop()
    assert not screen.failures


def test_a_hit_from_the_list_opens_at_its_message_with_the_words_marked(
    writer: Writer, server: AnthropicServer, screen: Screen
) -> None:
    driver = writer.driver
    lines = "\n\n".join(f"line {n}" for n in range(40))
    for number, words in enumerate(("the spring tide", "more", "and more")):
        server.replies.append(Said(({"type": "text", "text": f"{lines}\n\n{number}"},), piece_chars=4000))
        driver.type(words)
        driver.key("Ctrl+Enter")
        writer.hears(2 * number + 2)
    first = writer.chosen
    writer.controller.send(CreateDiscussion("Sea", "anthropic", "claude-opus-5-5"))
    writer.until(lambda s: s.discussions.selected_id != first)

    driver.key("Ctrl+Shift+f")
    driver.until(lambda: field_named(driver, "Search discussions").is_active)
    driver.type("spring")
    sees(driver, "the spring tide")
    driver.click("the spring tide")
    writer.until(lambda s: s.discussions.selected_id == first)

    def marked() -> list[Markdown]:
        texts = [e for e in driver.visible() if isinstance(e, Markdown) and e.label() == "the spring tide"]
        return [e for e in texts if e.found()]

    driver.until(lambda: bool(marked()), "the words marked")
    driver.step(6)
    (text,) = marked()
    left, top, right, bottom = driver.rect(text)
    assert right > left
    assert bottom - top == pytest.approx(text.h, abs=1)
    talk = next(
        e for e in driver.visible() if isinstance(e, VirtualList) and e.parent and e.parent.key == "messages"
    )
    assert not talk.view.is_at_end
    screen.check()


def test_two_keys_lead_from_one_message_of_the_person_to_the_next(
    writer: Writer, server: AnthropicServer, screen: Screen
) -> None:
    driver = writer.driver
    for number, words in enumerate(("first tide", "second tide", "third tide")):
        lines = "\n\n".join(f"line {n} of {words}" for n in range(40))
        server.replies.append(Said(({"type": "text", "text": lines},), piece_chars=4000))
        driver.type(words)
        driver.key("Ctrl+Enter")
        writer.hears(2 * number + 2)

    def is_on_top(words: str) -> bool:
        texts = [e for e in driver.visible() if isinstance(e, Markdown) and e.label() == words]
        top = next(
            e
            for e in driver.visible()
            if isinstance(e, VirtualList) and e.parent and e.parent.key == "messages"
        )
        return any(0 <= driver.rect(one)[1] - driver.rect(top)[1] < 100 for one in texts)

    def is_at_end() -> bool:
        texts = [e.label() for e in driver.visible() if isinstance(e, Markdown)]
        return "third tide" not in texts and any("line 39 of third tide" in text for text in texts)

    driver.until(is_at_end, "the end of the last reply")
    for chord, words in (
        ("Alt+Up", "third tide"), ("Alt+Up", "second tide"), ("Alt+Up", "first tide"), ("Alt+Up", "first tide"),
        ("Alt+Down", "second tide"), ("Alt+Down", "third tide"),
    ):  # fmt: skip
        driver.key(chord)
        driver.until(lambda words=words: is_on_top(words), f"{words!r} on top")  # type: ignore[misc]
    driver.key("Alt+Down")
    driver.until(lambda: not driver.has("Jump to end"), "the end")
    screen.check()


def test_a_reply_that_broke_off_is_gone_on_with(writer: Writer, server: AnthropicServer) -> None:
    driver = writer.driver
    server.faults.append(DropAfter(5))
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    sees(driver, "Continue")
    broken = writer.said()[1]
    server.replies.append(Said(({"type": "text", "text": "and the rest of it."},)))
    driver.click("Continue")
    writer.until(lambda s: writer.chosen not in s.turns.calls and "and the rest of it." in writer.said()[-1])
    last = server.bodies[-1]["messages"]
    assert [one["role"] for one in last[-3:]] == ["user", "assistant", "user"]
    assert broken
    assert broken in str(last[-2])
    driver.until(lambda: all(e.label() != "Continue" for e in driver.visible()), "nothing left to go on with")


def test_what_is_deleted_waits_in_the_list_and_comes_back(writer: Writer) -> None:
    driver, first = writer.driver, writer.chosen
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    row = driver.find("Sky")
    driver.click(row, button=3)
    driver.click("Delete")
    writer.until(lambda s: first not in s.discussions.summaries)
    driver.click("Trash")
    sees(driver, "Sky")
    driver.click(driver.find("Sky"), button=3)
    driver.click("Restore")
    writer.until(lambda s: first in s.discussions.summaries)


def test_the_chord_that_deletes_a_discussion_leaves_the_words_of_its_composer(
    writer: Writer, screen: Screen
) -> None:
    """A field of the toolkit takes the same chord for the removal of a word."""
    driver, first = writer.driver, writer.chosen
    driver.type("one tide")
    writer.holds("one tide")
    driver.key("Home")
    driver.key("Ctrl+Shift+Delete")
    writer.until(lambda s: first not in s.discussions.summaries)
    driver.click("Undo")
    writer.until(lambda s: first in s.discussions.open)
    writer.holds("one tide")
