"""`python -P -m core.cli`."""

from __future__ import annotations

from core.cli import main

raise SystemExit(main())
