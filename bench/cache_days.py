"""Three kinds of working day as traces of requests: who asks what when, with every edit, tool turn and digest.

Texts are labels that say their own size, so that a day of 30 million tokens is replayed in seconds.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import re
from dataclasses import dataclass, field

from msgspec.structs import replace

from core.context.memo import StackMemo
from core.context.stack import AggregateStack, build_stack
from core.values.curation import FileItem, FileSnapshot, ItemFiles, NamedText
from core.values.messages import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from core.values.provider import RequestPart
from core.values.stack import DiscussionFacts, Segment, StackInputs, ToolSchema
from tests.vendors.billing.clock import START_S, moment

DISCUSSIONS = 3
TURNS = 50
FILES = 12
FILES_TOKENS = 38_000
EDIT, PRESET, METADATA, DIGEST = 0.02, 0.02, 0.35, 0.01
TOOL_TURN = 0.25
_STABLE = {"role": 1_000, "system": 2_000, "digest": 6_000}
_TOOLS, _TOOL_TOKENS = 12, 500
_DOCUMENTS, _DOCUMENT_TOKENS = 4, 2_000
_NO_ARGUMENTS = '{"type": "object"}'
_SIZE = re.compile(r"\[\[(\d+)")


@dataclass(frozen=True, slots=True)
class Day:
    """A kind of day: shares of gaps under 4 minutes, of 5 to 50, and the rest over an hour."""

    name: str
    short: float
    middle: float


DESK = Day("desk", 0.68, 0.24)
BUSY = Day("busy", 0.94, 0.05)
SPARSE = Day("sparse", 0.35, 0.40)
DAYS = (DESK, BUSY, SPARSE)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of a day.

    Args:
        message_id: of the user's message; is_turn: the first request of its turn.
        answer: what the model says to it.
    """

    discussion: str
    at_s: float
    stack: AggregateStack
    message_id: str
    is_turn: bool
    answer: tuple[Part, ...] = ()


def label(tokens: int, name: str) -> str:
    """A text that counts so many tokens."""
    return f"[[{tokens} {name}]]"


def count_labels(text: str) -> int:
    """The sizes that a text's labels say, and a token for each eight characters around them."""
    return sum(map(int, _SIZE.findall(text))) + len(text) // 8


def part_text(part: RequestPart | ToolSchema) -> str:
    """The text of a part that is counted."""
    match part:
        case Segment(text=text):
            return text
        case ToolSchema(name, description, parameters):
            return f"{name}{description}{parameters}"
        case ToolCallPart(_, name, arguments):
            return f"{name}{arguments}"
        case ToolResultPart(_, text):
            return text
        case _:
            return ""


def make_day(day: Day, seed: int, *, tool_turns: bool = True) -> tuple[Ask, ...]:
    """All requests of a day, by time. The discussions go on beside one another, each with the day's gaps."""
    draw = random.Random(f"{day.name} {seed}")
    talks = [_Talk(f"d{number}", draw) for number in range(DISCUSSIONS)]
    starts = [START_S + draw.uniform(0, 600) for _ in talks]
    due = [(start, number, 0) for number, start in enumerate(starts)]
    asks: list[Ask] = []
    digest = 0
    while due:
        due.sort()
        at_s, number, turn = due.pop(0)
        digest += draw.random() < DIGEST
        found = talks[number].turn(at_s, turn, digest, TOOL_TURN if tool_turns else 0.0)
        asks.extend(found)
        if turn + 1 < TURNS:
            due.append((found[-1].at_s + _gap(day, draw), number, turn + 1))
    return tuple(sorted(asks, key=lambda ask: ask.at_s))


def _gap(day: Day, draw: random.Random) -> float:
    """Seconds to the next turn. What is over an hour is so up to a night: evenly in its logarithm to 16 h."""
    kind = draw.random()
    if kind < day.short:
        return draw.uniform(45, 240)
    if kind < day.short + day.middle:
        return draw.uniform(300, 3000)
    return math.exp(draw.uniform(math.log(3_660), math.log(16 * 3_600)))


@dataclass(slots=True)
class _File:
    path: str
    tokens: int
    version: int = 0


@dataclass(slots=True)
class _Talk:
    """A discussion while its day is made."""

    name: str
    draw: random.Random
    files: list[_File] = field(default_factory=list)
    turns: list[Message] = field(default_factory=list)
    memo: StackMemo = field(default_factory=StackMemo)
    metadata: int = 0
    made: int = 0

    def __post_init__(self) -> None:
        weights = [self.draw.uniform(0.3, 2.0) for _ in range(FILES)]
        for weight in weights:
            self._add_file(round(FILES_TOKENS * weight / sum(weights)))

    def turn(self, at_s: float, number: int, digest: int, tool_turn: float) -> list[Ask]:
        """The requests of one turn, its answers kept for the next."""
        if number:
            self._edit()
        draw, id_ = self.draw, f"{self.name}m{number}"
        words = label(round(draw.lognormvariate(5.0, 0.6)), id_)
        said = len(self.turns)
        inputs = self._inputs(digest)
        asked = replace(inputs, user_text=words)
        asks = [Ask(self.name, at_s, build_stack(asked, self.memo), id_, is_turn=True)]
        self._say(id_, Role.USER, TextPart(words))
        rounds = draw.randint(1, 4) if draw.random() < tool_turn else 0
        for round_ in range(rounds):
            call = f"{id_}c{round_}"
            arguments = json.dumps({"path": label(40, call)})
            self._say(
                f"{call}a", Role.ASSISTANT, TextPart(label(60, call)), ToolCallPart(call, "read", arguments)
            )
            result = label(round(draw.lognormvariate(6.3, 0.8)), f"{call} result")
            self._say(f"{call}r", Role.TOOL, ToolResultPart(call, result))
            at_s += draw.uniform(8, 25)
            running = replace(inputs, turns=tuple(self.turns))
            asks.append(Ask(self.name, at_s, build_stack(running, self.memo), id_, is_turn=False))
        self._say(f"{id_}r", Role.ASSISTANT, TextPart(label(round(draw.lognormvariate(6.2, 0.5)), f"{id_}r")))
        answers = [message.parts for message in self.turns[said:] if message.role is Role.ASSISTANT]
        return [dataclasses.replace(ask, answer=answer) for ask, answer in zip(asks, answers, strict=True)]

    def _edit(self) -> None:
        draw = self.draw
        for file in self.files:
            if draw.random() < EDIT:
                file.version += 1
                file.tokens = max(50, round(file.tokens * draw.uniform(0.95, 1.08)))
        if draw.random() < PRESET:
            if draw.random() < 0.5 and len(self.files) > FILES // 2:
                self.files.pop(draw.randrange(len(self.files)))
            else:
                self._add_file(round(draw.uniform(0.3, 2.0) * FILES_TOKENS / FILES))
        self.metadata += draw.random() < METADATA

    def _add_file(self, tokens: int) -> None:
        self.made += 1
        self.files.append(_File(f"src/{self.name}/part_{self.made:02}.py", tokens))

    def _say(self, id_: str, role: Role, *parts: Part) -> None:
        self.turns.append(Message(id_, moment(START_S), role, parts))

    def _inputs(self, digest: int) -> StackInputs:
        return StackInputs(
            provider="anthropic",
            model="",
            role_text=label(_STABLE["role"], "role"),
            tools=tuple(
                ToolSchema(f"tool_{n:02}", label(_TOOL_TOKENS, f"tool {n}"), _NO_ARGUMENTS)
                for n in range(_TOOLS)
            ),
            system_text=NamedText("system", label(_STABLE["system"], "system")),
            project=tuple(
                NamedText(f"document {n}", label(_DOCUMENT_TOKENS, f"document {n}"))
                for n in range(_DOCUMENTS)
            ),
            digest=label(_STABLE["digest"], f"digest {digest}"),
            facts=DiscussionFacts(label(150, f"{self.name} {self.metadata}")),
            preset_name=self.name,
            items=tuple(map(_item, self.files)),
            turns=tuple(self.turns),
        )


def _item(file: _File) -> ItemFiles:
    text = label(file.tokens, f"{file.path} {file.version}") + "\n"
    return ItemFiles(FileItem(file.path), (FileSnapshot(file.path, f"/{file.path}", text=text),))
