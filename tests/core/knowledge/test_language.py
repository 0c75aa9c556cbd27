"""Files of knowledge hold the same bytes whatever language the program speaks: models read them, and the program itself does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.language import LANGUAGE_VARIABLE, LANGUAGES
from core.knowledge.fact_store import sync_facts
from core.knowledge.facts.fact_checks import HEADINGS
from core.knowledge.knowledge_reader import regenerate_digest
from tests.core.knowledge.harvest.harvests import Harvest, Model, add_discussion, reply
from tests.patience import PATIENCE_S

CHILD = (
    "import sys, pathlib; from tests.core.knowledge.test_language import harvested;"
    "harvested(pathlib.Path(sys.argv[1]))"
)


def harvested(home: Path) -> None:
    """Knowledge of every kind, from one conversation, a digest of all, and the headings of files of facts."""
    add_discussion(home, "One", "Why tides?", "The moon pulls.")
    answer = reply("Tides follow the moon.", tasks_open=[{"statement": "Build a gauge."}])
    Harvest(home, Model({"Why tides?": answer})).apply()
    sync_facts(home)
    regenerate_digest(home)
    Path(paths.knowledge_dir(home), "headings").write_text("\n".join(HEADINGS.values()))


def files(home: Path) -> dict[str, str]:
    """Files of knowledge by name, without ids and times that differ from run to run."""
    folder = paths.knowledge_dir(home)
    return {
        path.relative_to(folder).as_posix(): same_every_time(path.read_text().replace(str(home), ""))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".holder"
    }


def same_every_time(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.+Z]+|\d{8}-\d{6}-\w+|\b[0-9a-f]{12,64}\b", "…", text)


@pytest.mark.parametrize("tag", sorted(LANGUAGES.keys() - {"en"}))
def test_a_harvest_writes_the_same_files_in_every_language(tmp_path: Path, tag: str) -> None:
    found = {}
    for spoken in ("en", tag):
        home = tmp_path / spoken
        subprocess.run(
            [sys.executable, "-c", CHILD, str(home)],
            env={**os.environ, LANGUAGE_VARIABLE: spoken, "MANUAL_SLOP_HOME": str(home)},
            check=True,
            timeout=PATIENCE_S,
        )
        found[spoken] = files(home)
    assert "## Open tasks" in found["en"]["digest.md"]
    assert found[tag] == found["en"]
