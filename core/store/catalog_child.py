"""The child process of a long refresh: `python -m core.store.catalog_child HOME FILE`."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from core.store.catalog import Catalog
from core.store.catalog_apart import Step, report

_NICENESS = 5


def main() -> None:
    """Refresh the index and report each slice, until all is done or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    catalog = Catalog(Path(sys.argv[1]), Path(sys.argv[2]), may_start_child=False)
    with suppress(BrokenPipeError):
        for step in catalog.refresh():
            report(Step(tuple(row.meta.id for row in step.summaries), step.done, step.total))
    catalog.close()
    sys.stdout = None


if __name__ == "__main__":
    main()
