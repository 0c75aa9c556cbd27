"""`python -P -m core.front.cli`."""

from __future__ import annotations

from core.front.cli import main

raise SystemExit(main())
