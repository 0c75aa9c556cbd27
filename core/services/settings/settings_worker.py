"""Settings, project, prompts, keys, models and pages of the guide: read, written and reported, on one thread."""

from __future__ import annotations

import platform
import re
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import ConfigError, ProviderError, SlopError
from core.kernel.language import as_sentences, tr
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.queue import queued
from core.kernel.values.curation import NamedText
from core.kernel.values.provider import (
    KeySource,
    ModelPrice,
    ModelProfile,
    PriceSource,
    ProviderKind,
    ProviderStatus,
)
from core.kernel.values.settings import GuidePage, ServerSettings
from core.kernel.values.updates import OperationDone, OperationFailed, Report, WorkerReported
from core.services.providers.claude_code.client import find_program, notes_command
from core.services.providers.clients import Clients, Starts
from core.services.providers.door import sound_models
from core.services.providers.keys import KeyStore
from core.services.providers.model_data import load_models, packaged_models
from core.services.providers.profiles import merge_models, offered_models
from core.services.settings import prompts, settings_writer, trust
from core.services.settings.asked_values import shown_as
from core.services.settings.prompts import (
    own_prompt,
    prompt_names,
    prompt_sources,
    read_prompts,
    read_templates,
    remove_prompt,
    template_folders,
    write_prompt,
)
from core.services.settings.settings_loader import ConfigRequest, LoadedSettings, config_request, load
from core.services.settings.settings_messages import (
    AskEffect,
    ChangeProjectSetting,
    ChangeSetting,
    FindLocalServers,
    FindPrices,
    GuideRead,
    KeepPresets,
    LoadSettings,
    ModelsListed,
    NamedTextStored,
    PresetStored,
    PricesFound,
    PricesTaken,
    PromptReset,
    ReadGuide,
    RefreshModels,
    RemoveServer,
    ResetPrompt,
    SavePrompt,
    SaveServer,
    ServersFound,
    SettingsEffect,
    SettingsEvent,
    SettingsLoaded,
    SettingsSettled,
    SetupEffect,
    StoreKey,
    TellSettled,
    UpdatePrices,
    WarmUp,
    WriteMcpServer,
    WriteNamedText,
    WritePreset,
    WriteServerApproval,
    WriteTrust,
)
from core.services.settings.settings_schema import Value
from core.services.settings.settings_writer import keep_working
from core.services.settings.trust import approvals_file, keep_approval

# Pages of the guide that come with the program: Markdown, read from this machine alone.

MOST_BYTES = 1_000_000
BESIDE = ("benchmarks", "glossary", "settings")
"""Documents beside the guide that its pages lead to."""
_NAME = late(r"[a-z][a-z-]{0,40}")
_HEADING = late(r"^# +(.+)$", re.MULTILINE)


def guide_folder() -> Path:
    """Folder of the pages: of the checkout that runs, else of the installed package."""
    root = Path(__file__).parents[3]
    checkout = root / "docs" / "guide"
    if (root / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    return Path(sysconfig.get_path("data")) / "share" / "doc" / "manual-slop" / "guide"


def read_guide(name: str) -> GuidePage:
    """Read a page, with the names and titles of all pages to choose from.

    Args:
        name: a file's name without its ending.
    """
    own = guide_folder()
    files = sorted(own.glob("*.md"))
    files += (file for one in BESIDE if (file := own.parent / f"{one}.md").is_file())
    pages = {file.stem: _page(file) for file in files}
    titles = {page.name: _title(page) for page in pages.values()}
    if not _NAME.fullmatch(name) or name not in pages:
        why = tr(
            "{own} has no guide page {name!r}. Install Manual Slop again to get the guide.",
            name=name[:40],
            own=own,
        )
        return GuidePage(name=name, problem=why, titles=titles)
    return replace(pages[name], titles=titles)


def _page(file: Path) -> GuidePage:
    try:
        return GuidePage(name=file.stem, text=read_file(file, MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, SlopError) as error:
        return GuidePage(
            name=file.stem,
            problem=tr(
                "The program cannot read the guide page {stem!r}: {error}", stem=file.stem, error=error
            ),
        )


def _title(page: GuidePage) -> str:
    found = _HEADING.search(page.text)
    return found[1].strip() if found else page.name


# Settings, project, prompts, keys and models: read, written and reported, on one thread.

Emit = Callable[[SettingsEvent | PresetStored | NamedTextStored | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

SHOWN_PACKAGES = ("manual-slop", "dearpygui", "anthropic", "google-genai", "openai", "xllamacpp")


EMPTY_FILE_PATIENCE = 5
UsePrices = Callable[[Sequence[ModelProfile], Mapping[str, str]], PriceSource]
"""Goes by the prices of these profiles, told the `ProviderKind` of each server."""

EMPTY_FILE_WAIT_S = 0.05


class SetupHandler:
    """Carries out the set-up worker's effects.

    Args:
        home: the person's data; start: the folder the program was started in; overrides: of the command line.
        clients: told of every change of servers and keys; keys: finds and stores keys; emit: the inbox.
        environ: environment variables, by default the process's; pause: waits so many seconds.
        price: of a model by provider and model, None where it is unknown; use_prices: told of every change of the
            profiles, by whose prices the program goes; take_prices: fetches newer ones, says what it took.
    """

    def __init__(
        self,
        home: Path,
        start: Path | None,
        overrides: Mapping[str, Value],
        clients: Clients,
        keys: KeyStore,
        emit: Emit,
        environ: Mapping[str, str] | None = None,
        pause: Callable[[float], None] = time.sleep,
        price: Callable[[str, str], ModelPrice | None] = lambda _provider, _model: None,
        use_prices: UsePrices = lambda _models, _kinds: PriceSource(),
        take_prices: Callable[[], str] = lambda: "",
    ) -> None:
        self._home = home
        self._overrides = overrides
        self._environ = environ
        self._clients = clients
        self._keys = keys
        self._emit = emit
        self._request = config_request(start=start, home=home, environ=environ, overrides=overrides)
        self._loaded: LoadedSettings | None = None
        self._models: tuple[ModelProfile, ...] = ()
        self._sizes: dict[Path, int] = {}
        self._pause = pause
        self._price, self._use_prices, self._take_prices = price, use_prices, take_prices
        self._listed: dict[str, tuple[ModelProfile, ...]] = {}

    def handle(self, effect: SettingsEffect) -> None:
        """Carry out one effect. Raises SlopError for what could not be done."""
        match effect:
            case LoadSettings():
                self._load(effect.root)
            case ChangeSetting():
                settings_writer.write_setting(self._request.config_file, effect.key, effect.value)
                self._load("")
            case ChangeProjectSetting():
                root, trusted = Path(effect.root), self._request.trust_file
                settings_writer.save_setting(root, effect.key, effect.value, trusted)
                self._load("")
            case SaveServer() | RemoveServer():
                self._change_server(effect)
            case WriteTrust():
                self._write_trust(effect)
            case WriteServerApproval():
                file = approvals_file(self._request.trust_file)
                keep_approval(file, effect.name, effect.root, effect.approved)
                self._load("")
            case WriteMcpServer():
                settings_writer.save_mcp_server(self._request.config_file, effect.name, effect.server)
                self._load("")
            case StoreKey():
                self._write_key(effect)
            case WritePreset():
                self._write_preset(effect)
            case WriteNamedText():
                self._write_text(effect)
            case SavePrompt() | ResetPrompt():
                self._change_prompt(effect)
            case KeepPresets():
                keep_working(self._home, Path(effect.root), effect.presets)
            case RefreshModels():
                self._list_models(effect.provider, effect.command_id)
            case WarmUp():
                self._warm_up(effect.provider)
            case UpdatePrices():
                self._emit(PricesTaken(self._take_prices(), effect.command_id))
            case FindPrices():
                self._emit(PricesFound({key: self._price(*key) for key in effect.models}))
            case FindLocalServers():
                self._probe()
            case ReadGuide():
                self._emit(GuideRead(read_guide(effect.page)))
            case TellSettled():
                self._emit(SettingsSettled(effect.number))
            case _:
                assert_never(effect)

    def _load(self, root: str) -> None:
        if root:
            start = Path(root).expanduser()
            if not start.is_dir():
                raise ConfigError(
                    tr("{root!r} is not a folder", root=root),
                    remedy=tr("Choose a folder that exists"),
                    where=root,
                )
            self._request = self._request_for(start)
        loaded = self._loaded = self._read_settled()
        warnings = self._read_models()
        kinds = {name: server.kind for name, server in loaded.settings.servers.items()}
        price_source = self._use_prices(self._models, kinds)
        keys, statuses, key_warnings = self._providers(loaded.settings.servers)
        self._clients.embedded_disk_mb = loaded.settings.caching.embedded_disk_mb
        notes = notes_command(self._home, loaded.project.root)
        templates, template_flaws = read_templates(self._home, loaded.project.root)
        self._clients.configure(loaded.settings.servers, keys, self._models, notes)
        self._emit(
            SettingsLoaded(
                settings=loaded.settings,
                faults=loaded.faults,
                project=loaded.project,
                providers=statuses,
                models={name: self._offered(server) for name, server in loaded.settings.servers.items()},
                prompts=read_prompts(self._home, loaded.project.prompts),
                warnings=(*warnings, *key_warnings, *template_flaws),
                settings_paths=(
                    *(*loaded.watched, *self._prompt_paths(loaded)),
                    *(str(folder) for folder in template_folders(self._home, loaded.project.root)),
                    *(one.source for one in templates.values()),
                    *(str(paths.models_file()), str(paths.prices_file())),
                ),
                versions=versions(),
                profiles=self._models,
                prompt_sources=prompt_sources(self._home, Path(loaded.project.root), loaded.project.prompts),
                approved_servers=loaded.approved,
                price_source=price_source,
                templates=templates,
                refusals=self._clients.kept_refusals(),
            )
        )

    def _read_settled(self) -> LoadedSettings:
        """Read the settings; again when a file changed under the reading."""
        before = self._let_writers_finish()
        loaded = load(self._request, self._loaded)
        for _ in range(EMPTY_FILE_PATIENCE):
            if before == self._file_sizes():
                break
            before = self._let_writers_finish()
            loaded = load(self._request, self._loaded)
        return loaded

    def _let_writers_finish(self) -> dict[Path, int]:
        """An editor that saves in place empties the file first: what was full a moment ago gets a moment more."""
        sizes = self._file_sizes()
        for _ in range(EMPTY_FILE_PATIENCE):
            if not any(size == 0 and self._sizes.get(file, 0) > 0 for file, size in sizes.items()):
                break
            self._pause(EMPTY_FILE_WAIT_S)
            sizes = self._file_sizes()
        self._sizes = sizes
        return sizes

    def _file_sizes(self) -> dict[Path, int]:
        return {
            file: _size(file) for file in (self._request.config_file, paths.project_file(self._request.root))
        }

    def _prompt_paths(self, loaded: LoadedSettings) -> list[str]:
        folders = (paths.knowledge_dir(self._home) / "prompts", Path(loaded.project.root) / "prompts")
        return [str(folder / name) for folder in folders for name in prompt_names()]

    def _request_for(self, start: Path) -> ConfigRequest:
        return config_request(start=start, home=self._home, environ=self._environ, overrides=self._overrides)

    def _read_models(self) -> tuple[str, ...]:
        """Read the person's `models.toml`; a broken one leaves what was known."""
        try:
            self._models = load_models(paths.models_file())
        except ConfigError as error:
            self._models = self._models or packaged_models()
            return (str(error),)
        return ()

    def _providers(
        self, servers: Mapping[str, ServerSettings]
    ) -> tuple[dict[str, str], dict[str, ProviderStatus], tuple[str, ...]]:
        keys: dict[str, str] = {}
        statuses: dict[str, ProviderStatus] = {}
        warnings: list[str] = []
        for name, server in servers.items():
            found = self._keys.find(name, servers)
            if found.value:
                keys[name] = found.value
            if found.conflict:
                warnings.append(found.conflict)
            if found.warning and server.kind != ProviderKind.COMPATIBLE:
                warnings.append(found.warning)
            statuses[name] = _status(server, found.source)
        return keys, statuses, tuple(dict.fromkeys(warnings))

    def _offered(self, server: ServerSettings) -> tuple[ModelProfile, ...]:
        merged = merge_models(self._models, self._listed.get(server.id, ()), kind=server.kind)
        return offered_models(merged, server.id)

    def _change_server(self, effect: SaveServer | RemoveServer) -> None:
        file = self._request.config_file
        if isinstance(effect, SaveServer):
            settings_writer.save_server(file, effect.id, effect.label, effect.base_url)
        else:
            settings_writer.remove_server(file, effect.id)
        self._listed.pop(effect.id, None)  # another address may have others: it is asked once it is loaded
        self._load("")

    def _write_key(self, effect: StoreKey) -> None:
        act = (
            self._keys.store(effect.provider, effect.key)
            if effect.key
            else self._keys.delete(effect.provider)
        )
        self._load("")
        self._emit(OperationDone(subject=f"key/{effect.provider}", text=act))

    def _write_trust(self, effect: WriteTrust) -> None:
        root, file = Path(effect.root), self._request.trust_file
        if effect.is_trusted:
            loaded = load(self._request, self._loaded)
            is_same = loaded.project.root == effect.root
            trust.trust(root, file, map(shown_as, effect.asked), asked=loaded.asked if is_same else None)
        else:
            trust.distrust(root, file)
        self._load("")

    def _write_preset(self, effect: WritePreset) -> None:
        root = Path(effect.root)
        if effect.preset is None:
            settings_writer.delete_preset(root, effect.old_name)
            self._load("")
        elif effect.old_name:
            if self._loaded is not None and effect.old_name in self._loaded.project_data.presets:
                settings_writer.rename_preset(
                    root, effect.old_name, effect.preset.name, self._request.trust_file
                )
            self._load("")
        else:
            settings_writer.save_preset(root, effect.preset, self._request.trust_file)
            self._emit(PresetStored(effect.preset.name))

    def _write_text(self, effect: WriteNamedText) -> None:
        roots = () if self._loaded is None else self._loaded.project.allowed_roots
        project = prompts.TextProject(
            root=Path(effect.root), allowed=tuple(map(Path, roots)), trust_file=self._request.trust_file
        )
        name = effect.old_name or effect.name
        stood = prompts.read_text_of(project, effect.table, name)
        if effect.text is None:
            prompts.delete_text(project, effect.table, name, effect.base)
        else:
            text = NamedText(name=effect.name, text=effect.text)
            prompts.save_text(project, effect.table, text, effect.old_name, effect.base)
        self._emit(
            NamedTextStored(
                table=effect.table,
                name=effect.name,
                text=effect.text,
                old_name=effect.old_name,
                old_text="" if stood is None else stood.text,
                source="" if stood is None else stood.source,
                used_by=effect.used_by,
            )
        )
        self._load("")

    def _change_prompt(self, effect: SavePrompt | ResetPrompt) -> None:
        if isinstance(effect, SavePrompt):
            write_prompt(self._home, effect.name, effect.text, effect.base)
        else:
            stood = own_prompt(self._home, effect.name)
            remove_prompt(self._home, effect.name, effect.base)
            if stood is not None:
                self._emit(PromptReset(effect.name, stood))
        self._load("")

    def _list_models(self, provider: str, command_id: str = "") -> None:
        server = self._loaded.settings.servers.get(provider) if self._loaded is not None else None
        if server is None:
            return
        self._emit(
            WorkerReported(
                name="models",
                status="busy",
                detail=tr("Asking {value} for its models", value=server.label or provider),
            )
        )
        try:
            listed = sound_models(self._clients.get(provider).list_models())
        except SlopError as error:
            detail = as_sentences(error.remedy, error.where)
            self._emit(
                OperationFailed(
                    subject=f"models/{provider}",
                    text=error.what,
                    detail=detail,
                    command_id=command_id,
                    is_standing=not command_id,
                )
            )
        else:
            self._listed[provider] = tuple(replace(model, provider=provider) for model in listed)
            self._emit(ModelsListed(provider, self._offered(server)))
        finally:
            self._emit(WorkerReported(name="models", status="idle"))

    def _warm_up(self, provider: str) -> None:
        """Start what a first message would wait for; a client that has nothing to start is left alone."""
        client = self._clients.get(provider)
        if isinstance(client, Starts):
            client.start()

    def _probe(self) -> None:
        from core.services.providers.compatible.model_list import find_local_servers

        servers = self._loaded.settings.servers.values() if self._loaded is not None else ()
        known = {server.base_url.rstrip("/") for server in servers if server.base_url}
        found: Sequence[ServerSettings] = find_local_servers()
        self._emit(ServersFound(tuple(s for s in found if s.base_url.rstrip("/") not in known)))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return -1


@cache
def versions() -> Mapping[str, str]:
    """Versions of the program and of what it stands on; what is not installed is left out."""
    found = {"Python": platform.python_version()}
    for name in SHOWN_PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _status(server: ServerSettings, source: KeySource) -> ProviderStatus:
    """Status of a provider: can it be used, and what to do where it cannot."""
    kind = ProviderKind(server.kind)
    problem = remedy = ""
    if not server.is_enabled:
        problem = tr("Turned off in your settings.")
    elif kind is ProviderKind.CLAUDE_CODE and find_program() is None:
        problem = tr(
            "The program cannot find the `claude` command; install the npm package @anthropic-ai/claude-code."
        )
    elif (
        kind in (ProviderKind.ANTHROPIC, ProviderKind.GEMINI, ProviderKind.OPENAI)
        and source is KeySource.MISSING
    ):
        problem, remedy = tr("No key."), tr("Enter a key in Settings, Providers and keys.")
    elif kind is ProviderKind.EMBEDDED:
        problem, remedy = _why_not_embedded()
    shown = source
    if kind is ProviderKind.COMPATIBLE and source is KeySource.MISSING:
        shown = KeySource.NOT_NEEDED
    return ProviderStatus(
        id=server.id,
        kind=kind,
        label=server.label,
        key_source=shown,
        base_url=server.base_url,
        is_ready=not problem,
        problem=problem,
        remedy=remedy,
    )


def _why_not_embedded() -> tuple[str, str]:
    """Problem and remedy where the built-in model is not installed: it comes with an extra. Empty where it is."""
    from core.services.providers.embedded.server import find_weights

    try:
        find_weights()
    except ProviderError as error:
        return as_sentences(error.what, is_closed=True), as_sentences(error.remedy, is_closed=True)
    return "", ""


def supersedes(newer: SettingsEffect, older: SettingsEffect) -> bool:
    """Unsaved work on presets makes an earlier state of it needless, and nobody asks a server twice."""
    if isinstance(newer, RefreshModels):
        return isinstance(older, RefreshModels) and newer.provider == older.provider
    return isinstance(newer, KeepPresets) and isinstance(older, KeepPresets) and newer.root == older.root


def keeps(effect: SettingsEffect) -> bool:
    """True if an effect is written again until it is on disk."""
    return isinstance(effect, KeepPresets)


ASK_WORK = queued("models", AskEffect, supersedes)
"""One worker for each server that is asked."""
WORK = queued("settings", SetupEffect, supersedes, keeps)
