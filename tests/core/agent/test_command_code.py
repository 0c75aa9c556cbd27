"""A command's code: bound from the question to the run, through the worker that asks and runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agent.command_code import code_of
from core.agent.command_rules import read_command_line
from core.agent.messages import JudgeCall
from core.agent.tool import ToolPlaces
from core.agent.tools.bash import TOOLS
from core.agent.worker import approval_of
from core.values.agent import Approval
from tests.core.agent.desks import Desk


def code(root: Path, line: str) -> list[str]:
    files = code_of(line, read_command_line(line), str(root), str(root))
    return sorted(str(Path(path).relative_to(root)) for path in files)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "run.sh": "python3 tools/do.py\n", "tools/do.py": "import helper", "tools/helper.py": "", "tools/idle.py": "", "web/main.js": "require('./a')",
        "web/a.js": "", "data.json": "", "plain": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("python3 tools/do.py data.json", ["tools/do.py", "tools/helper.py"]),
        ("cd tools && python3 do.py", ["tools/do.py", "tools/helper.py"]),
        ("sh run.sh && node web/main.js", ["run.sh", "tools/do.py", "tools/helper.py", "web/a.js", "web/main.js"]),
        ("python3 plain", ["plain"]),
        ("for x in 1 2; do python3 plain $x; done", ["plain"]),
        ("bash -c 'python3 tools/do.py' > out", ["tools/do.py", "tools/helper.py"]),
        ("git status", []),
        ("grep -r helper data.json", []),
    ],
)  # fmt: skip
def test_scripts_that_a_line_names_are_bound_with_what_they_import(
    root: Path, line: str, files: list[str]
) -> None:
    assert code(root, line) == files


def test_the_question_names_the_code_and_its_yes_is_none_to_another(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.root / "run.sh").write_text("echo one")

    def asked() -> Approval:
        given = json.dumps({"command": "sh run.sh"})
        effect = JudgeCall("d1", "m1", "c1", "bash", given, ToolPlaces(str(desk.root), is_trusted=True))
        return approval_of(effect, TOOLS[0].judge(given, desk))

    first = asked()
    assert first.detail == "sh run.sh\n(It runs run.sh: a change before it runs needs another yes.)"
    (desk.root / "other.txt").write_text("x")
    assert asked() == first
    (desk.root / "run.sh").write_text("echo two")
    assert asked().id != first.id
