"""Secrets in files of ours: where they stand, of which kind, what cleaning does with each, and how that is told. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

import msgspec

from core.app.forgetting.forgetting_places import Folder, Place, place_of
from core.kernel.codecs import TomlError, read_json, read_toml
from core.kernel.figures import count
from core.kernel.language import tr
from core.kernel.secrets import AHEAD_CHARS, MASK, named_secrets, scrub

_ESCAPED = frozenset({".json", ".jsonl", ".journal", ".part", ".toml"})
"""Endings of files that write the end of a line as `\\n`."""


class Cure(StrEnum):
    """Ways in which a file is rid of a secret."""

    FORGET = "forget"
    SCRUB = "scrub"
    ANEW = "anew"
    BY_HAND = "by hand"


_CURES: Mapping[str, Cure] = {
    "discussions": Cure.FORGET,
    "trash": Cure.FORGET,
    "fact-table": Cure.ANEW,
    "digest": Cure.ANEW,
    "catalog": Cure.ANEW,
    "index": Cure.ANEW,
    "diagnostics": Cure.ANEW,
    "leftovers": Cure.ANEW,
    "intents": Cure.BY_HAND,
}
"""Cure of each place of the table; of those not named here, the scrubber, and of derived ones to be made anew."""

_NO_LOG = ("draft.txt", "draft.attachments.json", "queue.json", "meta.toml")
"""Files of a discussion that are written anew: what was not sent yet, and its name."""

_KEPT_BYTES = "edits"
"""Folder of a discussion that is no log: bytes of files as they were before tools wrote them. Masked, they are put back no more."""


class SecretFind(msgspec.Struct, frozen=True):
    """The place of a found secret, without the secret.

    Args:
        place: id in the table, empty for a file that the table does not know; file: below its root, without secrets.
        line: from 1, 0 in a file that has no lines; kind: of the secret, for people.
        discussion_id: of the conversation it stands in, else empty.
    """

    place: str
    root: Folder
    file: str
    line: int
    kind: str
    cure: Cure
    discussion_id: str = ""


class SecretReport(msgspec.Struct, frozen=True):
    """Outcome of a search or of a cleaning.

    Args:
        finds: in the order of files and lines; files: how many were read; problems: of what could not be, sentences.
        cleaned: how many finds are gone; of a search, 0.
    """

    finds: tuple[SecretFind, ...] = ()
    files: int = 0
    problems: tuple[str, ...] = ()
    cleaned: int = 0

    @property
    def discussion_ids(self) -> tuple[str, ...]:
        """Conversations that only forgetting rids of a secret."""
        ids = (find.discussion_id for find in self.finds if find.cure is Cure.FORGET and find.discussion_id)
        return tuple(dict.fromkeys(ids))

    @property
    def cleanable(self) -> int:
        """Number of finds that a cleaning takes out."""
        return sum(find.cure in {Cure.SCRUB, Cure.ANEW} for find in self.finds)


def cure_of(place: Place | None, name: str) -> Cure:
    """The cure of a file. `name`: below its root."""
    if place is None:
        return Cure.BY_HAND
    parts = PurePosixPath(name).parts
    if place.id == "discussions" and (parts[-1] in _NO_LOG or parts[2:3] == (_KEPT_BYTES,)):
        return Cure.SCRUB
    return _CURES.get(place.id, Cure.ANEW if place.is_derived else Cure.SCRUB)


def is_searched(root: Folder, name: str) -> bool:
    """True unless a file holds ids, numbers and hashes alone, or keys on purpose."""
    place = place_of(root, name)
    return place is None or not place.is_wordless


def finds_in(pieces: Iterable[str], name: str) -> Iterator[tuple[int, str]]:
    """Line and kind of each secret in a file, in order. O(n), one piece in memory.

    Args:
        pieces: of its text; name: says by its ending whether lines stand escaped in it.
    """
    held, line, is_last = "", 1, False
    waiting = iter(pieces)
    while not is_last:
        piece = next(waiting, None)
        is_last = piece is None
        held += piece or ""
        until = len(held) if is_last else len(held) - AHEAD_CHARS
        if until <= 0:
            continue
        until = until if is_last else held.rfind("\n", 0, until) + 1 or until
        is_text, seen = "\0" not in held, 0
        for start, end, kind in _spans(held, name):
            if start >= until:
                break
            line += held.count("\n", seen, start)
            seen, until = start, max(until, end)
            yield (line if is_text else 0), kind
        line += held.count("\n", seen, until)
        held = held[until:]


def without_secrets(data: bytes, name: str) -> bytes:
    """A file without its secrets: every other byte stays, and what could be read as JSON or TOML still can be.

    Args:
        data: bytes that are no UTF-8 stay as they are.
    """
    text = data.decode("utf-8", "surrogateescape")
    spans = _spans(text, name)
    if not spans:
        return data
    suffix = PurePosixPath(name).suffix
    if suffix in {".json", ".jsonl", ".journal", ".part"}:
        text = _json_without(text, spans)
    elif suffix in {".yaml", ".yml"}:
        text = _yaml_without(text, spans)
    elif suffix == ".toml":
        masked = _masked(text, spans)
        text = masked if _is_toml(masked) or not _is_toml(text) else text
    else:
        text = _masked(text, spans)
    return text.encode("utf-8", "surrogateescape")


_Spans = Sequence[tuple[int, int, str]]


def _spans(text: str, name: str) -> _Spans:
    found = named_secrets(text)
    if PurePosixPath(name).suffix not in _ESCAPED or "\\" not in text:
        return found
    plain = text.replace("\\\\", "\0\1")
    for mark, sign in (("\\n", " \n"), ("\\r", " \r"), ("\\t", " \t"), ('\\"', ' "')):
        plain = plain.replace(mark, sign)  # of the same length, so that places are the text's
    plain = plain.replace("\0\1", " \\")
    more = [(*_whole(text, plain, start, end), kind) for start, end, kind in named_secrets(plain)]
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in sorted([*found, *more]):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, kind))
    return merged


def _whole(text: str, plain: str, start: int, end: int) -> tuple[int, int]:
    """A place that cuts no escape in two."""

    def cuts(at: int) -> bool:
        return 0 < at < len(text) and text[at - 1] == "\\" and plain[at - 1] == " "

    return (start - 1 if cuts(start) else start), (end - 1 if cuts(end) else end)


def _masked(text: str, spans: _Spans) -> str:
    parts: list[str] = []
    done = 0
    for start, end, _ in spans:
        parts += (text[done:start], MASK)
        done = end
    return "".join((*parts, text[done:]))


def _json_without(text: str, spans: _Spans) -> str:
    """JSON in one value or in lines; where a cut would break one, its strings are scrubbed one by one."""
    masked = _masked(text, spans)
    if _is_json(text):
        return masked if _is_json(masked) else _rewritten(text)
    if masked.count("\n") != text.count("\n"):
        return "\n".join(_line_without(line) for line in text.split("\n"))
    lines = zip(text.split("\n"), masked.split("\n"), strict=True)
    return "\n".join(
        new if new == old or _is_json(new) or not _is_json(old) else _rewritten(old) for old, new in lines
    )


def _line_without(line: str) -> str:
    masked = _masked(line, _spans(line, ".jsonl"))
    return masked if _is_json(masked) or not _is_json(line) else _rewritten(line)


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_toml(text: str) -> bool:
    try:
        read_toml(text, None)
    except TomlError:
        return False
    return True


def _rewritten(text: str) -> str:
    return json.dumps(_scrubbed(read_json(text)), ensure_ascii=False, sort_keys=True)


def _scrubbed(value: object) -> object:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [_scrubbed(one) for one in value]
    if isinstance(value, dict):
        return {scrub(key): _scrubbed(one) for key, one in value.items()}
    return value


_BARE_VALUE = re.compile(r"[ \t]*(?:- )?(?:[\w-]+:[ \t]+)?")


def _yaml_without(text: str, spans: _Spans) -> str:
    """YAML: a bare value that would begin with the mask is quoted, for a bracket begins a list there."""
    parts: list[str] = []
    done = 0
    for start, end, _ in spans:
        if start < done:
            continue
        begin = text.rfind("\n", 0, start) + 1
        parts.append(text[done:start])
        if _BARE_VALUE.fullmatch(text, begin, start) and start > begin:
            until = text.find("\n", end)
            until = len(text) if until < 0 else until
            parts.append(json.dumps(MASK + scrub(text[end:until]), ensure_ascii=False))
            done = until
        else:
            parts.append(MASK)
            done = end
    return "".join((*parts, text[done:]))


def report_lines(report: SecretReport) -> Iterator[str]:
    """A line a find, then counts by kind, and what rids conversations of theirs."""
    for find in report.finds:
        yield f"{_where(find)}: {find.kind}"
    kinds = Counter(find.kind for find in report.finds)
    files = count(report.files, tr("file"), tr("files"))
    if report.cleaned:
        yield tr("Cleaned: {secrets}.", secrets=count(report.cleaned, tr("secret"), tr("secrets")))
    if not report.finds:
        yield tr("The program found no secret in {files}.", files=files)
        return
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
    places = len({(find.root, find.file) for find in report.finds})
    found = {
        "secrets": count(len(report.finds), tr("secret"), tr("secrets")),
        "places": count(places, tr("file"), tr("files")),
        "read": report.files,
        "kinds": told,
    }
    yield (
        tr("{secrets} left in {places}; the program read {read:,} in all. Kinds: {kinds}.", **found)
        if report.cleaned
        else tr("{secrets} in {places}; the program read {read:,} in all. Kinds: {kinds}.", **found)
    )
    yield from forget_lines(report)


def forget_lines(report: SecretReport) -> Iterator[str]:
    """The commands that forget conversations with secrets: a log is never rewritten."""
    if report.discussion_ids:
        yield tr(
            "The program never rewrites a log. Forget the conversation to remove the secret from every place:"
        )
        yield from (f"  manual-slop forget {one}" for one in report.discussion_ids)


def report_data(report: SecretReport) -> dict[str, object]:
    """The report as plain data, every field named."""
    return {
        "finds": [
            {
                "place": find.place,
                "root": find.root.value,
                "file": find.file,
                "line": find.line,
                "kind": find.kind,
                "cure": find.cure.value,
                "discussion_id": find.discussion_id,
            }
            for find in report.finds
        ],
        "files": report.files,
        "problems": list(report.problems),
        "cleaned": report.cleaned,
        "forget": [f"manual-slop forget {one}" for one in report.discussion_ids],
    }


def _where(find: SecretFind) -> str:
    file = find.file if find.root is Folder.HOME else f"{find.root.value}/{find.file}"
    return f"{file}:{find.line}" if find.line else file
