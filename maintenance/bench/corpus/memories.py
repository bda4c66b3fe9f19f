"""The memories: from topics and stories, with values dealt out by the seed."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from maintenance.bench.corpus import source
from maintenance.bench.corpus.model import CorpusMemory, Half, Language
from maintenance.bench.corpus.source import Entity, Topic
from maintenance.bench.corpus.wording import fill

OVERVIEW_DOMAIN = {"en": "projects", "fr": "projets", "nb": "prosjekter"}
PEOPLE_DOMAIN = {"en": "people", "fr": "personnes", "nb": "personer"}

# What a project or a person leaves unrecorded: the ground of the near-misses.
TOPICS_LEFT_OUT = {"project": 7, "person": 5}
# How many facts of a project or a person exist in an older version too.
RENEWED = {"project": 4, "person": 1}

OLDEST_DAY = -1400


@dataclass(slots=True)
class Store:
    """All memories, and what the questions need to know about them.

    `current[entity, topic]` is the memory that holds now, `old[entity, topic]` the one it replaced,
    `value[key]` what a topic's memory says, `missing[entity]` the topics that nothing is recorded about.
    """

    memories: dict[str, CorpusMemory] = field(default_factory=dict)
    current: dict[tuple[str, str], str] = field(default_factory=dict)
    old: dict[tuple[str, str], str] = field(default_factory=dict)
    value: dict[str, str] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, memory: CorpusMemory) -> str:
        if memory.key in self.memories:
            raise ValueError(f"the corpus has two memories {memory.key}")
        self.memories[memory.key] = memory
        return memory.key

    def avoided(self, keys: Iterable[str]) -> tuple[str, ...]:
        """The superseded versions of `keys`."""
        replaced = {self.current[place]: key for place, key in self.old.items()}
        return tuple(sorted(replaced[key] for key in keys if key in replaced))


def fill_store(store: Store, halves: Collection[Half], rng: random.Random) -> None:
    """Add all that is recorded about the projects and people of some halves."""
    projects, people = source.projects(halves), source.people(halves)
    for project in projects:
        _add_overview(store, project, rng)
    _add_topics(store, projects, source.project_topics().values(), rng, "project")
    _add_topics(store, people, source.people_topics().values(), rng, "person")
    for project in projects:
        for memory in _story_memories(project, rng):
            store.add(memory)


def _add_overview(store: Store, project: Entity, rng: random.Random) -> None:
    payload = {
        "domain": OVERVIEW_DOMAIN[project.language],
        "subject": project.name,
        "facts": list(project.fields["overview"]),
        "tier": 3,
        "category": "project",
    }
    key = store.add(_memory(project, "overview", payload, rng.randint(OLDEST_DAY, -600)))
    store.current[project.slug, "overview"] = key


def _add_topics(
    store: Store, entities: list[Entity], topics: Iterable[Topic], rng: random.Random, sort: str
) -> None:
    topics = list(topics)
    decks = _Decks(rng)
    for entity in entities:
        left_out = set(rng.sample([topic.name for topic in topics], TOPICS_LEFT_OUT[sort]))
        store.missing[entity.slug] = tuple(sorted(left_out))
        kept = [topic for topic in topics if topic.name not in left_out]
        renewable = [topic.name for topic in kept if topic.renewable]
        renewed = rng.sample(renewable, min(RENEWED[sort], len(renewable)))
        for topic in kept:
            _add_topic(store, entity, topic, decks, rng, renewed=topic.name in renewed)


def _add_topic(
    store: Store, entity: Entity, topic: Topic, decks: _Decks, rng: random.Random, *, renewed: bool
) -> None:
    now, before = decks.deal(topic, entity)
    day = rng.randint(-500, -1)
    place = (entity.slug, topic.name)
    relations: list[dict[str, str]] = []
    if renewed:
        old = _topic_memory(entity, topic, before, form=1, day=day - rng.randint(120, 800))
        store.old[place] = store.add(replace(old, key=f"{old.key}.old", superseded=True))
        store.value[store.old[place]] = before
        relations.append({"type": "supersedes", "target_id": store.old[place]})
    elif entity.is_project and rng.random() < 0.4:
        relations.append({"type": "part_of", "target_id": store.current[entity.slug, "overview"]})
    memory = _topic_memory(entity, topic, now, form=0 if renewed else rng.randrange(4), day=day)
    memory.payload.update(_extras(topic, rng, relations))
    store.current[place] = store.add(memory)
    store.value[memory.key] = now


def _topic_memory(entity: Entity, topic: Topic, value: str, *, form: int, day: int) -> CorpusMemory:
    """`form` chooses among the forms of subject and of facts that the topic has."""
    texts = topic.texts[entity.language]
    subject = texts["subjects"][form % len(texts["subjects"])]
    pattern = texts["facts"][form % len(texts["facts"])]
    payload = {
        "domain": entity.name if entity.is_project else PEOPLE_DOMAIN[entity.language],
        "subject": subject if entity.is_project else f"{entity.name} {subject}",
        "facts": [_sentence(fill(fact, entity, v=value)) for fact in pattern.split("|")],
        "tier": topic.tier,
        "category": topic.category,
    }
    return _memory(entity, topic.name, payload, day)


def _extras(topic: Topic, rng: random.Random, relations: list[dict[str, str]]) -> dict[str, Any]:
    """The optional fields, on some memories only, as people fill them in."""
    extras: dict[str, Any] = {}
    if relations:
        extras["relations"] = relations
    if rng.random() < 0.3:
        extras["tags"] = [topic.group]
    if rng.random() < 0.4:
        extras["quality"] = rng.choice((0.4, 0.6, 0.7, 0.8, 0.9))
    return extras


def _story_memories(project: Entity, rng: random.Random) -> Iterator[CorpusMemory]:
    story = source.stories()[project.slug]
    for number, one in enumerate(story["correction"]):
        yield _story(project, f"correction{number}", one, "correction", 1, rng.randint(OLDEST_DAY, -500))
    for one in story["parts"]:
        yield _story(project, one["id"], one, "tech", 2, rng.randint(-700, -30), _needs(project, one))
    first, second = story["clash"]
    yield _story(project, "clash0", first, "fact", 2, rng.randint(-700, -400))
    against = [{"type": "contradicts", "target_id": f"{project.slug}.clash0"}]
    yield _story(project, "clash1", second, "fact", 2, rng.randint(-399, -10), against)
    for number, one in enumerate(story["token"]):
        yield _story(project, f"token{number}", one, "reference", 2, rng.randint(-900, -10))
    for number, one in enumerate(story["insight"]):
        yield _story(project, f"insight{number}", one, "insight", 3, rng.randint(-900, -10))


def _needs(project: Entity, part: dict[str, Any]) -> list[dict[str, str]]:
    """A part's own relation, and the label of the project that it is a part of."""
    whole = [{"type": "part_of", "target": project.name}]
    if "needs" not in part:
        return whole
    relation, other = part["needs"]
    return [{"type": relation, "target_id": f"{project.slug}.{other}"}, *whole]


def _story(
    project: Entity,
    topic: str,
    one: dict[str, Any],
    category: str,
    tier: int,
    day: int,
    relations: list[dict[str, str]] | None = None,
) -> CorpusMemory:
    payload: dict[str, Any] = {
        "domain": project.name,
        "subject": one["subject"],
        "facts": list(one["facts"]),
        "tier": tier,
        "category": category,
    }
    if relations:
        payload["relations"] = relations
    return _memory(project, topic, payload, day)


def _memory(entity: Entity, topic: str, payload: dict[str, Any], day: int) -> CorpusMemory:
    language: Language = entity.language
    project = entity.name if entity.is_project else ""
    payload = {**payload, "write_mode": "create"}
    return CorpusMemory(
        f"{entity.slug}.{topic}", payload, day, language, project, entity.slug, topic, entity.half
    )


def _sentence(text: str) -> str:
    """A value may open a fact: "the grey NAS" then starts with a capital, `key=value` and paths stay."""
    first = text.split(" ", 1)[0]
    return text if "=" in first or not first.isalpha() else text[0].upper() + text[1:]


class _Decks:
    """Each topic's values in an order of the seed's, dealt out until they run out and begin again."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._decks: dict[tuple[str, str], list[str]] = {}
        self._dealt: dict[tuple[str, str], int] = {}

    def deal(self, topic: Topic, entity: Entity) -> tuple[str, str]:
        """The value that holds now and an older one that differs from it."""
        if topic.field:
            return self._from_cast(topic, entity), ""
        deck = self._deck(topic, entity)
        at = self._dealt.get(deck_key := self._key(topic, entity), 0)
        self._dealt[deck_key] = at + 1
        now, before = deck[at % len(deck)], deck[(at + len(deck) // 2 + 1) % len(deck)]
        return fill(now, entity), fill(before, entity)

    def _deck(self, topic: Topic, entity: Entity) -> list[str]:
        values = list(topic.values(entity.language, entity.half))
        key = self._key(topic, entity)
        if key not in self._decks:
            self._rng.shuffle(values)
            self._decks[key] = values
        return self._decks[key]

    @staticmethod
    def _key(topic: Topic, entity: Entity) -> tuple[str, str]:
        return (topic.name, "" if topic.shared_values else entity.language)

    @staticmethod
    def _from_cast(topic: Topic, entity: Entity) -> str:
        value: str = entity.fields[topic.field]
        person = source.entities().get(value)
        return person.name if person else value
