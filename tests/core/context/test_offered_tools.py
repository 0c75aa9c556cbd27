"""Tools that a model is offered: as far as its provider passes them on."""

from __future__ import annotations

from msgspec.structs import replace

from core.context.offered_tools import TAKES_MEMORY, TAKES_NONE, missing_tools
from core.context.spec import stack_spec
from core.values.provider import ProviderKind
from core.values.settings import RetrievalSettings
from core.values.spec import ToolOffer
from tests.core.agent.tool_playbook import ToolPlaybook


def test_a_model_that_tools_do_not_reach_is_offered_none() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    assert book.ask(chosen, "look").spec.tools is not None
    config = book.state.config
    for kind in (ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE):
        status = replace(config.providers["embedded"], kind=kind)
        book.state = replace(book.state, config=replace(config, providers={"embedded": status}))
        assert stack_spec(book.state, chosen).tools is None


def test_claude_code_is_offered_search_alone_where_it_is_on() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    config = book.state.config
    status = replace(config.providers["embedded"], kind=ProviderKind.CLAUDE_CODE)
    settings = replace(config.settings, retrieval=RetrievalSettings(enabled=True))
    book.state = replace(
        book.state, config=replace(config, providers={"embedded": status}, settings=settings)
    )

    offer = stack_spec(book.state, chosen).tools
    assert offer == ToolOffer(has_memory=True, only_memory=True)
    assert missing_tools(book.state, "embedded") == TAKES_MEMORY
    off = replace(book.state.config, settings=config.settings)
    assert missing_tools(replace(book.state, config=off), "embedded") == TAKES_NONE
