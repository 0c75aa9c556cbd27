"""A draft in the person's own text editor: started beside the window, read back when the editor ends."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.child_process import desktop_environment, find_program, start_program
from core.kernel.disk import write_passing
from core.kernel.errors import ConfigError, SlopError, StorageError
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.opener import read_start
from core.kernel.queue import queued
from core.kernel.values.updates import OperationFailed
from core.talk.discussion.discussion_messages import DraftEdited, EditDraft

FILE = "draft-in-editor.md"
"""In the discussion's folder while an editor has it; one that a quit left behind joins the next text."""
MAX_BYTES = 20_000_000
WAIT_REMEDY = tr("An editor that returns at once needs its wait option, as in VISUAL='code --wait'")


class DraftEditor(msgspec.Struct, frozen=True):
    """Carries out `EditDraft`. `environ`: where VISUAL and EDITOR stand; emit: the controller's inbox."""

    root: Path
    emit: Callable[[DraftEdited | OperationFailed], None]
    environ: Mapping[str, str]

    def handle(self, effect: EditDraft) -> None:
        """Open the draft in the person's editor; a thread waits for its end.

        Raises:
            ConfigError: no editor is set or installed, or it needs a terminal. StorageError: no file can be written, or the
                text that an earlier editor left cannot be read: it stays.
        """
        try:
            self._begin(effect)
        except SlopError:
            self.emit(DraftEdited(discussion_id=effect.discussion_id, began=effect.text, text=effect.text))
            raise

    def _begin(self, effect: EditDraft) -> None:
        editor = find_editor(self.environ)
        if editor.needs_terminal:
            raise ConfigError(
                tr("{name} needs a terminal", name=editor.program.name),
                remedy=tr("Set VISUAL to an editor with a window, or run `manual-slop send --editor`"),
            )
        folder = paths.discussion_dir(self.root, effect.discussion_id)
        path = folder / FILE
        left, problem = _read(path) if path.is_file() else ("", "")
        if left is None:
            raise StorageError(problem)
        began = "\n\n".join(part for part in (effect.text, left) if part)
        write_passing(path, began.encode("utf-8", "replace"))
        try:
            process = start_program(
                editor.program,
                (*editor.arguments, str(path)),
                environment=desktop_environment(os.environ),
                folder=folder,
            )
        except OSError as error:
            raise ConfigError(
                tr("The editor cannot be started: {strerror}", strerror=error.strerror),
                where=str(editor.program),
            ) from error
        threading.Thread(
            target=self._wait, args=(effect, path, began, process), name="draft-editor", daemon=True
        ).start()

    def _wait(self, effect: EditDraft, path: Path, began: str, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        text, problem = _read(path)
        self.emit(
            DraftEdited(
                discussion_id=effect.discussion_id,
                began=effect.text,
                text=effect.text if text is None else text,
            )
        )
        if text is not None:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        if code:
            problem = problem or tr("The editor ended with code {code}", code=code)
        elif text == began:
            problem = tr("The editor changed nothing. {remedy}", remedy=WAIT_REMEDY)
        if problem:
            self.emit(
                OperationFailed(
                    subject=f"draft-editor/{effect.discussion_id}",
                    text=problem,
                    discussion_id=effect.discussion_id,
                )
            )


def _read(path: Path) -> tuple[str | None, str]:
    """The text of the file, or None and why it cannot be read. The file stays then."""
    try:
        data = read_start(path, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return None, tr(
                "The text is over {MAX_BYTES:,} bytes. Shorten the file: {path}",
                MAX_BYTES=MAX_BYTES,
                path=path,
            )
        return clean(data.decode("utf-8-sig")).rstrip("\n"), ""
    except FileNotFoundError:
        return None, tr("The editor removed the file. The words in the composer stay.")
    except (OSError, UnicodeDecodeError):
        return None, tr("The editor saved no UTF-8 text. Save the file as UTF-8: {path}", path=path)


WORK = queued("draft-editor", EditDraft, about=lambda one: one.discussion_id)


# The person's text editor: what `$VISUAL` and `$EDITOR` name, and whether it needs a terminal.


EDITORS = ("VISUAL", "EDITOR")
"""Variables that name the person's editor, the first that is set counts."""
IN_TERMINAL = frozenset(
    [
        "ed",
        "hx",
        "helix",
        "jed",
        "joe",
        "kak",
        "mcedit",
        "micro",
        "nano",
        "ne",
        "nvi",
        "nvim",
        "pico",
        "vi",
        "vim",
    ]
)
"""Editors that draw in a terminal alone."""


class TextEditor(msgspec.Struct, frozen=True):
    """An editor as it is started: an absolute program, and arguments that stand before the file."""

    program: Path
    arguments: tuple[str, ...]

    @property
    def needs_terminal(self) -> bool:
        """True of an editor that has no window of its own."""
        name = self.program.name
        return name in IN_TERMINAL or (
            name.startswith("emacs") and bool({"-nw", "-t", "--tty"} & {*self.arguments})
        )


def editor_words(environ: Mapping[str, str]) -> str:
    """The command that names the person's editor, empty where none is set."""
    return next((words for name in EDITORS if (words := environ.get(name, "").strip())), "")


def find_editor(environ: Mapping[str, str]) -> TextEditor:
    """Find the person's editor.

    Raises:
        ConfigError: none is set, or the one that is set is not installed.
    """
    words = editor_words(environ)
    if not words:
        raise ConfigError(
            tr("No editor is set"),
            remedy=tr("Set VISUAL or EDITOR to your editor, such as `code --wait` or `vim`"),
        )
    program, *arguments = _split(words) or [words]
    found = find_program(program)
    if found is None:
        raise ConfigError(
            tr("The editor {words!r} is not installed", words=words),
            remedy=tr("Set VISUAL or EDITOR to an editor that is installed"),
        )
    return TextEditor(program=found, arguments=tuple(arguments))


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words, posix=os.name == "posix")
    except ValueError:  # a quote that nothing closes
        return [words]
