"""Frozen values that every other part speaks in: messages, usage, stack, settings, state, commands, events, effects."""
