"""Keys: where they are looked for, where they go, and that they never show."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from keyring.errors import KeyringError
from rich.pretty import pretty_repr

from core.front.hooks.client import Address
from core.kernel.errors import ConfigError, StorageError
from core.kernel.paths import key_file
from core.kernel.values.provider import KeySource
from core.services.providers.embedded.server import Endpoint
from core.services.providers.key_names import key_variables, sharers
from core.services.providers.keys import FoundKey, Keyring, KeyStore, may_have_keyring, system_keyring
from core.services.settings.settings_messages import StoreKey
from tests.patience import PATIENCE_S

SECRET = "sk-ant-0123456789"


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Broken(Ring):
    """A keyring that fails, with the key in its message, as some do."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringError(f"no access to {SECRET}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringError(f"no access to {password}")


class Silent(Ring):
    """A keyring that keeps nothing and says nothing of it."""

    def set_password(self, service: str, username: str, password: str) -> None:
        pass


@pytest.fixture
def locked() -> Iterator[tuple[Keyring, threading.Event]]:
    """Give a keyring that waits for the person, and the event that unlocks it."""
    opened = threading.Event()

    class Locked(Ring):
        asked = 0

        def get_password(self, service: str, username: str) -> str | None:
            type(self).asked += 1
            opened.wait(PATIENCE_S)
            return super().get_password(service, username)

    yield Locked(), opened
    opened.set()


def _store(home: Path, ring: Keyring | None = None, timeout_s: float = 5.0, **environ: str) -> KeyStore:
    return KeyStore(home, environ, open_keyring=lambda: ring, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("provider", "names"),
    [
        ("anthropic", ("ANTHROPIC_API_KEY",)),
        ("openai", ("OPENAI_API_KEY",)),
        ("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        ("my-box", ("MANUAL_SLOP_KEY_MY_BOX",)),
        ("embedded", ()),
        ("claude_code", ()),
    ],
)
def test_each_provider_has_its_variables(provider: str, names: tuple[str, ...]) -> None:
    assert key_variables(provider) == names


def test_environment_goes_before_keyring_before_file(tmp_path: Path) -> None:
    ring = Ring()
    _store(tmp_path).store("openai", "from-file")
    assert _store(tmp_path, ring).find("openai", ()).source is KeySource.FILE
    ring.set_password("manual-slop", "openai", "from-ring")
    assert _store(tmp_path, ring).find("openai", ()) == FoundKey(
        "from-ring", KeySource.KEYRING, "the system keyring"
    )
    found = _store(tmp_path, ring, OPENAI_API_KEY=" from-env\n").find("openai", ())

    assert (found.value, found.source, found.where) == ("from-env", KeySource.ENVIRONMENT, "OPENAI_API_KEY")


def test_an_empty_variable_is_none(tmp_path: Path) -> None:
    found = _store(tmp_path, GEMINI_API_KEY=" ", GOOGLE_API_KEY="g").find("gemini", ())

    assert (found.value, found.where) == ("g", "GOOGLE_API_KEY")


def test_no_key_anywhere_is_missing_and_no_failure(tmp_path: Path) -> None:
    assert _store(tmp_path, Ring()).find("openai", ()) == FoundKey("", KeySource.MISSING)
    assert _store(tmp_path, Ring()).find("embedded", ()).source is KeySource.NOT_NEEDED
    assert list(tmp_path.iterdir()) == []


def test_a_key_goes_into_the_keyring_and_leaves_no_file(tmp_path: Path) -> None:
    _store(tmp_path).store("openai", "old")
    ring = Ring()
    said = _store(tmp_path, ring).store("openai", f" {SECRET}\n")

    assert ring.kept == {("manual-slop", "openai"): SECRET}
    assert not key_file(tmp_path, "openai").exists()
    assert said == "The key is in the system keyring, as 'manual-slop' 'openai'."


@pytest.mark.parametrize("ring", [None, Silent(), Broken()])
def test_without_a_working_keyring_a_key_goes_into_a_private_file_that_is_named(
    tmp_path: Path, ring: Keyring | None
) -> None:
    store = _store(tmp_path, ring)
    said = store.store("openai", SECRET)
    path = key_file(tmp_path, "openai")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert str(path) in said
    assert SECRET not in said
    found = store.find("openai", ())
    assert (found.value, found.source) == (SECRET, KeySource.FILE)


def test_a_file_that_others_can_read_is_repaired_and_said(tmp_path: Path) -> None:
    _store(tmp_path).store("openai", SECRET)
    path = key_file(tmp_path, "openai")
    path.chmod(0o644)
    found = _store(tmp_path).find("openai", ())

    assert found.value == SECRET
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "Others could read the key" in found.warning
    assert _store(tmp_path).find("openai", ()).warning == ""


def test_a_link_or_a_pipe_in_place_of_the_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "elsewhere").write_text(SECRET)
    (tmp_path / "keys" / "openai").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "keys" / "gemini")
    (tmp_path / "keys" / "box").mkdir()

    for provider in ("openai", "gemini", "box"):
        assert _store(tmp_path).find(provider, ()).source is KeySource.MISSING
    with pytest.raises(StorageError, match="is a link"):
        _store(tmp_path).store("openai", "new")
    assert (tmp_path / "elsewhere").read_text() == SECRET


def test_a_locked_keyring_is_waited_for_once_and_not_for_every_provider(
    tmp_path: Path, locked: tuple[Keyring, threading.Event]
) -> None:
    ring, opened = locked
    store = _store(tmp_path, ring, timeout_s=0.05)
    found = [store.find(name, ()) for name in ("openai", "anthropic", "gemini", "box")]

    assert ring.asked == 1  # type: ignore[attr-defined]
    assert {key.source for key in found} == {KeySource.MISSING}
    assert all("does not answer" in key.warning for key in found)
    opened.set()
    ring.set_password("manual-slop", "openai", SECRET)
    store.retry_keyring()
    patient = _store(tmp_path, ring)
    assert patient.find("openai", ()).source is KeySource.KEYRING


def test_a_key_stored_beside_a_locked_keyring_is_found_in_its_file(
    tmp_path: Path, locked: tuple[Keyring, threading.Event]
) -> None:
    store = _store(tmp_path, locked[0], timeout_s=0.05)
    said = store.store("openai", SECRET)

    assert said.startswith(
        "The system keyring does not answer; unlock the keyring and try again. The key is in"
    )
    assert store.find("openai", ()).source is KeySource.FILE


def test_a_keyring_that_fails_is_said_without_its_words(tmp_path: Path) -> None:
    found = _store(tmp_path, Broken()).find("openai", ())

    assert found.warning == "The system keyring failed (KeyringError)."


@pytest.mark.parametrize("fault", [ImportError("no dbus"), RuntimeError("no backend works")])
def test_a_keyring_that_cannot_be_opened_was_not_asked_and_is_not_told_of(
    tmp_path: Path, fault: Exception
) -> None:
    def broken() -> Keyring:
        raise fault

    store = KeyStore(tmp_path, {}, open_keyring=broken)

    assert store.find("openai", ()) == FoundKey("", KeySource.MISSING)
    assert store.keyring_name()[1] == f"The system keyring failed ({type(fault).__name__})."


def test_a_keyring_whose_library_does_not_load_in_time_is_not_told_of_either(tmp_path: Path) -> None:
    loaded = threading.Event()

    def slow() -> Keyring:
        loaded.wait(PATIENCE_S)
        return Ring()

    store = KeyStore(tmp_path, {}, open_keyring=slow, opening_timeout_s=0.05)

    assert store.find("openai", ()) == store.find("gemini", ()) == FoundKey("", KeySource.MISSING)
    loaded.set()


def test_a_variable_that_hides_a_stored_key_is_said(tmp_path: Path) -> None:
    said = _store(tmp_path, Ring(), OPENAI_API_KEY="x").store("openai", SECRET)

    assert said.endswith("The variable OPENAI_API_KEY is set and takes precedence.")


def test_deleting_removes_it_everywhere(tmp_path: Path) -> None:
    ring = Ring()
    _store(tmp_path).store("openai", SECRET)
    ring.set_password("manual-slop", "openai", SECRET)
    store = _store(tmp_path, ring)

    assert store.delete("openai") == "The program removed the key from the keyring and the file."
    assert store.find("openai", ()).source is KeySource.MISSING
    assert store.delete("openai") == "There was no stored key."


@pytest.mark.parametrize(
    "key", ["", "  ", "two words", "line\nend", "k\u00e9y", "x" * 5000, "tab\tbed", "nul\0"]
)
def test_what_cannot_be_a_key_is_refused_without_being_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _store(tmp_path, Ring()).store("openai", key)
    if key.strip():
        assert key not in str(caught.value)


@pytest.mark.parametrize("provider", ["embedded", "claude_code"])
def test_a_provider_without_keys_takes_none(tmp_path: Path, provider: str) -> None:
    with pytest.raises(ConfigError, match="needs no key"):
        _store(tmp_path).store(provider, SECRET)


def test_a_provider_cannot_lead_out_of_the_folder_of_keys(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        _store(tmp_path).store("../evil", SECRET)
    assert not (tmp_path / "evil").exists()


def test_a_key_never_shows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store = _store(tmp_path, Broken(), ANTHROPIC_API_KEY=SECRET)
    found = store.find("anthropic", ())
    said = store.store("openai", SECRET)

    assert found.value == SECRET
    for text in (repr(found), str(found), f"{found}", repr(store), said, store.delete("openai"), caplog.text):
        assert SECRET not in text


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file in its place")
    with pytest.raises(StorageError):
        _store(tmp_path).store("openai", SECRET)


def test_the_backend_is_named_for_doctor(tmp_path: Path) -> None:
    assert _store(tmp_path, Ring()).keyring_name()[0].endswith("Ring")
    assert _store(tmp_path, None).keyring_name() == ("", "")
    assert "Failing" in _failing(tmp_path).keyring_name()[1]


def _failing(home: Path) -> KeyStore:
    class FailingError(Exception):
        pass

    def fail() -> Keyring:
        raise FailingError

    return KeyStore(home, {}, open_keyring=fail)


@pytest.mark.parametrize("backend", ["keyring.backends.null.Keyring", "keyring.backends.fail.Keyring"])
def test_a_backend_that_keeps_nothing_is_no_keyring(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring

    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", backend)
    keyring.core.init_backend()

    assert system_keyring() is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one without a bus")
def test_a_machine_without_a_session_bus_loads_no_keyring(tmp_path: Path) -> None:
    """Nor what it stands on: 12 MB for a no."""
    places = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    program = (
        "import sys\nfrom core.services.providers.keys import system_keyring\n"
        "print(system_keyring(), sorted({'keyring', 'cryptography', 'secretstorage'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": str(tmp_path), **places},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "None []\n"
    assert not may_have_keyring(places)


@pytest.mark.parametrize("named", ["DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND"])
def test_a_bus_or_a_backend_that_is_named_is_asked(named: str) -> None:
    assert may_have_keyring({named: "unix:path=/run/user/1000/bus"})


@pytest.mark.parametrize("name", ["bus", "python_keyring/keyringrc.cfg"])
def test_a_bus_or_a_choice_of_keyring_that_is_found_is_asked(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()

    assert may_have_keyring({"XDG_CONFIG_HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)})


def test_no_value_that_holds_a_secret_shows_it_to_a_printer_of_values() -> None:
    """A struct tells rich all its fields, whatever its own `__repr__` leaves out."""
    for value in (
        FoundKey(SECRET, KeySource.KEYRING),
        StoreKey("anthropic", SECRET),
        StoreKey("anthropic", SECRET),
        Address("http://127.0.0.1:1", 1, SECRET),
        Endpoint("http://127.0.0.1:1", SECRET, 1),
    ):
        assert SECRET not in repr(value) + str(value)
        assert SECRET not in pretty_repr(value)


@pytest.mark.parametrize(
    ("provider", "among", "shared"),
    [
        ("my-server", ("my-server", "my_server", "other"), ("my_server",)),
        ("my_server", ("my-server", "my_server"), ("my-server",)),
        ("a-b_c", ("a_b-c", "a-b-c", "abc"), ("a-b-c", "a_b-c")),
        ("box", ("box", "openai"), ()),
        ("openai", ("openai", "anthropic"), ()),
        ("embedded", ("embedded", "claude_code"), ()),
    ],
)
def test_providers_that_read_one_variable_are_known(
    provider: str, among: tuple[str, ...], shared: tuple[str, ...]
) -> None:
    assert sharers(provider, among) == shared


def test_a_variable_of_two_names_holds_the_key_of_neither_and_a_stored_key_is_of_its_exact_name(
    tmp_path: Path,
) -> None:
    ring = Ring()
    ring.set_password("manual-slop", "my-server", "of my-server")
    store = _store(tmp_path, ring, MANUAL_SLOP_KEY_MY_SERVER="whose?")
    among = ("my-server", "my_server")

    stored, other = (store.find(name, among) for name in among)
    assert (stored.value, stored.source) == ("of my-server", KeySource.KEYRING)
    assert (other.value, other.source) == ("", KeySource.MISSING)
    for found in (stored, other):
        assert "MANUAL_SLOP_KEY_MY_SERVER fits my-server and my_server" in found.conflict
    assert store.find("my-server", ("my-server",)).value == "whose?"
