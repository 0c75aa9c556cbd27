"""Tools that a model is offered: as far as its provider passes them on."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.provider import ProviderKind
from core.kernel.values.settings import Project, RetrievalSettings
from core.kernel.values.spec import ToolOffer
from core.kernel.values.stack import LayerId
from core.talk.context.context_spec import (
    GUIDE,
    NO_PROJECT,
    TAKES_MEMORY,
    TAKES_NONE,
    UNTRUSTED,
    missing_in_folder,
    missing_tools,
    stack_spec,
)
from core.talk.context.stack import build_stack
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


def test_a_folder_without_tools_says_why() -> None:
    book = ToolPlaybook()
    book.with_tools()
    state = book.state
    assert missing_in_folder(state) == ""
    told = [
        missing_in_folder(replace(state, config=replace(state.config, project=project)))
        for project in (replace(state.config.project, is_trusted=False), Project())
    ]
    assert told == [UNTRUSTED, NO_PROJECT]


def test_layer_6_tells_of_the_router_where_its_tools_are_offered_and_nowhere_else() -> None:
    book = ToolPlaybook()
    chosen = book.with_tools()
    before, config = book.state, book.state.config

    def documents(kind: ProviderKind, retrieval: RetrievalSettings) -> tuple[str, ...]:
        status = replace(config.providers["embedded"], kind=kind)
        settings = replace(config.settings, retrieval=retrieval)
        made = replace(config, providers={"embedded": status}, settings=settings)
        inputs = stack_spec(replace(before, config=made), chosen).inputs
        told = build_stack(inputs).layer(LayerId.PROJECT).text
        assert (GUIDE.text in told) is (GUIDE in inputs.project)
        return tuple(one.name for one in inputs.project if one is GUIDE)

    on = RetrievalSettings(enabled=True, roots=("notes",))
    for kind in (ProviderKind.ANTHROPIC, ProviderKind.CLAUDE_CODE):
        assert documents(kind, on) == (GUIDE.name,)
        assert documents(kind, replace(on, enabled=False)) == ()
        assert documents(kind, replace(on, roots=())) == ()
        assert documents(kind, replace(on, corpora=("knowledge",))) == ()
    assert documents(ProviderKind.EMBEDDED, on) == (), "it gets no tools"
    assert {"index.md", "read_note", "search_notes"} <= set(
        GUIDE.text.replace(",", "").replace(":", "").split()
    )
