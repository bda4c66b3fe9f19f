"""What a killed server leaves open, and many writers at once: real processes, a real file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from console.audit_processes import killed_at, run

from memories.console.audit_chain import chain_key
from memories.console.audit_check import check
from memories.console.audit_process import is_running, this_process
from memories.settings import load_settings

BEFORE_THE_STORE = """
with recorded_as(WHO, "add", note="cut off") as event:
    print("there", flush=True)
    threading.Event().wait()
"""

AFTER_THE_STORE = """
with recorded_as(WHO, "add", note="cut off") as event:
    repository().add(PAYLOAD, event.author)
    print("there", flush=True)
    threading.Event().wait()
"""

RECONCILES = """
import json
from memories.console.audit_models import AuditEvent
from memories.console.audit_reconcile import reconcile
found = reconcile()
event = AuditEvent.objects.select_related("completion").get()
end = event.completion
again = reconcile()
print(json.dumps({
    "done": found.done == (event.operation_id,), "not_done": found.not_done == (event.operation_id,),
    "result": end.result, "stored": end.stored, "recovered": end.recovered,
    "stored_memories": repository().count(), "again": [*again.done, *again.not_done],
}))
"""

MANY_WRITE_BESIDE_A_READER = """
THREADS, EACH = 8, 25
problems, reading, done = [], threading.Event(), threading.Event()

def read():
    with connection.cursor() as cursor:
        cursor.connection.execute("BEGIN DEFERRED")
        before = cursor.connection.execute("SELECT count(*) FROM memories_audit_event").fetchone()
        reading.set()
        done.wait(100)
        after = cursor.connection.execute("SELECT count(*) FROM memories_audit_event").fetchone()
        cursor.connection.execute("COMMIT")
        if before != after:
            problems.append("the reader's state moved")
    connection.close()

def write(number):
    reading.wait(100)
    try:
        for turn in range(EACH):
            with recorded_as(WHO, "add_tags", ids=[f"m-{number}-{turn}"], note="n") as event:
                event.complete(unchanged=1)
    except Exception as problem:
        problems.append(repr(problem))
    finally:
        connection.close()

reader = threading.Thread(target=read)
writers = [threading.Thread(target=write, args=(number,)) for number in range(THREADS)]
for thread in (reader, *writers): thread.start()
for thread in writers: thread.join()
done.set()
reader.join()
print(problems)
"""


@pytest.mark.parametrize(
    ("script", "result", "memories"), [(BEFORE_THE_STORE, "not_done", 0), (AFTER_THE_STORE, "done", 1)]
)
def test_what_a_kill_left_open_is_settled_by_what_the_store_knows(
    script: str, result: str, memories: int, tmp_path: Path
) -> None:
    killed_at("there", script, tmp_path / "home")

    found = json.loads(run(RECONCILES, tmp_path / "home"))

    assert found == {
        "done": result == "done",
        "not_done": result == "not_done",
        "result": result,
        "stored": result == "done",
        "recovered": True,
        "stored_memories": memories,
        "again": [],
    }


def test_what_a_process_still_does_is_left_to_it(tmp_path: Path) -> None:
    script = """
from memories.console.audit_reconcile import reconcile
with recorded_as(WHO, "add") as event:
    print(reconcile().running == (event.operation_id,))
    event.complete()
print(reconcile())
"""

    assert run(script, tmp_path / "home").splitlines() == [
        "True",
        "Reconciled(done=(), not_done=(), running=())",
    ]


def test_eight_threads_write_one_chain_beside_a_long_reader(tmp_path: Path) -> None:
    home = tmp_path / "home"

    assert run(MANY_WRITE_BESIDE_A_READER, home).strip() == "[]"

    settings = load_settings(hermes_home=home)
    found = check(settings.console_db, chain_key(settings.secret_file.read_text().strip()))
    assert (found.rows, found.faults) == (400, [])


def test_a_later_process_with_the_same_number_is_not_taken_for_the_first() -> None:
    pid, started, boot = this_process().split(":")

    assert is_running(this_process())
    if started:
        assert not is_running(f"{pid}:{int(started) - 1}:{boot}")
    assert not is_running(f"{2**22 + 1}:1:{boot}")
    assert not is_running("")
