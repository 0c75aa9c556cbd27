"""`python -P -m core.knowledge_harvest`: the same program as `manual-slop harvest`."""

from __future__ import annotations

import sys

from core.front.cli import main

if __name__ == "__main__":
    sys.exit(main(["harvest", *sys.argv[1:]]))
