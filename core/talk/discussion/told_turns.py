"""Beginning of a turn with tools, as a `view` record of its log: a program that goes on with the turn repeats it.

The log tells what was said, and its view layers 6, 7, 9 and 10; here stands all else that a request is made of. It is
written once, with the turn's first request. A text that the turn before began with is only named.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from msgspec.structs import fields, replace

from core.kernel.decoders import read_json
from core.kernel.values.records import ViewRecord
from core.kernel.values.stack import StackInputs, ToldText, ToldTurn
from core.talk.discussion.log_codec import from_json_value, to_json_value

TURN_KIND = "turn"

IN_VIEW = frozenset({"project", "digest", "domain_facts", "notes", "preset_name", "items", "withdrawals"})
"""Inputs that the view of a log holds, as they were sent."""

IN_LOG = frozenset({"turns", "user_text", "attachments", "kept_retrieved", "cut_id"})
"""Inputs that the other records of a log hold."""

TOLD = tuple(field.name for field in fields(StackInputs) if field.name not in IN_VIEW | IN_LOG)

RECALLED = "retrieved"
"""Never named, always told: it is found and emptied where what it quotes is forgotten."""

_SHORT_CHARS = 100


def told_turn(message_id: str, inputs: StackInputs) -> ToldTurn:
    """Parts of a turn's beginning."""
    return ToldTurn(message_id, {name: _text(_json(to_json_value(getattr(inputs, name)))) for name in TOLD})


def turn_record(record_id: str, told: ToldTurn, before: ToldTurn | None, at: datetime) -> ViewRecord:
    """The record of it for the log. `before`: as the log tells the turn before."""
    known = {} if before is None else before.texts
    same = {
        name: text.sha256
        for name, text in told.texts.items()
        if name != RECALLED and len(text.json) > _SHORT_CHARS and known.get(name) == text
    }
    own = {name: read_json(text.json) for name, text in told.texts.items() if name not in same}
    data = {"message_id": told.message_id, "same": same, "told": own}
    return ViewRecord(id=record_id, at=at, kind=TURN_KIND, data_json=_json(data))


def read_turn(record: ViewRecord, before: ToldTurn | None) -> ToldTurn | None:
    """The beginning of a record's turn, None where it tells none, or names a text that the log did not tell before. Total."""
    try:
        data = read_json(record.data_json)
        texts = {str(name): _text(_json(value)) for name, value in data["told"].items()}
        for name, sha256 in data["same"].items():
            known = None if before is None else before.texts.get(name)
            if known is None or known.sha256 != sha256:
                return None
            texts[name] = known
        return ToldTurn(str(data["message_id"]), texts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def as_told(told: ToldTurn, now: StackInputs) -> StackInputs | None:
    """The inputs with all that is told of a turn's beginning; None where this program cannot read it."""
    try:
        began = from_json_value(
            StackInputs, {name: read_json(told.texts[name].json) for name in TOLD if name in told.texts}
        )
    except (ValueError, TypeError, RecursionError):
        return None
    return replace(now, **{name: getattr(began, name) for name in TOLD if name in told.texts})


def without_recalled(told: ToldTurn) -> ToldTurn:
    """The beginning without what was recalled for its words."""
    return replace(told, texts={**told.texts, RECALLED: _text(_json(""))})


def _text(text: str) -> ToldText:
    return ToldText(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), text)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
