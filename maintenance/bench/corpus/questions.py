"""The questions that have an answer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from maintenance.bench.corpus import source
from maintenance.bench.corpus.memories import Store
from maintenance.bench.corpus.model import LANGUAGES, Half, Language, Question
from maintenance.bench.corpus.source import Entity, Topic, wordings_of
from maintenance.bench.corpus.wording import fill, with_typo, without_accents

# How many questions of a kind each project and each person gets.
PER_PROJECT = {"project_name": 2, "exact_path": 2, "config": 2, "assignment": 1, "multi_fact": 2}
PARAPHRASES = {"project": 6, "person": 2}
CROSS_LANGUAGE = {"project": 3, "person": 1}

# Shares of hurried typing, in the kinds where a person types words and not a name to be found to the letter.
TYPO_SHARE = 0.12
NO_ACCENTS_SHARE = 0.25
TYPED_TO_THE_LETTER = ("id", "exact_path", "config")


@dataclass(slots=True)
class Desk:
    """Where questions are written: hands out each wording in turn and numbers what was asked."""

    rng: random.Random
    first: int = 1
    asked: list[Question] = field(default_factory=list)
    _texts: set[str] = field(default_factory=set)
    _turns: Counter[str] = field(default_factory=Counter)

    def wording(self, pool: str, wordings: tuple[str, ...]) -> str:
        """The next of `wordings`, so that each of a pool is used as often as any other."""
        self._turns[pool] += 1
        return wordings[(self._turns[pool] - 1) % len(wordings)]

    def ask(
        self,
        kind: str,
        language: Language,
        text: str,
        entity: Entity,
        expected: Iterable[str] = (),
        avoid: Iterable[str] = (),
        near_miss: bool | None = None,
        note: str = "plain",
    ) -> bool:
        """Adds the question; false where the very same text was asked already."""
        if text in self._texts:
            return False
        self._texts.add(text)
        number = f"q{self.first + len(self.asked):03d}"
        answers, traps = tuple(sorted(expected)), tuple(sorted(avoid))
        self.asked.append(
            Question(number, kind, language, text, answers, traps, entity.half, near_miss, note, entity.slug)
        )
        return True


def ask_answerable(store: Store, desk: Desk, halves: Collection[Half]) -> None:
    for project in source.projects(halves):
        _ask_about_project(store, project, desk)
        _ask_stories(store, project, desk)
    for person in source.people(halves):
        _ask_about_person(store, person, desk)


def hurried(questions: Iterable[Question], rng: random.Random) -> Iterator[Question]:
    """The questions, some with a typing slip and some without accents; the note says which."""
    names = " ".join(entity.name for entity in source.entities().values())
    for question in questions:
        if question.kind in TYPED_TO_THE_LETTER:
            yield question
            continue
        # Every fourth slip may hit a name as well, as it does when people type.
        keep = "" if rng.random() < 0.25 else names
        slip = partial(with_typo, rng=rng, keep=keep)
        slipped = _altered(question, "typo", TYPO_SHARE, rng, slip)
        yield _altered(slipped, "no_accents", NO_ACCENTS_SHARE, rng, without_accents)


def _altered(
    question: Question, note: str, share: float, rng: random.Random, change: Callable[[str], str]
) -> Question:
    if rng.random() >= share:
        return question
    text = change(question.text)
    if text == question.text:
        return question
    known = "" if question.note == "plain" else f"{question.note} "
    return replace(question, text=text, note=f"{known}{note}")


def _ask_about_project(store: Store, project: Entity, desk: Desk) -> None:
    topics = _recorded(store, project, source.project_topics().values())
    for _ in range(PER_PROJECT["project_name"]):
        text = _phrase("project_name", project, desk)
        desk.ask("project_name", project.language, text, project, [store.current[project.slug, "overview"]])
    _ask_settings(store, project, [topic for topic in topics if topic.setting], desk)
    _ask_paths(store, project, [topic for topic in topics if topic.is_path], desk)
    # What was renewed is asked for first: there the old version stands in the way.
    desk.rng.shuffle(topics)
    topics.sort(key=lambda topic: (project.slug, topic.name) not in store.old)
    _ask_paraphrases(store, project, topics, PARAPHRASES["project"], desk)
    _ask_across(store, project, topics[PARAPHRASES["project"] :], CROSS_LANGUAGE["project"], desk)
    _ask_combined(store, project, PER_PROJECT["multi_fact"], desk)


def _ask_about_person(store: Store, person: Entity, desk: Desk) -> None:
    topics = _recorded(store, person, source.people_topics().values())
    desk.rng.shuffle(topics)
    _ask_paraphrases(store, person, topics, PARAPHRASES["person"], desk)
    _ask_across(store, person, topics[PARAPHRASES["person"] :], CROSS_LANGUAGE["person"], desk)
    _ask_combined(store, person, 1, desk)


def _ask_paraphrases(store: Store, entity: Entity, topics: list[Topic], count: int, desk: Desk) -> None:
    for topic in topics[:count]:
        ask_topic(store, entity, topic, entity.language, "paraphrase", desk)


def _ask_across(store: Store, entity: Entity, topics: list[Topic], count: int, desk: Desk) -> None:
    others = [language for language in LANGUAGES if language != entity.language]
    for number, topic in enumerate(topics[:count]):
        language = others[(number + len(desk.asked)) % len(others)]
        ask_topic(store, entity, topic, language, "cross_language", desk)


def ask_topic(store: Store, entity: Entity, topic: Topic, language: Language, kind: str, desk: Desk) -> None:
    """Asks for what is recorded of `topic`, in the wordings of the entity's half."""
    wording = desk.wording(f"{topic.name}.{language}.{entity.half}", topic.asks(language, entity.half))
    expected = [store.current[entity.slug, topic.name]]
    desk.ask(kind, language, fill(wording, entity), entity, expected, store.avoided(expected))


def _ask_settings(store: Store, project: Entity, topics: list[Topic], desk: Desk) -> None:
    chosen = desk.rng.sample(topics, PER_PROJECT["config"] + PER_PROJECT["assignment"])
    for topic in chosen[: PER_PROJECT["config"]]:
        expected = [store.current[project.slug, topic.name]]
        text = _phrase("setting", project, desk, key=topic.setting)
        desk.ask("config", project.language, text, project, expected, store.avoided(expected))
    for topic in chosen[PER_PROJECT["config"] :]:
        key = store.current[project.slug, topic.name]
        holders = [other for other in store.value if store.value[other] == store.value[key]]
        if [other for other in holders if store.memories[other].topic == topic.name] == [key]:
            text = _phrase("assignment", project, desk, key=topic.setting, v=store.value[key])
            desk.ask("config", project.language, text, project, [key])


def _ask_paths(store: Store, project: Entity, topics: list[Topic], desk: Desk) -> None:
    for topic in desk.rng.sample(topics, min(PER_PROJECT["exact_path"], len(topics))):
        key = store.current[project.slug, topic.name]
        text = _phrase("path", project, desk, v=store.value[key])
        desk.ask("exact_path", project.language, text, project, [key])


def _ask_combined(store: Store, entity: Entity, count: int, desk: Desk) -> None:
    """Questions that need two memories, where both are recorded."""
    pairs = source.combined("project" if entity.is_project else "person", entity.half)
    known = [pair for pair in pairs if all((entity.slug, name) in store.current for name in pair["topics"])]
    for pair in desk.rng.sample(known, min(count, len(known))):
        pool = f"{'+'.join(pair['topics'])}.{entity.language}.{entity.half}"
        wording = desk.wording(pool, wordings_of(pair[entity.language], entity.half))
        expected = [store.current[entity.slug, name] for name in pair["topics"]]
        text = fill(wording, entity)
        desk.ask("multi_fact", entity.language, text, entity, expected, store.avoided(expected))


def _ask_stories(store: Store, project: Entity, desk: Desk) -> None:
    story = source.stories()[project.slug]

    def ask(kind: str, wordings: list[str], *topics: str) -> None:
        for wording in wordings:
            expected = [f"{project.slug}.{topic}" for topic in topics]
            desk.ask(kind, project.language, fill(wording, project), project, expected)

    for number, one in enumerate(story["correction"]):
        ask("old_critical_correction", one["ask"], f"correction{number}")
    for one in story["parts"]:
        ask("dependency", one.get("ask", []), one["id"])
    ask("dependency", story["breaks"], *(one["id"] for one in story["parts"] if "needs" in one))
    ask("contradiction", story["clash"][0]["ask"], "clash0", "clash1")
    for number, one in enumerate(story["token"]):
        ask("id", one["ask"], f"token{number}")
    for number, one in enumerate(story["insight"]):
        ask("paraphrase", one["ask"], f"insight{number}")


def _phrase(name: str, project: Entity, desk: Desk, **values: str) -> str:
    half: Half = project.half
    wordings = wordings_of(source.phrases(half)[name][project.language], half)
    return fill(desk.wording(f"{name}.{project.language}.{half}", wordings), project, **values)


def _recorded(store: Store, entity: Entity, topics: Iterable[Topic]) -> list[Topic]:
    return [topic for topic in topics if (entity.slug, topic.name) in store.current]
