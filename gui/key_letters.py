"""Letters of keys: what each key has typed so far, for the frames in which the toolkit tells keys but no characters."""

from __future__ import annotations

_PLAIN = "0123456789',-./;=[\\]`"
_SHIFTED = ')!@#$%^&*("<_>?:+{|}~'


class KeyLetters:
    """The characters of a person's keyboard, learned while they type; those of a US keyboard until then."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, chords: list[str], text: str) -> None:
        """One key went down in a frame, and one character came."""
        letters = [chord for chord in chords if is_letter(chord)]
        if len(letters) == len(chords) == len(text) == 1:
            self._known[letters[0]] = text

    def typed(self, chords: list[str]) -> str:
        """The characters that these chords type, as far as can be known."""
        return "".join(self._known.get(chord) or _usual(chord) for chord in chords if is_letter(chord))


def is_letter(chord: str) -> bool:
    """True if a chord types a character: one key, at most with Shift."""
    key = chord.removeprefix("Shift+")
    return len(key) == 1 or key == "Space"


def _usual(chord: str) -> str:
    key, is_shifted = chord.removeprefix("Shift+"), chord.startswith("Shift+")
    if key == "Space":
        return " "
    if key.isalpha():
        return key if is_shifted else key.lower()
    return _SHIFTED[_PLAIN.index(key)] if is_shifted and key in _PLAIN else key
