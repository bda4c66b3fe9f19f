"""One search from query to answer. The agent's tool, prefetch, the console and commands all call this."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository, Snapshot
from memories.repository.vectors import Vector
from memories.retrieval.answer import Abstention, Exact, SearchAnswer
from memories.retrieval.assembly import assemble
from memories.retrieval.calibration import OWN_FOLDER, Calibration, calibration_for, words_only
from memories.retrieval.candidates import collect
from memories.retrieval.diagnostics import diagnose
from memories.retrieval.neighbours import matches
from memories.retrieval.prepared import Prepared, prepared_for
from memories.retrieval.question import Question
from memories.retrieval.ranking import limit_subjects, near_ties_settled, rank
from memories.retrieval.request import Mode, SearchRequest
from memories.retrieval.router import Route, is_id_shaped, route_of

LONGEST_ID = 80
"""Ids of foreign systems are at most this long; a longer word is not looked up as one."""


def search(repository: MemoryRepository, request: SearchRequest) -> SearchAnswer:
    """The memories that answer ``request``, or an abstention that says why there are none.

    The same state, request and calibration give the same ids in the same order. Raises MemsuiteError:
    ``embedding_model_mismatch`` where the stored vectors are another model's (mode lexical and ids work
    all the same), and whatever reading the tables may raise.
    """
    started = time.perf_counter()
    answer = _by_id(repository, request) or _by_question(repository, request)
    return replace(answer, search_ms=_milliseconds_since(started) - answer.embedding_ms)


def _by_id(repository: MemoryRepository, request: SearchRequest) -> SearchAnswer | None:
    """The answer to a query that is an id, stored or not; None for any other query."""
    name = request.query.strip()
    if len(name) > LONGEST_ID or len(name.split()) != 1:
        return None
    documents = prepared_for(repository).documents

    def found(snapshot: Snapshot) -> SearchAnswer | None:
        document = documents.of(snapshot, [name]).get(name)
        if document is None or not matches(document.memory, request.filter):
            return None
        exact = [Exact(document.memory)]
        route = Route.EXACT_ID
        whole = assemble(snapshot, documents, repository.usage, request, route, exact)
        return SearchAnswer(route, whole.results, calibration_for(snapshot.embedding_id, _own(repository)))

    answer = repository.read(found)
    if answer is None and is_id_shaped(name):
        return SearchAnswer(Route.EXACT_ID, abstention=Abstention.EXACT_ID_NOT_FOUND)
    return answer


def _by_question(repository: MemoryRepository, request: SearchRequest) -> SearchAnswer:
    question = Question.of(request.query)
    route = route_of(question.words, request.mode)
    if question.words.is_empty:
        return SearchAnswer(route, abstention=Abstention.NO_SEARCH_WORDS)
    if not repository.count():
        return SearchAnswer(route, abstention=Abstention.EMPTY_STORE)
    if request.mode is Mode.LEXICAL:
        return _Inquiry(request, question, route, words_only(_own(repository))).answer(repository)
    started = time.perf_counter()
    try:
        repository.require_identity()
        identity = str(repository.embedder.identity)
        vector = repository.embedder.embed_query(request.query)
    except MemsuiteError as error:
        if error.code is not ErrorCode.EMBEDDING_FAILED:
            raise
        return _degraded(route, error, _milliseconds_since(started))
    spent = _milliseconds_since(started)
    inquiry = _Inquiry(request, question, route, calibration_for(identity, _own(repository)), vector)
    return replace(inquiry.answer(repository), embedding_ms=spent)


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """A question with all that is needed to answer it from one state of the tables."""

    request: SearchRequest
    question: Question
    route: Route
    calibration: Calibration
    vector: Vector | None = None

    def answer(self, repository: MemoryRepository) -> SearchAnswer:
        prepared = prepared_for(repository)
        return repository.read(lambda snapshot: self._answer(repository, snapshot, prepared))

    def _answer(self, repository: MemoryRepository, snapshot: Snapshot, prepared: Prepared) -> SearchAnswer:
        request, question, calibration = self.request, self.question, self.calibration
        pool = collect(
            snapshot,
            prepared,
            question,
            calibration,
            self.vector,
            request.filter,
            hopeless_too=request.diagnostics,
        )
        ranked = rank(question, pool.candidates, calibration, literal=self.route is Route.LEXICAL)
        passed = near_ties_settled([row for row in ranked if row.verdict.passed])
        kept, suppressed = limit_subjects(question, passed)
        whole = assemble(snapshot, prepared.documents, repository.usage, request, self.route, kept)
        shown = diagnose(calibration, pool, ranked, suppressed, whole) if request.diagnostics else {}
        abstention = None if whole.results else _reason(not pool.is_empty, request)
        return SearchAnswer(self.route, whole.results, calibration, abstention, diagnostics=shown)


def _reason(any_candidate: bool, request: SearchRequest) -> Abstention:
    if any_candidate or request.filter is None:
        return Abstention.BELOW_EVIDENCE
    return Abstention.NOTHING_IN_FILTER


def _own(repository: MemoryRepository) -> Path:
    """The folder of the person's own calibrations."""
    return repository.settings.suite_dir / OWN_FOLDER


def _degraded(route: Route, error: MemsuiteError, spent: float) -> SearchAnswer:
    abstention = Abstention.EMBEDDING_UNAVAILABLE
    return SearchAnswer(
        route,
        abstention=abstention,
        degraded_reason=str(abstention),
        message=f"{abstention.message} ({error.message})",
        embedding_ms=spent,
    )


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
