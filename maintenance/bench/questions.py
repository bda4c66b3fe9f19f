"""Questions with known answers: those of the public corpus, or a person's own from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maintenance.bench.corpus import Question
from memories.contract import ErrorCode, MemsuiteError

FIELDS = {"text", "expected", "avoid", "kind", "group", "near_miss", "half"}


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question and the ids of stored memories that answer it (none: it has no answer). ``group`` is the
    subject it belongs to, ``half`` "" where the questions are not divided."""

    text: str
    expected: frozenset[str]
    avoid: frozenset[str] = frozenset()
    kind: str = "question"
    group: str = ""
    near_miss: bool = False
    half: str = ""


def of_corpus(questions: Iterable[Question], ids: Mapping[str, str]) -> list[KnownQuestion]:
    """Corpus questions, their keys made ids. Memories that ``ids`` does not know are left out."""
    return [
        KnownQuestion(
            text=question.text,
            expected=frozenset(ids[key] for key in question.expected if key in ids),
            avoid=frozenset(ids[key] for key in question.avoid if key in ids),
            kind=question.kind,
            group=question.entity,
            near_miss=bool(question.near_miss),
            half=question.half,
        )
        for question in questions
    ]


def of_file(path: Path) -> list[KnownQuestion]:
    """The questions of a JSON file: a list of objects with ``text`` and ``expected`` (ids; an empty list
    where nothing answers it) and, if wanted, the other fields of ``KnownQuestion``.

    Raises ``invalid_parameter`` naming the entry that is not of this shape.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _refused(f"The file cannot be read as JSON: {error}", str(path)) from error
    if not isinstance(entries, list) or not entries:
        raise _refused("The file must hold a list of questions.", str(path))
    return [_question(entry, place) for place, entry in enumerate(entries)]


def _question(entry: Any, place: int) -> KnownQuestion:
    if not isinstance(entry, dict) or entry.keys() - FIELDS or not {"text", "expected"} <= entry.keys():
        raise _refused(f"Question {place} must have text and expected, and may have {sorted(FIELDS)}.", entry)
    lists = {name: entry.get(name, []) for name in ("expected", "avoid")}
    texts = {name: entry.get(name, "") for name in ("kind", "group", "half")}
    of_ids = all(
        isinstance(ids, list) and all(isinstance(each, str) for each in ids) for ids in lists.values()
    )
    if not of_ids or not all(isinstance(text, str) for text in (entry["text"], *texts.values())):
        raise _refused(f"Question {place}: expected and avoid are lists of ids, the others texts.", entry)
    return KnownQuestion(
        text=entry["text"],
        expected=frozenset(lists["expected"]),
        avoid=frozenset(lists["avoid"]),
        kind=texts["kind"] or ("question" if lists["expected"] else "no_answer"),
        group=texts["group"] or str(place),
        near_miss=entry.get("near_miss") is True,
        half=texts["half"],
    )


def _refused(message: str, received: object) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, "questions", message, received=received)
