"""Signals in the window: what came from outside, and whether the person is told of things now."""
