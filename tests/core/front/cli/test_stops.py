"""Stopping a command: every polite signal does it, at once or when what must stay whole is whole."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.front.cli import stops
from core.front.cli.stops import Stops
from core.kernel.language import LANGUAGE_VARIABLE, LANGUAGES
from scripts import words

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handler(number: int, wanted: signal.Handlers) -> Iterator[None]:
    previous = signal.signal(number, wanted)
    try:
        yield
    finally:
        signal.signal(number, previous)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_polite_signal_is_an_interrupt_and_handled_as_before_afterwards(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), Stops():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", SIGNALS)
def test_what_is_being_written_is_finished_first(number: signal.Signals) -> None:
    out = io.StringIO()

    def write(stops: Stops) -> None:
        with stops.held_back():
            out.write("It tu")
            signal.raise_signal(number)
            out.write("rns")
        out.write(" on and on")

    with Stops() as stops, pytest.raises(KeyboardInterrupt):
        write(stops)
    assert out.getvalue() == "It turns"


def test_a_second_stop_does_not_wait_and_the_next_block_starts_afresh() -> None:
    out = io.StringIO()

    def hang(stops: Stops) -> None:
        with stops.held_back():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            out.write("never")

    with Stops() as stops:
        with pytest.raises(KeyboardInterrupt):
            hang(stops)
        with stops.held_back():
            out.write("It goes on.")
    assert out.getvalue() == "It goes on."


def test_a_command_in_a_shells_background_goes_on_when_another_is_interrupted() -> None:
    with handler(signal.SIGINT, signal.SIG_IGN), Stops():
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_beside_the_main_thread_the_owner_of_the_signals_keeps_them() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    found: list[object] = []

    def work() -> None:
        with Stops():
            found.extend(signal.getsignal(number) for number in SIGNALS)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == before


def test_what_a_terminal_says_otherwise_is_said_otherwise_in_each_language() -> None:
    """A remedy that names a button of the window is a whole sentence in every language, and so is a terminal's."""
    code = """
from core.front.cli import stops
from core.kernel.language import Translated, as_sentences, english, tr

for window, terminal in stops.WORDS:
    said = stops.in_terminal(as_sentences(tr("Nothing was changed."), window))
    wanted = as_sentences(tr("Nothing was changed."), terminal)
    assert said.replace("!r}", "}").removesuffix(".") == wanted.removesuffix("."), said
    assert isinstance(said, Translated) and english(terminal) in said.english.replace("!r}", "}"), said.english
named = stops.in_terminal(tr("Set {variable}, or store a key on the settings page", variable="A_KEY"))
assert named == tr("Set {variable}, or store a key with `manual-slop key`", variable="A_KEY"), named
"""
    for tag in LANGUAGES.keys() - {"en"}:
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            cwd=words.ROOT,
            env={**os.environ, LANGUAGE_VARIABLE: tag},
        )


def test_each_sentence_of_the_window_that_the_table_names_is_said_by_a_room() -> None:
    said = {text for room, texts in words.texts_of().items() if room != "core.front" for text in texts}
    hooks = (words.ROOT / "core/front/hooks/conversation.py").read_text("utf-8")

    assert [one for one, _ in stops.WORDS if one not in said and one not in hooks] == []
