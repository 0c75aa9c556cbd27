"""What a worker needs to assemble a discussion's stack."""

from __future__ import annotations

import msgspec

from core.values.curation import Preset
from core.values.provider import Effort, ModelProfile
from core.values.records import RequestRecord
from core.values.settings import CachingSettings, FileLimits, KnowledgeSettings
from core.values.stack import StackInputs


class StackSpec(msgspec.Struct, frozen=True):
    """What a worker needs to assemble a stack: the inputs but for the files, which it reads fresh.

    Args:
        inputs: with `items` empty; preset: whose files fill them; root, allowed_roots, limits: for reading.
        previous: the last request of the discussion, for the difference.
        profile: of the model; effort, max_output_tokens: for the request.
        caching: the person's settings; caching_enabled: the person lets this discussion cache.
    """

    discussion_id: str
    inputs: StackInputs
    preset: Preset
    root: str
    allowed_roots: tuple[str, ...] = ()
    limits: FileLimits = msgspec.field(default_factory=FileLimits)
    previous: RequestRecord | None = None
    profile: ModelProfile = msgspec.field(default_factory=lambda: ModelProfile("", ""))
    effort: Effort = Effort.AUTO
    max_output_tokens: int | None = None
    is_project_trusted: bool = False
    knowledge: KnowledgeSettings = msgspec.field(default_factory=KnowledgeSettings)
    caching: CachingSettings = msgspec.field(default_factory=CachingSettings)
    caching_enabled: bool = True


class CallToBuild(msgspec.Struct, frozen=True):
    """A call whose request is to be made: its ids, the message that it answers, and the stack."""

    call_id: str
    request_id: str
    user_message_id: str
    spec: StackSpec
