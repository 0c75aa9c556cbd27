"""Looking at one file, and at a stack that is not the one shown."""

from __future__ import annotations

from msgspec.structs import replace

from core.context.messages import AssembleContext, InspectOnDisk, KeepOut
from core.context.spec import stack_spec
from core.values.curation import FileItem
from core.values.outcomes import CommandOutcome
from core.values.state import AppState
from core.values.updates import Result, conclude, with_open


def inspect(state: AppState, path: str) -> Result:
    """Read one file for the structure view, or close it."""
    state = replace(state, context=replace(state.context, inspected=None))
    if not path:
        return state, ()
    project = state.config.project
    return state, (
        InspectOnDisk(
            project.root,
            FileItem(path),
            project.allowed_roots,
            state.config.settings.files,
            project.policies.shown,
        ),
    )


def measure(state: AppState, discussion_id: str) -> Result:
    """Assemble the stack of a discussion whose log is loaded."""
    if discussion_id not in state.discussions.summaries or discussion_id not in state.discussions.open:
        return state, ()
    return state, (AssembleContext(stack_spec(state, discussion_id)),)


def keep_out(state: AppState, asked: KeepOut) -> Result:
    """Keep a source out of what is recalled for the draft; the stack is put together anew by itself."""
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None:
        return conclude(state, CommandOutcome(asked.command_id, problem="The discussion is not open.")), ()
    others = tuple(source for source in opened.kept_out if source != asked.source)
    kept_out = (*others, asked.source) if asked.is_out else others
    state = with_open(state, replace(opened, kept_out=kept_out))
    return conclude(state, CommandOutcome(asked.command_id)), ()
