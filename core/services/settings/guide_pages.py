"""Pages of the guide that come with the program: Markdown, read from this machine alone."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.opener import read_file
from core.kernel.values.guide import GuidePage

MOST_BYTES = 1_000_000
BESIDE = ("benchmarks", "glossary", "settings")
"""Documents beside the guide that its pages lead to."""
_NAME = re.compile(r"[a-z][a-z-]{0,40}")
_HEADING = re.compile(r"^# +(.+)$", re.MULTILINE)


def guide_folder() -> Path:
    """Folder of the pages: of the checkout that runs, else of the installed package."""
    root = Path(__file__).parents[3]
    checkout = root / "docs" / "guide"
    if (root / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    return Path(sysconfig.get_path("data")) / "share" / "doc" / "manual-slop" / "guide"


def read_guide(name: str, folder: Path | None = None) -> GuidePage:
    """Read a page, with the names and titles of all pages to choose from.

    Args:
        name: a file's name without its ending; folder: of the pages, None for the program's own.
    """
    own = guide_folder() if folder is None else folder
    files = sorted(own.glob("*.md"))
    files += (file for one in BESIDE if (file := own.parent / f"{one}.md").is_file())
    pages = {file.stem: _page(file) for file in files}
    titles = {page.name: _title(page) for page in pages.values()}
    if not _NAME.fullmatch(name) or name not in pages:
        why = f"There is no guide page {name[:40]!r} in {own}. Install Manual Slop again to get its pages."
        return GuidePage(name=name, problem=why, titles=titles)
    return replace(pages[name], titles=titles)


def _page(file: Path) -> GuidePage:
    try:
        return GuidePage(name=file.stem, text=read_file(file, MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, SlopError) as error:
        return GuidePage(name=file.stem, problem=f"The guide page {file.stem!r} cannot be read: {error}")


def _title(page: GuidePage) -> str:
    found = _HEADING.search(page.text)
    return found[1].strip() if found else page.name
