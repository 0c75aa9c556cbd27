"""Losses of a preset's globs to `.gitignore`, said once on standard error, as the window says it."""

from __future__ import annotations

from core.base import paths
from core.cli.output import Console
from core.context.losses import LossesSaid
from core.context.presets import losses_sentences
from core.values.spec import StackSpec


def say_losses(spec: StackSpec, console: Console) -> None:
    """Say what was never said of the preset that a request is made of."""
    preset = spec.preset
    said = LossesSaid(paths.losses_file())
    if losses := said.fresh_in(spec.root, preset.items, spec.limits, tuple(spec.allowed_roots)):
        console.note(f"manual-slop: warning: {' '.join(losses_sentences(preset.name, losses))}")
