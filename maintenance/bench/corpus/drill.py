"""More questions for fitting than the halves hold: every topic asked about everybody, recorded or not.

Of the open halves only, in wordings of both of them, in the subject's own language more often than not. A
threshold that must refuse nineteen of twenty near-misses cannot be set on the ninety that the halves have.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from maintenance.bench.corpus import source
from maintenance.bench.corpus.memories import Store, fill_store
from maintenance.bench.corpus.model import LANGUAGES, OPEN_HALVES, Half, Language, Question
from maintenance.bench.corpus.source import Entity, Topic
from maintenance.bench.corpus.wording import fill

OWN_LANGUAGE = 0.6
"""How often a subject is asked about in its own language for certain; else in any of the three."""

UNRECORDED_EACH, UNKNOWN_EACH = 3, 4
"""Questions of each subject for facts that nobody has, and of each name that belongs to nobody."""


def drill(seed: int) -> tuple[Question, ...]:
    """The questions of a corpus' seed, about the same memories; their ids begin with ``d``."""
    store = Store()
    fill_store(store, OPEN_HALVES, random.Random(seed))
    asked = [*_recorded_or_not(store, random.Random(seed + 1)), *_of_nobody(random.Random(seed + 2))]
    return tuple(_numbered(asked))


def _recorded_or_not(store: Store, rng: random.Random) -> Iterator[Question]:
    for sort, pool, topics in (
        ("project", source.projects(OPEN_HALVES), source.project_topics()),
        ("person", source.people(OPEN_HALVES), source.people_topics()),
    ):
        for entity in pool:
            for topic in topics.values():
                language = entity.language if rng.random() < OWN_LANGUAGE else rng.choice(LANGUAGES)
                text = fill(rng.choice(_wordings(topic, language)), entity)
                key = store.current.get((entity.slug, topic.name))
                yield _question(text, entity, language, key, store, "other_entity")
            facts = [
                wording
                for half in OPEN_HALVES
                for wording in source.wordings_of(source.unanswerable(half)[sort][entity.language], half)
            ]
            for wording in rng.sample(facts, UNRECORDED_EACH):
                text = fill(wording, entity)
                yield _question(text, entity, entity.language, None, store, "unrecorded_fact")


def _of_nobody(rng: random.Random) -> Iterator[Question]:
    kinds: tuple[tuple[str, Mapping[str, Topic]], ...] = (
        ("person", source.people_topics()),
        ("project", source.project_topics()),
    )
    for sort, topics in kinds:
        names = source.unanswerable("calibration")[
            "unknown_people" if sort == "person" else "unknown_projects"
        ]
        for language in LANGUAGES:
            for name in names[language]:
                nobody = Entity(f"unknown.{name}", name, language, "calibration", sort == "project", {})
                for topic in rng.sample(sorted(topics), UNKNOWN_EACH):
                    text = fill(rng.choice(_wordings(topics[topic], language)), nobody)
                    yield _question(text, nobody, language, None, Store(), f"unknown_{sort}")


def _wordings(topic: Topic, language: Language) -> list[str]:
    return [wording for half in OPEN_HALVES for wording in topic.asks(language, half)]


def _question(
    text: str, entity: Entity, language: Language, key: str | None, store: Store, missing: str
) -> Question:
    half: Half = entity.half
    if key is None:
        return Question("", "no_answer", language, text, (), (), half, True, missing, entity.slug)
    kind = "paraphrase" if language == entity.language else "cross_language"
    return Question("", kind, language, text, (key,), store.avoided([key]), half, None, "plain", entity.slug)


def _numbered(questions: Iterable[Question]) -> Iterator[Question]:
    """Without those asked twice."""
    known: set[str] = set()
    for question in questions:
        if question.text not in known:
            known.add(question.text)
            values = {name: getattr(question, name) for name in Question.__slots__}
            yield Question(**{**values, "id": f"d{len(known):04d}"})
