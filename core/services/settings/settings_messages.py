"""Messages of settings, project, keys and models: commands, effects, and events of what was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from core.kernel.values.curation import Preset, TextTable
from core.kernel.values.mcp import McpApproved, McpServerSettings
from core.kernel.values.provider import ModelPrice, ModelProfile, PriceSource, ProviderStatus
from core.kernel.values.settings import (
    AskedValue,
    GuidePage,
    Project,
    PromptTemplate,
    ServerSettings,
    Settings,
    SettingsFault,
)
from core.kernel.values.updates import FILLED
from core.kernel.values.usage import OfferedCommand


class TrustProject(OfferedCommand, frozen=True):
    """Trust the values that a project asks for, or stop trusting them.

    `shown`: id of the question that the person answered with yes (`question_id`); a yes to another question does not count.
    """

    is_trusted: bool
    shown: str = ""
    command_id: str = ""


class OpenProject(msgspec.Struct, frozen=True):
    """Work in another folder."""

    root: str


class ChangeSetting(msgspec.Struct, frozen=True):
    """Write one key of user settings (`appearance.theme`). `value` is a TOML value or None to remove it."""

    key: str
    value: str | int | float | bool | tuple[str, ...] | None


class ChangeProjectSetting(msgspec.Struct, frozen=True):
    """Write one key into the project's `manual_slop.toml` (`retrieval.enabled`), which is made where there is none.

    What is written counts as shown. Nothing is written over what the person was not shown. `root`: the project's folder,
    as the step fills it in.
    """

    key: str
    value: str | int | float | bool | tuple[str, ...]
    command_id: str = ""
    root: Annotated[str, FILLED] = ""


class StoreKey(msgspec.Struct, frozen=True):
    """Keep a provider's key in the keyring (or the file store). Never logged. Empty key removes it."""

    provider: str
    key: str

    def __repr__(self) -> str:
        return f"StoreKey(provider={self.provider!r}, key=<hidden>)"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("provider", self.provider)]


class SaveServer(msgspec.Struct, frozen=True):
    """Add or change an OpenAI-compatible server of user settings."""

    id: str
    label: str
    base_url: str


class RemoveServer(msgspec.Struct, frozen=True):
    """Remove a compatible server from user settings."""

    id: str


class RefreshModels(msgspec.Struct, frozen=True):
    """Ask a provider for its list of models."""

    provider: str
    command_id: str = ""


class PriceModels(msgspec.Struct, frozen=True):
    """Look up what the models that are offered cost; those that are known already are not looked up again."""


class UpdatePrices(msgspec.Struct, frozen=True):
    """Take newer price data from the network, on this act alone, and go by them from now on."""

    command_id: str = ""


class FindLocalServers(msgspec.Struct, frozen=True):
    """Look for Ollama, LM Studio, llama.cpp and vLLM on their usual loopback ports."""


class ReadGuide(msgspec.Struct, frozen=True):
    """Read a page of the guide that comes with the program, by its name."""

    page: str


class SavePrompt(OfferedCommand, frozen=True):
    """Write a prompt of the program as the person's own (`<home>/knowledge/prompts/<name>`), which wins from then on.

    `base` is the text that the person began with; where the file holds another by now, nothing is written.
    """

    name: str
    text: str
    base: str | None = None
    command_id: str = ""


class ResetPrompt(msgspec.Struct, frozen=True):
    """Take the person's own prompt away, so that the project's or the shipped one counts. `base` as in `SavePrompt`."""

    name: str
    base: str | None = None
    command_id: str = ""


# set-up worker: settings, keys, models
class LoadSettings(msgspec.Struct, frozen=True):
    """Read settings, project, prompts, keys; report `SettingsLoaded`. Empty root: the folder in use."""

    root: str = ""


class WriteTrust(msgspec.Struct, frozen=True):
    """Trust a folder for what was shown (`asked`) or stop trusting it, then load settings anew."""

    root: str
    is_trusted: bool
    asked: tuple[AskedValue, ...] = ()
    command_id: str = ""


class WriteServerApproval(msgspec.Struct, frozen=True):
    """Keep what a person approved of an MCP server, None: forget it; then load settings anew.

    `root`: of the project whose server it is, empty for the person's own.
    """

    name: str
    root: str
    approved: McpApproved | None
    command_id: str = ""


class WriteMcpServer(msgspec.Struct, frozen=True):
    """Write an MCP server into user settings, None: take it out; then load settings anew."""

    name: str
    server: McpServerSettings | None
    command_id: str = ""


class WritePreset(msgspec.Struct, frozen=True):
    """Write a preset to the project's file; `old_name` set means rename, `preset` None means delete."""

    root: str
    preset: Preset | None
    old_name: str = ""
    command_id: str = ""


class WriteNamedText(msgspec.Struct, frozen=True):
    """Write a persona or system prompt into the project's file, or with `text` None take it out.

    `old_name` set: it is that one's place that is taken. `base`: see `SavePrompt`. `used_by`: discussions that are to
    use it when it is written.
    """

    root: str
    table: TextTable
    name: str
    text: str | None
    old_name: str = ""
    base: str | None = None
    used_by: tuple[str, ...] = ()
    command_id: str = ""


class KeepPresets(msgspec.Struct, frozen=True):
    """Keep unsaved work on presets in the home, so that it survives a crash."""

    root: str
    presets: tuple[Preset, ...]


class WarmUp(msgspec.Struct, frozen=True):
    """Start what a first message to this provider would wait for (the embedded model's process)."""

    provider: str


class FindPrices(msgspec.Struct, frozen=True):
    """Look up the prices of models by provider and model, and report `PricesFound`."""

    models: tuple[tuple[str, str], ...]
    is_asked: bool = False
    """A person asked: what the program looks up by itself is of use to a window alone."""


class FindCallPrices(FindPrices, frozen=True):
    """As `FindPrices`, of models that calls under a limit go to: they wait until it is done."""


class TellSettled(msgspec.Struct, frozen=True):
    """Report `SettingsSettled` once every change of settings that was asked for before is loaded, or has failed."""

    number: int


class NamedTextStored(msgspec.Struct, frozen=True):
    """A persona or system prompt stands in the project's file, or with `text` None no more. Else as `WriteNamedText`.

    `source` is the file that it stands in where the project's file only names that; `old_text`: what stood there.
    """

    table: TextTable
    name: str
    text: str | None
    old_name: str = ""
    old_text: str = ""
    source: str = ""
    used_by: tuple[str, ...] = ()


class PromptReset(msgspec.Struct, frozen=True):
    """The program deleted the person's own prompt; `text` is its old text."""

    name: str
    text: str


class GuideRead(msgspec.Struct, frozen=True):
    """A page of the guide was read, or there is none of that name."""

    page: GuidePage


class SettingsLoaded(msgspec.Struct, frozen=True):
    """Settings, project, prompts and the providers' readiness were read.

    `prompts` maps a prompt file's name to its text, `prompt_sources` to the file that stands in for the shipped one,
    empty where none does; `settings_paths` are the files whose change calls for another
    reading, those included that do not exist yet; `versions` are for the about page;
    `profiles` is all that is known of models, entries for any model of a provider included; `approved_servers` is what a
    person approved of MCP servers, by name; `refusals`: of models, that are kept from earlier runs.
    """

    settings: Settings
    faults: tuple[SettingsFault, ...]
    project: Project
    providers: Mapping[str, ProviderStatus]
    models: Mapping[str, tuple[ModelProfile, ...]]
    prompts: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    settings_paths: tuple[str, ...] = ()
    versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    profiles: tuple[ModelProfile, ...] = ()
    prompt_sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    approved_servers: Mapping[str, McpApproved] = msgspec.field(default_factory=dict)
    price_source: PriceSource = PriceSource()
    templates: Mapping[str, PromptTemplate] = msgspec.field(default_factory=dict)
    refusals: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)


class SettingsSettled(msgspec.Struct, frozen=True):
    """Settings are as they were asked for up to a change. `number`: of that change."""

    number: int


class ModelsListed(msgspec.Struct, frozen=True):
    """A provider's models: the data files' and the server's own."""

    provider: str
    models: tuple[ModelProfile, ...]


class PricesFound(msgspec.Struct, frozen=True):
    """Prices by provider and model, None where nobody knows one."""

    prices: Mapping[tuple[str, str], ModelPrice | None]


class PricesTaken(msgspec.Struct, frozen=True):
    """Newer price data are on disk. `text`: what was taken."""

    text: str
    command_id: str = ""


class ServersFound(msgspec.Struct, frozen=True):
    """Local servers that answer on their usual ports and are not configured yet."""

    servers: tuple[ServerSettings, ...]


class PresetStored(msgspec.Struct, frozen=True):
    """A preset was written to (or removed from) the project's file."""

    name: str


SettingsCommand = (
    TrustProject
    | OpenProject
    | ChangeSetting
    | ChangeProjectSetting
    | StoreKey
    | SaveServer
    | RemoveServer
    | RefreshModels
    | FindLocalServers
    | ReadGuide
    | PriceModels
    | UpdatePrices
    | SavePrompt
    | ResetPrompt
)
"""Commands that a front end may give this room."""

SettingsEvent = (
    SettingsLoaded
    | SettingsSettled
    | ModelsListed
    | ServersFound
    | PricesFound
    | PricesTaken
    | PromptReset
    | GuideRead
)
"""Events of this room."""

SettingsChange = (
    LoadSettings
    | ChangeSetting
    | ChangeProjectSetting
    | SaveServer
    | RemoveServer
    | WriteTrust
    | WriteServerApproval
    | WriteMcpServer
    | StoreKey
    | WritePreset
    | WriteNamedText
    | SavePrompt
    | ResetPrompt
    | FindCallPrices
)
"""Effects after which a call may be another one."""

AskEffect = RefreshModels | UpdatePrices
"""The workers' that ask servers, one for each that is asked."""

SetupEffect = SettingsChange | TellSettled | KeepPresets | WarmUp | FindPrices | FindLocalServers | ReadGuide
"""The settings worker's, on one thread."""

SettingsEffect = SetupEffect | AskEffect
