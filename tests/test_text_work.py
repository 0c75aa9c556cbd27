"""What is counted of work with text: a join that begins anew each time is told from one that is made once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MODULE = '''"""Ways to go through a text."""
import re

def anew(lines):
    text = ""
    for line in lines:
        text = f"{text}{line}"
    return text

def grown(lines):
    text = ""
    for line in lines:
        text += line
    return text

def once(lines):
    return "".join([line for line in lines])

def counted_anew(text, places):
    return [text.count("x", 0, place) for place in places]

def searched_anew(text, places):
    return [text.find("y", place) for place in places]

def cut(text, places):
    return [text[place:] for place in places]

def within(names):
    return [name for n, name in enumerate(names) if name in names[:n]]

def matched(text, places):
    return [re.compile("y").search(text, place) for place in places]

ACTS = {
    "anew": lambda n: anew(["x"] * n),
    "grown": lambda n: grown(["x"] * n),
    "once": lambda n: once(["x"] * n),
    "counted_anew": lambda n: counted_anew("x" * n, range(n)),
    "searched_anew": lambda n: searched_anew("x" * n, range(n)),
    "cut": lambda n: cut("x" * n, range(n)),
    "within": lambda n: within(list(range(n))),
    "matched": lambda n: matched("x" * n, range(n)),
}
'''
ASK = """
import json
import sys
sys.path[:0] = sys.argv[1:]
from tests.text_work import count_from, work
count_from("sample")
from sample import ACTS
print(json.dumps({name: work(lambda: act(1_600)) / work(lambda: act(400)) for name, act in ACTS.items()}))
"""


def test_work_that_begins_anew_each_time_is_told_from_work_done_once(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(MODULE)
    command = [sys.executable, "-P", "-c", ASK, str(Path(__file__).parents[1]), str(tmp_path)]

    ended = subprocess.run(command, capture_output=True, text=True, check=True)

    growth = json.loads(ended.stdout)
    assert 3.5 < growth.pop("once") < 4.5
    assert len(growth) == 7
    assert all(12 < times < 17 for times in growth.values()), growth
