"""Groups of memories that say the same, over a real database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.conftest import AUTHOR, form

from memories.analysis import duplicates as module
from memories.analysis.duplicates import MOST_IN_GROUP, Duplicates, duplicates
from memories.analysis.likeness import Likeness
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from analysis.conftest import Add

    from memories.analysis.profile import Profile

BACKUPS = (
    ("Nightly_backup", "The nightly backup starts at 02:30 and is kept for 14 days"),
    ("Nightly_backup_job", "Backups run every night at 02:30 and are retained for 14 days"),
    ("Backup_schedule", "Each night at 02:30 a backup is taken; it is kept 14 days"),
    ("Backups", "Every night a backup runs at 02:30, retention 14 days"),
    ("Nightly_backups", "A backup is made nightly at 02:30 and stored for 14 days"),
)


def groups_of(found: Duplicates, threshold: float = 0.85) -> list[set[str]]:
    return [set(group.ids) for group in found.groups(threshold)]


def test_five_paraphrases_are_one_group_by_the_model_of_the_product(real_embedder: object) -> None:
    from memories.settings import load_settings

    repository = MemoryRepository.open(load_settings(), real_embedder)  # type: ignore[arg-type]
    ids = [repository.add(form(f"Havlys:{name}", fact), AUTHOR).memory_id for name, fact in BACKUPS]
    repository.add(form("Havlys:Restore_test", "A restore is tried each quarter by Ingrid"), AUTHOR)

    (group,) = duplicates(repository).groups()

    assert set(group.ids) == set(ids)
    assert group.value >= 0.92


def test_look_alikes_are_in_no_group(repository: MemoryRepository, add: Add) -> None:
    add("Havlys:Tide_API", "port=8410 serves tide tables per harbour")
    add("Havlys:Tide_API_staging", "port=8411 serves tide tables per harbour")
    add("Brume:Tide_API", "port=8410 serves tide tables per harbour")

    assert duplicates(repository).groups(0.8) == []


def test_two_look_alikes_are_not_joined_by_a_third_that_is_like_both(
    repository: MemoryRepository, add: Add
) -> None:
    first = add("Havlys:Gateway_port", "The gateway listens on port 8410 behind nginx")
    second = add("Havlys:Gateway_listens", "The gateway listens on port 8411 behind nginx")
    vague = add("Havlys:Gateway", "The gateway listens on a port behind nginx")

    groups = groups_of(duplicates(repository))

    assert len(groups) == 1
    assert vague in groups[0]
    assert not {first, second} <= groups[0]


def test_a_contained_sentence_comes_with_the_memory_that_holds_it(
    repository: MemoryRepository, add: Add
) -> None:
    short = add("Havlys:Tide_API", "Returns 204 with no body when a harbour has no gauge")
    long = add(
        "Havlys:Tide_service",
        "Serves tide tables per harbour",
        "Returns 204 with no body when a harbour has no gauge",
        "Times are UTC",
    )

    (group,) = duplicates(repository).groups(0.99)

    assert group.container_of(short) == long
    assert group.container_of(long) == ""


def test_a_higher_threshold_parts_what_is_less_alike(repository: MemoryRepository, add: Add) -> None:
    for name, fact in BACKUPS:
        add(f"Havlys:{name}", fact)

    counts = [sum(map(len, groups_of(duplicates(repository), at))) for at in (0.80, 0.9, 0.95, 0.99)]

    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 5
    assert counts[-1] == 0


def test_a_pair_that_is_said_to_be_apart_is_not_joined(repository: MemoryRepository, add: Add) -> None:
    one = add("Havlys:Editor", "Ingrid prefers Neovim over VS Code")
    other = add("Havlys:Editor_choice", "Ingrid prefers Neovim to VS Code")
    found = duplicates(repository)
    assert groups_of(found) == [{one, other}]

    assert found.groups(0.85, apart={(min(one, other), max(one, other))}) == []


def test_many_copies_come_in_groups_of_a_size_that_can_be_read(
    repository: MemoryRepository, add: Add
) -> None:
    for number in range(MOST_IN_GROUP + 3):
        add(
            "Havlys:Editor" + "_choice" * (number % 5),
            "Ingrid prefers Neovim over VS Code",
            quality=number / 20,
        )

    groups = groups_of(duplicates(repository))

    assert max(map(len, groups)) <= MOST_IN_GROUP


def test_only_pairs_of_changed_memories_are_judged_again(
    repository: MemoryRepository, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(f"Havlys:{name}", fact) for name, fact in BACKUPS]
    before = duplicates(repository)
    judged: list[float] = []

    def counted(one: Profile, other: Profile, cosine: float) -> Likeness | None:
        judged.append(cosine)
        return likeness(one, other, cosine)

    likeness = module.likeness
    monkeypatch.setattr(module, "likeness", counted)
    add("Havlys:Parcel", "Parcels leave at noon from the harbour")
    assert {pair.ids for pair in duplicates(repository).pairs} == {pair.ids for pair in before.pairs}
    assert judged == []

    repository.update(ids[0], {"facts": ["Kittens sleep in a box"]}, AUTHOR, patch=True)
    after = duplicates(repository)

    assert len(judged) <= 2
    assert all(ids[0] not in pair.ids for pair in after.pairs)
    assert {pair.ids for pair in after.pairs} == {pair.ids for pair in before.pairs if ids[0] not in pair.ids}


def test_a_deleted_memory_leaves_its_group(repository: MemoryRepository, add: Add) -> None:
    ids = [add(f"Havlys:{name}", fact) for name, fact in BACKUPS]
    (before,) = groups_of(duplicates(repository), 0.8)
    assert ids[1] in before

    repository.delete(ids[1], AUTHOR)

    (after,) = groups_of(duplicates(repository), 0.8)
    assert after == before - {ids[1]}


def test_many_pairs_are_judged_as_few_are(
    repository: MemoryRepository, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, fact in BACKUPS:
        add(f"Havlys:{name}", fact)
    add("Havlys:Tide_API", "Returns 204 with no body when a harbour has no gauge")
    add(
        "Havlys:Tide_service",
        "Serves tides",
        "Returns 204 with no body when a harbour has no gauge",
        "In UTC",
    )
    few = duplicates(repository).pairs
    monkeypatch.setattr(module, "_MANY", 0)
    repository.add(form("Havlys:Other", "Something else"), AUTHOR)
    another = MemoryRepository.open(repository.settings, repository.embedder)

    assert duplicates(another).pairs == few
    assert len(few) > 5
