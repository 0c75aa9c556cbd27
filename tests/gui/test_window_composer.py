"""The composer on the real window, over the whole program: it keeps the keyboard, whatever is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import dearpygui.dearpygui as dpg
import pytest

from core.app.controller import AppController
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import AttachText, CreateDiscussion
from gui.app import LastLook, WindowApp
from gui.driver import Driver
from gui.elements.base import Element
from gui.elements.editor import Editor
from gui.elements.lists import VirtualList
from gui.elements.pictures import Picture
from gui.elements.prose import Markdown
from gui.elements.surfaces import Clickable, Surface
from gui.elements.tabs import RailButton
from gui.markdown.document import load
from panels.discussion.view import ComposerView, DiscussionView
from tests.core.app.programs import Programs, until
from tests.gui.conftest import Screen, copied, field_named
from tests.gui.other_program import copy_nothing, copy_picture, copy_text
from tests.gui.sitting import over, sees
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.loopback import Answer, Gate, HoldAfter, json_reply

pytestmark = pytest.mark.gui
MODEL = "claude-opus-5-5"


class Writer:
    """A person who writes to a model in the one discussion of a running program."""

    def __init__(self, controller: AppController, driver: Driver) -> None:
        self.controller, self.driver = controller, driver
        controller.send(CreateDiscussion("Sky", "anthropic", MODEL))
        self.chosen = self.until(
            lambda s: s.discussions.selected_id in s.discussions.open
        ).discussions.selected_id
        self.app = WindowApp(LastLook(), lambda: controller)

    def until(self, holds: Callable[[AppState], bool]) -> AppState:
        """Wait for the program."""
        return until(self.controller, holds)

    def enter(self) -> None:
        """Wait for the composer, which has the keyboard by itself."""
        self.driver.until(lambda: self.driver.has("Write a message"), "the composer")
        self.driver.until(lambda: self.editor.is_active, "the keyboard")

    @property
    def editor(self) -> Editor:
        """The field of the composer."""
        editor = self.driver.find("Write a message", kind=Editor)
        assert isinstance(editor, Editor)
        return editor

    @property
    def composer(self) -> ComposerView:
        """What the window knows of the composer."""
        return self.app.view.of(DiscussionView).composer(self.chosen)

    def holds(self, text: str) -> None:
        """Wait until the composer holds a text, and the draft of the discussion the same."""
        self.driver.until(lambda: self.composer.text == text, f"{text!r} in the composer")
        self.until(lambda s: s.discussions.open[self.chosen].draft.text == text)
        self.driver.step(12)
        assert (self.editor.text, self.composer.text) == (text, text)

    def hears(self, count: int) -> None:
        """Wait until the log holds so many messages, and no reply is under way."""
        self.until(lambda s: self.chosen not in s.turns.calls and len(self.said()) == count)

    def said(self) -> list[str]:
        """The texts of the log."""
        return [message.text for message in self.controller.snapshot().discussions.open[self.chosen].messages]


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


def test_after_ctrl_enter_the_composer_keeps_the_keyboard(writer: Writer) -> None:
    writer.driver.type("one tide")
    writer.driver.key("Ctrl+Enter")
    writer.driver.type("two")
    writer.holds("two")
    writer.until(lambda s: writer.chosen not in s.turns.calls and writer.said()[:1] == ["one tide"])
    writer.holds("two")
    writer.driver.type(" tides")
    writer.driver.key("Ctrl+Enter")
    writer.driver.type("three")
    writer.holds("three")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 4)
    assert writer.said()[::2] == ["one tide", "two tides"]


def test_what_is_typed_after_ctrl_enter_with_a_frame_for_every_key_is_the_next_message(
    writer: Writer,
) -> None:
    writer.driver.type("one tide")
    writer.driver.rattle(["Ctrl+Enter", *"next"])
    writer.holds("next")
    writer.until(
        lambda s: writer.chosen not in s.turns.calls and bool(s.discussions.open[writer.chosen].messages)
    )
    assert writer.said()[0] == "one tide"


def test_two_messages_sent_in_one_breath_are_two(writer: Writer, server: AnthropicServer) -> None:
    writer.driver.strike(*"one", "Ctrl+Enter")
    writer.driver.step(20)
    writer.until(lambda s: writer.said()[:1] == ["one"] and writer.chosen not in s.turns.calls)
    writer.driver.strike(*"two", "Ctrl+Enter", *"and on")
    writer.holds("and on")
    writer.until(lambda s: writer.chosen not in s.turns.calls and writer.said()[::2] == ["one", "two"])


def test_the_composer_has_the_keyboard_after_a_switch_and_after_a_click_beside_it(writer: Writer) -> None:
    driver, first = writer.driver, writer.chosen
    driver.type("here")
    writer.holds("here")
    writer.controller.send(CreateDiscussion("Sea", "anthropic", MODEL))
    second = writer.until(
        lambda s: s.discussions.selected_id != first and s.discussions.selected_id in s.discussions.open
    ).discussions.selected_id
    writer.chosen = second
    driver.until(lambda: driver.has("Sea") and writer.editor.text == "", "the other discussion")
    driver.type("there")
    writer.holds("there")
    driver.click("Search discussions")
    driver.type("tide")
    left, top, *_ = driver.rect(writer.editor)
    driver.click_at(round(left + 60), round(top - 120))
    driver.until(lambda: writer.editor.is_active, "the keyboard")
    driver.type(" now")
    writer.holds("there now")


def test_after_a_menu_the_find_bar_and_a_click_on_its_own_row_the_composer_has_the_keyboard(
    writer: Writer,
) -> None:
    driver = writer.driver
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    driver.type("a")
    driver.click("File")
    sees(driver, "New discussion")
    driver.key("Escape")
    driver.until(lambda: not driver.has("Open project folder"), "the menu gone")
    driver.click("Model; you can change the model during a discussion")
    sees(driver, "Filter")
    driver.key("Escape")
    driver.until(lambda: not driver.has("Filter"), "the models gone")
    driver.type("b")
    writer.holds("ab")
    driver.key("Tab")
    driver.until(lambda: not writer.editor.is_active, "the keyboard away")
    driver.key("Ctrl+f")
    sees(driver, "Find in discussion")
    driver.until(lambda: field_named(driver, "Find in discussion").is_active, "the find bar")
    driver.type("tide")
    driver.step(4)
    assert field_named(driver, "Find in discussion").text == "tide"
    driver.key("Escape")
    driver.type("c")
    writer.holds("abc")
    driver.click(driver.find("Sky", kind=Clickable))
    driver.step(12)
    driver.type("d")
    writer.holds("abcd")


def test_enter_in_the_find_bar_goes_on_and_the_keyboard_stays_there(writer: Writer) -> None:
    driver = writer.driver
    driver.type("one tide and a tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    driver.key("Ctrl+f")
    driver.until(lambda: field_named(driver, "Find in discussion").is_active, "the find bar")
    driver.type("tide")
    for _ in range(3):
        driver.key("Enter")
        driver.until(lambda: field_named(driver, "Find in discussion").is_active, "the find bar again")
        assert not writer.editor.is_active
    driver.key("End")
    driver.type("x")
    driver.until(lambda: field_named(driver, "Find in discussion").text == "tidex", "the word")
    writer.holds("")


def test_enter_in_the_search_keeps_the_keyboard_until_there_is_a_discussion_to_open(writer: Writer) -> None:
    driver = writer.driver
    driver.click("Search discussions")
    driver.until(lambda: field_named(driver, "Search discussions").is_active, "the search")
    driver.type("qqq")
    for _ in range(3):
        driver.key("Enter")
        driver.until(lambda: field_named(driver, "Search discussions").is_active, "the search again")
        assert not writer.editor.is_active
    driver.key("End")
    driver.type("x")
    driver.until(lambda: field_named(driver, "Search discussions").text == "qqqx", "the word")
    writer.holds("")

    driver.key("Ctrl+a")
    driver.type("sky")
    driver.key("Enter")
    driver.until(lambda: writer.editor.is_active, "the composer of what was opened")


def test_after_a_press_anywhere_what_is_typed_is_in_the_composer(writer: Writer) -> None:
    driver = writer.driver
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    places: dict[str, Element] = {
        "the rail": driver.find("Knowledge", kind=RailButton),
        "a row of the list": driver.find("Sky", kind=Clickable),
    }
    typed = ""
    for letter, (place, element) in zip("ab", places.items(), strict=True):
        driver.click(element)
        driver.type(letter)
        typed += letter
        driver.until(lambda: writer.composer.text == typed, f"{typed!r} after a press on {place}")  # noqa: B023
    driver.click("Search discussions")
    driver.until(lambda: field_named(driver, "Search discussions").is_active)
    hub = next(e for e in driver.visible() if isinstance(e, Surface) and e.key == "hub")
    left, top, right, bottom = driver.rect(hub)
    driver.click_at(round((left + right) / 2), round(bottom - 20))
    driver.type("c")
    driver.until(lambda: writer.composer.text == "abc", "a press on nothing in another pane")
    words = next(e for e in driver.visible() if isinstance(e, Markdown) and e.label() == "one tide")
    left, top, _, bottom = driver.rect(words)
    for _ in range(2):
        driver.click_at(round(left + 12), round((top + bottom) / 2))
    driver.key("Ctrl+c")
    driver.until(lambda: copied() in ("one", "tide"), "the word on the clipboard")
    driver.type("d")
    writer.holds("abcd")


def test_a_long_paste_is_made_text_and_typed_behind_in_any_script(writer: Writer) -> None:
    driver = writer.driver
    pasted = "\n".join(f"{n} 潮の満ち引きは月が決める。潮汐由月亮决定。" for n in range(2_500))
    assert len(pasted.encode()) > 150_000
    dpg.set_clipboard_text(pasted)
    driver.key("Ctrl+v")
    sees(driver, "pasted.txt")

    driver.click("Insert the text of pasted.txt into the message")
    driver.until(lambda: not driver.has("pasted.txt"), "the file gone")
    driver.until(lambda: writer.editor.text == pasted, "the text")
    driver.click(writer.editor)
    driver.key("Ctrl+End")
    driver.type(" 月 tide")

    writer.holds(f"{pasted} 月 tide")


def test_a_pasted_picture_is_shown_with_its_tokens_and_goes_with_the_message(writer: Writer) -> None:
    driver = writer.driver
    copy_picture()
    driver.key("Ctrl+v")
    sees(driver, "pasted.png")
    sees(driver, "≈1.5k tok")
    driver.until(lambda: any(isinstance(e, Picture) and e.texture for e in driver.visible()), "its preview")
    driver.key("Ctrl+z")
    driver.until(lambda: not driver.has("pasted.png"), "the picture gone")
    driver.key("Ctrl+v")
    sees(driver, "pasted.png")
    driver.type("what is this")
    driver.key("Ctrl+Enter")
    state = writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    (sent,) = state.discussions.open[writer.chosen].messages[0].attachments
    assert (sent.media_type, sent.side_px) == ("image/png", 60)


def test_the_menu_pastes_nothing_a_picture_and_five_thousand_lines(writer: Writer) -> None:
    driver = writer.driver

    def paste() -> None:
        driver.click(writer.editor, button=3)
        driver.until(lambda: driver.has("Select all"), "the menu")
        driver.click("Paste")

    copy_nothing()
    paste()
    writer.holds("")
    copy_picture()
    paste()
    sees(driver, "pasted.png")
    copy_text("\n".join(f"Line {n} of a log." for n in range(5_000)))
    paste()
    sees(driver, "pasted.txt")
    driver.click(writer.editor)
    driver.type("what of both")
    writer.holds("what of both")


def test_undo_takes_back_each_word_and_each_paste_that_became_a_file_in_turn(writer: Writer) -> None:
    driver = writer.driver
    dpg.set_clipboard_text("tide " * 20_000)
    driver.type("one")
    driver.key("Ctrl+v")
    sees(driver, "pasted.txt")
    driver.key("Ctrl+v")  # the same again: files of one content
    sees(driver, "pasted 2.txt")
    driver.type("two")
    writer.holds("onetwo")

    driver.key("Ctrl+z")
    writer.holds("one")
    driver.key("Ctrl+z")
    driver.until(lambda: not driver.has("pasted 2.txt"), "the second file gone")
    sees(driver, "pasted.txt")
    driver.key("Ctrl+z")
    driver.until(lambda: not driver.has("pasted.txt"), "the first file gone")
    writer.holds("one")
    driver.key("Ctrl+z")
    writer.holds("")


def test_a_file_taken_off_in_an_edit_leaves_the_keyboard_to_the_edit(writer: Writer) -> None:
    driver = writer.driver
    for name in ("pasted.txt", "pasted 2.txt", "pasted 3.txt"):
        writer.controller.send(AttachText(writer.chosen, "the same long log", name))
        sees(driver, name)
    driver.click("Remove pasted 2.txt")
    driver.until(lambda: not driver.has("Remove pasted 2.txt"), "the file gone from the draft")
    driver.click("Write a message")
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    driver.click("Edit message")
    driver.until(lambda: not writer.editor.is_active, "the edit has the keyboard")
    driver.click("Remove pasted.txt")
    driver.until(lambda: not driver.has("Remove pasted.txt"), "the file gone")
    driver.type(" later")
    driver.click("Save")
    state = writer.until(lambda s: writer.said()[0] == "one tide later")
    (left,) = state.discussions.open[writer.chosen].messages[0].attachments
    assert left.name == "pasted 3.txt"
    writer.holds("")


def test_an_edit_at_the_foot_of_the_view_opens_its_form_in_view(
    writer: Writer, server: AnthropicServer
) -> None:
    driver, lines = writer.driver, "\n".join(f"line {n}" for n in range(14))
    for number in range(4):
        server.replies.append(Said(({"type": "text", "text": f"reply {number}"},)))
        dpg.set_clipboard_text(f"number {number}\n{lines}")
        driver.key("Ctrl+v")
        driver.until(lambda: writer.editor.text != "", "the words")
        driver.key("Ctrl+Enter")
        writer.hears(2 * number + 2)
    talk = next(
        e for e in driver.visible() if isinstance(e, VirtualList) and e.parent and e.parent.key == "messages"
    )
    driver.wheel(talk, -20)

    def at_the_foot() -> list[Element]:
        foot = driver.rect(talk)[3]
        shown = [e for e in driver.visible() if e.tip == "Edit message" and e.spot is not None]
        rects = [(e, driver.rect(e)) for e in shown]
        return [e for e, (_, top, _, bottom) in rects if foot - 150 < top <= bottom - e.h + 1 < foot - 70]

    for _ in range(60):
        if at_the_foot():
            break
        talk.scroll_by(20)
        driver.step(3)
    (button,) = at_the_foot()
    driver.click(button)
    driver.until(lambda: driver.has("Cancel"), "the form")
    driver.step(6)
    for label in ("Message", "Save", "Cancel"):
        element = driver.find(label, kind=Editor if label == "Message" else Element)
        _, top, _, bottom = driver.rect(element)
        assert bottom - top >= element.h - 1, label


def test_a_chord_in_an_edit_or_another_field_never_sends_the_draft(
    writer: Writer, server: AnthropicServer
) -> None:
    driver = writer.driver
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    driver.type("half")
    writer.holds("half")
    driver.click("Search discussions")
    driver.until(lambda: field_named(driver, "Search discussions").is_active)
    driver.key("Ctrl+Enter")
    driver.click("Edit message")
    driver.until(lambda: not writer.editor.is_active, "the edit has the keyboard")
    driver.type(" now")
    low = driver.find("Message", kind=Editor).h
    dpg.set_clipboard_text(" and on" * 400)
    driver.key("Ctrl+v")
    driver.until(
        lambda: driver.find("Message", kind=Editor).h > 2 * low, "a form that grows with one long line"
    )
    driver.key("Escape")
    driver.until(lambda: not driver.has("Save and resend"), "the edit given up")
    driver.click("Edit message")
    driver.until(lambda: not writer.editor.is_active, "the edit has the keyboard")
    driver.type(" later")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(server.bodies) == 2)
    writer.until(lambda _: writer.said()[0] == "one tide later" and len(writer.said()) == 2)
    assert writer.controller.snapshot().discussions.open[writer.chosen].draft.text == "half"
    assert len(server.bodies) == 2


def test_a_quote_longer_than_the_composer_ends_in_view(writer: Writer, server: AnthropicServer) -> None:
    writer.driver.type("one tide")
    server.replies.append(Said(({"type": "text", "text": "\n".join(f"- tide {n}" for n in range(30))},)))
    writer.driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 2)
    sees(writer.driver, "tide 29")
    reply = next(e for e in writer.driver.visible() if isinstance(e, Markdown) and "tide 29" in e.label())
    writer.driver.type("mine")
    writer.driver.click(reply, button=3)
    writer.driver.click("Quote message")
    writer.driver.until(lambda: "tide 29" in writer.composer.text, "the quote")
    writer.driver.key("Ctrl+z")
    writer.holds("mine")
    writer.driver.key("Ctrl+y")
    writer.driver.until(lambda: "tide 29" in writer.composer.text, "the quote again")
    writer.driver.step(4)
    editor = writer.editor
    assert editor.m is not None
    assert editor.most_scroll(editor.m) > 0
    assert editor.scroll == editor.most_scroll(editor.m)


def test_an_earlier_message_comes_back_with_the_caret_at_its_end(writer: Writer) -> None:
    driver = writer.driver
    driver.type("one tide")
    driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen not in s.turns.calls and writer.said()[:1] == ["one tide"])
    driver.key("Up")
    writer.holds("one tide")
    driver.type("s")
    writer.holds("one tides")


def test_while_a_reply_streams_the_next_message_queues_and_can_be_taken_back(
    writer: Writer, server: AnthropicServer
) -> None:
    gate = Gate()
    server.faults.append(HoldAfter(5, gate))
    writer.driver.type("one tide")
    writer.driver.key("Ctrl+Enter")
    writer.until(lambda s: writer.chosen in s.turns.calls and bool(s.turns.calls[writer.chosen].text))
    writer.driver.until(lambda: writer.driver.has("Stop"), "the reply on its way")
    for text in ("next", "last"):
        writer.driver.type(text)
        writer.driver.key("Ctrl+Enter")
        writer.until(lambda s: text in [one.text for one in s.discussions.open[writer.chosen].queue])  # noqa: B023
    sees(writer.driver, "2 messages wait until the reply ends")
    writer.driver.type("words")
    writer.holds("words")

    writer.driver.click("Take back", index=1)
    writer.holds("last\nwords")
    assert not writer.driver.has("2 messages wait until the reply ends")

    gate.open()
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 4)
    assert writer.said()[2] == "next"
    assert writer.composer.text == "last\nwords"


def test_a_queue_stops_at_a_failure_then_at_a_limit_and_goes_on_at_the_persons_word(
    writer: Writer, server: AnthropicServer
) -> None:
    gate, driver = Gate(), writer.driver
    refused = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    server.faults += [HoldAfter(5, gate), Answer(json_reply(401, refused))]
    for text in ("one tide", "next", "last"):
        driver.type(text)
        driver.key("Ctrl+Enter")
        writer.holds("")
    writer.until(lambda s: len(s.discussions.open[writer.chosen].queue) == 2)
    gate.open()
    sees(driver, "1 message waits for you to send it. The previous message failed")
    assert writer.said()[2:] == ["next"]

    writer.controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.00001))
    writer.until(lambda s: s.config.settings.caching.day_limit_usd == 0.00001)
    driver.click("Retry the reply, then send")
    sees(driver, "Spend limit reached")
    assert writer.said()[2:] == ["next"]
    driver.click("Send anyway")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 4)
    sees(driver, "1 message waits until you raise the spend limit")
    driver.click("Send now")
    sees(driver, "Spend limit reached")
    driver.click("Send anyway")
    writer.until(lambda s: writer.chosen not in s.turns.calls and len(writer.said()) == 6)
    assert (writer.said()[2], writer.said()[4]) == ("next", "last")
    driver.until(lambda: not driver.has("Send now"), "an empty queue")


def test_what_is_typed_after_the_chord_of_the_search_is_searched_for(writer: Writer) -> None:
    writer.driver.type("here")
    writer.holds("here")
    writer.driver.key("Ctrl+Shift+F")
    writer.driver.type("tide")
    room = writer.app.view.of(DiscussionView)
    writer.driver.until(lambda: room.search_text == "tide", "the word in the search")
    writer.holds("here")
