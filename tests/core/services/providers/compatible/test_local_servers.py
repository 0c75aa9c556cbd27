"""Model servers of this machine, looked for on ports that the tests choose."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from core.services.providers.compatible import model_list
from core.services.providers.compatible.client import CompatibleProvider
from core.services.providers.compatible.model_list import CANDIDATES, Candidate, find_local_servers
from tests.core.services.providers.outcomes import ask, run
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import (
    LLAMA_CPP,
    LM_STUDIO,
    MODEL,
    OLLAMA,
    VLLM,
    CompatibleServer,
    Habits,
)
from tests.vendors.loopback import Captured, LoopbackServer, Reply, StreamReply, json_reply


class Stranger(LoopbackServer):
    """Something else that listens on a popular port."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply

    def answer(self, captured: Captured) -> Reply | StreamReply:
        return self.reply


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return int(unused.getsockname()[1])


def at(port: int, number: int = 0) -> Candidate:
    usual = CANDIDATES[number]
    return Candidate(usual.id, usual.label, port)


def test_the_usual_ports_are_those_of_the_projects() -> None:
    assert {c.id: c.port for c in CANDIDATES} == {
        "ollama": 11434,
        "lm-studio": 1234,
        "llama-cpp": 8080,
        "vllm": 8000,
    }


def test_every_kind_is_found_by_name_and_can_be_used_as_it_is_offered() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(CompatibleServer(h)) for h in (OLLAMA, LM_STUDIO, LLAMA_CPP, VLLM)]

        found = find_local_servers([at(server.port, number) for number, server in enumerate(servers)])

        assert [(s.id, s.label, s.kind) for s in found] == [
            ("ollama", "Ollama", "compatible"),
            ("lm-studio", "LM Studio", "compatible"),
            ("llama-cpp", "llama.cpp", "compatible"),
            ("vllm", "vLLM", "compatible"),
        ]
        assert [s.base_url for s in found] == [f"{server.url}/v1" for server in servers]
        assert run(CompatibleProvider(found[0], None), ask(MODEL)).text == "Hello there."


@pytest.mark.parametrize(
    ("habits", "number", "expected"),
    [(VLLM, 2, "vllm"), (LLAMA_CPP, 3, "llama-cpp"), (Habits("?"), 2, "llama-cpp")],
)
def test_a_server_on_another_ones_port_is_told_by_what_it_says(
    habits: Habits, number: int, expected: str
) -> None:
    with CompatibleServer(habits) as server:
        (found,) = find_local_servers([at(server.port, number)])

    assert found.id == expected


@pytest.mark.parametrize(("habits", "number", "count"), [(LLAMA_CPP, 2, 1), (VLLM, 3, 1), (OLLAMA, 0, 0)])
def test_a_server_that_asks_for_a_key_is_offered_where_it_can_be_told(
    habits: Habits, number: int, count: int
) -> None:
    with CompatibleServer(habits, key="secret") as server:
        assert len(find_local_servers([at(server.port, number)])) == count


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>My page</html>", {"content-type": "text/html"}),
        json_reply(200, ["a", "list"]),
        json_reply(200, {"data": "no list"}),
        json_reply(404, {"data": []}),
        json_reply(401, {"detail": "who are you"}),
        Reply(500, b"", {}),
    ],
)
def test_anything_else_on_a_popular_port_is_left_alone(reply: Reply) -> None:
    with Stranger(reply) as server:
        assert find_local_servers([at(server.port, 3)]) == ()


def test_nothing_there_and_no_answer_are_no_servers(silent_port: int) -> None:
    candidates = [at(silent_port, 0), at(silent_port, 1), at(closed_port(), 2)]

    assert find_local_servers(candidates, timeout_s=0.3) == ()


def test_all_are_asked_at_once_and_take_no_longer_than_one_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked one after another none would come as far as all are waited for here."""
    candidates = [at(closed_port(), number) for number in range(len(CANDIDATES))]
    together = threading.Barrier(len(candidates))

    def met(_candidate: Candidate, timeout_s: float) -> None:
        together.wait(PATIENCE_S)
        assert timeout_s == 0.3

    monkeypatch.setattr(model_list, "_probe", met)

    assert find_local_servers(candidates, timeout_s=0.3) == ()


def test_one_server_on_two_ports_is_offered_once_and_none_at_all_is_no_fault() -> None:
    with CompatibleServer(OLLAMA) as one, CompatibleServer(OLLAMA) as two:
        found = find_local_servers([at(one.port), at(two.port, 1)])

    assert [server.base_url for server in found] == [f"{one.url}/v1"]
    assert find_local_servers([]) == ()


def test_a_proxy_in_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with CompatibleServer(OLLAMA) as server:
        assert len(find_local_servers([at(server.port)])) == 1
        assert [(r.method, r.path) for r in server.requests] == [("GET", "/v1/models")]
