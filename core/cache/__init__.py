"""Public place of the state of caches, for scripts."""
