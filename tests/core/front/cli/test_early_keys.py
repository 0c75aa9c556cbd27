"""Every question of the command line, each on a terminal of a process of its own, before which every yes was pressed."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from core.kernel.values.knowledge import Category, Proposal
from core.knowledge.mcp_server.proposal_worker import add_proposal, load_proposals
from tests.command_forks import FORKS
from tests.core.app.forgetting.test_secrets import secret_of
from tests.core.front.cli.conftest import ASKED, EARLY, World
from tests.core.front.cli.test_merges import FACTS, REPLY, read, write
from tests.core.knowledge.harvest.harvests import add_discussion, item_lines, reply
from tests.test_repository import texts
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said

HERE = "core/front/cli/"
ASKS = {"confirm", "confirm_final", "ask", "agreed", "ask_all", "secret_line"}
WORDS = "Some of what was said, in order, at length. " * 1300
SERVER = Path(__file__).parents[3] / "vendors" / "mcp_sdk_server.py"
ENDS = re.compile(rf"{ASKED.pattern}|Key for local: $")
SMALL = (
    "import sys; from core.front import cli; from core.front.cli import harvest\n"
    "harvest.is_small_model = lambda _: True; sys.exit(cli.main(sys.argv[1:]))"
)
"""The command where the test's server stands for the built-in model, which is too slow for a test of words."""


class Asked(World):
    """The same, with a vendor that bills and caches beside the server."""

    def __init__(self, base: Path, server: CompatibleServer, vendor: AnthropicServer) -> None:
        super().__init__(base, server)
        self.vendor = vendor

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "ANTHROPIC_API_KEY": KEY}

    def priced(self, model: str) -> None:
        """Talk to the vendor from now on."""
        self.config.write_text(
            f'[providers.anthropic]\nbase_url = "{self.vendor.url}"\n'
            f'[ai_settings]\nprovider = "anthropic"\nmodel = "{model}"\n',
            encoding="utf-8",
        )


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    with CompatibleServer(VLLM) as server, AnthropicServer() as vendor:
        yield Asked(tmp_path, server, vendor)


class Command(NamedTuple):
    """A command that asks.

    Attributes:
        holds: whether nothing has happened that a yes would do.
        answers: what is typed behind each question; the last is a no.
        code: how it ends; program: its text, where it is not the command itself.
    """

    words: tuple[str, ...]
    holds: Callable[[], bool]
    answers: tuple[bytes, ...] = (b"n\n",)
    code: int = 1
    program: str = ""


def settings(world: World, rows: str) -> None:
    world.config.write_text(world.config.read_text("utf-8") + rows, encoding="utf-8")


def discussion(world: World, words: str = "Why?") -> str:
    return str(world.run("send", "--json", words).json["discussion"])


def calls(world: World) -> int:
    return len(world.server.bodies)


def restored(world: Asked) -> Command:
    chosen = discussion(world)
    archive = world.home.parent / "kept.zip"
    assert world.run("backup", "--out", str(archive)).code == 0
    later = discussion(world, "And later?")
    return Command(("restore", str(archive)), lambda: {chosen, later} <= logs(world), (b"y\n",))


def logs(world: World) -> set[str]:
    return {one.parent.name for one in (world.home / "discussions").glob("*/log.jsonl")}


def forgotten(world: Asked) -> Command:
    chosen = discussion(world)
    return Command(("forget", chosen), lambda: chosen in logs(world), (b"y\n",))


def cleaned(world: Asked) -> Command:
    facts = f"# Facts\n\n- The key is {secret_of(21)}.\n"
    write(world, "facts.md", facts)
    return Command(("secrets", "--clean"), lambda: read(world, "facts.md") == facts, (b"y\n",))


def forgotten_after_cleaning(world: Asked) -> Command:
    chosen = discussion(world, f"Keep {secret_of(21)} for me")
    write(world, "facts.md", f"# Facts\n\n- The key is {secret_of(21)}.\n")
    return Command(("secrets", "--clean"), lambda: chosen in logs(world), (b"clean\n", b"y\n"))


def followed(world: Asked) -> Command:
    before = world.config.read_bytes()
    return Command(("import", "--follow", str(world.project)), lambda: world.config.read_bytes() == before)


def repaired(world: Asked) -> Command:
    report = world.home / "crashes" / "20261123-120000.txt"
    report.parent.mkdir(parents=True)
    report.write_text("where")
    return Command(("doctor", "--quick", "--repair"), report.exists, (b"y\n",), code=0)


def set_aside(world: Asked) -> Command:
    world.config.write_text("[ai_settings\n")
    return Command(("doctor", "--quick", "--repair"), world.config.exists)


def harvested(world: Asked) -> Command:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    world.server.replies.append(Said(reply("Tides follow the moon.")))
    return Command(("harvest", "--apply"), lambda: item_lines(world.home) == [], program=SMALL)


def undone(world: Asked) -> Command:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    rows = [{"statement": f"Fact {n}.", "detail": ""} for n in range(5)]
    world.server.replies.append(Said(json.dumps({"facts": rows})))
    assert world.run("harvest", "--apply").code == 0
    return Command(("harvest", "undo"), lambda: len(item_lines(world.home)) == 5, (b"y\n",))


def read_at_no_known_price(world: Asked) -> Command:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    settings(world, "\n[ai_settings.caching]\nday_limit_usd = 1.0\n")
    return Command(("harvest", "--apply"), lambda: calls(world) == 0)


def batched(world: Asked) -> Command:
    world.priced("claude-haiku-4-5")
    settings(world, "[ai_settings.caching]\nday_limit_usd = 0.0001\n")
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    return Command(("harvest", "--apply", "--batch"), lambda: world.vendor.batches.made == 0)


def merged(world: Asked) -> Command:
    write(world, "facts.md", FACTS)
    world.server.replies.append(Said(REPLY))
    return Command(("knowledge", "merge", "facts", "--apply"), lambda: read(world, "facts.md") == FACTS)


def proposed(world: Asked) -> Command:
    add_proposal(
        world.home, Proposal("p1", Category.FACTS, "High.", source="Cursor", at="2026-11-23T12:00:00Z")
    )
    return Command(("knowledge", "proposals", "--accept", "p1"), lambda: len(load_proposals(world.home)) == 1)


def left_warm(world: Asked) -> Command:
    world.priced("claude-opus-5-5")
    assert world.run("send", given=WORDS.encode()).code == 0
    words = ("send", "--discussion", "last", "--model", "claude-sonnet-5-5", "And now?")
    return Command(words, lambda: len(world.vendor.bodies) == 1)


def past_a_limit(world: Asked) -> Command:
    return Command(
        ("send", "--set", "ai_settings.caching.day_limit_usd=0", "When?"), lambda: calls(world) == 0
    )


def of_no_known_price(world: Asked) -> Command:
    settings(world, "[ai_settings.caching]\nday_limit_usd = 1.0\n")
    return Command(("send", "When?"), lambda: calls(world) == 0)


def compared(world: Asked) -> Command:
    settings(world, "[ai_settings.caching]\nday_limit_usd = 1.0\n")
    words = ("send", "When?", "--compare", f"local/{MODEL}", "--without-memory")
    return Command(words, lambda: calls(world) == 0)


def written_by_a_model(world: Asked) -> Command:
    """Two calls in one reply: the second question stands behind the answer to the first."""
    one, two = (json.dumps({"path": name, "text": "words\n"}) for name in ("one.txt", "two.txt"))
    world.server.replies += [
        Said("I write.", calls=(("write_file", one), ("write_file", two)), finish="tool_calls"),
        Said("There."),
    ]
    return Command(
        ("send", "--trust", "--tools", "Write it."),
        lambda: [one.name for one in world.project.iterdir()] == ["one.txt"],
        (b"y\n", b"n\n"),
        code=0,
    )


def trusted(world: Asked) -> Command:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["x"]\n')
    return Command(("trust",), lambda: world.run("trust", "--list").out == "You trust no folder.\n")


def started(world: Asked, *, answers: tuple[bytes, ...] = (b"n\n",)) -> Command:
    rows = f"\n[mcp.servers.calc]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(['-P', str(SERVER)])}\n"
    settings(world, rows)
    assert world.run("trust", "--yes").code == 0

    def holds() -> bool:
        told = world.run("servers", "--json").json["calc"]
        return not any(one["is_approved"] for one in told["tools"])

    return Command(("servers", "calc", "--approve"), holds, answers)


def offered(world: Asked) -> Command:
    return started(world, answers=(b"y\n", b"n\n"))


def keyed(world: Asked) -> Command:
    file = world.home / "keys" / "local"
    return Command(("key", "local"), lambda: file.read_text().strip() == "sk-late", (b"sk-late\n",), code=0)


QUESTIONS: dict[tuple[str, str], tuple[Callable[[Asked], Command], ...]] = {
    ("backups", "agreed"): (restored,),
    ("cache_price", "agree"): (left_warm,),
    ("discussions", "run_forget"): (forgotten, forgotten_after_cleaning),
    ("discussions", "run_secrets"): (cleaned,),
    ("imports", "_follow"): (followed,),
    ("doctor", "_repair"): (repaired, set_aside),
    ("harvest", "_items_of"): (harvested,),
    ("harvest", "_undo"): (undone,),
    ("knowledge", "run_merge"): (merged,),
    ("knowledge", "run_proposals"): (proposed,),
    ("questions", "_unpriced"): (read_at_no_known_price,),
    ("send", "_agreed"): (past_a_limit, of_no_known_price),
    ("send", "_follow"): (written_by_a_model,),
    ("questions", "let_batch_go"): (batched,),
    ("send_beside", "run_comparison"): (compared,),
    ("servers", "_approve"): (started, offered),
    ("servers", "run_trust"): (trusted,),
    ("servers", "run_key"): (keyed,),
}
"""The function that asks, by its module in the room, and what brings a person there."""

BELOW = {("questions", name) for name in ("confirm", "confirm_final", "agreed", "ask_all")}
"""What only hands a question on."""


def asking() -> Iterator[tuple[str, str]]:
    """Every function of the room that asks."""
    for name, text in texts().items():
        if not name.startswith(HERE) or not name.endswith(".py"):
            continue
        module = name.removeprefix(HERE).removesuffix(".py")
        functions = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef)]
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ASKS:
                around = [one for one in functions if one.lineno <= call.lineno <= (one.end_lineno or 0)]
                yield module, max(around, key=lambda one: one.lineno).name


def test_every_question_of_the_room_is_driven_here() -> None:
    assert {*asking()} - BELOW == {*QUESTIONS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "prepare", [one for many in QUESTIONS.values() for one in many], ids=lambda one: one.__name__
)
def test_no_key_before_a_question_answers_it(asked: Asked, prepare: Callable[[Asked], Command]) -> None:
    """All that says yes is pressed before the command starts, and again behind each answer."""
    command = prepare(asked)
    keyboard, end = os.openpty()
    os.write(keyboard, EARLY)
    module, words = (
        ("-c", (command.program, *command.words)) if command.program else ("core.front.cli", command.words)
    )
    process = FORKS.start(
        module, *words, cwd=asked.project, env=asked.environ, ends=dict.fromkeys(range(3), end)
    )
    os.close(end)
    questions = 0
    for said in screens(keyboard):
        if ENDS.search(said):
            os.write(keyboard, command.answers[questions] + EARLY)
            questions += 1
    os.close(keyboard)

    assert (questions, process.wait()) == (len(command.answers), command.code)
    assert command.holds()


def screens(keyboard: int) -> Iterator[str]:
    """What stands on the terminal since the last question, after each piece, until it closes."""
    said = ""
    while True:
        try:
            said += os.read(keyboard, 4_096).decode(errors="replace")
        except OSError:  # how Linux tells that nobody has the other end
            return
        yield said
        if ENDS.search(said):
            said = ""
