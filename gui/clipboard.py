"""The one door to the system's clipboard, in a process of its own, in place of the toolkit's own way to it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from dearpygui import _dearpygui

from core.kernel.language import tr

# The one door to the system's clipboard: asked what it holds, in a process of its own, and never through
# the toolkit.

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import Future

    from core.app.crunch import JobProcess

SLOW_S = 10.0
"""Time after which a program that holds the clipboard is taken for dead; a large picture takes one or two seconds."""
AT_ONCE_S = 0.3
"""Time for which the window itself waits, so that what is typed after a paste stands behind it."""
FIELD_S = 1.0
"""Time for which a field of the toolkit waits, which takes a paste at once or not at all."""
MOST_FIELD_CHARS = 100_000

NO_TEXT = tr("The clipboard holds no text")
IS_PICTURE = tr("The clipboard holds a picture: paste it into a message")
IS_WAITING = tr("The program that holds the clipboard has not answered yet")
NO_ANSWER = tr("The program that holds the clipboard does not answer: copy again, then paste")
NOT_COPIED = tr("Not copied: the system's clipboard cannot be reached")


class ClipboardContent(msgspec.Struct, frozen=True):
    """Content of the clipboard: a text, or a picture as PNG, or neither. `problem`: why it could not be read."""

    text: str = ""
    picture: bytes = b""
    problem: str = ""


class Paste:
    """A question to the clipboard that may still be under way."""

    def __init__(self, asked: Future[ClipboardContent]) -> None:
        self._asked = asked

    @property
    def is_done(self) -> bool:
        """True once the answer is there."""
        return self._asked.done()

    def held(self, within_s: float = 0.0) -> ClipboardContent | None:
        """The answer; None where it has not come in so many seconds. Never raises."""
        try:
            return self._asked.result(within_s)
        except TimeoutError:
            return None
        except Exception:  # noqa: BLE001 - the process ended, was ended, or could not be started
            return ClipboardContent(problem=NO_ANSWER)


class Clipboard:
    """Copies and reads. On one thread; its process starts when it is first asked.

    Args:
        say: tells the person something beside the mouse.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self._jobs: JobProcess | None = None
        self._copying: Future[object] | None = None

    def copy(self, text: str) -> None:
        """Put a text on the clipboard, behind what was asked before."""
        self._copying = self._process().submit({"job": "copy"}, text.encode("utf-8", "replace"))

    def ask(self) -> Paste:
        """Ask what the clipboard holds."""
        from core.app.crunch import mapped

        return Paste(mapped(self._process().submit({"job": "read"}, b""), _held))

    def text_at_once(self) -> str:
        """Text for a field of the toolkit; empty, and said, where there is none for it."""
        held = self.ask().held(FIELD_S)
        if held is None:
            self.say(tr("{reason}: paste again", reason=IS_WAITING))
            return ""
        if len(held.text) > MOST_FIELD_CHARS:
            self.say(
                tr(
                    "The clipboard holds {text:,} characters: this field takes at most {MOST_FIELD_CHARS:,}",
                    text=len(held.text),
                    MOST_FIELD_CHARS=MOST_FIELD_CHARS,
                )
            )
            return ""
        if not held.text:
            self.say(refusal(held))
        return held.text

    def poll(self) -> None:
        """Say that a copy did not come about."""
        copying = self._copying
        if copying is not None and copying.done():
            self._copying = None
            if copying.exception() is not None:
                self.say(NOT_COPIED)

    def close(self) -> None:
        """End its process, and with it what was copied, where the desktop does not keep that."""
        if self._jobs is not None:
            self._jobs.close()

    def _process(self) -> JobProcess:
        if self._jobs is None:
            self._jobs = _jobs()
        return self._jobs


def refusal(held: ClipboardContent) -> str:
    """Reason why no text comes from the clipboard."""
    return held.problem or (IS_PICTURE if held.picture else NO_TEXT)


def _held(answer: object) -> ClipboardContent:
    assert isinstance(answer, bytes)
    kind, content = answer[:1], answer[1:]
    if kind == b"p":
        return ClipboardContent(picture=content)
    return ClipboardContent(text=content.decode()) if kind == b"t" else ClipboardContent()


def _jobs() -> JobProcess:
    """The process, not started yet. What it is made of loads with the controller, behind the first frame."""
    from pathlib import Path

    from core.app.crunch import JobProcess
    from core.kernel.child_process import start_child

    class ClipboardProcess(JobProcess):
        def start(self) -> subprocess.Popen[bytes]:
            return start_child(Path(__file__).with_name("clipboard_child.py"), has_screen=True)

    return ClipboardProcess(SLOW_S, attempts=1)


# Replaces the toolkit's own way to the clipboard by ours, for input items that copy and paste by
# themselves.

KNOWN = (b"1.91.", b"1.92.")
"""Versions of Dear ImGui whose `ImGuiPlatformIO` begins with the getter and the setter.

Source: imgui.h of 1.91.1 and 1.92.5, "ImGuiPlatformIO" (read 2026-11-29).
"""
_Getter = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Setter = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class ToolkitClipboard:
    """Functions that the toolkit calls to paste and to copy; keep it as long as the window.

    Where the toolkit's library does not show its names (Windows), or is of a version that is not known, the toolkit
    goes to the clipboard itself: its input items take a clipboard without text, and may wait for who holds it.

    Args:
        read: the text to paste, at once; write: takes what is copied. What they raise is reported by the interpreter and ends nothing.
    """

    def __init__(self, read: Callable[[], str], write: Callable[[str], None]) -> None:
        self._read, self._write = read, write
        self._text = ctypes.create_string_buffer(b"")
        self._getter, self._setter = _Getter(self._get), _Setter(self._set)
        self.is_ours = self._take_over()

    def _take_over(self) -> bool:
        library = ctypes.CDLL(_dearpygui.__file__)
        try:
            version = library["_ZN5ImGui10GetVersionEv"]
            context = library["_ZN5ImGui17GetCurrentContextEv"]
            platform = library["_ZN5ImGui13GetPlatformIOEv"]
        except AttributeError:
            return False
        version.restype, context.restype, platform.restype = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
        version_text: bytes = version()
        if not version_text.startswith(KNOWN) or not context():
            return False
        functions = (ctypes.c_void_p * 2).from_address(platform())
        functions[0] = ctypes.cast(self._getter, ctypes.c_void_p).value
        functions[1] = ctypes.cast(self._setter, ctypes.c_void_p).value
        return True

    def _get(self, _: object) -> int:
        text = b""
        try:
            text = self._read().encode("utf-8", "replace").replace(b"\0", b"")
        finally:
            self._text = ctypes.create_string_buffer(text)
        return ctypes.addressof(self._text)

    def _set(self, _: object, text: bytes | None) -> None:
        self._write((text or b"").decode("utf-8", "replace"))
