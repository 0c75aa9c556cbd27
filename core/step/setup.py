"""Start-up, settings, project, providers, keys and the end."""

from __future__ import annotations

from dataclasses import replace

from core.step.base import Result, dismiss, notify
from core.step.notices import show_settings_faults, show_trust
from core.values.commands import ChangeSetting, OpenProject, SaveServer, StoreKey, TrustProject
from core.values.curation import FileItem
from core.values.effects import (
    Effect,
    InspectOnDisk,
    ListModels,
    LoadSettings,
    LoadSummaries,
    ProbeServers,
    StopAll,
    WarmUp,
    WatchFiles,
    WriteKey,
    WriteServer,
    WriteSetting,
    WriteTrust,
    WriteWindow,
)
from core.values.events import HomeOpened, ModelsListed, SettingsLoaded, WorkerReported
from core.values.mapping import with_entry
from core.values.provider import ProviderKind
from core.values.state import AppState, Level, WorkerStatus


def home_opened(state: AppState, event: HomeOpened) -> Result:
    """The home is ours: read settings, then the list of discussions."""
    state = replace(
        state,
        home=event.home,
        is_home_read_only=event.is_read_only,
        window_toml=event.window_toml,
        selected_id=event.selected_id,
    )
    if event.is_read_only:
        state = notify(
            state,
            "home",
            Level.ERROR,
            "The home is read-only: nothing that is said now can be kept.",
            f"Make it writable, or start with another one (--home). {event.home}",
        )
    if event.repaired:
        state = notify(
            state, "home-repaired", Level.WARNING, "The home was repaired.", "\n".join(event.repaired)
        )
    return state, (LoadSettings(), LoadSummaries(state.settings.trash_days))


def settings_loaded(state: AppState, event: SettingsLoaded) -> Result:
    """Settings take effect; unsaved work on presets stays in front of what the file says."""
    project = event.project
    if project.root == state.project.root:
        unsaved = {n: p for n, p in state.project.presets.items() if n in state.project.unsaved_presets}
        project = replace(
            project,
            presets={**project.presets, **unsaved},
            unsaved_presets=project.unsaved_presets | frozenset(unsaved),
        )
    state = replace(
        state,
        settings=event.settings,
        settings_faults=event.faults,
        project=project,
        providers=event.providers,
        models={**state.models, **event.models},
        prompts=event.prompts if event.prompts != state.prompts else state.prompts,
        settings_paths=event.settings_paths,
        versions=event.versions,
        profiles=event.profiles,
    )
    state = show_trust(show_settings_faults(state))
    if event.warnings:
        detail = "\n".join(event.warnings[1:])
        state = notify(state, "settings-warning", Level.WARNING, event.warnings[0], detail)
    else:
        state = dismiss(state, "settings-warning")
    return state, tuple(ListModels(name) for name in _unlisted(state))


def _unlisted(state: AppState) -> tuple[str, ...]:
    """Compatible servers whose models nobody knows: only they themselves can say."""
    return tuple(
        name
        for name, status in state.providers.items()
        if status.kind is ProviderKind.COMPATIBLE and status.is_ready and not state.models.get(name)
    )


def change_setting(state: AppState, command: ChangeSetting) -> Result:
    """Write one key of user settings."""
    return state, (WriteSetting(command.key, command.value),)


def store_key(state: AppState, command: StoreKey) -> Result:
    """Keep or remove a key."""
    return state, (WriteKey(command.provider, command.key.strip()),)


def save_server(state: AppState, command: SaveServer) -> Result:
    """Add or change a compatible server; the address must be http or https."""
    name, address = command.id.strip(), command.base_url.strip()
    if not name or not address.startswith(("http://", "https://")):
        text = f"A server needs a name and an address that begins with http:// or https:// (got {address!r})."
        return notify(state, "server", Level.WARNING, text), ()
    found = tuple(s for s in state.found_servers if s.base_url != address)
    return replace(state, found_servers=found), (WriteServer(name, command.label.strip() or name, address),)


def trust(state: AppState, command: TrustProject) -> Result:
    """Let the project's settings count, or not."""
    return dismiss(state, "trust"), (WriteTrust(state.project.root, command.is_trusted),)


def open_project(state: AppState, command: OpenProject) -> Result:
    """Work in another folder."""
    return state, (LoadSettings(command.root),)


def inspect(state: AppState, path: str) -> Result:
    """Read one file for the structure view, or close it."""
    state = replace(state, inspected=None, inspected_path=path)
    if not path:
        return state, ()
    project = state.project
    return state, (InspectOnDisk(project.root, FileItem(path), project.allowed_roots, state.settings.files),)


def models_listed(state: AppState, event: ModelsListed) -> Result:
    """A provider's models are known."""
    return replace(state, models=with_entry(state.models, event.provider, event.models)), ()


def worker_reported(state: AppState, event: WorkerReported) -> Result:
    """A worker's state for the status bar."""
    status = WorkerStatus(event.name, event.status, event.detail, event.fraction)
    return replace(state, workers=with_entry(state.workers, event.name, status)), ()


def probe_servers(state: AppState) -> Result:
    """Look for local servers."""
    return state, (ProbeServers(),)


def quit_program(state: AppState) -> Result:
    """Stop workers after what is pending is written. A reply that the disk refuses is not left behind unasked."""
    if state.pending and not any(notice.id == "quit" for notice in state.notices):
        text = "A reply is not on disk yet: the disk refuses it."
        return notify(state, "quit", Level.ERROR, text, "Free some space, or quit again and lose it."), ()
    return replace(state, is_closing=True), (WriteWindow(state.window_toml, state.selected_id), StopAll())


def warm_up_effects(before: AppState, after: AppState) -> tuple[Effect, ...]:
    """Start the embedded model when a discussion of it is shown: it costs nothing and the first answer comes sooner."""
    provider = _answering(after)
    if provider not in after.providers or (provider == _answering(before) and before.providers):
        return ()
    is_embedded = after.providers[provider].kind is ProviderKind.EMBEDDED
    return (WarmUp(provider),) if is_embedded else ()


def _answering(state: AppState) -> str:
    """The provider of the discussion that is shown and read, empty when there is none."""
    if state.selected_id not in state.open or state.selected_id not in state.summaries:
        return ""
    return state.summaries[state.selected_id].meta.provider


def watch_effects(before: AppState, after: AppState) -> tuple[Effect, ...]:
    """Watch the files of presets in use, the settings' own files and the open discussions; tell only of changes."""
    is_same = before.files is after.files and before.open.keys() == after.open.keys()
    is_same = is_same and before.knowledge.watched == after.knowledge.watched
    if is_same and before.settings_paths == after.settings_paths:
        return ()
    wanted = _watched(after)
    return () if wanted == _watched(before) else (wanted,)


def _watched(state: AppState) -> WatchFiles:
    curated = {f.absolute_path for items in state.files.values() for item in items for f in item.files}
    settings = tuple(sorted(state.settings_paths))
    return WatchFiles(
        tuple(sorted(curated - {""})),
        settings,
        state.home,
        tuple(sorted(state.open)),
        state.knowledge.watched,
    )
