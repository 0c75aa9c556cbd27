"""Markdown: parsed, highlighted and laid out without a window; `gui.elements.prose` draws the result."""
