"""The value of an enumeration's member, at the price of an attribute: `.value` takes three steps, and hashing one two."""

from __future__ import annotations

from operator import attrgetter

enum_value = attrgetter("_value_")
"""`enum_value(member)` is `member.value`. Source: Python "enum", supported `_sunder_` names."""
