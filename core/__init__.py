"""Everything that matters, and nothing that draws."""

__version__ = "0.1.0"
