"""Ground that every panel stands on: the `Ui` and its widgets, the window's view, words for figures."""
