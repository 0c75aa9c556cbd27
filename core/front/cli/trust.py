"""`trust`: show the values that a project asks for, and trust them after a yes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.front.cli.arguments import Options
from core.front.cli.output import Console, table
from core.front.cli.questions import confirm, secret_line
from core.front.cli.session import UsageError, check_name, report_faults_of
from core.kernel.language import tr
from core.kernel.paths import project_file
from core.kernel.values.settings import Project
from core.mcp.mcp_worker import named_keys
from core.services.providers.key_names import SERVER_KEY, key_variables
from core.services.providers.keys import MAX_KEY_CHARS, KeyStore
from core.services.settings import trust
from core.services.settings.asked_values import asked_lines, shown_as, trust_reason, trust_title
from core.services.settings.project_tables import ProjectTables
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, config_request, load

NOT_AGREED = 1


def run_trust(options: Options, console: Console) -> int:
    """Trust a folder for what is shown, stop trusting it, or list what is trusted.

    Returns:
        0, and 1 where the person said no, or the folder's file cannot be read.

    Raises:
        UsageError: no such folder, or nobody can be asked.
    """
    given = options.given
    request = _request(options, given.folder)
    if given.list:
        folders = trust.trusted_folders(request.trust_file)
        if options.is_json:
            console.json(list(folders))
        else:
            console.write("".join(f"{folder}\n" for folder in folders) or tr("You trust no folder.\n"))
        return 0
    if given.remove:
        trust.distrust(request.root, request.trust_file)
        _tell(tr("{root} is not trusted.", root=request.root), request, console, is_trusted=False)
        return 0
    loaded = load(request)
    if not _told_faults(request, loaded, console):
        console.line(
            tr(
                "Nothing was changed: the program can read nothing in {name}.",
                name=project_file(request.root).name,
            )
        )
        return NOT_AGREED
    _show(loaded, console.line if given.yes else console.shown)
    if loaded.project.asked and not confirm(
        console, tr("Trust this folder with these requests?"), is_yes=given.yes
    ):
        console.line(
            tr("Nothing was changed: the program ignores the requests of {root}.", root=request.root)
        )
        return NOT_AGREED
    _tell(_trust(request, loaded), request, console, is_trusted=True, project=loaded.project)
    return 0


def _told_faults(request: ConfigRequest, loaded: LoadedSettings, console: Console) -> bool:
    """Say what is wrong in the project's file. False where nothing of it holds: a yes would be to words unseen."""
    file = str(project_file(request.root))
    faults = [fault for fault in loaded.faults if fault.path == file]
    report_faults_of(faults, console)
    return loaded.project_data != ProjectTables() or not any(fault.is_grave for fault in faults)


def _tell(
    said: str,
    request: ConfigRequest,
    console: Console,
    *,
    is_trusted: bool,
    project: Project = Project(),  # noqa: B008 (frozen)
) -> None:
    asked = [line.words for line in asked_lines(project.asked)]
    rest = {"asked": asked, "held_back": list(project.held_back)} if is_trusted else {}
    console.outcome(said, {"folder": str(request.root), "is_trusted": is_trusted, **rest})


def trust_project(options: Options, console: Console) -> None:
    """Trust the project's folder before a command, as `--trust` says, and show what that lets count."""
    request = _request(options, "")
    loaded = load(request)
    if loaded.project.asked or not loaded.project.is_trusted:
        aside = Console(out=console.err, err=console.err)
        _show(loaded, aside.line)
        aside.line(_trust(request, loaded))


def _show(loaded: LoadedSettings, say: Callable[[str], None]) -> None:
    """Print the question: what is recorded by a yes is what was printed, not what stands in the file by then."""
    project = loaded.project
    if project.asked:
        say(trust_title(project))
        say(trust_reason(project))
    for line in asked_lines(project.asked):
        say(tr("the folder asks for:  {words}", words=line.words))
        for text in line.text.splitlines():
            say(f"            | {text}")
    for sentence in project.held_back:
        say(tr("the program ignores:  {sentence}", sentence=sentence))


def _trust(request: ConfigRequest, loaded: LoadedSettings) -> str:
    """Let what is asked for count. Returns what to say of it."""
    project = loaded.project
    trust.trust(request.root, request.trust_file, map(shown_as, project.asked), asked=loaded.asked)
    rest = (
        ""
        if project.has_file
        else tr(" The folder has no manual_slop.toml. If one appears, the program asks you first.")
    )
    return tr("{root} is trusted.{rest}", root=request.root, rest=rest)


def _request(options: Options, folder: str) -> ConfigRequest:
    start = Path(folder).expanduser().absolute() if folder else options.start
    if start is not None and not start.is_dir():
        raise UsageError(tr("{folder!r} is not a folder", folder=folder))
    return config_request(start=start, home=options.home, overrides=options.overrides)


# `key`: where each provider's key was found, and how one is kept or removed.


def run_key(options: Options, console: Console) -> int:
    """List, keep or remove keys. Returns 0."""
    given = options.given
    request = config_request(start=options.start, home=options.home, overrides=options.overrides)
    settings = load(request).settings
    own = (SERVER_KEY,) if settings.retrieval.server else ()
    servers = (*settings.servers, *own, *named_keys(settings.mcp))
    store = KeyStore(request.home, request.environ)
    check_name("provider", given.provider, servers)
    if not given.provider:
        _list(store, servers, console, is_json=options.is_json)
    elif given.remove:
        console.outcome(store.delete(given.provider), {"provider": given.provider})
    else:
        said = store.store(
            given.provider,
            secret_line(console, tr("Key for {provider}", provider=given.provider), MAX_KEY_CHARS + 2),
        )
        console.outcome(said, {"provider": given.provider})
    return 0


def _list(store: KeyStore, providers: tuple[str, ...], console: Console, *, is_json: bool) -> None:
    found = {provider: store.find(provider, providers) for provider in providers}
    if is_json:
        console.json({name: {"source": key.source.value, "where": key.where} for name, key in found.items()})
        return
    rows = [
        (name, key.source.value.replace("_", " "), key.where or ", ".join(key_variables(name)))
        for name, key in found.items()
    ]
    console.write(table((), rows, kept=frozenset({0, 1}), columns=console.columns))
    said = (text for key in found.values() for text in (key.warning, key.conflict) if text)
    for warning in dict.fromkeys(said):
        console.note(tr("manual-slop: warning: {warning}", warning=warning))
