"""The window over HTTP: its picture, and what its widgets do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from core.hooks.controls import make_command
from core.hooks.conversation import pay
from core.hooks.fields import Body, Data, Name
from core.hooks.operation import Operation, Resource, operation
from core.hooks.refusals import RefusedError, for_a_person, unknown
from core.hooks.request import FRAMES_S, Answer, HookDesk, Request, Window
from core.turn.messages import PaidCommand

WINDOW_PANEL = "window"
"""The panel of `POST /api/ui` whose actions are those of the window's menus."""

T = TypeVar("T")


class ActionBody(Body, frozen=True, forbid_unknown_fields=False):
    """A command of a panel, its fields beside these; or an entry of the window's menus."""

    panel: Name
    action: Name


class ActionData(Data, frozen=True):
    """Action that was asked for."""

    panel: str
    action: str


async def screenshot(request: Request[None]) -> Answer:
    """The window as it is, PNG."""
    return Answer(await _drawn(request.desk, lambda window: window.screenshot()))


async def _drawn(desk: HookDesk, ask: Callable[[Window], T]) -> T:
    """Ask the window, which answers between two frames. Raises RefusedError (409, 503)."""
    window = desk.window
    if window is None:
        raise RefusedError(409, "no_window", "There is no window", "Start the program without --headless")
    async with desk.window_lock:
        try:
            return await asyncio.wait_for(asyncio.to_thread(ask, window), FRAMES_S)
        except TimeoutError as error:
            raise RefusedError(
                503, "slow", "The window does not draw", "Is it minimised? Try again"
            ) from error


async def _act_in_window(desk: HookDesk, action: str) -> None:
    try:
        is_done = await _drawn(desk, lambda window: window.act(action))
    except PermissionError as error:
        raise for_a_person() from error
    if is_done is None:
        raise unknown("action of the window", action)
    if not is_done:
        raise RefusedError(
            409, "not_now", f"{action!r} cannot be done just now", "Its menu entry is disabled"
        )


def operations(resources: Sequence[Resource]) -> tuple[Operation, ...]:
    """The operations on the window, whose panels are those of the resources."""

    async def act(request: Request[ActionBody]) -> Answer:
        """Do what a widget does: an entry of the window's menus, or a command of a panel."""
        panel, action = request.fields.panel, request.fields.action
        if panel == WINDOW_PANEL:
            await _act_in_window(request.desk, action)
        else:
            command = make_command(resources, request.state, panel, action, request.body)
            if isinstance(command, PaidCommand):
                await pay(request.desk, command)
            else:
                request.desk.front.send(command)
        return Answer(ActionData(panel, action), status=202)

    no_window = {409: "there is no window"}
    no_target = {404: "no such panel, action or discussion", 409: "no window, or not just now"}
    return (
        operation("GET", "/api/screenshot.png", screenshot, {200: bytes}, no_window),
        operation("POST", "/api/ui", act, {202: ActionData}, no_target),
    )
