"""`knowledge prompt`: what a harvest tells its model, and a copy of one's own in the person's editor."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from core.base.child_process import find_program, run_at_terminal
from core.cli.output import Console
from core.harvest.messages import HARVEST_PROMPT
from core.settings.loader import ConfigRequest, load
from core.settings.prompts import (
    make_own_prompt,
    own_prompt,
    own_prompt_path,
    prompt_file,
    read_prompts,
)

EDITORS = ("VISUAL", "EDITOR")
"""Variables that name the person's editor, the first that is set counts."""


def run_prompt(asked: ConfigRequest, console: Console, *, edits: bool, is_json: bool) -> int:
    """Print the prompt with its place, or edit the person's own. Returns 1 where the editor failed or spoilt it.

    Raises:
        ConfigError: what stands in place of the person's own cannot be read. StorageError: no copy could be made.
    """
    project = load(asked).project
    if edits:
        return _edit(make_own_prompt(asked.home, HARVEST_PROMPT, project.prompts), asked.home, console)
    text = read_prompts(asked.home, project.prompts)[HARVEST_PROMPT]
    place = str(prompt_file(HARVEST_PROMPT, asked.home, Path(project.root), project.prompts))
    whose = "yours" if own_prompt(asked.home, HARVEST_PROMPT) is not None else "shipped"
    if whose == "shipped" and HARVEST_PROMPT in project.prompts:
        whose = "the project's"
    if is_json:
        console.json({"path": place, "whose": whose, "text": text})
        return 0
    console.line(text.removesuffix("\n"))
    console.note(
        f"{place}: {whose}"
        + ("" if whose == "yours" else "; `manual-slop knowledge prompt --edit` makes yours")
    )
    return 0


def _edit(path: Path, home: Path, console: Console) -> int:
    command = next((words for name in EDITORS if (words := os.environ.get(name, "").strip())), "")
    program, *arguments = _words(command) or [""]
    found = find_program(program) if program else None
    if found is None:
        if command:
            console.note(
                f"manual-slop: warning: the editor {command!r} is not there. Edit the file yourself."
            )
        _tell_own(path, console)
        return 0
    code = run_at_terminal(found, (*arguments, str(path)), path.parent)
    if code:
        console.note(f"manual-slop: the editor ended with code {code}: {found}")
    if own_prompt(home, HARVEST_PROMPT) is None:
        console.note(
            f"manual-slop: warning: what stands there now cannot be read as a prompt, the next one counts: {path}"
        )
        return 1
    console.note(f"{own_prompt_path(home, HARVEST_PROMPT)}: yours; the next harvest reads it")
    if console.is_json and not code:
        _tell_own(path, console)
    return int(code != 0)


def _tell_own(path: Path, console: Console) -> None:
    if console.is_json:
        console.json({"path": str(path), "whose": "yours"})
    else:
        console.line(str(path))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name == "posix")
    except ValueError:  # a quote that nothing closes
        return [command]
