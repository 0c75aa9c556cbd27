"""The settings of providers: keys, addresses, compatible servers, models."""

from __future__ import annotations

import re

from core.kernel import figures as fmt
from core.kernel.language import as_sentences, tr
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.settings import ServerSettings
from core.services.settings.settings_messages import (
    ChangeSetting,
    FindLocalServers,
    PriceModels,
    RefreshModels,
    RemoveServer,
    SaveServer,
    StoreKey,
    UpdatePrices,
)
from core.services.settings.settings_rules import starting_model
from core.services.settings.settings_schema import VENDORS
from panels.base.desk import Desk, ask_removal
from panels.base.gauge import model_value, remembered_options, told_price
from panels.base.ui import Option, Tone, Ui
from panels.base.view import model_label
from panels.settings.settings_room import ServerForm, SettingsView

KEY_WORDS = {
    KeySource.NOT_NEEDED: (tr("needs no key"), "ok"),
    KeySource.ENVIRONMENT: (tr("key from the environment"), "ok"),
    KeySource.KEYRING: (tr("key in the system keyring"), "ok"),
    KeySource.FILE: (tr("key in a file only you can read"), "warn"),
    KeySource.MISSING: (tr("no key"), "warn"),
}
SHOWN_MODELS = 100
BESIDE_FROM_PX = 460.0
"""Width of a card from which the words about the key have room beside the name, else below."""
_NO_ID = re.compile(r"[^a-z0-9]+")


def providers_section(desk: Desk) -> None:
    """Draw every provider with its key and address. Sends StoreKey, RefreshModels, ChangeSetting."""
    desk.ui.text("title", tr("Providers and keys"), style="h2")
    desk.ui.text(
        "what",
        tr("Keys go to the system keyring. Without a keyring, they go to a file only you can read. The program never writes keys to settings or logs."),
        tone="muted", wraps=True,
    )  # fmt: skip
    if not desk.state.config.providers:
        desk.ui.text("none", tr("Looking up providers…"), tone="muted")
    for status in desk.state.config.providers.values():
        _provider(desk, status)


def _key_badge(ui: Ui, status: ProviderStatus) -> None:
    words, tone = KEY_WORDS[status.key_source]
    ui.badge("key source", words, tone=_tone(tone))


def _provider(desk: Desk, status: ProviderStatus) -> None:
    ui = desk.ui
    with ui.surface(status.id, "card", padding=(16, 12)):
        is_beside = not 0 < ui.width() < BESIDE_FROM_PX
        with ui.row("head"):
            ui.icon("ready", "circle-check" if status.is_ready else "circle-exclamation",
                    tone="ok" if status.is_ready else "warn")  # fmt: skip
            ui.text("name", status.label or status.id, style="strong")
            if is_beside:
                _key_badge(ui, status)
            ui.push()
            _test_row(desk, status)
        if not is_beside:
            with ui.row("key state"):
                _key_badge(ui, status)
        if status.problem and not status.remedy:  # a missing key is said by the badge, its field is below
            ui.text("problem", status.problem, tone="warn", style="small", wraps=True)
        if status.key_source is not KeySource.NOT_NEEDED or status.kind is ProviderKind.COMPATIBLE:
            _key_row(desk, status)
        if status.kind not in {ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE, ProviderKind.COMPATIBLE}:
            _address_row(desk, status)


def _test_row(desk: Desk, status: ProviderStatus) -> None:
    """Number of its models, and the button that asks it for them. Sends RefreshModels."""
    ui = desk.ui
    words, tone = _tested(desk, status, len(desk.state.config.models.get(status.id, ())))
    ui.text("models", words, tone=tone, style="small")
    tip = tr("Ask {value} for its models", value=status.label or status.id)
    if ui.button("test", tr("Test"), icon="plug", is_small=True, tip=tip):
        desk.view.of(SettingsView).tested.add(status.id)
        desk.send(RefreshModels(status.id))


def _tested(desk: Desk, status: ProviderStatus, count: int) -> tuple[str, Tone]:
    """Number of its models; where it was asked for them here, what came of that."""
    models = fmt.count(count, tr("model"), tr("models"))
    if status.id not in desk.view.of(SettingsView).tested:
        return models, "muted"
    asking = desk.state.program.workers.get("models")
    if asking is not None and asking.status == "busy":
        return tr("Asking…"), "muted"
    if status.problem or not status.is_ready:
        return tr("Does not answer") if status.is_ready else tr("Not ready"), "warn"
    return tr("Works, {models}", models=models), "ok"


def _tone(name: str) -> Tone:
    return "ok" if name == "ok" else "warn"


def _key_row(desk: Desk, status: ProviderStatus) -> None:
    ui, own = desk.ui, desk.view.of(SettingsView)
    label = status.label or status.id
    with ui.row("key"):
        typed = ui.text_input("key", own.key_texts.get(status.id, ""), hint=tr("{label} API key", label=label), icon="key",
                              is_secret=True, width=0)  # fmt: skip
        if typed is not None:
            own.key_texts[status.id] = typed
        key = own.key_texts.get(status.id, "").strip()
        is_entered = ui.is_focused("key") and ui.shortcut("Enter", while_typing=True)
        is_pressed = ui.button(
            "store",
            tr("Save key"),
            is_small=True,
            is_enabled=bool(key),
            tip=tr("Save the key of {label}", label=label),
        )
        if is_pressed or (is_entered and key):
            desk.send(StoreKey(status.id, key))
            own.key_texts.pop(status.id, None)
        can_remove = status.key_source in {KeySource.KEYRING, KeySource.FILE}
        if ui.button("remove", tr("Remove"), kind="ghost", is_small=True, is_enabled=can_remove,
                     tip=tr("Remove the stored key of {label}", label=label)):  # fmt: skip
            desk.send(StoreKey(status.id, ""))


def _address_row(desk: Desk, status: ProviderStatus) -> None:
    ui = desk.ui
    server = desk.state.config.settings.servers.get(status.id)
    now = server.base_url if server else ""
    hint = status.base_url or tr("Address: the provider's own")
    typed = ui.text_input("address", now, hint=hint, icon="link", submits=True)
    if typed is not None and typed.strip() != now:
        desk.send(ChangeSetting(f"providers.{status.id}.base_url", typed.strip() or None))


def servers_section(desk: Desk) -> None:
    """Draw the OpenAI-compatible servers. Sends SaveServer, RemoveServer, FindLocalServers."""
    ui, own = desk.ui, desk.view.of(SettingsView)
    ui.text("title", tr("Compatible servers"), style="h2")
    ui.text("what", tr("Ollama, vLLM, llama.cpp, LM Studio, OpenRouter: any server that speaks OpenAI's Chat Completions."),
            tone="muted", wraps=True)  # fmt: skip
    with ui.row("buttons"):
        if ui.button("find", tr("Find local servers"), icon="magnifying-glass"):
            desk.send(FindLocalServers())
        if ui.button("add", tr("Add server"), icon="plus", kind="primary"):
            own.server_form = ServerForm()
    servers = [s for s in desk.state.config.settings.servers.values() if s.id not in VENDORS]
    if not servers and own.server_form is None:
        ui.text("none", tr("None yet."), tone="muted")
    for server in servers:
        _server(desk, server)
    if own.server_form is not None:
        _server_form(desk, own.server_form, {server.id for server in servers})


def _server(desk: Desk, server: ServerSettings) -> None:
    ui = desk.ui
    with ui.surface(("server", server.id), "card", padding=(16, 12)), ui.row("line"):
        ui.icon("icon", "server")
        ui.text("name", server.label or server.id, style="strong")
        ui.text("address", server.base_url, tone="muted", style="small", width=0, tip=server.base_url)
        label = server.label or server.id
        if (status := desk.state.config.providers.get(server.id)) is not None:
            _test_row(desk, status)
        if ui.button(
            "edit", "", icon="pen", kind="ghost", tip=tr("Change {label}", label=label), is_small=True
        ):
            desk.view.of(SettingsView).server_form = ServerForm(
                id=server.id, label=server.label, base_url=server.base_url
            )
        if ui.button(
            "remove", "", icon="trash-can", kind="ghost", tip=tr("Remove {label}", label=label), is_small=True
        ):
            ask_removal(
                desk,
                label,
                tr("This removes the provider at {base_url} from your settings.", base_url=server.base_url),
                RemoveServer(server.id),
            )


def _server_form(desk: Desk, form: ServerForm, taken: set[str]) -> None:
    ui = desk.ui
    with ui.surface("form", "inset", padding=(16, 12)):
        label = ui.text_input(
            "label", form.label, hint=tr("Name, for example My Ollama"), is_focused=not form.label
        )
        form.label = form.label if label is None else label
        address = ui.text_input(
            "address", form.base_url, hint=tr("Address, for example http://127.0.0.1:11434/v1")
        )
        form.base_url = form.base_url if address is None else address
        if form.error:
            ui.text("error", form.error, tone="error", style="small", wraps=True)
        with ui.row("buttons"):
            if ui.button("save", tr("Save server"), kind="primary", is_small=True):
                _save_server(desk, form, taken)
            if ui.button("cancel", tr("Cancel"), is_small=True):
                desk.view.of(SettingsView).server_form = None


def _save_server(desk: Desk, form: ServerForm, taken: set[str]) -> None:
    label, address = form.label.strip(), form.base_url.strip()
    server_id = form.id or _NO_ID.sub("-", label.casefold()).strip("-")
    if not server_id:
        form.error = tr("Use a name with letters or digits")
    elif not form.id and (server_id in taken or server_id in desk.state.config.providers):
        form.error = tr("A provider named {server_id!r} already exists", server_id=server_id)
    elif not re.match(r"https?://[^\s/]+", address):
        form.error = tr("{address!r} is not an address: begin with http:// or https://", address=address)
    else:
        desk.send(SaveServer(id=server_id, label=label, base_url=address))
        desk.view.of(SettingsView).tested.add(server_id)  # the program asks a saved server for its models
        desk.view.of(SettingsView).server_form = None


def models_section(desk: Desk) -> None:
    """Draw what new discussions start with, and each provider's models. Sends ChangeSetting, RefreshModels, PriceModels,
    UpdatePrices.
    """
    ui, ai = desk.ui, desk.state.config.settings.ai
    options = remembered_options(desk.state, desk.view.memo)
    ui.text("title", tr("Models"), style="h2")
    with ui.row("default"):
        ui.text("label", tr("New discussions use"), width=180)
        now = model_value(ai.provider, ai.model) if ai.provider or ai.model else ""
        known = any(option.value == now for option in options) or not now
        named = () if known else (Option(value=now, label=ai.model or ai.provider),)
        shown = (Option(value="", label=tr("The model that you used last")), *named, *options)
        chosen = ui.combo("model", shown, now, width=280, tip=tr("Model of new discussions"))
    first = starting_model(desk.state)
    label = model_label(desk.state, first.provider, first.model)
    why = (
        ""
        if ai.provider or ai.model
        else tr("When you use another model, the next discussion begins with that one.")
    )
    ui.text(
        "first",
        as_sentences(tr("A new discussion now uses {model}.", model=label), why),
        tone="muted",
        style="small",
        wraps=True,
    )
    if chosen is not None:
        provider, _, model = chosen.partition("\n")
        desk.send(ChangeSetting("ai_settings.provider", provider or None))
        desk.send(ChangeSetting("ai_settings.model", model or None))
    _prices(desk)
    for status in desk.state.config.providers.values():
        with ui.surface(("provider", status.id), "card", padding=(16, 12)), ui.group("lines", gap=6):
            _provider_models(desk, status)


def _prices(desk: Desk) -> None:
    """Say where prices are from, and take newer ones on a click. Sends PriceModels, UpdatePrices."""
    ui, config, own = desk.ui, desk.state.config, desk.view.of(SettingsView)
    if own.priced != (now := (config.models, config.price_source)):
        own.priced = now
        desk.send(PriceModels())
    source = config.price_source
    with ui.row("prices"):
        yours = (
            tr(
                "Your models.toml beside config.toml has prices of {models}.",
                models=fmt.count(source.own, tr("model"), tr("models")),
            )
            if source.own
            else tr("You can give your own prices in models.toml beside your config.toml.")
        )
        used = tr("Prices per million tokens: {name} of {day}.", name=source.name, day=source.as_of)
        text = as_sentences(used, yours) if source.name else tr("Reading prices")
        ui.text("source", text, tone="muted", style="small", wraps=True, width=0)
        tip = tr("Download newer prices and use them from now on")
        if ui.button(
            "update", tr("Update prices"), icon="arrows-rotate", kind="ghost", is_small=True, tip=tip
        ):
            desk.send(UpdatePrices())


def _provider_models(desk: Desk, status: ProviderStatus) -> None:
    ui, models = desk.ui, desk.state.config.models.get(status.id, ())
    with ui.row("head"):
        ui.text("name", status.label or status.id, style="strong")
        ui.text("count", fmt.count(len(models), tr("model"), tr("models")), tone="muted", style="small")
        ui.push()
        if ui.button("refresh", tr("Refresh"), icon="arrows-rotate", kind="ghost", is_small=True,
                     tip=tr("Refresh the models of {value}", value=status.label or status.id)):  # fmt: skip
            desk.send(RefreshModels(status.id))
    for known in models[:SHOWN_MODELS]:
        with ui.row(("model", known.id)):
            ui.text("name", known.label or known.id, width=0, tip=known.id)
            window = (
                tr("context window unknown")
                if known.context_tokens is None
                else tr("{context_tokens} window", context_tokens=fmt.tokens(known.context_tokens))
            )
            images = " · images" if known.takes_images else ""
            key = status.id, known.id
            prices = desk.state.config.prices
            price = told_price(prices.get(key), is_known=key in prices)
            ui.text("facts", f"{window}{images} · {price}", tone="muted", style="small")
    if len(models) > SHOWN_MODELS:
        ui.text(
            "rest",
            tr("and {models:,} more of the models", models=len(models) - SHOWN_MODELS),
            tone="faint",
            style="small",
        )
