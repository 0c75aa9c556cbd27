"""The one table of the Hook API: the resources, a line each, and all their operations."""

from __future__ import annotations

from core.front.hooks import (
    agent,
    caches,
    context,
    conversation,
    discussions,
    forgetting,
    harvest,
    imports,
    knowledge,
    merges,
    program,
    retrieval,
    signals,
    usage,
)
from core.front.hooks.operation import Operation, Resource

RESOURCES: tuple[Resource, ...] = (
    program.HELLO,
    program.RESOURCE,
    caches.RESOURCE,
    usage.RESOURCE,
    discussions.RESOURCE,
    conversation.RESOURCE,
    conversation.COMPARISONS,
    agent.RESOURCE,
    discussions.VERSIONS,
    context.PRESETS,
    context.RESOURCE,
    knowledge.RESOURCE,
    knowledge.FACTS,
    knowledge.MEMORY_LOG,
    harvest.RESOURCE,
    merges.RESOURCE,
    imports.RESOURCE,
    retrieval.RESOURCE,
    forgetting.RESOURCE,
    signals.SERVERS,
    signals.RESOURCE,
    agent.ATTENTION,
)
OPERATIONS: tuple[Operation, ...] = (
    *(operation for resource in RESOURCES for operation in resource.operations),
    *program.operations(RESOURCES),
)


def operations(*, has_clock: bool) -> tuple[Operation, ...]:
    """The operations that a program offers."""
    return tuple(operation for operation in OPERATIONS if has_clock or not operation.needs_clock)
