"""The questions that nothing in the corpus answers: near-misses about its subjects, and everyday ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from maintenance.bench.corpus import source
from maintenance.bench.corpus.memories import Store
from maintenance.bench.corpus.model import LANGUAGES, Half, Language
from maintenance.bench.corpus.questions import Desk
from maintenance.bench.corpus.source import Entity, Topic, wordings_of
from maintenance.bench.corpus.wording import fill

# Near-misses per half, by what makes them unanswerable: 46, a little more than the everyday questions.
PER_HALF = {
    "unrecorded_project_fact": 9,
    "unrecorded_person_fact": 6,
    "left_out_project_topic": 12,
    "left_out_person_topic": 7,
    "unknown_person": 6,
    "unknown_project": 4,
    "unknown_id": 2,
}


def ask_unanswerable(store: Store, desk: Desk, halves: Iterable[Half]) -> None:
    for half in halves:
        _ask_unrecorded(half, desk)
        _ask_left_out(store, half, desk)
        _ask_unknown(half, desk)
        _ask_everyday(half, desk)


def _ask_unrecorded(half: Half, desk: Desk) -> None:
    """The right project or person, and a kind of fact that is recorded about none of them."""
    for sort, pool in (("project", source.projects((half,))), ("person", source.people((half,)))):
        ask = partial(_ask_unrecorded_fact, sort, desk)
        _until(PER_HALF[f"unrecorded_{sort}_fact"], pool, desk.rng, ask)


def _ask_unrecorded_fact(sort: str, desk: Desk, entity: Entity) -> bool:
    wordings = wordings_of(source.unanswerable(entity.half)[sort][entity.language], entity.half)
    wording = desk.wording(f"unrecorded.{sort}.{entity.language}.{entity.half}", wordings)
    return _near_miss(desk, entity, entity.language, fill(wording, entity), "unrecorded_fact")


def _ask_left_out(store: Store, half: Half, desk: Desk) -> None:
    """The right project or person, and a kind of fact that is recorded about others only."""
    for sort, pool, topics in (
        ("project", source.projects((half,)), source.project_topics()),
        ("person", source.people((half,)), source.people_topics()),
    ):
        ask = partial(_ask_left_out_topic, store, topics, desk)
        _until(PER_HALF[f"left_out_{sort}_topic"], pool, desk.rng, ask)


def _ask_left_out_topic(store: Store, topics: Mapping[str, Topic], desk: Desk, entity: Entity) -> bool:
    topic = topics[desk.rng.choice(store.missing[entity.slug])]
    # Mostly in the entity's own language, as its people ask; now and then by a foreigner.
    language = desk.rng.choice((entity.language, entity.language, *LANGUAGES))
    return _near_miss(desk, entity, language, _topic_text(topic, entity, language, desk), "other_entity")


def _ask_unknown(half: Half, desk: Desk) -> None:
    """A person or a project that does not exist, and a ticket number that was never given."""
    for sort, topics in (("person", source.people_topics()), ("project", source.project_topics())):
        nobodies = _nobodies(sort, half)
        for _ in range(PER_HALF[f"unknown_{sort}"]):
            entity = desk.rng.choice(nobodies)
            topic = topics[desk.rng.choice(sorted(topics))]
            text = _topic_text(topic, entity, entity.language, desk)
            _near_miss(desk, entity, entity.language, text, f"unknown_{sort}")
    for project in desk.rng.sample(source.projects((half,)), PER_HALF["unknown_id"]):
        text = f"{project.fields['prefix']}-{desk.rng.randint(5000, 9999)}"
        _near_miss(desk, project, project.language, text, "unknown_id")


def _ask_everyday(half: Half, desk: Desk) -> None:
    for language in LANGUAGES:
        for number, text in enumerate(wordings_of(source.unanswerable(half)["everyday"][language], half)):
            subject = Entity(f"everyday.{language}.{half}.{number}", "", language, half, False, {})
            desk.ask("no_answer", language, text, subject, near_miss=False, note="everyday")


def _topic_text(topic: Topic, entity: Entity, language: Language, desk: Desk) -> str:
    wording = desk.wording(f"{topic.name}.{language}.{entity.half}", topic.asks(language, entity.half))
    return fill(wording, entity)


def _nobodies(sort: str, half: Half) -> list[Entity]:
    names = source.unanswerable(half)["unknown_people" if sort == "person" else "unknown_projects"]
    return [
        Entity(f"unknown.{name}", name, language, half, sort == "project", {})
        for language in LANGUAGES
        for name in wordings_of(names[language], half)
    ]


def _near_miss(desk: Desk, entity: Entity, language: Language, text: str, note: str) -> bool:
    return desk.ask("no_answer", language, text, entity, near_miss=True, note=note)


def _until(count: int, entities: list[Entity], rng: random.Random, ask: Callable[[Entity], bool]) -> None:
    """Asks about the entities in turn until `count` questions that had not been asked yet are there."""
    order = rng.sample(entities, len(entities))
    asked = turn = 0
    while asked < count:
        asked += ask(order[turn % len(order)])
        turn += 1
