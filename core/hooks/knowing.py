"""The operations on what is known: look at it, and make the digest anew."""

from __future__ import annotations

from core.hooks.asked import Answer, Asked
from core.hooks.data_of_knowledge import Page, digest_data, knowledge_data
from core.hooks.refusals import unknown
from core.values.commands import RegenerateDigest
from core.values.state import Level

DIGEST_NOTICE = "digest"


async def knowledge(asked: Asked) -> Answer:
    """What is known: category files and notes with their items, the digest as it is injected, the switch."""
    state, file = asked.state, asked.query.get("file", "")
    found = knowledge_data(state.home, state.knowledge, page_of(asked), file)
    if found is None:
        raise unknown("file of knowledge", file, "See GET /api/knowledge")
    return Answer(found)


def page_of(asked: Asked) -> Page:
    """Which rows the query asks for."""
    default = Page()
    return Page(asked.query.get("limit", default.limit), asked.query.get("offset", default.offset))


async def make_digest(asked: Asked) -> Answer:
    """Make the digest from the category files, which turns knowledge on."""
    asked.check_writable()
    before = frozenset(asked.state.notices)
    state = await asked.do(
        RegenerateDigest(),
        lambda now: any(
            notice.id == DIGEST_NOTICE and notice.level is Level.INFO and notice not in before
            for notice in now.notices
        ),
    )
    return Answer(digest_data(state.home, state.knowledge))
