"""The console's own database under threads: nobody is told that it is locked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from pytest_django import DjangoDbBlocker

THREADS, WRITES = 8, 40


@pytest.fixture
def handler(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[ConnectionHandler]:
    """The site's database settings on a file of its own: tests' own database lives in memory."""
    database = settings.DATABASES["default"] | {"NAME": tmp_path / "console.db"}
    with django_db_blocker.unblock():
        yield ConnectionHandler({"default": database})


@contextmanager
def immediate(connection: BaseDatabaseWrapper) -> Iterator[Any]:
    """What ``transaction.atomic`` does on a connection that is not one of Django's registered ones."""
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    try:
        with connection.cursor() as cursor:
            yield cursor
        connection.commit()
    finally:
        connection.set_autocommit(True)


def test_eight_threads_write_beside_a_long_reader(handler: ConnectionHandler) -> None:
    with handler["default"].cursor() as cursor:
        cursor.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, thread INTEGER, previous INTEGER)")
        cursor.execute("INSERT INTO event (thread, previous) VALUES (-1, 0)")
    reading, done = threading.Event(), threading.Event()

    def read() -> int:
        connection = handler["default"]
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT count(*) FROM event")
            seen = int(cursor.fetchone()[0])
            reading.set()
            assert done.wait(60)
            cursor.execute("SELECT count(*) FROM event")
            again = int(cursor.fetchone()[0])
            cursor.execute("COMMIT")
        connection.close()
        return again - seen

    def write(thread: int) -> None:
        # As an audit event is written: read the last one, then add the next, in one transaction.
        connection = handler["default"]
        assert reading.wait(60)
        for _ in range(WRITES):
            with immediate(connection) as cursor:
                cursor.execute("SELECT max(id) FROM event")
                last = cursor.fetchone()[0]
                cursor.execute("INSERT INTO event (thread, previous) VALUES (%s, %s)", [thread, last])
        connection.close()

    with ThreadPoolExecutor(THREADS + 1) as pool:
        reader = pool.submit(read)
        writers = [pool.submit(write, thread) for thread in range(THREADS)]
        for writer in writers:
            writer.result()
        done.set()
        assert reader.result() == 0  # one state throughout, as WAL gives it

    with handler["default"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM event JOIN event AS before ON before.id = event.previous")
        assert cursor.fetchone()[0] == THREADS * WRITES
        cursor.execute("SELECT count(DISTINCT previous) FROM event")
        assert cursor.fetchone()[0] == THREADS * WRITES + 1
    handler["default"].close()
