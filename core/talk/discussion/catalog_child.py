"""The child process of a long refresh: `catalog_child.py HOME FILE`."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from core.talk.discussion.catalog import Catalog, RefreshStep, report

_NICENESS = 5


def main() -> None:
    """Refresh the index and report each slice, until all is done or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    catalog = Catalog(Path(sys.argv[1]), Path(sys.argv[2]), may_start_child=False)
    with suppress(BrokenPipeError):
        for step in catalog.refresh():
            report(
                RefreshStep(
                    ids=tuple(row.meta.id for row in step.summaries), done=step.done, total=step.total
                )
            )
    catalog.close()
    sys.stdout = None


if __name__ == "__main__":
    main()
