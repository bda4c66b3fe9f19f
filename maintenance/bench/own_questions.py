"""A person's own questions for a refit, observed on their own database."""

from __future__ import annotations

from pathlib import Path

from maintenance.bench.calibrate import FEWEST_ANSWERED, FEWEST_UNANSWERED
from maintenance.bench.observations import Observed, observe_stored
from maintenance.bench.questions import of_file
from memories.contract import ErrorCode, MemsuiteError
from memories.embedding import Embedder
from memories.repository import MemoryRepository
from memories.retrieval.calibration import calibration_for
from memories.settings import Settings


def observed_own(path: Path, settings: Settings, embedder: Embedder | None) -> list[Observed]:
    """The questions of ``path`` on the database of ``settings``, which is only read.

    Raises ``invalid_parameter`` where the file is not of the right shape, names memories that are not stored,
    has too few questions, or where no model is asked for.
    """
    questions = of_file(path)
    if embedder is None:
        raise _refused("Own questions need an embedding model: leave out --model words.", len(questions))
    answered = sum(bool(one.expected) for one in questions)
    if answered < FEWEST_ANSWERED or len(questions) - answered < FEWEST_UNANSWERED:
        raise _refused(
            f"A refit needs {FEWEST_ANSWERED} questions with an answer and {FEWEST_UNANSWERED} without.",
            f"{answered} and {len(questions) - answered}",
        )
    with MemoryRepository.open(settings, embedder) as repository:
        repository.require_identity()
        wanted = {name for one in questions for name in (*one.expected, *one.avoid)}
        stored = repository.read(lambda snapshot: snapshot.memories(wanted))
        if missing := sorted(wanted - stored.keys()):
            raise _refused("The file names memories that are not stored.", missing[:10])
        return list(observe_stored(repository, questions, calibration_for(str(embedder.identity))))


def _refused(message: str, received: object) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, "questions", message, received=received)
