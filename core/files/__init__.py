"""Curated files on disk: reading them, expanding globs, watching them, and finding prompt files."""
