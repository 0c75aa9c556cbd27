"""Requests made up from the document itself, good and bad: every answer is one that the document names."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from core.front.hooks.guard import Limits
from core.front.hooks.openapi import document
from core.talk.discussion.discussion_messages import CreateDiscussion
from tests.core.front.hooks.conftest import World
from tests.vendors.compatible_server import VLLM, CompatibleServer

EXAMPLES = 5
KNOWN = "20260102-030405-fuzzed"
MADE_UP = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS = [
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


def _document() -> dict[str, Any]:
    """The document, whose ids are now and then those of a discussion that is there."""
    found = copy.deepcopy(document())
    for path in found["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "discussion_id":
                    parameter["schema"] = {"anyOf": [{"const": KNOWN}, parameter["schema"]]}
    return found


OPERATIONS = [(path, method.upper()) for path, found in document()["paths"].items() for method in found]


@pytest.fixture(scope="module")
def schema() -> Any:
    """The document as schemathesis reads it."""
    load_all_checks()
    return schemathesis.openapi.from_dict(_document())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with CompatibleServer(VLLM) as server, pytest.MonkeyPatch.context() as patch:
        world = World(tmp_path_factory.mktemp("fuzz"), server)
        patch.setenv("MANUAL_SLOP_CONFIG", str(world.config))
        world.start(limits=Limits())
        known(world)
        yield world
        world.stop()


def known(world: World) -> None:
    """Have the discussion that requests name: one of them may say that it is to be forgotten."""
    world.until(lambda s: not s.forgetting.is_running)
    if KNOWN not in world.state.discussions.summaries:
        world.controller.send(CreateDiscussion("fuzzed", id=KNOWN))
        world.until(lambda s: KNOWN in s.discussions.open)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_whatever_is_sent_is_answered_as_the_document_says(
    schema: Any, program: World, path: str, method: str
) -> None:
    """Requests are made up in the test: schemathesis's own mark makes all of them in each process that collects."""

    def sent(case: schemathesis.Case[Any]) -> None:
        known(program)
        headers = {**dict(case.headers or {}), "Authorization": f"Bearer {program.client.token}"}
        answer = case.call(base_url=program.client.url, headers=headers)

        if answer.status_code != 502:
            case.validate_response(answer, checks=[not_a_server_error])
        case.validate_response(answer, checks=CHECKS)
        may_go = case.path.endswith("/forget") or case.path == "/api/ui"
        assert may_go or program.state.discussions.summaries[KNOWN].meta.id == KNOWN
        assert not program.state.program.is_closing

    build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=sent,
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(schema)),
        explicit_settings=MADE_UP,
    )()


def test_the_program_still_answers_in_the_end(program: World) -> None:
    assert program.client.get("/api/status").status_code == 200
    assert not [
        notice for notice in program.state.program.notices if notice.level == "error" and notice.id == "disk"
    ]
    assert list(Path(program.home).glob("discussions/*"))
