"""Cost of an edit of the digest or of the identity file in the next turn while the prefix is warm."""

from __future__ import annotations

from collections.abc import Sequence

from core.kernel.values.cache import CacheMark, CacheSettings
from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles, NamedText
from core.kernel.values.messages import Message, Part, Role, TextPart
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import StackInputs
from core.talk.context.stack import build_stack
from tests.bench.__main__ import Row, row
from tests.bench.cache_days import Ask, label
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import MODELS, Bill, InProcess
from tests.vendors.billing.clock import START_S, moment
from tests.vendors.billing.values import Parts

READ = 0.05
FILES, FILE_TOKENS = 20, 2_500
DIGEST_TOKENS, IDENTITY_TOKENS = 6_000, 2_000
GAP_S = 60.0
TURNS = 4
BAR = 1.1


class _Billed(InProcess):
    """In process, every bill kept."""

    def __init__(self) -> None:
        super().__init__(MODELS[READ])
        self.bills: list[Parts] = []

    def send(self, request: ProviderRequest, marks: Sequence[CacheMark], answer: tuple[Part, ...]) -> Parts:
        """See `Line.send`."""
        parts = super().send(request, marks, answer)
        self.bills.append(parts)
        return parts


def rows() -> list[Row]:
    """Both edits, each of the whole text."""
    found = []
    for what, tokens in (("digest", DIGEST_TOKENS), ("identity file", IDENTITY_TOKENS)):
        times, prefix = extra(what, tokens)
        found.append(
            row(
                f"{what} of {tokens:,} tokens edited under a warm prefix of {prefix:,}, next turn over the delta alone",
                round(times, 3),
                "times",
                BAR,
                holds=prefix >= 60_000,
            )
        )
    return found


def extra(what: str, tokens: int) -> tuple[float, int]:
    """Extra cost of the turn after an edit of the whole text.

    Returns:
        As a multiple of writing the new text alone, at what that turn pays for writing; and the tokens of the prefix that
        was warm.
    """
    plain, edited = _turn(""), _turn(what)
    written = plain[-1].write + plain[-1].write_long
    assert written
    price = (1.25 * plain[-1].write + 2.0 * plain[-1].write_long) / written
    return (_cost(edited[-1]) - _cost(plain[-1])) / (tokens * price), plain[-1].read


def _turn(edited: str) -> list[Parts]:
    """Bills of some turns, the last of which finds `edited` changed."""
    line = _Billed()
    Ours(READ, CacheSettings(), line=line).replay(_day(edited))
    return line.bills


def _day(edited: str) -> Sequence[Ask]:
    turns: list[Message] = []
    found = []
    for number in range(TURNS):
        at_s, words = START_S + GAP_S * number, label(100, f"m{number}")
        stack = build_stack(_inputs(turns, words, edited if number == TURNS - 1 else ""))
        answer = TextPart(label(300, f"m{number}r"))
        found.append(Ask("d", at_s, stack, f"m{number}", is_turn=True, answer=(answer,)))
        turns.append(Message(f"m{number}", moment(at_s), Role.USER, (TextPart(words),)))
        turns.append(Message(f"m{number}r", moment(at_s), Role.ASSISTANT, (answer,)))
    return found


def _inputs(turns: Sequence[Message], words: str, edited: str) -> StackInputs:
    files = tuple(
        ItemFiles(
            FileItem(path),
            (FileSnapshot(path, f"/{path}", text=label(FILE_TOKENS, path)),),
        )
        for path in (f"src/file_{n}.py" for n in range(FILES))
    )
    return StackInputs(
        provider="anthropic",
        role_text=label(1_000, "role"),
        system_text=NamedText("system", label(2_000, "system")),
        project=(NamedText("CLAUDE.md", label(IDENTITY_TOKENS, f"identity {edited == 'identity file'}")),),
        digest=label(DIGEST_TOKENS, f"digest {edited == 'digest'}"),
        preset_name="bench",
        items=files,
        turns=tuple(turns),
        user_text=words,
    )


def _cost(parts: Parts) -> float:
    bill = Bill()
    bill.add(parts)
    return bill.cost(READ)
