"""The program without its window."""

__version__ = "0.1.0"
