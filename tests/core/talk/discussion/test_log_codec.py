"""A record is one canonical line; anything else is a foreign line, never an error."""

from __future__ import annotations

import json
import re
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord, Record, UsageRecord
from core.kernel.values.usage import Usage
from core.talk.discussion.log_codec import ForeignLine, decode, encode, from_json_value, to_json_value
from tests.core.records import NOW, meta, records, reply, request, used, user


@given(records())
def test_a_record_survives_the_way_to_disk_and_back(record: Record) -> None:
    assert decode(encode(record), 1) == record


@given(records())
def test_a_line_is_one_canonical_json_line(record: Record) -> None:
    line = encode(record)
    data = json.loads(line)

    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert data["v"] == 1
    again = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    assert line == again.encode()


def test_the_written_form_is_stable() -> None:
    """Old logs must stay readable: this line changes only with the version."""
    assert (
        encode(user("a1", "hé"))
        == (
            '{"at":"2026-11-20T07:30:00Z","id":"a1","model":"","parts":[{"text":"hé","type":"text"}],'
            '"provider":"","role":"user","status":"complete","type":"message","v":1}\n'
        ).encode()
    )
    assert encode(used("u1", "a2")) == (
        b'{"at":"2026-11-20T07:30:00Z","id":"u1","message_id":"a2","type":"usage",'
        b'"usage":{"cost_usd":0.25,"input_tokens":10,"miss_reason":"","output_tokens":5,"request_id":""},"v":1}\n'
    )


@given(st.binary())
def test_any_bytes_decode_to_a_record_or_a_reason(line: bytes) -> None:
    found = decode(line, 7)

    assert isinstance(found, ForeignLine)
    assert found.line_number == 7
    assert found.reason


@given(records(), st.data())
def test_any_damage_to_a_line_is_a_value_not_an_error(record: Record, data: st.DataObject) -> None:
    line = bytearray(encode(record))
    for _ in range(data.draw(st.integers(1, 4))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))

    found = decode(bytes(line), 1)

    if not isinstance(found, ForeignLine):
        assert isinstance(decode(encode(found), 1), type(found))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(records(), st.data())
def test_a_field_of_the_wrong_type_is_a_foreign_line_or_read_as_it_stands(
    record: Record, data: st.DataObject
) -> None:
    fields = json.loads(encode(record))
    fields[data.draw(st.sampled_from(sorted(fields)))] = data.draw(json_values)

    found = decode(json.dumps(fields).encode(), 1)

    assert isinstance(found, ForeignLine) or encode(found)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not JSON"),
        (b"null", "the line is not a JSON object"),
        (b"[]", "the line is not a JSON object"),
        (b"{}", "no version"),
        (b'{"v":true,"type":"message"}', "no version"),
        (b'{"v":2,"type":"message"}', "version 2"),
        (b'{"v":1,"type":"hologram"}', "unknown type of record, 'hologram'"),
        (b'{"v":1,"type":["message"]}', "unknown type of record"),
        (b'{"v":1,"type":"delete","id":"a","target_id":"b"}', "'at' is missing"),
        (b'{"v":1,"type":"delete","id":"a","at":"soon","target_id":"b"}', "no readable time"),
        (b'{"v":1,"type":"delete","id":"a","at":5,"target_id":"b"}', "int where datetime belongs, at at"),
        (
            b'{"v":1,"type":"delete","id":5,"at":"2026-01-01T00:00:00Z","target_id":"b"}',
            "int where str belongs, at id",
        ),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"\0" * 4096, "not JSON"),
    ],
)
def test_the_reason_of_a_foreign_line_is_plain(line: bytes, reason: str) -> None:
    found = decode(line, 3)

    assert isinstance(found, ForeignLine)
    assert reason in found.reason


def test_an_unknown_part_makes_the_line_foreign_rather_than_a_message_without_it() -> None:
    line = encode(user("a")).replace(b'"type":"text"', b'"type":"hologram"')

    found = decode(line, 1)

    assert isinstance(found, ForeignLine)
    assert "the value 'hologram' is unknown, at parts[0].type" in found.reason


def test_keys_that_a_later_version_adds_are_passed_over() -> None:
    line = encode(user("a")).replace(b'"id":', b'"humour":[1],"id":')

    assert decode(line, 1) == user("a")


def test_keys_that_an_earlier_version_did_not_write_take_their_defaults() -> None:
    line = b'{"v":1,"type":"message","id":"a","at":"2026-11-20T07:30:00Z","role":"user","parts":[{"type":"text","text":"x"}]}'

    assert decode(line, 1) == user("a", "x")


def test_lone_surrogates_become_the_replacement_character_on_both_ways() -> None:
    """UTF-8 cannot hold them, so neither could SQLite, a provider, or the window."""
    written = encode(user("a", "x\ud800y"))
    assert decode(written, 1) == user("a", "x\ufffdy")

    escaped = encode(user("a", "xQy")).replace(b"xQy", b"x\\udfffy")
    assert decode(escaped, 1) == user("a", "x\ufffdy")


def test_nul_bidi_and_line_separators_are_kept_as_they_are() -> None:
    text = "a\0b\u202ec\u2028d\x85e\x1b[0m"

    assert decode(encode(user("a", text)), 1) == user("a", text)


def test_ten_megabytes_survive() -> None:
    text = "wörd\n" * 2_000_000

    found = decode(encode(user("a", text)), 1)

    assert isinstance(found, MessageRecord)
    assert found.parts == (TextPart(text),)


def test_numbers_that_json_cannot_hold_are_left_out() -> None:
    record = UsageRecord("u", NOW, "m", Usage(cost_usd=float("nan"), duration_s=float("inf"), input_tokens=1))

    assert decode(encode(record), 1) == UsageRecord("u", NOW, "m", Usage(input_tokens=1))
    assert decode(encode(used("u", "m")).replace(b"0.25", b"NaN"), 1) == UsageRecord(
        "u", NOW, "m", Usage(10, 5, cost_usd=None)
    )


def test_times_are_written_in_utc_and_read_from_any_zone() -> None:
    berlin = NOW.astimezone(timezone(timedelta(hours=1)))

    assert encode(MessageRecord("a", berlin, Role.USER, ())) == encode(MessageRecord("a", NOW, Role.USER, ()))
    line = encode(user("a")).replace(b"07:30:00Z", b"08:30:00+01:00")
    assert decode(line, 1) == user("a")


def test_a_request_keeps_layers_and_wire_order() -> None:
    assert decode(encode(request("r", "a")), 1) == request("r", "a")


def test_windows_line_ends_are_read() -> None:
    assert decode(encode(reply("a")).replace(b"\n", b"\r\n"), 1) == reply("a")


def test_values_beside_the_log_use_the_same_form() -> None:
    assert from_json_value(DiscussionMeta, json.loads(json.dumps(to_json_value(meta())))) == meta()
    with pytest.raises(ValueError, match="'name' is missing"):
        from_json_value(DiscussionMeta, {"id": "x"})


def test_tiny_costs_are_written_as_python_writes_them() -> None:
    """An old log must not get other bytes for the same figure."""
    record = UsageRecord("u", NOW, "m", Usage(cost_usd=1e-05, duration_s=1e-07))

    assert b'"cost_usd":1e-05,"duration_s":1e-07,' in encode(record)
    assert decode(encode(record), 1) == record


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"NaN", b"Infinity", b"-Infinity"])
def test_a_number_that_is_not_finite_is_as_if_it_were_not_there(number: bytes) -> None:
    assert decode(encode(used("u", "m")).replace(b"0.25", number), 1) == UsageRecord(
        "u", NOW, "m", Usage(10, 5)
    )


@pytest.mark.parametrize(
    "at",
    [
        b"2026-11-20T08:30:00+01:00",
        b"2026-11-20T07:30:00",
        b"2026-11-20 07:30:00Z",
        b"20261120T073000Z",
        b"2026-11-20T07:30:00.000000-00:00",
    ],
)
def test_any_iso_time_is_the_same_moment_in_utc(at: bytes) -> None:
    found = decode(encode(user("a")).replace(b"2026-11-20T07:30:00Z", at), 1)

    assert found == user("a")
    assert isinstance(found, MessageRecord)
    assert found.at.tzinfo is UTC


@given(
    st.datetimes().map(lambda at: at.isoformat())
    | st.sampled_from(["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"]),
    st.integers(-24 * 60 + 1, 24 * 60 - 1),
)
def test_whatever_time_a_line_says_what_is_read_can_be_written_again(at: str, offset_min: int) -> None:
    zone = f"{'-' if offset_min < 0 else '+'}{abs(offset_min) // 60:02}:{abs(offset_min) % 60:02}"

    found = decode(encode(user("a")).replace(b"2026-11-20T07:30:00Z", f"{at}{zone}".encode()), 1)

    if isinstance(found, ForeignLine):
        assert "outside the years" in found.reason
    else:
        assert decode(encode(found), 1) == found


@given(records(), st.text(st.characters(categories=["Cs"]), min_size=1))
def test_a_surrogate_in_a_key_that_nobody_knows_hides_no_words(record: Record, key: str) -> None:
    line = json.dumps({**json.loads(encode(record)), key: 1})

    assert decode(line.encode(), 1) == record


@given(records(), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_line_that_an_editor_saved_in_another_form_is_read(record: Record, encoding: str) -> None:
    assert decode(encode(record).decode().encode(encoding), 1) == record


@given(records())
def test_a_line_in_any_order_with_spaces_and_escapes_is_read(record: Record) -> None:
    fields = json.loads(encode(record))
    turned = dict(reversed(fields.items()))

    assert decode(json.dumps(turned, indent=None).encode(), 1) == record


def test_a_broken_byte_in_a_key_is_damage_and_no_unknown_key() -> None:
    found = decode(encode(user("a")).replace(b'"provider"', b'"pr\xffvider"'), 1)

    assert isinstance(found, ForeignLine)
    assert "not JSON" in found.reason


def test_the_last_keys_of_a_line_say_its_type_only_where_they_are_its_own() -> None:
    """The text of a message may end as a line of another type does."""
    end = ',"type":"delete","v":1}'
    record = user("a", end)

    assert decode(encode(record), 1) == record
    assert isinstance(decode(encode(record)[:-1] + end.encode() + b"\n", 1), ForeignLine)
    assert isinstance(decode(b'{"v":1,"type":"message","x":{"a":1' + end.encode() + b"}\n", 1), ForeignLine)


def test_an_estimate_is_said_and_what_is_none_leaves_a_lines_bytes_as_they_were() -> None:
    exact = UsageRecord("u", NOW, "m", Usage(10, 5, cost_usd=0.25))
    assert b"is_estimate" not in encode(exact)
    guessed = replace(exact, usage=replace(exact.usage, is_estimate=True))
    assert decode(encode(guessed), 1) == guessed
    assert decode(encode(exact), 1) == exact


@pytest.mark.parametrize(
    "figure",
    [
        '"cost_usd":-5.0', '"cost_usd":1e300', '"cost_usd":"3"', '"cost_usd":true', '"input_tokens":-4',
        '"input_tokens":99999999999999999999999', '"output_tokens":"12"', '"output_tokens":1.5', '"duration_s":-1',
    ],
)  # fmt: skip
def test_a_figure_that_is_none_makes_its_line_foreign_and_gets_into_no_sum(figure: str) -> None:
    """A negative price lifted the day's limit, a huge one shut everybody out, and both stayed in the totals."""
    line = re.sub(rb'"usage":{[^}]*}', f'"usage":{{{figure}}}'.encode(), encode(used("u", "m")))

    found = decode(line, 3)

    assert isinstance(found, ForeignLine)
    assert "usage." in found.reason
    assert "`" not in found.reason
    with pytest.raises(ValueError, match=r"is not|belongs|unknown"):
        from_json_value(Usage, json.loads(f"{{{figure}}}"))
