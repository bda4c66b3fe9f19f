"""The spool: durable, bounded, and taken up after a death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memories.capture.line import LineError, SpoolLine
from memories.capture.spool import Spool, SpoolFile, files_in, spool_folder
from memories.settings import Settings
from tests.capture.conftest import LineMaker

_OTHER_PROCESS = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memories.capture.line import SpoolLine
from memories.capture.spool import Spool

spool = Spool(Path(sys.argv[1]))
for number in range(3):
    spool.append(SpoolLine(str(number), "exchange", f"said {number}", "", datetime.now(UTC)))
print("written", flush=True)
sys.stdin.readline()
"""


def _said(file: SpoolFile) -> list[str]:
    batch = file.batch(1000)
    return [] if batch is None else [waiting.line.user_text for waiting in batch.waiting]


def _own(spool: Spool) -> SpoolFile:
    return list(spool.files())[-1]


def _another_process(folder: Path) -> subprocess.Popen[str]:
    """A process that has written three lines and holds its spool file."""
    process = subprocess.Popen(
        [sys.executable, "-c", _OTHER_PROCESS, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


def test_a_line_comes_back_as_it_was(line: LineMaker) -> None:
    written = line("Grüße\nfrom «here» \u2028 \U0001f600", target="user", retires="old", truncated=True)
    assert SpoolLine.parse(written.as_bytes()) == written
    assert written.as_bytes().count(b"\n") == 1


@pytest.mark.parametrize(
    "broken", [b"", b"{", b"[]", b'{"v": 1}', b'{"v": 2, "kind": "exchange"}', b"\xff\xfe", b"null"]
)
def test_what_is_not_a_whole_line_is_refused(broken: bytes) -> None:
    with pytest.raises(LineError):
        SpoolLine.parse(broken)


def test_lines_are_on_the_disk_when_append_returns(spool: Spool, line: LineMaker, settings: Settings) -> None:
    assert spool.append(line("first"))
    (path,) = files_in(spool_folder(settings.db_path))
    assert path.name == f"{os.getpid()}.jsonl"
    assert json.loads(path.read_text())["user"] == "first"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_batch_goes_on_where_the_last_one_ended(spool: Spool, line: LineMaker) -> None:
    for said in ("one", "two", "three"):
        spool.append(line(said))
    file = _own(spool)
    first = file.batch(2)
    assert first is not None
    file.filed(first.end)
    assert _said(file) == ["three"]
    spool.append(line("four"))
    assert _said(file) == ["three", "four"]


def test_a_finished_file_goes_and_the_next_line_makes_another(spool: Spool, line: LineMaker) -> None:
    spool.append(line("one"))
    file = _own(spool)
    batch = file.batch(10)
    assert batch is not None
    file.filed(batch.end)
    spool.finish(file)
    assert spool.is_empty()
    assert spool.bytes_waiting() == 0
    spool.append(line("two"))
    assert _said(_own(spool)) == ["two"]


def test_a_line_that_came_meanwhile_keeps_the_file(spool: Spool, line: LineMaker) -> None:
    spool.append(line("one"))
    file = _own(spool)
    batch = file.batch(10)
    assert batch is not None
    file.filed(batch.end)
    spool.append(line("two"))
    spool.finish(file)
    assert _said(_own(spool)) == ["two"]


def test_the_mark_of_an_earlier_file_of_that_name_says_nothing(spool: Spool, line: LineMaker) -> None:
    spool.append(line("one"))
    file = _own(spool)
    batch = file.batch(10)
    assert batch is not None
    file.filed(batch.end)
    file.path.unlink()  # and not its mark: the moment between the two, where a kill may fall
    spool.close()
    spool.append(line("another, and longer than the first"))
    assert _said(_own(spool)) == ["another, and longer than the first"]


def test_beyond_the_bound_a_turn_is_refused(settings: Settings, line: LineMaker) -> None:
    size = len(line("one").as_bytes())
    spool = Spool(spool_folder(settings.db_path), most_bytes=2 * size + 10)
    assert [spool.append(line("one")) for _ in range(3)] == [True, True, False]
    assert spool.bytes_waiting() == 2 * size
    spool.close()


def test_what_a_living_process_writes_is_left_to_it(spool: Spool, settings: Settings) -> None:
    process = _another_process(spool_folder(settings.db_path))
    try:
        assert list(spool.files()) == []
        assert spool.bytes_waiting() > 0
    finally:
        process.communicate("\n")


def test_what_a_killed_process_left_is_taken_up(spool: Spool, line: LineMaker, settings: Settings) -> None:
    folder = spool_folder(settings.db_path)
    process = _another_process(folder)
    process.send_signal(signal.SIGKILL)
    process.wait()
    spool.append(line("mine"))
    said = []
    for file in spool.files():
        said.append(_said(file))
        batch = file.batch(10)
        assert batch is not None
        file.filed(batch.end)
        spool.finish(file)
    assert said == [["said 0", "said 1", "said 2"], ["mine"]]
    assert files_in(folder) == []
    assert [path.name for path in folder.iterdir() if path.suffix == ".lock"] == [f"{os.getpid()}.lock"]


def test_a_half_written_last_line_is_counted_once_the_writer_is_dead(
    spool: Spool, line: LineMaker, settings: Settings
) -> None:
    folder = spool_folder(settings.db_path)
    folder.mkdir(parents=True)
    whole = line("whole").as_bytes()
    (folder / "999999.jsonl").write_bytes(whole + line("half").as_bytes()[:-20])
    (file,) = spool.files()
    first = file.batch(10)
    assert first is not None
    assert ([waiting.line.user_text for waiting in first.waiting], first.torn) == (["whole"], 0)
    file.filed(first.end)
    second = file.batch(10)
    assert second is not None
    assert (list(second.waiting), second.torn) == ([], 1)
    file.filed(second.end)
    assert file.batch(10) is None


def test_after_a_half_written_line_of_the_same_number_the_next_one_is_whole(
    spool: Spool, line: LineMaker, settings: Settings
) -> None:
    folder = spool_folder(settings.db_path)
    folder.mkdir(parents=True)
    (folder / f"{os.getpid()}.jsonl").write_bytes(line("half").as_bytes()[:-20])
    spool.append(line("whole"))
    batch = _own(spool).batch(10)
    assert batch is not None
    assert ([waiting.line.user_text for waiting in batch.waiting], batch.torn) == (["whole"], 1)


def test_two_spools_of_one_process_have_files_of_their_own(
    spool: Spool, line: LineMaker, settings: Settings
) -> None:
    other = Spool(spool_folder(settings.db_path))
    spool.append(line("one"))
    other.append(line("two"))
    assert [_said(_own(spool)), _said(_own(other))] == [["one"], ["two"]]
    other.close()


def test_a_folder_that_cannot_be_made_refuses_the_turn(
    settings: Settings, line: LineMaker, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert Spool(in_the_way / "spool").append(line()) is False
