from __future__ import annotations

import logging

import pytest

from memories.capture.counts import Counted, Counts
from memories.capture.cutting import LONGEST_SIDE
from memories.capture.echo import EchoGuard
from memories.capture.line import SpoolLine
from memories.capture.masking import MARGIN
from memories.capture.recording import Place, Recorder
from memories.capture.spool import Spool, spool_folder
from memories.settings import Settings

HERE = Place("s1", "ada", "cli")
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY2"


@pytest.fixture
def recorder(spool: Spool, counts: Counts) -> Recorder:
    return Recorder(spool, counts)


@pytest.fixture
def echo() -> EchoGuard:
    return EchoGuard()


def _lines(spool: Spool) -> list[SpoolLine]:
    files = list(spool.files())
    batch = files[-1].batch(100) if files else None
    return [] if batch is None else [waiting.line for waiting in batch.waiting]


def test_a_turn_is_kept_with_who_said_it_and_where(recorder: Recorder, spool: Spool, echo: EchoGuard) -> None:
    assert recorder.exchange("Where is it?", "On port 8443.", HERE, echo)
    (kept,) = _lines(spool)
    assert (kept.kind, kept.user_text, kept.assistant_text) == ("exchange", "Where is it?", "On port 8443.")
    assert (kept.session_id, kept.user_id, kept.platform, kept.truncated) == ("s1", "ada", "cli", False)


def test_each_side_is_cut_at_a_word_and_that_is_said(
    recorder: Recorder, spool: Spool, echo: EchoGuard
) -> None:
    recorder.exchange("word " * 2_000, "short", HERE, echo)
    (kept,) = _lines(spool)
    assert len(kept.user_text) <= LONGEST_SIDE
    assert kept.user_text.endswith("word")
    assert kept.truncated


def test_a_secret_never_reaches_the_disk(
    recorder: Recorder, spool: Spool, echo: EchoGuard, counts: Counts, settings: Settings
) -> None:
    recorder.exchange(f"my token is {TOKEN}", f"I keep {TOKEN} in mind", HERE, echo)
    recorder.delegation(f"log in with {TOKEN}", "done", HERE)
    recorder.builtin("memory", f"token={TOKEN}", f"old {TOKEN}", HERE)
    written = b"".join(path.read_bytes() for path in spool_folder(settings.db_path).iterdir())
    assert TOKEN.encode() not in written
    assert counts.read()[Counted.SECRETS] == 5


def test_a_secret_that_stands_over_the_cut_leaves_no_half(
    recorder: Recorder, spool: Spool, echo: EchoGuard
) -> None:
    before = "a " * (LONGEST_SIDE // 2 - 8)
    recorder.exchange(f"{before}{TOKEN} and more", "", HERE, echo)
    (kept,) = _lines(spool)
    assert "ghp_" not in kept.user_text


def test_a_turn_that_is_nothing_but_recall_is_counted_and_not_kept(
    recorder: Recorder, spool: Spool, echo: EchoGuard, counts: Counts
) -> None:
    echo.heard("The gateway listens on port 8443")
    fact = "The gateway listens on port 8443."
    assert not recorder.exchange(f"<memory-context>{fact}</memory-context>", fact, HERE, echo)
    assert _lines(spool) == []
    assert counts.read()[Counted.ECHOES] == 1


def test_a_full_spool_counts_what_it_drops_and_says_so_once(
    counts: Counts, echo: EchoGuard, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder(Spool(spool_folder(settings.db_path), most_bytes=10), counts)
    with caplog.at_level(logging.WARNING):
        assert [recorder.exchange("said", "answered", HERE, echo) for _ in range(3)] == [False] * 3
    assert counts.read()[Counted.DROPPED] == 3
    assert len(caplog.records) == 1


def test_what_lies_beyond_the_margin_counts_as_cut_off(
    recorder: Recorder, spool: Spool, echo: EchoGuard
) -> None:
    echo.heard("An echo of some length that fills the first part")
    recorder.exchange(
        "An echo of some length that fills the first part.\n" * 100 + "x" * MARGIN, "", HERE, echo
    )
    assert all(kept.truncated for kept in _lines(spool))


def test_counts_outlive_the_process_that_made_them(counts: Counts, settings: Settings, spool: Spool) -> None:
    spool.prepare()
    counts.add(Counted.FILED, 2)
    counts.write()
    other = Counts(settings.db_path)
    other.add(Counted.FILED)
    assert other.read()[Counted.FILED] == 3
    assert counts.read()[Counted.FILED] == 2
