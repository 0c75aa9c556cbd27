"""The prefix guard of every test notices what it is there for, at each vendor's bodies."""

from __future__ import annotations

import json
from pathlib import Path

from tests.vendors.loopback import Heard, Json
from tests.wire_guard import as_request, breaks, recorded_reasons, unexplained

MARK = {"type": "ephemeral", "ttl": "5m"}


def claude(system: str, *said: str, marked: int = -1, at_s: float = 0.0, is_second: bool = False) -> Heard:
    """A body of Anthropic's: words and replies in turn, a mark on the last or another."""
    blocks: list[Json] = [{"type": "text", "text": text} for text in said]
    blocks[marked]["cache_control"] = MARK
    messages = [
        {"role": ("user", "assistant")[number % 2], "content": [block]} for number, block in enumerate(blocks)
    ]
    body = {"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": system}], "messages": messages}
    return Heard(body, at_s, is_second)


def chat(*said: str) -> Heard:
    """A body of a compatible server."""
    messages = [
        {"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(said)
    ]
    return Heard({"model": "m", "messages": messages, "stream_options": {}}, 0.0)


def test_a_request_that_grows_at_its_end_breaks_nothing() -> None:
    assert breaks([claude("s", "one"), claude("s", "one", "yes", "two")]) == []
    assert breaks([chat("one"), chat("one", "yes", "two")]) == []


def test_what_stands_before_the_words_is_named_with_its_part_and_character() -> None:
    (found,) = breaks([claude("role a", "one"), claude("role b", "one", "yes", "two")])

    assert (found.number, found.row) == (1, 1)
    assert "role a" in str(found)
    assert len(breaks([chat("one", "yes", "two"), chat("one", "no", "two", "so", "three")])) == 1


def test_words_are_known_again_in_a_string_that_also_holds_what_stands_there_for_one_turn() -> None:
    passing = "\n\n<discussion>\nname: x\n</discussion>\n"
    assert breaks([chat(f"one{passing}"), chat("one", "yes", f"two{passing}")]) == []
    first = chat("old", "yes", f"two{passing}")
    assert len(breaks([first, chat("new", "yes", "two", "so", f"three{passing}")])) == 1


def test_what_no_mark_holds_and_what_has_expired_may_change() -> None:
    first = claude("s", "one", "yes", "two", marked=0)
    assert breaks([first, claude("s", "one", "no", "two", "so", "three")]) == []
    assert breaks([claude("a", "one"), claude("b", "one", "yes", "two", at_s=301.0)]) == []


def test_other_words_are_another_conversation_and_a_refused_request_has_its_reason() -> None:
    assert breaks([claude("a", "one"), claude("b", "another")]) == []
    assert breaks([claude("a", "one"), claude("b", "one", "yes", "two", is_second=True)]) == []


def test_of_two_conversations_with_the_same_words_one_is_extended() -> None:
    heard = [claude("a", "one"), claude("b", "one"), claude("a", "one", "yes", "two")]
    assert len(breaks(heard[:2])) == 1, "the same words to another role"
    assert breaks([heard[1], heard[0], heard[2]])[1:] == []


def test_a_reason_in_a_log_explains_the_request_that_carries_its_message(tmp_path: Path) -> None:
    rows = [
        {"type": "message", "id": "m2", "parts": [{"type": "text", "text": 'two "quoted"'}]},
        {"type": "request", "message_id": "m2", "broken": "Layer 1 differs."},
        {"type": "request", "message_id": "m3", "broken": ""},
    ]
    log = tmp_path / "a" / "log.jsonl"
    log.parent.mkdir()
    log.write_text("\n".join(map(json.dumps, rows)) + "\n{torn", encoding="utf-8")
    found = breaks([claude("a", "one"), claude("b", "one", "yes", 'two "quoted"')])

    reasons = list(recorded_reasons(tmp_path))
    assert reasons == ['two "quoted"']
    assert len(found) == 1
    assert unexplained(found, reasons) == []
    assert unexplained(found, ["three"]) == found


def test_a_mark_that_moves_on_from_the_output_of_a_tool_breaks_nothing() -> None:
    def asked(*outputs: Json) -> Heard:
        said: list[Json] = [{"role": "user", "content": [{"type": "input_text", "text": "one"}]}]
        said += [{"type": "function_call_output", "call_id": "c", "output": [one]} for one in outputs]
        return Heard({"model": "m", "input": said}, 0.0)

    bare = {"type": "input_text", "text": "two"}
    marked = {**bare, "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    first = asked(marked)
    assert (as_request(first).warm, as_request(first).lives_s) == (3, 43_200.0)
    assert breaks([first, asked(bare, {**marked, "text": "three"})]) == []
    assert len(breaks([first, asked({**bare, "text": "2"}, marked)])) == 1
