"""Looking at one file, and at a stack that is not the one shown."""

from __future__ import annotations

from msgspec.structs import replace

from core.context.messages import AssembleContext, InspectOnDisk
from core.context.spec import stack_spec
from core.values.curation import FileItem
from core.values.state import AppState
from core.values.updates import Result


def inspect(state: AppState, path: str) -> Result:
    """Read one file for the structure view, or close it."""
    state = replace(state, context=replace(state.context, inspected=None))
    if not path:
        return state, ()
    project = state.config.project
    return state, (
        InspectOnDisk(project.root, FileItem(path), project.allowed_roots, state.config.settings.files),
    )


def measure(state: AppState, discussion_id: str) -> Result:
    """Assemble the stack of a discussion whose log is loaded."""
    if discussion_id not in state.discussions.summaries or discussion_id not in state.discussions.open:
        return state, ()
    return state, (AssembleContext(stack_spec(state, discussion_id)),)
