"""Other programs that keep memory, on the same questions: each in an environment of its own under `.optional`, without a network.

`make bench-memory ARGS="--peers"` installs them. One that cannot be installed here, or that wants to fetch a model first, is named
with its reason in place of a figure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tests.bench.memory_sets import Life

FOLDER = Path(__file__).parents[2] / ".optional" / "memory-peers"
INSTALL_S, RUN_S = 900.0, 1_800.0


class MemoryPeer(msgspec.Struct, frozen=True):
    """A package, and the program that has it answer.

    Args:
        program: reads `{"turns": [...], "questions": [...], "count": n}` from standard input and prints the numbers of turns
            that it finds for each question, the best first.
        python: the least version of Python that it installs on.
    """

    package: str
    program: str
    python: tuple[int, int] = (3, 11)


PEERS: Mapping[str, MemoryPeer] = {
    "agent-memory-lite": MemoryPeer(
        package="agent-memory-lite==0.4.0",
        program="""
import json, sys, tempfile
from agent_memory import Memory
asked = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    memory = Memory(folder)
    memory.init()
    numbers = {}
    for number, text in enumerate(asked["turns"]):
        made = memory.add(text)
        numbers[made["id"] if isinstance(made, dict) else made] = number
    found = [[numbers[hit["id"]] for hit in memory.search(one, limit=asked["count"])] for one in asked["questions"]]
print(json.dumps(found))
""",
    ),
    "basic-memory": MemoryPeer(
        package="basic-memory==0.24.1",
        python=(3, 12),
        program="""
import json, os, subprocess, sys, tempfile
from pathlib import Path
asked = json.load(sys.stdin)
folder = tempfile.mkdtemp()
os.environ |= {"HOME": folder, "BASIC_MEMORY_HOME": folder + "/notes", "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
notes = Path(folder, "notes")
notes.mkdir()
for number, text in enumerate(asked["turns"]):
    (notes / f"turn-{number}.md").write_text(f"---\\ntitle: turn {number}\\n---\\n\\n{text}\\n")
tool = str(Path(sys.executable).parent / "basic-memory")
subprocess.run([tool, "reindex"], check=True, stdout=subprocess.DEVNULL)
from basic_memory.cli.commands.command_utils import run_with_cleanup
from basic_memory.mcp.tools import search_notes
async def answers():
    found = []
    for one in asked["questions"]:
        words = " OR ".join("".join(c if c.isalnum() else " " for c in one).split())
        told = await search_notes(query=words, page_size=asked["count"], search_type="text", output_format="json")
        hits = told["results"]
        found.append([int(Path(hit["file_path"]).stem.rpartition("-")[2]) for hit in hits])
    return found
print(json.dumps(run_with_cleanup(answers())))
""",
    ),
}


class Unanswered(msgspec.Struct, frozen=True):
    """Why a peer has no figure."""

    reason: str


def answers(name: str, lives: Sequence[Life], count: int) -> list[list[list[str]]] | Unanswered:
    """Marks of the turns that a peer finds for each question of each life, or why it does not."""
    peer = PEERS[name]
    if why := _installed(name, peer):
        return Unanswered(why)
    found = []
    for life in lives:
        turns = [turn for talk in life.talks for turn in talk.turns]
        asked = {
            "turns": [turn.text for turn in turns],
            "questions": [one.text for one in life.questions],
            "count": count,
        }
        try:
            numbers = _asked(name, peer, json.dumps(asked))
        except (subprocess.SubprocessError, ValueError, OSError) as error:
            return Unanswered(f"it does not answer: {_last_line(error)}")
        found.append([[turns[number].mark for number in one] for one in numbers])
    return found


def _python(name: str) -> Path:
    return FOLDER / name / "bin" / "python"


def _maker(peer: MemoryPeer) -> str:
    """A Python that a peer installs on: this one, else a newer one of the search path or of pyenv; this one where there is none."""
    if sys.version_info[:2] >= peer.python:
        return sys.executable
    own = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for minor in range(peer.python[1], peer.python[1] + 6):
        under = sorted(own.glob(f"3.{minor}.*/bin/python"))
        if found := (str(under[0]) if under else shutil.which(f"python3.{minor}")):
            return found
    return sys.executable


def _installed(name: str, peer: MemoryPeer) -> str:
    """Empty once a peer is installed, else why it cannot be."""
    marker = FOLDER / name / peer.package
    if marker.exists():
        return ""
    try:
        subprocess.run(
            [_maker(peer), "-m", "venv", str(FOLDER / name)],
            check=True,
            capture_output=True,
            timeout=INSTALL_S,
        )
        pip = [str(_python(name)), "-m", "pip", "install", "--quiet", peer.package]
        subprocess.run(pip, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except (subprocess.SubprocessError, OSError) as error:
        return f"it does not install here: {_last_line(error)}"
    marker.touch()
    return ""


def _asked(name: str, peer: MemoryPeer, question: str) -> list[list[int]]:
    """Run a peer's program. It reaches no network: an address that nobody answers on stands for every server."""
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [_python(name), "-c", peer.program],
            input=question,
            capture_output=True,
            text=True,
            check=True,
            timeout=RUN_S,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": folder, **nowhere},
        )
    found: list[list[int]] = json.loads(ended.stdout)
    return found


def _last_line(error: Exception) -> str:
    """The end of what a failed program said, without folders of this machine."""
    said = getattr(error, "stderr", None) or str(error)
    lines = [line for line in str(said).strip().splitlines() if line.strip()]
    return lines[-1][:160].replace(str(FOLDER), "") if lines else type(error).__name__
