"""Packages of an SDK that load their names when the first is asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from core.services.providers.late_packages import load_late
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[4]
NAME = "late_sample"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = tmp_path / NAME
    (made / "inner").mkdir(parents=True)
    (made / "one.py").write_text("class One: pass\n")
    (made / "inner" / "two.py").write_text("from ..one import One\nclass Two(One): pass\n")
    (made / "inner" / "__init__.py").write_text("from .two import Two as Two\n")
    (made / "__init__.py").write_text(
        "import builtins\nbuiltins.late_runs = getattr(builtins, 'late_runs', 0) + 1\n"
        "from .inner import Two as Two\nfrom .one import One as One\nMORE = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    load_late(NAME)
    yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def _runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.late_runs", 0, raising=False)


def runs() -> int:
    return int(import_module("builtins").__dict__["late_runs"])


def test_a_module_is_loaded_without_the_packages_around_it(folder: Path) -> None:
    two = import_module(f"{NAME}.inner.two")

    assert runs() == 0
    assert two.Two.__mro__[1] is import_module(f"{NAME}.one").One
    assert import_module(NAME).__path__ == [str(folder)]
    assert not hasattr(import_module(NAME), "__wrapped__"), "a look by a tool loads nothing"
    assert runs() == 0


@pytest.mark.usefixtures("folder")
def test_a_name_is_there_when_it_is_asked_for_and_the_package_runs_once() -> None:
    whole = import_module(NAME)

    assert (whole.MORE, whole.Two.__name__, runs()) == (3, "Two", 1)
    assert whole.Two is import_module(f"{NAME}.inner").Two
    with pytest.raises(AttributeError, match="has no attribute 'Three'"):
        _ = whole.Three
    assert runs() == 1


@pytest.mark.usefixtures("folder")
def test_threads_that_ask_at_once_get_one_class() -> None:
    whole, start, seen = import_module(NAME), Barrier(4), list[Any]()

    def ask() -> None:
        start.wait(PATIENCE_S)
        seen.append(whole.One)

    threads = [Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(PATIENCE_S)
    assert (len(seen), len(set(seen)), runs()) == (4, 1, 1)


def test_a_package_that_failed_can_be_asked_again(folder: Path) -> None:
    text = (folder / "__init__.py").read_text()
    (folder / "__init__.py").write_text(text + "import late_missing\n")
    whole = import_module(NAME)
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="late_missing"):
            _ = whole.MISSING
    assert runs() == 2


def test_a_package_with_names_on_demand_keeps_them(folder: Path) -> None:
    with (folder / "__init__.py").open("a") as file:
        file.write("def __getattr__(name):\n    return name.upper()\n")
    whole = import_module(NAME)
    assert (whole.MORE, whole.later) == (3, "LATER")


def run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=PATIENCE_S)


def test_the_sdk_of_openai_loads_without_the_types_that_no_call_uses() -> None:
    run(
        "import sys\n"
        "from core.services.providers.openai.sdk import done_stream, sdk_failures\n"
        "sdk_failures(), done_stream(object)\n"
        "loaded = [name for name in sys.modules if name.startswith('openai.types.')]\n"
        "assert 'openai' in sys.modules and len(loaded) < 100, len(loaded)\n"
    )


def test_all_types_of_openai_load_in_any_order() -> None:
    """A module that asked its own package for a name would fail here, and loads by `import openai`."""
    run(
        "import importlib, pkgutil, random, sys\n"
        "import core.services.providers.openai.sdk, openai.types as types\n"
        "found = list(pkgutil.walk_packages(types.__path__, 'openai.types.'))\n"
        "modules = [one.name for one in found if not one.ispkg]\n"
        "random.Random(7).shuffle(modules)\n"
        "for name in modules[::5]: importlib.import_module(name)\n"
        "packages = [importlib.import_module(one.name) for one in found if one.ispkg]\n"
        "for one in (*packages, types):\n"
        "    assert not hasattr(one, 'NoSuchName')\n"
        "assert types.Batch is importlib.import_module('openai.types.batch').Batch\n"
    )
