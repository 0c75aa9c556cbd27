"""The pure heart: `step(state, input) -> (state, effects)`. No I/O, no clock, no randomness."""

from core.step.base import Input, Result
from core.step.dispatch import step

__all__ = ["Input", "Result", "step"]
