"""Notices that grow out of the state: settings faults, the trust of a project, the passing of time."""

from __future__ import annotations

from core.base.errors import at_line
from core.settings.asked_values import question_id
from core.settings.messages import TrustProject
from core.settings.wording import asked_lines, trust_reason, trust_title
from core.values.outcomes import CommandOutcome
from core.values.settings import SettingsFault
from core.values.state import AppState, Level
from core.values.updates import conclude, dismiss, notify

HELD_BACK = "held-back"
"""Id of the notice of what a project never gets."""


def show_settings_faults(state: AppState) -> AppState:
    """One notice a faulty settings file, all its faults in it; gone when the file is whole again."""
    by_file: dict[str, list[SettingsFault]] = {}
    for fault in state.config.settings_faults:
        by_file.setdefault(fault.path, []).append(fault)
    for notice in state.program.notices:
        if notice.id.startswith("settings/") and notice.id.removeprefix("settings/") not in by_file:
            state = dismiss(state, notice.id)
    for path, faults in by_file.items():
        first, *more = sorted(faults, key=lambda fault: not fault.is_grave)
        level = Level.ERROR if first.is_grave else Level.WARNING
        places = [at_line(fault.path, fault.line) for fault in (first, *more)]
        others = (f"{place}: {fault.reason}" for place, fault in zip(places[1:], more, strict=True))
        detail = "\n".join((places[0], *others))
        state = notify(state, f"settings/{path}", level, first.reason, detail, is_standing=True)
    return state


def show_trust(state: AppState) -> AppState:
    """Ask whether what the project asks for may count: once for each question, again for what it newly asks for. Where
    all of it is what no project gets, there is nothing to ask: that is said until the folder is trusted.
    """
    project = state.config.project
    if not project.asked:
        state = dismiss(state, "trust")
        is_said = bool(project.held_back) and not project.is_trusted
        return _say_held_back(state) if is_said else dismiss(state, HELD_BACK)
    state = dismiss(state, HELD_BACK)
    lines = (trust_reason(project), *(line.words for line in asked_lines(project.asked)), *project.held_back)
    return notify(state, "trust", Level.WARNING, trust_title(project), "\n".join(lines), is_standing=True)


def _say_held_back(state: AppState) -> AppState:
    project = state.config.project
    text = f"{project.name or project.root} asks for what no project gets"
    return notify(state, HELD_BACK, Level.WARNING, text, "\n".join(project.held_back), is_standing=True)


def refuse_write(state: AppState, command_id: str, notice_id: str, what: str) -> AppState:
    """Say that nothing is written to a project's file that holds what the person has not seen, and offer the question.

    Args:
        what: what is not done (`'core' is not saved`).
    """
    project = state.config.project
    reason = "it asks for more than you were shown" if project.is_trusted else "it is not trusted yet"
    text = f"{what}: the folder's manual_slop.toml was left as it is, for {reason}."
    detail = "Your work is kept. Look at what the folder asks for, then try again."
    state = conclude(state, CommandOutcome(command_id, problem=text, remedy=detail))
    action = TrustProject(True, question_id(project.asked))
    return notify(
        state, notice_id, Level.WARNING, text, detail, action=action, action_label="Look at what it asks for"
    )
