"""Three-way sync of YAML files and index: reads what changed, settles each fact, writes only what must; every file validated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, make_dirs
from core.kernel.language import tr
from core.kernel.machine import uncollected
from core.kernel.values.facts import Fact, FactProblem, IndexedFact
from core.knowledge.facts.fact_checks import FactPlace, file_of, id_parts, place_of
from core.knowledge.facts.fact_file import FactFile, FactItem, broken, parse_file
from core.knowledge.facts.fact_files import (
    RULES,
    FileMemory,
    StoredFile,
    StoredFiles,
    SyncTable,
    ensure_schema,
    item_hashes,
    read_files,
    read_index_bytes,
    read_stored,
    read_table,
    write_index,
    write_table,
)
from core.knowledge.facts.fact_index import (
    FactNews,
    FactNewsKind,
    Past,
    checked_index,
    harvests_since,
    index_bytes,
    next_expiry,
    next_id,
    raised,
    read_index,
    read_row,
    row_bytes,
    total_facts,
)
from core.knowledge.facts.fact_merge import (
    QUIET,
    FactUnion,
    FactVerdict,
    content_hash,
    decayed,
    held_fact,
    indexed,
    news_of,
    plain_fact,
    settle,
    united,
)
from core.knowledge.facts.item_edit import with_facts

# Sync of YAML files and index: reads what changed, settles each fact, writes only what differs; twice
# changes no byte.


class PastReader(Protocol):
    """Reads the past of the facts, whole only where it is needed."""

    def stamp(self) -> str:
        """Text that changes with ledger and logs."""
        ...

    def read(self) -> Past:
        """Read the earlier state of the facts from disk. Raises SlopError where a file cannot be read."""
        ...


class SyncRequest(msgspec.Struct, frozen=True):
    """One sync. The caller holds the lock of knowledge's writes.

    Args:
        now: aware, for `last_updated` and what is stale; past: of ledger and logs.
        change: rewrites a file that a person may save at the same moment; tell: keeps news in the events.
        ours: ids that the program itself has just written, which are no news; None: nothing is.
    """

    home: Path
    now: datetime
    past: PastReader
    change: Callable[[Path, Callable[[bytes], bytes]], bytes]
    tell: Callable[[Sequence[FactNews]], None]
    ours: frozenset[str] | None = frozenset()
    disk: Disk = OS_DISK


class SyncReport(msgspec.Struct, frozen=True):
    """Outcome of a sync.

    Args:
        total: facts in the index; changed: rows of it that differ from before; written: files of facts that were.
        problems: of all files, by file and line.
        left: items, each `file:line: words`, that say what their facts, which were edited by hand, do not.
    """

    total: int = 0
    changed: int = 0
    written: tuple[str, ...] = ()
    problems: tuple[FactProblem, ...] = ()
    left: tuple[str, ...] = ()


def sync(request: SyncRequest) -> SyncReport:
    """Bring files and index in step.

    Raises:
        StorageError: files and index are each whole, and the next sync goes on. Nothing is lost.
    """
    stored = read_files(request.home)
    data = read_index_bytes(request.home)
    table = read_table(request.home)
    begun = _Begun(
        stored=stored,
        index_data=data,
        index_sha256=hashlib.sha256(data).hexdigest(),
        table=table,
        stamp=request.past.stamp(),
    )
    day = request.now.date().isoformat()
    if table is not None and begun.is_same and table.day <= day <= (table.fresh_until or day):
        return SyncReport(total=total_facts(data), problems=_problems(table))
    if table is None and not stored.files and not data:
        return SyncReport(problems=stored.problems)
    with uncollected():
        return _Sync(request, begun, day).run()


class _Begun(msgspec.Struct, frozen=True):
    """Everything that a sync starts from."""

    stored: StoredFiles
    index_data: bytes
    index_sha256: str
    table: SyncTable | None
    stamp: str

    @property
    def is_index_ours(self) -> bool:
        table = self.table
        return table is not None and table.rules == RULES and table.index_sha256 == self.index_sha256

    @property
    def is_past_same(self) -> bool:
        return self.table is not None and self.table.past == self.stamp

    @property
    def is_same(self) -> bool:
        return self.is_index_ours and self.is_past_same and not self.changed

    @property
    def changed(self) -> frozenset[str]:
        """Names of files that came, went, or hold other bytes."""
        before = {} if self.table is None else {n: f.sha256 for n, f in self.table.files.items()}
        now = {name: file.sha256 for name, file in self.stored.files.items()}
        unread = {name for name, file in self.stored.files.items() if file.problem}
        known = {} if self.table is None else self.table.files
        is_news = {n for n in unread if n not in known or not known[n].problems}
        return frozenset(n for n in before.keys() | now.keys() if before.get(n) != now.get(n)) | is_news


class _Sync:
    """One sync that has something to do."""

    def __init__(self, request: SyncRequest, begun: _Begun, day: str) -> None:
        self._request, self._begun, self._day = request, begun, day
        self._table = begun.table or SyncTable()
        self._files = dict(begun.stored.files)
        self._past: Past | None = None
        self._news: list[FactNews] = []
        self._is_partial = begun.is_index_ours
        self._index = (read_index if self._is_partial else checked_index)(begun.index_data)
        self._followed: set[str] = set()

    def run(self) -> SyncReport:
        """Settle what changed, write, remember."""
        touched = self._touched()
        before, rest = self._split(touched)
        parsed = {
            name: self._parsed(name)
            for name in self._files
            if touched is None or _place(name).domain in touched
        }
        union = self._united(parsed)
        if self._follow_items(parsed, union, touched):
            union = self._united(parsed)
        verdicts = self._settled(union, before)
        written = self._write_back(parsed, union, before, verdicts)
        if written:
            union = self._united(parsed)
        rows = self._rows(union, before, verdicts)
        highest = self._highest(union, before)
        whole, changed = self._whole(rows, rest)
        if self._news:
            self._request.tell(self._news)
        data = self._write_index(whole, changed)
        problems = tuple(sorted(set(self._begun.stored.problems) | set(self._index.problems), key=_by_place))
        table = self._remember(parsed, union, data, whole, highest, problems)
        return SyncReport(total=len(whole), changed=changed, written=written, problems=_problems(table))

    def _touched(self) -> frozenset[str] | None:
        """Domains whose files changed; None: all, since the index was changed by somebody else."""
        if not self._is_partial:
            return None
        domains = {_place(name).domain for name in self._begun.changed}
        if not self._begun.is_past_same:
            domains |= {fact_id.partition(":")[0] for fact_id in self._pending(self._read_past())}
        return frozenset(domains)

    def _pending(self, past: Past) -> Iterable[str]:
        """Ids and series of facts that take on their item's words, or are to be written at last."""
        yield from (one.series for one in past.held)
        for fact_id, reword in past.rewords.items():
            row = self._index.rows.get(fact_id)
            if row is not None and read_row(row).text in reword.was:
                yield fact_id

    def _united(self, parsed: Mapping[str, FactFile]) -> FactUnion:
        """The files as one, without facts that a person forgot: these come back from no file."""
        union = united(parsed.values())
        forgotten = self._read_past().forgotten & union.facts.keys() if union.facts else ()
        if not forgotten:
            return union
        kept = {key: fact for key, fact in union.facts.items() if key not in forgotten}
        items = {(name, item.id): item for name, file in parsed.items() for item in file.items}
        told = tuple(
            _forgotten_problem(union.names[key], items[union.names[key], key]) for key in sorted(forgotten)
        )
        return msgspec.structs.replace(union, facts=kept, doubled=(*union.doubled, *told))

    def _follow_items(
        self, parsed: dict[str, FactFile], union: FactUnion, touched: frozenset[str] | None
    ) -> bool:
        """Write what the items say of their facts: new words, and facts that waited for their file. True if any."""
        past = self._read_past()
        wanted: dict[str, list[Fact]] = {}
        for key, reword in past.rewords.items():
            fact = union.facts.get(key)
            row = self._index.rows.get(key)
            is_older = row is not None and read_row(row).text == reword.now  # a person changed the file since
            if fact is not None and fact.text in reword.was and not is_older:
                self._followed.add(key)
                wanted.setdefault(union.names[key], []).append(msgspec.structs.replace(fact, text=reword.now))
        highest = raised(self._table.highest, [*union.ids, *self._index.rows])
        for series, value in past.highest.items():
            highest[series] = max(highest.get(series, 0), value)
        there = {(fact.id.rpartition(":")[0], fact.text): fact.id for fact in union.facts.values()}
        for one in past.held:
            made = held_fact(one, there.get((one.series, one.text)) or next_id(highest, one.series))
            name = _home_of(made, self._files)
            is_read = touched is None or made.domain in touched
            if not is_read or (name in parsed and parsed[name].is_broken):
                continue
            self._followed.add(made.id)
            self._news.append(
                FactNews(kind=FactNewsKind.MADE_UP, fact_id=made.id, text=made.text, item=one.item)
            )
            if made.id not in union.facts:
                highest = raised(highest, [made.id])
                there[one.series, one.text] = made.id
                wanted.setdefault(name, []).append(made)
        self._write(parsed, wanted)
        return bool(wanted)

    def _split(self, touched: frozenset[str] | None) -> tuple[dict[str, IndexedFact], dict[str, bytes]]:
        """Rows of the index that are settled anew, and those that stay as they are."""
        mine: dict[str, IndexedFact] = {}
        rest: dict[str, bytes] = {}
        for key, row in self._index.rows.items():
            if touched is None or key.partition(":")[0] in touched:
                mine[key] = read_row(row)
            else:
                rest[key] = row
        return mine, rest

    def _parsed(self, name: str) -> FactFile:
        file, place = self._files[name], _place(name)
        return broken(place, 1, file.problem) if file.problem else parse_file(place, file.data)

    def _settled(self, union: FactUnion, before: Mapping[str, IndexedFact]) -> dict[str, FactVerdict]:
        """Verdicts by id; news where files and index did not agree."""
        has_base = self._begun.table is not None
        seen = self._seen(union)
        verdicts = {}
        for key in sorted(union.facts.keys() | before.keys()):
            fact, row = union.facts.get(key), before.get(key)
            verdict = settle(fact, row, seen.get(key), is_held=union.holds(key), has_base=has_base)
            verdicts[key] = verdict
            if verdict is FactVerdict.FILE_WINS and not has_base:
                verdict = FactVerdict.TAKE_FILE  # what the index said last is all that is known of before
            is_news = has_base or (verdict is FactVerdict.TAKE_FILE and row is not None)
            if verdict not in QUIET and is_news and not self._is_ours(key, fact, row):
                self._news += news_of(verdict, key, fact, row, was_seen=key in seen)
        return verdicts

    def _is_ours(self, key: str, fact: Fact | None, row: Fact | None) -> bool:
        """True if the program wrote this itself: it says so now, or the logs told the same before (after a crash)."""
        if self._request.ours is None or key in self._request.ours or key in self._followed:
            return True
        if key in self._read_past().forgotten:
            return True
        if fact is None or (row is not None and row.text != fact.text):
            return False
        at = self._read_past().told.get(key, "")
        return bool(at) and self._table.told_at < at and at[:10] == fact.last_confirmed

    def _seen(self, union: FactUnion) -> dict[str, bytes]:
        """Hashes of the last sync, of the files that are settled anew."""
        names = {name for name in self._table.files if _place(name).domain in union.domains}
        names |= self._begun.changed & self._table.files.keys()
        if not self._is_partial:
            names = set(self._table.files)
        found: dict[str, bytes] = {}
        for name in sorted(names):
            found |= self._table.files[name].hashes
        return found

    def _write_back(
        self,
        parsed: dict[str, FactFile],
        union: FactUnion,
        before: Mapping[str, IndexedFact],
        verdicts: Mapping[str, FactVerdict],
    ) -> tuple[str, ...]:
        """Write items that the index alone changed or has. Returns the files that were written."""
        wanted: dict[str, list[Fact]] = {}
        for key, verdict in verdicts.items():
            if verdict in {FactVerdict.TAKE_INDEX, FactVerdict.ADD_TO_FILE}:
                fact = plain_fact(before[key])
                name = union.names.get(key) or _home_of(fact, self._files)
                wanted.setdefault(name, []).append(fact)
        self._write(parsed, wanted)
        return tuple(sorted(wanted))

    def _write(self, parsed: dict[str, FactFile], wanted: Mapping[str, list[Fact]]) -> None:
        """Have facts in their files."""
        for name, facts in wanted.items():
            place = _place(name)
            path = paths.knowledge_dir(self._request.home) / name
            make_dirs(path.parent, disk=self._request.disk)
            self._request.change(path, lambda data: with_facts(place, data, facts, self._day))  # noqa: B023
            self._files[name] = read_stored(path)
            parsed[name] = self._parsed(name)

    def _rows(
        self, union: FactUnion, before: Mapping[str, IndexedFact], verdicts: Mapping[str, FactVerdict]
    ) -> dict[str, bytes]:
        past = self._read_past()
        rows = {
            key: row_bytes(self._indexed(fact, past, before.get(key))) for key, fact in union.facts.items()
        }
        for key, verdict in verdicts.items():
            if verdict is FactVerdict.HOLD and key not in rows:
                rows[key] = row_bytes(self._indexed(plain_fact(before[key]), past, before[key], held=True))
        return rows

    def _indexed(
        self, fact: Fact, past: Past, before: IndexedFact | None, *, held: bool = False
    ) -> IndexedFact:
        harvests = harvests_since(fact, past)
        is_stale = bool(fact.expires) and fact.expires < self._day
        was = before is not None and before.withdrawn
        is_withdrawn = was if past.withdrawn is None else fact.id in past.withdrawn
        edited = (FactNewsKind.EDITED, fact.id)
        if was and is_withdrawn and any((one.kind, one.fact_id) == edited for one in self._news):
            is_withdrawn = False  # it stands on the person's own word from now on
        elif before is not None and is_withdrawn != was:
            kind = FactNewsKind.WITHDRAWN if is_withdrawn else FactNewsKind.RETURNED
            self._news.append(FactNews(kind=kind, fact_id=fact.id, text=fact.text))
        effective = decayed(fact.confidence, harvests)
        return indexed(fact, harvests, effective, stale=is_stale, held=held, withdrawn=is_withdrawn)

    def _whole(self, rows: dict[str, bytes], rest: dict[str, bytes]) -> tuple[dict[str, bytes], int]:
        """All rows of the new index, and how many of them differ from the old one's."""
        is_recount = not self._begun.is_past_same or self._table.day > self._day
        if is_recount or (self._table.fresh_until and self._day > self._table.fresh_until):
            past = self._read_past()
            for key, row in rest.items():
                fact = read_row(row)
                rows[key] = row_bytes(self._indexed(plain_fact(fact), past, fact, held=fact.held))
        else:
            rows = rest | rows
        old = self._index.rows
        changed = sum(1 for key, row in rows.items() if old.get(key) != row)
        return rows, changed + sum(1 for key in old if key not in rows)

    def _write_index(self, rows: Mapping[str, bytes], changed: int) -> bytes:
        """Write the index where its bytes differ. `last_updated` changes only when a fact did."""
        last = self._index.last_updated
        if changed or not last or not _is_time(last):
            last = self._request.now.isoformat(timespec="seconds").replace("+00:00", "Z")
        data = index_bytes(rows, last)
        ensure_schema(self._request.home, disk=self._request.disk)
        if data != self._begun.index_data:
            write_index(self._request.home, data, disk=self._request.disk)
        return data

    def _highest(self, union: FactUnion, before: Mapping[str, IndexedFact]) -> dict[str, int]:
        """The highest numbers given; what ledger and logs do not know of them is news."""
        told = self._read_past().highest if self._begun.table is None or union.ids else {}
        known = dict(self._table.highest)
        for series, value in told.items():
            known[series] = max(known.get(series, 0), value)
        found = raised(known, [*union.ids, *before])
        for series, value in sorted(found.items()):
            if value > known.get(series, 0) and value > told.get(series, 0):
                fact_id = f"{series}:{value:03d}"
                if all(one.fact_id != fact_id for one in self._news):
                    fact = union.facts.get(fact_id)
                    self._news.append(
                        FactNews(kind=FactNewsKind.ADDED, fact_id=fact_id, text=fact.text if fact else "")
                    )
        return found

    def _read_past(self) -> Past:
        if self._past is None:
            self._past = self._request.past.read()
        return self._past

    def _remember(
        self,
        parsed: Mapping[str, FactFile],
        union: FactUnion,
        index_data: bytes,
        rows: Mapping[str, bytes],
        highest: Mapping[str, int],
        problems: tuple[FactProblem, ...],
    ) -> SyncTable:
        """Keep what this sync saw; told news are in the logs by now, whose stamp is taken anew."""
        old = self._table.files
        files = {name: old[name] for name in self._files if name in old and name not in parsed}
        for name, file in parsed.items():
            twice = tuple(one for one in union.doubled if one.file == name)
            files[name] = _memory(file, self._files[name], rows, twice)
        table = SyncTable(
            index_sha256=hashlib.sha256(index_data).hexdigest(),
            day=self._day,
            fresh_until=next_expiry(rows, self._day),
            past=self._request.past.stamp(),
            told_at=max(self._table.told_at, self._request.now.isoformat()),
            rules=RULES,
            files=files,
            highest=highest,
            problems=problems,
        )
        write_table(self._request.home, table)
        return table


def _memory(
    file: FactFile, stored: StoredFile, rows: Mapping[str, bytes], twice: tuple[FactProblem, ...]
) -> FileMemory:
    """A file as the next sync wants to know it. A broken item's hash is of what the index holds of it."""
    hashes = [(item.id, content_hash(item.fact)) for item in file.items if item.fact is not None]
    there = {key for key, _ in hashes}
    held = {item.id for item in file.items if item.fact is None and item.id} - there
    if file.is_broken or any(not item.id for item in file.items):
        held |= {key for key in rows if _belongs(key, file.place)} - there
    hashes += [(key, content_hash(read_row(rows[key]))) for key in sorted(held) if key in rows]
    return FileMemory(
        size_bytes=stored.size_bytes,
        mtime_ns=stored.mtime_ns,
        sha256=stored.sha256,
        items=item_hashes(hashes),
        problems=(*file.problems, *twice),
    )


def _belongs(key: str, place: FactPlace) -> bool:
    category = "" if place.category is None else place.category.value
    return key.startswith(f"{place.domain}:{category}:" if category else f"{place.domain}:")


def _home_of(fact: Fact, files: Iterable[str]) -> str:
    """The file of a fact that stands in none: the one of its domain that is there, else a repository's."""
    there = (name for name in files if _place(name).domain == fact.domain)
    name = file_of(fact.domain, fact.category)
    return (
        name
        if name in files
        else next((one for one in there if _place(one).category in {None, fact.category}), name)
    )


def _forgotten_problem(name: str, item: FactItem) -> FactProblem:
    said = tr("you forgot {id}, so it does not come back; remove its lines from the file", id=item.id)
    return FactProblem(file=name, line=item.line, text=said)


def _place(name: str) -> FactPlace:
    place = place_of(name)
    assert place is not None, name
    return place


def _problems(table: SyncTable) -> tuple[FactProblem, ...]:
    found = [problem for file in table.files.values() for problem in file.problems]
    return tuple(sorted([*found, *table.problems], key=_by_place))


def _by_place(problem: FactProblem) -> tuple[str, int, str]:
    return problem.file, problem.line, problem.text


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


# Validation of all files of facts: every rule, with file and line; nothing is written.


def validate(home: Path) -> tuple[FactProblem, ...]:
    """Check every file of facts and the index against the rules of `SCHEMA.md`. O(bytes).

    Returns:
        Everything that is wrong, by file and line; warnings among it.

    Raises:
        StorageError: a folder or the index cannot be read.
    """
    stored = read_files(home)
    files = []
    for name, file in stored.files.items():
        place = place_of(name)
        assert place is not None
        files.append(broken(place, 1, file.problem) if file.problem else parse_file(place, file.data))
    union = united(files)
    found = [problem for file in files for problem in file.problems]
    found += [*stored.problems, *union.doubled, *checked_index(read_index_bytes(home)).problems]
    found += [problem for file in files for problem in unknown_relations(file, union)]
    return tuple(sorted(found, key=lambda one: (one.file, one.line, one.text)))


def unknown_relations(file: FactFile, union: FactUnion) -> list[FactProblem]:
    """Warnings of relations to facts that are not there."""
    return [
        FactProblem(
            file=file.place.name,
            line=item.line,
            text=tr("the field `related` names {one}, which does not exist", one=one),
            is_warning=True,
        )
        for item in file.items
        if item.fact is not None and item.fact.related
        for one in item.fact.related
        if one not in union.ids and id_parts(one) is not None
    ]
