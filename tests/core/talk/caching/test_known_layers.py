"""Layers 6 and 7 over turns: appended while warm, folded in when cold, shared by a mode, and gone when deleted.

The judge of money is the vendor's billing; the judge of what a model sees are the bytes of the requests.
"""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CacheSettings, DiscussionCache
from core.kernel.values.curation import NamedText
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import ProviderRequest, RequestPart
from core.kernel.values.records import ViewRecord
from core.kernel.values.stack import DiscussionMetadata, Segment, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.kernel.values.window import ContextView, FrozenBase
from core.talk.caching import cache_book as books
from core.talk.caching import planned_calls
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import Market, PlannedTurn
from core.talk.caching.view import DIGEST_KEY, Replayed, replay, withdrawn
from core.talk.context.stack import build_stack
from core.talk.context.wire import delta_text
from tests.core.stacks import curated, said
from tests.core.talk.caching.requests import ANTHROPIC, QUICK, SCOPE, after, habits_of, json_of
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts, chars4

SETTINGS = CacheSettings()
RULES = "Check units. " * 1200
FILES = (curated("src/tides.py", "height = 1\n" * 21_000),)
NOTES = (NamedText("src/tides.py", "- heights are in metres\n"),)
"""With the files about 60,000 tokens stand before the talk."""


def tokens(part: RequestPart | ToolSchema) -> int:
    return chars4(getattr(part, "text", "") or "")


def bare(**changes: object) -> StackInputs:
    """Layers 1, 6, 7, 9 and 10 of a project."""
    inputs = StackInputs(
        provider="anthropic",
        model="claude-opus-5-5",
        role_text="You help.",
        project=(NamedText("AGENTS.md", RULES),),
        digest="- DIGEST-ONE says that tides are M2\n",
        preset_name="core",
        items=FILES,
    )
    return replace(inputs, **changes)  # type: ignore[arg-type]


class Desk:
    """Discussions of one mode whose turns are planned over a book, sent to the vendor's billing, and logged."""

    def __init__(self) -> None:
        self.clock = Clock(after(0).timestamp())
        self.server = AnthropicCache(self.clock, Texts(chars4))
        self.book = replace(CacheBook(), habits=habits_of(60.0))
        self.settings = SETTINGS
        self.turns: dict[str, tuple[Message, ...]] = {}
        self.records: dict[str, tuple[ViewRecord, ...]] = {}
        self.bodies: list[str] = []
        self.requests: list[ProviderRequest] = []
        self.costs: list[float] = []
        self.reads: list[int] = []
        self.count = 0

    def open(self, name: str) -> None:
        if name not in self.book.pages:
            self.book = books.opened(self.book, name, DiscussionCache(), Replayed())

    @property
    def now(self) -> datetime:
        return after(self.clock() - after(0).timestamp())

    def turn(self, name: str = "d", gap_s: float = 60.0, **changes: object) -> BookedCall:
        """A turn whose layers are these, paid for, and a gap after it."""
        self.open(name)
        self.count += 1
        message_id, turns = f"m{self.count}", self.turns.get(name, ())
        facts = DiscussionMetadata(f"{name} {self.count}")
        inputs = replace(bare(**changes), turns=turns, metadata=facts, user_text=f"words {message_id}")
        market = Market(SCOPE, ANTHROPIC, CacheLedger(), QUICK, self.settings, self.now, tokens)
        self.book = books.turn_begun(self.book, name, self.now)
        asked = PlannedTurn(build_stack(inputs), message_id, discussion_id=name, project="/project")
        call = planned_calls.plan_call(self.book, asked, market)
        self.book, wait = planned_calls.admitted(self.book, message_id, call, None)
        assert wait is None
        replayed, records = planned_calls.shown(self.book, call, f"q{message_id}")
        self.book = books.with_page(self.book, name, replace(self.book.pages[name], replayed=replayed))
        self.records[name] = (*self.records.get(name, ()), *records)
        self.pay(call, message_id)
        answer = (
            said(message_id, Role.USER, f"words {message_id}"),
            said(f"{message_id}r", Role.ASSISTANT, "ok " * 4000),
        )
        self.turns[name] = (*turns, *answer)
        self.clock.advance(gap_s)
        return call

    def pay(self, call: BookedCall, call_id: str) -> None:
        """Send it; the bill is in tokens of fresh input."""
        body = json_of(call.decision.request, call.decision.plan.marks)
        ticket = self.server.begin(body)
        self.server.first_byte(ticket)
        parts = ticket.parts
        self.bodies.append(json.dumps(body))
        self.requests.append(call.decision.request)
        self.reads.append(parts.read)
        prices = ANTHROPIC
        self.costs.append(
            parts.plain + parts.read * prices.read + parts.write * 1.25 + parts.write_long * 2.0
        )
        usage = Usage(
            input_tokens=parts.plain + parts.read + parts.write + parts.write_long,
            cache_read_tokens=parts.read,
            cache_write_tokens=parts.write + parts.write_long,
        )
        self.book, _ = planned_calls.ended(self.book, call_id, usage, None, self.now, lambda *_: 0.0)

    def restart(self) -> None:
        """The program ends; the next knows the logs and what was kept of the caches."""
        caches = {name: page.cache for name, page in self.book.pages.items()}
        self.book = replace(CacheBook(), habits=habits_of(60.0))
        for name, cache in caches.items():
            self.book = books.opened(self.book, name, cache, replay(self.records[name]))


def digest(word: str, lines: int = 1) -> str:
    return f"- DIGEST-{word} says that tides are {word}\n" * lines


def system(request: ProviderRequest) -> str:
    return "".join(segment.text for segment in request.system)


def test_a_digest_edited_under_a_warm_prefix_of_60000_tokens_costs_its_delta_and_no_more() -> None:
    """The bar: the extra cost of the turn is at most 1.1 times that of writing the delta alone."""
    edited, untouched = Desk(), Desk()
    for desk in (edited, untouched):
        for _ in range(4):
            desk.turn()
    changed = digest("TWO", 80)
    untouched.turn()
    call = edited.turn(digest=changed)

    (delta,) = call.decision.view.deltas
    alone = chars4(delta_text(delta))
    extra = edited.costs[-1] - untouched.costs[-1]
    assert edited.reads[-1] > 60_000
    assert call.decision.plan.superseded_tokens > 0
    write = 2.0 if call.decision.plan.marks[-1].ttl_s == 3600 else 1.25
    print(f"delta {alone} tokens, extra {extra:.0f}, {extra / (alone * write):.3f} of the delta alone")
    assert extra <= 1.1 * alone * write


def test_the_playbook_of_a_digest() -> None:
    """Edit: a delta. Second edit: the newest supersedes. Cold: folded in. Deleted: rewritten at once."""
    desk = Desk()
    desk.turn()
    desk.turn(digest=digest("TWO"))
    desk.turn(digest=digest("THREE"))
    first, second, third = desk.requests

    assert system(first) == system(second) == system(third)
    assert "DIGEST-TWO" in desk.bodies[1]
    assert desk.bodies[2].index("DIGEST-TWO") < desk.bodies[2].index("DIGEST-THREE")
    assert desk.bodies[2].count("DIGEST-ONE") == 1
    assert desk.reads[1] > 60_000
    assert desk.reads[2] > 60_000

    desk.clock.advance(200_000)
    desk.turn(digest=digest("THREE"))
    assert "DIGEST-THREE" in system(desk.requests[3])
    assert "DIGEST-TWO" not in desk.bodies[3]
    assert "DIGEST-ONE" not in desk.bodies[3]

    desk.turn(digest=digest("FOUR"))
    call = desk.turn(digest=digest("FIVE"), withdrawals=2)
    assert desk.reads[5] < 10_000
    assert "DIGEST-FIVE" in system(desk.requests[5])
    assert not any(f"DIGEST-{word}" in desk.bodies[5] for word in ("THREE", "FOUR"))
    assert (
        call.decision.plan.sentences[0]
        == "The program rewrote the context at once: a part of your knowledge was removed."
    )
    assert desk.turn(digest=digest("FIVE"), withdrawals=2).decision.plan.read_tokens > 60_000


@pytest.mark.parametrize(
    ("changes", "words", "why"),
    [
        ({"digest": ""}, "DIGEST", "the digest is gone"),
        ({"digest": " \n"}, "DIGEST", "the digest is gone"),
        ({"project": ()}, "Check units", "AGENTS.md is gone"),
        ({"project": (NamedText("AGENTS.md", ""),)}, "Check units", "AGENTS.md is gone"),
        ({"notes": ()}, "heights are in metres", "the notes on src/tides.py are gone"),
    ],
)
def test_what_is_not_there_any_more_is_rewritten_whatever_it_costs(
    changes: dict[str, object], words: str, why: str
) -> None:
    desk = Desk()
    desk.turn(notes=NOTES)
    desk.turn(notes=NOTES, digest=digest("TWO"))
    call = desk.turn(**{"notes": NOTES, "digest": digest("TWO"), **changes})  # type: ignore[arg-type]

    assert words in desk.bodies[1]
    assert words not in desk.bodies[2]
    assert call.decision.plan.sentences[0] == f"The program rewrote the context at once: {why}."


def test_notes_of_a_file_that_left_the_preset_are_named_as_removed() -> None:
    desk = Desk()
    notes = (NamedText("b.py", "- b counts\n"),)
    desk.turn(notes=notes, items=(*FILES, curated("b.py", "b = 1\n")))
    call = desk.turn()

    assert '<removed note=\\"b.py\\"/>' in desk.bodies[1]
    assert call.decision.view.deltas[-1].removed == ("7/b.py", "10/b.py")
    assert system(desk.requests[0]) == system(desk.requests[1])


def test_an_identity_file_that_changed_joins_the_message_with_its_frame() -> None:
    desk = Desk()
    desk.turn()
    desk.turn(project=(NamedText("AGENTS.md", "Now count twice.\n"), NamedText("MEMORY.md", "New.\n")))
    said_now = desk.requests[1].messages[-1].parts[0]

    assert isinstance(said_now, Segment)
    assert '<document name="AGENTS.md">\nNow count twice.\n</document>' in said_now.text
    assert "MEMORY.md" in said_now.text
    assert "the newest of a name replaces all earlier ones" in said_now.text
    assert system(desk.requests[0]) == system(desk.requests[1])


def test_so_it_does_for_a_model_that_takes_no_long_system_prompt() -> None:
    desk = Desk()
    desk.turn(takes_long_system=False)
    desk.turn(takes_long_system=False, project=(NamedText("AGENTS.md", "Now count twice.\n"),))
    first, second = desk.requests

    assert second.messages[0].parts[0] == first.messages[0].parts[0]
    assert desk.reads[1] > 60_000
    assert "Now count twice." in desk.bodies[1]


def test_a_deleted_item_that_a_view_does_not_carry_rewrites_nothing() -> None:
    desk = Desk()
    desk.turn()
    call = desk.turn(withdrawals=2)
    again = desk.turn(withdrawals=2)

    assert min(desk.reads[1:]) > 60_000
    assert call.decision.view.base.withdrawals == again.decision.view.base.withdrawals == 2


def test_a_deletion_while_the_program_was_away_is_rewritten_at_the_next_turn() -> None:
    desk = Desk()
    desk.turn()
    desk.turn(digest=digest("TWO"))
    desk.restart()
    desk.turn(digest=digest("THREE"), withdrawals=2)

    assert not any(f"DIGEST-{word}" in desk.bodies[2] for word in ("ONE", "TWO"))


def test_an_edit_while_the_program_was_away_is_appended() -> None:
    desk = Desk()
    desk.turn()
    desk.restart()
    desk.turn(digest=digest("TWO"))

    assert desk.reads[1] > 60_000
    assert system(desk.requests[0]) == system(desk.requests[1])


def test_a_new_discussion_of_the_mode_reads_the_warm_base_and_is_told_the_change() -> None:
    desk = Desk()
    desk.turn("first")
    desk.turn("first", digest=digest("TWO"))
    call = desk.turn("second", digest=digest("TWO"))

    assert system(desk.requests[2]) == system(desk.requests[0])
    assert desk.bodies[2].index("DIGEST-ONE") < desk.bodies[2].index("DIGEST-TWO")
    assert desk.reads[2] > 60_000
    assert call.decision.plan.sentences[0].startswith(
        "An earlier state of project context and knowledge (layers 6 and 7) is warm"
    )


def test_a_new_discussion_takes_the_canonical_state_where_that_is_cheaper() -> None:
    """Nothing is warm any more, so that the change needs no second place."""
    desk = Desk()
    desk.turn("first")
    desk.clock.advance(200_000)
    desk.turn("second", digest=digest("TWO"))

    assert "DIGEST-ONE" not in desk.bodies[1]
    assert "DIGEST-TWO" in system(desk.requests[1])


def test_what_was_deleted_is_not_taken_over_from_the_mode() -> None:
    desk = Desk()
    desk.turn("first")
    desk.turn("second", digest=digest("TWO"), withdrawals=2)
    desk.turn("third", digest="")

    assert "DIGEST-ONE" not in desk.bodies[1]
    assert "DIGEST" not in desk.bodies[2]


def test_another_project_or_persona_is_another_mode() -> None:
    desk = Desk()
    desk.turn("first")
    desk.turn("second", digest=digest("TWO"), persona=NamedText("Pat", "You are Pat."))

    assert "DIGEST-ONE" not in desk.bodies[1]


def test_the_mode_is_known_again_after_a_restart() -> None:
    desk = Desk()
    desk.turn("first")
    desk.restart()
    desk.turn("second", digest=digest("TWO"))

    assert desk.reads[1] > 60_000
    assert system(desk.requests[1]) == system(desk.requests[0])


def test_appending_that_is_turned_off_rewrites() -> None:
    desk = Desk()
    desk.settings = CacheSettings(appends_changes=False)
    desk.turn()
    desk.turn(digest=digest("TWO"))

    assert "DIGEST-ONE" not in desk.bodies[1]


def test_a_log_without_layers_6_and_7_takes_them_as_they_are_and_goes_on() -> None:
    desk = Desk()
    desk.turn()
    old = desk.book.pages["d"].replayed.view
    assert old is not None
    bare_view = ContextView(FrozenBase(old.base.file_set, old.base.files))
    page = replace(desk.book.pages["d"], replayed=Replayed(bare_view))
    desk.book = books.with_page(desk.book, "d", page)
    desk.turn()
    desk.turn(digest=digest("TWO"))

    assert desk.reads[1] > 60_000
    assert desk.reads[2] > 60_000
    assert system(desk.requests[0]) == system(desk.requests[2])


def test_the_log_rebuilds_every_view_that_was_sent() -> None:
    desk = Desk()
    call = desk.turn(notes=NOTES)
    for word in ("ONE", "TWO", "THREE"):
        call = desk.turn(digest=digest(word), notes=NOTES)
        assert replay(desk.records["d"]).view == call.decision.view
    call = desk.turn(digest=digest("FOUR"), withdrawals=1)
    assert replay(desk.records["d"]).view == call.decision.view
    texts = "".join(record.data_json for record in desk.records["d"])
    assert texts.count(RULES.split("\n", maxsplit=1)[0]) == 1


def test_a_mark_stands_before_layer_7_once_knowledge_is_often_edited() -> None:
    desk = Desk()
    desk.turn()
    plain = desk.turn()
    desk.turn(digest=digest("TWO"))
    desk.turn(digest=digest("THREE"))
    learned = desk.turn(digest=digest("THREE"))
    taken = desk.turn(digest=digest("FOUR"), withdrawals=2)

    assert "6/AGENTS.md" not in [mark.after_key for mark in plain.decision.plan.marks]
    assert "6/AGENTS.md" in [mark.after_key for mark in learned.decision.plan.marks]
    assert len(learned.decision.plan.marks) <= 4
    assert desk.reads[-1] > 3_000
    assert taken.decision.plan.read_tokens == pytest.approx(desk.reads[-1], abs=64)
    assert "DIGEST-ONE" not in desk.bodies[-1]


def test_what_was_learned_of_edits_outlives_a_restart() -> None:
    desk = Desk()
    desk.turn()
    desk.turn(digest=digest("TWO"))
    assert desk.book.edits == 0.5
    desk.restart()
    assert desk.book.edits == 0.5


def test_with_notes_the_digests_end_is_marked_which_other_presets_share() -> None:
    desk = Desk()
    first = desk.turn("first", notes=NOTES)
    desk.turn("second", notes=(NamedText("b.py", "- other notes\n"),))

    assert DIGEST_KEY in [mark.after_key for mark in first.decision.plan.marks]
    assert 3_000 < desk.reads[1] < 10_000


def test_files_and_knowledge_that_change_three_times_are_each_told_and_the_newest_is_what_is() -> None:
    desk = Desk()
    call = desk.turn(digest=digest("N0"), items=(*FILES, curated("a.py", "A-0\n")))
    for number in range(1, 4):
        items = (*FILES, curated("a.py", f"A-{number}\n" if number != 2 else ""))
        call = desk.turn(digest=digest(f"N{number}"), items=items)
    view = call.decision.view
    stack = build_stack(bare(digest=digest("N3"), items=(*FILES, curated("a.py", "A-3\n"))))

    assert len(view.deltas) == 3
    assert withdrawn(view, stack) == ""
    assert [key for delta in view.deltas for key in [file.key for file in delta.files]] == [
        DIGEST_KEY,
        "10/a.py",
    ] * 3
    assert min(desk.reads[1:]) > 60_000
