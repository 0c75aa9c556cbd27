"""Reaching a PostgreSQL that holds the index: every wait is bounded, and no message tells the password."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.base.figures import time_limit
from core.base.text import one_line
from core.retrieval.postgres_schema import SCHEMA_VERSION, create_schema, index_version
from core.retrieval.store import ServerFaultError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

CONNECT_S = 3.0
"""Longest wait for a connection, name look-up and log-in included."""

CREATE_S = 20.0
"""Longest wait for the tables of a new index."""

_SAID_CHARS = 200


class ServerAddress:
    """An address and where its password is found; neither `repr` nor a message tells it.

    Args:
        find: looks the password up, empty for none; may take its time.
    """

    def __init__(self, url: str, find: Callable[[], str] = str) -> None:
        self.url, self._find, self._password = url, find, ""

    def password(self) -> str:
        """The password as it is kept now."""
        self._password = self._find()
        return self._password

    def __repr__(self) -> str:
        return f"ServerAddress({self.shown!r})"

    @property
    def shown(self) -> str:
        """Host and database for a person."""
        with suppress(ValueError):
            parts = urlsplit(self.url)
            where = parts.hostname or "this machine"
            port = f":{parts.port}" if parts.port else ""
            return f"{where}{port}{parts.path}"
        return "the server"

    def fault(self, error: BaseException | str) -> ServerFaultError:
        """The error for a person, without the password."""
        said = one_line(str(error).split("\n", 1)[0], _SAID_CHARS)
        for secret in (self._password, self.url):
            said = said.replace(secret, "…") if secret else said
        return ServerFaultError(
            f"The index on {self.shown} does not answer: {said}",
            remedy="Look at `[retrieval] server` and at its password: `manual-slop key retrieval-server`",
            where=self.shown,
        )


def connect(address: ServerAddress, schema: str, dimension: int) -> Connection:
    """Connect, with the tables of a schema there.

    Raises:
        ServerFaultError: as `reach`, no pgvector, no right to make tables.
    """
    connection = reach(address)
    try:
        with bounded(connection, address, CONNECT_S):
            row = connection.execute("SELECT to_regclass(%s)", (f"{schema}.shelf",)).fetchone()
        if row == (None,):
            with bounded(connection, address, CREATE_S), connection.transaction():
                number = int.from_bytes(hashlib.sha256(schema.encode()).digest()[:7])
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (number,))
                create_schema(connection, schema, dimension)
        with bounded(connection, address, CONNECT_S):
            _prepare(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def index_schemas(address: ServerAddress) -> tuple[str, ...]:
    """Every index of this version that a server has, one for each model.

    Indexes of earlier versions that are this role's own go whole: nobody reads them any more, and their words would stay.

    Raises:
        ServerFaultError: as `reach`.
    """
    connection = reach(address)
    try:
        with bounded(connection, address, CONNECT_S):
            rows = connection.execute(
                "SELECT nspname, pg_has_role(nspowner, 'USAGE') FROM pg_namespace ORDER BY nspname"
            ).fetchall()
            for name, is_own in rows:
                if is_own and 0 < index_version(name) < SCHEMA_VERSION:
                    connection.execute(f"DROP SCHEMA {name} CASCADE".encode())
    finally:
        connection.close()
    return tuple(name for name, _ in rows if index_version(name) == SCHEMA_VERSION)


def reach(address: ServerAddress) -> Connection:
    """Connect.

    Raises:
        ServerFaultError: refused, silent for `CONNECT_S`, a wrong password.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise ServerFaultError(
            "The packages for an index on a server are not installed",
            remedy="Install manual-slop[postgres]",
        ) from error
    done: list[Connection] = []
    failed: list[BaseException] = []
    is_late = threading.Event()

    def work() -> None:
        try:
            connection = _connected(address)
            if is_late.is_set():
                connection.close()
            done.append(connection)
        except BaseException as error:  # noqa: BLE001 (told to the one who waits)
            failed.append(error)

    thread = threading.Thread(target=work, name="index server", daemon=True)
    thread.start()
    thread.join(CONNECT_S)
    if failed:
        raise address.fault(failed[0]) from None
    if not done:
        is_late.set()
        raise address.fault(f"no answer within {time_limit(CONNECT_S)}")
    return done[0]


@contextmanager
def bounded(connection: Connection, address: ServerAddress, seconds: float) -> Iterator[None]:
    """Cut the connection when what is done with it takes longer.

    Raises:
        ServerFaultError: that, or any other error of the server's.
    """
    import psycopg

    is_late = threading.Event()

    def cut() -> None:
        is_late.set()
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (psycopg.Error, OSError, ValueError) as error:
        raise address.fault(
            f"no answer within {time_limit(seconds)}" if is_late.is_set() else error
        ) from None
    finally:
        timer.cancel()


def _connected(address: ServerAddress) -> Connection:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(address.url)
    except psycopg.Error:
        raise ValueError("its address cannot be read") from None
    if given.pop("password", None):
        raise ValueError("its address holds a password, which belongs into the keyring")
    given |= {"connect_timeout": str(int(CONNECT_S)), "application_name": "manual-slop"}
    if password := address.password():
        given["password"] = password
    return psycopg.connect(make_conninfo("", **given), autocommit=True)


def _prepare(connection: Connection, schema: str) -> None:
    from pgvector.psycopg import register_vector

    row = connection.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    of_vectors = str(row[0]) if row else "public"
    connection.execute("SELECT set_config('search_path', %s, false)", (f'{schema}, "{of_vectors}"',))
    connection.execute("SELECT set_config('jit', 'off', false)")  # compiling a search takes longer than it
    connection.execute(
        "SELECT set_config('work_mem', '64MB', false)"
    )  # a million scores are sorted in memory
    register_vector(connection)
