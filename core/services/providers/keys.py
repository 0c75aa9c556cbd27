"""Keys of providers: found in the environment, the system's keyring or a file of mode 0600; never shown, never logged."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from core.kernel.child_process import find_program
from core.kernel.disk import make_dirs, reported, sync_dir, write_file
from core.kernel.errors import ConfigError, StorageError
from core.kernel.language import all_of, tr
from core.kernel.opener import open_descriptor
from core.kernel.paths import key_file, keys_dir
from core.kernel.values.provider import KeySource
from core.services.providers.key_names import KEYLESS, key_variables, sharers

SERVICE = "manual-slop"
"""The name under which keys stand in the keyring; the user name is the provider's id."""

KEYRING_TIMEOUT_S = 3.0
"""A locked keyring asks the person for its password and answers when they do; nobody waits longer than this."""
OPENING_TIMEOUT_S = 15.0
"""Wait for the keyring's library, which is loaded at the first question: slow on a busy machine, and no fault of a keyring."""

MAX_KEY_CHARS = 4096


class FoundKey(msgspec.Struct, frozen=True):
    """A key and where it was found.

    Args:
        value: the key, empty where there is none; where: the variable, the keyring or the file, for a person.
        warning: what the person should know (the keyring does not answer, a file that others could read).
        conflict: why a variable that is set does not count: another provider reads it as well.
    """

    value: str
    source: KeySource
    where: str = ""
    warning: str = ""
    conflict: str = ""

    def __repr__(self) -> str:
        return f"FoundKey(value=<hidden>, source={self.source.value!r}, where={self.where!r})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("where", self.where)]


class Keyring(Protocol):
    """Backend of a keyring, as far as we need it."""

    def get_password(self, service: str, username: str) -> str | None: ...  # noqa: D102
    def set_password(self, service: str, username: str, password: str) -> None: ...  # noqa: D102
    def delete_password(self, service: str, username: str) -> None: ...  # noqa: D102


class _Answer(msgspec.Struct, frozen=True):
    """Answer of the keyring. `problem` is empty where it answered; `was_asked` where there is one that was reached."""

    value: str | None = None
    problem: str = ""
    was_asked: bool = True


_SHARED = tr(
    "The variable {name} fits {providers}, so none of them gets its key. Store each key by its exact name instead (`manual-slop key NAME`)."
)
_SILENT = tr("The system keyring does not answer; unlock the keyring and try again.")


class KeyStore:
    """Finds, stores and removes keys.

    Args:
        home: the person's data; environ: environment variables.
        open_keyring: gives the keyring, or None where the machine has none; may block and may raise anything.
        timeout_s: longest wait for one answer of the keyring; opening_timeout_s: for it to open before the first.
    """

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str] | None = None,
        *,
        open_keyring: Callable[[], Keyring | None] | None = None,
        timeout_s: float = KEYRING_TIMEOUT_S,
        opening_timeout_s: float = OPENING_TIMEOUT_S,
    ) -> None:
        self._home = home
        self._environ = os.environ if environ is None else environ
        self._open = open_keyring or system_keyring
        self._timeout_s = timeout_s
        self._opening_timeout_s = opening_timeout_s
        self._stuck: _Answer | None = None

    def find(self, provider: str, among: Collection[str]) -> FoundKey:
        """Look for a provider's key: environment, keyring, file.

        Args:
            among: ids of all providers that there are: a variable that two of them read holds the key of neither.

        May take `timeout_s` where a keyring is locked; afterwards it is passed over until `retry_keyring`. Never
        raises: what is wrong is in `warning`, a keyring only where it was asked and failed.
        """
        if provider in KEYLESS:
            return FoundKey(value="", source=KeySource.NOT_NEEDED)
        shared = sharers(provider, among)
        conflict = ""
        for name in key_variables(provider):
            if value := self._environ.get(name, "").strip():
                if not shared:
                    return FoundKey(value=value, source=KeySource.ENVIRONMENT, where=name)
                conflict = _SHARED.format(name=name, providers=all_of(sorted((provider, *shared))))
        return replace(self._find_stored(provider), conflict=conflict)

    def _find_stored(self, provider: str) -> FoundKey:
        """Look in the keyring and in the file."""
        answer = self._ask(lambda ring: ring.get_password(SERVICE, provider))
        if answer.value:
            return FoundKey(value=answer.value, source=KeySource.KEYRING, where=tr("the system keyring"))
        found = self._find_in_file(provider)
        if found.source is KeySource.FILE or not answer.problem or not answer.was_asked:
            return found
        return FoundKey(value="", source=KeySource.MISSING, warning=answer.problem)

    def store(self, provider: str, key: str) -> str:
        """Keep a key in the keyring, or in a file where there is none.

        Returns:
            Where it went, as a sentence for the person.

        Raises:
            ConfigError: a provider without a key, or a text that cannot be one (never repeated in the message).
            StorageError: neither place could be written.
        """
        key = key.strip()
        _check(provider, key)
        self.retry_keyring()

        def put(ring: Keyring) -> str:
            ring.set_password(SERVICE, provider, key)
            return "stored" if ring.get_password(SERVICE, provider) == key else ""

        answer = self._ask(put)
        shadow = self._shadow(provider)
        if answer.value:
            self._remove_file(provider)
            return tr(
                "The key is in the system keyring, as {SERVICE!r} {provider!r}.{shadow}",
                SERVICE=SERVICE,
                provider=provider,
                shadow=shadow,
            )
        self._write_file(provider, key)
        why = answer.problem or tr("This machine has no keyring.")
        return tr(
            "{why} The key is in the file {file}; only you can read this file.{warning}",
            why=why,
            file=key_file(self._home, provider),
            warning=shadow,
        )

    def delete(self, provider: str) -> str:
        """Remove a key from the keyring and the file. Returns what happened, as a sentence.

        Raises:
            StorageError: the file could not be removed.
        """
        self.retry_keyring()

        def drop(ring: Keyring) -> str:
            if ring.get_password(SERVICE, provider) is None:
                return ""
            ring.delete_password(SERVICE, provider)
            return "removed"

        answer = self._ask(drop)
        was_in_file = self._remove_file(provider)
        places = [
            name for name, was in ((tr("the keyring"), answer.value), (tr("the file"), was_in_file)) if was
        ]
        said = (
            tr("The program removed the key from {places}.", places=all_of(places))
            if places
            else tr("There was no stored key.")
        )
        return " ".join(part for part in (said, answer.problem, self._shadow(provider).strip()) if part)

    def retry_keyring(self) -> None:
        """Ask the keyring again after it did not answer."""
        self._stuck = None

    def keyring_name(self) -> tuple[str, str]:
        """The keyring's backend and what is wrong with it, for `doctor`. Both empty where there is none."""
        answer = self._ask(lambda ring: f"{type(ring).__module__}.{type(ring).__qualname__}")
        return answer.value or "", answer.problem

    def _shadow(self, provider: str) -> str:
        name = next((name for name in key_variables(provider) if self._environ.get(name, "").strip()), "")
        return tr(" The variable {name} is set and takes precedence.", name=name) if name else ""

    def _ask(self, question: Callable[[Keyring], str | None]) -> _Answer:
        """Put a question to the keyring on a thread of its own, which is left behind when it does not answer."""
        if self._stuck is not None:
            return self._stuck
        answers: list[_Answer] = []
        is_open = threading.Event()

        def work() -> None:
            try:
                ring = self._open()
                if ring is None:
                    answers.append(_Answer(was_asked=False))
                    return
                is_open.set()
                answers.append(_Answer(value=question(ring)))
            except Exception as error:  # noqa: BLE001 (backends raise what they like; a key may stand in the text)
                said = tr("The system keyring failed ({name}).", name=type(error).__name__)
                answers.append(_Answer(problem=said, was_asked=is_open.is_set()))
            finally:
                is_open.set()

        thread = threading.Thread(target=work, name="keyring", daemon=True)
        thread.start()
        was_reached = is_open.wait(self._opening_timeout_s)
        if was_reached:
            thread.join(self._timeout_s)
        if thread.is_alive():
            self._stuck = _Answer(problem=_SILENT, was_asked=was_reached)
            return self._stuck
        return answers[0]

    def _find_in_file(self, provider: str) -> FoundKey:
        path = key_file(self._home, provider)
        try:
            value, warning = _read_private(path)
        except FileNotFoundError:
            return FoundKey(value="", source=KeySource.MISSING)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else tr("not text")
            return FoundKey(
                value="",
                source=KeySource.MISSING,
                warning=tr(
                    "The program cannot use the key file ({reason}): {path}", reason=reason, path=path
                ),
            )
        if not value:
            return FoundKey(value="", source=KeySource.MISSING)
        if not _is_key(value):
            return FoundKey(
                value="", source=KeySource.MISSING, warning=tr("The key file holds no key: {path}", path=path)
            )
        return FoundKey(value=value, source=KeySource.FILE, where=str(path), warning=warning)

    def _write_file(self, provider: str, key: str) -> None:
        folder = keys_dir(self._home)
        make_dirs(folder)
        with reported("protect", folder):
            folder.chmod(0o700)
        path = key_file(self._home, provider)
        if path.is_symlink():
            raise StorageError(
                tr("The key file is a link"), remedy=tr("Remove the link and try again"), where=str(path)
            )
        write_file(path, f"{key}\n".encode(), mode=0o600)

    def _remove_file(self, provider: str) -> bool:
        path = key_file(self._home, provider)
        with reported("remove", path):
            try:
                path.unlink()
            except (FileNotFoundError, NotADirectoryError):
                return False
            sync_dir(path.parent)
        return True


def may_have_keyring(environ: Mapping[str, str]) -> bool:
    """False on Linux where no session bus can be reached, over which every keyring there speaks, and none was named.

    Asking the library for one loads its cryptography: 12 MB for a no.
    """
    if sys.platform != "linux" or {"DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND"} & environ.keys():
        return True
    runtime, config = environ.get("XDG_RUNTIME_DIR", ""), environ.get("XDG_CONFIG_HOME", "")
    config_dir = Path(config) if config else Path.home() / ".config"
    if (runtime and Path(runtime, "bus").exists()) or (config_dir / "python_keyring/keyringrc.cfg").exists():
        return True
    if environ.get("DISPLAY") and find_program("dbus-launch") is not None:
        return True  # a bus begins with the first question
    return _has_other_backend()


@cache
def _has_other_backend() -> bool:
    """True if another package brings a keyring of its own. Reads a file of each package: once a process."""
    from importlib.metadata import entry_points

    return any(not one.value.startswith("keyring.") for one in entry_points(group="keyring.backends"))


def system_keyring() -> Keyring | None:
    """The system's keyring, or None where the machine has none (no backend, or one that keeps nothing)."""
    if not may_have_keyring(os.environ):
        return None
    import keyring
    from keyring.backends import fail, null
    from keyring.backends.chainer import ChainerBackend

    ring = keyring.get_keyring()
    if isinstance(ring, fail.Keyring | null.Keyring):
        return None
    if isinstance(ring, ChainerBackend) and not list(ring.backends):
        return None
    return ring


def _check(provider: str, key: str) -> None:
    if provider in KEYLESS:
        raise ConfigError(tr("{provider} needs no key", provider=provider))
    if not key:
        raise ConfigError(tr("The key is empty"), remedy=tr("Paste the key again"))
    if not _is_key(key):
        raise ConfigError(
            tr("This is not a key: the text is too long or has invalid characters"),
            remedy=tr("Copy the key again from the provider's page"),
        )


def _is_key(text: str) -> bool:
    return len(text) <= MAX_KEY_CHARS and text.isascii() and text.isprintable() and " " not in text


def _read_private(path: Path) -> tuple[str, str]:
    """A key's file, its mode repaired where others could read it. Raises OSError, UnicodeDecodeError."""
    handle = open_descriptor(path, os.O_RDONLY, follows_links=False)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        warning = ""
        if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(handle, 0o600)
            warning = tr(
                "Others could read the key in {path}; its mode is 0600 now. Make a new key if others use this machine.",
                path=path,
            )
        return file.read(MAX_KEY_CHARS + 1).decode("ascii").strip(), warning
