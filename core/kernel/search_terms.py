"""Terms of a search: words, "a phrase", the nearest known word, and days as words and as numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from core.kernel.patterns import late

# Terms of a search as a person types them: words, and "a phrase" that stands together; the nearest known
# word to a mistyped one.

LEAST_LIKE = 72.0
"""Likeness of two words, from 0 to 100, from which the one may be a slip for the other."""
_WORD = late(r"\w+")
_TERM = late(r'["“”„]([^"“”„]*)["“”„]?|([^\s"“”„]+)')


class Term(NamedTuple):
    """One term. `is_phrase`: its words stand together, in this order."""

    text: str
    is_phrase: bool = False


def search_terms(query: str) -> tuple[Term, ...]:
    """Terms of a query, each once, without those that hold no letter or digit."""
    terms = (_term(found) for found in _TERM.finditer(query))
    return tuple(dict.fromkeys(term for term in terms if any(map(str.isalnum, term.text))))


def _term(found: re.Match[str]) -> Term:
    words = " ".join((found[1] if found[1] is not None else found[2]).split())
    return Term(words, is_phrase=" " in words)


def plain_terms(query: str) -> tuple[str, ...]:
    """The same as texts, to be marked where they stand."""
    return tuple(term.text for term in search_terms(query))


def begins_words(query: str, text: str) -> bool:
    """True if each word of a query is the beginning of a word of the text; False for a query without words."""
    words, wanted = _WORD.findall(text.casefold()), _WORD.findall(query.casefold())
    return bool(wanted) and all(any(word.startswith(one) for word in words) for one in wanted)


def likest(query: str, names: Sequence[str], most: int) -> tuple[int, ...]:
    """Places of the names that are most like a query with slips in it, best first; none where none is near.

    Each word of the query is compared with each word of the names, once; a name is as near as its nearest words are, on average.
    """
    wanted = _WORD.findall(query.casefold())
    if len(query.strip()) < 3 or not wanted:
        return ()
    words_of = [_WORD.findall(name.casefold()) for name in names]
    words = {word for own in words_of for word in own}
    tables = [_likenesses(word, words) for word in wanted]
    scores = [sum(max(map(table.__getitem__, own), default=0.0) for table in tables) for own in words_of]
    near = (place for place, score in enumerate(scores) if score >= LEAST_LIKE * len(wanted))
    return tuple(sorted(near, key=lambda place: -scores[place])[:most])


def _likenesses(wanted: str, words: Iterable[str]) -> dict[str, float]:
    """Likeness of each word to the one that is wanted; 0 where it is below `LEAST_LIKE`."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=wanted, autojunk=False)
    found = dict.fromkeys(words, 0.0)
    for word in found:
        matcher.set_seq1(word)
        ways = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # each at least the next
        likeness = 100.0
        if all((likeness := 100.0 * way()) >= LEAST_LIKE for way in ways):
            found[word] = likeness
    return found


# Days as words and as numbers: `2023-05-08`, `8.5.2023` and "8 May 2023" are found by one another. Pure.

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

_OTHERS = (
    "januar janvier enero gennaio janeiro ianuarie jan",
    "februar fevrier febrero febbraio fevereiro februarie feb",
    "marz mars marzo marco martie mar",
    "avril abril aprile aprilie apr",
    "mai mayo maggio maio",
    "juni juin junio giugno junho iunie jun",
    "juli juillet julio luglio julho iulie jul",
    "aout agosto aug",
    "septembre septiembre settembre setembro septembrie sep sept",
    "oktober octobre octubre ottobre outubro octombrie oct okt",
    "novembre noviembre novembro noiembrie nov",
    "dezember decembre diciembre dicembre dezembro decembrie dec dez",
)
"""Names of the months in other languages and for short, folded, by month."""

MONTH_OF = {name: month for month, names in enumerate(_OTHERS) for name in (MONTHS[month], *names.split())}
"""Number of a month, from 0, by its folded name."""

_ISO = late(r"(?<![\d-])(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?![\d-])")
_DAY_FIRST = late(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
_SLASHED = late(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)")
_CHINESE = late(r"(?:(\d{4})\s?年\s?)?(\d{1,2})\s?月(?:\s?(\d{1,2})\s?日)?")

_YEAR, _MONTH, _DAY = r"(?P<year>(?:19|20)\d{2})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_NAME = r"(?P<name>[^\W\d_]{3,12})\.?"
_PART = r"[ _./-]"
_ORDINAL = r"(?:st|nd|rd|th|\.)?"
_NAMED_DAYS = (
    late(rf"(?<!\d){_YEAR}(?P<sign>[-_./ ]){_MONTH}(?P=sign){_DAY}(?!\d)"),
    late(rf"(?<![\d.]){_YEAR}(?P<month>\d\d)(?P<day>\d\d)(?=(?:\d{{4}}|\d{{6}}|\d{{9}})?(?!\d))"),
    late(rf"(?<!\d){_YEAR}\s?[年년]\s?{_MONTH}\s?[月월]\s?{_DAY}\s?[日일]?"),
    late(rf"(?<![\d.]){_DAY}\.\s?{_MONTH}\.\s?{_YEAR}(?!\d)"),
    late(rf"(?<!\d){_YEAR}(?:{_PART}de)?{_PART}{_NAME}{_PART}{_DAY}{_ORDINAL}(?!\d)"),
    late(rf"{_NAME}{_PART}{_DAY}{_ORDINAL},?{_PART}{_YEAR}(?!\d)"),
    late(rf"(?<!\d){_DAY}{_ORDINAL}(?:{_PART}(?:de|of))?{_PART}{_NAME}(?:{_PART}de)?,?{_PART}{_YEAR}(?!\d)"),
    late(rf"(?<![\d/_.-])(?P<first>\d{{1,2}})(?P<sign>[-/_. ])(?P<second>\d{{1,2}})(?P=sign){_YEAR}(?!\d)"),
    late(rf"(?<!\d){_YEAR}-?W(?P<week>\d\d)-?(?P<weekday>[1-7])(?!\d)"),
)
"""Forms in which a day is written: digits with the year first, without signs (with or without a time), with the day first,
with the name of the month, with the year last, which tells the month only where the other number can be none, and
with a week of ISO 8601.
"""
_SECONDS = late(r"1\d{9}(?:\d{3})?")


def day_named(text: str) -> str:
    """The day that a text names in digits or with a month's name, as ISO 8601; empty where it names none for certain."""
    for form in _NAMED_DAYS:
        for found in form.finditer(text):
            if day := _day_of(found.groupdict()):
                return day
    return ""


def day_of_time(text: str) -> str:
    """The day of a time in seconds or milliseconds since 1970, UTC; empty for another text."""
    if _SECONDS.fullmatch(text) is None:
        return ""
    return datetime.fromtimestamp(int(text[:10]), UTC).date().isoformat()


def _day_of(parts: dict[str, str | None]) -> str:
    if parts.get("week"):
        return _day_of_week(int(parts["year"] or 0), int(parts["week"] or 0), int(parts["weekday"] or 0))
    first, second = int(parts.get("first") or 0), int(parts.get("second") or 0)
    if (first > 12) != (second > 12) or first == second != 0:
        month, day = min(first, second), max(first, second)
    elif first:
        return ""
    else:
        month, day = int(parts.get("month") or 0), int(parts["day"] or 0)
    if name := parts.get("name"):
        bare = unicodedata.normalize("NFD", name.casefold())
        month = MONTH_OF.get("".join(c for c in bare if not unicodedata.combining(c)), -1) + 1
    try:
        return date(int(parts["year"] or 0), month, day).isoformat()
    except ValueError:
        return ""


def _day_of_week(year: int, week: int, weekday: int) -> str:
    try:
        return date.fromisocalendar(year, week, weekday).isoformat()
    except ValueError:
        return ""


def day_words(date: str) -> str:
    """An ISO 8601 day or month in words: `8 may 2023`. Empty for other text."""
    found = _ISO.fullmatch(date)
    return _worded(found[1], found[2], found[3]) if found else ""


def date_words(text: str) -> str:
    """Words of all days that a text writes in numbers, in order, each once. O(n)."""
    return " ".join(dict.fromkeys(_days(text)))


def month_words(words: Collection[str]) -> tuple[str, ...]:
    """English names of the months that folded words name in another language or for short."""
    names = (MONTHS[MONTH_OF[word]] for word in words if word in MONTH_OF)
    return tuple(name for name in dict.fromkeys(names) if name not in words)


def _days(text: str) -> Iterator[str]:
    if not any("0" <= c <= "9" for c in text):
        return
    for found in _ISO.finditer(text):
        yield from _worded(found[1], found[2], found[3]).split()
    for found in _DAY_FIRST.finditer(text):
        yield from _worded(found[3], found[2], found[1]).split()
    for found in _SLASHED.finditer(text):  # a month comes first or second: the one that can be
        month, day = (found[1], found[2]) if int(found[1]) <= 12 else (found[2], found[1])
        yield from _worded(found[3], month, day).split()
    for found in _CHINESE.finditer(text):
        yield from _worded(found[1] or "", found[2], found[3]).split()


def _worded(year: str, month: str, day: str | None) -> str:
    number = int(month)
    if not 1 <= number <= 12 or (day and not 1 <= int(day) <= 31):
        return ""
    return " ".join(filter(None, (str(int(day)) if day else "", MONTHS[number - 1], year)))
