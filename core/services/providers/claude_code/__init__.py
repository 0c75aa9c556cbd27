"""Claude Code as a subprocess."""
