"""The Lessons page: what waits with its evidence, and what a person's decision makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page
from console.samples import AUTHOR, payload
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from memories.capture.lessons import Said, lesson_in, propose
from memories.console.audit_models import AuditEvent
from memories.repository.lessons import Lesson, LessonStatus

if TYPE_CHECKING:
    from console.people import ClientAs

    from memories.repository import MemoryRepository


def waiting(repository: MemoryRepository, *said: str) -> list[Lesson]:
    """Lessons of what Kari said in a telegram chat, in the order given."""
    drafts = [
        lesson_in(
            Said(
                "message",
                str(number),
                text,
                "The gateway listens on 7777.",
                f"s-{number}",
                "kari",
                "telegram",
            )
        )
        for number, text in enumerate(said)
    ]
    propose(repository, [draft for draft in drafts if draft is not None], AUTHOR)
    found = {lesson.evidence[0].said: lesson for lesson in repository.lessons.all()}
    return [found[text] for text in said]


@pytest.fixture
def lesson(repository: MemoryRepository) -> Lesson:
    return waiting(repository, "No, the gateway listens on 7788.")[0]


def form_of(lesson: Lesson, **changes: str) -> dict[str, object]:
    proposed = lesson.proposed
    return {
        "domain": proposed["domain"],
        "subject": proposed["subject"],
        "fact": list(proposed["facts"]),
        "tier": str(proposed["tier"]),
        "category": proposed["category"],
        "quality": "0.5",
        **changes,
    }


def address(lesson: Lesson) -> str:
    return reverse("console:lesson", args=[lesson.id])


def decide(client: Client, lesson: Lesson, decision: str, **fields: str) -> HttpResponse:
    return client.post(reverse("console:lesson_decide", args=[lesson.id]), {"decision": decision, **fields})


def test_the_list_shows_what_waits(client_as: ClientAs, lesson: Lesson):
    page = client_as("viewer").get(reverse("console:lessons")).content.decode()
    assert lesson.rule in page
    assert "said 1 time by kari" in page


def test_a_lesson_shows_who_said_it_and_where(client_as: ClientAs, lesson: Lesson):
    page = client_as("curator").get(address(lesson)).content.decode()
    for told in (
        "No, the gateway listens on 7788.",
        "The gateway listens on 7777.",
        "kari",
        "telegram",
        "s-0",
    ):
        assert told in page


def test_approving_makes_a_memory_of_what_stands_in_the_form(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    edited = form_of(lesson, domain="Home", subject="Gateway", fact="port=7788")
    client_as("curator").post(address(lesson), edited)
    decided = repository.lessons.get(lesson.id)
    memory = repository.get(decided.memory_id).memory
    assert decided.status is LessonStatus.APPROVED
    assert (memory.domain, memory.subject, memory.facts) == ("Home", "Gateway", ("port=7788",))
    assert (memory.source, memory.approved_by) == ("lesson", decided.decided_by)


def test_an_approval_is_undone_with_its_memory(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    client = client_as("curator")
    page = client.post(address(lesson), form_of(lesson), follow=True).content.decode()
    operation = repository.get(repository.lessons.get(lesson.id).memory_id).memory.operation_id
    undo = reverse("console:undo", args=[operation])
    assert undo in page
    client.post(undo)
    assert repository.count() == 0


def test_a_form_that_the_contract_refuses_changes_nothing(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    answer = client_as("curator").post(address(lesson), form_of(lesson, fact="[Tier=1] nested"))
    assert answer.status_code == 422
    assert repository.lessons.get(lesson.id).is_open and repository.count() == 0


def test_facts_of_a_known_subject_may_go_to_its_memory(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    stored = repository.add(payload("Gateway"), AUTHOR).memory_id
    client, form = client_as("curator"), form_of(lesson, domain="Havlys", subject="Gateway")
    refused = client.post(address(lesson), form)
    assert refused.status_code == 409 and 'name="into"' in refused.content.decode()
    client.post(address(lesson), form | {"into": stored})
    assert lesson.rule in repository.get(stored).memory.facts
    assert repository.lessons.get(lesson.id).memory_id == stored


def test_a_rejected_lesson_does_not_come_back(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    decide(client_as("curator"), lesson, "reject", note="not so")
    again = Said("message", "0", "No, the gateway listens on 7788.", user_id="kari")
    draft = lesson_in(again)
    assert draft is not None
    assert propose(repository, [draft], AUTHOR).known == 1
    assert [one.status for one in repository.lessons.all()] == [LessonStatus.REJECTED]


def test_merging_brings_the_evidence_together(client_as: ClientAs, repository: MemoryRepository):
    kept, other = waiting(repository, "Use pnpm instead of npm.", "Never use npm in this project.")
    decide(client_as("curator"), other, "merge", into=kept.id)
    assert repository.lessons.get(other.id).status is LessonStatus.MERGED
    assert repository.lessons.get(kept.id).count == 2


def test_a_decision_can_be_taken_back(client_as: ClientAs, repository: MemoryRepository, lesson: Lesson):
    client = client_as("curator")
    decide(client, lesson, "reject")
    decide(client, lesson, "reopen")
    assert repository.lessons.get(lesson.id).is_open


def test_nothing_is_ticked_or_chosen_beforehand(client_as: ClientAs, repository: MemoryRepository):
    lesson, _ = waiting(repository, "Use pnpm instead of npm.", "Always answer in English.")
    client = client_as("curator")
    assert "checkbox" not in client.get(reverse("console:lessons")).content.decode()
    merging = Page(client.get(address(lesson))).form("Merge into it")
    assert dict(merging.fields)["into"] == ""


def test_a_viewer_reads_and_decides_nothing(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    client = client_as("viewer")
    page = client.get(address(lesson)).content.decode()
    assert "Approve" not in page and "Reject" not in page
    assert client.post(address(lesson), form_of(lesson)).status_code == 403
    assert decide(client, lesson, "reject").status_code == 403
    assert repository.lessons.get(lesson.id).is_open


def test_a_lesson_decided_meanwhile_is_not_approved_again(
    client_as: ClientAs, repository: MemoryRepository, lesson: Lesson
):
    repository.lessons.decide(lesson.id, LessonStatus.REJECTED, AUTHOR)
    assert client_as("curator").post(address(lesson), form_of(lesson)).status_code == 409
    assert repository.count() == 0


def test_every_decision_is_in_the_audit(client_as: ClientAs, repository: MemoryRepository):
    one, two, three = waiting(
        repository, "Use pnpm instead of npm.", "Always answer in English.", "Never push to main."
    )
    client = client_as("curator")
    client.post(address(one), form_of(one))
    decide(client, two, "reject")
    decide(client, three, "merge", into=two.id)
    decide(client, two, "reopen")
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"approve_lesson", "reject_lesson", "merge_lesson", "reopen_lesson"} <= actions
