"""Files that are edited turn by turn, on the wire of each vendor: earlier bytes stay, and what is read leads to the file."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CachePrices, CacheSettings, LedgerScope, Mechanism
from core.kernel.values.messages import Message, Role
from core.kernel.values.records import ViewRecord
from core.kernel.values.stack import StackInputs
from core.talk.caching.cache_ledger import record
from core.talk.caching.decision import Market, PlannedTurn, decide
from core.talk.caching.view import records_for, replay
from core.talk.context.stack import build_stack
from core.talk.context.update import applied
from core.talk.context.wire import DIFF_NOTE
from tests.core.services.providers.outcomes import run
from tests.core.services.providers.test_planned_turns import PRICES, tokens
from tests.core.services.providers.vendors import VENDORS, Vendor
from tests.core.stacks import curated, said
from tests.core.talk.caching.requests import ANTHROPIC, NOW, QUICK, after
from tests.prefix_guard import canonical_bytes
from tests.vendors.loopback import Json

LINES = [f"    step_{n} = prepare({n})" for n in range(200)]
OTHER = "".join(f"another file, line {n}\n" for n in range(2_500))
MESSAGES = {"anthropic": "messages", "gemini": "contents", "openai": "input", "compatible": "messages"}
MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})


def version(*edited: int) -> str:
    return "\n".join(f"    step_{n} = EDITED" if n in edited else line for n, line in enumerate(LINES)) + "\n"


VERSIONS = (
    version(),
    version(10),
    version(10, 150),
    version(10, 11),
    version(10, 11, 12),
    version(),
    "</file>\n",
)
"""Of `a.py`, turn by turn: the third change in a row is told whole, then back to the beginning, then replaced."""


def prices(vendor: Vendor) -> CachePrices:
    fallback = replace(
        ANTHROPIC, provider=vendor.kind, model=vendor.model, mechanism=Mechanism.IMPLICIT, lookback=0
    )
    return PRICES.get(vendor.kind, fallback)


def unmarked(value: Any) -> Any:
    """A body without the marks of its cache, which move from turn to turn."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key not in MARKS}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in strings(item)]


def file_as_read(body: Json) -> str:
    """What a reader of a body takes `a.py` to be: what stands in its tags, in the order of the wire."""
    text = "\n".join(strings(body))
    tags = re.compile(
        r'<(file(?:-diff)?(?:-\d+)?) path="a.py">\n.*?</\1>\n|<file-restored path="a.py" [^\n]*/>\n',
        re.DOTALL,
    )
    forms = [found[0] for found in tags.finditer(text)]
    first = shown = forms[0]
    for form in forms[1:]:
        new = applied(form, shown, first)
        shown = form if new is None else new
    return shown


def send_all(vendor: Vendor) -> list[Json]:
    """Send a turn for each version, the view taken from the log each time. Returns the bodies."""
    own = prices(vendor)
    scope = LedgerScope(vendor.kind, "key", vendor.model)
    market = Market(scope, own, CacheLedger(), QUICK, CacheSettings(), NOW, tokens)
    records: list[ViewRecord] = []
    turns: tuple[Message, ...] = ()
    with vendor.make_server() as server:
        client = vendor.client(server)
        for number, text in enumerate(VERSIONS):
            note = curated(
                "c.txt", f"changed {min(number, 1)} times\n"
            )  # else the last rewrite would be the first request
            items = (curated("a.py", text), curated("b.txt", OTHER), note)
            inputs = StackInputs(vendor.kind, vendor.model, role_text="You help.", items=items, turns=turns)
            stack = build_stack(replace(inputs, user_text=f"words {number}"))
            before = replay(records)
            now = replace(market, now=after(60 * number))
            decision = decide(PlannedTurn(stack, f"m{number}", before.view), now)
            assert len(decision.view.deltas) == number, "it was rewritten"
            assert run(client, replace(decision.request, cache=decision.plan)).error is None
            records += records_for(before, decision.view, NOW, (f"v{number}a", f"v{number}b"))
            market = replace(market, ledger=record(market.ledger, scope, decision.plan, now.now, "d"))
            answer = (
                said(f"m{number}", Role.USER, f"words {number}"),
                said(f"m{number}r", Role.ASSISTANT, "answer"),
            )
            turns = (*turns, *answer)
        return [unmarked(body) for body in server.bodies]


@pytest.fixture(scope="module", params=VENDORS, ids=lambda vendor: vendor.kind)
def sent(request: pytest.FixtureRequest) -> tuple[Vendor, list[Json]]:
    return request.param, send_all(request.param)


def test_edits_are_appended_and_every_earlier_byte_comes_again(sent: tuple[Vendor, list[Json]]) -> None:
    vendor, bodies = sent
    said_before: list[bytes] = []
    for body, text in zip(bodies, VERSIONS, strict=True):
        messages = [canonical_bytes(message) for message in body[MESSAGES[vendor.kind]]]
        assert messages[: len(said_before)] == said_before
        assert body.get("system") == bodies[0].get("system")
        assert file_as_read(body).partition("\n")[2].rpartition("</file")[0] == text
        said_before = messages


def test_an_edit_lengthens_a_prompt_by_its_difference(sent: tuple[Vendor, list[Json]]) -> None:
    sizes = [len(canonical_bytes(body)) for body in sent[1]]
    grown = [two - one for one, two in pairwise(sizes)]
    whole = len(version())

    assert [size > whole for size in grown] == [False, False, True, False, False, False]
    assert max(grown[0], grown[1], grown[3]) < 1_400
    assert grown[4] < 700
    assert len(DIFF_NOTE) < 400
