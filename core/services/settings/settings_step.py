"""Start-up, settings, project, providers, keys and the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.language import joined, tr
from core.kernel.structures import with_entry
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import (
    Handlers,
    Result,
    carry_out,
    conclude,
    decline,
    dismiss,
    follow_effects,
    notify,
    on,
)
from core.services.settings.asked_values import (
    may_not_write,
    question_id,
    refuse_write,
    show_settings_faults,
    show_trust,
)
from core.services.settings.settings_messages import (
    ChangeProjectSetting,
    ChangeSetting,
    FindLocalServers,
    FindPrices,
    GuideRead,
    LoadSettings,
    ModelsListed,
    OpenProject,
    PriceModels,
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
    SettingsChange,
    SettingsLoaded,
    SettingsSettled,
    StoreKey,
    TellSettled,
    TrustProject,
    UpdatePrices,
    WarmUp,
    WriteTrust,
)


def _settings_settled(state: AppState, happened: SettingsSettled) -> Result:
    settled = max(state.config.settled, happened.number)
    return replace(state, config=replace(state.config, settled=settled)), ()


def _prices_found(state: AppState, happened: PricesFound) -> Result:
    prices = {**state.config.prices, **happened.prices}
    return replace(state, config=replace(state.config, prices=prices)), ()


def _prices_taken(state: AppState, happened: PricesTaken) -> Result:
    state = notify(state, "prices", Level.INFO, happened.text)
    return conclude(state, CommandOutcome(command_id=happened.command_id)), (LoadSettings(),)


def _servers_found(state: AppState, happened: ServersFound) -> Result:
    return replace(state, config=replace(state.config, found_servers=happened.servers)), ()


def _guide_read(state: AppState, happened: GuideRead) -> Result:
    return replace(state, program=replace(state.program, guide=happened.page)), ()


_CHANGES = frozenset(get_args(SettingsChange))


def followed(state: AppState, effects: tuple[object, ...]) -> tuple[AppState, tuple[TellSettled, ...]]:
    """Count the change of settings among these effects, and have it told when it holds: a call waits for it."""
    if _CHANGES.isdisjoint(map(type, effects)):
        return state, ()
    number = state.config.asked + 1
    return replace(state, config=replace(state.config, asked=number)), (TellSettled(number),)


def _refusals(state: AppState, event: SettingsLoaded) -> Mapping[str, frozenset[str]]:
    """Refusals of models in this run, and those kept of earlier ones."""
    known = state.caching.refusals
    kept = {mark: known.get(mark, frozenset()) | names for mark, names in event.refusals.items()}
    return {**known, **kept}


def settings_loaded(state: AppState, event: SettingsLoaded) -> Result:
    """Settings take effect; unsaved work on presets stays in front of what the file says."""
    project = event.project
    if project.root == state.config.project.root:
        unsaved = {
            n: p for n, p in state.config.project.presets.items() if n in state.config.project.unsaved_presets
        }
        project = replace(
            project,
            presets={**project.presets, **unsaved},
            unsaved_presets=project.unsaved_presets | frozenset(unsaved),
        )
    is_same_price = event.price_source.mark == state.config.price_source.mark
    state = replace(
        state,
        config=replace(
            state.config,
            settings=event.settings,
            settings_faults=event.faults,
            project=project,
            providers=event.providers,
            models={**state.config.models, **event.models},
            prompts=event.prompts if event.prompts != state.config.prompts else state.config.prompts,
            prompt_sources=event.prompt_sources,
            templates=event.templates,
            settings_paths=event.settings_paths,
            profiles=event.profiles,
            approved_servers=event.approved_servers,
            price_source=event.price_source,
            prices=state.config.prices if is_same_price else {},
        ),
        program=replace(state.program, versions=event.versions),
        caching=replace(state.caching, refusals=_refusals(state, event)),
    )
    state = show_trust(show_settings_faults(state))
    if event.warnings:
        detail = joined("\n", event.warnings[1:])
        state = notify(state, "settings-warning", Level.WARNING, event.warnings[0], detail, is_standing=True)
    else:
        state = dismiss(state, "settings-warning")
    return state, tuple(RefreshModels(name) for name in _unlisted(state))


def _unlisted(state: AppState) -> tuple[str, ...]:
    """Compatible servers that have not listed their models: only they themselves can say, whatever a person's file adds."""
    return tuple(
        name
        for name, status in state.config.providers.items()
        if status.kind is ProviderKind.COMPATIBLE
        and status.is_ready
        and not any(model.from_server for model in state.config.models.get(name, ()))
    )


def save_prompt(state: AppState, command: SavePrompt) -> Result:
    """Write a prompt of the program as the person's own. One that nothing reads is refused."""
    if problem := _no_prompt(state, command.name):
        return decline(state, command.command_id, "prompt", *problem), ()
    if not command.text.strip():
        detail = tr("Write a text, or restore the text that comes with the program.")
        return decline(
            state,
            command.command_id,
            "prompt",
            tr("The prompt {name!r} would be empty.", name=command.name),
            detail,
        ), ()
    return state, (replace(command, text=clean(command.text)),)


def reset_prompt(state: AppState, command: ResetPrompt) -> Result:
    """Take the person's own prompt away."""
    if problem := _no_prompt(state, command.name):
        return decline(state, command.command_id, "prompt", *problem), ()
    return state, (command,)


def _no_prompt(state: AppState, name: str) -> tuple[str, str] | None:
    if state.program.is_home_read_only:
        return tr("This data folder is read-only: the program cannot save anything."), ""
    if name not in state.config.prompts:
        return tr("The program has no prompt {name!r}.", name=name), tr(
            "Known: {prompts}.", prompts=", ".join(state.config.prompts)
        )
    return None


def prompt_reset(state: AppState, event: PromptReset) -> Result:
    """The person's own prompt is gone; it can be taken back."""
    text = tr("The program deleted your own version of the prompt {name!r}.", name=event.name)
    again = SavePrompt(name=event.name, text=event.text)
    return notify(state, "prompt", Level.INFO, text, action=again, action_label=tr("Undo")), ()


def change_project_setting(state: AppState, command: ChangeProjectSetting) -> Result:
    """Write one key into the project's file, never over what the person was not shown."""
    project = state.config.project
    if not project.root:
        detail = tr("Open the folder that the setting is for.")
        return decline(
            state, command.command_id, "project-setting", tr("You have no project folder open."), detail
        ), ()
    if may_not_write(project, "settings", command.key):
        what = tr("{key!r} is unchanged", key=command.key)
        return refuse_write(state, command.command_id, "project-setting", what), ()
    return state, (replace(command, root=project.root),)


def store_key(state: AppState, command: StoreKey) -> Result:
    """Keep or remove a key."""
    return state, (replace(command, key=command.key.strip()),)


def save_server(state: AppState, command: SaveServer) -> Result:
    """Add or change a compatible server; the address must be http or https."""
    name, address = command.id.strip(), command.base_url.strip()
    if not name or not address.startswith(("http://", "https://")):
        text = tr(
            "Give the provider a name and an http:// or https:// address (not {address!r}).", address=address
        )
        return notify(state, "server", Level.WARNING, text), ()
    found = tuple(s for s in state.config.found_servers if s.base_url != address)
    return replace(state, config=replace(state.config, found_servers=found)), (
        SaveServer(id=name, label=command.label.strip() or name, base_url=address),
    )


def trust(state: AppState, command: TrustProject) -> Result:
    """Let what the person was shown count, or nothing of the project any more. A yes to another question does not count."""
    project = state.config.project
    if not command.is_trusted:
        return dismiss(state, "trust"), (WriteTrust(root=project.root, is_trusted=False),)
    if command.shown != question_id(project.asked):
        text = tr(
            "The requests of {value!r} have changed since you saw them.", value=project.name or project.root
        )
        detail = tr("The program ignores the new requests. Look at the question again, then answer.")
        return decline(state, command.command_id, "trust-changed", text, detail), ()
    state = dismiss(dismiss(state, "trust"), "trust-changed")
    return state, (WriteTrust(root=project.root, is_trusted=True, asked=project.asked),)


def open_project(state: AppState, command: OpenProject) -> Result:
    """Work in another folder."""
    return state, (LoadSettings(command.root),)


def models_listed(state: AppState, event: ModelsListed) -> Result:
    """A provider has told its models: that it could not be reached holds no longer."""
    return replace(
        dismiss(state, f"models/{event.provider}"),
        config=replace(state.config, models=with_entry(state.config.models, event.provider, event.models)),
    ), ()


def price_models(state: AppState) -> Result:
    """Look up the prices that are not known yet."""
    return state, _unpriced(state, is_asked=True)


def price_effects(before: AppState, after: AppState) -> tuple[FindPrices, ...]:
    """Look up all prices once something is cached: who switches the model then is told what that costs."""
    had, has = bool(before.caching.caches), bool(after.caching.caches)
    was, now = before.config, after.config
    is_same = had and was.models is now.models and was.price_source is now.price_source
    return _unpriced(after) if has and not is_same else ()


def _unpriced(state: AppState, *, is_asked: bool = False) -> tuple[FindPrices, ...]:
    offered = ((name, model.id) for name, models in state.config.models.items() for model in models)
    unknown = tuple(key for key in offered if key not in state.config.prices)
    return (FindPrices(unknown, is_asked),) if unknown else ()


def warm_up_effects(before: AppState, after: AppState) -> tuple[WarmUp, ...]:
    """Start the embedded model when a discussion of it is shown: it costs nothing and the first answer comes sooner."""
    provider = _answering(after)
    if provider not in after.config.providers or (provider == _answering(before) and before.config.providers):
        return ()
    is_embedded = after.config.providers[provider].kind is ProviderKind.EMBEDDED
    return (WarmUp(provider),) if is_embedded else ()


def _answering(state: AppState) -> str:
    """The provider of the discussion that is shown and read, empty when there is none."""
    if (
        state.discussions.selected_id not in state.discussions.open
        or state.discussions.selected_id not in state.discussions.summaries
    ):
        return ""
    return state.discussions.summaries[state.discussions.selected_id].meta.provider


HANDLERS = Handlers(
    on(TrustProject, trust),
    on(OpenProject, open_project),
    on(ChangeSetting, carry_out),
    on(ChangeProjectSetting, change_project_setting),
    on(StoreKey, store_key),
    on(SaveServer, save_server),
    on(RemoveServer, carry_out),
    on(RefreshModels, carry_out),
    on(FindLocalServers, carry_out),
    on(ReadGuide, carry_out),
    on(PriceModels, lambda state, _asked: price_models(state)),
    on(UpdatePrices, carry_out),
    on(SavePrompt, save_prompt),
    on(ResetPrompt, reset_prompt),
    on(SettingsLoaded, settings_loaded),
    on(SettingsSettled, _settings_settled),
    on(ModelsListed, models_listed),
    on(PricesFound, _prices_found),
    on(PricesTaken, _prices_taken),
    on(PromptReset, prompt_reset),
    on(ServersFound, _servers_found),
    on(GuideRead, _guide_read),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS_SHOWN = follow_effects("config discussions", warm_up_effects)
FOLLOWS_CACHED = follow_effects("config.models config.price_source caching.caches", price_effects)
