"""The one table of the Hook API: the resources, a line each, and all their operations."""

from __future__ import annotations

from core.hooks import (
    agent,
    attention,
    caches,
    context,
    conversation,
    discussions,
    facts,
    forgetting,
    harvest,
    hello,
    imports,
    knowledge,
    memory_log,
    merges,
    presets,
    program,
    retrieval,
    servers,
    signals,
    versions,
    window,
)
from core.hooks.operation import Operation, Resource

RESOURCES: tuple[Resource, ...] = (
    hello.RESOURCE,
    program.RESOURCE,
    caches.RESOURCE,
    discussions.RESOURCE,
    conversation.RESOURCE,
    agent.RESOURCE,
    versions.RESOURCE,
    presets.RESOURCE,
    context.RESOURCE,
    knowledge.RESOURCE,
    facts.RESOURCE,
    memory_log.RESOURCE,
    harvest.RESOURCE,
    merges.RESOURCE,
    imports.RESOURCE,
    retrieval.RESOURCE,
    forgetting.RESOURCE,
    servers.RESOURCE,
    signals.RESOURCE,
    attention.RESOURCE,
)
OPERATIONS: tuple[Operation, ...] = (
    *(operation for resource in RESOURCES for operation in resource.operations),
    *window.operations(RESOURCES),
)


def operations(*, has_clock: bool) -> tuple[Operation, ...]:
    """The operations that a program offers."""
    return tuple(operation for operation in OPERATIONS if has_clock or not operation.needs_clock)
