from __future__ import annotations

from collections import Counter

import pytest

from memories.contract import clashes, validate_add
from memories.demo import DemoMemory, demo_memories
from memories.screening import refuse_secrets

FORMS = [validate_add(memory.payload).form for memory in demo_memories()]


@pytest.mark.parametrize("memory", demo_memories(), ids=lambda memory: memory.payload["subject"])
def test_each_invented_memory_is_as_the_contract_wants_it(memory: DemoMemory) -> None:
    for payload in (memory.payload, memory.first_payload):
        request = validate_add(payload)
        refuse_secrets(request.form)
        assert (request.warnings, request.normalized_fields) == ((), ())


def test_there_are_at_least_sixty_over_three_projects_and_three_languages() -> None:
    assert len(demo_memories()) >= 60
    assert Counter(memory.language for memory in demo_memories()).keys() == {"en", "fr", "nb"}
    assert len({form.domain for form in FORMS}) == 3


def test_two_pairs_of_one_subject_disagree() -> None:
    subjects = Counter(form.subject_key for form in FORMS)
    pairs = [
        [form for form in FORMS if form.subject_key == key] for key, times in subjects.items() if times > 1
    ]
    assert [len(clashes(first.claims, second.claims)) for first, second in pairs] == [1, 1]


def test_each_declared_relation_names_exactly_one_memory() -> None:
    subjects = Counter(form.subject_key for form in FORMS)
    targets = [relation.target.casefold() for form in FORMS for relation in form.relations]
    assert targets
    assert {subjects[target] for target in targets} == {1}


def test_some_are_older_than_a_year() -> None:
    assert sum(memory.age.days > 365 for memory in demo_memories()) >= 5
