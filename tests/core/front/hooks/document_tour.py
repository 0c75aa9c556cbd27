"""A tour on which every operation answers with every status that the document names for it."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.agent.agent_pages import asked_calls
from core.front.hooks.operation import Operation
from core.front.hooks.table import OPERATIONS
from core.imports.import_run import ImportRequest, run_import
from core.kernel.values.imports import ImportReport
from core.kernel.values.knowledge import Category, Item, NewItem
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.knowledge.edits import add_item
from core.services.settings.settings_messages import TrustProject
from tests.core.front.hooks.conftest import AS_PERSON, WAIT_S, Client, World, described
from tests.core.front.hooks.harvest_world import knowledge, old_discussion, proposing
from tests.vendors.compatible_server import MODEL, Said
from tests.vendors.loopback import Gate, HoldAfter, Silent

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@dataclass
class ToyWindow:
    """A window that does what it is told to."""

    acts: list[str] = field(default_factory=list)
    is_stuck: bool = False

    def screenshot(self) -> bytes:
        if self.is_stuck:
            raise TimeoutError
        return PNG

    def act(self, action: str) -> bool | None:
        self.acts.append(action)
        return {"theme": True, "retry": False}.get(action)


TIDES = "# Tides\n\n" + "".join(
    f"- The tide of pier {number} turns twice a day.\n- Each day the tide of pier {number} turns twice.\n"
    for number in range(1, 4)
)
MERGES = json.dumps(
    {
        "merges": [
            {
                "reason": "The same.",
                "items": [f"m{2 * n - 1}", f"m{2 * n}"],
                "text": f"Pier {n}: twice a day.",
            }
            for n in range(1, 4)
        ]
    }
)
FACTS = """---
domain: global
category: fact
version: 1
last_updated: 2026-11-20
---

- id: global:fact:001
  fact: "The tide turns."
  category: fact
  domain: global
  confidence: 0.90
"""


class Tour:
    """Makes every operation answer with every status that the document names for it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.window = ToyWindow()

    @property
    def client(self) -> Client:
        return self.world.client

    def good(self) -> None:
        """Every answer that is no error, and the errors of names."""
        client = self.client
        client.get(f"/api/hello?nonce={'0' * 48}")
        chosen = self.world.discussion()
        one = f"/api/discussions/{chosen}"
        self.world.server.faults.append(HoldAfter(2, gate := Gate()))
        client.post(f"{one}/messages", {"text": "x"})
        client.post(f"{one}/messages", {"text": "x"})
        client.post(f"{one}/cancel")
        client.post(f"{one}/cancel")
        gate.open()
        reply = client.post(f"{one}/messages", {"text": "x", "wait": True}).json()["reply"]["id"]
        client.get(f"{one}/messages/{reply}/versions")
        client.post(f"{one}/messages/{reply}/choose")
        models = [
            {"provider": "local", "model": MODEL},
            {"provider": "local", "model": MODEL, "has_memory": False},
        ]
        client.get(f"{one}/compare")
        client.post(f"{one}/compare", {"models": models[:1], "text": "x"})
        client.post(f"{one}/compare", {"models": models, "text": "x", "wait": True})
        client.post(f"{one}/compare", {"models": models, "text": "x"})
        client.get(f"{one}/compare")
        self.world.until(lambda s: not s.turns.calls)
        client.put("/api/presets/p", {"items": []})
        client.put("/api/presets/p", {"items": []})
        client.post(f"{one}/preset", {"name": "p"})
        for path in ("status", "cache", "discussions", "presets", "screenshot.png",
                     f"cache/{chosen}", f"cache/{chosen}/why", f"discussions/{chosen}/messages", f"context/{chosen}"):  # fmt: skip
            client.get(f"/api/{path}")
        self.world.model(chosen, "embedded", "SmolLM2-135M-Instruct")
        for action in ("invalidate", "disable", "enable"):
            client.post(f"/api/cache/{chosen}/{action}")
        client.post(
            "/api/ui", {"panel": "discussions", "action": "select_discussion", "discussion_id": chosen}
        )
        client.post("/api/ui", {"panel": "window", "action": "theme"})
        client.post("/api/ui", {"panel": "window", "action": "retry"})
        client.post("/api/clock", {"advance_s": 1})

    def known(self) -> None:
        """What is known, and both ways to ask wrongly for it."""
        for path in (
            "knowledge",
            "knowledge?file=no",
            "knowledge?limit=x",
            "harvest",
            "harvest?limit=x",
            "knowledge/facts",
            "knowledge/facts?limit=x",
        ):
            self.client.get(f"/api/{path}")
        self.client.post("/api/knowledge/digest")
        for query in ("", "?discussion_id=no", "?limit=x"):
            self.client.get(f"/api/knowledge/seen{query}")
        add = {"panel": "knowledge", "action": "add_knowledge_item", "category": "facts", "text": "Known."}
        self.client.post("/api/ui", add)
        item = self._item("facts.md")
        place = {"file": item.file, "first_line": item.first_line, "text": item.text}
        self.client.post("/api/knowledge/why", place)
        self.client.post("/api/knowledge/facts/sync")
        self.client.post("/api/knowledge/facts/why", {"fact_id": "global:fact:001"})

    def _item(self, file: str) -> Item:
        """The first item of a category file, once there is one."""

        def first(state: AppState) -> Item | None:
            return next((i for one in state.knowledge.categories for i in one.items if i.file == file), None)

        found = first(self.world.until(lambda state: first(state) is not None))
        assert found is not None
        return found

    def merged(self) -> None:
        """Merges and drafts: proposed, refused, written; begun and waited for."""
        for category, wait in (("decisions", True), ("questions", False)):
            self.world.server.replies.append(Said(MERGES, piece_chars=400))
            self.client.post("/api/knowledge/merge", {"category": category, "wait": wait})
            self._settle()
            for body in ({"groups": ["none"]}, {"groups": "all"}, {"groups": "all", "is_agreed": True}):
                who = AS_PERSON if "is_agreed" in body else {}
                self.client.post("/api/knowledge/merge/apply", {**body, "wait": wait}, **who)
                self._settle()
        self.client.post("/api/knowledge/merge", {"category": "tasks_done"})
        item = self._item("playbooks.md")
        place = {"file": item.file, "first_line": item.first_line, "text": item.text}
        for wait in (True, False):
            self.client.post("/api/knowledge/graduate", {"item": place, "wait": wait})
            self._settle()

    def harvested(self) -> None:
        """Runs of the harvest: each begun and waited for, refused while another runs, and with wrong names."""
        for wait in (False, True):
            self.world.server.faults.append(Silent(gate := Gate()))
            self._run("preview")
            assert gate.reached.wait(WAIT_S)
            for name in ("look", "preview", "apply", "batch", "batch/cancel", "undo"):
                self._run(name)
            self._run("cancel", wait=wait)
            gate.open()
            self._settle()
        found = self._run("look", wait=True)
        for number, wait in enumerate((False, True)):
            paths = [row["path"] for row in found["artifacts"]["rows"] if row["class"] == "harvest"]
            self.world.server.replies.append(proposing("It turns."))
            self._run("preview", wait=True, paths=[paths[number]])
            for name, body in (
                ("apply", {"items": ["no"]}),
                ("apply", {}),
                ("undo", {"apply_id": "no"}),
                ("undo", {}),
            ):
                self._run(name, wait=wait, **body)
                self._settle()
        self._run("look")
        self._settle()
        for name, body in (
            ("preview", {"paths": ["no"]}),
            ("apply", {"paths": ["no"]}),
            ("batch", {"paths": ["no"]}),
            ("cancel", {}),
        ):
            self._run(name, **body)

    def batched(self) -> None:
        """A look after batches: begun, and waited for."""
        for wait in (False, True):
            self._run("batch", submits=False, wait=wait)
            self._settle()
            self._run("batch/cancel", wait=wait)
            self._settle()
        self._run("batch/cancel", tags=["no"])

    def _run(self, name: str, **body: Any) -> Any:
        return self.client.post(f"/api/harvest/{name}", body or None).json()

    def _settle(self) -> None:
        self.world.until(lambda s: not s.harvest.is_busy)

    def imported(self) -> None:
        """Imports: begun and waited for, refused while another runs, stopped, and asked for wrongly."""
        for path in ("imports", "imports?limit=x"):
            self.client.get(f"/api/{path}")
        begun, gate = threading.Event(), threading.Event()

        def slow(request: ImportRequest, **more: Any) -> ImportReport:
            begun.set()
            assert gate.wait(WAIT_S)
            return run_import(request, **more)

        asked = {"paths": [str(self.world.home / "nothing.json")]}
        self.client.post("/api/imports/cancel")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("core.imports.import_run.run_import", slow)
            self.client.post("/api/imports", asked, **AS_PERSON)
            assert begun.wait(WAIT_S)
            self.client.post("/api/imports", asked, **AS_PERSON)
            self.client.post("/api/imports/cancel")
            gate.set()
            self.world.until(lambda s: not s.imports.is_running)
        self.client.post("/api/imports", {**asked, "wait": True}, **AS_PERSON)

    def signalled(self) -> None:
        """Signals: asked for wrongly, and handed in for nobody."""
        self.client.get("/api/signals?limit=x")
        self.client.post("/api/signals", {"text": "x", "discussion_id": "none"})

    def searched(self) -> None:
        """Retrieval: off here, then on, asked rightly and wrongly."""
        self.client.get("/api/search?q=moss")
        self.client.get("/api/usage?by=kind")
        self.client.get("/api/usage?since=yesterday")
        on = {"panel": "settings", "action": "change_setting", "key": "retrieval.enabled", "value": True}
        self.client.post("/api/ui", on)
        self.world.until(lambda s: s.retrieval.asked is not None and s.retrieval.progress is None)
        for action in ("look_at_sources", "check_navigation"):
            self.client.post("/api/ui", {"panel": "retrieval", "action": action})
        self.world.until(lambda s: s.retrieval.preview is not None and s.retrieval.navigation is not None)
        for path in ("search?q=moss", "search?count=3", "retrieval", "retrieval?limit=x"):
            self.client.get(f"/api/{path}")

    def forgotten(self) -> None:
        """A conversation and an item: not without a confirmation, then forgotten."""
        for name in ("forgetting", f"discussions/{self.world.discussion()}/forget"):
            self.client.get(f"/api/{name}")
        add_item(self.world.home, NewItem(Category.FACTS, "The tide turns at six."))
        self.client.post("/api/knowledge/digest")
        state = self.world.until(lambda s: any(file.items for file in s.knowledge.categories))
        item = next(item for file in state.knowledge.categories for item in file.items)
        place = {"file": item.file, "first_line": item.first_line, "text": item.text}
        for is_confirmed in (False, True):
            self.client.post("/api/knowledge/forget", {**place, "is_confirmed": is_confirmed}, **AS_PERSON)
            self.client.post(f"/api/{name}", {"is_confirmed": is_confirmed}, **AS_PERSON)

    def tools(self) -> None:
        """A call of a tool, asked about and refused."""
        self.world.controller.send(TrustProject(is_trusted=True))
        self.world.until(lambda s: s.config.project.is_trusted)
        chosen = self.world.discussion()
        self.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": True}, **AS_PERSON)
        call = ("write_file", json.dumps({"path": "new.py", "text": "x"}))
        self.world.server.replies.append(Said("", calls=(call,), finish="tool_calls"))
        self.client.post(f"/api/discussions/{chosen}/messages", {"text": "Write."})
        state = self.world.until(lambda s: bool(asked_calls(s, chosen)))
        (asked,) = asked_calls(state, chosen)
        assert asked.approval is not None
        for question in ("other", asked.approval.id):
            body = {"question_id": question, "answer": "no"}
            self.client.post(f"/api/discussions/{chosen}/approvals/{asked.id}", body, **AS_PERSON)
        self.world.until(lambda s: not is_busy(s, chosen))

    def alone(self) -> None:
        """A discussion goes on by itself, and stops."""
        chosen = self.world.discussion()
        self.client.get("/api/autonomy")
        self.client.put("/api/autonomy", {"discussion_id": chosen}, **AS_PERSON)
        self.world.until(lambda s: s.attention.autonomy is not None)
        for query in ("", "?limit=x"):
            self.client.get(f"/api/autonomy{query}")
        self.client.post("/api/ui", {"panel": "autonomy", "action": "stop_autonomy"})
        self.world.until(lambda s: s.attention.autonomy is None)

    def failed(self) -> None:
        """A provider that fails."""
        chosen = self.world.discussion()
        self.world.model(chosen, "local", "none-such")
        self.client.post(f"/api/discussions/{chosen}/messages", {"text": "x", "wait": True})

    def wrong(self) -> None:
        """Names that are not there, bodies that are not right, and the guard's refusals, for every operation."""
        good = {
            "text": "x",
            "name": "no",
            "items": [],
            "panel": "no",
            "action": "no",
            "advance_s": 0,
            "paths": ["no"],
            "file": "no.md",
            "fact_id": "no:fact:001",
            "category": "facts",
            "item": {"file": "no.md", "first_line": 1, "text": "no"},
            "first_line": 1,
            "is_confirmed": False,
            "question_id": "no",
            "answer": "no",
            "has_tools": True,
            "discussion_id": "no",
        }
        good |= {"file": "facts.md", "first_line": 1, "models": [{"provider": "no", "model": "no"}]}
        for operation in OPERATIONS:
            path = re.sub(r"\{\w+\}", "no", operation.path)
            fields = body_of(operation).get("required", ())
            body = {name: good[name] for name in fields} or {"provider": "no"}
            self._ask(operation, path, body if operation.body is not None else None)
            self._ask(operation, path, [])
            self._guard(operation, path)

    def _ask(self, operation: Operation, path: str, body: Any, **headers: str) -> None:
        data = None if operation.method == "GET" or body is None else json.dumps(body).encode()
        kind = {"content-type": "application/json"} if data is not None else {}
        kind |= AS_PERSON if operation.needs_person else {}
        http = self.client.http
        self.client._checked(http.request(operation.method, path, content=data, headers={**kind, **headers}))

    def _guard(self, operation: Operation, path: str) -> None:
        bad = "%00" if operation.names else "?" + "x" * 0
        self._ask(operation, path, None, Authorization="Bearer no")
        self._ask(operation, path, None, Origin="http://evil.example")
        self._ask(operation, path + "?" + "x" * 3000, None)
        if bad == "%00":
            where = re.sub(r"\{\w+\}", "a%00b", operation.path)
            self.client.seen.add(
                (operation.id, self.client.http.request(operation.method, where).status_code)
            )
        if operation.method != "GET":
            self._ask(operation, path, "x" * 200_000)
            who = AS_PERSON if operation.needs_person else {}
            self.client._checked(self.client.http.request(operation.method, path, content=b"x", headers=who))


def body_of(operation: Operation) -> Any:
    """The schema of an operation's body as the document has it, empty where it takes none."""
    name = operation.body.__name__ if operation.body is not None else ""
    return described()["components"]["schemas"].get(name, {})


def reached(world: World) -> set[tuple[str, int]]:
    tour = Tour(world)
    for number in range(2):
        old_discussion(world, f"old {number}", minute=number)
    knowledge(world, decisions=TIDES, questions=TIDES, playbooks="# Playbooks\n\n- **Ship**: Push.\n")
    facts = world.home / "knowledge" / "global" / "facts.yaml"
    facts.parent.mkdir()
    facts.write_text(FACTS)
    world.start(window=tour.window)
    tour.good()
    tour.known()
    tour.harvested()
    tour.batched()
    tour.merged()
    tour.imported()
    tour.signalled()
    tour.searched()
    tour.forgotten()
    tour.tools()
    tour.alone()
    tour.failed()
    tour.wrong()
    read_only(tour)
    return world.client.seen


def read_only(tour: Tour) -> None:
    """A home that cannot be written, and a program without a window."""
    world, client = tour.world, tour.client
    chosen = next(iter(world.state.discussions.summaries))
    world.hooks._desk.window = None
    client.get("/api/screenshot.png")
    world.read_only()
    client.post("/api/discussions", {})
    client.put(f"/api/discussions/{chosen}/tools", {"has_tools": False}, **AS_PERSON)
    client.put("/api/autonomy", {"discussion_id": chosen}, **AS_PERSON)
    client.post(f"/api/discussions/{chosen}/preset", {"name": ""})
    client.post(f"/api/discussions/{chosen}/messages/x/choose")
    client.put("/api/presets/x", {"items": []})
    client.post("/api/knowledge/digest")
    client.post("/api/knowledge/facts/sync")
    place = {"file": "playbooks.md", "first_line": 3, "text": "**Ship**: Push."}
    client.post("/api/knowledge/graduate", {"item": place})
    for action in ("invalidate", "disable", "enable"):
        client.post(f"/api/cache/{chosen}/{action}")
