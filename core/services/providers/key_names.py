"""Names of keys and kinds of servers: which environment variables may hold a provider's key, who would share one, what
speaks at an address.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from urllib.parse import urlsplit

from core.kernel.values.provider import ProviderKind

KEY_VARIABLES = MappingProxyType(
    {
        ProviderKind.ANTHROPIC: ("ANTHROPIC_API_KEY",),
        ProviderKind.OPENAI: ("OPENAI_API_KEY",),
        ProviderKind.GEMINI: ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    }
)
"""Each vendor's own variables, first one first.

Source: the vendors' SDK documentation, read 2026-11-20. google-genai prefers GOOGLE_API_KEY where both are set; here
the more exact name wins, since GOOGLE_API_KEY serves other products too.
"""

KEYLESS = frozenset({ProviderKind.EMBEDDED.value, ProviderKind.CLAUDE_CODE.value})
"""Providers that take no key from us: the embedded model, and Claude Code, which has its own log-in."""


OWN_KINDS = (ProviderKind.COMPATIBLE.value, ProviderKind.ANTHROPIC.value)
"""Kinds that a person's own server may be of, what it is where nothing tells first."""

_ANTHROPIC = "anthropic.com"

SERVER_KEY = "retrieval-server"
"""Name under which the password of `[retrieval] server` is kept, beside the providers' keys."""


def kind_of_address(base_url: str) -> str:
    """Kind of a server whose kind nobody wrote: Anthropic's at an address of theirs, else a compatible one's."""
    try:
        host = (urlsplit(base_url).hostname or "").rstrip(".")  # of a whole name, as resolvers write it
    except ValueError:
        host = ""
    is_theirs = host == _ANTHROPIC or host.endswith(f".{_ANTHROPIC}")
    return (ProviderKind.ANTHROPIC if is_theirs else ProviderKind.COMPATIBLE).value


def key_variables(provider: str) -> tuple[str, ...]:
    """The environment variables that may hold a provider's key, first one first."""
    if provider in KEYLESS:
        return ()
    own = next((names for kind, names in KEY_VARIABLES.items() if kind == provider), ())
    return own or ("MANUAL_SLOP_KEY_" + provider.upper().replace("-", "_"),)


def sharers(provider: str, among: Iterable[str]) -> tuple[str, ...]:
    """The other providers that read a variable which this one reads (`my_server` and `my-server`), sorted.

    A key belongs to one exact provider, and such a variable names none: nobody gets what it holds.
    """
    own = frozenset(key_variables(provider))
    return tuple(sorted(one for one in set(among) - {provider} if own.intersection(key_variables(one))))
