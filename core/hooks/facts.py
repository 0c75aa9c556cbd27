"""Structured facts over HTTP: looked up, and brought in step with their index."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from core.hooks.fields import Count, Data, Rows
from core.hooks.operation import READ_ONLY, Resource, operation
from core.hooks.queries import PageQuery
from core.hooks.request import Answer, Request
from core.knowledge.fact_store import chosen_facts
from core.knowledge.messages import SyncFacts
from core.values.facts import FactCategory, FactProblem, fact_data
from core.values.state import AppState


class FactQuery(PageQuery, frozen=True):
    """Rows, of all facts or of those that are asked for."""

    domain: Annotated[str, Meta(max_length=100, description="A repository, an agent, or `global`.")] = ""
    category: FactCategory | None = None
    tag: Annotated[str, Meta(max_length=100, description="Only facts with it.")] = ""


class FactRowData(Data, frozen=True):
    """A structured fact. Null days: none is given."""

    id: str
    fact: str
    category: FactCategory
    domain: str
    confidence: float
    effective_confidence: float
    harvests_since_confirmed: int
    tags: list[str]
    source_count: Count
    first_seen: str | None
    last_confirmed: str | None
    expires: str | None
    related: list[str]
    stale: bool
    held: bool
    withdrawn: bool


class FactProblemData(Data, frozen=True):
    """Problem of a file of facts."""

    file: str
    line: Count
    text: str
    is_warning: bool


class FactsData(Data, frozen=True):
    """Structured facts as the index holds them."""

    facts: Rows[FactRowData]
    problems: Rows[FactProblemData]


async def get_facts(request: Request[FactQuery]) -> Answer:
    """Structured facts by domain, category and tag, sorted by id, with what is wrong in their files."""
    return Answer(_facts_data(request.state, request.fields))


async def sync_facts(request: Request[None]) -> Answer:
    """Bring the YAML files of facts and their index in step."""
    request.check_writable()
    state = await request.do(SyncFacts())
    return Answer(_facts_data(state, FactQuery()))


def _facts_data(state: AppState, query: FactQuery) -> FactsData:
    known = state.knowledge.facts
    category = "" if query.category is None else query.category.value
    found = chosen_facts(known.facts, query.domain, category, query.tag)
    facts = [FactRowData(**fact_data(fact)) for fact in query.of(found)]  # type: ignore[arg-type]
    problems = [_problem_data(one) for one in PageQuery().of(known.problems)]
    return FactsData(Rows(len(found), facts), Rows(len(known.problems), problems))


def _problem_data(problem: FactProblem) -> FactProblemData:
    return FactProblemData(problem.file, problem.line, problem.text, problem.is_warning)


_ALL = "/api/knowledge/facts"

RESOURCE = Resource(
    (
        operation("GET", _ALL, get_facts, {200: FactsData}),
        operation("POST", f"{_ALL}/sync", sync_facts, {200: FactsData}, {409: READ_ONLY}),
    )
)
