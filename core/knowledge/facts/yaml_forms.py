"""The form in which the program writes an item, and a reader of that form alone: whatever differs is not read here."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal
from functools import cache, lru_cache
from json.encoder import encode_basestring
from typing import Any

import msgspec

from core.kernel.codecs import read_json
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.facts import Fact, FactCategory
from core.knowledge.facts.fact_checks import plain

INDENT = "  "

_CATEGORIES: Mapping[str, FactCategory] = {category.value: category for category in FactCategory}
_CATEGORY = "|".join(_CATEGORIES)
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID = rf"[a-z0-9][a-z0-9._-]{{0,99}}:(?:{_CATEGORY}):[0-9]{{3,9}}"
_CHAR = (
    r"[^\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
    r"|\\(?:[\"\\bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})"
)
_TAG = r"[a-z][a-z0-9-]*+"
_ITEM = late(
    rf"- id: ([a-z0-9][a-z0-9._-]{{0,99}}):({_CATEGORY}):([0-9]{{3,9}})\n"
    rf'  fact: "((?:{_CHAR})*+)"\n'
    rf"  category: ({_CATEGORY})\n"
    r'  domain: (?:"([a-z0-9._-]++)"|([a-z][a-z0-9._-]*+))\n'
    r"  confidence: ((?:0\.[0-9]{2}|1\.00))\n"
    rf"(?:  tags: \[({_TAG}(?:, {_TAG})*+)\]\n)?+"
    r"(?:  source_count: ([1-9][0-9]{0,8})\n)?+"
    rf"(?:  first_seen: ({_DAY})\n)?+"
    rf"(?:  last_confirmed: ({_DAY})\n)?+"
    rf"(?:  expires: ({_DAY})\n)?+"
    rf'(?:  related: \[("{_ID}"(?:, "{_ID}")*+)\]\n)?+'
    r"(?=\n*+(?:\S|\Z))"
)
_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""Tags and domains that YAML reads as a switch where they stand without quotes."""


def item_text(fact: Fact) -> str:
    """A fact as an item, with its last line end. Any fact may be written; optional fields stand where they are given."""
    rest = "".join([f"{INDENT}{key}: {value}\n" for key, value in optional_fields(fact).items()])
    return (
        f"- id: {fact.id}\n{INDENT}fact: {quoted(fact.text)}\n{INDENT}category: {fact.category.value}\n"
        f"{INDENT}domain: {plain(fact.domain)}\n{INDENT}confidence: {number(fact.confidence)}\n{rest}"
    )


def optional_fields(fact: Fact) -> dict[str, str]:
    """The fields of a fact that need not be given, as YAML, in their order; those that say nothing left out."""
    rows: dict[str, str] = {}
    if fact.tags:
        rows["tags"] = f"[{', '.join(map(plain, fact.tags))}]"
    if fact.source_count > 1 or fact.first_seen:
        rows["source_count"] = str(fact.source_count)
    if fact.first_seen:
        rows["first_seen"] = fact.first_seen
    if fact.last_confirmed:
        rows["last_confirmed"] = fact.last_confirmed
    if fact.expires:
        rows["expires"] = fact.expires
    if fact.related:
        rows["related"] = f"[{', '.join(map(quoted, fact.related))}]"
    return rows


@lru_cache(maxsize=1024)
def number(confidence: float) -> str:
    """A confidence as YAML: with two decimals, or as exactly as it was given."""
    text = f"{confidence:.2f}"
    return text if float(text) == confidence else format(Decimal(repr(confidence)), "f")


def quoted(text: str) -> str:
    """A text in double quotes, as JSON and YAML both read it; what YAML does not print is escaped."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", encode_basestring(text))


_UNPRINTED = late(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def read_item(text: str, start: int) -> tuple[Fact, int] | None:
    """Read the item that starts here, where it is exactly as `item_text` writes one.

    Args:
        text: of the whole file, LF line ends; start: of the item's dash, at the start of a line.

    Returns:
        The fact, its values not judged beyond their form, and where the item ends; None for any other form.
    """
    match = _ITEM.match(text, start)
    if match is None:
        return None
    (
        id_domain, id_category, sequence, said, category, quoted_domain, plain_domain, confidence,
        tags, source_count, first_seen, last_confirmed, expires, related,
    ) = match.groups()  # fmt: skip
    found_tags = tuple(tags.split(", ")) if tags else ()
    if plain_domain in _WORDS or not _WORDS.isdisjoint(found_tags):
        return None
    fact = Fact(
        id=f"{id_domain}:{id_category}:{sequence}",
        text=read_json(f'"{said}"') if "\\" in said else said,
        category=_CATEGORIES[category],
        domain=quoted_domain or plain_domain,
        confidence=float(confidence),
        tags=found_tags,
        source_count=int(source_count) if source_count else 1,
        first_seen=first_seen or "",
        last_confirmed=last_confirmed or "",
        expires=expires or "",
        related=tuple(read_json(f"[{related}]")) if related else (),
    )
    return fact, match.end()


# YAML by the C loader, piece by piece: bounded in size and depth, with no tags, anchors, aliases or merged
# keys.

MAX_CHARS = 16_384
"""Characters of one item, at most: no sentence with its tags needs more."""

MAX_DEPTH = 8
"""Levels of lists and mappings in one another, at most."""

_MAX_NODES = 2_000
_MAX_BITS = 1_024
"""Bits of a number, at most: Python refuses to write out many digits, and YAML also spells them in base 16 or 60."""
_OPENERS = ("[", "{", "- ", "? ", "-\n", "-\t")


class YamlFault(msgspec.Struct, frozen=True):
    """Fault of a piece of YAML. `line`: within the piece, from 0."""

    line: int
    text: str


def read_yaml(text: str, *, as_written: bool = False) -> Any | YamlFault:
    """Read one piece of YAML into plain values: text, numbers, dates, lists and mappings.

    Args:
        text: of any content and size; as_written: each value that is no list or mapping stays the words that it is,
            so that `no`, `007` and `12:30` are a person's words; only nothing is None.

    Returns:
        Its value, None for nothing; a fault for what cannot or may not be read. Nothing is built of it then.
    """
    import yaml

    if len(text) > MAX_CHARS:
        return YamlFault(
            0,
            tr(
                "the item has {text:,} characters, more than {MAX_CHARS:,}",
                text=len(text),
                MAX_CHARS=MAX_CHARS,
            ),
        )
    if fault := _refused(text):
        return fault
    loader = None
    try:
        loader = _loader(as_written)(text)
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        return YamlFault(
            _line(error), tr("the program cannot read this as YAML: {error}", error=_said(error))
        )
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        return YamlFault(0, tr("the program cannot read this as YAML: {error}", error=_one_line(str(error))))
    finally:
        if loader is not None:
            loader.dispose()


def _refused(text: str) -> YamlFault | None:
    """Look at the parser's events before anything is built, where anything but plain values can be in it."""
    if not any(mark in text for mark in "&*!<") and sum(map(text.count, _OPENERS)) <= MAX_DEPTH:
        return None
    import yaml

    depth = 0
    try:
        for number, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if reason := _reason(event, depth, number):
                mark = event.start_mark
                return YamlFault(0 if mark is None else mark.line, reason)
    except yaml.MarkedYAMLError as error:
        return YamlFault(
            _line(error), tr("the program cannot read this as YAML: {error}", error=_said(error))
        )
    except yaml.YAMLError as error:
        return YamlFault(0, tr("the program cannot read this as YAML: {error}", error=_one_line(str(error))))
    return None


def _reason(event: Any, depth: int, number: int) -> str:
    import yaml

    if isinstance(event, yaml.AliasEvent):
        return tr(
            "the program does not read an alias (*{anchor}); write the value itself", anchor=event.anchor
        )
    if getattr(event, "anchor", None):
        return tr(
            "the program does not read an anchor (&{anchor}); write the value itself", anchor=event.anchor
        )
    if getattr(event, "tag", None):
        return tr("the program does not read a tag ({tag}); write a plain value", tag=event.tag[:40])
    if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
        return tr("the program does not read a merge key (<<); write the fields themselves")
    if depth > MAX_DEPTH:
        return tr("lists and mappings are nested more than {MAX_DEPTH} deep", MAX_DEPTH=MAX_DEPTH)
    return (
        tr("the item has more than {MAX_NODES:,} parts", MAX_NODES=_MAX_NODES) if number > _MAX_NODES else ""
    )


@cache
def _loader(as_written: bool) -> Any:
    """The safe C loader, with a mapping's doubled key as a fault in place of the last one winning."""
    import yaml

    class _StrictLoader(yaml.CSafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT002
            names = set[str]()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if key.value in names:
                    raise yaml.constructor.ConstructorError(
                        None,
                        None,
                        tr("the field name {value!r} occurs twice", value=key.value[:40]),
                        key.start_mark,
                    )
                names.add(key.value)
            mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
            return mapping

        def construct_whole(self, node: Any) -> int:
            number: int = self.construct_yaml_int(node)
            if number.bit_length() > _MAX_BITS:
                raise yaml.constructor.ConstructorError(
                    None, None, tr("a number is too large"), node.start_mark
                )
            return number

        def construct_words(self, node: Any) -> str:
            return str(self.construct_scalar(node))

    _StrictLoader.add_constructor("tag:yaml.org,2002:int", _StrictLoader.construct_whole)
    for kind in ("bool", "int", "float", "timestamp") if as_written else ():
        _StrictLoader.add_constructor(f"tag:yaml.org,2002:{kind}", _StrictLoader.construct_words)
    return _StrictLoader


def _line(error: Any) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line if mark is not None else 0


def _said(error: Any) -> str:
    return _one_line(error.problem or error.context or tr("the YAML is damaged"))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
