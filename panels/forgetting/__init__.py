"""Forgetting in the window: the question before it, and the receipt after it."""
