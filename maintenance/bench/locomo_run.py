"""``bench retrieval --locomo``: what the scoring of turns finds in conversations of two people.

Weights and threshold were fitted on the first five conversations; the others are the ones to look at. Each
conversation is a store of its own. The scoring is that of ``memories.retrieval.turns``, over all turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maintenance.bench.benchmark import Run
from maintenance.bench.locomo import (
    CATEGORIES,
    UNANSWERABLE,
    Conversation,
    TurnQuestion,
    foreign_questions,
    load_conversations,
)
from maintenance.bench.results import Result
from maintenance.bench.targets import targets
from memories.embedding import Embedder
from memories.repository.vectors import Vector
from memories.retrieval.calibration import Calibration, calibration_for
from memories.retrieval.question import Question
from memories.retrieval.turn_composite import composite_score
from memories.retrieval.turns import ScoredTurn, TurnCandidate, TurnWeights, score_turns
from memories.text.normalise import index_text

FITTED_ON = 5
"""The first conversations, by name: what weights and threshold were fitted to."""

DEPTHS = (5, 10)
RRF_K = 60
SESSION_WEIGHTS = (1.0, 0.5, 0.25)
"""What the best, second and third turn of a session add to its score."""

FALSE_ACCEPTS = 0.05

METRICS = {
    "conversations": f"1 to {FITTED_ON}: fitted on; {FITTED_ON + 1} to 10: not",
    "unit": "turns, or sessions, which score by their three best turns",
    "way": "ours; its words or its vectors alone; reciprocal rank fusion of both; the older formula of the "
    "setting turn_ranking",
    "recall_5, recall_10": "mean share of a question's evidence within the first 5 or 10",
    "auc_no_answer": "how well the evidence of the best turn tells categories 1 to 4 from 5, whose questions "
    "ask about the wrong person; 0.5 is chance",
    "auc_foreign": "the same for questions of another conversation, names put in",
    "kept, foreign": "shares of the answerable and the foreign questions that pass: at the threshold in use; "
    "at the one that accepts 5 % of the foreign ones of the conversations fitted on; and at that of these "
    "themselves",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its turns scored: ids in order by way, and the best turn's evidence."""

    conversation: Conversation
    question: TurnQuestion
    orders: dict[str, list[str]]
    sessions: list[int]
    evidence: float


def run_locomo(given: Run, embedder: Embedder) -> Result:
    conversations = load_conversations(given.options["locomo"])
    calibration = calibration_for(str(embedder.identity))
    total = sum(len(_questions(one, conversations)) for one in conversations)
    asked: list[list[Asked]] = []
    with given.progress("Questions", total) as progress:
        done = 0
        for conversation in conversations:
            some = []
            for answer in _ask(conversation, conversations, embedder, calibration):
                some.append(answer)
                done += 1
                progress.show(done)
            asked.append(some)
    rows = [*_recalls(asked), *_refusals(asked)]
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=rows,
        failures=list(_shortfalls(rows)),
        figures={
            "targets_of": str(targets()["date"]),
            "embedding": str(embedder.identity),
            "turns": sum(len(one.turns) for one in conversations),
            "questions": total,
        },
    )


def _questions(conversation: Conversation, others: Sequence[Conversation]) -> list[TurnQuestion]:
    own = [one for one in conversation.questions if one.category == UNANSWERABLE or one.evidence]
    return [*own, *foreign_questions(conversation, others)]


def _ask(
    conversation: Conversation,
    others: Sequence[Conversation],
    embedder: Embedder,
    calibration: Calibration,
) -> Iterator[Asked]:
    read = _Read.of(conversation, embedder)
    now = max(turn.at for turn in conversation.turns)
    for known in _questions(conversation, others):
        question = Question.of(known.text)
        candidates = read.candidates(embedder.embed_query(known.text), calibration)
        scored = score_turns(question, candidates, now)
        words, vectors = (
            [row.id for row in score_turns(question, candidates, now, weights)]
            for weights in (TurnWeights(lexical=1.0, vector=0.0), TurnWeights(lexical=0.0, vector=1.0))
        )
        older = sorted(candidates, key=lambda one: (-composite_score(question, one, now), one.id))
        orders = {
            "ours": [row.id for row in scored],
            "words alone": words,
            "vectors alone": vectors,
            "RRF": _fused(words, vectors),
            "older formula": [one.id for one in older],
        }
        evidence = max(row.evidence for row in scored)
        yield Asked(conversation, known, orders, _sessions(scored, read.session_of), evidence)


@dataclass(frozen=True, slots=True)
class _Read:
    """A conversation as a store would hold it."""

    conversation: Conversation
    counts: tuple[Counter[str], ...]
    vectors: Vector

    @classmethod
    def of(cls, conversation: Conversation, embedder: Embedder) -> _Read:
        turns = conversation.turns
        said = [f"{turn.speaker}: {turn.text}" for turn in turns]
        with_before = [
            text if turn.position == 0 else f"{said[at - 1]}\n{text}"
            for at, (turn, text) in enumerate(zip(turns, said, strict=True))
        ]
        both = embedder.embed_documents(said) + embedder.embed_documents(with_before)
        indexed = (
            index_text(domain=f"{turn.at:%d %B %Y}", subject=turn.speaker, facts=[turn.text], tags=[])
            for turn in turns
        )
        return cls(
            conversation,
            tuple(Counter(text.split()) for text in indexed),
            both / np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-12),
        )

    @property
    def session_of(self) -> dict[str, int]:
        return {turn.id: turn.session for turn in self.conversation.turns}

    def candidates(self, query: Vector, calibration: Calibration) -> list[TurnCandidate]:
        cosines = (self.vectors @ query).tolist()
        centred = calibration.centred(query, self.vectors).tolist()
        first, second = self.conversation.speakers
        return [
            TurnCandidate(
                id=turn.id,
                counts=self.counts[at],
                cosine=cosines[at],
                centred=centred[at],
                session=str(turn.session),
                position=turn.position,
                speaker=turn.speaker,
                listener=second if turn.speaker == first else first,
                # All as if just filed: the benchmark is about relevance, not about age.
                trust=0.5,
                last_seen=turn.at,
            )
            for at, turn in enumerate(self.conversation.turns)
        ]


def _sessions(scored: Sequence[ScoredTurn], session_of: dict[str, int]) -> list[int]:
    best: dict[int, list[float]] = {}
    for row in scored:
        best.setdefault(session_of[row.id], []).append(row.score)
    scores = {
        session: sum(weight * score for weight, score in zip(SESSION_WEIGHTS, some, strict=False))
        for session, some in best.items()
    }
    return sorted(scores, key=lambda session: (-scores[session], session))


def _fused(*lists: Sequence[str]) -> list[str]:
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, name in enumerate(ids[:250], start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))


def _recalls(asked: Sequence[Sequence[Asked]]) -> Iterator[dict[str, Any]]:
    for label, some in _spans(asked):
        answerable = [one for one in some if one.question.evidence]
        for way in ("ours", "words alone", "vectors alone", "RRF", "older formula"):
            yield {"conversations": label, "unit": "turns", "way": way, "category": "all"} | _turn_recall(
                answerable, way
            )
        for category, name in CATEGORIES.items():
            if of_it := [one for one in answerable if one.question.category == category]:
                yield {"conversations": label, "unit": "turns", "way": "ours", "category": name} | (
                    _turn_recall(of_it, "ours")
                )
        yield {"conversations": label, "unit": "sessions", "way": "ours", "category": "all"} | _means(
            answerable, _session_share
        )


def _spans(asked: Sequence[Sequence[Asked]]) -> Iterator[tuple[str, list[Asked]]]:
    count = len(asked)
    for label, some in (
        (f"1 to {FITTED_ON}", asked[:FITTED_ON]),
        (f"{FITTED_ON + 1} to {count}", asked[FITTED_ON:]),
        ("all", asked),
    ):
        if some:
            yield label, [one for each in some for one in each]


def _turn_recall(asked: Sequence[Asked], way: str) -> dict[str, Any]:
    def share(one: Asked, depth: int) -> float:
        return len(set(one.orders[way][:depth]) & set(one.question.evidence)) / len(one.question.evidence)

    return _means(asked, share)


def _session_share(one: Asked, depth: int) -> float:
    wanted = {turn.session for turn in one.conversation.turns if turn.id in one.question.evidence}
    return len(wanted & set(one.sessions[:depth])) / len(wanted)


def _means(asked: Sequence[Asked], share: Callable[[Asked, int], float]) -> dict[str, Any]:
    means = {
        f"recall_{depth}": round(float(np.mean([share(one, depth) for one in asked])), 4) for depth in DEPTHS
    }
    return {"questions": len(asked)} | means


def _refusals(asked: Sequence[Sequence[Asked]]) -> Iterator[dict[str, Any]]:
    spans = dict(_spans(asked))
    fitted_on = next(iter(spans.values()))
    transferred = _threshold([one.evidence for one in fitted_on if one.question.category == 0])
    for label, some in spans.items():
        answerable = [one.evidence for one in some if one.question.evidence]
        nothing = [one.evidence for one in some if one.question.category == UNANSWERABLE]
        foreign = [one.evidence for one in some if one.question.category == 0]
        row: dict[str, Any] = {
            "conversations": label,
            "unit": "refusals",
            "auc_no_answer": area(answerable, nothing),
            "auc_foreign": area(answerable, foreign),
        }
        for name, least in (
            ("in_use", TurnWeights().threshold),
            ("transferred", transferred),
            ("own", _threshold(foreign)),
        ):
            row[f"kept_{name}"] = _share(answerable, least)
            row[f"foreign_{name}"] = _share(foreign, least)
        yield row


def _shortfalls(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """In words, where the conversations not fitted on fall short of the bars of ``locomo``."""
    bars = targets()["locomo"]
    for row in rows:
        if row["conversations"] != bars["conversations"]:
            continue
        if row["unit"] == "refusals":
            if row["foreign_in_use"] > bars["foreign_accepted"]:
                yield f"{row['foreign_in_use']:.1%} of the foreign questions are accepted"
            if row["kept_in_use"] < bars["answerable_kept"]:
                yield f"{row['kept_in_use']:.3f} of the answerable questions are kept"
        elif (row["way"], row["category"]) == ("ours", "all"):
            for depth in DEPTHS:
                bar = bars.get(f"{row['unit']}_recall_{depth}", 0.0)
                if row[f"recall_{depth}"] < bar:
                    yield f"{row['unit']}: recall@{depth} is {row[f'recall_{depth}']:.3f}, not {bar:.2f}"


def area(good: Sequence[float], bad: Sequence[float]) -> float:
    """The area under the curve: how often a good value is above a bad one, ties counting half."""
    values = np.array([*good, *bad])
    ranks = (
        np.searchsorted(np.sort(values), values, "left")
        + np.searchsorted(np.sort(values), values, "right")
        + 1
    ) / 2
    above = ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2
    return round(float(above / (len(good) * len(bad))), 4)


def _threshold(foreign: Sequence[float]) -> float:
    """The least value that accepts no more of them than may be."""
    allowed = int(FALSE_ACCEPTS * len(foreign))
    return float(np.nextafter(sorted(foreign, reverse=True)[allowed], np.inf))


def _share(values: Sequence[float], least: float) -> float:
    return round(float(np.mean(np.array(values) >= least)), 4)
