"""Kernel: failures, text, files, processes, and the values that all rooms speak in."""
