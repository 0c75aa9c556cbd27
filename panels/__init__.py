"""Panels of the window, as functions of state: `panel(desk)`."""
