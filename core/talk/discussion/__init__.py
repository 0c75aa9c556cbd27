"""Discussions: the log and what it stands for, the list, the catalog, the trash, exports."""
