"""The person's own shortcuts over those of the actions: one chord, one action; a conflict is said."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from core.kernel.language import tr

KEY = "appearance.shortcuts"
NO_CHORD = "none"
"""In place of a chord: the action has no shortcut."""
MODIFIERS = ("Ctrl", "Shift", "Alt")
FUNCTION_KEYS = frozenset(f"F{number}" for number in range(1, 13))
NAMED_KEYS = frozenset(
    ("Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "Insert", "Delete")
)
RESERVED = frozenset(
    [
        *(
            f"Ctrl+{key}"
            for key in (
                "A",
                "C",
                "V",
                "X",
                "Z",
                "Y",
                "Enter",
                "Left",
                "Right",
                "Home",
                "End",
                "Up",
                "Down",
                "Delete",
            )
        ),
        *(
            "Ctrl+Shift+Z",
            "Ctrl+Shift+V",
            "Ctrl+Shift+Left",
            "Ctrl+Shift+Right",
            "Ctrl+Shift+Home",
            "Ctrl+Shift+End",
        ),
        *("F3", "Shift+F3", "Alt+F4"),
    ]
)
"""Chords of text fields, of sending, of the find bar and of the desktop."""


def normal_chord(typed: str) -> str:
    """A chord as the program spells it (`Ctrl+Shift+P`), whatever its case and order; empty where it is none."""
    *before, key = [part.strip() for part in typed.strip().split("+")]
    held = {one for part in before for one in MODIFIERS if one.casefold() == part.casefold()}
    named = {one.casefold(): one for one in (*NAMED_KEYS, *FUNCTION_KEYS)}
    key = named.get(key.casefold(), key.upper() if _is_sign(key) else "")
    if not key or len(held) != len(before):
        return ""
    return "+".join((*(one for one in MODIFIERS if one in held), key))


def _is_sign(key: str) -> bool:
    return len(key) == 1 and key.isascii() and (key.isalnum() or key in ",.-=/;[]")


def flaw_of(chord: str) -> str:
    """Reason why a chord cannot be a shortcut, empty where it can."""
    if not chord:
        return tr("Name a chord such as Ctrl+Shift+P, Alt+1 or F8.")
    *held, key = chord.split("+")
    if chord in RESERVED:
        return tr("{chord} has its own meaning. Choose another chord.", chord=chord)
    if not {"Ctrl", "Alt"} & {*held} and key not in FUNCTION_KEYS:
        return tr("{chord} types text. Add Ctrl or Alt.", chord=chord)
    return ""


@lru_cache(maxsize=8)
def own_chords(shortcuts: tuple[str, ...]) -> Mapping[str, str]:
    """The person's own chords by action, from the setting's `action=chord`; what cannot be one is passed over."""
    found: dict[str, str] = {}
    for line in shortcuts:
        action, _, typed = line.partition("=")
        chord = "" if typed.strip() == NO_CHORD else normal_chord(typed)
        if typed.strip() == NO_CHORD or (chord and not flaw_of(chord) and chord not in found.values()):
            found[action.strip()] = chord
    return found


def chord_of(action_id: str, usual: str, shortcuts: tuple[str, ...]) -> str:
    """The chord that an action has: the person's own, else its usual one, unless another took that; empty for none."""
    own = own_chords(shortcuts)
    if action_id in own:
        return own[action_id]
    return "" if usual in own.values() else usual


def with_chord(shortcuts: tuple[str, ...], action_id: str, chord: str | None) -> tuple[str, ...]:
    """The setting with another chord for an action; empty for none, None for its usual one."""
    rest = tuple(line for line in shortcuts if line.partition("=")[0].strip() != action_id)
    return rest if chord is None else (*rest, f"{action_id}={chord or NO_CHORD}")
