"""The hand-written data, read from the TOML files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from maintenance.bench.corpus.model import LANGUAGES, OPEN_HALVES, Half, Language

TOPIC_FILES = ("topics_settings", "topics_places", "topics_running", "topics_background")


@dataclass(frozen=True, slots=True)
class Entity:
    """A project or a person. `fields`: the project's own values (overview, lead, customer, ...)."""

    slug: str
    name: str
    language: Language
    half: Half
    is_project: bool
    fields: Mapping[str, Any]

    @property
    def first_name(self) -> str:
        return self.name.split()[0]


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of fact: how it is written down and how people ask for it, per language."""

    name: str
    group: str
    category: str
    tier: int
    setting: str
    is_path: bool
    renewable: bool
    field: str
    shared_values: tuple[str, ...]
    texts: Mapping[str, Mapping[str, Any]]

    def values(self, language: Language, half: Half) -> tuple[str, ...]:
        """What it may be; the final half has values of its own for settings, which name their holder."""
        if half == "final" and self.name in _final_wordings()["values"]:
            return tuple(_final_wordings()["values"][self.name])
        return self.shared_values or tuple(self.texts[language].get("v", ()))

    def asks(self, language: Language, half: Half) -> tuple[str, ...]:
        if half == "final":
            return tuple(_final_wordings()["topics"][self.name][language])
        return wordings_of(self.texts[language]["ask"], half)


def wordings_of(wordings: list[str], half: Half) -> tuple[str, ...]:
    """The half's share of a list of wordings, so that no wording is used in two halves; the final half has
    lists of its own."""
    if half == "final":
        return tuple(wordings)
    return tuple(wordings[OPEN_HALVES.index(half) :: len(OPEN_HALVES)])


@cache
def entities() -> Mapping[str, Entity]:
    both = []
    for cast in (_read("cast"), _read("final_cast")):
        both += [(slug, fields, True) for slug, fields in cast["projects"].items()]
        both += [(slug, fields, False) for slug, fields in cast["people"].items()]
    return {
        slug: Entity(slug, fields["name"], fields["language"], fields["half"], is_project, fields)
        for slug, fields, is_project in both
    }


def projects(halves: Collection[Half]) -> list[Entity]:
    return [entity for entity in entities().values() if entity.is_project and entity.half in halves]


def people(halves: Collection[Half]) -> list[Entity]:
    return [entity for entity in entities().values() if not entity.is_project and entity.half in halves]


@cache
def project_topics() -> Mapping[str, Topic]:
    topics = [topic for name in TOPIC_FILES for topic in _topics(name, name.removeprefix("topics_"))]
    return {topic.name: topic for topic in topics}


@cache
def people_topics() -> Mapping[str, Topic]:
    return {topic.name: topic for topic in _topics("people_topics", "people")}


@cache
def stories() -> Mapping[str, Mapping[str, Any]]:
    """Per project: the memories written one by one, as the TOML files have them."""
    files = [*(f"stories_{language}" for language in LANGUAGES), "final_stories"]
    return {slug: story for name in files for slug, story in _read(name).items()}


def phrases(half: Half) -> Mapping[str, Mapping[str, list[str]]]:
    found: dict[str, Any] = _final_wordings()["phrases"] if half == "final" else _read("phrases")
    return found


def combined(sort: str, half: Half) -> list[dict[str, Any]]:
    """Pairs of topics of a ``project`` or a ``person``, with the questions that need both."""
    pairs: list[dict[str, Any]] = _read("combined")[sort]
    if half != "final":
        return pairs
    own = _final_wordings()["combined"]
    return [{"topics": pair["topics"], **own["+".join(pair["topics"])]} for pair in pairs]


def unanswerable(half: Half) -> Mapping[str, Mapping[str, list[str]]]:
    found: dict[str, Any] = _final_wordings()["unanswerable"] if half == "final" else _read("unanswerable")
    return found


def _final_wordings() -> dict[str, Any]:
    return _read("final_wordings")


def _topics(file: str, group: str) -> list[Topic]:
    return [
        Topic(
            name,
            group,
            fields["category"],
            fields.get("tier", 2),
            fields.get("key", ""),
            fields.get("path", False),
            fields.get("renewable", False),
            fields.get("field", ""),
            tuple(fields.get("v", ())),
            {language: fields[language] for language in LANGUAGES},
        )
        for name, fields in _read(file).items()
    ]


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("data", f"{name}.toml").read_text(encoding="utf-8"))
