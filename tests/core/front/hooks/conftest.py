"""The real program with the Hook API on: a home, a project, a model server on loopback, an HTTP client."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from msgspec.structs import replace

from core.app.controller import AppController, OffsetClock
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.front.hooks.guard import Limits
from core.front.hooks.openapi import document
from core.front.hooks.operation import HookDesk, Operation, Watch, Window
from core.front.hooks.server import HookServer
from core.front.hooks.table import OPERATIONS
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.talk.discussion.discussion_messages import ChangeDiscussion
from tests.core.app.forgetting.day import unplaced
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer

WAIT_S = PATIENCE_S
PERSON = "a-token-that-came-by-descriptor"
AS_PERSON = {"Authorization": f"Bearer {PERSON}"}
QUICK = Limits(head_s=0.5, body_s=0.5, body_bytes=100_000, linger_s=0.2)
Seen = set[tuple[str, int]]


class Client:
    """An HTTP client that holds every answer against the document, and remembers which it saw."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token
        self.seen: Seen = set()
        self.http = httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=WAIT_S,
            trust_env=False,
            verify=ssl.SSLContext(
                ssl.PROTOCOL_TLS_CLIENT
            ),  # the default one reads all of the system's authorities
        )

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self._checked(self.http.get(path, headers=headers))

    def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        return self._checked(self.http.post(path, json=body, headers=headers))

    def put(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        return self._checked(self.http.put(path, json=body, headers=headers))

    def raw(self, data: bytes, *, wait_s: float = 5.0) -> bytes:
        """Bytes as they are, and everything that comes back until the server hangs up."""
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=wait_s) as link:
            link.sendall(data)
            received = b""
            while chunk := link.recv(65536):
                received += chunk
        return received

    def _checked(self, answer: httpx2.Response) -> httpx2.Response:
        operation = operation_of(answer.request.method, answer.request.url.path)
        if operation is not None and answer.status_code != 405:
            self.seen.add((operation.id, answer.status_code))
            check(operation, answer)
        elif answer.status_code >= 400:
            validator({"$ref": "#/components/schemas/ErrorData"}).validate(answer.json())
        return answer


def operation_of(method: str, path: str) -> Operation | None:
    """The operation that a request is for."""
    for operation in OPERATIONS:
        pattern = re.sub(r"\{\w+\}", "[^/]+", operation.path)
        if operation.method == method and re.fullmatch(pattern, path):
            return operation
    return None


def check(operation: Operation, answer: httpx2.Response) -> None:
    """An answer is one that the document names, in the shape that it says."""
    answers = described()["paths"][operation.path][operation.method.lower()]["responses"]
    assert str(answer.status_code) in answers, (operation.id, answer.status_code, answer.text)
    content = answers[str(answer.status_code)]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content, (operation.id, kind)
    if kind == "application/json":
        validator(content[kind]["schema"]).validate(answer.json())


def validator(schema: Mapping[str, Any]) -> Any:
    """A validator of a schema that may refer to the document's components."""
    return _compiled(json.dumps(schema, sort_keys=True))


@cache
def _compiled(schema: str) -> Any:
    """Compiled once for a schema: it holds all the document's components."""
    return jsonschema_rs.validator_for({**json.loads(schema), "components": described()["components"]})


@cache
def described() -> Any:
    """The document, made once. Not to be changed."""
    return document()


def _has_begun(state: AppState) -> bool:
    """True when all that a start reads is there: the digest is told before the category files, for one."""
    return bool(state.config.project.root and state.knowledge.categories) and not state.program.is_loading


class World:
    """A home, a project and a server; one program with the Hook API runs on them."""

    def __init__(self, base: Path, server: CompatibleServer) -> None:
        self.base = base
        self.home = base / "home"
        self.project = base / "project"
        self.project.mkdir()
        (self.project / "tides.py").write_text("def turn() -> int:\n    return 6\n", encoding="utf-8")
        self.server = server
        self.clock = OffsetClock()
        self.config = base / "config.toml"
        self.config.write_text(
            f'[providers.local]\nkind = "compatible"\nbase_url = "{server.url}/v1"\n'
            f'[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n',
            encoding="utf-8",
        )

    def start(self, *, window: Window | None = None, limits: Limits = QUICK, has_clock: bool = True,
              watches: bool = False) -> None:  # fmt: skip
        options = OutsideOptions(home=self.home, start=self.project, watches=watches)
        self.controller = AppController(LocalOutside(options, clock=self.clock), clock=self.clock)
        self.controller.start()
        self.until(_has_begun)
        clock = self.clock if has_clock else None
        desk = HookDesk(self.controller, Watch(self.controller), "1.2.3", window, clock, self.clock)
        self.hooks = HookServer(desk, self.home, limits=limits, approvals_token=PERSON)
        self.hooks.start()
        self.client = Client(self.hooks.address.url, self.hooks.address.token)

    def stop(self) -> None:
        if hasattr(self, "client"):
            self.client.http.close()
        if hasattr(self, "hooks"):
            self.hooks.stop()
        if hasattr(self, "controller"):
            self.controller.stop()

    @property
    def state(self) -> AppState:
        return self.controller.snapshot()

    def until(self, predicate: Callable[[AppState], bool]) -> AppState:
        state = self.controller.wait_for(predicate, WAIT_S)
        assert state is not None, self.controller.snapshot().program.notices
        return state

    def given(self, change: Callable[[AppState], AppState]) -> None:
        """A state that no command leads to. A step under way may publish over it: then it is given again."""
        while True:
            self.controller._publish(change(self.state))
            self._steps_twice()
            if change(self.state) == self.state:
                return

    def _steps_twice(self) -> None:
        """A step that was under way is published by the first; the second began behind it. No second's wait for either."""
        for _ in range(2):
            seen = self.controller.revision
            self.controller.emit(Tick())
            self.until(lambda _, seen=seen: self.controller.revision > seen)  # type: ignore[misc]

    def read_only(self) -> None:
        """From here on the home cannot be written."""
        self.given(lambda s: replace(s, program=replace(s.program, is_home_read_only=True)))

    def discussion(self, name: str = "tides") -> str:
        """A discussion, made over HTTP; its id."""
        made = self.client.post("/api/discussions", {"name": name})
        assert made.status_code == 201, made.text
        found: str = made.json()["id"]
        return found

    def model(self, chosen: str, provider: str, model: str) -> None:
        """Switch a discussion's model."""
        self.controller.send(
            ChangeDiscussion(discussion_id=chosen, changes={"provider": provider, "model": model})
        )
        self.until(lambda s: s.discussions.summaries[chosen].meta.model == model)

    def texts(self, chosen: str) -> list[str]:
        """What was said, over HTTP."""
        listed = self.client.get(f"/api/discussions/{chosen}/messages").json()["messages"]
        return [entry["text"] for entry in listed if entry["type"] == "message"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(world.config))
        try:
            yield world
        finally:
            world.stop()
        assert unplaced(world.home) == []


@pytest.fixture
def running(world: World) -> World:
    """The program, started without a window."""
    world.start()
    return world


def events(text: str) -> list[tuple[str, Any]]:
    """Server-sent events, parsed."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != ":")
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found
