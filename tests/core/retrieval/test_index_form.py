"""What an index keeps of a file: made anew where the program reads files in another way than the one that made it."""

from __future__ import annotations

import hashlib
import sqlite3

import msgspec

from core.retrieval.front_matter import note_head, note_names
from core.retrieval.index_file import FILE_NAME, note_reading
from core.retrieval.sources import READING
from tests.core.retrieval.test_brought_note_programs import NOTES
from tests.core.retrieval.test_navigation_worker import Room

ROWS = 87
KNOWN = (12, "ed1d2ed32d751f37cdc0dd4285ef568c1be62a53ab097263554d349893664880")
"""Form of reading, and the digest of the heads that it makes of the first rows of `NOTES`. If only the digest differs, raise
`READING` and write down both."""


def test_heads_change_with_the_number_of_their_reading_alone() -> None:
    made = [(note_head(one.text, one.name), note_names(one.text, one.name)) for one in NOTES[:ROWS]]
    assert (READING, hashlib.sha256(msgspec.json.encode(made)).hexdigest()) == KNOWN


def test_an_index_of_an_older_reading_gets_the_new_heads_at_its_next_run(room: Room) -> None:
    room.index()
    (file,) = room.home.parent.glob(f"**/{FILE_NAME}")
    with sqlite3.connect(
        file
    ) as db:  # as the program before left it: other heads, the same file, stamps and hashes
        db.execute("UPDATE source SET title = 'An old head', tags = ''")
        note_reading(db, repr((READING - 1,)))
        db.execute("UPDATE source SET stamp = 'as now'")
    db.close()
    assert room.index().read == 1
    assert [hit.title for hit in room.search("gateway retries").hits] == ["Retry policy"]
    assert (room.index().read, room.index().unchanged) == (0, 1)
