"""The context stack under the names that people know: the twelve layers, the text, and where its stable part ends."""

from core.talk.context.stack import AggregateStack, build_initial_context, build_stack, stable_prefix_length

__all__ = ["AggregateStack", "build_initial_context", "build_stack", "stable_prefix_length"]
