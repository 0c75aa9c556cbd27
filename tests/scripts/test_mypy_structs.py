"""What `replace` changes is checked: a name or a type that the struct does not have is an error of mypy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parents[2] / "scripts/mypy_structs.py"
SOURCE = """\
from dataclasses import dataclass
from dataclasses import replace as replace_dataclass
from typing import TypeVar

import msgspec
from msgspec.structs import replace

class One(msgspec.Struct, frozen=True):
    x: int = 0
    y: str = ""

class Two(msgspec.Struct, frozen=True):
    x: int

@dataclass(frozen=True)
class Other:
    x: int

T = TypeVar("T", bound=One)

def changed(one: One, both: One | Two, other: Other, maybe: One | None) -> One:
    replace(both, x=1)
    replace_dataclass(other, x=1)
    replace(one, z=1)  # error: Unexpected keyword argument "z"
    replace(one, x="1")  # error: incompatible type "str"; expected "int"
    replace(both, y="1")  # error: expected "Never"
    replace(other, x=1)  # error: "replace" was imported for a struct, which "Other" is not
    replace_dataclass(one, x=1)  # error: "replace" was imported for a dataclass, which "One" is not
    replace(maybe, x=1)  # error: cannot be "One | None"
    return replace(one, x=1, y="a")

def changed_heir(heir: T) -> T:
    replace(heir, x="1")  # error: incompatible type "str"; expected "int"
    return replace(heir, x=1)
"""


def test_a_wrong_name_and_a_wrong_type_are_errors_and_right_ones_are_not(tmp_path: Path) -> None:
    (tmp_path / "values.py").write_text(SOURCE)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nplugins = {PLUGIN}\n")

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--no-error-summary", "values.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    errors = {int(line.split(":")[1]): line for line in done.stdout.splitlines()}
    wanted = {
        number: line.partition("# error: ")[2]
        for number, line in enumerate(SOURCE.splitlines(), 1)
        if "# error: " in line
    }
    assert done.stderr == ""
    assert errors.keys() == wanted.keys()
    for number, words in wanted.items():
        assert words in errors[number]
