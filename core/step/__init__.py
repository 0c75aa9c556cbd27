"""The pure heart: `step(state, input) -> (state, effects)`. No I/O, no clock, no randomness."""
