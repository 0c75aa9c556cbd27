"""Tools that a discussion's model is offered, as far as its provider can pass them on."""

from __future__ import annotations

from core.kernel.values.curation import NamedText
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.retrieval import Corpus
from core.kernel.values.stack import ToolSchema
from core.kernel.values.state import AppState
from core.services.providers.profiles import takes_memory_alone, takes_tools
from core.services.settings.searched_places import asked_places

TAKES_NONE = "This model gets no tools: its provider does not pass them on. Choose another model for them."
TAKES_MEMORY = "This model gets search_notes and read_note alone: its provider passes no other tools on."
NO_PROJECT = "No project is open: it gets no file and command tools."
UNTRUSTED = "This project is not trusted: it gets no file and command tools until you trust it."


def gets_tools(state: AppState, meta: DiscussionMeta) -> bool:
    """True if the discussion has tools and they reach its model."""
    return meta.has_tools and can_take_tools(state, meta.provider)


def gets_memory_alone(state: AppState, meta: DiscussionMeta) -> bool:
    """True if the discussion has tools, and those of memory alone reach its model."""
    return meta.has_tools and can_take_memory(state, meta.provider)


def can_take_tools(state: AppState, provider: str) -> bool:
    """True if a provider passes tools on to its models; of one that is not known it is taken that it does."""
    status = state.config.providers.get(provider)
    return status is None or takes_tools(status.kind)


def offered_by_servers(state: AppState, discussion_id: str) -> tuple[ToolSchema, ...]:
    """Tools of MCP servers that a discussion's model is offered: those of its last request while that is warm, else all
    that a person approved. None in a folder that is not trusted.
    """
    if not state.config.project.is_trusted:
        return ()
    frozen = state.mcp.frozen.get(discussion_id)
    task = state.agent.delegations.get(discussion_id)
    if frozen is None and task is not None:  # at most what its parent has
        frozen = state.mcp.frozen.get(task.parent_id)
    return approved_by_now(state) if frozen is None else frozen


def approved_by_now(state: AppState) -> tuple[ToolSchema, ...]:
    """Tools of MCP servers that a person approved, sorted by name; whether their servers run counts for nothing."""
    kept = (one.kept for one in state.mcp.servers.values() if one.settings.is_enabled)
    schemas = (tool.schema for one in kept if one is not None for tool in one.tools)
    return tuple(sorted(schemas, key=lambda schema: schema.name))


def can_take_memory(state: AppState, provider: str) -> bool:
    """True if a provider passes the tools of memory on and no others, and search is on here."""
    status = state.config.providers.get(provider)
    return status is not None and takes_memory_alone(status.kind) and asked_places(state) is not None


def missing_tools(state: AppState, provider: str) -> str:
    """Sentence on what of the tools does not reach a provider's models, empty where all do."""
    if can_take_tools(state, provider):
        return ""
    return TAKES_MEMORY if can_take_memory(state, provider) else TAKES_NONE


def missing_in_folder(state: AppState) -> str:
    """Sentence on why the folder that is open has no tools for files and commands, empty where it has."""
    project = state.config.project
    if not project.root:
        return NO_PROJECT
    return "" if project.is_trusted else UNTRUSTED


# Sentence of layer 6 on the notes: where a model has the tools of memory and folders of notes are searched.

GUIDE = NamedText(
    name="notes",
    text="The person's notes have a router: read_note with index.md gives it, it comes first and says which folder's "
    "index.md holds what, and search_notes is for fuzzy recall of what no index names.",
)
"""The same for every project, so that another folder of notes rewrites no prefix."""


def notes_guide(state: AppState, *, has_memory: bool) -> tuple[NamedText, ...]:
    """The sentence, none where there is nothing to read by it.

    Args:
        has_memory: the model is offered `search_notes` and `read_note`.
    """
    asked = asked_places(state)
    has_router = asked is not None and bool(asked.roots) and Corpus.NOTES in asked.corpora
    return (GUIDE,) if has_memory and has_router else ()
