"""Context Presets, the structure of a file, and the Context view."""
