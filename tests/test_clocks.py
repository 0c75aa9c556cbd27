"""No test asserts how long something took: that hangs on the machine. Growth is counted (`operations`), speed is `make bench`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

TESTS = Path(__file__).parent

_CLOCKS = {
    "time", "monotonic", "perf_counter", "process_time", "thread_time", "time_ns", "monotonic_ns", "perf_counter_ns",
    "process_time_ns", "thread_time_ns", "clock_gettime", "getrusage", "cpu_times", "timeit", "default_timer",
}  # fmt: skip
"""Calls by these names, of a module or bare, give a time."""

_DATES = {"now", "utcnow", "today"}
"""Times of day: what is asked with them is a value, what is compared with them as they are is a clock."""

_SPOKEN = re.compile(rf"\b(?:{'|'.join(sorted(_CLOCKS | _DATES))})\(")

_OWNERS = {"time", "resource", "timeit", "datetime", "date", "psutil", "process"}


def clock_asserts(source: str) -> list[int]:
    """Lines of assertions that compare what a clock said, there or in a variable, a list or a function of the file."""
    if _SPOKEN.search(source) is None:
        return []
    nodes = tuple(ast.walk(ast.parse(source)))
    tainted = _tainted(nodes)
    found = []
    for node in nodes:
        if isinstance(node, ast.Assert):
            asked: ast.expr | None = node.test
        elif isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for one in node.body):
            asked = node.test if _fails(node.body) else None
        else:
            asked = None
        if asked is not None and any(_is_timed(one, tainted) for one in _compared(asked)):
            found.append(asked.lineno)
    return found


def _fails(body: list[ast.stmt]) -> bool:
    """Whether a branch fails the test by itself. One inside of a wait's loop is its deadline, and stands in `patience`."""
    raised = [ast.unparse(one.exc) for one in body if isinstance(one, ast.Raise) and one.exc is not None]
    return any("AssertionError" in one or "fail" in one for one in raised)


def _compared(test: ast.expr) -> Iterator[ast.expr]:
    """Both sides of each comparison by size."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            is_near = any(isinstance(one, ast.Call) and "approx" in ast.unparse(one.func) for one in sides)
            if is_near or any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
                yield from sides


def _tainted(nodes: Sequence[ast.AST]) -> frozenset[tuple[str, str]]:
    """Names, by the function in which they stand, that hold a time; of functions that return one, by `""`."""
    imported = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module in {"time", "timeit", "resource"}
        for alias in node.names
    }
    names: set[str] = set(imported & _CLOCKS)
    while True:
        more = {name for node in nodes for name in _given(node, names)} - names
        if not more:
            return frozenset(("", name) for name in names)
        names |= more


def _given(node: ast.AST, names: set[str]) -> Iterator[str]:
    tainted = frozenset(("", name) for name in names)
    if (
        isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
        and node.value is not None
    ):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if _is_timed(node.value, tainted):
            yield from (name for target in targets for name in _bound(target))
    elif isinstance(node, ast.FunctionDef):
        returns = (one for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None)
        if any(_is_timed(one.value, tainted) for one in returns if one.value is not None):
            yield node.name
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"append", "add", "put", "insert"}
        and any(_is_timed(one, tainted) for one in node.args)
    ):
        yield from _bound(node.func.value)


def _bound(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _bound(one)


def _is_timed(value: ast.expr, tainted: frozenset[tuple[str, str]]) -> bool:
    """True for what a clock says, as it is, in sums, in the least and the most of it, and in parts of it."""
    if isinstance(value, ast.Name):
        return ("", value.id) in tainted
    if isinstance(value, ast.Attribute):
        return ("", value.attr) in tainted and isinstance(value.value, ast.Name) and value.value.id == "self"
    if isinstance(value, ast.BinOp):
        return _is_timed(value.left, tainted) or _is_timed(value.right, tainted)
    if isinstance(value, ast.UnaryOp):
        return _is_timed(value.operand, tainted)
    if isinstance(value, ast.Subscript | ast.Starred):
        return _is_timed(value.value, tainted)
    if isinstance(value, ast.List | ast.Tuple):
        return any(_is_timed(one, tainted) for one in value.elts)
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return _is_timed(value.elt, tainted)
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    if isinstance(called, ast.Name):
        if called.id in {
            "max",
            "min",
            "sum",
            "abs",
            "round",
            "float",
            "int",
            "map",
            "sorted",
            "next",
            "list",
        }:
            return any(_is_timed(one, tainted) for one in value.args)
        return ("", called.id) in tainted
    if isinstance(called, ast.Attribute):
        owner = ast.unparse(called.value).rpartition(".")[2].partition("(")[0].lower()
        if called.attr in _CLOCKS | _DATES and owner in _OWNERS:
            return True
        if called.attr in {"total_seconds", "median", "mean", "min", "max"}:
            return _is_timed(called.value, tainted) or any(_is_timed(one, tainted) for one in value.args)
        return ("", called.attr) in tainted and owner == "self"
    return False


@pytest.mark.parametrize(
    "source",
    [
        "assert time.monotonic() - 3 < 5",
        "began = time.process_time()\nact()\nassert time.process_time() - began < 5",
        "from time import monotonic\nbegan = monotonic()\nact()\ntook_s = monotonic() - began\nassert took_s < 5",
        "def best():\n    spans = []\n    spans.append(time.thread_time())\n    return min(spans)\nassert max(map(best, x)) < 5",
        "class T:\n    def go(self):\n        self.end = time.time()\n    def ok(self):\n        assert self.end > 3",
        "end = time.monotonic() + 5\nwhile not so():\n    assert time.monotonic() < end",
        "took = datetime.now() - began\nassert took.total_seconds() < 3",
        "assert before <= file.at <= datetime.now(UTC)",
        "took = timeit.timeit(act)\nif took > 3:\n    raise AssertionError('slow')",
        "assert statistics.median([resource.getrusage(0) for _ in x]) < 3",
        "assert time.perf_counter() - began == pytest.approx(3)",
    ],
)  # fmt: skip
def test_an_assertion_over_a_clock_is_found(source: str) -> None:
    assert clock_asserts(source)


@pytest.mark.parametrize(
    "source",
    [
        "assert count < 5",
        "assert payments(home, datetime.now(UTC) - timedelta(days=1)) == 1",
        "end = time.monotonic() + 5\nwhile not so() and time.monotonic() < end:\n    look()\nassert so()",
        "assert file.stat().st_mtime_ns == before",
        "assert clock.now < 3",
    ],
)
def test_what_is_no_clock_passes(source: str) -> None:
    assert clock_asserts(source) == []


def test_no_test_asserts_how_long_something_took() -> None:
    found = {
        str(path.relative_to(TESTS)): lines
        for path in sorted(TESTS.rglob("*.py"))
        if path.name != "patience.py"
        and (path.parent != TESTS / "bench" or path.name.startswith("test_"))  # its rows are measured times
        and (lines := clock_asserts(path.read_text("utf-8")))
    }

    assert found == {}, (
        "count operations (tests/operations.py), wait by tests/patience.py, or make it a row of bench"
    )


_WAITS = {
    "wait",
    "join",
    "get",
    "acquire",
    "result",
    "communicate",
    "run",
    "create_connection",
    "HTTPConnection",
}
"""Calls that wait for another thread, process or server, with their longest wait first or by name."""


def short_waits(source: str) -> list[int]:
    """Lines that wait with a number of their own, from one second on, where `PATIENCE_S` would outlast a loaded machine."""
    tree = ast.parse(source)
    own = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _WAITS:
            continue
        longest = [one.value for one in node.keywords if one.arg == "timeout"]
        longest += node.args[:1] if name in {"wait", "join", "acquire", "result"} else []
        for one in longest:
            value = one.value if isinstance(one, ast.Constant) else own.get(getattr(one, "id", ""))
            if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < PATIENCE_S:
                found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "source",
    ["assert over.wait(20)", "thread.join(timeout=5.0)", "LONG_S = 10.0\nends.get(timeout=LONG_S)"],
)
def test_a_wait_with_a_number_of_its_own_is_found(source: str) -> None:
    assert short_waits(source)


@pytest.mark.parametrize(
    "source",
    ["assert over.wait(PATIENCE_S)", "assert not over.wait(0.05)", 'values.get("a")', '", ".join(rows)'],
)
def test_a_wait_of_the_one_patience_passes(source: str) -> None:
    assert not short_waits(source)


def test_the_person_at_the_window_has_the_same_patience() -> None:
    makers = [
        node
        for path in (Path(__file__).parent / "gui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Driver"
    ]
    assert makers
    assert {ast.unparse(node.args[-1]) for node in makers} == {"PATIENCE_S"}


def test_every_wait_outlasts_a_loaded_machine() -> None:
    """A test that waits ten seconds for another process fails on a machine that does more."""
    own = {"mcp_hostile_server.py"}  # its wait is the attack
    files = (path for path in TESTS.rglob("*.py") if "bench" not in path.parts and path.name not in own)
    assert [
        f"{path.relative_to(TESTS)}:{line}" for path in files for line in short_waits(path.read_text())
    ] == []
