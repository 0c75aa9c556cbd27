"""Imports: conversations of other programs as discussions of ours."""
