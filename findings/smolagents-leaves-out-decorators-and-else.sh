#!/usr/bin/env bash
# smolagents 1.26.0
#
# A CodeAgent runs the Python that a model writes in an interpreter of its own. It refuses what it does not know with an
# error ("Yield is not supported"), which the model reads and works around.
#
# Expected: what is not refused runs as Python runs it.
# Seen: some of the language is passed over in silence. A decorator is not applied, so a checked function is unchecked and
# a property is a method. The `else` of a loop never runs. A default list is made anew by each call. An index in `x[i()] += 1`
# is computed twice. The program ends well and gives another value.
#
# Why it matters: the model gets a wrong result that it has no reason to doubt.
#
# Output seen:
#   decorator: python 2, smolagents 1
#   property: python 5, smolagents a method
#   else of a loop: python not found, smolagents None
#   default value: python [1, 2], smolagents [2]
#   index: python 1 call, smolagents 2 calls
#   yield: python [1], smolagents InterpreterError
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check smolagents==1.26.0

cat > try.py <<'PY'
import types
from smolagents.local_python_executor import InterpreterError, LocalPythonExecutor
programs = {
    "decorator": "def twice(f):\n    def run(x):\n        return 2 * f(x)\n    return run\n@twice\ndef same(x):\n    return x\nresult = same(1)",
    "property": "class Box:\n    @property\n    def size(self):\n        return 5\nresult = Box().size",
    "else of a loop": "result = None\nfor one in [1, 2]:\n    if one == 3:\n        break\nelse:\n    result = 'not found'",
    "default value": "def add(one, kept=[]):\n    kept.append(one)\n    return kept\nadd(1)\nresult = add(2)",
    "index": "calls = []\ndef first():\n    calls.append(1)\n    return 0\nsums = [0]\nsums[first()] += 1\nresult = f'{len(calls)} call' + ('s' if len(calls) > 1 else '')",
    "yield": "def one():\n    yield 1\nresult = list(one())",
}
def said(value):
    return "a method" if isinstance(value, types.MethodType) else value
for name, program in programs.items():
    python = {}
    exec(program, python)
    try:
        runner = LocalPythonExecutor(additional_authorized_imports=[])
        runner.send_tools({})
        seen = said(runner(program + "\nresult").output)
    except InterpreterError as error:
        seen = type(error).__name__
    print(f"{name}: python {python['result']}, smolagents {seen}")
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
