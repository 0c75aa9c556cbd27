"""The operations on the harvest: look, preview, apply, undo, cancel; each run answers when it began, or has ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.hooks.asked import ACT_S, Answer, Asked
from core.hooks.data_of_knowledge import Page, harvest_data
from core.hooks.knowing import page_of
from core.hooks.pointed import check_apply, check_candidates, check_proposed
from core.hooks.refusals import RefusedError
from core.hooks.shapes_of_knowledge import ALL
from core.step.harvest import NOTICE
from core.values.commands import (
    ApplyHarvest,
    CancelHarvest,
    LookForHarvest,
    PreviewHarvest,
    TickHarvestItems,
    UndoHarvest,
)
from core.values.harvest import HarvestPhase, HarvestPreview, HarvestState
from core.values.state import AppState, Level, Notice

RUN_S = 86_400.0


async def harvest(asked: Asked) -> Answer:
    """The harvest: phase, progress, conversations with their class, what was proposed, ledger, applies, reports."""
    return Answer(harvest_data(asked.state.harvest, page_of(asked)))


async def look(asked: Asked) -> Answer:
    """Look at the conversations, the ledger and the applies; changes nothing on disk."""
    async with asked.desk.harvest_lock:
        run = await _begun(asked, LookForHarvest(), HarvestPhase.LOOKING)
    return await _answer(run)


async def preview(asked: Asked) -> Answer:
    """Look, then have the model read conversations and propose items."""
    asked.check_writable()
    paths = tuple(asked.body.get("paths", ()))
    async with asked.desk.harvest_lock:
        await _looked(asked)
        check_candidates(asked.state, paths)
        run = await _begun(asked, PreviewHarvest(paths), HarvestPhase.PREVIEWING)
    return await _answer(run)


async def apply(asked: Asked) -> Answer:
    """Write what is ticked, prove it, reclaim the previewed conversations and prune the empty ones."""
    asked.check_writable()
    async with asked.desk.harvest_lock:
        found = asked.state.harvest
        _check_idle(found)
        proposed = found.preview
        if proposed is None:
            paths = await _given_up(asked)
        else:
            paths = ()
            _tick(asked, proposed)
        run = await _begun(asked, ApplyHarvest(paths), HarvestPhase.APPLYING)
    return await _answer(run)


async def undo(asked: Asked) -> Answer:
    """Take an apply back: items out, conversations out of the trash."""
    asked.check_writable()
    apply_id = asked.body.get("apply_id", "")
    async with asked.desk.harvest_lock:
        await _looked(asked)
        check_apply(asked.state, apply_id)
        run = await _begun(asked, UndoHarvest(apply_id), HarvestPhase.UNDOING)
    return await _answer(run)


async def cancel(asked: Asked) -> Answer:
    """Stop the run under way; what is being written is finished."""
    run = _Run.of(asked)
    if not run.before.is_busy:
        raise RefusedError(409, "nothing_runs", "No run of the harvest is under way")
    asked.desk.front.send(CancelHarvest())
    return await _answer(run)


async def _looked(asked: Asked) -> None:
    """Have the conversations as they are now. Raises RefusedError."""
    run = await _begun(asked, LookForHarvest(), HarvestPhase.LOOKING)
    found = (await run.ended()).harvest
    if found.look is run.before.look:
        raise RefusedError(409, "not_now", found.problem or "The look was stopped", "Try again")


async def _given_up(asked: Asked) -> tuple[str, ...]:
    """Without a preview: the conversations that go unharvested. Raises RefusedError (404, 409)."""
    if "items" in asked.body:
        raise RefusedError(
            409, "no_preview", "There is no preview to choose from", "Send POST /api/harvest/preview first"
        )
    await _looked(asked)
    paths = tuple(asked.body.get("paths", ()))
    check_candidates(asked.state, paths)
    return paths


def _tick(asked: Asked, proposed: HarvestPreview) -> None:
    """Take what the request names into the choice, and everything else out of it. Raises RefusedError."""
    if asked.body.get("paths"):
        raise RefusedError(
            409,
            "has_preview",
            "There is a preview: its conversations are applied, no others",
            "Send no paths, or discard the preview (POST /api/ui, panel harvest, discard_preview)",
        )
    wanted = asked.body.get("items")
    if wanted is None:
        return
    every = tuple(one.id for one in proposed.items)
    if isinstance(wanted, str):
        if wanted != ALL:
            raise RefusedError(422, "wrong_body", f"body.items must be ids or {ALL!r}, not {wanted!r}")
        wanted = every
    check_proposed(proposed, wanted)
    asked.desk.front.send(TickHarvestItems(every, is_ticked=False))
    asked.desk.front.send(TickHarvestItems(tuple(wanted), is_ticked=True))


@dataclass(frozen=True, slots=True)
class _Run:
    """A run and the state before it. `is_seen`: it was under way, so that it is over when none is."""

    asked: Asked
    before: HarvestState
    notices: frozenset[Notice]
    is_seen: bool = False

    @staticmethod
    def of(asked: Asked) -> _Run:
        state = asked.state
        return _Run(asked, state.harvest, frozenset(state.notices), state.harvest.is_busy)

    def is_done(self, state: AppState) -> bool:
        """Whether it has ended, well or not."""
        if state.harvest.is_busy:
            return False
        has_changed = _outcome(state.harvest) != _outcome(self.before)
        return self.is_seen or has_changed or self.fault(state) is not None

    def fault(self, state: AppState, level: Level = Level.ERROR) -> Notice | None:
        """What was said of the harvest since."""
        new = [one for one in state.notices if one.id == NOTICE and one not in self.notices]
        return next((one for one in new if one.level is level), None)

    async def ended(self) -> AppState:
        """Wait for its end. Raises RefusedError: 500 it could not begin or go on."""
        state = await self.asked.desk.watch.until(self.is_done, RUN_S)
        if state is None:
            raise RefusedError(503, "slow", f"The run has not ended for {RUN_S:g} s", "Cancel it")
        if (fault := self.fault(state)) is not None:
            raise RefusedError(500, "failed", fault.text, fault.detail)
        return state


def _outcome(found: HarvestState) -> tuple[object, ...]:
    """What an ended run leaves: something of it is another than before."""
    preview = found.preview
    proposed = None if preview is None else (id(preview.sources), id(preview.failures))
    return found.looked_at, proposed, id(found.report), id(found.undone), found.problem, found.use


def _check_idle(found: HarvestState) -> None:
    if found.is_busy:
        raise RefusedError(
            409, "busy", f"The harvest is {found.phase.value}", "Wait for its end, or cancel it"
        )


async def _begun(
    asked: Asked, command: LookForHarvest | PreviewHarvest | ApplyHarvest | UndoHarvest, phase: HarvestPhase
) -> _Run:
    """Send a command and wait until its run is under way, or over.

    Raises:
        RefusedError: 409 another run is under way, or there is nothing to do; 503 nothing happened in time.
    """
    run = _Run.of(asked)
    _check_idle(run.before)
    asked.desk.front.send(command)
    state = await asked.desk.watch.until(
        lambda now: now.harvest.is_busy or run.is_done(now) or _refusal(run, now) is not None, ACT_S
    )
    if state is None:
        raise RefusedError(503, "slow", f"Nothing happened for {ACT_S:g} s", "Try again")
    if state.harvest.is_busy:
        if state.harvest.phase is not phase:
            _check_idle(state.harvest)
        return replace(run, is_seen=True)
    refusal = _refusal(run, state)
    if refusal is not None and not run.is_done(state):
        code = "nothing_to_do" if refusal.level is Level.INFO else "not_now"
        raise RefusedError(409, code, refusal.text, refusal.detail)
    return run


def _refusal(run: _Run, state: AppState) -> Notice | None:
    """Why no run was begun."""
    return run.fault(state, Level.INFO) or run.fault(state, Level.WARNING)


async def _answer(run: _Run) -> Answer:
    """The harvest once the run has ended where that is asked for, else as it is now."""
    waits = run.asked.body.get("wait", False)
    state = await run.ended() if waits else run.asked.state
    return Answer(harvest_data(state.harvest, Page()), status=200 if waits else 202)
