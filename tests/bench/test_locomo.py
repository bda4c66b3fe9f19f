"""LoCoMo as the benchmark reads it, on a made-up archive of the same shape."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from maintenance.bench.locomo import foreign_questions, load_conversations
from maintenance.bench.locomo_run import area
from memories.contract import MemsuiteError
from tests.support.commands import Run


def _conversation(first: str, second: str, thing: str) -> dict[str, object]:
    said = [
        {"speaker": first, "dia_id": "D1:1", "text": f"I bought a {thing} at the harbour."},
        {"speaker": second, "dia_id": "D1:2", "text": "How lovely!", "blip_caption": "a photo of gulls"},
        {"speaker": first, "dia_id": "D1:3", "text": "It was raining all day."},
    ]
    later = [{"speaker": second, "dia_id": "D2:1", "text": "My sister moved to the mountains."}]
    return {
        "speaker_a": first,
        "speaker_b": second,
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": said,
        "session_2_date_time": "10:00 am on 9 June, 2023",
        "session_2": later,
        "qa": [
            {"question": f"What did {first} buy at the harbour?", "category": 4, "evidence": ["D1:1"]},
            {"question": f"Where did {second}'s sister move?", "category": 1, "evidence": ["D2:01; D9:9"]},
            {"question": "Which film did nobody see?", "category": 4, "evidence": []},
            {"question": f"What did {second} buy at the harbour?", "category": 5, "evidence": ["D1:1"]},
        ],
    }


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.zip"
    people = [("Ada", "Bo", "kettle"), ("Cleo", "Dag", "lantern"), ("Eli", "Fay", "rope")]
    with zipfile.ZipFile(path, "w") as written:
        for number, names in enumerate([*people, *people[:0]]):
            written.writestr(f"data/{number}.json", json.dumps(_conversation(*names)))
    return path


def test_turns_have_their_places_captions_and_times(archive: Path) -> None:
    first = load_conversations(archive)[0]
    turn = first.turns[1]
    assert (turn.id, turn.session, turn.position, turn.speaker) == ("D1:2", 1, 1, "Bo")
    assert turn.text == "How lovely! [a photo of gulls]"
    assert turn.at.isoformat() == "2023-05-08T13:56:00+00:00"


def test_evidence_is_what_is_there_and_the_last_category_has_none(archive: Path) -> None:
    questions = load_conversations(archive)[0].questions
    assert [one.evidence for one in questions] == [("D1:1",), ("D2:1",), (), ()]
    assert len(load_conversations(archive)[0].answerable) == 2


def test_foreign_questions_bear_the_names_of_those_they_are_asked_of(archive: Path) -> None:
    conversations = load_conversations(archive)
    asked = foreign_questions(conversations[0], conversations)
    assert asked[0].text == "What did Ada buy at the harbour?"
    assert all((one.category, one.evidence) == (0, ()) for one in asked)


@pytest.mark.parametrize("content", [b"", b"nothing"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.zip"
    path.write_bytes(content)
    with pytest.raises(MemsuiteError, match=r"other\.zip"):
        load_conversations(path)


def test_the_area_is_one_for_values_apart_and_a_half_for_equal_ones() -> None:
    assert area([2.0, 3.0], [0.0, 1.0]) == 1.0
    assert area([1.0, 1.0], [1.0]) == 0.5
    assert area([0.0, 2.0], [1.0]) == 0.5


def test_the_benchmark_says_what_is_found_by_category_and_way(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    output = tmp_path / "result.json"
    asked = ("--locomo", str(archive), "--model", "builtin:static", "--output", str(output))
    assert run("bench", "retrieval", *asked).exit == 0
    rows = json.loads(output.read_text(encoding="utf-8"))["rows"]
    ours = next(
        row for row in rows if (row["way"], row["category"], row["conversations"]) == ("ours", "all", "all")
    )
    assert (ours["questions"], ours["recall_10"]) == (6, 1.0)
    assert {row["unit"] for row in rows} == {"turns", "sessions", "refusals"}
