"""The captured turns: what the list shows, finding, putting away, wings, a memory begun from one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from console.pages_read import Page
from django.urls import reverse

from memories.console.turn_list import draft_of_turn
from memories.repository import Author, MemoryRepository
from memories.repository.ids import new_id
from memories.repository.turn_reading import TurnFilter
from memories.repository.turn_records import NewTurn, TurnKind, new_row, turn_of

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:turns")
CHANGE, WING, MEMORY = (reverse(f"console:turns_{name}") for name in ("change", "wing", "memory"))
SEEN = datetime(2026, 11, 30, 12, tzinfo=UTC)

SAID = {
    "gateway": ("The gateway listens on port 8443", "work", "ada"),
    "bread": ("Bread is baked on Fridays. Use rye.", "kitchen", "bob"),
    "wrong": ("No, the printer is on the second floor", "corrections", "ada"),
}


@pytest.fixture
def ids(repository: MemoryRepository) -> dict[str, str]:
    """Three turns of two people, the first one seen last."""
    turns = {
        name: NewTurn(
            new_id(),
            TurnKind.EXCHANGE,
            said,
            f"Noted: {name}.",
            SEEN - timedelta(hours=hours),
            wing,
            "conversations",
            session_id="s1",
            user_id=person,
            platform="telegram",
            is_correction=wing == "corrections",
        )
        for hours, (name, (said, wing, person)) in enumerate(SAID.items())
    }
    vectors = repository.turns.embed(list(turns.values()))
    repository.turns.file(list(turns.values()), vectors, Author("capture"), threshold=0.99)
    return {name: turn.id for name, turn in turns.items()}


_TURN = turn_of(
    new_row(
        NewTurn(new_id(), TurnKind.EXCHANGE, "", "", SEEN, "general", "conversations"),
        np.zeros(1, dtype=np.float32),
        np.zeros(1, dtype=np.float32),
        embedding_id="",
        generation=1,
    )
)


def _text(client_as: ClientAs, **query: str) -> str:
    return Page(client_as("viewer").get(URL, query)).text


def test_it_lists_everybodys_turns_last_seen_first_and_says_so(
    ids: dict[str, str], client_as: ClientAs
) -> None:
    text = _text(client_as)
    assert text.index("gateway listens") < text.index("Bread is baked") < text.index("printer is on")
    assert "here, where people administer, everybody's are shown" in text
    assert "Noted: gateway." in text
    assert "trust 1.00" in text
    assert "correction" in text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"wing": "kitchen"}, {"bread"}),
        ({"wing": "work", "room": "conversations"}, {"gateway"}),
        ({"person": "ada"}, {"gateway", "wrong"}),
        ({"person": ""}, set()),
        ({"q": "rye bread"}, {"bread"}),
        ({"q": "gateway port", "person": "bob"}, set()),
        ({"kind": "delegation"}, set()),
        ({"kind": "nonsense"}, {"gateway", "bread", "wrong"}),
    ],
)
def test_it_is_narrowed_by_wing_room_person_kind_and_words(
    ids: dict[str, str], client_as: ClientAs, query: dict[str, str], shown: set[str]
) -> None:
    text = _text(client_as, **query)
    assert {name for name in ids if f"Noted: {name}." in text} == shown


def test_without_any_turn_it_says_what_captures_them(
    repository: MemoryRepository, client_as: ClientAs
) -> None:
    assert "auto_capture" in _text(client_as)


def test_ticked_turns_go_to_the_trash_and_come_back(
    repository: MemoryRepository, ids: dict[str, str], client_as: ClientAs
) -> None:
    curator = client_as("curator")
    form = {"action": "trash", "id": [ids["gateway"], ids["bread"]], "next": URL}
    answer = curator.post(CHANGE, form, follow=True)
    assert "Moved 2 turns to the trash" in Page(answer).text
    assert repository.turns.ids() == [ids["wrong"]]
    assert "Noted: bread." in _text(client_as, trashed="1")
    curator.post(CHANGE, {"restore": ids["bread"], "id": [ids["gateway"]], "next": URL})
    assert set(repository.turns.ids()) == {ids["wrong"], ids["bread"]}


def test_a_viewer_sees_no_button_that_changes_a_turn(ids: dict[str, str], client_as: ClientAs) -> None:
    page = client_as("viewer").get(URL).content.decode()
    assert "Move to trash" not in page
    assert "Make a memory of it" not in page
    assert "Rename or merge" not in page
    assert client_as("viewer").post(CHANGE, {"id": [ids["bread"]]}).status_code == 403


def test_a_wing_is_merged_into_another(
    repository: MemoryRepository, ids: dict[str, str], client_as: ClientAs
) -> None:
    client_as("curator").post(WING, {"wing": "kitchen", "into": "work", "next": URL})
    assert {(room.wing, room.turns) for room in repository.turns.rooms()} == {("corrections", 1), ("work", 2)}


def test_a_wing_without_a_name_is_refused(ids: dict[str, str], client_as: ClientAs) -> None:
    answer = client_as("curator").post(WING, {"wing": "kitchen", "into": "  ", "next": URL})
    assert answer.status_code == 400


def test_a_memory_is_begun_with_the_persons_sentences_and_not_saved(
    repository: MemoryRepository, ids: dict[str, str], client_as: ClientAs
) -> None:
    answer = client_as("curator").post(MEMORY, {"only": ids["bread"]})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Bread is baked on Fridays." in page
    assert "Use rye." in page
    assert "Noted: bread." not in page
    assert repository.count() == 0


def test_of_a_question_the_answer_is_taken() -> None:
    asked = replace(_TURN, user_text="When is it baked? Which day?", assistant_text="On Fridays. With rye.")
    assert draft_of_turn(asked).facts == ("On Fridays.", "With rye.")
    assert draft_of_turn(replace(asked, assistant_text="Shall I look?")).facts == ("",)


def test_a_memory_of_no_turn_is_not_found(repository: MemoryRepository, client_as: ClientAs) -> None:
    assert client_as("curator").post(MEMORY, {"only": "nowhere"}).status_code == 404


def test_a_long_side_unfolds_and_nothing_of_it_is_lost(
    repository: MemoryRepository, client_as: ClientAs
) -> None:
    said = " ".join(f"word{number}" for number in range(200))
    turn = NewTurn(new_id(), TurnKind.BUILTIN, said, "", SEEN, "general", "memory")
    repository.turns.file([turn], repository.turns.embed([turn]), Author("capture"), threshold=0.9)
    text = _text(client_as)
    assert "Built-in memory" in text
    assert all(f"word{number}" in text for number in range(200))
    assert repository.turns.count(TurnFilter(user_id="")) == 1
