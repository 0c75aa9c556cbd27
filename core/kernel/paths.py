"""Places of all files: the home, its files by name, and the platform's directories."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.patterns import late

HOME_VARIABLE = "MANUAL_SLOP_HOME"
CONFIG_VARIABLE = "MANUAL_SLOP_CONFIG"
APP_NAME = "manual-slop"

HOME_FILE = "home.toml"
HOME_LOCK_FILE = "home.lock"
OWNER_FILE = "owner.toml"
RAISE_FILE = "raise.request"
STATE_FILE = "state.toml"
JOURNAL_FILE = "journal.md"
HOOK_TOKEN_FILE = "hook_token"  # noqa: S105 (a file name)
HOOK_FILE = "hook.json"
INBOX_DIR = "inbox"
CRASHES_DIR = "crashes"
INBOX_TAKEN_DIR, INBOX_WAITING_DIR = "taken", "waiting"

LOG_FILE = "log.jsonl"
META_FILE = "meta.toml"
CACHE_FILE = "cache.json"
CACHING_FILE = "caching.json"
TOKENS_FILE = "tokens.json"
RESERVES_DIR = "reserves"
RESERVES_FILE = "reserves.json"
DRAFT_FILE = "draft.txt"
DRAFT_ATTACHMENTS_FILE = "draft.attachments.json"
QUEUE_FILE = "queue.json"
REPLY_FILE = "reply.part"
LOCK_FILE = ".lock"
REPLY_LOCK_FILE = ".reply.lock"
LEFTOVERS_LOCK_FILE = ".leftovers.lock"
TOOLS_LOCK_FILE = ".tools.lock"
WHY_FILE = "why.toml"
AGES_FILE = "ages.toml"
REVIEW_FILE = ".review.json"
PROPOSALS_FILE = ".proposals.json"
IMPORTED_FILE = "imported"

PROJECT_FILE = "manual_slop.toml"
CONFIG_FILE = "config.toml"
MODELS_FILE = "models.toml"
PRICES_FILE = "prices.json"

_NAME = late(r'[^.\x00-\x1f\ud800-\udfff/\\:*?"<>|][^\x00-\x1f\ud800-\udfff/\\:*?"<>|]{0,119}')


def home_dir() -> Path:
    """The home of everything that belongs to the person: `$MANUAL_SLOP_HOME`, else `~/.manual_slop`."""
    named = os.environ.get(HOME_VARIABLE, "")
    return Path(named).expanduser().absolute() if named else Path.home() / ".manual_slop"


def discussions_dir(home: Path) -> Path:
    """The directory that holds a directory for each discussion."""
    return home / "discussions"


@lru_cache(maxsize=256)
def discussion_dir(home: Path, discussion_id: str) -> Path:
    """The directory of one discussion; need not exist.

    Raises:
        StorageError: the id could leave the home (`..`, a separator) or is no name for a directory.
    """
    if not is_directory_name(discussion_id):
        raise StorageError(
            tr("{discussion_id!r} is not the id of a discussion", discussion_id=discussion_id),
            remedy=tr("Use an id from `manual-slop discussions`"),
        )
    return discussions_dir(home) / discussion_id


def is_directory_name(name: str) -> bool:
    """True if `name` is one visible directory name on every platform, so that it cannot leave its parent."""
    return _NAME.fullmatch(name) is not None and not name.endswith((" ", "."))


def log_file(home: Path, discussion_id: str) -> Path:
    """`log.jsonl` of a discussion, the truth."""
    return discussion_dir(home, discussion_id) / LOG_FILE


def meta_file(home: Path, discussion_id: str) -> Path:
    """`meta.toml` of a discussion."""
    return discussion_dir(home, discussion_id) / META_FILE


def attachments_dir(home: Path, discussion_id: str) -> Path:
    """Folder of a discussion's attachments, which are kept by their sha256."""
    return discussion_dir(home, discussion_id) / "attachments"


def knowledge_dir(home: Path | None = None) -> Path:
    """The knowledge directory of a home, by default of `home_dir()`."""
    return (home or home_dir()) / "knowledge"


def trash_dir(home: Path) -> Path:
    """Folder where deleted discussions wait."""
    return home / "trash"


def inbox_dir(home: Path) -> Path:
    """Folder into which a person or a program drops files that become signals."""
    return home / INBOX_DIR


def backups_dir(home: Path) -> Path:
    """Folder where migrations keep what they change."""
    return home / "backups"


def keys_dir(home: Path) -> Path:
    """Folder of the keys on a machine without a keyring, mode 0600."""
    return home / "keys"


def key_file(home: Path, provider: str) -> Path:
    """The file that holds a provider's key on a machine without a keyring.

    Raises:
        StorageError: the provider's id is no file name.
    """
    if not is_directory_name(provider):
        raise StorageError(
            tr("{provider!r} is not the id of a provider", provider=provider),
            remedy=tr("Use letters, digits and hyphens"),
        )
    return keys_dir(home) / provider


def crashes_dir(home: Path) -> Path:
    """Reports of runs of the window that ended unexpectedly."""
    return home / CRASHES_DIR


def state_file(home: Path) -> Path:
    """`state.toml`: window, panes, tabs, scroll, theme, scale."""
    return home / STATE_FILE


def project_file(root: Path) -> Path:
    """`manual_slop.toml` of a project."""
    return root / PROJECT_FILE


def config_dir() -> Path:
    """The platform's directory for user settings."""
    from platformdirs import user_config_path

    return user_config_path(APP_NAME, appauthor=False)


def cache_dir() -> Path:
    """The platform's directory for what can be made again."""
    from platformdirs import user_cache_path

    return user_cache_path(APP_NAME, appauthor=False)


def losses_file() -> Path:
    """File that says which losses of globs to `.gitignore` were said; safe to delete."""
    return cache_dir() / "ignores-said"


REFUSED_FIELDS = "refused-fields"
"""File in the cache: fields that servers refused, by marks of server and model; safe to delete."""


def counts_file() -> Path:
    """File of token counts by the hash of the text; safe to delete."""
    return cache_dir() / "token-counts"


def log_dir() -> Path:
    """The platform's directory for diagnostic logs."""
    from platformdirs import user_log_path

    return user_log_path(APP_NAME, appauthor=False)


def config_file() -> Path:
    """`config.toml`, the user settings."""
    return config_dir() / CONFIG_FILE


def models_file() -> Path:
    """`models.toml`, the person's own names and limits of models."""
    return config_dir() / MODELS_FILE


def prices_file() -> Path:
    """`prices.json`, newer price data that the person had taken."""
    return config_dir() / PRICES_FILE


def catalog_file(home: Path) -> Path:
    """The derived index of a home's discussions; each home has its own."""
    return cache_dir() / f"catalog-{_mark(home)}.sqlite"


def facts_file(home: Path) -> Path:
    """The derived table of a home's structured facts; each home has its own."""
    return cache_dir() / f"facts-{_mark(home)}.msgpack"


def imports_file(home: Path) -> Path:
    """The derived list of the files that imports have read; each home has its own."""
    return cache_dir() / f"imports-{_mark(home)}.msgpack"


def imported_file(home: Path) -> Path:
    """Ids of the discussions that imports made."""
    return home / IMPORTED_FILE


def index_dir(home: Path, model: str = "") -> Path:
    """Folder of a home's search index; each home has its own, and each model on a server, by its name."""
    of_model = f"-{_hash(model.encode(), 8)}" if model else ""
    return cache_dir() / f"index-{_mark(home)}{of_model}"


def index_dirs(home: Path) -> tuple[Path, ...]:
    """Folders of all search indexes that a home has by now."""
    return tuple(sorted(path for path in cache_dir().glob(f"index-{_mark(home)}*") if path.is_dir()))


def commands_dir(home: Path) -> Path:
    """Folder with a mark of each run of the program that started commands of tools; each home has its own."""
    return cache_dir() / f"commands-{_mark(home)}"


def _mark(home: Path) -> str:
    return _hash(os.fsencode(home.absolute()), 12)


def _hash(data: bytes, digits: int) -> str:
    import hashlib  # OpenSSL comes with it, which the first frame does not wait for

    return hashlib.sha256(data).hexdigest()[:digits]
