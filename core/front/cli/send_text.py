"""The message of `send`: a template filled, what is piped in, and the person's editor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from core.front.cli.arguments import Options
from core.front.cli.output import Console
from core.front.cli.questions import can_ask
from core.front.cli.session import UsageError, check_name
from core.kernel import paths
from core.kernel.child_process import run_at_terminal
from core.kernel.disk import create_file
from core.kernel.errors import ConfigError
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.opener import read_start
from core.kernel.surroundings import current_folder
from core.kernel.text_editor import find_editor
from core.services.settings.project import find_root
from core.services.settings.prompts import read_templates
from core.services.settings.templates import filled

MAX_EDITED_BYTES = 20_000_000


def template_text(options: Options) -> str:
    """The text of `--template` with its variables, empty where none is asked for.

    Raises:
        UsageError: no such template, or `--var` without one. ConfigError: a variable is missing or unknown.
    """
    name, pairs = options.given.template, options.given.var
    if not name:
        if pairs:
            raise UsageError(tr("--var needs --template"), remedy=tr("Name the template: --template NAME"))
        return ""
    root = find_root(options.start or Path(current_folder()))
    found, _ = read_templates(options.home or paths.home_dir(), str(root))
    check_name("template", name, tuple(found))
    try:
        return filled(found[name], _values(pairs))
    except ConfigError as error:
        raise UsageError(
            error.what, remedy=tr("{remedy}, as in: --var NAME=TEXT", remedy=error.remedy), where=error.where
        ) from None


def _values(pairs: Sequence[str]) -> dict[str, str]:
    values = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise UsageError(
                tr("--var takes NAME=TEXT, not {given!r}", given=pair),
                remedy=tr("Write the name, =, and the text"),
            )
        values[name.strip()] = clean(text)
    return values


def edited_text(text: str, console: Console) -> str:
    """Have the person's editor change a text. Returns the new one.

    Raises:
        UsageError: no terminal, an editor that failed, or words that are no UTF-8. ConfigError: no editor is set.
    """
    editor = find_editor(os.environ)
    if not can_ask(console):
        raise UsageError(
            tr("--editor needs a terminal"), remedy=tr("Leave --editor out, or run this in a terminal")
        )
    with tempfile.TemporaryDirectory(prefix="manual-slop-") as folder:
        path = Path(folder) / "message.md"
        create_file(path, text.encode("utf-8", "replace"))
        code = run_at_terminal(editor.program, (*editor.arguments, str(path)), path.parent)
        if code:
            raise UsageError(
                tr("The editor ended with code {code}", code=code), remedy=tr("Nothing was sent. Try again")
            )
        data = read_start(path, MAX_EDITED_BYTES + 1)
    if len(data) > MAX_EDITED_BYTES:
        raise UsageError(
            tr("The message is over {MAX_EDITED_BYTES:,} bytes", MAX_EDITED_BYTES=MAX_EDITED_BYTES),
            remedy=tr("Send a smaller part"),
        )
    try:
        return clean(data.decode("utf-8-sig")).rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError(tr("The editor saved no UTF-8 text"), remedy=tr("Save it as UTF-8")) from error
