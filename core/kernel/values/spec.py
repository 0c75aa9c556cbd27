"""Specification for a worker that assembles a discussion's stack."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from core.kernel.values.cache import CachePlan
from core.kernel.values.curation import Preset
from core.kernel.values.provider import Effort, ModelProfile, ProviderRequest, Switching
from core.kernel.values.records import RequestRecord, ViewRecord
from core.kernel.values.retrieval import RecallSpec
from core.kernel.values.settings import CachingSettings, FileLimits, KnowledgeSettings
from core.kernel.values.stack import StackInputs, ToldTurn, ToolSchema
from core.kernel.values.window import ContextView

PREVIEW_ID = "preview"
"""Stands for the id of a message that is not sent yet."""


class ToolOffer(msgspec.Struct, frozen=True):
    """Tools that a model is given: those of files and commands where the folder `is_trusted`, search and notes where
    it `has_memory`, and those of MCP `servers`; search and notes `only_memory` where the provider passes no others on. A
    delegated discussion's (`is_delegated`) do not hand over, and give no task away; one that `reads_only` writes and runs
    nothing.
    """

    is_trusted: bool = False
    has_memory: bool = False
    servers: tuple[ToolSchema, ...] = ()
    only_memory: bool = False
    is_delegated: bool = False
    reads_only: bool = False


class StackSpec(msgspec.Struct, frozen=True):
    """Specification of a stack: the inputs but for the files, which its worker reads fresh.

    Args:
        inputs: with `items` empty; preset: whose files fill them; root, allowed_roots, limits, shown: for reading.
        previous: the last request of the discussion, for the difference.
        profile: of the model; effort, max_output_tokens, temperature, top_p: for the request.
        fact_domains: whose facts enter layer 7b beside those of `global`.
        caching: the person's settings; caching_enabled: the person lets this discussion cache.
        recall: what may go along with the message, None where ambient recall is off.
        waiting: messages that were shown with theirs and go later.
        tools: which its model is given, None for none.
        told: what the discussion's last turn with tools began with, as its log tells it.
        is_task: it answers a task that another discussion gave: nobody comes back to it.
        switching: what its model takes of switches in the conversation; takes_reasoning: it has not refused
            its own earlier thinking.
        is_paid: the server said that the model's last reply in the discussion cost something.
    """

    discussion_id: str
    inputs: StackInputs
    preset: Preset
    root: str
    allowed_roots: tuple[str, ...] = ()
    limits: FileLimits = msgspec.field(default_factory=FileLimits)
    shown: tuple[str, ...] = ()
    previous: RequestRecord | None = None
    profile: ModelProfile = msgspec.field(default_factory=lambda: ModelProfile(provider="", id=""))
    effort: Effort = Effort.AUTO
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    knowledge: KnowledgeSettings = msgspec.field(default_factory=KnowledgeSettings)
    fact_domains: tuple[str, ...] = ()
    caching: CachingSettings = msgspec.field(default_factory=CachingSettings)
    caching_enabled: bool = True
    recall: RecallSpec | None = None
    waiting: tuple[str, ...] = ()
    tools: ToolOffer | None = None
    told: ToldTurn | None = None
    is_task: bool = False
    switching: Switching = Switching.NONE
    takes_reasoning: bool = True
    is_paid: bool = False


OfferedTools = Callable[[ToolOffer], tuple[ToolSchema, ...]]
"""Schemas of the tools that a model is given."""


class CallToBuild(msgspec.Struct, frozen=True):
    """A call whose request is to be made: its ids, the message that it answers, and the stack."""

    call_id: str
    request_id: str
    user_message_id: str
    spec: StackSpec


class PlannedRequest(msgspec.Struct, frozen=True):
    """A request as caching planned it.

    Args:
        view: through which it shows layers 6, 7, 9 and 10; before: through which the discussion's last request did,
            None for the first.
        records: what the log needs to rebuild the view.
    """

    request: ProviderRequest
    plan: CachePlan
    view: ContextView
    before: ContextView | None = None
    records: tuple[ViewRecord, ...] = ()
