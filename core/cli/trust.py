"""`trust`: say what a project asks for, and let it count or not."""

from __future__ import annotations

from pathlib import Path

from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.session import UsageError
from core.settings import trust
from core.settings.loader import ConfigRequest, config_request, load


def run_trust(options: Options, console: Console) -> int:
    """Trust a folder, stop trusting it, or list what is trusted. Returns 0."""
    given = options.given
    request = _request(options, given.folder)
    if given.list:
        folders = trust.trusted_folders(request.trust_file)
        if options.is_json:
            console.json(list(folders))
        else:
            console.write("".join(f"{folder}\n" for folder in folders) or "No folder is trusted.\n")
    elif given.remove:
        trust.distrust(request.root, request.trust_file)
        console.line(f"{request.root} is not trusted.")
    else:
        _trust(request, console)
    return 0


def trust_project(options: Options, console: Console) -> None:
    """Trust the project's folder before a command, saying what that lets count."""
    request = _request(options, "")
    if not trust.is_trusted(request.root, request.trust_file):
        _trust(request, Console(console.err, console.err))


def _trust(request: ConfigRequest, console: Console) -> None:
    asked = load(request).project.held_back
    trust.trust(request.root, request.trust_file)
    loaded = load(request).project
    never = loaded.held_back
    for sentence in asked:
        if sentence not in never:
            console.line(f"counts now: {sentence}")
    for sentence in never:
        console.line(f"held back:  {sentence}")
    rest = (
        ""
        if loaded.has_file
        else " It has no manual_slop.toml: what you trust is one that comes to stand there."
    )
    console.line(f"{request.root} is trusted.{rest}")


def _request(options: Options, folder: str) -> ConfigRequest:
    start = Path(folder).expanduser().absolute() if folder else options.start
    if start is not None and not start.is_dir():
        raise UsageError(f"{folder!r} is not a folder")
    return config_request(start=start, home=options.home, overrides=options.overrides)
