"""The frame loop: takes input, describes when something changed, paces itself, survives broken callbacks."""

from __future__ import annotations

import ctypes
import inspect
import sys
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import dearpygui.dearpygui as dpg
import msgspec

from gui.binding import DpgUi
from gui.canvas import Canvas, Press
from gui.describe import Tree
from gui.elements.base import Element, chain_at
from gui.elements.popups import MenuPoint
from gui.elements.surfaces import Dim
from gui.elements.text import StackedBar
from gui.input_watch import InputWatch, find_watch
from gui.keys import GATE, FileDrops, KeyEvents, Keys, is_letter
from gui.text_buffer import visible
from gui.text_layout import wrap_text
from panels.base.ui import Ui

AGAIN_S = 0.45
AGAIN_PX = 6.0
"""Time and distance within which presses count together: 2 for a word, 3 for a paragraph."""


class Pointer:
    """Holder of the mouse: the element that it went down on, until it goes up.

    Args:
        tree: whose elements are asked, the innermost first; keys: Shift extends a selection.

    Attributes:
        is_early: the button went down on a dialog that took no answers yet, and has not been seen up since.
    """

    def __init__(self, tree: Tree, keys: Keys) -> None:
        self._tree = tree
        self._keys = keys
        self._held: Element | None = None
        self.is_early = False
        self._last = Press(x=-1, y=-1, count=0)
        self._last_s = float("-inf")
        self._seen: tuple[float, float, bool] = (-1.0, -1.0, False)
        self._still_s = 0.0

    def press(self, now_s: float) -> Press | None:
        """The left button went down. Returns the press where no element took it: it is the text's.

        The toolkit reads one event a frame and tells no time of it: a press is as old as the last frame that read none.
        """
        x, y = dpg.get_mouse_pos(local=False)
        last = self._last
        is_again = (
            self._still_s - self._last_s < AGAIN_S and max(abs(x - last.x), abs(y - last.y)) <= AGAIN_PX
        )
        count = last.count % 3 + 1 if is_again else 1
        self._last, self._last_s = (
            Press(x=x, y=y, count=count, is_extending=self._keys.is_held("Shift")),
            now_s,
        )
        front = self._tree.front(x, y)
        chain = chain_at(front, x, y)
        if front is self._tree.root:
            self._tree.note_press(chain)
        self._held = None
        self.is_early = not front.is_meant()
        if self.is_early:
            return None
        self._held = next(
            (element for element in reversed(chain) if element.on_press(self._last, self._tree.m)), None
        )
        return self._last if self._held is None else None

    def move(self, now_s: float) -> bool:
        """Tell the element that is held where the mouse is; whether there is one. In every frame."""
        seen = (*dpg.get_mouse_pos(local=False), dpg.is_mouse_button_down(0))
        self._still_s = now_s if seen == self._seen else self._still_s
        self._tree.still_s = self._still_s
        self._seen = seen
        self.is_early = self.is_early and seen[2]
        held = self._held
        if held is None:
            return False
        if not dpg.is_mouse_button_down(0):
            self._held = None
            held.on_release()
        elif held.spot is not None:
            x, y = dpg.get_mouse_pos(local=False)
            held.on_drag(x, y, self._tree.m)
        return True


# Hover: the element under the mouse, found in the tree, and the tooltip that belongs to it.

DELAY_S = 0.4
SAID_FOR_S = 1.2
READ_S_A_CHAR = 0.06
WIDEST_PX = 380.0


def tip_of(element: Element, x: float) -> str:
    """The tooltip of an element with the mouse at `x` of the viewport."""
    if isinstance(element, StackedBar) and element.spot and element.pane:
        return element.tip_at(x - element.pane.origin()[0] - element.spot[0])
    return element.tooltip()


class Hover(msgspec.Struct):
    """The chain under the mouse, and the tooltip drawn over everything.

    Args:
        canvas: fonts and colours of the tooltip.
    """

    canvas: Canvas
    chain: list[Element]
    tip: str = ""
    since_s: float = 0.0
    drawn: tuple[str, int, int] = ("", 0, 0)
    sheet: int = 0
    said: tuple[str, float, float] = ("", 0.0, 0.0)
    said_until_s: float = 0.0

    def update(self, tree: Tree, x: float, y: float, now_s: float) -> bool:
        """Find what is under the mouse; whether that changed."""
        chain = chain_at(tree.front(x, y), x, y)
        is_new = chain != self.chain
        if is_new:
            for element in self.chain:
                element.is_hovered = False
            for element in chain:
                element.is_hovered = True
            for element in (*self.chain, *chain):
                if element.repaints:
                    element.touch()
            self.chain = chain
        tip = next((found for element in reversed(chain) if (found := tip_of(element, x))), "")
        if tip != self.tip:
            self.tip, self.since_s = tip, now_s
        if now_s < self.said_until_s:
            self._show(*self.said)
        else:
            is_new = is_new or self.said_until_s > 0
            self.said_until_s = 0.0
            self._show(tip if now_s - self.since_s >= DELAY_S else "", round(x), round(y))
        return is_new

    def say(self, what: str, x: float, y: float, now_s: float) -> None:
        """Show a word beside the mouse for a moment."""
        self.said, self.said_until_s = (
            (what, round(x), round(y)),
            now_s + max(SAID_FOR_S, READ_S_A_CHAR * len(what)),
        )
        self._show(*self.said)

    def rest_s(self, now_s: float) -> float:
        """Seconds after which a frame takes a word away that is shown; infinity for none."""
        return max(0.0, self.said_until_s - now_s) if self.said_until_s > 0 else float("inf")

    def is_waiting(self, now_s: float) -> bool:
        """True while a tooltip is about to appear."""
        return self.said_until_s > 0 or (bool(self.tip) and now_s - self.since_s < DELAY_S + 0.1)

    def hide(self) -> None:
        """Take the tooltip away until the mouse rests again."""
        self._show("", 0, 0)
        self.since_s = float("inf")

    def _show(self, tip: str, x: float, y: float) -> None:
        if tip == self.drawn[0]:
            return
        if not self.sheet:
            self.sheet = int(dpg.add_viewport_drawlist(front=True))
        dpg.delete_item(self.sheet, children_only=True)
        self.drawn = (tip, round(x), round(y))
        if tip:
            self._draw(tip, x, y)

    def _draw(self, tip: str, x: float, y: float) -> None:
        c, m = self.canvas, self.canvas.m
        table, size = m.table("small"), m.sizes["small"]
        lines = wrap_text(visible(tip[:2000]), lambda char: table[char] * size, m.px(WIDEST_PX))[:14]
        step = round(size * 1.3)
        pad_x, pad_y = m.px(10), m.px(7)
        w = max(m.width(line, "small") for line in lines) + 2 * pad_x
        h = step * (len(lines) - 1) + size + 2 * pad_y
        view_w, view_h = dpg.get_viewport_client_width(), dpg.get_viewport_client_height()
        left = max(4.0, min(x + m.px(12), view_w - w - 4))
        top = y + m.px(20) if y + m.px(20) + h < view_h else y - h - m.px(6)
        dpg.draw_rectangle(
            (left, top),
            (left + w, top + h),
            fill=c.color("raised"),
            color=c.color("border_strong"),
            rounding=m.px(6),
            parent=self.sheet,
        )
        for index, line in enumerate(lines):
            at = (round(left + pad_x), round(top + pad_y + index * step))
            item = dpg.draw_text(at, line, size=size, color=c.color("text"), parent=self.sheet)
            dpg.bind_item_font(item, c.fonts.drawn("small"))


# Pace of the window: when a frame is due and how long to rest, from what happened and when. Pure.

ACTIVE_FPS = 60.0
ACTIVE_FOR_S = 0.7
"""Time after input in which frames follow each other: hovering, focus and tooltips take some to settle."""
BLIND_FPS = 20.0
QUIET_FPS = 4.0
AWAY_FPS = 1.0
QUIET_AFTER_S = 5.0
LONGEST_REST_S = 10.0
"""A rest that nothing ends costs nothing but a look at the clock."""
EARLY_REST_S = 0.02
"""Rest while the controller, which will tell of changes, is not there yet."""


class Pace(msgspec.Struct):
    """Times of the last input and of the last frame, in seconds of one clock.

    Args:
        hears_input: True if input ends a rest; False: only a frame finds out about it.
    """

    hears_input: bool = False
    input_s: float = float("-inf")
    frame_s: float = float("-inf")
    due_s: float = float("inf")
    is_away: bool = False

    def note_input(self, now_s: float) -> None:
        """The person did something."""
        self.input_s = now_s

    def note_frame(self, now_s: float, *, wants_s: float, is_away: bool) -> None:
        """A frame was drawn. `wants_s`: the next one is wanted after so long, infinity for never."""
        self.frame_s = now_s
        self.due_s = now_s + wants_s
        self.is_away = is_away

    def is_active(self, now_s: float) -> bool:
        """True shortly after input."""
        return now_s < self.input_s + ACTIVE_FOR_S

    def next_frame_s(self, now_s: float) -> float:
        """Time of the next frame, if nothing happens before."""
        if self.is_active(now_s):
            return self.frame_s + 1 / ACTIVE_FPS
        if self.hears_input:
            return self.due_s
        is_quiet = now_s >= self.input_s + QUIET_AFTER_S
        fps = BLIND_FPS if not is_quiet else AWAY_FPS if self.is_away else QUIET_FPS
        return min(self.due_s, self.frame_s + 1 / fps)

    def rest_s(self, now_s: float, *, is_early: bool) -> float:
        """Longest rest now."""
        longest = EARLY_REST_S if is_early else LONGEST_REST_S
        return min(longest, max(0.0, self.next_frame_s(now_s) - now_s))


# Frames that are read and not drawn, where the processor does the drawing: of keys that came in a burst,
# the toolkit hands over one a frame, and a picture of each would take many times as long as the key.

_GL_RASTERIZER_DISCARD, _GL_RENDERER = 0x8C89, 0x1F01
_BY_PROCESSOR = ("llvmpipe", "softpipe", "swrast")
"""Names of Mesa's software renderers. They copy the picture to the window and keep it: where nothing is drawn, the last
one stays. Cards swap two pictures, and would show an older one."""

Discard = Callable[[bool], object]


def _draw(_: bool) -> None:
    """Draw every frame."""


class UnseenFrames:
    """Frames without a picture. Needs the GL context of this thread.

    Args:
        discard: has the driver drop all that is drawn, or no longer; None where every frame must be drawn.
    """

    def __init__(self, discard: Discard | None) -> None:
        self._discard = discard

    @property
    def are_possible(self) -> bool:
        """True if a frame may go undrawn, and that saves something."""
        return self._discard is not None

    @contextmanager
    def undrawn(self) -> Iterator[None]:
        """Leave the picture as it is while frames are rendered, where that is possible."""
        discard = self._discard or _draw
        discard(True)
        try:
            yield
        finally:
            discard(False)


def find_unseen_frames() -> UnseenFrames:
    """Unseen frames of the window of this thread. Call it after the window is shown.

    Source: OpenGL 3.0, "Rasterizer discard" (a clear is dropped, too). A frame into no buffer took Mesa 22.3 three times as
    long, and Mesa's driver that draws nothing (`GALLIUM_NOOP`) keeps the vertices of each frame: 100 KB of each of ours.
    """
    if sys.platform != "linux":
        return UnseenFrames(None)
    try:
        gl = ctypes.CDLL("libGL.so.1")
        gl.glGetString.restype = ctypes.c_char_p
        for name in ("glGetString", "glEnable", "glDisable"):
            getattr(gl, name).argtypes = [ctypes.c_uint]
        gl.glEnable.restype = gl.glDisable.restype = None
        renderer = (gl.glGetString(_GL_RENDERER) or b"").decode("latin-1").casefold()
    except (OSError, AttributeError):
        return UnseenFrames(None)
    if not any(name in renderer for name in _BY_PROCESSOR):
        return UnseenFrames(None)
    return UnseenFrames(lambda is_on: (gl.glEnable if is_on else gl.glDisable)(_GL_RASTERIZER_DISCARD))


SETTLE_FRAMES = 2
CATCH_UP_S = 0.25
"""Longest without a picture while keys come faster than frames are drawn."""


class Loop:
    """Runs frames. All Dear PyGui calls happen on the thread that runs it.

    Args:
        ui: the binding.
        describe: draws one frame of the window.
        revision: a value that differs whenever the state that `describe` reads differs.
        on_close: the person asked to close the window.
        on_failure: takes an exception that a callback or a panel raised, to show it as a notice.
        on_input: the person used a key or the pointer; called in each frame that saw it.
    """

    def __init__(
        self,
        ui: DpgUi,
        describe: Callable[[Ui], None],
        revision: Callable[[], Hashable],
        *,
        on_close: Callable[[], None],
        on_failure: Callable[[BaseException], None] = lambda _: None,
        on_input: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.ui = ui
        self._describe = describe
        self._revision = revision
        self._on_close = on_close
        self._on_failure = on_failure
        self._on_input = on_input
        self._clock = clock
        self._shown: tuple[object, ...] = ()
        self._fresh = SETTLE_FRAMES
        self._is_drawn = True
        self._watch: InputWatch | None = None
        self._pace = Pace()
        self._mouse = (-1.0, -1.0)
        self._hover = Hover(canvas=ui.canvas, chain=[])
        self._pointer = Pointer(ui.tree, ui.keys)
        self._events = KeyEvents()
        self._is_running = False
        self._unseen = UnseenFrames(None)
        self._typed_frames = 0
        self._failed: str = ""
        self._posted: deque[Callable[[], object]] = deque()
        self.frames = self.described = 0
        self._listen()

    def _listen(self) -> None:
        keys = self.ui.keys
        keys.presses = self._events
        self.ui.tree.drops = FileDrops(self.wake)
        with dpg.handler_registry():
            dpg.add_key_press_handler(callback=lambda _, code: self._on_key(_code(code)))
            dpg.add_key_release_handler(callback=lambda _, code: keys.on_release(_code(code)))
            dpg.add_mouse_wheel_handler(callback=lambda _, delta: self._on_wheel(float(delta)))
            dpg.add_mouse_click_handler(callback=lambda *_: self._hover.hide())
            dpg.add_mouse_click_handler(button=0, callback=lambda *_: self._on_press())
            dpg.add_mouse_click_handler(button=1, callback=lambda *_: self._on_right_click())
        dpg.set_exit_callback(lambda *_: self._on_close())
        dpg.set_viewport_resize_callback(lambda *_: self.wake())

    def _on_key(self, code: int) -> None:
        """Note a key; a tooltip goes, for whoever types reads what it lies over."""
        self.ui.keys.on_press(code)
        self._hover.hide()

    def wake(self) -> None:
        """Describe the next frames although nothing seems to have changed."""
        self._fresh = SETTLE_FRAMES
        self._is_drawn = False

    def nudge(self) -> None:
        """End the rest between two frames: the state may have changed. Thread-safe."""
        if self._watch is not None:
            self._watch.nudge()

    def watch_with(self, watch: InputWatch) -> None:
        """Rest with this watch, in place of the best of this system that `run` finds."""
        self._watch = watch

    def post(self, job: Callable[[], object]) -> None:
        """Run a job on the loop's thread in its next frame. Thread-safe."""
        self._posted.append(job)
        self.nudge()

    def stop(self) -> None:
        """Leave `run` after the current frame."""
        self._is_running = False
        self.nudge()

    def frame(self) -> bool:
        """One frame: render, dispatch what happened, describe when needed. Whether anything happened."""
        if not self.frames:
            self._draw_first()
        dpg.render_dearpygui_frame()
        self.frames += 1
        self._is_drawn = True
        had_jobs = self._dispatch()
        self.ui.poll()
        return self._react(had_jobs=had_jobs)

    def _react(self, *, had_jobs: bool) -> bool:
        """Answer what a frame read; describe when needed. Whether anything happened."""
        now = self._clock()
        self._is_drawn = not self.ui.has_blinked
        x, y = dpg.get_mouse_pos(local=False)
        is_dragging = self._pointer.move(now)
        is_selecting = self.ui.tree.prose.follow(x, y, is_down=dpg.is_mouse_button_down(0))
        has_input = (x, y) != self._mouse or self.ui.keys.has_news or self.ui.tree.root.touched
        is_busy = is_dragging or is_selecting or had_jobs or has_input
        if has_input:
            self._on_input()
        if (x, y) != self._mouse or is_busy or self._fresh or self._hover.is_waiting(now):
            self._mouse = (x, y)
            is_busy = self._hover.update(self.ui.tree, x, y, now) or is_busy
        size = (dpg.get_viewport_client_width(), dpg.get_viewport_client_height())
        shown = (self._revision(), size)
        if shown != self._shown or is_busy:
            self._fresh = SETTLE_FRAMES
        if self._fresh > 0 and min(size) > 0:
            self._fresh -= 1
            self._shown = shown
            self._draw(*size)
            self._say(x, y, now)
        if is_busy or any(dpg.is_mouse_button_down(button) for button in _BUTTONS):
            self._pace.note_input(now)
        top = self.ui.tree.now_uppermost()
        question = top if isinstance(top, Dim) and not top.is_summoned else None
        if GATE.tick(self._events, is_lent=self.ui.tree.keyboard.is_lent, question=question):
            self.wake()
        rest_s = min(self.ui.rest_s, self._hover.rest_s(now))
        self._pace.note_frame(now, wants_s=rest_s, is_away=_is_away(x, y, *size))
        return is_busy

    def _look(self) -> None:
        """Describe without a frame when the state has changed: one is rendered only if that shows."""
        size = (dpg.get_viewport_client_width(), dpg.get_viewport_client_height())
        shown = (self._revision(), size)
        if shown != self._shown and min(size) > 0:
            self._shown = shown
            self._draw(*size)
            if not self._is_drawn:
                self._fresh = 1

    def _draw_first(self) -> None:
        """Describe before anything is rendered: the first frame shows the window, not its background."""
        size = (dpg.get_viewport_client_width(), dpg.get_viewport_client_height())
        if min(size) > 0:
            self._draw(*size)

    def _draw(self, width: int, height: int) -> None:
        """Describe once, and once more for each further chord of a burst: it may be for what the one before opened."""
        keys = self.ui.keys
        for _ in range(max(1, keys.turns)):
            if keys.has_answered and keys.turns:
                with keys.put_off():
                    self._draw_once(width, height)
            keys.has_answered = False
            self._draw_once(width, height)

    def _draw_once(self, width: int, height: int) -> None:
        try:
            self.described += 1
            self.ui.frame(self._describe, width, height)
            self._failed = ""
            self._is_drawn = self._is_drawn and not self.ui.has_painted
        except Exception as error:  # noqa: BLE001  the callback pump: one broken panel must not end the window
            self._report(error)

    def _report(self, error: Exception) -> None:
        """Log a failure once while it lasts, and tell the person."""
        if repr(error) != self._failed:
            self._failed = repr(error)
            import logging  # with `traceback`: nothing has failed when the first frame is drawn

            logging.getLogger(__name__).error("a frame or callback failed", exc_info=error)
            self._on_failure(error)

    def _dispatch(self) -> bool:
        """Run what the toolkit queued and others posted, each by itself: one that fails loses no other."""
        posted = [(self._posted.popleft(),) for _ in range(len(self._posted))]
        jobs: list[Any] = [*(dpg.get_callback_queue() or ()), *posted]
        for callback, *arguments in jobs:
            if callback is None or _is_early(callback, is_press_early=self._pointer.is_early):
                continue
            try:
                wanted = _positional(callback)
                callback(*(arguments if wanted is None else arguments[:wanted]))
            except Exception as error:  # noqa: BLE001  the callback pump: a broken callback loses no other
                self._report(error)
        return bool(jobs)

    def _on_wheel(self, delta: float) -> None:
        for element in reversed(self._hover.chain):
            if element.on_wheel(delta, self.ui.tree.m):
                return

    def _on_press(self) -> None:
        press = self._pointer.press(self._clock())
        if press is not None:
            self.ui.tree.prose.press(press)
        self.wake()

    def _say(self, x: float, y: float, now_s: float) -> None:
        """Tell beside the mouse what was done that shows nowhere else."""
        if self.ui.tree.said:
            self._hover.say(self.ui.tree.said, x, y, now_s)
            self.ui.tree.said = ""

    def _on_right_click(self) -> None:
        for element in reversed(self._hover.chain):
            takes = element.on_right_click()
            for kid in element.order:
                if isinstance(kid, MenuPoint):
                    kid.asked_at = self._mouse
                    return
            if takes:
                return

    def run(self) -> None:
        """Run until `stop`: frames for input, for a change that shows and for what moves, and none at rest."""
        sys.setswitchinterval(0.001)
        self._is_running = True
        self._unseen = find_unseen_frames()
        if self._watch is None:
            self._watch = find_watch()
        self._pace.hears_input = self._watch.hears_input
        self._pace.note_input(self._clock())
        while self._is_running and dpg.is_dearpygui_running():
            self.turn(self._watch)
        watch, self._watch = self._watch, None
        watch.close()

    def turn(self, watch: InputWatch) -> None:
        """One turn of `run`: a frame or a look, then a rest."""
        start = self._clock()
        if self._has_news() or start >= self._pace.next_frame_s(start):
            self.frame()
            self._typed_frames = self._typed_frames + 1 if self.ui.has_typed else 0
            if self._typed_frames > 1 and self._unseen.are_possible:
                self._catch_up()
        else:
            self._look()
        now = self._clock()
        if self.ui.is_keyboard_on_its_way or self.ui.has_typed:
            return
        if self._has_news():
            time.sleep(max(0.0, 1 / ACTIVE_FPS - (now - start)))
        elif watch.wait(self._pace.rest_s(now, is_early=self._revision() is None)):
            self._pace.note_input(self._clock())

    def _catch_up(self) -> None:
        """Take in what is typed faster than frames can be drawn, a frame for each key, and draw none of them."""
        until = self._clock() + CATCH_UP_S
        with self._unseen.undrawn():
            while self.ui.has_typed and self._clock() < until:
                dpg.render_dearpygui_frame()
                self.frames += 1
                had_jobs = self._dispatch()
                self.ui.poll()
                if not self._heard_letters_alone():
                    self._react(had_jobs=had_jobs)
                    break
                self.ui.keys.end_frame()  # letters are no chords: the characters wait for their editor
        self.wake()

    def _heard_letters_alone(self) -> bool:
        """True if the last frame read characters, and nothing that must be answered before the next one is read."""
        is_still = dpg.get_mouse_pos(local=False) == [*self._mouse] and not self.ui.tree.root.touched
        is_up = not any(dpg.is_mouse_button_down(button) for button in _BUTTONS)
        return self.ui.has_typed and is_still and is_up and all(map(is_letter, self.ui.keys.chords()))

    def _has_news(self) -> bool:
        """True if a frame is due at once."""
        return not self._is_drawn or self._fresh > 0 or bool(self._posted) or self.ui.is_settling


_BUTTONS = (dpg.mvMouseButton_Left, dpg.mvMouseButton_Right, dpg.mvMouseButton_Middle)


def _is_early(callback: Callable[..., Any], *, is_press_early: bool) -> bool:
    """True of a click in a dialog that had not stood there when the click began."""
    element = getattr(callback, "__self__", None)
    if not isinstance(element, Element) or not (is_press_early or not element.is_meant()):
        return False
    return element.refuse_click()


def _is_away(x: float, y: float, width: float, height: float) -> bool:
    """True if the mouse is not over the window."""
    return not (0 <= x < width and 0 <= y < height)


def _code(data: Any) -> int:
    """The key code of a handler's data: a number, or for held keys a number and a duration."""
    return int(data[0]) if isinstance(data, list | tuple) else int(data)


def _positional(callback: Callable[..., Any]) -> int | None:
    """Number of positional arguments that a callback takes; None: any number."""
    kinds = [parameter.kind for parameter in inspect.signature(callback).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return len(kinds)
