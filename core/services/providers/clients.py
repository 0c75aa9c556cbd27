"""The providers' clients: made when first called, made anew when their settings or key change."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from core.kernel import paths
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.values.provider import ModelProfile, ProviderKind, StoredContent
from core.kernel.values.settings import ServerSettings
from core.services.providers.http import plain_address
from core.services.providers.keys import KeyStore
from core.services.providers.profiles import is_local
from core.services.providers.protocol import Provider
from core.services.providers.refused_fields import RefusedFields, read_refusals
from core.services.providers.switches import Refusals, server_address

# Factory of clients: one for each server.


def make_provider(
    server: ServerSettings,
    key: str | None,
    models: Sequence[ModelProfile] = (),
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    cache_dir: Path | None = None,
    embedded_disk_mb: int = 512,
    notes: tuple[str, ...] = (),
) -> Provider:
    """Make the client of a server. Cheap: SDKs are imported at the first call, not here.

    Args:
        key: the provider's key, None where none was found or needed; only the client keeps it.
        models: what is known of models (`core.services.providers.model_data`), for all providers or for this one.
        clock: the program's, with its zone.
        cache_dir: where the embedded model may keep saved prefixes, and servers' refusals are kept; embedded_disk_mb: what they may take.
        notes: command line of our server for a client that runs tools itself; empty for none.

    Raises:
        ValueError: `server.kind` is no member of `ProviderKind` (settings are checked before).
    """
    file = None if cache_dir is None else cache_dir / paths.REFUSED_FIELDS
    refused = RefusedFields(plain_address(server.base_url), file, clock)
    match ProviderKind(server.kind):
        case ProviderKind.ANTHROPIC:
            from core.services.providers.anthropic.client import AnthropicProvider

            return AnthropicProvider(server, key, models)
        case ProviderKind.GEMINI:
            from core.services.providers.gemini.client import GeminiProvider

            return GeminiProvider(server, key, models, clock=clock)
        case ProviderKind.OPENAI:
            from core.services.providers.openai.client import OpenAiProvider

            return OpenAiProvider(server, key, models, refused=refused)
        case ProviderKind.COMPATIBLE:
            from core.services.providers.compatible.client import CompatibleProvider

            return CompatibleProvider(server, key, models, refused=refused)
        case ProviderKind.CLAUDE_CODE:
            from core.services.providers.claude_code.client import ClaudeCodeProvider

            return ClaudeCodeProvider(server, key, models, notes)
        case ProviderKind.EMBEDDED:
            from core.services.providers.embedded.client import EmbeddedProvider

            disk_bytes = embedded_disk_mb * 1024 * 1024
            return EmbeddedProvider(server, models, cache_dir=cache_dir, disk_bytes=disk_bytes)


log = logging.getLogger(__name__)

KEYLESS = frozenset({ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE, ProviderKind.COMPATIBLE})
"""Kinds that can be called without a key of ours."""

RELEASE_S = 10.0
"""Longest that the end of the program waits for what is stored to be deleted."""


@runtime_checkable
class Starts(Protocol):
    """A client with something to start before its first call (the embedded model's process)."""

    def start(self) -> None:
        """Start it in the background. Returns at once."""
        ...


@runtime_checkable
class Forgets(Protocol):
    """A client that can delete what its provider holds for a discussion."""

    def forget(self, discussion_id: str) -> None:
        """Delete it. Raises ProviderError."""
        ...


@runtime_checkable
class Stores(Protocol):
    """A client whose provider stores prefixes by name and bills for them until they are deleted."""

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Names of stored contents that this program knows. Asks no server."""
        ...

    @property
    def absent_names(self) -> frozenset[str]:
        """Names of contents that had expired, at an unknown time, before their deletion. Asks no server."""
        ...

    def adopt(self, discussion_ids: Collection[str]) -> tuple[StoredContent, ...]:
        """Every live one that this program made; those of these discussions are held from now on.

        Raises:
            ProviderError: the list cannot be had.
        """
        ...

    def extend_stored(self, name: str, ttl_s: int) -> StoredContent | None:
        """Extend a stored content to so many seconds from now. None: it has expired. Raises ProviderError."""
        ...

    def delete_stored(self, names: Collection[str]) -> tuple[str, ...]:
        """Delete stored prefixes, and return those that could not be deleted. One that no longer exists counts as deleted."""
        ...


class Clients:
    """Thread-safe. Holds the keys; nobody else keeps them.

    Args:
        cache_dir: where the embedded model may keep saved prefixes.
        clock: the program's, with its zone: what is stored for rent lives and ends by it.
    """

    def __init__(
        self,
        cache_dir: Path | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._cache_dir = cache_dir
        self._clock = clock
        self._lock = threading.Lock()
        self._servers: Mapping[str, ServerSettings] = {}
        self._keys: Mapping[str, str] = {}
        self._models: Sequence[ModelProfile] = ()
        self._notes: tuple[str, ...] = ()
        self._clients: dict[str, Provider] = {}
        self._dropped: list[Provider] = []
        self._is_closed = False
        self._releasing: threading.Thread | None = None
        self._refused: list[str] = []
        self._refusals: dict[str, RefusedFields] = {}
        self.embedded_disk_mb = 512

    def configure(
        self,
        servers: Mapping[str, ServerSettings],
        keys: Mapping[str, str],
        models: Sequence[ModelProfile],
        notes: tuple[str, ...] = (),
    ) -> None:
        """Take new settings. `notes`: as of `make_provider`.

        A client whose server or key changed is made anew at the next call; so is a vendor's when the list of models
        did. Calls that run keep the client they have; it is closed at the end, which also deletes what it stores for
        rent. The embedded model's process is ended only when its own
        server's settings changed: it holds warm prefixes.
        """
        with self._lock:
            is_same_list = tuple(models) == tuple(self._models) and notes == self._notes
            stale = [
                provider
                for provider in self._clients
                if servers.get(provider) != self._servers.get(provider)
                or keys.get(provider) != self._keys.get(provider)
                or not (is_same_list or self._is_embedded(provider))
            ]
            dropped = {provider: self._clients.pop(provider) for provider in stale}
            closing = [client for provider, client in dropped.items() if self._is_embedded(provider)]
            self._dropped += [one for one in dropped.values() if one not in closing]
            self._servers, self._keys, self._models = dict(servers), dict(keys), tuple(models)
            self._notes = notes
        for client in closing:
            client.close()

    def _is_embedded(self, provider: str) -> bool:
        server = self._servers.get(provider)
        return server is not None and server.kind == ProviderKind.EMBEDDED

    def get(self, provider: str) -> Provider:
        """The client of a provider.

        Raises:
            ProviderError: it is not configured, switched off, or has no key; or the program ends.
        """
        with self._lock:
            if self._is_closed:
                raise ProviderError(
                    FailureKind.BAD_REQUEST,
                    tr("The program is closing"),
                    remedy=tr("Start the program again."),
                )
            client = self._clients.get(provider)
            if client is None:
                client = self._clients[provider] = self._make(provider)
            return client

    def refusals(self, provider: str) -> RefusedFields:
        """Parameters that a provider's server has refused, by models, also in earlier runs."""
        with self._lock:
            server = self._servers.get(provider)
            address = server_address(provider, "" if server is None else server.base_url)
            if address not in self._refusals:
                self._refusals[address] = RefusedFields(address, self._refusals_file, self._clock)
            return self._refusals[address]

    @property
    def _refusals_file(self) -> Path | None:
        return None if self._cache_dir is None else self._cache_dir / paths.REFUSED_FIELDS

    def kept_refusals(self) -> Refusals:
        """Refusals of all servers that are kept from earlier runs."""
        return read_refusals(self._refusals_file, self._clock())

    def kind(self, provider: str) -> ProviderKind:
        """Kind of client for a provider; an unknown one is taken for a compatible server."""
        with self._lock:
            server = self._servers.get(provider)
        return ProviderKind(server.kind) if server is not None else ProviderKind.COMPATIBLE

    def is_local(self, provider: str) -> bool:
        """True if a provider's models run on this machine, so that nobody is paid for them."""
        with self._lock:
            server = self._servers.get(provider)
        return server is not None and is_local(ProviderKind(server.kind), server.base_url)

    def label(self, provider: str) -> str:
        """A provider's name as the person knows it; its id where it has none."""
        with self._lock:
            server = self._servers.get(provider)
        return (server.label if server is not None else "") or provider

    def key_id(self, provider: str) -> str:
        """A short name of a provider's key that does not tell it; empty where it has none."""
        with self._lock:
            key = self._keys.get(provider, "")
        return hashlib.sha256(f"manual-slop/{key}".encode()).hexdigest()[:12] if key else ""

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Names of all that is known to be stored for rent. Asks nobody."""
        with self._lock:
            clients = [*self._clients.values(), *self._dropped]
        return tuple(name for client in clients if isinstance(client, Stores) for name in client.stored_names)

    @property
    def absent_names(self) -> frozenset[str]:
        """Names of what was gone already when it was to be deleted, at any provider."""
        with self._lock:
            clients = [*self._clients.values(), *self._dropped]
        names = (client.absent_names for client in clients if isinstance(client, Stores))
        return frozenset[str]().union(*names)

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of what `release` could not delete. Of others that it did not give it is not known what became of them."""
        return tuple(self._refused)

    def release(self) -> tuple[str, ...]:
        """Delete what is billed while it is stored, as far as the network lets it within 10 s.

        Returns:
            Names of what was deleted.
        """
        with self._lock:
            clients = [*self._clients.values(), *self._dropped]
        storing = [client for client in clients if isinstance(client, Stores) and client.stored_names]
        deleted: list[str] = []
        self._releasing = threading.Thread(
            target=_release, args=(storing, deleted, self._refused), name="release", daemon=True
        )
        self._releasing.start()
        self._releasing.join(RELEASE_S)
        if self._releasing.is_alive():
            log.warning(
                "what is stored was not all deleted within %g s: it is billed until it expires", RELEASE_S
            )
        return tuple(deleted)

    def close(self) -> None:
        """Close every client. What is stored for rent stays until it expires, or was released before."""
        with self._lock:
            self._is_closed = True
            closing = [*self._clients.values(), *self._dropped]
            self._clients.clear()
            self._dropped.clear()
        is_busy = self._releasing is not None and self._releasing.is_alive()
        for client in closing:
            if not (is_busy and isinstance(client, Stores)):
                client.close()

    def _make(self, provider: str) -> Provider:
        server = self._servers.get(provider)
        if server is None or not server.is_enabled:
            raise ProviderError(
                FailureKind.NOT_INSTALLED,
                tr("There is no provider {provider!r}", provider=provider),
                remedy=tr("Choose another model, or add the provider in Settings."),
            )
        key = self._keys.get(provider)
        if key is None and ProviderKind(server.kind) not in KEYLESS:
            raise ProviderError(
                FailureKind.NO_KEY,
                tr("{provider} has no key", provider=server.label or provider),
                remedy=tr("Enter a key in Settings, Providers and keys, then press Retry."),
            )
        return make_provider(
            server,
            key,
            self._models,
            clock=self._clock,
            cache_dir=self._cache_dir,
            embedded_disk_mb=self.embedded_disk_mb,
            notes=self._notes,
        )


def clients_for(
    home: Path, provider: str, servers: Mapping[str, ServerSettings], models: Sequence[ModelProfile]
) -> Clients:
    """Clients for a program that calls one provider and ends; the caller closes them.

    Args:
        home: where its key may stand.
    """
    clients = Clients(paths.cache_dir())
    key = KeyStore(home).find(provider, servers).value
    clients.configure(servers, {provider: key} if key else {}, models)
    return clients


def _release(clients: Sequence[Stores], deleted: list[str], refused: list[str]) -> None:
    """Delete what clients store; each name is added to `deleted` or to `refused` as soon as it is known."""
    for client in clients:
        left: list[str] = []
        for name in client.stored_names:
            left += client.delete_stored((name,))
            (refused if name in left else deleted).append(name)
        if left:
            log.warning(
                "%d stored prefixes could not be deleted: they are billed until they expire", len(left)
            )
