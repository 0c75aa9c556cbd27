"""Prompt caching: the ledger of what providers hold, the planner, and the view that appends while warm."""
