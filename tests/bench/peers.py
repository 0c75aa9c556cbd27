"""One tool day through real clients over loopback: the same words, tools and replies, billed by one engine outside of all.

`make bench-peers` installs the clients into `.optional` and runs this; it is no part of CI. A client that is not there, or cannot
play the day, is named with its reason. Everything that a client sends is billed, its side requests too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.agent.agent_messages import SetTools
from core.app.controller import AppController
from core.app.execution import act
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.updates import is_busy
from core.services.settings.settings_messages import ChangeSetting, TrustProject
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.bench.__main__ import OUT
from tests.bench.cache_thinking import (
    NO_GAPS,
    ROUNDS,
    WITH_GAPS,
    extends_flat,
    make_day,
)
from tests.bench.cache_vendors import (
    Reply,
    Turn,
)
from tests.core.app.programs import until
from tests.core.talk.caching.tool_turn import size
from tests.vendors.anthropic_rules import Model
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts, o200k
from tests.vendors.billing.values import Json, Parts
from tests.vendors.loopback import Captured, StreamReply
from tests.vendors.loopback import Reply as HttpReply

ROOT = Path(__file__).parents[2]
OPTIONAL = ROOT / ".optional"
MODEL = "claude-opus-5-5"
TURNS = 8
WAIT_S = 240.0
REPLY_S = 15.0
FACTOR = 1.35
SYSTEM_WORDS = 3_000
NOT_SENT = frozenset(
    {"temperature", "top_p", "top_k", "context_management", "metadata", "fallbacks", "betas"}
)
"""Fields of older protocols, and what says nothing to the model: taken without a word, so that a client is not refused for them."""
_WORDS = [
    "tide",
    "moon",
    "water",
    "height",
    "wave",
    "harbour",
    "chart",
    "depth",
    "north",
    "current",
    "season",
    "table",
    "line",
    "when",
    "over",
    "under",
    "near",
    "far",
    "first",
    "second",
    "both",
    "each",
    "after",
    "before",
    "level",
    "mark",
    "stone",
    "wall",
    "gate",
    "rope",
    "sail",
    "wind",
    "rain",
    "cloud",
    "light",
    "early",
    "late",
]


def words(draw: random.Random, tokens: int) -> str:
    """Text of about so many tokens of the vendor."""
    return " ".join(draw.choice(_WORDS) for _ in range(max(1, round(tokens / FACTOR))))


@dataclass
class Peer:
    """A client as the vendor's replies speak to it.

    Args:
        tool: its tool that reads a file, and the name of the path; is_main: tells requests of the talk from those beside it.
    """

    name: str
    tool: tuple[str, str]
    is_main: Callable[[Json], bool] = lambda body: bool(body.get("tools"))


@dataclass
class Billed:
    """A request, and its bill."""

    body: Json
    parts: Parts
    model: str
    is_main: bool


class Vendor(AnthropicServer):
    """Anthropic on a clock of its own; answers the talk by the day, and all else with a few words."""

    def __init__(self, peer: Peer) -> None:
        self.now = datetime(2026, 11, 29, 9, tzinfo=UTC)
        super().__init__(clock=self._seconds)
        self.cache = AnthropicCache(self._seconds, Texts(o200k(FACTOR)))
        self.peer, self.billed, self.day = peer, list[Billed](), list[Said]()

    def _seconds(self) -> float:
        return self.now.timestamp()

    def answer(self, captured: Captured) -> HttpReply | StreamReply:
        if captured.path == "/v1/messages":
            body = {k: v for k, v in captured.json.items() if k not in NOT_SENT}
            captured = replace(captured, body=json.dumps(body).encode())
        return super().answer(captured)

    def _next_reply(self) -> Said:
        one = self.billed[-1]
        return self.day.pop(0) if one.is_main and self.day else Said()

    def bill(self, body: Json, captured: Captured, message_id: str) -> Any:
        ticket = super().bill(body, captured, message_id)
        is_main = self.peer.is_main(body) and not ticket.is_prewarm
        self.billed.append(Billed(body=body, parts=ticket.parts, model=body["model"], is_main=is_main))
        return ticket

    def _message(self, body: Json, model: Model, said: Said, ticket: Any) -> Json:
        message = super()._message(body, model, said, ticket)
        if self.billed[-1].is_main:
            self.now += timedelta(seconds=REPLY_S)
        return message


@dataclass
class World:
    """A folder with the files that the day reads, and a vendor."""

    folder: Path
    vendor: Vendor
    turns: Sequence[Turn]
    draw: random.Random = field(default_factory=lambda: random.Random("peers"))

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.folder),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.vendor.url,
            "PEER_MODEL": MODEL,
            "PEER_SYSTEM": words(random.Random("system"), SYSTEM_WORDS),
        }

    def files(self) -> None:
        """Write what the calls will read: results of the sizes that the day has."""
        self.project.mkdir()
        for call in (call for turn in self.turns for reply in turn.replies for call in reply.calls):
            (self.project / f"{call.id}.txt").write_text(words(self.draw, tokens_of(call.result)), "utf-8")

    def said(self, turn: Turn, *, relative: bool) -> list[Said]:
        """The vendor's replies to a turn."""
        return [self._said(reply, relative=relative) for reply in turn.replies]

    def _said(self, reply: Reply, *, relative: bool) -> Said:
        tool, name = self.vendor.peer.tool
        thought = {
            "type": "thinking",
            "thinking": "I think of the tides.",
            "tokens": tokens_of(reply.thought),
        }
        text = {"type": "text", "text": words(self.draw, tokens_of(reply.text))}
        calls = [
            {
                "type": "tool_use",
                "id": f"toolu_{call.id}",
                "name": tool,
                "input": {name: f"{call.id}.txt" if relative else str(self.project / f"{call.id}.txt")},
            }
            for call in reply.calls
        ]
        return Said((thought, text, *calls), stop_reason="tool_use" if calls else "end_turn", piece_chars=400)


def tokens_of(labelled: str) -> int:
    """Tokens that a text of the day stands for."""
    return size(labelled)


def played(
    world: World,
    ask: Callable[[str, bool], None],
    *,
    relative: bool = False,
    adds: Callable[[list[str]], None] | None = None,
) -> None:
    """Play the day: gaps on the vendor's clock, words to the client, its replies by the script.

    Args:
        adds: of a client without tools: takes the files that the calls of a turn would read; the last reply alone comes.
    """
    for number, turn in enumerate(world.turns):
        world.vendor.now += timedelta(seconds=turn.gap_s)
        said = world.said(turn, relative=relative)
        if adds is not None:
            adds([f"{call.id}.txt" for reply in turn.replies for call in reply.calls])
        world.vendor.day = said if adds is None else said[-1:]
        ask(words(world.draw, tokens_of(turn.words)), number == 0)
        if world.vendor.day:
            raise RuntimeError(
                f"turn {number + 1}: {len(world.vendor.day)} replies of the script were not asked for"
            )


def run(command: Sequence[str], world: World, **environ: str) -> None:
    """Run a client to its end."""
    done = subprocess.run(
        command, cwd=world.project, env={**world.environ, **environ}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")


def claude_code(world: World) -> None:
    """Claude Code, each turn a run that goes on from the last."""
    binary = OPTIONAL / "node_modules/.bin/claude"
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}

    def ask(text: str, is_first: bool) -> None:
        more = [] if is_first else ["--continue"]
        run([str(binary), "-p", text, "--model", MODEL, "--allowedTools", "Read", *more], world, **quiet)

    played(world, ask)


def opencode(world: World) -> None:
    """opencode, each turn a run that goes on from the last."""
    binary = OPTIONAL / "node_modules/.bin/opencode"
    limits = {"context": 1_000_000, "output": 64_000}
    known = {"name": MODEL, "reasoning": True, "tool_call": True, "temperature": False, "limit": limits}
    options = {"apiKey": KEY, "baseURL": f"{world.vendor.url}/v1"}
    config = {
        "model": f"anthropic/{MODEL}",
        "share": "disabled",
        "autoupdate": False,
        "provider": {"anthropic": {"options": options, "models": {MODEL: known}}},
    }
    path = world.folder / "opencode.json"
    path.write_text(json.dumps(config), encoding="utf-8")

    def ask(text: str, is_first: bool) -> None:
        more = [] if is_first else ["--continue"]
        run(
            [str(binary), "run", "--model", f"anthropic/{MODEL}", *more, text],
            world,
            OPENCODE_CONFIG=str(path),
        )

    played(world, ask)


def lined(
    script: str, *, folder: str = "peers", adds_files: bool = False, **environ: str
) -> Callable[[World], None]:
    """A client that is a library: its own program takes a line a turn.

    Args:
        folder: where its interpreter is; adds_files: it has no tools, each line names files, too.
    """

    def play(world: World) -> None:
        python, path = OPTIONAL / folder / "bin/python", Path(__file__).parent / "clients" / script
        files: list[str] = []
        errors = (world.folder / "errors.txt").open("w+")
        client = subprocess.Popen(
            [python, path], cwd=world.project, env={**world.environ, **environ},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        assert client.stdin is not None
        assert client.stdout is not None
        timer = threading.Timer(WAIT_S * 2, client.kill)
        timer.start()

        def ask(text: str, _is_first: bool) -> None:
            print(json.dumps([text, files] if adds_files else text), file=client.stdin, flush=True)
            files.clear()
            if client.stdout.readline() != "done\n":  # type: ignore[union-attr]
                errors.seek(0)
                raise RuntimeError(errors.read().strip()[-400:] or "it ended")

        try:
            played(world, ask, adds=files.extend if adds_files else None)
        finally:
            timer.cancel()
            client.kill()
            client.wait()

    return play


def ours(*, keepalive: bool) -> Callable[[World], None]:
    """This program without a window, its tools and its settings as they are packaged, on the vendor's clock."""

    def play(world: World) -> None:
        clock = lambda: world.vendor.now  # noqa: E731
        with _as_environment(world):
            options = OutsideOptions(home=world.folder / "home", start=world.project, watches=False)
            controller = AppController(LocalOutside(options, clock=clock), clock=clock)
            controller.start()
            try:
                _play_ours(controller, world, keepalive=keepalive)
            finally:
                controller.stop()

    return play


def _play_ours(controller: AppController, world: World, *, keepalive: bool) -> None:
    until(controller, lambda s: bool(s.config.providers) and s.spending.spent_today_usd is not None)
    act(controller, TrustProject(is_trusted=True))
    controller.send(ChangeSetting("ai_settings.caching.keepalive", keepalive))
    until(controller, lambda s: s.config.is_settled and s.config.settings.caching.keepalive is keepalive)
    made = CreateDiscussion("Tides", "anthropic", MODEL)
    chosen = act(controller, made).discussions.selected_id
    act(controller, SetTools(chosen, has_tools=True))

    def ask(text: str, _is_first: bool) -> None:
        controller.send(SendPrompt(chosen, text))
        until(
            controller,
            lambda s: not world.vendor.day and chosen not in s.turns.calls and not is_busy(s, chosen),
        )

    played(world, ask, relative=True)


@contextmanager
def _as_environment(world: World) -> Iterator[None]:
    kept = dict(os.environ)
    os.environ.update(world.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


PEERS: dict[str, tuple[Peer, Callable[[World], None]]] = {
    "this program, keepalive off": (Peer("ours", ("read_file", "path")), ours(keepalive=False)),
    "Claude Code": (Peer("claude", ("Read", "file_path")), claude_code),
    "opencode": (Peer("opencode", ("read", "filePath")), opencode),
    "pydantic-ai": (Peer("pydantic", ("read", "path")), lined("pydantic_ai_client.py")),
    "aider, files added by hand": (
        Peer("aider", ("read", "path"), lambda body: body["model"] == MODEL),
        lined("aider_client.py", folder="aider", adds_files=True),
    ),
    "llm": (Peer("llm", ("read", "path")), lined("llm_client.py", PEER_OPTIONS='{"cache": true}')),
}


def in_blocks(body: Json) -> Json:
    """A body whose texts are blocks, as the vendor reads them."""

    def blocks(content: Any) -> Any:
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    messages = [{**one, "content": blocks(one["content"])} for one in body["messages"]]
    return {**body, "system": blocks(body.get("system") or []), "messages": messages}


def row_of(vendor: Vendor) -> dict[str, float]:
    """Figures of a day: input in tokens of fresh input of the day's model, its share of the same without a cache."""
    card = Prices()
    fresh = float(card.rates("anthropic", MODEL, vendor.now.timestamp(), 0).plain)
    at = vendor.now.timestamp()

    def usd(one: Billed, parts: Parts) -> float:
        return float(card.cost("anthropic", one.model, parts, at))

    cost = sum(usd(one, one.parts) for one in vendor.billed) / fresh
    without = sum(usd(one, Parts(plain=one.parts.total)) for one in vendor.billed) / fresh
    main = [in_blocks(one.body) for one in vendor.billed if one.is_main]
    pairs = list(pairwise(main))
    broken = sum(not extends_flat(one, two) for one, two in pairs)
    return {
        "cost": cost,
        "share": cost / without,
        "requests": len(vendor.billed),
        "main": len(main),
        "broken": broken,
        "pairs": len(pairs),
    }


def measured(name: str, kind: str, seed: int, turns: int) -> dict[str, float] | str:
    """A client's row, or why there is none."""
    peer, play = PEERS[name]
    with tempfile.TemporaryDirectory() as folder, Vendor(peer) as vendor:
        world = World(Path(folder), vendor, make_day(seed, kind, turns, ROUNDS))
        world.files()
        try:
            play(world)
        except (RuntimeError, OSError, subprocess.SubprocessError, AssertionError) as error:
            return f"{type(error).__name__}: {error}"
        return row_of(vendor)


def main(arguments: Sequence[str]) -> int:
    """Print the table, and write it to `out/bench/peers.md`."""
    parser = argparse.ArgumentParser("bench peers")
    parser.add_argument("--only", nargs="+", choices=tuple(PEERS), default=tuple(PEERS))
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    lines = [
        "| client | gaps | input, tokens of fresh input | of its own without a cache | requests | pairs that do not extend |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for name in given.only:
        for kind in (NO_GAPS, WITH_GAPS):
            found = measured(name, kind, given.seed, given.turns)
            line = f"| {name} | {kind} | could not be driven: {found} | | | |"
            if isinstance(found, dict):
                line = (
                    f"| {name} | {kind} | {found['cost']:,.0f} | {found['share']:.3f} | {found['requests']:.0f}"
                    f" ({found['main']:.0f} of the talk) | {found['broken']:.0f} of {found['pairs']:.0f} |"
                )
            lines.append(line)
            print(line, flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "peers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        raise SystemExit(main(sys.argv[1:]))
