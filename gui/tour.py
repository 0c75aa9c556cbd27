"""The guided tour: drives the real window with real input and the embedded model, and keeps pictures of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel import figures, paths
from core.kernel.disk import make_dirs, reported, write_file
from core.kernel.errors import SlopError
from core.kernel.values.state import AppState
from gui.app import LastLook, WindowApp
from gui.driver import NotFoundError
from gui.metrics import ASSETS
from gui.screen import virtual_screen
from gui.tour_chapters import agent, among, attach, import_talk, search, talk
from gui.tour_harvest import harvest, retrieval
from gui.tour_walk import Tour, TourError, ask, new_discussion, without_preset
from gui.window import Placement

WIDTH_PX, HEIGHT_PX = 1600, 1000
FIXED = {"providers.embedded.seed": 5}
"""A request has one reply on every tour of one machine; the time in it differs, so versions of a reply may."""
PRESET, FILES = "tide code", ("tides.py", "README.md")
QUESTION = "Write one sentence on what `height_m` returns."
"""A question that so small a model answers from the files, as tried; it says the same to every further one."""

FREE_MODELS = '[[model]]\nprovider = "compatible"\nid = "scripted"\ninput_usd = 0\noutput_usd = 0\n'
"""Prices of the scripted models, as their person gives them: a limit cannot hold where a price is not known."""


def run(out: Path, say: Callable[[str], None], until: str = "") -> list[Path]:
    """Take the tour on a virtual screen, a fresh home and a copy of the sample project. Returns its pictures.

    Args:
        out: where the pictures go; say: prints a line.
        until: its last chapter, of `TOUR_CHAPTERS`; empty for all.

    Raises:
        SlopError: there is no screen to take it on, `out` cannot be written, or a step did not come to its end.
    """
    if sys.platform != "linux":
        raise TourError("The tour drives the window through X11 and runs on Linux only")
    with reported("make", out):
        out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="manual-slop-tour-")))
        stack.enter_context(virtual_screen(WIDTH_PX, HEIGHT_PX))
        stack.enter_context(_own_folders(base))
        project = base / "tide-clock"
        shutil.copytree(ASSETS / "tour", project)
        return _walk(base / "home", project, out, say, until)


def _walk(home: Path, project: Path, out: Path, say: Callable[[str], None], until: str) -> list[Path]:
    start = time.monotonic()
    say(f"Manual Slop, guided tour. Sample project: {', '.join(sorted(p.name for p in project.iterdir()))}")
    say(
        "The model that answers is the built-in one. It is small: it answers simple questions, and often errs."
    )
    controller = AppController(LocalOutside(OutsideOptions(home=home, start=project, overrides=FIXED)))
    controller.start()
    app = WindowApp(
        look=LastLook(placement=Placement(x=0, y=0, width=WIDTH_PX, height=HEIGHT_PX)),
        find_controller=lambda: controller,
    )
    app.open()
    tour = Tour(app=app, out=out, say=say)
    try:
        for chapter in _chapters(tour, project, start):
            if chapter == until:
                break
    except (SlopError, NotFoundError, TimeoutError) as error:
        tour.shot("stopped-here")
        if isinstance(error, SlopError):
            raise
        raise TourError(f"The tour stopped: {error}", remedy="See the last picture") from error
    finally:
        controller.stop()
    _reopen(tour, home, project)
    say(f"{time.monotonic() - start:7.2f} s  done; {len(tour.pictures)} pictures in {out}")
    return tour.pictures


def _chapters(tour: Tour, project: Path, start: float) -> Iterator[str]:
    """Walk on from chapter to chapter: `TOUR_CHAPTERS`, each named once it is over."""
    tour.wait(
        lambda s: s.config.providers and not s.program.is_loading, "settings and the list of discussions"
    )
    tour.say(f"{time.monotonic() - start:7.2f} s  the window is open")
    tour.shot("start")
    tour.wait(lambda s: s.discussions.selected_id in s.discussions.open, "the first discussion")
    yield "start"
    talked = tour.chosen()
    talk(tour)
    yield "talk"
    _look_at_caching(tour)
    yield "caching"
    new_discussion(tour)
    _make_preset(tour)
    yield "preset"
    ask(tour, QUESTION, "file-turn")
    yield "question"
    _look_at_context(tour)
    yield "context"
    search(tour, talked)
    yield "search"
    harvest(tour, talked)
    tour.dismiss_notices()
    yield "harvest"
    new_discussion(tour)
    without_preset(tour)
    attach(tour)
    yield "attach"
    import_talk(tour, project)
    yield "import"
    retrieval(tour, project)
    yield "retrieval"
    agent(tour, project.parent / "home", project)
    yield "agent"
    among(tour, project.parent / "home", project)
    yield "among"
    _change_theme(tour)
    yield "theme"


def _make_preset(tour: Tour) -> None:
    """Create a preset in the dialog, and add files by their paths."""
    driver = tour.driver
    driver.click("Presets")
    driver.until(lambda: driver.has("New preset"), "the presets")
    driver.click("New preset")
    driver.until(lambda: driver.has("Create"), "the dialog")
    driver.type(PRESET)
    driver.key("Enter")
    took = tour.wait(lambda s: PRESET in s.config.project.presets, "the preset")
    tour.say(f"{took:7.2f} s  new context preset {PRESET!r}")
    for count, name in enumerate(FILES, start=1):
        driver.click("Add a path or glob")
        driver.type(name)
        driver.key("Enter")
        tour.wait(_has_items(count), f"{name} in the preset")
    chosen = tour.chosen()
    took = tour.wait(
        lambda s: chosen in s.context.reports and s.context.reports[chosen].total_tokens_est > 300,
        "the files' tokens",
    )
    report = tour.state.context.reports[chosen]
    tour.say(f"{took:7.2f} s  added {' and '.join(FILES)}: about {report.total_tokens_est:,} tokens to send")
    driver.click("Save")
    tour.wait(lambda s: not s.config.project.unsaved_presets, "the project's file")
    tour.say("          saved to manual_slop.toml")
    tour.shot("preset")


def _has_items(count: int) -> Callable[[AppState], bool]:
    return lambda state: len(state.config.project.presets[PRESET].items) == count


def _look_at_context(tour: Tour) -> None:
    tour.driver.click("Context")
    tour.driver.step(4)
    tour.say("          Context view: layers, tokens and what changed since the last request")
    tour.shot("context")


def _look_at_caching(tour: Tour) -> None:
    tour.driver.key("Ctrl+4")
    tour.driver.step(4)
    held = tour.state.caching.caches.get(tour.chosen())
    if held is not None:
        tour.say(
            f"          Caching panel: {held.tokens_cached:,} tokens held, {figures.count(held.hit_count, 'hit')}"
        )
    tour.shot("caching")


def _change_theme(tour: Tour) -> None:
    """Through the settings page, as a person would."""
    driver = tour.driver
    driver.key("Ctrl+,")
    driver.until(lambda: driver.has("Appearance"), "the settings page")
    driver.click("Appearance")
    driver.step(4)
    tour.shot("settings")
    driver.click("Theme")
    driver.until(lambda: driver.has("Light"), "the choice of themes")
    driver.click("Light")
    tour.wait(lambda s: s.config.settings.appearance.theme == "light", "the light theme")
    driver.key("Escape")
    driver.step(4)
    tour.say("          light theme, chosen in Settings, Appearance")
    tour.shot("light")


def _reopen(tour: Tour, home: Path, project: Path) -> None:
    """Close, open again, and find it all."""
    before = tour.state
    controller = AppController(LocalOutside(OutsideOptions(home=home, start=project, overrides=FIXED)))
    start = time.monotonic()
    controller.start()
    tour.app.controller = controller
    try:
        chosen = before.discussions.selected_id
        tour.wait(
            lambda s: chosen in s.discussions.open and bool(s.config.providers), "the discussion of before"
        )
        found = tour.state
        if (
            found.discussions.open[chosen].entries != before.discussions.open[chosen].entries
            or found.config.project.presets.keys() != before.config.project.presets.keys()
        ):
            raise TourError("After a restart something was missing")
        tour.say(
            f"{time.monotonic() - start:7.2f} s  closed and opened again: every message and preset is there"
        )
        tour.shot("reopened")
    finally:
        controller.stop()


@contextmanager
def _own_folders(base: Path) -> Iterator[None]:
    """Settings, caches and logs of the tour in a folder of its own."""
    wanted = {
        name: str(base / name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    }
    wanted["MANUAL_SLOP_CONFIG"] = str(base / "config.toml")
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        make_dirs(paths.models_file().parent)
        write_file(paths.models_file(), FREE_MODELS.encode())
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
