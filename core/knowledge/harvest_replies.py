"""Replies that were paid for, kept on disk until the ledger holds what came of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from pathlib import Path

from core.store.atomic import OS_DISK, Disk, make_dirs, reported, write_file

_FOLDER = ".replies"


class KeptReplies:
    """The replies to one conversation's prompts. What is asked twice, also after a crash, is paid once.

    Args:
        knowledge: the knowledge directory; sha256: of the conversation's bytes.
    """

    def __init__(self, knowledge: Path, sha256: str, *, disk: Disk = OS_DISK) -> None:
        self._folder = knowledge / _FOLDER / sha256
        self._disk = disk

    def find(self, prompt: str, provider: str, model: str) -> str | None:
        """The kept reply to a prompt, None where there is none that can be read.

        Raises:
            StorageError: it is there and the disk cannot read it.
        """
        path = self._path(prompt, provider, model)
        with reported("read", path):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                return None
        kept: object = None
        with suppress(ValueError, RecursionError):
            kept = json.loads(data)
        text = kept.get("text") if isinstance(kept, dict) and kept.get("v") == 1 else None
        return text if isinstance(text, str) else None

    def keep(self, prompt: str, provider: str, model: str, text: str) -> None:
        """Put a reply on the medium.

        Raises:
            StorageError: it could not be kept: the harvest must stop here.
        """
        path = self._path(prompt, provider, model)
        make_dirs(path.parent, disk=self._disk)
        data = {"v": 1, "provider": provider, "model": model, "text": text}
        line = json.dumps(data, sort_keys=True, ensure_ascii=True) + "\n"
        write_file(path, line.encode(), disk=self._disk)

    def drop_all(self) -> None:
        """Forget the replies: the ledger holds what came of them. What cannot be removed now is removed later."""
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            self._folder.parent.rmdir()

    def drop(self, prompt: str, provider: str, model: str) -> None:
        """Forget one reply, so that the next run asks again."""
        with suppress(OSError):
            self._path(prompt, provider, model).unlink()

    def _path(self, prompt: str, provider: str, model: str) -> Path:
        text = json.dumps([provider, model, prompt], ensure_ascii=True)
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def kept_conversations(knowledge: Path) -> tuple[str, ...]:
    """The conversations (sha256) for which replies are kept, sorted."""
    try:
        return tuple(sorted(path.name for path in (knowledge / _FOLDER).iterdir() if path.is_dir()))
    except OSError:
        return ()
