"""Notices of the desktop, by the program that each system has for them. Text is handed over as text, never as a script."""

from __future__ import annotations

import html
import os
import subprocess
import sys
from pathlib import Path

from core.base.child_process import desktop_environment, find_program, start_program
from core.base.text import flat, one_line

SHOW_S = 5.0
TITLE_CHARS, TEXT_CHARS = 80, 240
_SCRIPT = (
    "on run argv\n"
    "display notification (item 2 of argv) with title (item 1 of argv)\n"
    "end run"
)  # fmt: skip


def show(title: str, text: str) -> str:
    """Show a notice. Returns why it could not be shown, empty where it was. At most `SHOW_S` seconds."""
    order = notice_command(one_line(flat(title), TITLE_CHARS), one_line(flat(text), TEXT_CHARS))
    if order is None:
        return no_desktop()
    program, arguments = order
    try:
        process = start_program(program, arguments, environment=desktop_environment(os.environ))
        try:
            code = process.wait(SHOW_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"{program.name} did not end within {SHOW_S:g} seconds"
    except OSError as error:
        return f"{program.name} cannot be started: {error.strerror or error}"
    return f"{program.name} ended with exit code {code}" if code else ""


def notice_command(title: str, text: str) -> tuple[Path, tuple[str, ...]] | None:
    """Program and arguments that show a notice here, None where there is none."""
    if sys.platform == "darwin":
        return Path("/usr/bin/osascript"), ("-e", _SCRIPT, title, text)
    program = find_program("notify-send") if sys.platform != "win32" else None
    if program is None:
        return None
    body = html.escape(text, quote=False)  # servers read the body as markup
    return program, ("--app-name=Manual Slop", "--", title, body)


def no_desktop() -> str:
    """Reason why no notice of the desktop can be shown here, with the remedy; empty where one can."""
    if sys.platform == "win32":
        return "Notices of the desktop are not supported on Windows"
    if notice_command("", "") is None:
        return "There is no notify-send: install libnotify"
    return ""
