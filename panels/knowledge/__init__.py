"""The Knowledge panel."""
