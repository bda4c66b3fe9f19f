"""ChromaDB palaces, written by the real chromadb."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange import System, import_from
from memories.interchange.systems import AUTO, system_named
from memories.repository import Author
from memories.repository.turn_records import Turn
from tests.interchange.conftest import Made, Print

chromadb = pytest.importorskip("chromadb")

EXCHANGE = "User: What is the port?\n\nAssistant: It is 7001."
SECRET = "The key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def write(path: Path, name: str, drawers: dict[str, tuple[str, dict[str, Any]]]) -> None:
    client = chromadb.PersistentClient(
        str(path), settings=chromadb.config.Settings(anonymized_telemetry=False)
    )
    collection = client.create_collection(name, embedding_function=None)
    collection.add(
        ids=list(drawers),
        documents=[text for text, _ in drawers.values()],
        metadatas=[about for _, about in drawers.values()],
        embeddings=[[float(index), 1.0] for index in range(len(drawers))],
    )


@pytest.fixture(scope="session")
def mempalace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mempalace")
    about = {"wing": "wing_home", "room": "conversations", "source_file": "hermes-session:s-9"}
    write(
        path,
        "mempalace_drawers",
        {
            "drawer_1": (EXCHANGE, about | {"filed_at": "2025-06-01T10:00:00"}),
            "drawer_2": (SECRET, {"wing": "diary"}),
            "drawer_3": ("word " * 3_000, {"wing": "diary"}),
            "drawer_4": ("Filed in the future", {"filed_at": "9999-01-01T00:00:00"}),
        },
    )
    write(path, "mempalace_closets", {"closet_1": ("→ drawer_1", {"wing": "wing_home"})})
    return path


@pytest.fixture(scope="session")
def nexus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nexus")
    about = {
        "wing": "corrections",
        "room": "ports",
        "trust_score": 1.0,
        "is_correction": True,
        "timestamp": 1.75e9,
    }
    drawers = {"n1": (EXCHANGE, {"trust_score": 0.75, "timestamp": 1.75e9}), "n2": ("No, it is 7002", about)}
    write(path, "nexus", drawers)
    return path


def turns(made: Made, path: Path, system: System) -> dict[str, Turn]:
    store = made("target")
    import_from(store, path, system, user_id="ada")
    return {turn.id: turn for turn in store.turns.page().rows}


def test_auto_tells_the_two_apart(mempalace: Path, nexus: Path) -> None:
    assert (system_named(AUTO, mempalace), system_named(AUTO, nexus)) == (System.MEMPALACE, System.NEXUS)


def test_a_drawer_becomes_a_turn(made: Made, mempalace: Path) -> None:
    turn = turns(made, mempalace, System.MEMPALACE)["drawer_1"]
    assert (turn.text, turn.user_text, turn.assistant_text) == (EXCHANGE, "What is the port?", "It is 7001.")
    assert (turn.wing, turn.room, turn.session_id, turn.user_id) == (
        "wing_home",
        "conversations",
        "s-9",
        "ada",
    )
    assert turn.occurred_at == datetime(2025, 6, 1, 10, tzinfo=UTC)
    assert turn.source == "import:mempalace"


def test_pointers_to_drawers_are_left_out(made: Made, mempalace: Path) -> None:
    assert "closet_1" not in turns(made, mempalace, System.MEMPALACE)


def test_a_secret_in_a_drawer_is_masked(made: Made, mempalace: Path) -> None:
    assert turns(made, mempalace, System.MEMPALACE)["drawer_2"].text == "The key is [GitHub token]"


def test_a_long_drawer_is_cut_at_a_word(made: Made, mempalace: Path) -> None:
    turn = turns(made, mempalace, System.MEMPALACE)["drawer_3"]
    assert turn.truncated
    assert turn.text.endswith("word")


def test_a_drawer_of_an_impossible_time_is_set_aside(made: Made, mempalace: Path) -> None:
    store = made("target")
    report = import_from(store, mempalace, System.MEMPALACE)
    assert [(misfit["id"], misfit["reason"]) for misfit in report.misfits] == [
        ("drawer_4", "invalid_parameter")
    ]


def test_trust_and_corrections_of_nexus_stay(made: Made, nexus: Path) -> None:
    found = turns(made, nexus, System.NEXUS)
    assert (found["n1"].trust, found["n1"].is_correction, found["n1"].wing) == (0.75, False, "general")
    assert (found["n2"].trust, found["n2"].is_correction, found["n2"].wing) == (1.0, True, "corrections")


@pytest.mark.parametrize("system", [System.MEMPALACE, System.NEXUS])
def test_dry_run_import_again_undo_and_the_source_stays(
    made: Made, system: System, mempalace: Path, nexus: Path, fingerprint: Print, author: Author
) -> None:
    path = mempalace if system is System.MEMPALACE else nexus
    before, store = fingerprint(path), made("target")
    planned = import_from(store, path, system, dry_run=True)
    assert not store.path.exists()
    report = import_from(store, path, system)
    assert report.added["turns"] == planned.added["turns"] == store.turns.count()
    assert import_from(store, path, system).added == {}
    store.undo(report.operation_id, author)
    assert (store.turns.count(), store.quarantine.page()[0]) == (0, 0)
    assert fingerprint(path) == before


def test_a_directory_that_is_no_palace_is_refused(made: Made, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "chroma.sqlite3").write_bytes(b"no database")
    with pytest.raises(MemsuiteError) as refused:
        import_from(made("target"), tmp_path / "p", System.MEMPALACE)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER
