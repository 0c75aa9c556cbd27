"""Changes that are told as differences: what was sent leads to the files as they are, in every turn and after a restart."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CacheSettings
from core.kernel.values.curation import (
    FileMode,
    FileProblem,
    FileProblemKind,
    ItemFiles,
    LineRange,
    NamedText,
)
from core.kernel.values.messages import Message, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest, RequestPart
from core.kernel.values.records import ViewRecord
from core.kernel.values.stack import Segment, StackInputs, ToolSchema
from core.kernel.values.window import ContextView, base_pieces
from core.talk.caching.cache_ledger import record
from core.talk.caching.decision import DecideMemo, Decision, Market, PlannedTurn, decide
from core.talk.caching.view import pruned, records_for, replay, superseded_tokens, view_for, visible_file_set
from core.talk.context.stack import AggregateStack, build_stack
from core.talk.context.update import applied, is_diff
from core.talk.context.wire import DELTA_NOTE, DIFF_NOTE, delta_text
from tests.bench.cache_days import part_text
from tests.core.stacks import curated, said
from tests.core.talk.caching.requests import ANTHROPIC, NOW, QUICK, SCOPE, after, stack_of, visible_files

LINES = tuple(f"line {number} of the file stands here\n" for number in range(80))


def text_of(*changed: int, more: str = "") -> str:
    """The file with some lines changed."""
    return "".join(f"LINE {n} IS NEW\n" if n in changed else line for n, line in enumerate(LINES)) + more


def turns(*names: str) -> tuple[Message, ...]:
    return tuple(
        message
        for name in names
        for message in (said(name, Role.USER, name), said(f"{name}r", Role.ASSISTANT, "answer"))
    )


def view_over(*versions: str | None, words: str = "words") -> ContextView:
    """A view whose turns m1, m2 … each came with a version of `a.py`, None where it was out of context."""
    view: ContextView | None = None
    names: list[str] = []
    for number, text in enumerate(versions):
        files = {"b.py": "BETA\n"} if text is None else {"a.py": text, "b.py": "BETA\n"}
        stack = stack_of(files, turns(*names), words)
        view = stack.canonical_view if view is None else view_for(view, stack, f"m{number}")
        names.append(f"m{number}")
    assert view is not None
    return view


def forms(view: ContextView, key: str = "10/a.py") -> list[str]:
    """How each delta tells a piece: diff, restored, whole, removed."""
    found = []
    for delta in view.deltas:
        found += [
            "diff" if is_diff(f.sent) else "restored" if f.sent else "whole"
            for f in delta.files
            if f.key == key
        ]
        found += ["removed" for gone in delta.removed if gone == key]
    return found


def as_told(view: ContextView) -> dict[str, str]:
    """What a reader makes of a view who knows nothing but what goes over the wire."""
    first = {piece.key: piece.text for piece in base_pieces(view.base)}
    now: dict[str, str | None] = dict(first)
    for delta in view.deltas:
        for key in delta.removed:
            del now[key]
        for file in delta.files:
            wire = file.wire_text
            is_form = bool(file.sent)
            now[file.key] = applied(wire, now.get(file.key), first.get(file.key)) if is_form else wire
    assert None not in now.values()
    return {key: text for key, text in now.items() if text is not None}


def wire_text(request: ProviderRequest) -> str:
    return "\n".join(p.text for m in request.messages for p in m.parts if isinstance(p, Segment))


def said_pieces(stack: AggregateStack) -> dict[str, str]:
    return {piece.key: piece.text for layer in (6, 7, 10) for piece in stack.layers[layer - 1].pieces}


def tokens(part: RequestPart | ToolSchema) -> int:
    """Four characters are one."""
    return len(part_text(part)) // 4


# --- What a turn appends ------------------------------------------------------------------------------------------


def test_an_edited_file_joins_the_words_as_a_difference_and_is_told_how_to_be_read() -> None:
    view = view_over(text_of(), text_of(40))
    text = delta_text(view.deltas[0])

    assert forms(view) == ["diff"]
    assert "+LINE 40 IS NEW\n" in text
    assert "line 30" not in text
    assert text.count(DIFF_NOTE) == 1
    assert as_told(view) == visible_files(view)


def test_without_a_difference_nothing_is_said_of_them() -> None:
    assert DIFF_NOTE not in delta_text(view_over("short\n", "other\n").deltas[0])


def test_each_diff_is_one_of_the_last_and_the_third_in_a_row_is_whole() -> None:
    view = view_over(text_of(), text_of(1), text_of(1, 2), text_of(1, 2, 3), text_of(1, 2, 3, 4))

    assert forms(view) == ["diff", "diff", "whole", "diff"]
    assert as_told(view)["10/a.py"] == visible_files(view)["10/a.py"]
    assert text_of(1, 2, 3, 4) in visible_files(view)["10/a.py"]


def test_a_file_that_changes_back_to_what_it_was_is_said_to_be_so() -> None:
    view = view_over(text_of(), text_of(5), text_of())

    assert forms(view) == ["diff", "restored"]
    assert '<file-restored path="a.py" as="before the first update"/>' in delta_text(view.deltas[1])
    assert as_told(view) == visible_files(view)


def test_a_file_that_vanishes_and_returns_is_told_shortly_where_it_is_as_it_was() -> None:
    assert forms(view_over(text_of(), None, text_of())) == ["removed", "restored"]
    assert forms(view_over(text_of(), None, text_of(3))) == ["removed", "whole"]


def test_a_file_that_is_emptied_and_filled_again_is_whole() -> None:
    view = view_over(text_of(), "", text_of(3))

    assert forms(view) == ["whole", "whole"]
    assert as_told(view) == visible_files(view)


def unavailable(kind: FileProblemKind) -> ItemFiles:
    item = curated("a.py", "")
    return replace(item, files=(replace(item.files[0], problem=FileProblem(kind, "no")),))


@pytest.mark.parametrize("kind", [FileProblemKind.BINARY, FileProblemKind.VANISHED, FileProblemKind.NOT_UTF8])
def test_a_file_that_becomes_binary_or_is_not_there_and_comes_back(kind: FileProblemKind) -> None:
    """It stays in the preset, with the reason in place of its text."""
    view = view_over(text_of(), text_of(7))
    for number, items in enumerate(
        (unavailable(kind), curated("a.py", text_of(8)), curated("a.py", text_of())), 2
    ):
        inputs = StackInputs(items=(items, curated("b.py", "BETA\n")), turns=turns("m0", "m1", "m2", "m3"))
        stack = build_stack(replace(inputs, user_text="words"))
        view = view_for(view, stack, f"m{number}")
        assert as_told(view)["10/a.py"] == said_pieces(stack)["10/a.py"]

    assert forms(view) == ["diff", "whole", "whole", "restored"]


def test_a_message_that_is_sent_again_says_the_file_as_it_is_by_then() -> None:
    """The call failed, and the file changed three times before the next try: the message has one delta."""
    view = view_over(text_of(), text_of(1))
    stack = stack_of({})
    for changed in ((1, 2), (1, 2, 3), (60,)):
        stack = stack_of({"a.py": text_of(*changed), "b.py": "BETA\n"}, turns("m0"), "m1")
        view = view_for(view, stack, "m1")

        assert [delta.message_id for delta in view.deltas] == ["m1"]
        assert as_told(view) == said_pieces(stack)
        assert text_of(*changed) not in wire_text(stack.request(view=view, message_id="m1"))
    assert view_for(view, stack, "m1") is view
    restored = stack_of({"a.py": text_of(), "b.py": "BETA\n"}, turns("m0"), "m1")
    assert view_for(view, restored, "m1").deltas == ()


def test_a_file_that_changes_three_times_while_a_turn_runs_is_told_once_with_the_next_message() -> None:
    """The running turn repeats its bytes; the next message tells what lies between what was told and the file by then."""
    call = said("m1a", Role.ASSISTANT, ToolCallPart("c0", "edit", "{}"))
    view = view_over(text_of(), text_of(1))
    memo, sent = DecideMemo(), list[str]()
    rounds = (*turns("m0"), said("m1", Role.USER, "words"))
    for number, changed in enumerate(((1, 2), (1, 2, 3), (1, 60)), start=1):
        asked = replace(call, id=f"m1a{number}", parts=(ToolCallPart(f"c{number}", "edit", "{}"),))
        done = said(f"m1b{number}", Role.TOOL, ToolResultPart(f"c{number}", "done"))
        rounds = (*rounds, asked, done)
        stack = stack_of({"a.py": text_of(*changed), "b.py": "BETA\n"}, rounds, "")
        decision = decide(PlannedTurn(stack, "m1", view), MARKET, memo)
        sent.append(wire_text(decision.request))

        assert decision.view.base == view.base
        assert decision.view.deltas == view.deltas
        assert "LINE 60 IS NEW" not in sent[-1]
        assert sent[-1].startswith(sent[0])

    stack = stack_of({"a.py": text_of(1, 60), "b.py": "BETA\n"}, (*rounds, said("m1c", Role.ASSISTANT, "ok")))
    after_turn = view_for(view, stack, "m2")

    assert [delta.message_id for delta in after_turn.deltas] == ["m1", "m2"]
    assert forms(after_turn) == ["diff", "diff"]
    assert as_told(after_turn) == said_pieces(stack)
    assert "line 2 of" not in delta_text(after_turn.deltas[-1]), "it is as it was told"


def test_slices_whose_lines_are_stable_are_differences_too() -> None:
    def of(text: str) -> AggregateStack:
        item = curated("a.py", text, mode=FileMode.SLICES, slices=(LineRange(1, 60),))
        return build_stack(StackInputs(items=(item,), user_text="words"))

    view = view_for(of(text_of()).canonical_view, of(text_of(30)), "m1")

    assert '<file-diff path="a.py" shown="slices">' in delta_text(view.deltas[0])
    assert as_told(view) == visible_files(view) == said_pieces(of(text_of(30)))


def test_digest_and_identity_files_are_told_by_the_same_rule() -> None:
    def of(digest: str, rules: str) -> AggregateStack:
        project = (NamedText("AGENTS.md", rules),)
        return build_stack(StackInputs(digest=digest, project=project, user_text="words"))

    stack = of(text_of(9), text_of(10))
    view = view_for(of(text_of(), text_of()).canonical_view, stack, "m1")
    text = delta_text(view.deltas[0])

    assert "<knowledge-diff>\n@@ " in text
    assert '<document-diff name="AGENTS.md">\n@@ ' in text
    assert len(text) < 1_800
    assert as_told(view) == said_pieces(stack)


# --- Messages that go ---------------------------------------------------------------------------------------------


def test_a_diff_of_what_a_deleted_message_said_is_told_whole_in_its_place() -> None:
    view = view_over(text_of(), text_of(1), text_of(1, 2), text_of(1, 2, 3, 4))
    assert forms(view) == ["diff", "diff", "whole"]
    stack = stack_of({"a.py": text_of(1, 2), "b.py": "BETA\n"}, turns("m0", "m2"), "words")
    left = pruned(view, stack, "m4")

    assert [delta.message_id for delta in left.deltas] == ["m2"]
    assert forms(left) == ["whole"]
    assert as_told(left) == visible_files(left)
    assert DIFF_NOTE not in delta_text(left.deltas[0])


def test_what_is_built_on_a_text_that_is_told_whole_by_now_stays_a_diff() -> None:
    view = view_over(text_of(), text_of(1), text_of(1, 2), text_of(1, 2, 3), text_of(1, 2, 3, 4))
    stack = stack_of({"a.py": text_of(1, 2, 3, 4), "b.py": "BETA\n"}, turns("m0", "m2", "m3", "m4"), "words")
    left = view_for(view, stack, "m5")

    assert forms(left) == ["whole", "whole", "diff"]
    assert as_told(left) == said_pieces(stack)


def test_the_last_message_with_its_diff_deleted_is_said_again() -> None:
    view = view_over(text_of(), text_of(1), text_of(1, 2))
    stack = stack_of({"a.py": text_of(1, 2), "b.py": "BETA\n"}, turns("m0", "m1"), "words")
    left = view_for(view, stack, "m9")

    assert [delta.message_id for delta in left.deltas] == ["m1", "m9"]
    assert forms(left) == ["diff", "diff"]
    assert as_told(left) == said_pieces(stack)


# --- The log ------------------------------------------------------------------------------------------------------


def records_of(*views: ContextView) -> list[ViewRecord]:
    found: list[ViewRecord] = []
    for number, view in enumerate(views):
        found += records_for(replay(found), view, NOW, (f"v{number}-{n}" for n in range(9)))
    return found


def test_the_log_holds_the_diff_and_not_the_text_that_it_leads_to() -> None:
    view = view_over(text_of(), text_of(1), text_of(1, 2), text_of())
    records = records_of(replace(view, deltas=()), view)

    assert replay(records).view == view
    assert [len(record.data_json) < 800 for record in records] == [False, True, True, True]
    assert view.deltas[1].files[0].sha256 in replay(records).told


def test_a_log_that_lost_a_diff_in_between_does_not_make_up_a_text() -> None:
    view = view_over(text_of(), text_of(1), text_of(1, 60))
    base, first, second = records_of(view)

    assert replay([base, first, second]).view == view
    assert replay([base, second]).view is None


def test_a_log_that_holds_texts_beside_the_forms_is_read() -> None:
    view = view_over(text_of(), text_of(1))
    base, delta = records_of(view)
    data = json.loads(delta.data_json)
    data["files"][0]["text"] = view.deltas[0].files[0].text
    del data["files"][0]["from"]

    assert replay([base, replace(delta, data_json=json.dumps(data))]).view == view


@pytest.mark.parametrize(
    "sent", ["", "<file-diff>\n</file-diff>\n", "<file-diff>\n@@ -1,1 +1,1 @@\n-x\n+y\n</file-diff>\n"]
)
def test_a_record_whose_diff_does_not_apply_ends_the_view(sent: str) -> None:
    base, delta = records_of(view_over(text_of(), text_of(1)))
    data = json.loads(delta.data_json)
    data["files"][0] |= {"sent": sent, "from": "0" * 64}

    assert replay([base, replace(delta, data_json=json.dumps(data))]).view is None


NOTE = len(DELTA_NOTE) // 4
"""Tokens of what tells how to read a delta."""

# --- What it costs ------------------------------------------------------------------------------------------------


def test_a_diff_is_superseded_by_what_it_takes_more_than_the_text_it_leads_to() -> None:
    assert superseded_tokens(view_over(text_of()), tokens) == 0
    assert superseded_tokens(view_over("", "x" * 4_000), tokens) < NOTE + 20
    whole = superseded_tokens(view_over(text_of(), "other\n" * 200), tokens)
    diff = superseded_tokens(view_over(text_of(), text_of(5)), tokens)

    assert 0 < diff < NOTE + len(DIFF_NOTE) // 4 + 100
    assert whole == pytest.approx(len(text_of()) / 4 + NOTE, abs=20)


def test_when_a_whole_text_was_sent_all_earlier_forms_are_superseded() -> None:
    two = view_over(text_of(), text_of(1), text_of(1, 2))
    three = view_over(text_of(), text_of(1), text_of(1, 2), text_of(1, 2, 3))

    assert superseded_tokens(two, tokens) < 2 * (NOTE + len(DIFF_NOTE) // 4 + 100)
    assert superseded_tokens(three, tokens) > superseded_tokens(two, tokens) + len(text_of()) // 5


def test_what_was_removed_is_superseded_with_all_that_was_told_of_it() -> None:
    view = view_over(text_of(), text_of(1), None)

    assert superseded_tokens(view, tokens) > len(text_of()) // 4


@given(st.lists(st.one_of(st.none(), st.sets(st.integers(0, 79), max_size=4)), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_what_is_superseded_is_what_a_canonical_rewrite_leaves_out(edits: list[set[int] | None]) -> None:
    """To the character: what all deltas and the base take on the wire, less what the newest texts take."""

    def characters(part: RequestPart | ToolSchema) -> int:
        return len(part_text(part))

    versions = [text_of(), *(None if edit is None else text_of(*sorted(edit)) for edit in edits)]
    view = view_over(*versions)
    files = {"b.py": "BETA\n"} if versions[-1] is None else {"a.py": versions[-1], "b.py": "BETA\n"}
    rewritten = stack_of(files).canonical_view
    sent = sum(len(delta_text(delta)) for delta in view.deltas) + carried_base(view)

    assert superseded_tokens(view, characters) == sent - carried_base(rewritten)


def carried_base(view: ContextView) -> int:
    """Characters of what stands before the turns."""
    return len(view.base.file_set) + sum(len(piece.text) for piece in base_pieces(view.base))


MARKET = Market(SCOPE, ANTHROPIC, CacheLedger(), QUICK, CacheSettings(), NOW, tokens)
BIG = tuple(f"line {number} of a larger file stands here\n" for number in range(2_000))


def big(*changed: int) -> str:
    return "".join(f"LINE {n} IS NEW\n" if n in changed else line for n, line in enumerate(BIG))


def run(texts: list[str], market: Market = MARKET, gap_s: int = 60) -> list[tuple[AggregateStack, Decision]]:
    """A discussion of one turn a minute, in which `a.py` changes."""
    view: ContextView | None = None
    found, memo, names = [], DecideMemo(), list[str]()
    for number, text in enumerate(texts):
        stack = stack_of({"a.py": text, "b.py": big() * 2}, turns(*names), f"words {number}")
        now = replace(market, now=after(number * gap_s))
        decision = decide(PlannedTurn(stack, f"m{number}", view), now, memo)
        market = replace(market, ledger=record(market.ledger, SCOPE, decision.plan, now.now, "d"))
        view = decision.view
        found.append((stack, decision))
        names.append(f"m{number}")
    return found


def test_a_warm_discussion_pays_for_the_difference_and_not_for_the_file() -> None:
    (_, first), (_, second) = run([big(), big(900)])

    assert forms(second.view) == ["diff"]
    assert second.plan.read_tokens >= first.wire.total_tokens * 0.95
    assert second.wire.total_tokens - first.wire.total_tokens < 400


def test_the_context_is_rewritten_when_carrying_what_is_superseded_costs_more() -> None:
    """Files that are replaced whole again and again: each version is read with every turn until then."""
    plans = [
        decision
        for _, decision in run(["".join(f"version {n} line {k}\n" for k in range(1_500)) for n in range(30)])
    ]
    rewritten = [n for n, decision in enumerate(plans) if n and not decision.view.deltas]

    assert rewritten
    assert all("outdated tokens would cost more" in plans[n].plan.sentences[0] for n in rewritten)
    assert len(rewritten) < len(plans) / 3


def test_small_differences_are_carried_longer_than_whole_files() -> None:
    edits = [decision for _, decision in run([big(*range(0, n * 40, 40)) for n in range(30)])]
    wholes = [decision for _, decision in run([big()[n:] if n % 2 else big().upper()[n:] for n in range(30)])]
    carried = [sum(bool(d.view.deltas) for d in run) for run in (edits, wholes)]

    assert carried[0] >= carried[1] + 5


# --- Whole discussions --------------------------------------------------------------------------------------------

VERSION = st.one_of(
    st.lists(st.integers(0, 79), max_size=5).map(lambda changed: text_of(*changed)),
    st.sampled_from(
        [
            "",
            "short\n",
            text_of().removesuffix("\n"),
            text_of(more="</file>\n"),
            text_of(more="@@ -1 +1 @@\n"),
        ]
    ),
)
STATE = st.tuples(
    st.dictionaries(st.sampled_from(["a.py", "b.py"]), VERSION, max_size=2),
    VERSION,
    st.sampled_from([60, 60, 60, 9_000]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(STATE, st.integers(0, 9)), min_size=1, max_size=8))
def test_what_was_sent_leads_to_the_files_whatever_happens(
    steps: list[tuple[tuple[dict[str, str], str, int], int]],
) -> None:
    """Files, digest and messages change and go; the log is read again before each turn."""
    names: list[str] = []
    records: list[ViewRecord] = []
    market, elapsed = MARKET, 0
    for number, ((files, digest, gap_s), cut) in enumerate(steps):
        elapsed += gap_s
        if cut < len(names):
            del names[cut]
        items = tuple(curated(path, text) for path, text in files.items())
        inputs = StackInputs("anthropic", "claude-opus-5-5", digest=digest, items=items, turns=turns(*names))
        stack = build_stack(replace(inputs, user_text="words"))
        before = replay(records)
        now = replace(market, now=after(elapsed))
        decision = decide(PlannedTurn(stack, f"m{number}", before.view), now)
        records += records_for(before, decision.view, NOW, (f"v{number}-{n}" for n in range(20)))
        market = replace(market, ledger=record(market.ledger, SCOPE, decision.plan, now.now, "d"))
        names.append(f"m{number}")

        assert replay(records).view == decision.view
        assert as_told(decision.view) == visible_files(decision.view) == said_pieces(stack)
        assert visible_file_set(decision.view) == stack.layers[8].text
        shown = wire_text(decision.request)
        assert all(delta_text(delta) in shown for delta in decision.view.deltas)
