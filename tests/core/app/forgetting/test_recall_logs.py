"""What was recalled for a message of another conversation holds no word of what is forgotten; the rest of a log stays."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.agent.journal_text import new_entry, written
from core.app.forgetting import forgetting_step
from core.app.forgetting.forgetting_messages import ForgetEnded
from core.app.forgetting.redaction import without_recalled
from core.app.forgetting.words import Words
from core.kernel import paths
from core.kernel.values.knowledge import ForgetReceipt, HarvestLedgerEntry, LedgerStatus
from core.kernel.values.records import RequestRecord
from core.kernel.values.stack import StackInputs
from core.kernel.values.window import ContextView, TurnTail, ViewCut
from core.knowledge.ledger import HarvestLedger, hash_source
from core.talk.caching.view import Replayed, records_for, replay
from core.talk.discussion import discussion_store, log
from core.talk.discussion.cuts import cut_record, told_turn, turn_record
from core.talk.discussion.cuts import without_recalled as bare
from core.talk.discussion.log_codec import ForeignLine, decode, encode
from core.talk.discussion.log_content import fold
from tests.core.app.forgetting.day import SECRET, WORD, a_day, forgotten, traces
from tests.core.knowledge.harvest.harvests import NOW, OLD, add_discussion
from tests.panels import states


@pytest.fixture
def home(isolated_home: Path) -> Path:
    isolated_home.mkdir()
    return isolated_home


def asked(request_id: str, message_id: str, retrieved: str) -> RequestRecord:
    record = RequestRecord(request_id, OLD, message_id, "claude-code", "m", "auto", (), (), 0)
    return replace(record, retrieved=retrieved)


def test_a_log_loses_what_was_recalled_in_it_and_the_ledger_knows_it_still(home: Path) -> None:
    secret = a_day(home)
    other = add_discussion(home, "Other", "Which gate?", at=OLD + timedelta(days=3))
    quoted = f'Found:\n<passage source="{secret}, message 2">\n{SECRET}\n</passage>\n'
    records = asked("r1", "m1", quoted), asked("r2", "m2", "Found: the keys are brass.")
    log.append(home, other, records)
    path = paths.log_file(home, other)
    size, sha256 = path.stat().st_size, hash_source(path).sha256
    entry = HarvestLedgerEntry(
        sha256, str(path), LedgerStatus.HARVESTED, "2026-10-05T00:00:00Z", size_bytes=size
    )
    HarvestLedger(home).add(entry)

    receipt = forgotten(home, secret)

    assert traces() == []
    assert (receipt.recalls, receipt.problems) == ((other,), ())
    assert other in receipt.holders
    assert path.stat().st_size == size
    read = discussion_store.load(home, other, NOW).discussion
    assert (read.retrieved, [one.text for one in read.messages]) == ({}, ["Which gate?"])
    assert HarvestLedger(home).get(hash_source(path).sha256) is not None


def test_what_stays_behind_the_words_of_a_turn_with_tools_goes_from_its_log(home: Path) -> None:
    secret = a_day(home)
    other = add_discussion(home, "Other", "Which gate?", at=OLD + timedelta(days=3))
    quoted = f'{{rag-context}}\n<passage source="{secret}">\n{SECRET}\n</passage>\n{{/rag-context}}\n'
    view = ContextView(tails=(TurnTail("m1", "Layer 8.\n", quoted),))
    log.append(home, other, records_for(Replayed(), view, OLD, ["v1", "v2"]))
    path = paths.log_file(home, other)
    size = path.stat().st_size

    receipt = forgotten(home, secret)

    assert traces() == []
    assert receipt.recalls == (other,)
    assert path.stat().st_size == size
    records = [decode(line, at) for at, line in enumerate(path.read_bytes().splitlines(), 1)]
    replayed = replay(one for one in records if not isinstance(one, ForeignLine)).view
    assert replayed is not None
    assert replayed.tails == (TurnTail("m1", "Layer 8.\n"),)


def test_the_journal_and_what_views_tell_of_it_lose_the_entries_of_a_forgotten_conversation(
    home: Path,
) -> None:
    secret = a_day(home)
    other = add_discussion(home, "Other", "Which gate?", at=OLD + timedelta(days=3))
    entries = new_entry(OLD, "", SECRET, secret), new_entry(OLD, "", "The gate is shut.", other)
    journal = "".join(map(written, entries))
    (home / paths.JOURNAL_FILE).write_text(journal)
    log.append(home, other, [cut_record(ViewCut("c1", OLD, "m1", journal=journal, sources=(secret,)))])
    path = paths.log_file(home, other)
    size = path.stat().st_size

    receipt = forgotten(home, secret)

    assert traces() == []
    assert receipt.problems == ()
    assert (home / paths.JOURNAL_FILE).read_text() == written(entries[1])
    assert path.stat().st_size == size
    cut = discussion_store.load(home, other, NOW).discussion.cut
    assert cut is not None
    assert (cut.begins_at, cut.journal) == ("m1", "")


def test_other_logs_keep_every_byte() -> None:
    lines = b'{"retrieved":"the keys","type":"request","v":1}\n{"retrieved":"","type":"request","v":1}\n'
    words = Words(discussions=frozenset({"20261001-090000-aaaaaa"}), texts=(SECRET,))

    assert without_recalled(lines, words) is lines
    assert without_recalled(b'{"text":"\\"retrieved\\":\\"x"}\nno json "retrieved":"x', words).endswith(b'"x')
    cut = without_recalled(
        lines + b'{"retrieved":"' + SECRET[:110].encode() + b'","type":"request","v":1}\n', words
    )
    assert (WORD.encode() in cut, b"the keys" in cut) == (False, False)
    assert cut.count(b',"type":"request","v":1}\n') == 3  # the end by which a log is read quickly


def test_the_window_does_not_send_again_what_was_recalled() -> None:
    state = states.working()
    chosen, opened = next(iter(state.discussions.open.items()))
    opened = replace(opened, retrieved={"m1": SECRET})
    state = replace(state, discussions=replace(state.discussions, open={chosen: opened}))
    receipt = ForgetReceipt("f", "2026-11-23T00:00:00Z", ("d",), recalls=(chosen,))

    after, _ = forgetting_step.HANDLERS(state, ForgetEnded(receipt))

    assert after.discussions.open[chosen].retrieved == {}


def test_what_a_turn_with_tools_began_with_loses_what_was_recalled_and_nothing_else() -> None:
    words = Words(
        discussions=frozenset({"20261001-000000-aaaaaa"}), texts=("The key lies under the third stone.",)
    )
    quoted = '"The key lies under the third stone." said one'
    inputs = StackInputs(provider="p", model="m", role_text="You help. " * 30, retrieved=quoted)
    one, two = (told_turn(name, inputs) for name in ("m1", "m2"))
    records = turn_record("t1", one, None, OLD), turn_record("t2", two, one, OLD)
    before = b"".join(map(encode, records))
    after = without_recalled(before, words)

    assert (len(after), b"third stone" in before, b"third stone" in after) == (len(before), True, False)
    read = fold(
        "d",
        (
            found_record
            for n, line in enumerate(after.splitlines())
            if not isinstance(found_record := decode(line, n), ForeignLine)
        ),
    )
    assert read.told_turn == told_turn("m2", replace(inputs, retrieved=""))
    assert read.told_turn == bare(two)
    assert without_recalled(after, words) == after
