"""`key`: where each provider's key was found, and how one is kept or removed."""

from __future__ import annotations

from core.cli.arguments import Options
from core.cli.confirmation import secret_line
from core.cli.output import Console
from core.cli.session import check_name
from core.cli.tables import table
from core.mcp.secrets import named_keys
from core.providers.key_names import SERVER_KEY, key_variables
from core.providers.keys import MAX_KEY_CHARS, KeyStore
from core.settings.loader import config_request, load


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
            given.provider, secret_line(console, f"Key of {given.provider}", MAX_KEY_CHARS + 2)
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
        console.note(f"manual-slop: warning: {warning}")
