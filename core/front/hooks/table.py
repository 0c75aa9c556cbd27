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
)
from core.front.hooks import agent as attention
from core.front.hooks import context as presets
from core.front.hooks import discussions as versions
from core.front.hooks import knowledge as facts
from core.front.hooks import knowledge as memory_log
from core.front.hooks import program as hello
from core.front.hooks import program as window
from core.front.hooks import signals as servers
from core.front.hooks.operation import Operation, Resource

RESOURCES: tuple[Resource, ...] = (
    hello.HELLO,
    program.RESOURCE,
    caches.RESOURCE,
    discussions.RESOURCE,
    conversation.RESOURCE,
    agent.RESOURCE,
    versions.VERSIONS,
    presets.PRESETS,
    context.RESOURCE,
    knowledge.RESOURCE,
    facts.FACTS,
    memory_log.MEMORY_LOG,
    harvest.RESOURCE,
    merges.RESOURCE,
    imports.RESOURCE,
    retrieval.RESOURCE,
    forgetting.RESOURCE,
    servers.SERVERS,
    signals.RESOURCE,
    attention.ATTENTION,
)
OPERATIONS: tuple[Operation, ...] = (
    *(operation for resource in RESOURCES for operation in resource.operations),
    *window.operations(RESOURCES),
)


def operations(*, has_clock: bool) -> tuple[Operation, ...]:
    """The operations that a program offers."""
    return tuple(operation for operation in OPERATIONS if has_clock or not operation.needs_clock)
