"""Room of imports in the window."""
