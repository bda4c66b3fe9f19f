"""Lessons: put forward once, decided once, never a memory by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.lessons import Evidence, Lesson, LessonStatus, NewLesson, Proposed

RULE = "Never deploy on Fridays"


def new(rule: str = RULE, *evidence: str, user_id: str = "ada") -> NewLesson:
    proposed = {"domain": "Work", "subject": "Deploys", "facts": [rule], "tier": 1, "category": "correction"}
    said = tuple(Evidence("turn", name, said=rule) for name in evidence or ("t1",))
    return NewLesson(rule, said, proposed, user_id=user_id)


def same_rule(one: NewLesson, stored: Sequence[Lesson]) -> Lesson | None:
    return next((lesson for lesson in stored if lesson.rule == one.rule), None)


@pytest.fixture
def waiting(repository: MemoryRepository, agent: Author) -> Lesson:
    (made,) = repository.lessons.propose([new()], agent).created
    return made


def _propose(repository: MemoryRepository, agent: Author, *lessons: NewLesson) -> Proposed:
    return repository.lessons.propose(lessons, agent, repeats=same_rule)


def test_a_lesson_waits_with_its_evidence_and_makes_no_memory(
    repository: MemoryRepository, waiting: Lesson
) -> None:
    kept = repository.lessons.get(waiting.id)
    assert kept == waiting
    assert (kept.status, kept.count, kept.tier, kept.category) == ("waiting", 1, 1, "correction")
    assert kept.evidence[0].said == RULE
    assert repository.count() == 0


def test_the_same_evidence_proposes_nothing_twice(
    repository: MemoryRepository, agent: Author, waiting: Lesson
) -> None:
    generation = repository.snapshot().generation
    again = _propose(repository, agent, new())
    assert (again.created, again.extended, again.known) == ((), (), 1)
    assert repository.snapshot().generation == generation


def test_new_evidence_of_the_same_rule_extends_it(
    repository: MemoryRepository, agent: Author, waiting: Lesson
) -> None:
    (longer,) = _propose(repository, agent, new(RULE, "t1", "t2"), new(RULE, "t2", "t3")).extended
    assert (longer.id, longer.count) == (waiting.id, 3)
    assert [piece.id for piece in repository.lessons.get(waiting.id).evidence] == ["t1", "t2", "t3"]


def test_a_rejected_lesson_stays_away_until_there_is_new_evidence(
    repository: MemoryRepository, agent: Author, person: Author, waiting: Lesson
) -> None:
    repository.lessons.decide(waiting.id, LessonStatus.REJECTED, person)
    assert _propose(repository, agent, new()).created == ()
    (anew,) = _propose(repository, agent, new(RULE, "t9")).created
    assert (anew.id != waiting.id, anew.count) == (True, 1)


def test_another_persons_lesson_is_its_own(
    repository: MemoryRepository, agent: Author, waiting: Lesson
) -> None:
    (theirs,) = _propose(repository, agent, new(RULE, "t7", user_id="bob")).created
    assert theirs.user_id == "bob"
    assert [lesson.id for lesson in repository.lessons.list(user_id="ada").rows] == [waiting.id]


def test_an_approval_names_the_memory_and_who_decided(
    repository: MemoryRepository, person: Author, waiting: Lesson
) -> None:
    decided = repository.lessons.decide(waiting.id, "approved", person, memory_id="m1", note="agreed")
    assert (decided.status, decided.memory_id, decided.decided_by) == ("approved", "m1", "console:ada")
    assert decided.decided_at is not None
    assert repository.lessons.counts()[LessonStatus.APPROVED] == 1
    opened = repository.lessons.decide(waiting.id, "waiting", person)
    assert (opened.status, opened.decided_by, opened.decided_at) == ("waiting", "", None)


def test_merging_takes_the_evidence_along(
    repository: MemoryRepository, agent: Author, person: Author, waiting: Lesson
) -> None:
    (other,) = repository.lessons.propose([new("Deploys wait for Mondays", "t5")], agent).created
    repository.lessons.decide(other.id, "merged", person, merged_into=waiting.id)
    assert repository.lessons.get(other.id).merged_into == waiting.id
    assert {piece.id for piece in repository.lessons.get(waiting.id).evidence} == {"t1", "t5"}
    assert repository.lessons.list(status="waiting").total == 1


@pytest.mark.parametrize(
    ("status", "more"),
    [("approved", {}), ("merged", {}), ("nonsense", {}), ("merged", {"merged_into": "itself"})],
)
def test_a_decision_that_says_too_little_is_refused(
    repository: MemoryRepository, person: Author, waiting: Lesson, status: str, more: dict[str, Any]
) -> None:
    given = dict.fromkeys(more, waiting.id)
    with pytest.raises(MemsuiteError) as refused:
        repository.lessons.decide(waiting.id, status, person, **given)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER
    assert repository.lessons.get(waiting.id).is_open


def test_what_is_decided_is_not_decided_otherwise_nor_edited(
    repository: MemoryRepository, person: Author, waiting: Lesson
) -> None:
    repository.lessons.decide(waiting.id, "rejected", person)
    for late in (
        lambda: repository.lessons.decide(waiting.id, "approved", person, memory_id="m1"),
        lambda: repository.lessons.edit(waiting.id, person, rule="x", proposed=waiting.proposed),
    ):
        with pytest.raises(MemsuiteError) as refused:
            late()
        assert refused.value.code is ErrorCode.VERSION_CONFLICT


def test_a_waiting_lesson_can_be_worded_better(
    repository: MemoryRepository, person: Author, waiting: Lesson
) -> None:
    better = {**waiting.proposed, "tier": 2, "category": "user_pref"}
    edited = repository.lessons.edit(waiting.id, person, rule="No deploys on Fridays", proposed=better)
    assert repository.lessons.get(waiting.id) == edited
    assert (edited.rule, edited.tier, edited.category) == ("No deploys on Fridays", 2, "user_pref")


def test_an_unknown_lesson_is_not_found(repository: MemoryRepository, person: Author) -> None:
    for asked in (
        lambda: repository.lessons.get("nowhere"),
        lambda: repository.lessons.decide("nowhere", "rejected", person),
    ):
        with pytest.raises(MemsuiteError) as refused:
            asked()
        assert refused.value.code is ErrorCode.NOT_FOUND


def test_erased_lessons_are_gone(repository: MemoryRepository, person: Author, waiting: Lesson) -> None:
    assert repository.lessons.erase([waiting.id, "nowhere"], person) == 1
    assert repository.lessons.all() == ()
