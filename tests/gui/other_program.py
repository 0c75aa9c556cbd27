"""Another program on the same screen, by its clipboard. The library looks for the screen when it loads, so it loads late."""

from __future__ import annotations

RED = (200, 10, 10, 255)


def copy_text(text: str) -> None:
    """Put a text on the clipboard."""
    import copykitten

    copykitten.copy(text)


def copy_picture(width: int = 60, height: int = 40) -> None:
    """Put a red picture on the clipboard, and nothing else."""
    import copykitten

    copykitten.copy_image(bytes(RED) * width * height, width, height)


def copy_nothing() -> None:
    """Leave the clipboard without content."""
    import copykitten

    copykitten.clear()


def text_held() -> str:
    """Text on the clipboard; empty where it holds none."""
    import copykitten

    try:
        return copykitten.paste()
    except copykitten.CopykittenError:
        return ""
