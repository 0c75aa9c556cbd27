"""Compares the packaged table of models with the vendors' SDKs: what they list and the table lacks.

`make models` fetches the newest SDKs from the package index into a temporary folder; `ARGS=FOLDER` reads one that is there.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from core.services.providers.model_data import packaged_models
from core.services.providers.profiles import ANY, find_profile

VERIFIED = {"anthropic": "2.14.0", "openai": "3.57.0", "google-genai": "3.6.1"}
"""Releases whose lists the table has been compared with: the newest on 2026-11-29."""

FILES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("anthropic/types/model.py",),
    "openai": ("openai/types/shared/chat_model.py", "openai/types/shared/responses_model.py"),
    "gemini": ("google/genai/_gaos/types/interactions/model.py",),
}
"""Modules whose literal types are a vendor's list, by provider."""

NOT_OFFERED: Mapping[str, str] = {
    r"audio|tts|transcribe|lyria|omni|image|banana|robotics": "makes or hears sounds, pictures or films",
    r"search-preview|deep-research|computer-use": "runs a vendor's own tools instead of a conversation",
    r"cyber|rosalind|daybreak|-law\b": "is open to chosen organisations alone, and its window is not published",
    r"gpt-5\.1-mini": "is no model that is served, as its list says",
    r"gemma-": "is an open model, which a server of yours runs",
}
"""Ids that need no entry, by what is in them, with the reason."""

_DATED = re.compile(r"Announced shutdown\s+date:\s+(\d{4}-\d\d-\d\d)")
_ID = re.compile(r'"([^"\s]+)"')


def listed_ids(folder: Path, provider: str, today: date) -> frozenset[str]:
    """Ids of models that a vendor's SDK lists, without those whose announced end is past.

    Args:
        folder: in which the SDK is installed, or unpacked.
    """
    ids: set[str] = set()
    for name in FILES[provider]:
        text = (folder / name).read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
                ids |= {one.value for one in ast.walk(node.slice) if isinstance(one, ast.Constant)}  # type: ignore[misc]
        ids -= set(_ended(text, today))
    return frozenset(ids)


def _ended(text: str, today: date) -> Iterable[str]:
    for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:]:
        ends = _DATED.search(item)
        if ends is not None and date.fromisoformat(ends[1]) <= today:
            yield from _ID.findall(item)


def missing_ids(folder: Path, today: date) -> tuple[str, ...]:
    """Ids that the SDKs list and that get no window from the table, as `provider id`."""
    models = packaged_models()
    found: list[str] = []
    for provider in FILES:
        for name in sorted(listed_ids(folder, provider, today)):
            if any(re.search(pattern, name) for pattern in NOT_OFFERED):
                continue
            known = [one for one in models if one.id != ANY]
            if find_profile(known, provider, name).context_tokens is None:
                found.append(f"{provider} {name}")
    return tuple(found)


def main(arguments: list[str]) -> int:
    """Print what is missing. Returns 1 where something is."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(arguments[0]) if arguments else Path(made)
        if not arguments:
            pip = (
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--target",
                made,
                "--upgrade",
            )
            subprocess.run((*pip, *VERIFIED), check=True)
        missing = missing_ids(folder, datetime.now(UTC).date())
    for one in missing:
        print(f"core/services/providers/models.toml has no window of {one}")
    return int(bool(missing))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
