"""Replaces the toolkit's own way to the clipboard by ours, for input items that copy and paste by themselves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from dearpygui import _dearpygui

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
