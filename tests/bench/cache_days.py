"""Days of one person as traces of requests: which discussion is asked what when, and every edit before it.

One person has three discussions and moves between them: a turn goes to the discussion of the last one, or, with
`MOVE`, to another. So gaps are the person's, and those of a discussion are what is left to it. One discussion in two
days is short. Files and presets change before turns of their discussion, the digest and the identity file (layer 6) before anybody's,
whether what was sent is still warm or not. Tool turns are made on demand: the program has no tools yet.

What is edited is lines, as an editor would change them; all other texts are one label. Labels say their own size, so that a day
of ten million tokens is replayed in seconds.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles, NamedText
from core.kernel.values.messages import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import RequestPart
from core.kernel.values.stack import DiscussionMetadata, Segment, StackInputs, ToolSchema
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import AggregateStack, build_stack
from tests.vendors.billing.clock import START_S, moment

DISCUSSIONS = 3
TURNS = 150
"""Of all discussions together."""
SHORT, MEDIUM = (3, 8), (12, 60)
"""Turns of a short discussion, and of one that is neither short nor what is left of the day."""
MOVE, MOVE_LATER = 0.15, 0.4
"""Odds that a turn goes to another discussion than the last one; after a gap of more than an hour."""
HOURS_S = (3_660.0, 16 * 3_600.0)
"""Between these are gaps over an hour."""
FILES = 12
FILES_TOKENS = 38_000
EDIT, PRESET, METADATA, DIGEST, IDENTITY = 0.02, 0.02, 0.35, 0.01, 0.01
"""Odds at each turn: of each file, of the preset, of layer 8, of the digest, of the identity file."""
LINE = 40
"""Tokens of a line of what is edited."""
FILE_HUNKS, DIGEST_HUNKS, WHOLE = (1, 3), (2, 8), 0.1
"""Places that an edit changes; the share of edits of a file that change all of it."""
TOOL_TURN = 0.25
"""Of the turns of a day with tool turns; their rounds are 8 to 25 s apart."""
APART_S = 5 * 3_600.0
"""Between short discussions of one person."""
NIGHT_S, MORNING_S = 22 * 3_600, (7.5 * 3_600, 9.5 * 3_600)
"""Start of a night, and the hours between which it ends; seconds of the day."""
_STABLE = {"role": 1_000, "system": 2_000, "digest": 6_000}
_TOOLS, _TOOL_TOKENS = 12, 500
_DOCUMENTS, _DOCUMENT_TOKENS = 4, 2_000
"""Layer 6: three documents of the project and, last, its identity file (`CLAUDE.md`)."""
_DAY_S = 24 * 3_600
_NO_ARGUMENTS = '{"type": "object"}'
_SIZE = re.compile(r"\[\[(\d+)")


@dataclass(frozen=True, slots=True)
class Day:
    """A kind of day: shares of the person's gaps under 4 minutes, of 5 to 50, and the rest over an hour.

    Args:
        sleeps: who would come back between ten at night and half past seven comes in the morning.
    """

    name: str
    short: float
    middle: float
    sleeps: bool = False


DESK = Day("desk", 0.68, 0.24)
BUSY = Day("busy", 0.94, 0.05)
SPARSE = Day("sparse", 0.35, 0.40)
DAYS = (DESK, BUSY, SPARSE)
NIGHTS = Day("desk with nights", 0.68, 0.24, sleeps=True)
"""As the desk; what is learned of the hour of the day can only pay here."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of a day.

    Args:
        message_id: of the user's message; is_turn: the first request of its turn.
        answer: what the model says to it; next_round: the odds of another request in its turn that the planner is told.
    """

    discussion: str
    at_s: float
    stack: AggregateStack
    message_id: str
    is_turn: bool
    answer: tuple[Part, ...] = ()
    next_round: float = 0.0


def label(tokens: int, name: str) -> str:
    """A text that counts so many tokens."""
    return f"[[{tokens} {name}]]"


def count_labels(text: str) -> int:
    """The sizes that a text's labels say, and a token for each eight characters around them."""
    return sum(map(int, _SIZE.findall(text))) + len(text) // 8


@dataclass(slots=True)
class LabelCounter:
    """Tokens of a part by the sizes that its labels say; each text is read once."""

    counts: dict[str, int] = field(default_factory=dict)

    def __call__(self, part: RequestPart | ToolSchema) -> int:
        """Count a part."""
        text = part_text(part)
        known = self.counts.get(text)
        if known is None:
            known = self.counts[text] = count_labels(text)
        return known


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


def make_day(day: Day, seed: int, *, tool_turns: bool = False) -> tuple[Ask, ...]:
    """All requests of a day, by time."""
    draw = random.Random(f"{day.name} {seed}")
    return lived(day, draw, shuffled_lengths(draw), TOOL_TURN if tool_turns else 0.0)


def make_discussion(day: Day, seed: int, turns: int) -> tuple[Ask, ...]:
    """A discussion of so many turns that nothing comes before, beside or after."""
    return lived(day, random.Random(f"{day.name} alone {seed}"), [turns], 0.0)


def make_serial(day: Day, seed: int, turns: int, count: int) -> tuple[Ask, ...]:
    """Discussions of so many turns one after another, `APART_S` between them, each in a project of its own."""
    draw = random.Random(f"{day.name} serial {seed} {turns}")
    asks: list[Ask] = []
    at_s = START_S
    for number in range(count):
        talk, shared = DayTalk(f"d{number}", draw, project=f" {number}"), SharedState()
        for turn in range(turns):
            asks += talk.turn(at_s, turn, shared, 0.0)
            at_s += next_gap(day, draw, at_s) if turn + 1 < turns else APART_S
    return tuple(asks)


def make_start(seed: int) -> list[Ask]:
    """The first request of each discussion, all at one moment."""
    draw, shared = random.Random(f"start {seed}"), SharedState()
    return [DayTalk(f"d{number}", draw).turn(START_S, 0, shared, 0.0)[0] for number in range(DISCUSSIONS)]


def shuffled_lengths(draw: random.Random) -> list[int]:
    """Turns of each discussion."""
    first = draw.randint(*SHORT) if draw.random() < 0.5 else draw.randint(*MEDIUM)
    second = draw.randint(*MEDIUM)
    lengths = [first, second, TURNS - first - second]
    draw.shuffle(lengths)
    return lengths


def lived(
    day: Day,
    draw: random.Random,
    lengths: list[int],
    tool_turn: float,
    begin: Callable[[str, random.Random], DayTalk] | None = None,
) -> tuple[Ask, ...]:
    """All requests of a day whose discussions have so many turns each. `begin`: makes one, None: as on most days."""
    talks = [(begin or DayTalk)(f"d{number}", draw) for number in range(len(lengths))]
    left = list(lengths)
    asks: list[Ask] = []
    shared = SharedState()
    at_s, at, gap_s = START_S + draw.uniform(0, 600), 0, 0.0
    while any(left):
        at = _next_talk(draw, left, at, gap_s)
        if draw.random() < DIGEST:
            shared.digest.edit(draw, DIGEST_HUNKS)
        if draw.random() < IDENTITY:
            shared.identity.edit(draw, (1, 1))
        found = talks[at].turn(at_s, lengths[at] - left[at], shared, tool_turn)
        asks.extend(found)
        left[at] -= 1
        gap_s = next_gap(day, draw, found[-1].at_s)
        at_s = found[-1].at_s + gap_s
    return tuple(asks)


def _next_talk(draw: random.Random, left: Sequence[int], at: int, gap_s: float) -> int:
    """The discussion that the next turn goes to. Of the others, one of which more is to come is likelier."""
    others = [number for number, turns in enumerate(left) if turns and number != at]
    moves = draw.random() < (MOVE_LATER if gap_s > 3_600 else MOVE)
    if left[at] and not (moves and others):
        return at
    return draw.choices(others, [left[number] for number in others])[0]


def next_gap(day: Day, draw: random.Random, at_s: float) -> float:
    """Seconds to the person's next turn. What is over an hour is evenly so in its logarithm, to 16 h."""
    kind = draw.random()
    if kind < day.short:
        return draw.uniform(45, 240)
    if kind < day.short + day.middle:
        return draw.uniform(300, 3000)
    gap_s = math.exp(draw.uniform(*map(math.log, HOURS_S)))
    clock_s = (at_s + gap_s) % _DAY_S
    if not day.sleeps or MORNING_S[0] <= clock_s < NIGHT_S:
        return gap_s
    return gap_s + (draw.uniform(*MORNING_S) - clock_s) % _DAY_S


class _Text:
    """A text that is edited: lines of `LINE` tokens, each known by its number.

    Args:
        name: stands in each line; tokens: about how many.
    """

    def __init__(self, name: str, tokens: int) -> None:
        self.name = name
        self.made = 0
        self._lines = self._new(max(1, round(tokens / LINE)))

    @property
    def text(self) -> str:
        """The text as it is."""
        return "".join(self._lines)

    def edit(self, draw: random.Random, hunks: tuple[int, int]) -> None:
        """Change, remove and add lines in so many places."""
        for _ in range(draw.randint(*hunks)):
            at = draw.randrange(len(self._lines))
            self._lines[at : at + draw.randint(0, 4)] = self._new(draw.randint(1, 5))

    def rewrite(self) -> None:
        """Change all of it."""
        self._lines = self._new(len(self._lines))

    def _new(self, count: int) -> list[str]:
        numbers = range(self.made, self.made + count)
        self.made += count
        return [_line(f"{self.name}.{number}") for number in numbers]


def _line(name: str) -> str:
    around = len(label(LINE, name)) + 1
    return label(LINE - around // 8, name) + "\n"


@dataclass(slots=True)
class SharedState:
    """State that all discussions share, and that is edited."""

    digest: _Text = field(default_factory=lambda: _Text("digest", _STABLE["digest"]))
    identity: _Text = field(default_factory=lambda: _Text("identity", _DOCUMENT_TOKENS))


@dataclass(slots=True)
class _File:
    path: str
    text: _Text


@dataclass(slots=True)
class DayTalk:
    """A discussion while its day is made."""

    name: str
    draw: random.Random
    files: list[_File] = field(default_factory=list)
    turns: list[Message] = field(default_factory=list)
    memo: StackMemo = field(default_factory=StackMemo)
    metadata: int = 0
    made: int = 0
    project: str = ""

    def __post_init__(self) -> None:
        weights = [self.draw.uniform(0.3, 2.0) for _ in range(FILES)]
        for weight in weights:
            self._add_file(round(FILES_TOKENS * weight / sum(weights)))

    def turn(self, at_s: float, number: int, shared: SharedState, tool_turn: float) -> list[Ask]:
        """The requests of one turn, its answers kept for the next."""
        if number:
            self.edit()
        draw, id_ = self.draw, f"{self.name}m{number}"
        words = label(round(draw.lognormvariate(5.0, 0.6)), id_)
        said = len(self.turns)
        inputs = self.inputs(shared)
        asked = replace(inputs, user_text=words)
        asks = [Ask(self.name, at_s, build_stack(asked, self.memo), id_, is_turn=True)]
        self.say(id_, Role.USER, TextPart(words))
        rounds = draw.randint(1, 4) if draw.random() < tool_turn else 0
        for round_ in range(rounds):
            call = f"{id_}c{round_}"
            arguments = json.dumps({"path": label(40, call)})
            self.say(
                f"{call}a", Role.ASSISTANT, TextPart(label(60, call)), ToolCallPart(call, "read", arguments)
            )
            result = label(round(draw.lognormvariate(6.3, 0.8)), f"{call} result")
            self.say(f"{call}r", Role.TOOL, ToolResultPart(call, result))
            at_s += draw.uniform(8, 25)
            running = replace(inputs, turns=tuple(self.turns))
            asks.append(Ask(self.name, at_s, build_stack(running, self.memo), id_, is_turn=False))
        self.say(f"{id_}r", Role.ASSISTANT, TextPart(label(round(draw.lognormvariate(6.2, 0.5)), f"{id_}r")))
        answers = [message.parts for message in self.turns[said:] if message.role is Role.ASSISTANT]
        return [dataclasses.replace(ask, answer=answer) for ask, answer in zip(asks, answers, strict=True)]

    def edit(self) -> None:
        """Change files, the preset and layer 8 as chance will have it."""
        draw = self.draw
        for file in self.files:
            if draw.random() < EDIT:
                if draw.random() < WHOLE:
                    file.text.rewrite()
                else:
                    file.text.edit(draw, FILE_HUNKS)
        if draw.random() < PRESET:
            if draw.random() < 0.5 and len(self.files) > FILES // 2:
                self.files.pop(draw.randrange(len(self.files)))
            else:
                self._add_file(round(draw.uniform(0.3, 2.0) * FILES_TOKENS / FILES))
        self.metadata += draw.random() < METADATA

    def _add_file(self, tokens: int) -> None:
        self.made += 1
        path = f"src/{self.name}/part_{self.made:02}.py"
        self.files.append(_File(path, _Text(f"{self.name}p{self.made}", tokens)))

    def say(self, id_: str, role: Role, *parts: Part) -> None:
        """Add a message."""
        self.turns.append(Message(id_, moment(START_S), role, parts))

    def inputs(self, shared: SharedState) -> StackInputs:
        """The stack's inputs without the person's words."""
        return StackInputs(
            provider="anthropic",
            model="",
            role_text=label(_STABLE["role"], f"role{self.project}"),
            tools=tuple(
                ToolSchema(f"tool_{n:02}", label(_TOOL_TOKENS, f"tool {n}{self.project}"), _NO_ARGUMENTS)
                for n in range(_TOOLS)
            ),
            system_text=NamedText("system", label(_STABLE["system"], "system")),
            project=(
                *(
                    NamedText(f"document {n}", label(_DOCUMENT_TOKENS, f"document {n}"))
                    for n in range(_DOCUMENTS - 1)
                ),
                NamedText("CLAUDE.md", shared.identity.text),
            ),
            digest=shared.digest.text,
            metadata=DiscussionMetadata(label(150, f"{self.name} {self.metadata}")),
            preset_name=self.name,
            items=tuple(map(_item, self.files)),
            turns=tuple(self.turns),
        )


def _item(file: _File) -> ItemFiles:
    return ItemFiles(FileItem(file.path), (FileSnapshot(file.path, f"/{file.path}", text=file.text.text),))
